# error: TypeError
# line: 29
# also-line: 13
# depends: field
# fix: static_args
# fixed-file: fixed/jit_function_argument.py
# result: [8.1682, 5.5353]

import jax
import jax.numpy as jnp


@jax.jit
def runge_kutta_4(field, y, dt):
    k1 = field(y)
    k2 = field(y + 0.5 * dt * k1)
    k3 = field(y + 0.5 * dt * k2)
    k4 = field(y + dt * k3)
    return y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def predator_prey(y):
    hare, lynx = y
    return jnp.array([hare * (1.1 - 0.4 * lynx), lynx * (0.1 * hare - 0.4)])


y = jnp.array([10.0, 5.0])
for _ in range(4):
    y = runge_kutta_4(predator_prey, y, 0.05)
print([round(float(v), 4) for v in y])
