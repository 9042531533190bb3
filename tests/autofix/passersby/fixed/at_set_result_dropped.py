# One correct fixed version of at_set_result_dropped.py
import jax
import jax.numpy as jnp


def thomas(lower, diag, upper, rhs):
    """Tridiagonal solve, Thomas algorithm."""
    n = rhs.shape[0]
    for i in range(1, n):
        m = lower[i] / diag[i - 1]
        diag = diag.at[i].add(-m * upper[i - 1])
        rhs = rhs.at[i].add(-m * rhs[i - 1])
    x = jnp.zeros(n)
    x = x.at[n - 1].set(rhs[n - 1] / diag[n - 1])
    for i in range(n - 2, -1, -1):
        x = x.at[i].set((rhs[i] - upper[i] * x[i + 1]) / diag[i])
    return x


def poisson(n):
    h = 1.0 / (n + 1)
    ones = jnp.ones(n)
    f = jnp.ones(n) * h * h
    return jax.jit(thomas)(-ones, 2 * ones, -ones, f)


u = poisson(7)
print([round(float(v), 4) for v in u])
