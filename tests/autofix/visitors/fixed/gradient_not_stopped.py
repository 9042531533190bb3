# One correct fixed version of gradient_not_stopped.py
import jax
import jax.numpy as jnp


def q_values(weights, observation):
    return jnp.tanh(weights @ observation)


def td_error(weights, transition):
    observation, action, reward, following = transition
    target = reward + 0.9 * jnp.max(q_values(weights, following))
    target = jax.lax.stop_gradient(target)
    return (q_values(weights, observation)[action] - target) ** 2


weights = jnp.array([[0.5, -0.2], [0.1, 0.3]])
transition = (jnp.array([1.0, 0.5]), 0, 1.0, jnp.array([0.2, -1.0]))
slope = jax.grad(td_error)(weights, transition)
print([[round(float(v), 4) for v in row] for row in slope])
