"""Solve ordinary differential equations with adaptive steps, and differentiate the solution.

>>> from sagax.experimental.ode import odeint
>>> y = odeint(lambda y, t: -y, 1.0, snp.array([0.0, 1.0]))
>>> round(float(y[1]), 4)
0.3679
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.api.derivatives import vjp
from sagax._src.api.vmap import vmap
from sagax._src.argument_checks.functions import check_function
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.closures import closure_convert
from sagax._src.higher_order.custom_derivatives import custom_vjp
from sagax._src.primitives.structural import convert
from sagax.flatten_util import ravel_pytree

__all__ = ["odeint"]

# Dormand and Prince's method of order 5 with an embedded one of order 4, and its continuous extension:
# Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (1993), table II.5.2 and section II.6.
_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_DENSE = (
    -12715105075 / 11282082432,
    0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)


def _combined(weights: tuple, slopes: list) -> Any:
    return sum(w * k for w, k in zip(weights, slopes, strict=True) if w)


def _norm(x: Any) -> Any:
    """Return the root mean square."""
    return snp.sqrt(snp.mean(x * x)) if x.size else snp.zeros((), x.dtype)


_SHORT = 256  # vectors up to this size are kept in one array


def _first_step(f: Callable[..., Any], y: Any, t: Any, slope: Any, rtol: Any, atol: Any) -> Any:
    """Guess the first step: section II.4 of the book, for order 5."""
    scale = atol + rtol * snp.abs(y)
    size, speed = _norm(y / scale), _norm(slope / scale)
    small = (size < 1e-5) | (speed < 1e-5)
    h = snp.where(small, 1e-6, 0.01 * size / snp.where(small, 1, speed))
    bend = _norm((f(y + h * slope, t + h.astype(t.dtype)) - slope) / scale) / h
    most = snp.maximum(speed, bend)
    other = snp.where(
        most <= 1e-15, snp.maximum(1e-6, h * 1e-3), (0.01 / snp.maximum(most, 1e-15)) ** 0.2
    )
    return snp.minimum(100 * h, other)


def _solve(
    f: Callable[..., Any], rtol: float, atol: float, mxstep: float, hmax: float, y0: Any, ts: Any
) -> Any:
    """Return the solution at all times, of a vector. Values and times keep their dtypes, which may differ."""
    slope0 = f(y0, ts[0])
    real = dtype_predicates.real_part_dtype(y0.dtype)

    short = isinstance(y0.size, int) and y0.size <= _SHORT  # not symbolic

    # one array for all numbers, and for short vectors: XLA makes a kernel for each result of a step
    def pack(vectors: tuple) -> tuple:
        return (snp.stack(vectors),) if short else vectors

    def unpack(packed: tuple) -> tuple:
        return tuple(packed[0]) if short else packed

    def step(state: tuple) -> tuple:
        count, packed, (t, span, _) = state
        h = span.astype(real)
        y, slope, *_ = unpack(packed)
        slopes = [slope]
        for node, weights in zip(_NODES, _STAGES, strict=True):
            new = y + h * _combined(weights, slopes)
            slopes.append(f(new, t + node * span))
        scale = atol + rtol * snp.maximum(snp.abs(y), snp.abs(new))
        error = _norm(h * _combined(_ERROR, slopes) / scale)
        accepted = error <= 1
        factor = 0.9 * snp.where(error == 0, 1e-8, error) ** -0.2
        factor = snp.clip(factor, 0.2, snp.where(accepted, 10.0, 1.0))
        factor = snp.where(snp.isfinite(error), factor, 0.2)
        change, last = new - y, slopes[-1]
        rest = h * slope - change
        dense = (y, change, rest, change - h * last - rest, h * _combined(_DENSE, slopes))
        packed = trees.map(
            lambda a, b: snp.where(accepted, a, b), pack((new, last, *dense)), packed
        )
        next_h = snp.minimum(span * factor.astype(ts.dtype), hmax)
        moved, stayed = snp.stack([t + span, next_h, t]), snp.stack([t, next_h, state[2][2]])
        return count + 1, packed, snp.where(accepted, moved, stayed)

    def until(carry: tuple, target: Any) -> tuple:
        def running(state: tuple) -> Any:
            count, _, (t, h, _) = state
            return (t < target) & (count < mxstep) & (h > 0)

        _, packed, numbers = lax.while_loop(running, step, (snp.array(0), *carry))
        _, _, y, change, a, b, c = unpack(packed)
        t, _, before = numbers
        part = ((target - before) / snp.where(t == before, 1, t - before)).astype(real)
        value = y + part * (change + (1 - part) * (a + part * (b + (1 - part) * c)))
        return (packed, numbers), value

    h = snp.minimum(_first_step(f, y0, ts[0], slope0, rtol, atol), hmax).astype(ts.dtype)
    zeros = snp.zeros_like(y0)
    vectors = (y0, slope0, y0, zeros, zeros, zeros, zeros)
    start = (pack(vectors), snp.stack([ts[0], h, ts[0]]))
    _, ys = lax.scan(until, start, ts[1:])
    return snp.concatenate([y0[None], ys])


@functools.partial(custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def _odeint(
    f: Callable[..., Any],
    rtol: float,
    atol: float,
    mxstep: float,
    hmax: float,
    y0: Any,
    ts: Any,
    args: Any,
) -> Any:
    return _solve(lambda y, t: f(y, t, args), rtol, atol, mxstep, hmax, y0, ts)


def _forward(f: Callable[..., Any], *options: Any) -> tuple:
    ys = _odeint(f, *options)
    _, ts, args = options[-3:]
    return ys, (ys, ts, args)


def _backward(
    f: Callable[..., Any],
    rtol: float,
    atol: float,
    mxstep: float,
    hmax: float,
    residuals: Any,
    cts: Any,
) -> tuple:
    """Solve the adjoint equation backward in time: Chen et al., Neural ordinary differential equations (2018)."""
    ys, ts, args = residuals
    zero_args = trees.map(snp.zeros_like, args)
    start = (ys[0], ys[0], zero_args)
    _, unravel = ravel_pytree(start)

    def adjoint(state: Any, s: Any, args: Any) -> Any:
        y, a, _ = unravel(state)
        slope, pull = vjp(lambda y, args: f(y, -s, args), y, args)
        of_y, of_args = pull(a)
        return ravel_pytree((-slope, of_y, of_args))[0]

    def between(carry: tuple, i: Any) -> tuple:
        a, of_args = carry
        slope = f(ys[i], ts[i], args)
        of_time = convert(snp.dot(cts[i], slope), ts.dtype)
        state, _ = ravel_pytree((ys[i], a, of_args))
        span = snp.stack([-ts[i], -ts[i - 1]])
        end = _odeint(adjoint, rtol, atol, mxstep, hmax, state, span, args)[1]
        _, a, of_args = unravel(end)
        return (a + cts[i - 1], of_args), of_time

    carry = (cts[-1], zero_args)
    order = snp.arange(ts.shape[0] - 1, 0, -1)
    (a, of_args), of_times = lax.scan(between, carry, order)
    # moving the first time with the first value fixed moves the whole solution
    only = isinstance(ts.shape[0], int) and ts.shape[0] == 1  # not symbolic
    if only:
        of_first = snp.zeros((), ts.dtype)
    else:
        of_first = convert(-snp.dot(a - cts[0], f(ys[0], ts[0], args)), ts.dtype)
    return a, snp.concatenate([of_first[None], of_times[::-1]]), of_args


_odeint.defvjp(_forward, _backward)


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = snp.inf,
    hmax: float = snp.inf,
) -> Any:
    """Solve dy/dt = func(y, t, *args) by Dormand and Prince's method with adaptive steps.

    Reverse-mode derivatives, by `y0`, `t`, `args` and captured values, solve the adjoint equation backward in time.

    Args:
      func: returns the derivative, in the structure and shapes of `y`.
      y0: the value at the first time: arrays, in any pytree.
      t: increasing times.
      args: further arguments of `func`: floating point arrays, in any pytrees.
      rtol, atol: the error that a step may have, relative to the value and absolute.
      mxstep: the greatest number of steps between two times.
      hmax: the greatest step.

    Returns the values at all times, along a new first dimension.

    Raises ValueError if `t` is no vector of floating point numbers.

    >>> from sagax.experimental.ode import odeint
    >>> swing = lambda y, t, w: {"x": y["v"], "v": -w * y["x"]}
    >>> ys = odeint(swing, {"x": 1.0, "v": 0.0}, snp.array([0.0, snp.pi]), 1.0)
    >>> round(float(ys["x"][1]), 3)
    -1.0
    """
    check_function(func, "odeint needs a function", "odeint", "func")
    ts = snp.asarray(t)
    if ts.ndim != 1 or not ts.shape[0] or not dtypes.is_inexact(aval_of(ts).dtype):
        raise ArgumentValueError.about(
            "odeint", "t", ts, "a vector of at least one floating point time"
        )
    flat, unravel = ravel_pytree(trees.map(_inexact, y0))
    values = trees.map(_inexact, args)
    converted, captured = closure_convert(func, unravel(flat), ts[0], *values)

    def f(y: Any, t: Any, arguments: Any) -> Any:
        given, more = arguments
        return ravel_pytree(converted(unravel(y), t, *given, *more))[0].astype(y.dtype)

    ys = _odeint(f, rtol, atol, mxstep, hmax, flat, ts, (values, tuple(captured)))
    return vmap(unravel)(ys)


def _inexact(x: Any) -> Any:
    x = snp.asarray(x)
    return x if dtypes.is_inexact(x.dtype) else x.astype(snp.result_type(x, 1.0))
