# error: none
# expect: StaleValueWarning
# line: 18
# depends: -
# fix: pass_argument
# result: 4.0 ; 8.0

import jax
import jax.numpy as jnp


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness
        self.energy = jax.jit(self._energy)

    def _force(self, x):
        return self.stiffness * x

    def _energy(self, x):
        return jnp.sum(self._force(x) * x) / 2


def sweep(spring, values):
    for value in values:
        spring.stiffness = value
        print(spring.energy(jnp.array([2.0, 0.0])))


sweep(Spring(1.0), [2.0, 4.0])
