"""Select elementwise: where, clip, select, piecewise, nan_to_num."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sagax.numpy._base as _base
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import max_p, min_p
from sagax._src.primitives.comparison import eq_p, ne_p
from sagax._src.primitives.complex_numbers import complex_p, imag_p
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import convert, convert_given, real_p
from sagax.numpy._base import as_operand, dtype_of, operands2, promoted2
from sagax.numpy._fused import fused, fused_function, operation2, operation3
from sagax.numpy._logic import truth

if TYPE_CHECKING or lazy_imports():
    from sagax.numpy import _nonzero


def where3(condition: Any, x: Any, y: Any) -> Array:
    """Select `x` where `condition` holds and `y` elsewhere; `where` with all its operands.

    Operands of unlike ranks are no promotion of ranks: as in JAX, `where` and `select` take them under all settings.
    """
    if not isinstance(condition, Array) or condition.aval.dtype is not dtypes.bool_:
        condition = truth(as_operand("where", condition))
    if isinstance(x, Array) and isinstance(y, Array):
        if x.aval is not y.aval:
            x, y = promoted2("where", x, y)
        elif dims.same_shape(aval_of(condition).shape, x.aval.shape):
            return select_n_p.bind(condition, y, x)
    else:
        x, y = promoted2("where", as_operand("where", x, 1), as_operand("where", y, 2))
    return _base.select(condition, x, y)


_where_now = operation3(where3)


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Select `x` where `condition` holds and `y` elsewhere, elementwise.

    All three broadcast; x and y are promoted to a common dtype. With the condition alone, the indices
    at which it holds, as `nonzero` gives them.

    >>> snp.where(snp.arange(3) > 0, 10, snp.arange(3))
    Array([ 0, 10, 10], dtype=int32)
    """
    if x is not None and y is not None and size is None and fill_value is None:
        return _where_now(condition, x, y)
    if x is None and y is None:
        return _nonzero.nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ArgumentError(
            "Either both or neither of the x and y arguments should be provided to numpy.where",
            function="where",
        )
    raise ArgumentValueError(
        "size and fill_value arguments cannot be used in three-term where function.",
        function="where",
    )


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Array:
    """Clip each element of `arr` to the interval from `min` to `max`; None is no bound.

    Where the bounds contradict, the result is `max`. Real numbers only.

    >>> snp.clip(snp.arange(5), 1, 3)
    Array([1, 1, 2, 3, 3], dtype=int32)
    """
    if min is None and max is None:
        arr = _base.as_array("clip", arr)
        return _ordered("clip", arr, arr)[0]
    if max is None:
        return _at_least(arr, min)
    return _at_most(arr, max) if min is None else _clipped(arr, min, max)


@operation2
def _at_least(x: Any, bound: Any, /) -> Array:
    return max_p.bind(*_ordered("clip", bound, as_operand("clip", x)))


@operation2
def _at_most(x: Any, bound: Any, /) -> Array:
    return min_p.bind(*_ordered("clip", bound, as_operand("clip", x)))


@fused
def _clipped(x: Any, low: Any, high: Any) -> Array:
    return _at_most(_at_least(x, low), high)


def _ordered(function: str, bound: Any, x: Any) -> tuple:
    bound, x = operands2(function, bound, x)
    if dtypes.is_complex(dtype_of(x)):
        raise ArgumentValueError(
            "Clip received a complex value either through the input or the min/max keywords. "
            "Complex values have no ordering and cannot be clipped.",
            function=function,
            fix="clip the real and imaginary parts, or the absolute value",
        )
    return bound, x


@fused_function(1, floats="operands")
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """Replace NaN and infinities by finite numbers; without `posinf`, by the greatest there are.

    >>> snp.nan_to_num(snp.array([1.0, snp.nan, snp.inf]), posinf=9.0)
    Array([1., 0., 9.], dtype=float32)
    """
    del copy  # arrays never change, so that none is needed
    x = _base.as_array("nan_to_num", x)
    if not dtypes.is_inexact(x.dtype):
        return x
    given = (nan, posinf, neginf)
    which = tuple([v is not None for v in given])
    return _nan_to_num(x, *[v for v in given if v is not None], which=which)


@fused
def _nan_to_num(x: Any, *given: Any, which: tuple) -> Array:
    values = iter(given)
    nan, posinf, neginf = (next(values) if w else None for w in which)
    dtype = x.dtype
    if dtype_predicates.is_complex(dtype):
        return complex_p.bind(
            _nan_to_num(real_p.bind(x), *given, which=which),
            _nan_to_num(imag_p.bind(x), *given, which=which),
        )
    info = dtypes.finfo(dtype)
    nan = 0.0 if nan is None else nan
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    for question, value in (
        (ne_p.bind(x, x), nan),
        (eq_p.bind(x, _base.number(float("inf"), float, dtype)), posinf),
        (eq_p.bind(x, _base.number(float("-inf"), float, dtype)), neginf),
    ):
        replacement = _base.cast(as_operand("nan_to_num", value), dtype, False)
        x = _base.select(question, *_base.align_ranks("nan_to_num", (replacement, x)))
    return x


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Select elementwise from the choice whose condition is the first to hold, else `default`.

    Conditions and choices broadcast; the choices and the default are promoted to a common dtype.

    >>> x = snp.arange(5)
    >>> snp.select([x < 2, x < 4], [x, 10 * x], default=-1)
    Array([ 0,  1, 20, 30, -1], dtype=int32)
    """
    condlist = checks.several("select", "condlist", condlist, "a sequence of arrays")
    choicelist = checks.several("select", "choicelist", choicelist, "a sequence of arrays")
    if len(condlist) != len(choicelist):
        raise ArgumentValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})",
            function="select",
        )
    if len(condlist) == 0:
        raise ArgumentValueError("condlist must be non-empty", function="select")
    conditions = [truth(as_operand("select", c, i)) for i, c in enumerate(condlist)]
    cases = [as_operand("select", c, i) for i, c in enumerate((default, *choicelist))]
    out, *choices = _base.promote_dtypes("select", *cases)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        out = _base.select(condition, choice, out)
    return out


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Apply to each element of `x` the function of the last condition that holds.

    A function more than there are conditions serves where none holds; without one the result is 0
    there. Functions get all of `x`, `args` and `kw`, and work element by element; numbers stand for
    constant functions. The result has the dtype of `x`.

    >>> x = snp.arange(-2.0, 3.0)
    >>> snp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 10 * v])
    Array([ 2.,  1.,  0., 10., 20.], dtype=float32)
    """
    x = _base.as_array("piecewise", x)
    if not isinstance(condlist, (list, tuple)):
        condlist = _base.as_array("piecewise", condlist, 1)
    one = not isinstance(condlist, (list, tuple)) and len(_base.shape_of(condlist)) == x.ndim
    conditions = [truth(as_operand("piecewise", c)) for c in ([condlist] if one else condlist)]
    functions = checks.several(
        "piecewise", "funclist", funclist, "a sequence of functions and numbers"
    )
    if len(functions) == len(conditions):
        functions.append(0)
    elif len(functions) != len(conditions) + 1:
        count = len(conditions)
        raise ArgumentValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected; got {len(functions)}",
            function="piecewise",
        )
    *pieces, rest = [
        convert_given(_base.as_array("piecewise", f(x, *args, **kw) if callable(f) else f), x.dtype)
        for f in functions
    ]
    out = rest
    for condition, piece in zip(conditions, pieces, strict=True):
        out = _base.select(condition, piece, out)
    return _base.broadcast_to(out, x.shape)
