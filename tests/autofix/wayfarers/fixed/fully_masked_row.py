# One correct fixed version of fully_masked_row.py
import jax
import jax.numpy as jnp


@jax.jit
def attend(scores, mask, values):
    scores = jnp.where(mask, scores, -1e9)
    weights = jax.nn.softmax(scores, axis=-1)
    return weights @ values


def loss(scores, mask, values):
    return jnp.sum(attend(scores, mask, values) ** 2)


scores = jnp.sin(jnp.arange(9.0)).reshape(3, 3)
mask = jnp.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
values = jnp.arange(6.0).reshape(3, 2)
print(round(float(loss(scores, mask, values)), 4))
