# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax wraps around
# line: 16
# depends: -
# fix: wider_dtype
# result: 8.527e+12

import jax
import jax.numpy as jnp


@jax.jit
def second_moment(weights):
    positions = jnp.arange(weights.shape[0]) * 40
    return jnp.sum(positions * positions * weights)


total = second_moment(jnp.full(2000, 2))
print(f"{float(total):.3e}")
