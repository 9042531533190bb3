from functools import partial

import jax


@partial(jax.jit, static_argnames=("method", "steps"))
def integrate(y, dt, *, method, steps):
    def euler(y):
        return y - dt * y

    def midpoint(y):
        return y - dt * (y - 0.5 * dt * y)

    advance = {"euler": euler, "midpoint": midpoint}[method]
    return jax.lax.fori_loop(0, steps, lambda _, y: advance(y), y)


coarse = partial(integrate, method="euler", steps=10)
fine = partial(integrate, method="midpoint", steps=100)
for y in (1.0, 2.0):
    print(round(float(coarse(y, 0.1)), 4), round(float(fine(y, 0.01)), 4))
