# One correct fixed version of unsigned_gap.py
import jax
import jax.numpy as jnp


@jax.jit
def drift(sent, received):
    gaps = received.astype(jnp.int32) - sent.astype(jnp.int32)
    return gaps.astype(jnp.float32).mean()


sent = jnp.array([1000, 2000, 3000, 4000], jnp.uint32)
received = jnp.array([1010, 1995, 3020, 3990], jnp.uint32)
print(round(float(drift(sent, received)), 3))
