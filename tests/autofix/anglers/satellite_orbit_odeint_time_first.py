# error: IndexError
# line: 15
# also-line: 16
# depends: -
# fix: any
# result: (4, 4) ; 1.0 0.0 ; 0.56 0.94 ; -0.32 1.24 ; -1.08 0.95

import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint

mu = 1.0


def two_body(t, y):
    position, velocity = y[:2], y[2:]
    r = jnp.linalg.norm(position)
    return jnp.concatenate([velocity, -mu * position / r**3])


@jax.jit
def propagate(y0, times):
    return odeint(two_body, y0, times)


y0 = jnp.array([1.0, 0.0, 0.0, 1.1])
times = jnp.linspace(0.0, 3.0, 4)
orbit = propagate(y0, times)
print(orbit.shape)
for row in orbit:
    print(round(float(row[0]), 2), round(float(row[1]), 2))
