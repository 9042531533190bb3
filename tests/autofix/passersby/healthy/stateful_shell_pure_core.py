# error: none
# expect: none
# result: count 40 ; std True 4

"""Streaming mean and variance (Welford) behind an object interface."""
import jax
import jax.numpy as jnp


@jax.jit
def _absorb(state, batch):
    def one(state, x):
        n, mean, m2 = state
        n = n + 1
        delta = x - mean
        mean = mean + delta / n
        return (n, mean, m2 + delta * (x - mean)), None

    return jax.lax.scan(one, state, batch)[0]


class RunningStats:
    def __init__(self, dim):
        self.state = (jnp.float32(0.0), jnp.zeros(dim), jnp.zeros(dim))
        self.log = []

    def add(self, batch):
        self.state = _absorb(self.state, batch)
        self.log.append(self.state[1])
        return self

    @property
    def std(self):
        n, _, m2 = self.state
        return jnp.sqrt(m2 / n)


data = jnp.sin(jnp.arange(80.0) * 1.7).reshape(40, 2) * jnp.array([1.0, 3.0])
stats = RunningStats(2)
for chunk in jnp.split(data, 4):
    stats.add(chunk)
print("count", int(stats.state[0]))
print("std", bool(jnp.allclose(stats.std, data.std(axis=0), rtol=1e-4)), len(stats.log))
