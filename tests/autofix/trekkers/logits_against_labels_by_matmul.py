# error: TypeError
# line: 13
# depends: weights
# fix: any
# result: [[0.5999999642372131, 0.5999999642372131, 0.5999999642372131, 0.5999999642372131, 0.5999999642372131], [1.5, 1.5, 1.5, 1.5, 1.5], [2.3999998569488525, 2.3999998569488525, 2.3999998569488525, 2.3999998569488525, 2.3999998569488525], [3.299999952316284, 3.299999952316284, 3.299999952316284, 3.299999952316284, 3.299999952316284]]

import jax
import jax.numpy as jnp


def head(features, weights, bias):
    logits = features + bias
    return logits @ weights


features = jnp.arange(12.0).reshape(4, 3)
weights = jnp.ones((5, 3)) * 0.1
print(jax.jit(head)(features, weights, jnp.ones(3)).round(2).tolist())
