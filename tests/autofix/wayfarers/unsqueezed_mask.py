# error: AttributeError
# line: 13
# depends: -
# fix: name
# result: [[0.0, 1.0], [8.0, 9.0]]

import jax
import jax.numpy as jnp


def pooled(tokens, lengths):
    mask = jnp.arange(tokens.shape[1]) < lengths[:, None]
    weights = mask.unsqueeze(-1).astype(tokens.dtype)
    return (tokens * weights).sum(axis=1) / weights.sum(axis=1)


tokens = jnp.arange(12.0).reshape(2, 3, 2)
print(pooled(tokens, jnp.array([1, 3])).tolist())
