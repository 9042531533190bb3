"""Fit a Gaussian process by its marginal likelihood."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array
from sagax.scipy.linalg import cho_factor, cho_solve, solve_triangular


class Kernel(NamedTuple):
    log_scale: Array
    log_length: Array
    log_noise: Array


def squared_exponential(kernel: Kernel, x: Array, y: Array) -> Array:
    distance = (x - y) / snp.exp(kernel.log_length)
    return snp.exp(kernel.log_scale) * snp.exp(-0.5 * snp.sum(distance**2))


def gram(f: Callable[[Array, Array], Array], xs: Array, ys: Array) -> Array:
    return sagax.vmap(lambda x: sagax.vmap(lambda y: f(x, y))(ys))(xs)


def covariance(kernel: Kernel, xs: Array, ys: Array) -> Array:
    return gram(lambda x, y: squared_exponential(kernel, x, y), xs, ys)


@sagax.jit
def negative_log_likelihood(kernel: Kernel, xs: Array, ys: Array) -> Array:
    n = xs.shape[0]
    k = covariance(kernel, xs, xs) + (snp.exp(kernel.log_noise) + 1e-6) * snp.eye(n)
    factor = snp.linalg.cholesky(k)
    alpha = solve_triangular(factor, ys, lower=True)
    return 0.5 * alpha @ alpha + snp.sum(snp.log(snp.diag(factor))) + 0.5 * n * np.log(2 * np.pi)


def predict(kernel: Kernel, xs: Array, ys: Array, at: Array) -> tuple[Array, Array]:
    k = covariance(kernel, xs, xs) + snp.exp(kernel.log_noise) * snp.eye(len(xs))
    factor = cho_factor(k, lower=True)
    cross = covariance(kernel, xs, at)
    mean = cross.T @ cho_solve(factor, ys)
    variance = snp.exp(kernel.log_scale) - snp.sum(cross * cho_solve(factor, cross), axis=0)
    return mean, snp.sqrt(snp.maximum(variance, 0))


def main() -> None:
    rng = np.random.default_rng(0)
    xs = snp.asarray(rng.uniform(-2, 2, (12, 1)))
    ys = snp.sin(2 * xs[:, 0]) + 0.1 * snp.asarray(rng.normal(size=12))
    kernel = Kernel(snp.array(0.0), snp.array(0.0), snp.array(-2.0))
    step = sagax.jit(sagax.value_and_grad(negative_log_likelihood))
    before, _ = step(kernel, xs, ys)
    for _ in range(5):
        _, grads = step(kernel, xs, ys)
        kernel = Kernel(*[p - 0.02 * g for p, g in zip(kernel, grads, strict=True)])
    after, _ = step(kernel, xs, ys)
    mean, deviation = predict(kernel, xs, ys, snp.linspace(-2, 2, 5)[:, None])
    curvature = sagax.hessian(
        lambda v: negative_log_likelihood(kernel._replace(log_noise=v), xs, ys)
    )
    print(bool(after < before), mean.shape, deviation.min().item(), curvature(kernel.log_noise))


main()
