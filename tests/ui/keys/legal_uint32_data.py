import sagax
import sagax.numpy as jnp

with sagax.debug_key_reuse(True):
    words = jnp.arange(8, dtype=jnp.uint32).reshape(4, 2)
    a = words[0] + words[0]
    b = sagax.jit(lambda w: w.sum())(words), sagax.jit(lambda w: w.sum())(words)
