# One correct fixed version of log_file_inside_scan.py
import io

import jax
import jax.numpy as jnp

log = io.StringIO()


def step(state, t):
    position, velocity = state
    velocity = velocity - 0.1 * position
    position = position + 0.1 * velocity
    return (position, velocity), position


@jax.jit
def simulate(position):
    return jax.lax.scan(step, (position, 0.0), jnp.arange(10))[1]


path = simulate(1.0)
for _ in path:
    log.write("step done\n")
print(log.getvalue().count("step done"), round(float(path[-1]), 4))
