"""Check derivatives against finite differences, for tests of functions and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api.derivatives import jvp, vjp
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError

__all__ = ["check_grads", "check_jvp", "check_vjp"]

# By the size in bytes of the real dtype: the tolerance of the comparison, and the step of the
# difference. The error of a central difference is about step^2 plus the precision divided by the step.
Tolerance = float | Mapping[Any, float] | None  # for all dtypes, or by dtype
_TOLERANCE = {1: 1.0, 2: 1e-1, 4: 2e-3, 8: 1e-5}
_STEP = {1: 0.5, 2: 5e-2, 4: 5e-3, 8: 1e-4}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
) -> None:
    """Compare the derivatives of `f` at `args` with finite differences, up to an order.

    Each derivative is compared along one random direction, the same in every run, so the cost does not
    grow with the number of elements. Second order covers all combinations of `modes`. Arguments that
    are neither floating point nor complex are not varied.

    Args:
      f: a function from pytrees of arrays to a pytree of arrays.
      modes: 'fwd', 'rev', or both.
      atol, rtol: tolerances, numbers or one for each dtype in a dict; by default those of the narrowest dtype, which the differences reach: 1e-5
        for float64, 2e-3 for float32, 1e-1 for float16 and bfloat16.
      eps: the step of the differences; 1e-4 for float64, 5e-3 for float32 by default.

    Raises AssertionError if they differ, with the mode, the order and both values;
    ArgumentValueError for invalid modes or orders.

    >>> from sagax.test_util import check_grads
    >>> check_grads(snp.sin, (0.5,), order=2)
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not modes or not set(modes) <= {"fwd", "rev"}:
        raise ArgumentValueError.about("check_grads", "modes", modes, "'fwd', 'rev', or both")
    if order < 1:
        raise ArgumentValueError.about("check_grads", "order", order, "an int of at least 1")
    _check(f, tuple(args), order, modes, atol, rtol, eps, "")


def _check(
    f: Callable[..., Any],
    args: tuple,
    order: int,
    modes: Sequence[str],
    atol: Tolerance,
    rtol: Tolerance,
    eps: float | None,
    before: str,
) -> None:
    inexact, rebuild = _split_inexact(args)

    def of_inexact(*xs: Any) -> tuple:
        return _split_inexact(f(*rebuild(xs)))[0]

    for mode in modes:
        label = f"{before}{mode}"
        if mode == "fwd":

            def forward(primals: Any, tangents: Any) -> Any:
                return jvp(of_inexact, primals, tangents)

            check_jvp(of_inexact, forward, inexact, atol, rtol, eps, label)
            if order > 1:
                tangents = _random_directions(inexact, 3)

                def derivative(*xs: Any) -> Any:
                    return jvp(of_inexact, xs[: len(inexact)], xs[len(inexact) :])[1]

                inner = (*inexact, *tangents)
        else:

            def backward(*primals: Any) -> Any:
                return vjp(of_inexact, *primals)

            check_vjp(of_inexact, backward, inexact, atol, rtol, eps, label)
            if order > 1:
                cts = _random_directions(of_inexact(*inexact), 4)

                def derivative(*xs: Any) -> Any:
                    return vjp(of_inexact, *xs[: len(inexact)])[1](xs[len(inexact) :])

                inner = (*inexact, *cts)
        if order > 1:
            _check(derivative, inner, order - 1, modes, atol, rtol, eps, f"{label} of ")


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare `f_jvp(args, tangents)` with `f` and its difference along a random direction.

    `f_jvp` returns the value and the tangent, as `functools.partial(sagax.jvp, f)` does. Tolerances and
    step are those of `check_grads`. Raises AssertionError, beginning with `err_msg`.

    >>> import functools
    >>> from sagax.test_util import check_jvp
    >>> check_jvp(snp.exp, functools.partial(sagax.jvp, snp.exp), (1.0,))
    """
    args = tuple(args)
    tangents = _random_directions(args, 1)
    value, tangent = f_jvp(args, tangents)
    _check_close(value, f(*args), atol, rtol, f"{err_msg} value of the jvp")
    _check_close(
        tangent, _central_difference(f, args, tangents, eps), atol, rtol, f"{err_msg} tangent"
    )


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare `f_vjp(*args)` with `f` and, through inner products, with its difference.

    `f_vjp` returns the value and the VJP function, as `functools.partial(sagax.vjp, f)` does. For random
    tangents v and cotangents c, the inner product of c with the difference along v must equal that of
    the VJP of c with v. Tolerances and step are those of `check_grads`. Raises AssertionError, beginning
    with `err_msg`.

    >>> import functools
    >>> from sagax.test_util import check_vjp
    >>> check_vjp(snp.exp, functools.partial(sagax.vjp, snp.exp), (1.0,))
    """
    args = tuple(args)
    tangents = _random_directions(args, 1)
    value, pull = f_vjp(*args)
    _check_close(value, f(*args), atol, rtol, f"{err_msg} value of the vjp")
    cts = _random_directions(value, 2)
    have = _inner_product(pull(cts), tangents)
    want = _inner_product(cts, _central_difference(f, args, tangents, eps))
    size = min([_bytes(x) for x in (*trees.leaves(args), *trees.leaves(value))], default=8)
    # both are sums over all elements, so the rounding error grows with the terms, not with the sum
    scale = _norm(cts) + _norm(tangents)
    narrow = [x for x in (*trees.leaves(args), *trees.leaves(value)) if _bytes(x) == size]
    dtype = aval_of(narrow[0]).dtype if narrow else np.dtype(np.float64)
    tolerance, relative = _tolerance(atol, dtype, size), _tolerance(rtol, dtype, size)
    np.testing.assert_allclose(
        have, want, relative, tolerance * max(1.0, scale), err_msg=f"{err_msg} cotangent"
    )


def _tolerance(given: Tolerance, dtype: Any, size: int) -> float:
    """Return the tolerance for numbers of a dtype: the one given, for all or for this dtype."""
    if isinstance(given, Mapping):
        given = {np.dtype(key): value for key, value in given.items()}.get(np.dtype(dtype))
    return _TOLERANCE[size] if given is None else given


def _is_inexact(x: Any) -> bool:
    return dtypes.is_inexact(aval_of(x).dtype)


def _split_inexact(tree: Any) -> tuple[tuple, Callable]:
    """Return the inexact leaves, and a function that replaces them."""
    leaves, treedef = trees.flatten(tree)
    inexact = tuple([x for x in leaves if _is_inexact(x)])

    def rebuild(xs: Sequence[Any]) -> Any:
        given = iter(xs)
        return treedef.unflatten([next(given) if _is_inexact(x) else x for x in leaves])

    return inexact, rebuild


def _random_directions(tree: Any, seed: int) -> Any:
    """Return a random direction for each leaf, the same in every run."""
    rng = np.random.default_rng(seed)

    def one(x: Any) -> np.ndarray:
        aval = aval_of(x)
        if not dtypes.is_inexact(aval.dtype):
            return np.zeros(aval.shape, dtypes.float0)
        v = rng.standard_normal(aval.shape)
        if dtype_predicates.is_complex(aval.dtype):
            v = v + 1j * rng.standard_normal(aval.shape)
        return np.asarray(v).astype(aval.dtype)

    return trees.map(one, tree)


def _bytes(x: Any) -> int:
    dtype = aval_of(x).dtype
    return dtype_predicates.real_part_dtype(dtype).itemsize if dtypes.is_inexact(dtype) else 8


def _to_double(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _central_difference(
    f: Callable[..., Any], args: tuple, tangents: tuple, eps: float | None
) -> Any:
    """Compute the central difference of `f` along the tangents, in double precision."""
    size = min([_bytes(x) for x in trees.leaves(args)], default=8)
    step = _STEP[size] if eps is None else eps

    def moved(sign: int) -> tuple:
        def one(x: Any, t: Any) -> Any:
            dtype = aval_of(x).dtype
            if not dtypes.is_inexact(dtype):
                return x
            return (_to_double(x) + sign * step * _to_double(t)).astype(dtype)

        return trees.map(one, args, tangents)

    def slope(hi: Any, lo: Any) -> np.ndarray:
        aval = aval_of(hi)
        if not dtypes.is_inexact(aval.dtype):
            return np.zeros(aval.shape, dtypes.float0)
        return (_to_double(hi) - _to_double(lo)) / (2 * step)

    return trees.map(slope, f(*moved(1)), f(*moved(-1)))


def _inner_product(xs: Any, ys: Any) -> float:
    """Sum the products of all elements, real and imaginary parts separately."""
    total = 0.0
    for x, y in zip(trees.leaves(xs), trees.leaves(ys), strict=True):
        if np.asarray(x).dtype == dtypes.float0:
            continue
        # a cotangent is linear in tangents, without conjugation: the real part of x * y
        total += float(np.real(np.sum(_to_double(x) * _to_double(y))))
    return total


def _norm(xs: Any) -> float:
    inexact_leaves = [
        _to_double(x) for x in trees.leaves(xs) if np.asarray(x).dtype != dtypes.float0
    ]
    return float(np.sqrt(sum([np.sum(np.abs(x) ** 2) for x in inexact_leaves])))


def _check_close(have: Any, want: Any, atol: Tolerance, rtol: Tolerance, label: str) -> None:
    pairs = zip(trees.leaves(have), trees.leaves(want), strict=True)
    for i, (h, w) in enumerate(pairs):
        if np.asarray(w).dtype == dtypes.float0:
            continue
        dtype = aval_of(h).dtype
        size = _bytes(h)
        # the error of a difference is proportional to its largest values
        scale = (
            float(np.max(np.abs(_to_double(w)), initial=1.0)) if dtypes.is_inexact(dtype) else 1.0
        )
        np.testing.assert_allclose(
            _to_double(h) if dtypes.is_inexact(dtype) else np.asarray(h),
            _to_double(w) if dtypes.is_inexact(dtype) else np.asarray(w),
            _tolerance(rtol, dtype, size),
            scale * _tolerance(atol, dtype, size),
            err_msg=f"{label} (result {i})".strip(),
        )
