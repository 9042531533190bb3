# One correct fixed version of leak_trajectory_in_scan.py
import jax
import jax.numpy as jnp

DT = 0.05


def lorenz(state):
    x, y, z = state
    return jnp.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def simulate(start, steps):
    def step(state, _):
        new = state + 0.1 * DT * lorenz(state)
        return new, new

    _, trajectory = jax.lax.scan(step, start, None, length=steps)
    return trajectory


path = simulate(jnp.array([1.0, 1.0, 1.0]), 50)
print(path.shape, round(float(path[-1, 0]), 3))
