# One correct fixed version of at_with_assignment.py
import jax
import jax.numpy as jnp


def reflect(padded):
    padded = padded.at[0].set(padded[1])
    padded = padded.at[-1].set(padded[-2])
    return padded


print(jax.jit(reflect)(jnp.arange(5.0) + 1).tolist())
