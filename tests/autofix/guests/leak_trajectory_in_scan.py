# error: UnexpectedTracerError
# line: 25
# also-line: 29
# depends: state
# fix: return_value
# fixed-file: fixed/leak_trajectory_in_scan.py
# result: (50, 3) 10.405

import jax
import jax.numpy as jnp

DT = 0.05


def lorenz(state):
    x, y, z = state
    return jnp.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def simulate(start, steps):
    trajectory = []

    def step(state, _):
        new = state + 0.1 * DT * lorenz(state)
        trajectory.append(new)
        return new, None

    jax.lax.scan(step, start, None, length=steps)
    return jnp.stack(trajectory)


path = simulate(jnp.array([1.0, 1.0, 1.0]), 50)
print(path.shape, round(float(path[-1, 0]), 3))
