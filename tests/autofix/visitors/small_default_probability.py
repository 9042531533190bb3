# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently loses the digits of a small number
# line: 18
# depends: hazard, days
# fix: expm1
# fixed-file: fixed/small_default_probability.py
# result: [2.74, 5.479, 10.959]
# family: silent/precision-expm1

import jax
import jax.numpy as jnp


@jax.jit
def default_probability(hazard, days):
    """Chance of a default within some days, from a yearly rate."""
    return 1.0 - jnp.exp(-hazard * days / 365.0)


def premium(hazard, notional):
    return notional * default_probability(hazard, 1.0)


rates = jnp.array([1e-5, 2e-5, 4e-5])
print([round(float(p), 3) for p in jax.vmap(premium, in_axes=(0, None))(rates, 1e8)])
