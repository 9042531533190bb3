# error: AttributeError
# line: 18
# depends: -
# fix: stop_gradient
# fixed-file: fixed/torch_detach_habit.py
# result: [-0.705, -0.0198]

import jax
import jax.numpy as jnp


def critic(weights, state):
    return jnp.tanh(state @ weights)


def td_loss(weights, state, reward, next_state):
    target = reward + 0.9 * critic(weights, next_state)
    error = target.detach() - critic(weights, state)
    return jnp.mean(error**2)


weights = jnp.array([0.2, -0.1])
state = jnp.array([[1.0, 0.0], [0.5, 0.5]])
next_state = jnp.array([[0.0, 1.0], [1.0, 1.0]])
grads = jax.grad(td_loss)(weights, state, jnp.array([1.0, 0.0]), next_state)
print([round(float(g), 4) for g in grads])
