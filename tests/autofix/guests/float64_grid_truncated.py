# error: UserWarning
# expect: DtypeTruncationWarning | UserWarning
# line: 18
# depends: -
# fix: enable_x64
# fixed-file: fixed/float64_grid_truncated.py
# result: [0.0, -0.247, -0.479, -0.682, -0.841]

import jax
import jax.numpy as jnp


def second_difference(f, x, h):
    return (f(x + h) - 2.0 * f(x) + f(x - h)) / h**2


def curvature_profile(low, high, n):
    grid = jnp.linspace(low, high, n).astype(jnp.float64)
    return second_difference(jnp.sin, grid, 1e-4)


profile = curvature_profile(0.0, 1.0, 5)
print([round(float(v), 3) for v in profile])
