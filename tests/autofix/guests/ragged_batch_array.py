# error: ValueError
# expect: ValueError | TypeError
# line: 14
# depends: -
# fix: pad_shape
# fixed-file: fixed/ragged_batch_array.py
# result: [[4.0, 5.0], [9.0, 10.0], [6.0, 7.0]]

import jax
import jax.numpy as jnp


def collate(sentences):
    return jnp.array(sentences)


@jax.jit
def mean_embedding(table, tokens):
    mask = (tokens != 0)[..., None]
    vectors = table[tokens] * mask
    return vectors.sum(axis=1) / mask.sum(axis=1)


table = jnp.arange(12.0).reshape(6, 2)
batch = collate([[1, 2, 3], [4, 5], [3]])
print(mean_embedding(table, batch).tolist())
