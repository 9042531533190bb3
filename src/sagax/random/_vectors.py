"""Draw multivariate normal vectors and orthogonal matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import add, mul, sign, sqrt
from sagax._src.primitives.linalg.cholesky import cholesky
from sagax._src.primitives.linalg.common import diagonal_part, mT
from sagax._src.primitives.linalg.eigen import eigh
from sagax._src.primitives.linalg.qr import qr
from sagax._src.primitives.linalg.svd import svd
from sagax._src.primitives.resharding import takes_out_sharding
from sagax._src.primitives.structural import expand_dims, reduce_sum
from sagax.numpy import einsum
from sagax.numpy._arguments import check_choice
from sagax.random._arguments import (
    batch_shape,
    default_float_of,
    float_dtype,
    inexact_dtype,
    joint_shape,
    lift,
    operand_aval,
    parameter,
    shape_of,
    size_of,
    typed_key,
)
from sagax.random._basic import standard_normal
from sagax.random._sampler import cached_jit


def _factor(cov: Any, method: str) -> Any:
    """Factor `cov` into a matrix times its transpose."""
    if method == "cholesky":
        return cholesky(cov)
    if method == "svd":
        u, s, _ = svd(cov)
    else:
        u, s = eigh(cov)
    return mul(u, sqrt(expand_dims(s, (aval_of(s).ndim - 1,))))


@cached_jit
def _multivariate_normal(shape: tuple, dtype: Any, method: str) -> Callable[..., Any]:
    def draw(key: Any, mean: Any, cov: Any) -> Any:
        x = standard_normal(key, (*shape, aval_of(mean).shape[-1]), dtype)
        x = einsum("...ij,...j->...i", _factor(cov, method), x)
        return add(lift(mean, len(shape) + 1), x)

    return draw


@takes_out_sharding
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors from the multivariate normal distribution.

    Args:
      mean: shape (..., n).
      cov: symmetric and positive semi-definite, of shape (..., n, n).
      shape: the shape of the result without the last dimension, n; the leading dimensions of mean
        and cov broadcast to it (default: they broadcast to each other).
      dtype: a float dtype (default: that of mean and cov).
      method: how cov is factored: "cholesky" (quickest; cov must be positive definite), "eigh" or
        "svd".

    Raises TypeError if `key` is no key, ValueError for an array of keys, another method, or shapes
    that do not fit.

    >>> random.multivariate_normal(random.key(0), np.zeros(2), np.eye(2), (3,)).shape
    (3, 2)
    """
    name = "multivariate_normal"
    typed = typed_key(name, key)
    check_choice(name, "method", method, ("cholesky", "eigh", "svd"), "'cholesky', 'eigh' or 'svd'")
    mean_shape = operand_aval(name, "mean", mean).shape
    cov_shape = operand_aval(name, "cov", cov).shape
    if not mean_shape:
        raise ArgumentValueError(
            "requires mean.ndim >= 1, got mean.ndim == 0",
            function=name,
            argument="mean",
            got=mean,
            expected="a vector, or an array of such",
        )
    n = mean_shape[-1]
    if len(cov_shape) < 2 or cov_shape[-2:] != (n, n):
        raise ArgumentValueError(
            f"requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {cov_shape}",
            function=name,
            argument="cov",
            got=cov,
            expected=f"a matrix of shape ({n}, {n}), or an array of such",
        )
    real = float_dtype(name, default_float_of(name, mean, cov) if dtype is None else dtype)
    shape = batch_shape(name, shape, joint_shape(name, [mean_shape[:-1], cov_shape[:-2]]))
    if real.itemsize < 4:
        raise ArgumentValueError(
            function=name,
            argument="dtype",
            got=dtypes.name(real),
            expected="float32 or float64, in which matrices can be factored",
            fix="pass dtype='float32', and convert the result",
        )
    mean, cov = parameter(name, "mean", mean, real), parameter(name, "cov", cov, real)
    return _multivariate_normal(shape, real, method)(typed, mean, cov)


@cached_jit
def _orthogonal(shape: tuple, n: int, m: int, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any) -> Any:
        # F. Mezzadri, "How to generate random matrices from the classical compact groups", Notices of
        # the AMS 54 (2007): the signs make the factorization, and so the distribution, unique
        z = standard_normal(key, (*shape, max(n, m), min(n, m)), dtype)
        q, r = qr(z, full_matrices=False)
        phases = sign(reduce_sum(diagonal_part(r), (len(shape),)))  # a sum with zeros
        q = mul(q, expand_dims(phases, (len(shape),)))
        return q if n >= m else mT(q)

    return draw


@takes_out_sharding
def orthogonal(
    key: Any,
    n: int,
    shape: Any = (),
    dtype: Any = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniformly distributed orthogonal (complex: unitary) matrices, of shape (*shape, n, n).

    With `m` they have shape (*shape, n, m): orthonormal columns, or orthonormal rows if m > n.

    Raises TypeError if `key` is no key or a size that is no int, ValueError for an array of keys, a
    negative size or another dtype.

    >>> q = random.orthogonal(random.key(0), 3)
    >>> bool(abs(q.T @ q).sum() < 3.001)
    True
    """
    name = "orthogonal"
    typed = typed_key(name, key)
    n = size_of(name, "n", n)
    m = n if m is None else size_of(name, "m", m)
    return _orthogonal(shape_of(name, shape), n, m, inexact_dtype(name, dtype))(typed)
