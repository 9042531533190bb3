# error: ValueError
# line: 22
# depends: x, knots
# fix: in_axes
# fixed-file: fixed/vmap_keyword_knots.py
# result: coefs (7,) ; fits True

import jax
import jax.numpy as jnp


def spline_basis(x, knots, width=1.0):
    return jnp.exp(-0.5 * ((x - knots) / width) ** 2)


def fit_ridge(phi, y, lam=1e-3):
    gram = phi.T @ phi + lam * jnp.eye(phi.shape[1])
    return jnp.linalg.solve(gram, phi.T @ y)


def design(xs, knots):
    return jax.vmap(spline_basis)(xs, knots=knots)


def evaluate(xs, knots, coef):
    return design(xs, knots) @ coef


xs = jnp.linspace(0.0, 6.0, 25)
ys = jnp.sin(xs) + 0.1 * xs
knots = jnp.linspace(0.0, 6.0, 7)
coef = fit_ridge(design(xs, knots), ys)
error = jnp.abs(evaluate(xs, knots, coef) - ys).max()
print("coefs", coef.shape)
print("fits", bool(error < 0.1))
