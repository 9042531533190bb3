"""Compute higher derivatives along a path, by arithmetic on truncated Taylor series.

>>> from sagax.experimental.jet import jet
>>> value, (first, second) = jet(snp.sin, (0.0,), ((1.0, 0.0),))
>>> float(value), float(first), float(second)
(0.0, 1.0, 0.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero
from sagax._src.core.trace import Trace, Tracer, current, entered, state
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.boundary import tracing
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import (
    add,
    add_p,
    div,
    div_p,
    integer_pow,
    integer_pow_p,
    mul,
    mul_p,
    sqrt_p,
    sub,
    sub_p,
)
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.convolution import conv_general_dilated_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.makers import add_any_p, broadcast_to, scalar_like
from sagax._src.primitives.power import pow_p
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.structural import convert, instantiate
from sagax._src.primitives.transcendental import (
    cos_p,
    cosh_p,
    exp2_p,
    exp_p,
    log_p,
    logistic_p,
    sin_p,
    sinh_p,
    tanh_p,
)
from sagax._src.transforms.derived import run_composite

__all__ = ["jet"]

# A series is a list of coefficients x_0, x_1, ...: the value at t is the sum of x_k t**k. None stands for zero.


class JetTracer(Tracer):
    """A value with the coefficients of its Taylor series, after the first."""

    __slots__ = ("primal", "terms")

    def __init__(self, trace: JetTrace, primal: Any, terms: list) -> None:
        self._trace = trace
        self.primal, self.terms = primal, terms
        self.aval = aval_of(primal)

    @property
    def inner(self) -> Any:
        return self.primal


class JetTrace(Trace):
    """Compute with series up to an order."""

    __slots__ = ("order",)

    described_as = "differentiated", "differentiated"

    def __init__(self, parent: Trace, order: int) -> None:
        super().__init__(parent)
        self.order = order

    def series(self, x: Any) -> list:
        """Return all coefficients of a value."""
        if type(x) is JetTracer and x._trace is self:
            return [x.primal, *x.terms]
        return [x, *[None] * self.order]

    def wrap(self, series: Sequence[Any]) -> Any:
        if all(t is None for t in series[1:]):
            return series[0]
        return JetTracer(self, series[0], list(series[1:]))

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        active = [type(a) is JetTracer and a._trace is self for a in args]
        with current(self.parent):
            if not any(active):
                return primitive.bind(*args, **params)
            operands = [self.series(a) for a in args]
            rule = _RULES.get(primitive)
            if rule is not None:
                return self.wrap(rule(self.order, *operands, **params))
            if primitive in _BILINEAR or _is_linear(primitive, operands):
                return self.wrap(_product(primitive, operands, active, self.order, params))
            if primitive.jvp_rule is None and primitive.composite_rule is not None:
                return run_composite(self, primitive, args, params)
            out = _by_jvp(primitive, operands, self.order, params)
        return [self.wrap(o) for o in out] if primitive.multiple_results else self.wrap(out)


_BILINEAR = (dot_general_p, conv_general_dilated_p)


def _is_linear(primitive: Primitive, operands: Sequence[list]) -> bool:
    """Return whether an operation is linear in its one differentiable operand; the others are indices."""
    if not primitive.multilinear or primitive.multiple_results:
        return False
    return sum(dtypes.is_inexact(aval_of(s[0]).dtype) for s in operands) == 1


def _product(
    primitive: Any, operands: Sequence[list], active: Sequence[bool], order: int, params: dict
) -> list:
    """Apply an operation that is linear in each operand: sum over coefficients whose orders add up."""
    out: list[Any] = [None] * (order + 1)

    def choose(i: int, chosen: list, total: int) -> None:
        if i == len(operands):
            value = primitive.bind(*chosen, **params)
            out[total] = value if out[total] is None else add(out[total], value)
            return
        for k in range(order + 1 - total if active[i] else 1):
            if operands[i][k] is not None:
                choose(i + 1, [*chosen, operands[i][k]], total + k)

    choose(0, [], 0)
    return out


def _by_jvp(primitive: Any, operands: Sequence[list], order: int, params: dict) -> Any:
    """Apply any operation: the series of its derivative is that of its jvp rule, at one order less.

    With y = f(x), k y_k is coefficient k - 1 of f'(x) x'.
    """
    inner = JetTrace(state.trace, order - 1)
    many = primitive.multiple_results
    with entered(inner):
        primals, tangents = [], []
        for s in operands:
            primals.append(inner.wrap(s[:order]))
            slopes = [None if t is None else _times(k, t) for k, t in enumerate(s[1:], 1)]
            aval = aval_of(s[0])
            if all(t is None for t in slopes) or aval.dtype != aval.to_tangent_aval().dtype:
                tangents.append(Zero(aval.to_tangent_aval()))
            else:
                first = instantiate(Zero(aval)) if slopes[0] is None else slopes[0]
                tangents.append(inner.wrap([first, *slopes[1:]]))
        outs, moved = primitive.rule("jvp")(primals, tangents, **params)
        if not many:
            outs, moved = [outs], [moved]
        found = [
            [inner.series(o)[0], *([None] * order if type(t) is Zero else inner.series(t))]
            for o, t in zip(outs, moved, strict=True)
        ]
    series = [
        [s[0], *[None if t is None else _times(1 / k, t) for k, t in enumerate(s[1:], 1)]]
        for s in found
    ]
    return series if many else series[0]


def _times(factor: float, x: Any) -> Any:
    return x if factor == 1 else mul(x, scalar_like(factor, aval_of(x).dtype))


def _plus(*parts: Any) -> Any:
    """Add coefficients; some are zero."""
    total = None
    for x in parts:
        if x is not None:
            total = x if total is None else add(total, x)
    return total


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Return the sum of products of coefficients."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return _plus(*[mul(x, y) for x, y in pairs])


def _minus(a: Any, b: Any) -> Any:
    if b is None:
        return a
    return _times(-1, b) if a is None else sub(a, b)


def _slopes(x: Sequence[Any]) -> list:
    """Return the coefficients k x_k."""
    return [None if t is None else _times(k, t) for k, t in enumerate(x)]


def _over(x: Any, y: Any) -> Any:
    return None if x is None else div(x, y)


def _stored(*values: Any) -> Any:
    """Return values that all coefficients read: the compiler would compute them anew for each."""
    return optimization_barrier(values)


_RULES: dict[Primitive, Callable] = {}


def _rule(*primitives: Primitive) -> Callable[..., Any]:
    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        _RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return register


# Recurrences: Griewank and Walther, Evaluating Derivatives (2008), section 13.2


def _sized(x: Any, y: Any) -> Any:
    """Return the coefficient `x`, of one of two operands, in the shape and dtype of their sum."""
    if x is None:
        return None
    return add(x, instantiate(Zero(aval_of(y)))) if aval_of(x).shape != aval_of(y).shape else x


@_rule(add_p, add_any_p)
def _(order: int, x: list, y: list, **_: Any) -> list:
    total = add(x[0], y[0])
    return [total, *[_sized(_plus(a, b), total) for a, b in zip(x[1:], y[1:], strict=True)]]


@_rule(sub_p)
def _(order: int, x: list, y: list, **_: Any) -> list:
    total = sub(x[0], y[0])
    return [total, *[_sized(_minus(a, b), total) for a, b in zip(x[1:], y[1:], strict=True)]]


@_rule(mul_p)
def _(order: int, x: list, y: list, **_: Any) -> list:
    return [_dot(x[: k + 1], y[k::-1]) for k in range(order + 1)]


@_rule(div_p)
def _(order: int, x: list, y: list, **_: Any) -> list:
    out = [div(x[0], y[0])]
    for k in range(1, order + 1):
        out.append(_over(_minus(x[k], _dot(out, y[k:0:-1])), y[0]))
    return out


def _exponential(primitive: Primitive, constant: float) -> None:
    """Series of y with y' = constant y x'."""

    @_rule(primitive)
    def _(order: int, x: list, **params: Any) -> list:
        slopes, out = _slopes(x), [primitive.bind(x[0], **params)]
        for k in range(1, order + 1):
            total = _dot(slopes[1 : k + 1], out[k - 1 :: -1])
            out.append(None if total is None else _times(constant / k, total))
        return out


_exponential(exp_p, 1.0)
_exponential(exp2_p, math.log(2.0))


@_rule(log_p)
def _(order: int, x: list, **params: Any) -> list:
    out, slopes = [log_p.bind(x[0], **params)], [None]
    for k in range(1, order + 1):
        own = None if x[k] is None else _times(k, x[k])
        slope = _over(_minus(own, _dot(slopes[1:k], x[k - 1 : 0 : -1])), x[0])
        slopes.append(slope)
        out.append(None if slope is None else _times(1 / k, slope))
    return out


def _with_derivative(primitive: Primitive, derivative: Callable[[list], list]) -> None:
    """Series of y with y' = d(y) x', where d is given as a function of series."""

    @_rule(primitive)
    def _(order: int, x: list, **params: Any) -> list:
        slopes, out = _slopes(x), [primitive.bind(x[0], **params)]
        for k in range(1, order + 1):
            total = _dot(slopes[1 : k + 1], derivative(out)[k - 1 :: -1])
            out.append(None if total is None else _times(1 / k, total))
        return out


def _square(y: list) -> list:
    return [_dot(y[: k + 1], y[k::-1]) for k in range(len(y))]


def _one_minus_square(y: list) -> list:
    squares = _square(y)
    one = scalar_like(1, aval_of(y[0]).dtype)
    return [sub(one, squares[0]), *[_minus(None, s) for s in squares[1:]]]


_with_derivative(tanh_p, _one_minus_square)
_with_derivative(logistic_p, lambda y: [_minus(a, b) for a, b in zip(y, _square(y), strict=True)])


def _pair(primitive: Primitive, other: Primitive, sign: float) -> None:
    """Series of sin and cos, or sinh and cosh, which are each other's derivatives."""

    @_rule(primitive)
    def _(order: int, x: list, **params: Any) -> list:
        slopes = _slopes(x)
        first = _stored(primitive.bind(x[0], **params), other.bind(x[0], **params))
        y, z = [first[0]], [first[1]]
        up, down = (1.0, sign) if primitive in (sin_p, sinh_p) else (sign, 1.0)
        for k in range(1, order + 1):
            a, b = _dot(slopes[1 : k + 1], z[k - 1 :: -1]), _dot(slopes[1 : k + 1], y[k - 1 :: -1])
            y.append(None if a is None else _times(up / k, a))
            z.append(None if b is None else _times(down / k, b))
        return y


_pair(sin_p, cos_p, -1.0)
_pair(cos_p, sin_p, -1.0)
_pair(sinh_p, cosh_p, 1.0)
_pair(cosh_p, sinh_p, 1.0)


@_rule(integer_pow_p)
def _(order: int, x: list, *, y: int, **_: Any) -> list:
    one = [add(instantiate(Zero(aval_of(x[0]))), scalar_like(1, aval_of(x[0]).dtype))]
    one += [None] * order
    out, base, n = None, x, abs(y)
    while n:
        if n % 2:
            out = base if out is None else _RULES[mul_p](order, out, base)
        n //= 2
        base = _RULES[mul_p](order, base, base) if n else base
    out = one if out is None else out
    return _RULES[div_p](order, one, out) if y < 0 else out


@_rule(pow_p)
def _(order: int, x: list, y: list, **params: Any) -> list:
    if not _is_broken(y):
        return _by_jvp(pow_p, [x, y], order, params)
    # x p' = y p x', where p is the power
    exponent = float(y[0])
    dtype = aval_of(x[0]).dtype
    (first,) = _stored(pow_p.bind(x[0], y[0], **params))
    at_zero = eq(x[0], scalar_like(0, dtype))
    one = broadcast_to(scalar_like(1, dtype), aval_of(x[0]).shape)
    out = [first]
    # where the path begins at 0 the recursion runs on ones, so that no masked value is NaN
    base, terms = select_n(at_zero, x[0], one), [select_n(at_zero, first, one)]
    slope = None if x[1] is None else select_n(at_zero, one, x[1])
    for k in range(1, order + 1):
        parts = [
            None if x[j] is None else _times(exponent * j - (k - j), x[j]) for j in range(1, k + 1)
        ]
        total = _dot(parts, terms[k - 1 :: -1])
        terms.append(None if total is None else div(total, _times(k, base)))
        if total is None:
            out.append(None)
            continue
        out.append(select_n(at_zero, terms[k], _power_at_zero(exponent, k, slope, terms[k])))
    return out


def _is_broken(exponent: Sequence[Any]) -> bool:
    """Return whether an exponent is a known number that is no integer."""
    first, *rest = exponent
    if any(t is not None for t in rest) or isinstance(first, Tracer) or aval_of(first).shape:
        return False
    return bool(np.isrealobj(first)) and not float(first).is_integer() and math.isfinite(first)


def _power_at_zero(exponent: float, k: int, first: Any, like: Any) -> Any:
    """Return coefficient k of a power of a path that begins at 0 with the slope `first`."""
    if k < exponent:
        value = scalar_like(0, aval_of(like).dtype)
    elif first is None:
        value = scalar_like(math.nan, aval_of(like).dtype)
    else:
        sign = math.prod([exponent - j for j in range(k)])  # of the derivative of order k
        value = _times(math.copysign(math.inf, sign), integer_pow(first, k))
    return broadcast_to(value, aval_of(like).shape)


@_rule(sqrt_p)
def _(order: int, x: list, **params: Any) -> list:
    out = [sqrt_p.bind(x[0], **params)]
    for k in range(1, order + 1):
        rest = _minus(x[k], _dot(out[1:k], out[k - 1 : 0 : -1]))
        out.append(_over(rest, _times(2, out[0])))
    return out


def jet(
    fun: Callable[..., Any], primals: Any, series: Any, factorial_scaled: bool = True, **_: Any
) -> tuple[Any, Any]:
    """Compute `fun` and its derivatives along a path, given by derivatives of the path.

    Series of sums, products, quotients and elementary functions take time quadratic in the order; others
    go through their jvp rules.

    Args:
      primals: the arguments of `fun`, in a tuple or list.
      series: for each argument the derivatives of its path: the first, the second, and so on; as many for each.
      factorial_scaled: the terms are derivatives; otherwise they are coefficients of Taylor series.

    Returns (value, terms): the terms of each array in the value, in a list.

    Raises ValueError if numbers of arguments or of terms differ.

    >>> from sagax.experimental.jet import jet
    >>> value, terms = jet(lambda x, y: x * y, (2.0, 3.0), ((1.0, 0.0), (1.0, 0.0)))
    >>> float(value), [float(t) for t in terms]
    (6.0, [5.0, 2.0])
    """
    primals, series = tuple(primals), tuple(series)
    if len(primals) != len(series):
        raise ArgumentValueError.about(
            "jet", "series", f"{len(series)} entries", f"one for each of {len(primals)} arguments"
        )
    leaves, tree = trees.flatten(primals)
    terms: list[list] = []
    for i, (p, s) in enumerate(zip(primals, series, strict=True)):
        own = trees.structure(p)
        given = (
            own.flatten_up_to(s) if own.num_leaves != 1 or not trees.treedef_is_leaf(own) else [s]
        )
        if not all(isinstance(t, (tuple, list)) for t in given):
            raise ArgumentValueError.about("jet", f"series[{i}]", s, "lists of terms")
        terms += [list(t) for t in given]
    orders = {len(t) for t in terms}
    if len(orders) != 1 or not min(orders):
        raise ArgumentValueError.about(
            "jet", "series", sorted(orders), "equally many terms for each argument, at least one"
        )
    (order,) = orders
    values = [x if hasattr(x, "aval") else sockets.concrete(x) for x in leaves]
    scale = [math.factorial(k) if factorial_scaled else 1 for k in range(1, order + 1)]
    trace = JetTrace(state.trace, order)

    weak = [True] * order  # Python numbers, so that the results of this order are such, too

    def coefficient(k: int, x: Any, t: Any) -> Any:
        t = t if hasattr(t, "aval") else sockets.concrete(t)
        if not (aval_of(x).weak_type <= aval_of(t).weak_type):
            weak[k:] = [False] * (order - k)
        return _times(1 / scale[k], convert(t, aval_of(x).dtype))

    with tracing(fun, "jet"), entered(trace):
        ins = []
        for x, ts in zip(values, terms, strict=True):
            if not dtypes.is_inexact(aval_of(x).dtype):
                ins.append(x)
                continue
            with current(trace.parent):
                coefficients = [coefficient(k, x, t) for k, t in enumerate(ts)]
            ins.append(JetTracer(trace, x, coefficients))
        outs, out_tree = trees.flatten(fun(*tree.unflatten(ins)))
        found = [trace.series(o if hasattr(o, "aval") else sockets.concrete(o)) for o in outs]
    results = []
    for s in found:
        aval = aval_of(s[0])
        zero = instantiate(Zero(aval))
        results.append(
            [
                convert(zero if t is None else _times(f, t), aval.dtype, aval.weak_type and w)
                for t, f, w in zip(s[1:], scale, weak, strict=True)
            ]
        )
    return out_tree.unflatten([s[0] for s in found]), out_tree.unflatten(results)
