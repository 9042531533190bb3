import collections

import jax
import jax.numpy as jnp

TrainState = collections.namedtuple("TrainState", "params step lr")


def mse(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


def decay(state):
    if state.step % 10 == 0:
        state = state._replace(lr=state.lr * 0.5)
    return state


def train_step(state, x, y):
    g = jax.grad(mse)(state.params, x, y)
    state = state._replace(params=state.params - state.lr * g, step=state.step + 1)
    return decay(state)


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, 2.0, 3.0])
state = TrainState(jnp.zeros(2), 0, 0.4)
for _ in range(30):
    state = train_step(state, x, y)
print(state.step, state.lr)
