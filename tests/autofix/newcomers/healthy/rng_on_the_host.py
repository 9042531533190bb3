import random

import jax
import jax.numpy as jnp
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity, seed=0):
        self.data, self.capacity = [], capacity
        self.random = random.Random(seed)

    def add(self, *transition):
        self.data.append(transition)
        self.data = self.data[-self.capacity :]

    def sample(self, n):
        return tuple(np.stack(c) for c in zip(*self.random.sample(self.data, n)))


@jax.jit
def q_update(q, s, a, r, s2):
    target = r + 0.9 * q[s2].max(axis=1)
    return q.at[s, a].add(0.1 * (target - q[s, a]))


buffer = ReplayBuffer(50)
for t in range(80):
    buffer.add(t % 4, t % 2, float(t % 4 == 3), (t + 1) % 4)
q = jnp.zeros((4, 2))
for _ in range(30):
    q = q_update(q, *buffer.sample(8))
print(len(buffer.data), bool(q.max() > 0.5))
