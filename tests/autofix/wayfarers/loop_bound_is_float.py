# error: TypeError
# expect: TypeError | ValueError
# line: 16
# depends: -
# fix: integer_bound
# result: 0.5795 -0.8923

import jax
import jax.numpy as jnp


def integrate(x, duration, dt):
    def step(i, x):
        return x + dt * jnp.array([x[1], -x[0]])

    return jax.lax.fori_loop(0, duration / dt, step, x)


end = integrate(jnp.array([1.0, 0.0]), 1.0, 0.125)
print(round(float(end[0]), 4), round(float(end[1]), 4))
