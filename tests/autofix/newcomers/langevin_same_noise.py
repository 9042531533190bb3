# error: none
# expect: KeyReuseError
# jax-differs: jax silently adds the same noise in every step
# line: 33
# also-line: 27
# depends: -
# fix: split_key
# result: True

from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp


@dataclass
class Langevin:
    score: Callable
    key: jax.Array
    eps: float = 0.1

    def __post_init__(self):
        self._step = jax.jit(self._step)

    def _step(self, x, key):
        noise = jax.random.normal(key, x.shape)
        return x + self.eps * self.score(x) + jnp.sqrt(2 * self.eps) * noise

    def run(self, x, n):
        chain = []
        for _ in range(n):
            x = self._step(x, self.key)
            chain.append(x)
        return jnp.stack(chain)


sampler = Langevin(score=lambda x: -x, key=jax.random.key(17))
chain = sampler.run(jnp.zeros(()), 300)
print(bool(chain[50:].std() > 0.5))
