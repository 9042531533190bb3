# error: ConcretizationTypeError
# line: 24
# depends: particles, obs, u
# fix: size_arg
# fixed-file: fixed/particle_resample.py
# result: n 8 ; mean 0.4012

# Systematic resampling for a bootstrap particle filter
import jax
import jax.numpy as jnp

N = 8


def systematic_counts(weights, u):
    edges = jnp.cumsum(weights)
    edges = edges / edges[-1]
    marks = (jnp.arange(N) + u) / N
    upto = jnp.searchsorted(marks, edges, side="right")
    return jnp.diff(upto, prepend=0)


def resample(particles, counts):
    return jnp.repeat(particles, counts)


@jax.jit
def pf_step(particles, obs, u):
    moved = 0.9 * particles + 0.1
    logw = -0.5 * ((obs - moved) / 0.4) ** 2
    w = jnp.exp(logw - logw.max())
    counts = systematic_counts(w, u)
    return resample(moved, counts)


particles = jnp.linspace(-1.0, 1.0, N)
for t, obs in enumerate([0.3, 0.35, 0.5]):
    particles = pf_step(particles, obs, 0.37)
print("n", particles.size)
print("mean", round(float(particles.mean()), 4))
