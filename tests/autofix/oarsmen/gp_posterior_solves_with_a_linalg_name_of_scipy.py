# error: AttributeError
# line: 28
# depends: -
# fix: any
# result: [1.22, 0.71, 1.16] [0.0, 0.1, 1.0]

import functools

import jax
import jax.numpy as jnp


def matern32(x1, x2, scale=0.4):
    r = jnp.sqrt(3.0) * jnp.abs(x1 - x2) / scale
    return (1.0 + r) * jnp.exp(-r)


def cross(xs, zs, kernel):
    return jax.vmap(lambda x: jax.vmap(lambda z: kernel(x, z))(zs))(xs)


class Posterior:
    def __init__(self, x, y, kernel, noise=0.01):
        self.x, self.kernel = x, kernel
        self.prior_mean = y.mean()
        cov = cross(x, x, kernel) + noise * jnp.eye(len(x))
        self.factor = jnp.linalg.cholesky(cov)
        self.alpha = jnp.linalg.cho_solve((self.factor, True), y - self.prior_mean)

    def predict(self, xs):
        k = cross(xs, self.x, self.kernel)
        half = jax.scipy.linalg.solve_triangular(self.factor, k.T, lower=True)
        return self.prior_mean + k @ self.alpha, 1.0 - jnp.sum(half**2, axis=0)


x = jnp.array([0.0, 0.3, 0.5, 0.9, 1.4])
y = jnp.array([1.0, 1.6, 1.4, 0.7, 1.1])
gp = Posterior(x, y, functools.partial(matern32, scale=0.5))
mean, var = jax.jit(gp.predict)(jnp.array([0.1, 1.0, 3.0]))
print([round(m, 2) for m in mean.tolist()], [round(v, 1) for v in var.tolist()])
