# One correct fixed version of two_unknown_sizes.py
import jax
import jax.numpy as jnp


@jax.jit
def flat_rows(x):
    return x.reshape(x.shape[0], -1).sum(axis=1)


print(flat_rows(jnp.ones((2, 3, 4))).shape)
