# One correct fixed version of inverted_float_mask.py
import jax
import jax.numpy as jnp


@jax.jit
def mix(frames, mask):
    return mask * frames + (1 - mask) * frames.mean()


frames = jnp.array([1.0, 2.0, 6.0])
print(mix(frames, jnp.array([1.0, 0.0, 1.0])).tolist())
