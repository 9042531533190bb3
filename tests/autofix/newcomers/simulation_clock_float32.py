# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently rounds each small step away
# line: 21
# depends: -
# fix: stable_formula
# result: 0.1

import jax
import jax.numpy as jnp


def drive(t):
    return jnp.sin(2 * jnp.pi * t)


def integrate(x, t0, dt, n):
    def step(carry, _):
        x, t = carry
        x = x + dt * (drive(t) - 0.1 * x)
        t = t + dt
        return (x, t), None

    (x, _), _ = jax.lax.scan(step, (x, t0), None, length=n)
    return x


x = integrate(jnp.float32(0.0), jnp.float32(200_000.0), 0.001, 5_250)
print(round(float(x), 2))
