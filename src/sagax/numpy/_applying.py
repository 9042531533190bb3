"""Apply functions to slices along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sagax.numpy._base as _base
from sagax._src.api.vmap import vmap
from sagax._src.argument_checks import checks
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.numpy._arguments import one_axis, with_aval
from sagax.numpy._shaping import expand_dims


def apply_along_axis(func1d: Callable, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Apply `func1d(vector, *args, **kwargs)` to each vector of `arr` along `axis`.

    The dimensions of what it returns take the place of that axis.

    >>> snp.apply_along_axis(snp.cumsum, 1, snp.ones((2, 3)))
    Array([[1., 2., 3.],
           [1., 2., 3.]], dtype=float32)
    """
    checks.callable("apply_along_axis", "func1d", func1d)
    arr, aval = with_aval("apply_along_axis", arr, 2)
    d = one_axis("apply_along_axis", axis, aval.ndim)
    fun = lambda vector: func1d(vector, *args, **kwargs)  # noqa: E731
    # map over the axes behind, the last of them outermost, then over those in front
    for _ in range(d + 1, aval.ndim):
        fun = vmap(fun, in_axes=-1, out_axes=-1)
    for _ in range(d):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(_base.as_array("apply_along_axis", arr))


def apply_over_axes(func: Callable, a: Any, axes: Sequence[int]) -> Array:
    """Apply `func(a, axis)` for each of `axes` in turn, each time to the previous result.

    The function keeps the number of dimensions, or leaves out the one that it is given.

    >>> snp.apply_over_axes(snp.sum, snp.ones((2, 3)), (0, 1))
    Array([[6.]], dtype=float32)
    """
    x = _base.as_array("apply_over_axes", a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        d = one_axis("apply_over_axes", axis, x.ndim)
        found = func(x, d)
        if found.ndim == x.ndim - 1:
            found = expand_dims(found, d)
        if found.ndim != x.ndim:
            raise ArgumentValueError(
                "function is not returning an array of the correct shape",
                function="apply_over_axes",
                argument="func",
                got=f"shape {found.shape} from shape {x.shape} along axis {d}",
                expected=f"{x.ndim} dimensions, or {x.ndim - 1}",
            )
        x = found
    return x
