"""Interpolate piecewise linearly."""

from __future__ import annotations

from typing import Any

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import structural
from sagax._src.primitives.sorting import sort_p
from sagax.numpy._arguments import with_aval
from sagax.numpy._arithmetic import remainder
from sagax.numpy._fused import fused
from sagax.numpy._joining import concatenate
from sagax.numpy._selection import clip, where
from sagax.numpy._sorting import searchsorted


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Interpolate linearly between the points (xp, fp), at each element of `x`.

    Args:
      xp: a vector of increasing numbers.
      fp: the values there; real or complex.
      left, right: the values before the first and after the last point, by default those at them;
        "extrapolate" goes on along the line.
      period: makes `x` and `xp` positions in a period of this length; `left` and `right` are not used.

    Floating point, of the shape of `x`.

    >>> snp.interp(snp.array([0.0, 2.5]), snp.array([1.0, 2.0, 3.0]), snp.array([3.0, 2.0, 0.0]))
    Array([3., 1.], dtype=float32)
    """
    x, x_aval = with_aval("interp", x, 0)
    xp, xp_aval = with_aval("interp", xp, 1)
    fp, fp_aval = with_aval("interp", fp, 2)
    if xp_aval.ndim != 1 or not dims.same_shape(xp_aval.shape, fp_aval.shape):
        raise ArgumentValueError(
            "xp and fp must be one-dimensional arrays of equal size",
            function="interp",
            got=f"shapes {xp_aval.shape} and {fp_aval.shape}",
        )
    if dims.same(xp_aval.size, 0):
        raise ArgumentValueError.about("interp", "xp", xp, "at least one point")
    for name, aval in (("x", x_aval), ("xp", xp_aval)):
        if dtypes.is_complex(aval.dtype):
            raise ArgumentValueError(
                "complex positions are not supported", function="interp", argument=name, got=aval
            )
    ends = []
    for name, value in (("left", left), ("right", right)):
        if isinstance(value, str):
            if value != "extrapolate":
                raise ArgumentValueError(
                    f"the only valid string value of `{name}` is 'extrapolate', but got: {value!r}",
                    function="interp",
                )
        elif value is not None:
            with_aval("interp", value, 3)
            ends.append(value)
    extrapolate = (isinstance(left, str), isinstance(right, str))
    x, xp = _base.promote_inexact("interp", x, xp)
    (fp,) = _base.promote_inexact("interp", fp)
    fp = _base.cast(fp, *_base.common_dtype("interp", (fp, x, *ends)))
    given = (left is not None and not extrapolate[0], right is not None and not extrapolate[1])
    if period is not None:
        with_aval("interp", period, 5)
        return _interp(
            x, xp, fp, period, given=(False, False), extrapolate=(False, False), periodic=True
        )
    return _interp(x, xp, fp, *ends, given=given, extrapolate=extrapolate, periodic=False)


@fused
def _interp(
    x: Any, xp: Any, fp: Any, *more: Any, given: tuple, extrapolate: tuple, periodic: bool
) -> Array:
    more_left = list(more)
    x, xp, fp = (_base.as_array("interp", v) for v in (x, xp, fp))
    if periodic:
        period = abs(structural.convert(_base.as_array("interp", more[0]), xp.dtype, xp.weak_type))
        x, xp = remainder(x, period), remainder(xp, period)
        xp, fp = sort_p.bind(xp, fp, dimension=0, is_stable=True, num_keys=1)
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    n = xp.shape[0]
    above = clip(searchsorted(xp, x, side="right"), 1, max(n - 1, 1))
    low, high = above - 1, clip(above, None, n - 1)
    start, run = xp[low], xp[high] - xp[low]
    rise = fp[high] - fp[low]
    # Two points with equal `xp` have no line between them; the second one counts.
    flat = run == 0
    found = where(flat, fp[high], fp[low] + ((x - start) / where(flat, 1, run)) * rise)
    if periodic:
        return found
    for side, beyond, end in ((0, x < xp[0], fp[0]), (1, x > xp[-1], fp[-1])):
        if extrapolate[side]:
            continue
        value = more_left.pop(0) if given[side] else end
        found = where(
            beyond,
            structural.convert(
                _base.as_array("interp", value), found.dtype, _base.aval_of(value).weak_type
            ),
            found,
        )
    return found
