# error: TracerBoolConversionError
# line: 18
# depends: mean, spread, truth
# fix: logical_ops
# fixed-file: fixed/interval_coverage.py
# result: coverage 0.6 ; mean_width 1.1515 ; worst 4.0

# Coverage of bootstrap-ish intervals, one row per experiment
import jax
import jax.numpy as jnp

Z = 1.645


def covered(mean, spread, truth):
    half = Z * spread
    lo, hi = mean - half, mean + half
    inside = lo <= truth <= hi
    width = hi - lo
    return inside, width


def summarize(means, spreads, truths):
    inside, widths = jax.vmap(covered)(means, spreads, truths)
    return {
        "coverage": jnp.mean(inside),
        "mean_width": jnp.mean(widths),
        "worst": jnp.argmax(widths),
    }


means = jnp.array([0.1, -0.4, 2.2, 1.0, 0.7])
spreads = jnp.array([0.2, 0.1, 0.5, 0.05, 0.9])
truths = jnp.array([0.0, 0.0, 1.0, 1.0, 0.0])

report = summarize(means, spreads, truths)
for name, value in report.items():
    print(name, round(float(value), 4))
