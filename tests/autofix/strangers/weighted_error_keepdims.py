# error: none
# expect: BroadcastWarning
# jax-differs: jax silently broadcasts to (n, n)
# line: 19
# depends: -
# fix: keepdims
# fixed-file: fixed/weighted_error_keepdims.py
# result: 3.2339
# family: 2/column-minus-row

import jax
import jax.numpy as jnp


def variance_of_rows(samples):
    """The mean of the variances of the rows."""
    center = samples.mean(axis=1, keepdims=True)
    energy = (samples**2).mean(axis=1)
    return jnp.mean(jnp.abs(energy - center**2))


@jax.jit
def penalty(weights):
    samples = jnp.outer(weights, jnp.array([1.0, 2.0, 4.0])) + jnp.arange(3.0)
    return jnp.sqrt(variance_of_rows(samples) + jnp.max(weights))


print(round(float(penalty(jnp.array([1.0, -2.0, 0.5, 3.0]))), 4))
