import jax
import jax.numpy as jnp


def pad_to(x, length):
    return jnp.pad(x, (0, length - x.shape[0]))


print(pad_to(jnp.array([1.0, 2.0]), 4).tolist())
