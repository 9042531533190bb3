# error: none
# expect: IntegerOverflowWarning
# jax-differs: a negative count
# line: 16
# depends: -
# fix: any
# result: [200, 3, 0]

import jax
import jax.numpy as jnp


@jax.jit
def histogram(tokens):
    counts = jnp.zeros(3, dtype=jnp.int8)
    counts = counts.at[tokens].add(1)
    return counts


tokens = jnp.array([0] * 200 + [1] * 3)
print(histogram(tokens).tolist())
