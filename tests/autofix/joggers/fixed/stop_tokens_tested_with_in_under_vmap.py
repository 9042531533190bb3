import jax
import jax.numpy as jnp

STOP_TOKENS = (2, 5)
log_probs = jnp.log(jnp.array([0.1, 0.3, 0.05, 0.2, 0.25, 0.1]))


def score(token):
    stopped = jnp.isin(token, jnp.array(STOP_TOKENS))
    return jnp.where(stopped, 0.0, log_probs[token])


tokens = jnp.array([[1, 3, 2, 0], [4, 4, 1, 5]])
scores = jax.vmap(jax.vmap(score))(tokens)
print(scores.round(3).tolist())
print(scores.sum(axis=1).round(3).tolist())
