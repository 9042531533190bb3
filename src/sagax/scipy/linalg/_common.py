"""Check and promote the arguments of scipy.linalg."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
import sagax.numpy._base as _base
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError


def arrays(function: str, *args: Any) -> list[Any]:
    """Promote the arguments to floating point arrays of their common dtype."""
    operands = [_base.as_operand(function, x, i) for i, x in enumerate(args)]
    return [_base.as_array(function, x) for x in _base.promote_inexact(function, *operands)]


def listed(*args: Any) -> list[Any]:
    """Convert lists, which some functions take as in jax, to arrays."""
    return [snp.asarray(x) if isinstance(x, (list, tuple)) else x for x in args]


def square(function: str, a: Array) -> None:
    """Check that `a` holds square matrices, or raise ArgumentValueError."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ArgumentValueError(
            function=function, got=a, expected="square matrices: shape (..., n, n)"
        )


def system(function: str, a: Any, b: Any) -> tuple[Any, Any, bool]:
    """Promote `a` and `b` to one dtype and stack, `b` as matrices; return also if it was vectors."""
    a, b = arrays(function, a, b)
    square(function, a)
    n = a.shape[-1]
    vectors = b.ndim == 1 or (
        b.ndim == a.ndim - 1 and (b.shape == a.shape[:-1] or b.shape[-2] != n)
    )
    if not b.ndim or b.shape[-1 if vectors else -2] != n:
        raise ArgumentValueError(
            f"shapes {a.shape} and {b.shape} do not fit",
            function=function,
            expected=f"b with {n} rows, or a vector of {n}",
        )
    if vectors:
        b = b[..., None]
    stack = snp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = snp.broadcast_to(a, (*stack, n, n))
    return a, snp.broadcast_to(b, (*stack, *b.shape[-2:])), vectors


def adjoint(a: Any) -> Any:
    """Compute the conjugate transpose of matrices."""
    return snp.conj(snp.matrix_transpose(a))
