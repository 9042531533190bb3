"""Estimate a probability density from samples, with Gaussian kernels."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
import sagax.numpy._base as _base
import sagax.random as random
from sagax._src.api.vmap import vmap
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.trees.registry import register_pytree_node_class
from sagax.numpy._fused import fused
from sagax.scipy.linalg import cho_factor, solve_triangular
from sagax.scipy.special import logsumexp, ndtr


@register_pytree_node_class
class gaussian_kde:  # the name of SciPy's class
    """Estimate a density from samples: the mean of Gaussian kernels around them.

    Args:
      dataset: samples of shape (n,) or (d, n).
      bw_method: the bandwidth of the kernels: None or "scott", "silverman", a number, or a function
        of the estimate that returns one.
      weights: the weights of the samples, shape (n,); equal by default.

    Attributes: `dataset` (d, n), `weights` (their sum is 1), `covariance` (d, d) of each kernel,
    `inv_cov`, and `neff`, the effective number of samples.

    D. W. Scott, "Multivariate Density Estimation", 1992.

    >>> estimate = stats.gaussian_kde(snp.array([0.0, 1.0, 2.0]))
    >>> estimate(1.0)
    Array([0.31815624], dtype=float32)
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        samples: Any = snp.atleast_2d(_base.as_array("gaussian_kde", dataset))
        for argument, x in ("dataset", samples), ("weights", weights):
            if x is not None and snp.iscomplexobj(x):
                raise UnsupportedError(
                    "complex numbers have no density",
                    function="gaussian_kde",
                    argument=argument,
                    fix="estimate that of the pairs: snp.stack([x.real, x.imag])",
                )
        if not snp.issubdtype(samples.dtype, snp.floating):
            samples = samples.astype(float)
        d, n = samples.shape
        if n < 2:
            raise ArgumentValueError.about(
                "gaussian_kde", "dataset", samples, "at least two samples"
            )
        self.dataset = samples
        if weights is None:
            self.weights = snp.full(n, 1 / n, samples.dtype)
        else:
            weights = _base.as_array("gaussian_kde", weights).astype(samples.dtype)
            if weights.shape != (n,):
                raise ArgumentValueError.about(
                    "gaussian_kde", "weights", weights, f"a number for each of the {n} samples"
                )
            self.weights = weights / weights.sum()
        self.neff = 1 / (self.weights**2).sum()
        factor = self._bandwidth(bw_method, d)
        self.covariance, self.inv_cov = _kernel(samples, self.weights, factor)

    def _bandwidth(self, method: Any, d: int) -> Any:
        if method is None or method == "scott":
            return self.neff ** (-1 / (d + 4))
        if method == "silverman":
            return (self.neff * (d + 2) / 4) ** (-1 / (d + 4))
        if callable(method):
            return method(self)
        if isinstance(method, str):
            raise ArgumentValueError(
                function="gaussian_kde",
                argument="bw_method",
                got=repr(method),
                expected="'scott', 'silverman', a number or a function",
            )
        return method

    d = property(lambda self: self.dataset.shape[0])
    n = property(lambda self: self.dataset.shape[1])

    def tree_flatten(self) -> tuple:
        """Return the arrays of the estimate."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, _: None, arrays: tuple) -> gaussian_kde:
        """Rebuild the estimate from its arrays."""
        new = object.__new__(cls)
        new.neff, new.dataset, new.weights, new.covariance, new.inv_cov = arrays
        return new

    def _points(self, function: str, points: Any) -> Array:
        x: Any = snp.atleast_2d(_base.as_array(function, points))
        x = x.astype(self.dataset.dtype)
        if x.shape[0] != self.d and x.shape == (1, self.d):
            x = x.reshape(self.d, 1)
        if x.shape[0] != self.d:
            raise ArgumentValueError(
                f"points have dimension {x.shape[0]}, dataset has dimension {self.d}",
                function=f"gaussian_kde.{function}",
                got=x,
            )
        return x

    def logpdf(self, x: Any) -> Array:
        """Compute the logarithm of the density at the points `x`, of shape (m,) or (d, m)."""
        return self._log_density("logpdf", x)

    def _log_density(self, function: str, x: Any) -> Array:
        points = self._points(function, x)
        return _log_mixture(self.dataset, self.weights, self.covariance, points.T)

    def evaluate(self, points: Any) -> Array:
        """Compute the density at the points, of shape (m,) or (d, m)."""
        return snp.exp(self._log_density("evaluate", points))

    def pdf(self, x: Any) -> Array:
        """Compute the density at the points `x`, of shape (m,) or (d, m)."""
        return snp.exp(self._log_density("pdf", x))

    __call__ = evaluate

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """Integrate the density times a normal density."""
        mean = snp.atleast_1d(snp.squeeze(_base.as_array("integrate_gaussian", mean)))
        cov = snp.atleast_2d(_base.as_array("integrate_gaussian", cov))
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ArgumentValueError(
                function="gaussian_kde.integrate_gaussian",
                got=f"mean {mean.shape}, cov {cov.shape}",
                expected=f"mean ({self.d},), cov ({self.d}, {self.d})",
            )
        wide = self.covariance + cov
        return snp.exp(_log_mixture(self.dataset, self.weights, wide, mean[None])[0])

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """Integrate a univariate density from `low` to `high`."""
        if self.d != 1:
            raise ArgumentValueError(
                "integrate_box_1d() only handles 1D pdfs", function="gaussian_kde", got=self.dataset
            )
        deviation = snp.sqrt(self.covariance[0, 0])
        low, high = ((v - self.dataset[0]) / deviation for v in (low, high))
        return (self.weights * (ndtr(high) - ndtr(low))).sum()

    def integrate_kde(self, other: Any) -> Array:
        """Integrate the product of two estimates of the same dimension."""
        if other.d != self.d:
            raise ArgumentValueError(
                "KDEs are not the same dimensionality",
                function="gaussian_kde.integrate_kde",
                got=f"{self.d} and {other.d}",
            )
        wide = self.covariance + other.covariance
        found = _log_mixture(self.dataset, self.weights, wide, other.dataset.T)
        return (other.weights * snp.exp(found)).sum()

    def resample(self, key: Any, shape: tuple = ()) -> Array:
        """Draw samples of the estimated density, of shape (d, *shape)."""
        choice_key, noise_key = random.split(key)
        chosen = random.choice(choice_key, self.n, shape, p=self.weights)
        zero = snp.zeros(self.d, self.covariance.dtype)
        moved = random.multivariate_normal(
            noise_key, zero, self.covariance, shape, self.dataset.dtype
        )
        return self.dataset[:, chosen] + snp.moveaxis(moved, -1, 0)


@fused
def _kernel(samples: Any, weights: Any, factor: Any) -> tuple[Any, Any]:
    """Compute the covariance of a kernel, scaled by a factor of its width, and its inverse."""
    covariance = snp.atleast_2d(snp.cov(samples, bias=False, aweights=weights)) * factor**2
    return covariance, snp.linalg.inv(covariance)


@fused
def _log_mixture(centers: Any, weights: Any, covariance: Any, points: Any) -> Array:
    """Compute the log of the weighted mean of kernels at (d, n) centers, at each row of `points`."""
    factor = cho_factor(covariance, lower=True)[0]
    whitened = solve_triangular(factor, centers, lower=True)
    constant = snp.log(snp.diagonal(factor)).sum() + 0.5 * centers.shape[0] * snp.log(2 * snp.pi)

    def log_density(point: Any) -> Array:
        z = whitened - solve_triangular(factor, point, lower=True)[:, None]
        return logsumexp(-0.5 * (z * z).sum(0), b=weights) - constant

    return vmap(log_density)(points)
