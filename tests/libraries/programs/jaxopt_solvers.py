"""Optimisers of jaxopt, with derivatives of a solution."""

import json

import jax
import jax.numpy as jnp
import jaxopt

X = jax.random.normal(jax.random.key(0), (20, 3))
y = X @ jnp.array([1.0, -2.0, 0.5])
start = jnp.zeros(3)


def loss(w, X, y):
    return jnp.mean((X @ w - y) ** 2)


def ridge(weight):
    def penalised(w, weight):
        return loss(w, X, y) + weight * jnp.sum(w**2)

    solver = jaxopt.GradientDescent(penalised, maxiter=100, implicit_diff=True)
    return solver.run(start, weight).params.sum()


def residual(w):
    return X @ w - y


projected = jaxopt.ProjectedGradient(loss, jaxopt.projection.projection_simplex, maxiter=30)
found = {
    "gradient descent": jaxopt.GradientDescent(loss, maxiter=50).run(start, X, y).params,
    "lbfgs": jaxopt.LBFGS(loss, maxiter=30).run(start, X, y).params,
    "bfgs": jaxopt.BFGS(loss, maxiter=30).run(start, X, y).params,
    "conjugate gradients": jaxopt.NonlinearCG(loss, maxiter=30).run(start, X, y).params,
    "gauss newton": jaxopt.GaussNewton(residual).run(start).params,
    "projected": projected.run(jnp.ones(3) / 3, 1.0, X, y).params,
    "derivative of a solution": jax.grad(ridge)(0.3),
    "bisection": jaxopt.Bisection(lambda x: x**3 - 2, 0.0, 2.0).run().params,
}
print(json.dumps({name: x.tolist() for name, x in found.items()}))
