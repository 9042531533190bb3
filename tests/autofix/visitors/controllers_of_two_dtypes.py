# error: TypeError
# line: 28
# also-line: 15, 19
# depends: -
# fix: branch_value
# fixed-file: fixed/controllers_of_two_dtypes.py
# result: [0.2889, -0.0308, 0.7334, -0.019]
# family: branch/dtype

import jax
import jax.numpy as jnp


def hold(state):
    return jnp.array([0, 0])


def brake(state):
    return -0.5 * state[2:]


def track(state):
    return 2.0 * (jnp.array([1.0, 1.0]) - state[:2]) - state[2:]


@jax.jit
def drive(mode, state):
    force = jax.lax.switch(mode, [hold, brake, track], state)
    velocity = state[2:] + 0.1 * force
    return jnp.concatenate([state[:2] + 0.1 * velocity, velocity])


state = jnp.array([0.0, 0.0, 0.5, -0.5])
for mode in (2, 2, 1, 0):
    state = drive(mode, state)
print([round(float(v), 4) for v in state])
