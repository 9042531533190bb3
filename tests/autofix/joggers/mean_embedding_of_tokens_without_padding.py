# error: NonConcreteBooleanIndexError
# line: 15
# depends: -
# fix: any
# result: [[0.9000000357627869, 1.0, 1.100000023841858], [2.1000001430511475, 2.200000047683716, 2.3000001907348633], [0.9000000357627869, 1.0, 1.100000023841858]]

import jax
import jax.numpy as jnp

PAD = 0
table = jnp.arange(24.0).reshape(8, 3) / 10.0


def sentence_vector(tokens):
    kept = tokens[tokens != PAD]
    vectors = table[kept]
    return vectors.mean(axis=0)


batch = jnp.array([
    [3, 5, 1, 0, 0],
    [7, 0, 0, 0, 0],
    [2, 2, 4, 6, 1],
])
out = jax.vmap(sentence_vector)(batch)
print(out.round(3).tolist())
