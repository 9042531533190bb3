# One correct fixed version of tridiagonal_in_place.py
import jax.numpy as jnp


def solve_tridiagonal(lower, diagonal, upper, b):
    """Thomas's algorithm, as it stands in the textbook."""
    n = len(diagonal)
    c, d = jnp.zeros(n), jnp.zeros(n)
    c = c.at[0].set(upper[0] / diagonal[0])
    d = d.at[0].set(b[0] / diagonal[0])
    for i in range(1, n):
        scale = diagonal[i] - lower[i] * c[i - 1]
        c = c.at[i].set(upper[i] / scale)
        d = d.at[i].set((b[i] - lower[i] * d[i - 1]) / scale)
    x = d
    for i in range(n - 2, -1, -1):
        x = x.at[i].add(-c[i] * x[i + 1])
    return x


lower = jnp.array([0.0, -1.0, -1.0, -1.0])
upper = jnp.array([-1.0, -1.0, -1.0, 0.0])
x = solve_tridiagonal(lower, 2.0 * jnp.ones(4), upper, jnp.array([1.0, 0.0, 0.0, 1.0]))
print([round(float(v), 4) for v in x])
