# One correct fixed version of grid_search_partial.py
"""Ridge regression path: one fit per penalty."""
from functools import partial

import jax
import jax.numpy as jnp


def ridge_fit(X, y, lam):
    gram = X.T @ X + lam * jnp.eye(X.shape[1])
    return jnp.linalg.solve(gram, X.T @ y)


def holdout_error(w, X, y):
    return jnp.mean((X @ w - y) ** 2)


def sweep(X, y, Xv, yv, lams):
    errors = {}
    fit = jax.jit(ridge_fit)
    for lam in lams:
        w = fit(X, y, lam)
        errors[lam] = float(holdout_error(w, Xv, yv))
    return min(errors, key=errors.get), errors


t = jnp.linspace(0.0, 1.0, 24)
X = jnp.vander(t, 5)
y = jnp.sin(4 * t) + 0.05 * jnp.cos(40 * t)
lams = [10.0 ** k for k in range(-4, 4)]
best, errors = sweep(X[::2], y[::2], X[1::2], y[1::2], lams)
print("best", best, "error", round(errors[best], 4))
