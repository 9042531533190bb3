# error: TracerBoolConversionError
# line: 15
# depends: -
# fix: any
# result: [[-1.2040001153945923, -1.6090000867843628, 0.0, -2.3030002117156982], [-1.3860000371932983, -1.3860000371932983, -1.2040001153945923, 0.0]] ; [-5.116000175476074, -3.9770002365112305]

import jax
import jax.numpy as jnp

STOP_TOKENS = (2, 5)
log_probs = jnp.log(jnp.array([0.1, 0.3, 0.05, 0.2, 0.25, 0.1]))


def score(token):
    stopped = token in STOP_TOKENS
    return jnp.where(stopped, 0.0, log_probs[token])


tokens = jnp.array([[1, 3, 2, 0], [4, 4, 1, 5]])
scores = jax.vmap(jax.vmap(score))(tokens)
print(scores.round(3).tolist())
print(scores.sum(axis=1).round(3).tolist())
