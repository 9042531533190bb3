"""Solve linear systems iteratively, with operators given by their matrix-vector product.

The operator `A` is a function of a pytree of arrays, or a matrix. Solutions are differentiated by solving
once more, not through the iterations; so only `A` and `b` have derivatives, and any number of iterations costs
no memory.

>>> import sagax.numpy as snp
>>> from sagax.scipy.sparse import linalg
>>> x, _ = linalg.cg(lambda x: 4.0 * x, snp.array([8.0, 4.0]))
>>> x
Array([2., 1.], dtype=float32)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax.flatten_util import ravel_pytree
from sagax.numpy._arguments import check_choice
from sagax.numpy._base import as_operand

__all__ = ["bicgstab", "cg", "gmres"]

Vector = Array  # a pytree, as one vector
Operator = Callable[[Any], Any]


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b by conjugate gradients, for a Hermitian positive definite `A`: x and None.

    Args:
      A: a matrix, or a linear function of a pytree like `b`.
      b: the right side, a pytree of arrays.
      x0: where to begin; by default at zero.
      tol, atol: the iterations end when the residual's norm is at most max(tol * norm(b), atol).
      maxiter: the most iterations; by default 10 times the size of `b`.
      M: an approximate inverse of A, as A is given, that reduces the iterations.

    Source: Hestenes and Stiefel, J. Res. Nat. Bur. Standards 49, 1952.

    >>> x, _ = linalg.cg(snp.array([[2.0, 0.0], [0.0, 4.0]]), snp.array([2.0, 2.0]))
    >>> x.round(4)
    Array([1. , 0.5], dtype=float32)
    """
    return _solve("cg", _cg, A, b, x0, tol, atol, maxiter, M, symmetric=True)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b by stabilized biconjugate gradients, for any invertible `A`: x and None.

    The arguments are those of `cg`.

    Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992.

    >>> x, _ = linalg.bicgstab(snp.array([[2.0, 1.0], [0.0, 4.0]]), snp.array([4.0, 8.0]))
    >>> x.round(4)
    Array([1., 2.], dtype=float32)
    """
    return _solve("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, Array]:
    """Solve A x = b by minimal residuals, for any invertible `A`: x, and -1 if it has a NaN, else 0.

    Args:
      A, b, x0, tol, atol, M: as in `cg`. M is applied from the left, and the residual is that of M A x = M b.
      restart: how many directions are stored: each takes memory like `b`.
      maxiter: how often to begin anew with those; by default 10 times the size of `b`.
      solve_method: "batched" or "incremental"; both are computed in the same way.

    Source: Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986.

    >>> x, _ = linalg.gmres(snp.array([[0.0, 1.0], [4.0, 0.0]]), snp.array([2.0, 4.0]))
    >>> x.round(4)
    Array([1., 2.], dtype=float32)
    """
    check_choice(
        "scipy.sparse.linalg.gmres",
        "solve_method",
        solve_method,
        ("batched", "incremental"),
        "'batched' or 'incremental'",
    )

    def method(*args: Any) -> Vector:
        return _gmres(*args, restart=restart)

    x, _ = _solve("gmres", method, A, b, x0, tol, atol, maxiter, M)
    has_nan = [snp.any(snp.isnan(leaf)) for leaf in trees.tree_leaves(x)]
    return x, snp.where(functools.reduce(snp.logical_or, has_nan, False), -1, 0)


# --- what they share -----------------------------------------------------------------------------------


def _operator(function: str, name: str, a: Any) -> Operator:
    if callable(a):
        return a
    shape = a.shape if hasattr(a, "shape") else snp.shape(a)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ArgumentValueError.about(
            f"scipy.sparse.linalg.{function}", name, a, "a linear function, or a square matrix"
        )
    if not hasattr(a, "__array__") and hasattr(a, "__matmul__"):
        return lambda x: a @ x  # an operator of the user's own
    return lambda x: snp.matmul(a, x)


def _solve(
    name: str,
    method: Callable[..., Vector],
    A: Any,
    b: Any,
    x0: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    symmetric: bool = False,
) -> tuple[Any, None]:
    function = f"scipy.sparse.linalg.{name}"
    matvec = _operator(name, "A", A)
    precondition = None if M is None else _operator(name, "M", M)
    b = trees.tree_map(snp.asarray, b)
    if not all(snp.issubdtype(x.dtype, snp.inexact) for x in trees.tree_leaves(b)):
        raise ArgumentError.about(
            function, "b", b, "arrays of floating point or complex numbers", fix="convert them"
        )
    if x0 is None:
        x0 = trees.tree_map(snp.zeros_like, b)
    x0 = trees.tree_map(snp.asarray, x0)
    if trees.tree_structure(x0) != trees.tree_structure(b):
        raise ArgumentValueError(
            "x0 and b must have matching tree structure",
            function=function,
            expected=str(trees.tree_structure(b)),
            got=str(trees.tree_structure(x0)),
        )
    shapes = [[x.shape for x in trees.tree_leaves(tree)] for tree in (x0, b)]
    if shapes[0] != shapes[1]:
        raise ArgumentValueError(
            "arrays in x0 and b must have matching shapes",
            function=function,
            expected=str(shapes[1]),
            got=str(shapes[0]),
        )
    size = sum(x.size for x in trees.tree_leaves(b))
    max_steps = 10 * size if maxiter is None else maxiter
    if not isinstance(size, int) and maxiter is None:  # symbolic
        max_steps = snp.asarray(max_steps)
    start = lax.stop_gradient(x0)
    tol, atol = as_operand(function, tol, 4), as_operand(function, atol, 5)

    def solve(operator: Operator, right: Any) -> Any:
        right_vector, unravel = ravel_pytree(right)
        vector, _ = ravel_pytree(start)
        vector = vector.astype(right_vector.dtype)

        def flat(f: Operator) -> Operator:
            return lambda x: ravel_pytree(f(unravel(x)))[0]

        inverse = (lambda x: x) if precondition is None else flat(precondition)
        limit = snp.maximum(tol * snp.linalg.norm(right_vector), atol)
        return unravel(method(flat(operator), right_vector, vector, limit, max_steps, inverse))

    # The transposed system has no better start than zero, and its operator no known inverse.
    def transpose_solve(operator: Operator, right: Any) -> Any:
        right_vector, unravel = ravel_pytree(right)
        limit = snp.maximum(tol * snp.linalg.norm(right_vector), atol)

        def flat(x: Any) -> Any:
            return ravel_pytree(operator(unravel(x)))[0]

        zero = snp.zeros_like(right_vector)
        return unravel(method(flat, right_vector, zero, limit, max_steps, lambda x: x))

    found = lax.custom_linear_solve(
        matvec,
        b,
        solve,
        transpose_solve=solve if symmetric else transpose_solve,
        symmetric=symmetric,
    )
    return found, None


def _dot(x: Vector, y: Vector) -> Array:
    return snp.vdot(x, y)


def _square(x: Vector) -> Array:
    return snp.real(snp.vdot(x, x))


# --- the methods ---------------------------------------------------------------------------------------


def _cg(a: Operator, b: Vector, x: Vector, limit: Any, max_steps: int, m: Operator) -> Vector:
    def go_on(state: tuple) -> Array:
        _, r, _, _, k = state
        return (_square(r) > limit**2) & (k < max_steps)

    def step(state: tuple) -> tuple:
        x, r, p, gamma, k = state
        ap = a(p)
        alpha = gamma / _dot(p, ap)
        x, r = x + alpha * p, r - alpha * ap
        z = m(r)
        following = _dot(r, z)
        return x, r, z + following / gamma * p, following, k + 1

    r = b - a(x)
    z = m(r)
    return lax.while_loop(go_on, step, (x, r, z, _dot(r, z), 0))[0]


def _bicgstab(a: Operator, b: Vector, x: Vector, limit: Any, max_steps: int, m: Operator) -> Vector:
    def go_on(state: tuple) -> Array:
        r, broken, k = state[1], state[-2], state[-1]
        return (_square(r) > limit**2) & (k < max_steps) & ~broken

    def step(state: tuple) -> tuple:
        x, r, p, q, alpha, omega, rho, _, k = state
        following = _dot(shadow, r)
        p = r + following / rho * (alpha / omega) * (p - omega * q)
        toward = m(p)
        q = a(toward)
        alpha = following / _dot(shadow, q)
        s = r - alpha * q
        done = (
            _square(s) < limit**2
        )  # then the second half of the round would divide by nearly nothing
        further = m(s)
        t = a(further)
        omega = _dot(t, s) / _dot(t, t)
        x = x + alpha * toward + snp.where(done, 0, omega * further)
        r = snp.where(done, s, s - omega * t)
        broken = (following == 0) | (alpha == 0) | ((omega == 0) & ~done)
        return x, r, p, q, alpha, omega, following, broken, k + 1

    r = b - a(x)
    shadow, zero, one = r, snp.zeros_like(b), snp.ones((), b.dtype)
    state = (x, r, zero, zero, one, one, one, snp.asarray(False), 0)
    return lax.while_loop(go_on, step, state)[0]


def _gmres(
    a: Operator, b: Vector, x: Vector, limit: Any, max_steps: int, m: Operator, *, restart: int
) -> Vector:
    size = b.shape[0]
    width = min(restart, size)
    eps = snp.finfo(b.dtype).eps
    # The residual that is seen is that of M A x = M b, so the limit is changed by as much.
    length = snp.linalg.norm(b)
    right = m(b)
    scale = snp.where(length > 0, snp.linalg.norm(right) / snp.where(length > 0, length, 1.0), 1.0)
    limit = limit * scale

    def widen(k: Any, state: tuple) -> tuple:
        """One more direction: A times the last one, made orthogonal to all before."""
        basis, h = state
        w = m(a(basis[:, k]))
        before = snp.linalg.norm(w)
        first = snp.matmul(snp.conj(basis.T), w)
        w = w - snp.matmul(basis, first)
        second = snp.matmul(snp.conj(basis.T), w)  # once more, for what rounding left
        w = w - snp.matmul(basis, second)
        norm = snp.linalg.norm(w)
        is_new = norm > 10 * eps * before
        w = snp.where(is_new, w / snp.where(is_new, norm, 1.0).astype(b.dtype), 0)
        column = (first + second).at[k + 1].set(snp.where(is_new, norm, 0).astype(b.dtype))
        return basis.at[:, k + 1].set(w), h.at[:, k].set(column)

    def cycle(state: tuple) -> tuple:
        x, r, norm, k = state
        basis = snp.zeros((size, width + 1), b.dtype).at[:, 0].set(r / norm.astype(b.dtype))
        h = snp.zeros((width + 1, width), b.dtype)
        basis, h = lax.fori_loop(0, width, widen, (basis, h))
        target = snp.zeros(width + 1, b.dtype).at[0].set(norm.astype(b.dtype))
        y = snp.linalg.lstsq(h, target)[0]
        x = x + snp.matmul(basis[:, :width], y)
        r = m(b - a(x))
        return x, r, snp.linalg.norm(r), k + 1

    r = m(b - a(x))
    start = (x, r, snp.linalg.norm(r), 0)
    return lax.while_loop(lambda s: (s[2] > limit) & (s[3] < max_steps), cycle, start)[0]
