# error: TypeError
# line: 22
# depends: -
# fix: at_set
# trap: the buffer of the object must change, not a local name
# probe: float(memory.rewards.sum()) == 6.0
# fixed-file: fixed/inplace_queue_of_replay.py
# result: 3 2.0
# family: 1/in-place-helper

import jax
import jax.numpy as jnp


class Replay:
    def __init__(self, size):
        self.rewards = jnp.zeros(size)
        self.filled = 0

    def add(self, reward):
        slots = self.rewards
        slots[self.filled % slots.shape[0]] = reward
        self.filled += 1

    def mean(self):
        return self.rewards.sum() / min(self.filled, self.rewards.shape[0])


memory = Replay(4)
for reward in (1.0, 2.0, 3.0):
    memory.add(reward)
print(memory.filled, round(float(memory.mean()), 4))
