"""Minimize functions of several variables.

>>> import sagax.numpy as snp
>>> from sagax.scipy import optimize
>>> result = optimize.minimize(lambda x: snp.sum((x - 3.0) ** 2), snp.zeros(2), method="BFGS")
>>> bool(result.success), [round(float(x), 3) for x in result.x]
(True, [3.0, 3.0])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.derivatives import value_and_grad
from sagax._src.argument_checks.functions import kind_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """Hold the result of a minimization.

    Fields: the solution `x`; `success`; `status` (0: converged, 1: too many iterations, 2: too many
    evaluations, 5: the line search failed); the value `fun`; the gradient `jac`; `hess_inv`, the estimate
    of the inverse Hessian (None for L-BFGS); the numbers of evaluations `nfev` and `njev`, and of
    iterations `nit`.

    >>> from sagax.scipy import optimize
    >>> optimize.OptimizeResults._fields[:3]
    ('x', 'success', 'status')
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _Point(NamedTuple):
    """A step along the search direction, with value and slope there."""

    step: Any
    value: Any
    slope: Any


class _Search(NamedTuple):
    """The state of a line search: the best point so far, the other end of the bracket, the next step."""

    low: _Point
    high: _Point
    bracketed: Any
    done: Any
    step: Any
    count: Any
    gradient: Any  # at `low`


def _line_search(
    both: Callable[..., Any],
    x: Any,
    direction: Any,
    value: Any,
    gradient: Any,
    first: Any,
    most: int,
) -> tuple[_Search, Any]:
    """Find a step with the strong Wolfe conditions, by bracketing and cubic interpolation.

    Nocedal and Wright, Numerical Optimization (2006), algorithms 3.5 and 3.6, as one loop: `low` satisfies the
    condition of sufficient decrease and has the least value, `high` lies across a minimum from it.
    """
    slope = snp.dot(gradient, direction)
    decrease, curvature = 1e-4, 0.9

    def step(s: _Search) -> _Search:
        new_value, new_gradient = both(x + s.step * direction)
        here = _Point(s.step, new_value, snp.dot(new_gradient, direction))
        above = new_value > value + decrease * s.step * slope
        above |= (new_value >= s.low.value) & (s.low.step > 0)
        above |= ~snp.isfinite(new_value)
        flat = ~above & (snp.abs(here.slope) <= -curvature * slope)
        rising = here.slope * (snp.where(s.bracketed, s.high.step, snp.inf) - s.low.step) >= 0
        high = _choose(above, here, _choose(rising, s.low, s.high))
        low = _choose(above, s.low, here)
        bracketed = s.bracketed | above | rising
        kept = snp.where(above, s.gradient, new_gradient)
        step = snp.where(bracketed, _interpolated(low, high), 2 * s.step)
        return _Search(low, high, bracketed, flat, step, s.count + 1, kept)

    start = _Point(snp.zeros_like(value), value, slope)
    begin = _Search(start, start, False, False, first, 0, gradient)
    begin = begin._replace(bracketed=snp.array(False), done=snp.array(False), count=snp.array(0))
    found = lax.while_loop(lambda s: ~s.done & (s.count < most), step, begin)
    return found, found.low.step <= 0


def _choose(condition: Any, a: _Point, b: _Point) -> _Point:
    return _Point(*[snp.where(condition, x, y) for x, y in zip(a, b, strict=True)])


def _interpolated(a: _Point, b: _Point) -> Any:
    """Return the minimizer of the cubic through two points, or their midpoint if it lies outside."""
    width = b.step - a.step
    safe = snp.where(width == 0, 1, width)
    d1 = a.slope + b.slope - 3 * (b.value - a.value) / safe
    root = snp.sqrt(snp.maximum(d1 * d1 - a.slope * b.slope, 0)) * snp.sign(width)
    below = b.slope - a.slope + 2 * root
    found = b.step - width * (b.slope + root - d1) / snp.where(below == 0, 1, below)
    part = (found - a.step) / safe
    good = snp.isfinite(part) & (part > 0.1) & (part < 0.9) & (below != 0)
    return snp.where(good, found, a.step + width / 2)


class _State(NamedTuple):
    x: Any
    value: Any
    gradient: Any
    estimate: Any  # of the inverse Hessian: a matrix, or the latest changes
    nit: Any
    nfev: Any
    converged: Any
    failed: Any


def _iterate(
    fun: Callable[..., Any],
    x0: Any,
    estimate: Any,
    direction_of: Callable[..., Any],
    updated: Callable[..., Any],
    maxiter: Any,
    maxfun: Any,
    norm: Any,
    gtol: Any,
    ftol: Any,
    maxls: int,
) -> tuple[_State, Any]:
    both = value_and_grad(fun)

    def small(gradient: Any) -> Any:
        return snp.linalg.norm(gradient, ord=norm) < gtol

    def running(s: _State) -> Any:
        return ~s.converged & ~s.failed & (s.nit < maxiter) & (s.nfev < maxfun)

    def step(s: _State) -> _State:
        direction = direction_of(s.estimate, s.gradient)
        downhill = snp.dot(direction, s.gradient) < 0
        direction = snp.where(downhill, direction, -s.gradient)
        length = snp.linalg.norm(s.gradient)
        first = snp.where(s.nit == 0, snp.minimum(1, 1 / snp.where(length == 0, 1, length)), 1)
        found, failed = _line_search(
            both, s.x, direction, s.value, s.gradient, first.astype(s.x.dtype), maxls
        )
        move = found.low.step * direction
        estimate = updated(s.estimate, move, found.gradient - s.gradient, s.nit)
        scale = snp.maximum(snp.maximum(snp.abs(s.value), snp.abs(found.low.value)), 1)
        converged = small(found.gradient)
        converged |= ~failed & (s.value - found.low.value <= ftol * scale) if ftol else converged
        return _State(
            s.x + move,
            found.low.value,
            found.gradient,
            estimate,
            s.nit + 1,
            s.nfev + found.count,
            converged,
            failed & ~converged,
        )

    value, gradient = both(x0)
    count = snp.array(1)
    start = _State(
        x0, value, gradient, estimate, count - 1, count, small(gradient), snp.array(False)
    )
    s = lax.while_loop(running, step, start)
    late = snp.where(s.nit >= maxiter, 1, 2)
    status = snp.where(s.converged, 0, snp.where(s.failed, 5, late))
    return s, status


def _bfgs(
    fun: Callable[..., Any],
    x0: Any,
    maxiter: int | None = None,
    norm: Any = snp.inf,
    gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> tuple[_State, Any]:
    """Minimize by BFGS: Nocedal and Wright, algorithm 6.1, with their equation 6.17."""
    n = x0.shape[0]
    identity = snp.eye(n, dtype=x0.dtype)

    def updated(h: Any, move: Any, change: Any, nit: Any) -> Any:
        product = snp.dot(change, move)
        safe = snp.where(product > 0, product, 1)
        h = snp.where(nit == 0, identity * (product / snp.dot(change, change)), h)
        left = identity - snp.outer(move, change) / safe
        new = left @ h @ left.T + snp.outer(move, move) / safe
        return snp.where((product > 0) & snp.all(snp.isfinite(new)), new, h)

    limit = 200 * n if maxiter is None else maxiter
    return _iterate(
        fun,
        x0,
        identity,
        lambda h, g: -(h @ g),
        updated,
        limit,
        snp.inf,
        norm,
        gtol,
        0.0,
        line_search_maxiter,
    )


class _Changes(NamedTuple):
    """The latest changes of x and of the gradient, the newest last, and 1 / their products (0: none yet)."""

    moves: Any
    changes: Any
    weights: Any
    scale: Any


def _lbfgs(
    fun: Callable[..., Any],
    x0: Any,
    maxiter: float | None = None,
    norm: Any = snp.inf,
    maxcor: int = 10,
    ftol: float = 2.220446049250313e-09,
    gtol: float = 1e-5,
    maxfun: float | None = None,
    maxgrad: float | None = None,
    maxls: int = 20,
) -> tuple[_State, Any]:
    """Minimize by L-BFGS: Nocedal and Wright, algorithms 7.4 (two loops) and 7.5."""
    n = x0.shape[0]
    rows = snp.zeros((maxcor, n), x0.dtype)
    start = _Changes(rows, rows, snp.zeros(maxcor, x0.dtype), snp.ones((), x0.dtype))

    def direction_of(e: _Changes, gradient: Any) -> Any:
        def back(q: Any, pair: Any) -> tuple:
            move, change, weight = pair
            a = weight * snp.dot(move, q)
            return q - a * change, a

        def forth(r: Any, pair: Any) -> tuple:
            (move, change, weight), a = pair
            return r + move * (a - weight * snp.dot(change, r)), None

        pairs = (e.moves, e.changes, e.weights)
        q, factors = lax.scan(back, gradient, pairs, reverse=True)
        r, _ = lax.scan(forth, e.scale * q, (pairs, factors))
        return -r

    def updated(e: _Changes, move: Any, change: Any, nit: Any) -> _Changes:
        product = snp.dot(move, change)
        good = product > 0
        weight = snp.where(good, 1 / snp.where(good, product, 1), 0)
        length = snp.dot(change, change)
        scale = snp.where(good, product / snp.where(length > 0, length, 1), e.scale)

        def pushed(rows: Any, row: Any) -> Any:
            return snp.concatenate([rows[1:], row[None]])

        new = (pushed(e.moves, move), pushed(e.changes, change), pushed(e.weights, weight), scale)
        return _Changes(*[snp.where(good, a, b) for a, b in zip(new, e, strict=True)])

    evaluations = min(snp.inf if m is None else m for m in (maxfun, maxgrad))
    limit = snp.inf if maxiter is None else maxiter
    if limit == snp.inf and evaluations == snp.inf:
        limit = 1000 * n
    return _iterate(
        fun, x0, start, direction_of, updated, limit, evaluations, norm, gtol, ftol, maxls
    )


_METHODS: dict[str, Callable] = {
    "bfgs": _bfgs,
    "l-bfgs": _lbfgs,
    "l-bfgs-experimental-do-not-rely-on-this": _lbfgs,
}


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Minimize a function of a vector by its gradient.

    It can be jitted and vmapped. Derivatives of the result are those of the iterations.

    Args:
      fun: returns a real number; called as `fun(x, *args)`.
      x0: the first guess, a vector of floating point numbers.
      args: further arguments of `fun`.
      method: "BFGS"; or "L-BFGS" (jax: "l-bfgs-experimental-do-not-rely-on-this"), for many variables.
      tol: the norm of the gradient that counts as converged; the same as `gtol` in `options`.
      options: `maxiter`, `norm`, `gtol`; for BFGS `line_search_maxiter`; for L-BFGS `maxcor`, `ftol`, `maxfun`,
        `maxgrad`, `maxls`.

    Raises:
      TypeError: `args` is no tuple. ValueError: unknown `method` or options.

    >>> rosenbrock = lambda x: snp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> result = optimize.minimize(rosenbrock, snp.zeros(2), method="L-BFGS")
    >>> [round(float(x), 2) for x in result.x]
    [1.0, 1.0]
    """
    if not isinstance(args, tuple):
        raise ArgumentError.about("minimize", "args", kind_of(args), "a tuple")
    if not isinstance(method, str) or method.lower() not in _METHODS:
        raise ArgumentValueError.about("minimize", "method", repr(method), "'BFGS' or 'L-BFGS'")
    x = snp.asarray(x0)
    if x.ndim != 1 or not snp.issubdtype(x.dtype, snp.floating):
        raise ArgumentValueError.about(
            "minimize", "x0", x, "a vector of floating point numbers", fix=_shape_advice(x)
        )
    given = dict(options or {})
    if tol is not None:
        given.setdefault("gtol", tol)
    solve = _METHODS[method.lower()]
    known = solve.__code__.co_varnames[2 : solve.__code__.co_argcount]
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise ArgumentValueError.about(
            "minimize", "options", repr(unknown[0]), f"some of {', '.join(known)}"
        )
    s, status = solve(lambda x: fun(x, *args), x, **given)
    inverse = s.estimate if solve is _bfgs else None
    return OptimizeResults(
        s.x, s.converged, status, s.value, s.gradient, inverse, s.nfev, s.nfev, s.nit
    )


def _shape_advice(x: Any) -> str:
    if x.ndim != 1:
        return "pass x0.ravel(), and let fun reshape its argument"
    return "pass x0.astype('float32')"
