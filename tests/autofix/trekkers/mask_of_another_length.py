# error: TypeError
# line: 14
# also-line: 13
# depends: lengths
# fix: any
# result: [[1.0, 0.0, 0.0], [0.09000000357627869, 0.24500000476837158, 0.6650000214576721]]

import jax
import jax.numpy as jnp


def masked_scores(scores, lengths):
    mask = jnp.arange(scores.shape[1]) < lengths
    return jnp.where(mask, scores, -1e9)


scores = jnp.arange(6.0).reshape(2, 3)
print(jax.nn.softmax(masked_scores(scores, jnp.array([1, 3]))).round(3).tolist())
