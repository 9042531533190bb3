# error: ValueError
# expect: ValueError | TypeError
# line: 27
# also-line: 16, 21
# depends: -
# fix: frozen
# result: 0.75

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Spring:
    stiffness: float
    rest: float

    @partial(jax.jit, static_argnums=0)
    def energy(self, x):
        return 0.5 * self.stiffness * jnp.sum((jnp.diff(x) - self.rest) ** 2)


spring = Spring(3.0, 1.0)
print(float(spring.energy(jnp.array([0.0, 1.5, 2.0]))))
