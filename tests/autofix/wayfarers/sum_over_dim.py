# error: TypeError
# line: 14
# depends: -
# fix: keyword
# result: 0.6652

import jax
import jax.numpy as jnp


@jax.jit
def normalize(scores):
    scores = jnp.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / jnp.sum(scores, dim=-1, keepdims=True)


print(round(float(normalize(jnp.arange(6.0).reshape(2, 3))[0, 2]), 4))
