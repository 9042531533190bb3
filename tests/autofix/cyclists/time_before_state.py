# error: TypeError
# expect: TypeError | ValueError
# line: 15
# also-line: 14, 20
# depends: -
# fix: parameter
# result: [[0.5, 0.0], [0.4410000145435333, -0.23100000619888306], [0.27800002694129944, -0.4100000262260437]]

import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint


def pendulum(t, state):
    angle, speed = state
    return jnp.array([speed, -jnp.sin(angle)])


times = jnp.array([0.0, 0.5, 1.0])
path = odeint(pendulum, jnp.array([0.5, 0.0]), times)
print(path.round(3).tolist())
