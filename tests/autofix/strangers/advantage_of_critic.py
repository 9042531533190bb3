# error: none
# expect: BroadcastWarning
# jax-differs: jax silently subtracts every value from every return
# line: 31
# depends: -
# fix: squeeze_axis
# fixed-file: fixed/advantage_of_critic.py
# result: 1.8238
# family: 2/column-minus-row

import jax
import jax.numpy as jnp


def critic(params, observations):
    return observations @ params["kernel"] + params["bias"]


def discounted(rewards, gamma):
    def back(future, reward):
        value = reward + gamma * future
        return value, value

    _, returns = jax.lax.scan(back, 0.0, rewards, reverse=True)
    return returns


@jax.jit
def actor_loss(params, observations, log_probs, rewards):
    values = critic(params, observations)
    advantages = discounted(rewards, 0.9) - values
    return -jnp.mean(log_probs * advantages)


observations = jnp.arange(12.0).reshape(4, 3) / 10.0
params = {"kernel": jnp.array([[0.5], [0.1], [-0.2]]), "bias": jnp.zeros(1)}
log_probs = jnp.log(jnp.array([0.5, 0.2, 0.9, 0.4]))
print(round(float(actor_loss(params, observations, log_probs, jnp.array([1.0, 0.0, 2.0, 1.0]))), 4))
