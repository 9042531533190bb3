# error: none
# expect: none
# result: 20 True

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Welford:
    count: jax.Array
    mean: jax.Array
    m2: jax.Array

    @staticmethod
    def empty():
        return Welford(jnp.zeros((), jnp.int32), jnp.zeros(()), jnp.zeros(()))

    def add(self, x):
        count = self.count + 1
        delta = x - self.mean
        mean = self.mean + delta / count
        return Welford(count, mean, self.m2 + delta * (x - mean))


values = jnp.sin(jnp.arange(20.0))
stats, _ = jax.lax.scan(lambda s, x: (s.add(x), None), Welford.empty(), values)
print(int(stats.count), bool(jnp.allclose(stats.m2 / stats.count, values.var(), atol=1e-5)))
