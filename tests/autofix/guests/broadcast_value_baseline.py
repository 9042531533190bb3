# error: none
# expect: BroadcastWarning
# jax-differs: jax silently makes a table of all pairs of steps
# line: 22
# also-line: 23
# depends: -
# fix: match_shape
# fixed-file: fixed/broadcast_value_baseline.py
# result: 0.1833

import jax
import jax.numpy as jnp


def value_head(features, weights):
    return features @ weights[:, None]


@jax.jit
def policy_loss(log_probs, returns, features, weights):
    values = value_head(features, weights)
    advantage = returns - values
    return -jnp.mean(log_probs * jax.lax.stop_gradient(advantage))


features = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
returns = jnp.array([1.0, 2.0, 0.5])
log_probs = jnp.array([-0.1, -1.2, -0.7])
print(round(float(policy_loss(log_probs, returns, features, jnp.array([0.5, 1.0]))), 4))
