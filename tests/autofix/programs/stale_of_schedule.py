# error: none
# expect: StaleValueWarning
# line: 27
# depends: -
# fix: pass_argument
# result: [1.5, 2.43, 3.1104]

from functools import partial

import jax
import jax.numpy as jnp


class Schedule:
    temperature = 2.0

    def cool(self):
        self.temperature *= 0.5


class Sampler:
    def __init__(self):
        self.schedule = Schedule()
        self.kernel = jax.jit(partial(self._kernel, 0.1))

    def energy(self, x):
        return jnp.sum(x**2) / self.schedule.temperature

    def _kernel(self, rate, x):
        value, slope = jax.value_and_grad(self.energy)(x)
        return x - rate * slope, value

    def run(self, x, n):
        values = []
        for _ in range(n):
            x, value = self.kernel(x)
            values.append(round(float(value), 4))
            self.schedule.cool()
        return values


print(Sampler().run(jnp.ones(3), 3))
