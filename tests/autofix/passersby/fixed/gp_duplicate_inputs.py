# One correct fixed version of gp_duplicate_inputs.py
"""Gaussian process regression with repeated measurements."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve


@jax.tree_util.register_dataclass
@dataclass
class Hyper:
    log_ell: jax.Array
    log_amp: jax.Array
    log_noise: jax.Array


def kernel(h, a, b):
    gap = (a[:, None] - b[None, :]) / jnp.exp(h.log_ell)
    return jnp.exp(2 * h.log_amp) * jnp.exp(-0.5 * gap ** 2)


def factor(h, x):
    K = kernel(h, x, x) + jnp.exp(2 * h.log_noise) * jnp.eye(x.shape[0])
    return jnp.linalg.cholesky(K)


def neg_log_marginal(h, x, y):
    L = factor(h, x)
    alpha = cho_solve((L, True), y)
    n = x.shape[0]
    return 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(L))) + 0.5 * n * jnp.log(2 * jnp.pi)


@jax.jit
def fit_step(h, x, y):
    value, grads = jax.value_and_grad(neg_log_marginal)(h, x, y)
    return jax.tree.map(lambda p, g: p - 0.02 * g, h, grads), value


def predict(h, x, y, xs):
    L = factor(h, x)
    return kernel(h, xs, x) @ cho_solve((L, True), y)


x = jnp.array([0.0, 0.0, 1.0, 2.0, 2.0, 3.5])
y = jnp.array([0.1, -0.1, 0.9, 0.85, 0.95, -0.4])
h = Hyper(jnp.float32(0.0), jnp.float32(0.0), jnp.float32(-1.5))
for _ in range(30):
    h, value = fit_step(h, x, y)
mean = predict(h, x, y, jnp.array([0.5, 2.5]))
print("nlml", round(float(value), 2))
print([round(float(m), 2) for m in mean])
