# One correct fixed version of static_self_of_dataclass.py
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Spring:
    stiffness: float
    rest: float

    @partial(jax.jit, static_argnums=0)
    def energy(self, x):
        return 0.5 * self.stiffness * jnp.sum((jnp.diff(x) - self.rest) ** 2)


spring = Spring(3.0, 1.0)
print(float(spring.energy(jnp.array([0.0, 1.5, 2.0]))))
