# One correct fixed version of dataclass_static_eq.py
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class HarmonicTrap:
    stiffness: float = 1.0
    mass: float = 2.0
    dt: float = 0.05
    labels: tuple = field(default=("x", "v"))

    def force(self, x):
        return -self.stiffness * x

    @partial(jax.jit, static_argnums=(0, 2))
    def run(self, state, steps):
        def body(carry, _):
            x, v = carry
            v = v + self.dt * self.force(x) / self.mass
            x = x + self.dt * v
            return (x, v), x

        return jax.lax.scan(body, state, length=steps)


trap = HarmonicTrap(stiffness=3.0)
(x, v), path = trap.run((jnp.float32(1.0), jnp.float32(0.0)), 200)
print(trap.labels, round(float(x), 3), round(float(v), 3))
print("range", round(float(path.max() - path.min()), 3))
