import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Armijo:
    shrink: float = 0.5
    c: float = 1e-4

    def step(self, f, x):
        fx, g = jax.value_and_grad(f)(x)
        t = jax.lax.while_loop(
            lambda t: f(x - t * g) > fx - self.c * t * jnp.vdot(g, g),
            lambda t: t * self.shrink,
            jnp.asarray(1.0),
        )
        return x - t * g


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


search = Armijo()
step = jax.jit(functools.partial(search.step, rosenbrock))
x = jnp.array([-1.0, 1.5])
for _ in range(20):
    x = step(x)
print(bool(rosenbrock(x) < 1.0))
