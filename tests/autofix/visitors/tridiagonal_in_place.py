# error: TypeError
# line: 16
# depends: -
# fix: at_set
# fixed-file: fixed/tridiagonal_in_place.py
# result: [1.0, 1.0, 1.0, 1.0]
# family: in-place/loop

import jax.numpy as jnp


def solve_tridiagonal(lower, diagonal, upper, b):
    """Thomas's algorithm, as it stands in the textbook."""
    n = len(diagonal)
    c, d = jnp.zeros(n), jnp.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = b[0] / diagonal[0]
    for i in range(1, n):
        scale = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / scale
        d[i] = (b[i] - lower[i] * d[i - 1]) / scale
    x = d.copy()
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return x


lower = jnp.array([0.0, -1.0, -1.0, -1.0])
upper = jnp.array([-1.0, -1.0, -1.0, 0.0])
x = solve_tridiagonal(lower, 2.0 * jnp.ones(4), upper, jnp.array([1.0, 0.0, 0.0, 1.0]))
print([round(float(v), 4) for v in x])
