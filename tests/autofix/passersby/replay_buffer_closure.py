# error: none
# expect: StaleValueWarning
# jax-differs: jax holds the buffer's contents from the first trace
# line: 26
# depends: -
# fix: pass_argument
# fixed-file: fixed/replay_buffer_closure.py
# result: [5]

import jax
import jax.numpy as jnp
import numpy as np


class RunningWindow:
    def __init__(self, size):
        self.buffer = np.zeros(size, dtype=np.float32)
        self.cursor = 0
        self.zscore = jax.jit(self._zscore)

    def push(self, value):
        self.buffer[self.cursor % self.buffer.size] = value
        self.cursor += 1

    def _zscore(self, value):
        window = jnp.asarray(self.buffer)
        return (value - window.mean()) / (window.std() + 1e-6)


def alerts(stream, size=4, limit=3.0):
    window = RunningWindow(size)
    hits = []
    for i, value in enumerate(stream):
        if i >= size and abs(float(window.zscore(value))) > limit:
            hits.append(i)
        window.push(value)
    return hits


stream = [1.0, 1.1, 0.9, 1.0, 1.05, 5.0, 5.1, 4.9, 5.0, 5.05, 5.1]
print(alerts(stream))
