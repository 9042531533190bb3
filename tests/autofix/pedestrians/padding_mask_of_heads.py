# error: ValueError
# expect: ValueError | TypeError
# line: 14
# depends: queries, keys, padding
# fix: axis
# result: (2, 3, 5, 5) [[0.29600000381469727, 0.562000036239624, 0.1420000046491623, 0.0, 0.0], [0.2240000069141388, 0.3460000157356262, 0.09000000357627869, 0.33900001645088196, 0.0]]

import jax
import jax.numpy as jnp


def attend(queries, keys, padding):
    scores = jnp.einsum("bhqd,bhkd->bhqk", queries, keys) / jnp.sqrt(queries.shape[-1])
    scores = jnp.where(padding, scores, -1e9)
    return jax.nn.softmax(scores, axis=-1)


q = jnp.sin(jnp.arange(2 * 3 * 5 * 4.0)).reshape(2, 3, 5, 4)
k = jnp.cos(jnp.arange(2 * 3 * 5 * 4.0)).reshape(2, 3, 5, 4)
padding = jnp.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], dtype=bool)
weights = jax.jit(attend)(q, k, padding)
print(weights.shape, weights[:, 0, 0].round(3).tolist())
