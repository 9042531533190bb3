# error: none
# expect: SideEffectWarning | ImpureTraceWarning
# jax-differs: jax silently writes the file while tracing only
# line: 23
# depends: -
# fix: return_value
# fixed-file: fixed/log_file_inside_scan.py
# result: 10 0.4978
# family: silent/side-effect-file

import io

import jax
import jax.numpy as jnp

log = io.StringIO()


def step(state, t):
    position, velocity = state
    velocity = velocity - 0.1 * position
    position = position + 0.1 * velocity
    log.write("step done\n")
    return (position, velocity), position


@jax.jit
def simulate(position):
    return jax.lax.scan(step, (position, 0.0), jnp.arange(10))[1]


path = simulate(1.0)
print(log.getvalue().count("step done"), round(float(path[-1]), 4))
