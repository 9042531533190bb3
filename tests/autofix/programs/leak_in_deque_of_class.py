# error: UnexpectedTracerError
# line: 18
# depends: params, x
# fix: callback
# result: 0.999 5.5

from collections import deque

import jax
import jax.numpy as jnp


class Window:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def push(self, item):
        self.items.append(item)
        return item


class Agent:
    recent = Window(3)

    def act(self, params, x):
        score = jnp.dot(params, x)
        self.recent.push(score)
        return jnp.tanh(score)


agent = Agent()
act = jax.jit(agent.act)
for i in range(3):
    out = act(jnp.ones(2) * i, jnp.array([1.0, 0.5 * i]))
print(round(float(out), 3), round(float(sum(agent.recent.items)), 3))
