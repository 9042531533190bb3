# error: TypeError
# line: 23
# depends: -
# fix: any
# result: [-9.4, -8.4, 29.4] ; (50, 3) 47.8

import jax
import jax.numpy as jnp

DT = 0.02


def lorenz(y, t):
    a, b, c = y
    return jnp.array([10.0 * (b - a), a * (28.0 - c) - b, a * b - 8.0 / 3.0 * c])


def rk4_step(y, t):
    k1 = lorenz(y, t)
    k2 = lorenz(y + 0.5 * DT * k1, t + 0.5 * DT)
    k3 = lorenz(y + 0.5 * DT * k2, t + 0.5 * DT)
    k4 = lorenz(y + DT * k3, t + DT)
    return y + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@jax.jit
def integrate(y0):
    ts = jnp.arange(0.0, 1.0, DT)
    return jax.lax.scan(rk4_step, y0, ts)


final, path = integrate(jnp.array([1.0, 1.0, 1.0]))
print([round(float(v), 1) for v in final])
print(path.shape, round(float(path[:, 2].max()), 1))
