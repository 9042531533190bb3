from functools import cache

import jax
import jax.numpy as jnp


@cache
def make_step(order):
    """One compiled function for each order, made once."""

    @jax.jit
    def step(x, coefficients):
        powers = jnp.stack([x**k for k in range(order + 1)])
        return coefficients @ powers

    return step


x = jnp.linspace(0.0, 1.0, 5)
total = jnp.zeros(5)
for round_number in range(9):
    order = 1 + round_number % 3
    step = make_step(order)
    total = total + step(x, jnp.ones(order + 1))
print([round(float(t), 3) for t in total], make_step.cache_info().misses)
