import jax
import jax.numpy as jnp


def encode(table, tokens, length):
    vectors = table[tokens]
    valid = jnp.arange(tokens.shape[0]) < length
    return jnp.sum(vectors * valid[:, None], axis=0) / length


table = jnp.arange(20.0).reshape(10, 2) / 10.0
batch = jnp.array([[1, 4, 9, 0, 0], [2, 2, 0, 0, 0], [5, 6, 7, 8, 9]])
lengths = jnp.array([3, 2, 5])
pooled = jax.vmap(encode, in_axes=(None, 0, 0))(table, batch, lengths)
print(pooled.round(3).tolist())
