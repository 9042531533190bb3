# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax wraps around
# line: 15
# depends: -
# fix: wider_dtype
# result: 3.75

import jax
import jax.numpy as jnp


@jax.jit
def drift(sent, received):
    gaps = received - sent
    return gaps.astype(jnp.float32).mean()


sent = jnp.array([1000, 2000, 3000, 4000], jnp.uint32)
received = jnp.array([1010, 1995, 3020, 3990], jnp.uint32)
print(round(float(drift(sent, received)), 3))
