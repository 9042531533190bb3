# One correct fixed version of ragged_batch_array.py
import jax
import jax.numpy as jnp


def collate(sentences):
    longest = max(len(sentence) for sentence in sentences)
    return jnp.array([sentence + [0] * (longest - len(sentence)) for sentence in sentences])


@jax.jit
def mean_embedding(table, tokens):
    mask = (tokens != 0)[..., None]
    vectors = table[tokens] * mask
    return vectors.sum(axis=1) / mask.sum(axis=1)


table = jnp.arange(12.0).reshape(6, 2)
batch = collate([[1, 2, 3], [4, 5], [3]])
print(mean_embedding(table, batch).tolist())
