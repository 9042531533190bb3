"""Define elementwise comparisons of numbers.

They are constant almost everywhere, so they have no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import EXACT
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, boolean, c64, f32, i32, u8
from sagax._src.primitives.makers import Accepts, anything, elementwise, floating, operands

ordered = Accepts(
    "real numbers or booleans",
    lambda d: not dtypes.is_extended(d) and not dtype_predicates.is_complex(d),
)
_BOOL = np.dtype(bool)
_EDGES = np.array([-np.inf, -1, -0.0, 0, np.nan, 1, 0, -0.0], np.float32)


def _to_bool(*_: Any) -> np.dtype:
    return _BOOL


def _comparison(
    name: str,
    direction: str,
    numpy: Callable[..., Any],
    accepts: Accepts,
    *,
    total_order: bool = False,
) -> Primitive:
    """Define a comparison primitive; `direction` is its StableHLO name."""
    samples = [
        Sample(i32(2, 3), i32(2, 3)),
        Sample(f32(2, 3), f32(2, 1)),
        Sample(f32(3), f32()),
        Sample(boolean(4), boolean(4)),
        Sample(u8(4), u8(4)),
        Sample(bf16(4), bf16(4)),
        Sample(_EDGES, _EDGES[::-1]),
    ]
    if accepts is anything:
        samples.append(Sample(c64(3), c64(3)))
    p = elementwise(
        name,
        2,
        numpy=numpy,
        accepts=accepts,
        result=_to_bool,
        exact=True,
        samples=samples,
        family=EXACT,
    )

    @p.lower
    def _(b: Any, x: Any, y: Any) -> Any:
        shape = b.out.shape
        x, y = b.stretch(x, shape), b.stretch(y, shape)
        if dtypes.is_extended(x.dtype):
            return _compare_physical(b, direction, x, y)
        return b.compare(direction, x, y, total_order=total_order)

    return p


def _compare_physical(b: Any, direction: str, x: Any, y: Any) -> Any:
    """Compare elements of an extended dtype: equal if all their physical numbers are."""
    extra = x.dtype.physical_shape
    out = b.op(
        "compare",
        [x, y],
        intern_aval((*x.shape, *extra), _BOOL, False, None),
        comparison_direction=f"#stablehlo<comparison_direction {direction}>",
    )
    axes = tuple(range(x.ndim, x.ndim + len(extra)))
    return (
        b.reduce("and", out, True, axes) if direction == "EQ" else b.reduce("or", out, False, axes)
    )


eq_p = _comparison("eq", "EQ", np.equal, anything)
ne_p = _comparison("ne", "NE", np.not_equal, anything)
lt_p = _comparison("lt", "LT", np.less, ordered)
le_p = _comparison("le", "LE", np.less_equal, ordered)
gt_p = _comparison("gt", "GT", np.greater, ordered)
ge_p = _comparison("ge", "GE", np.greater_equal, ordered)


def _total_key(x: np.ndarray) -> np.ndarray:
    """Return integers in the IEEE total order: -NaN, -inf, ..., -0, +0, ..., inf, NaN."""
    if dtypes.kind(x.dtype) != "f":
        return x
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = np.asarray(x, order="C").view(signed)
    return np.where(bits < 0, bits ^ np.array(np.iinfo(signed).max, signed), bits)


def _in_total_order(question: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: question(_total_key(x), _total_key(y))


# For sorting, which also orders NaN and zeros of different sign
eq_to_p = _comparison("eq_to", "EQ", _in_total_order(np.equal), ordered, total_order=True)
le_to_p = _comparison("le_to", "LE", _in_total_order(np.less_equal), ordered, total_order=True)
lt_to_p = _comparison("lt_to", "LT", _in_total_order(np.less), ordered, total_order=True)


def eq(x: Any, y: Any) -> Any:
    """Return whether `x` equals `y`, elementwise; a NaN equals nothing.

    Operands have the same dtype and shapes that are equal up to sizes 1 and scalars. The result is
    boolean.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.eq(np.array([1, 2, 3]), 2)
    Array([False,  True, False], dtype=bool)
    """
    return eq_p.bind(*operands(x, y))


def ne(x: Any, y: Any) -> Any:
    """Return whether `x` differs from `y`, elementwise; a NaN differs from everything.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.ne(np.array([1, 2, 3]), 2)
    Array([ True, False,  True], dtype=bool)
    """
    return ne_p.bind(*operands(x, y))


def lt(x: Any, y: Any) -> Any:
    """Return whether `x < y`, elementwise; False if either is NaN. Real dtypes only.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.lt(np.array([1, 2, 3]), 2)
    Array([ True, False, False], dtype=bool)
    """
    return lt_p.bind(*operands(x, y))


def le(x: Any, y: Any) -> Any:
    """Return whether `x <= y`, elementwise; False if either is NaN. Real dtypes only.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.le(np.array([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return le_p.bind(*operands(x, y))


def gt(x: Any, y: Any) -> Any:
    """Return whether `x > y`, elementwise; False if either is NaN. Real dtypes only.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.gt(np.array([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool)
    """
    return gt_p.bind(*operands(x, y))


def ge(x: Any, y: Any) -> Any:
    """Return whether `x >= y`, elementwise; False if either is NaN. Real dtypes only.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.ge(np.array([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return ge_p.bind(*operands(x, y))


# is_finite ----------------------------------------------------------------------------------------

is_finite_p = elementwise(
    "is_finite",
    family=EXACT,
    numpy=np.isfinite,
    accepts=floating,
    result=_to_bool,
    hlo="is_finite",
    exact=True,
    samples=[
        Sample(f32(3)),
        Sample(np.array([np.inf, np.nan, -np.inf, 0, -2.5], np.float32)),
        Sample(bf16(3)),
    ],
)


def is_finite(x: Any) -> Any:
    """Return whether `x` is neither infinite nor NaN, elementwise. Floating point dtypes only.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.is_finite(np.array([1.0, np.inf, np.nan]))
    Array([ True, False, False], dtype=bool)
    """
    return is_finite_p.bind(x)


__all__ = [
    "eq",
    "eq_p",
    "eq_to_p",
    "ge",
    "ge_p",
    "gt",
    "gt_p",
    "is_finite",
    "is_finite_p",
    "le",
    "le_p",
    "le_to_p",
    "lt",
    "lt_p",
    "lt_to_p",
    "ne",
    "ne_p",
    "ordered",
]
