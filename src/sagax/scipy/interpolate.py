"""Interpolate values on regular grids.

>>> import sagax.numpy as snp
>>> from sagax.scipy import interpolate
>>> f = interpolate.RegularGridInterpolator((snp.arange(3.0),), snp.array([0.0, 1.0, 4.0]))
>>> f(snp.array([[0.5], [1.5]])).tolist()
[0.5, 2.5]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError

__all__ = ["RegularGridInterpolator"]

_METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """Interpolate values given on a rectangular grid; call it with points.

    Args:
      points: for each dimension the increasing coordinates of the grid.
      values: the values on the grid, with one leading dimension for each of `points`.
      method: "linear" (in each dimension) or "nearest".
      bounds_error: must be False.
      fill_value: the result for points outside of the grid (default: nan); None to extrapolate.

    The result of a call with points of shape (..., number of dimensions) has the leading shape of the
    points, then the trailing dimensions of `values`. It can be differentiated by points and values.

    Raises ValueError for other methods, and sizes that do not fit.

    >>> grid = (snp.array([1.0, 2.0]), snp.array([4.0, 6.0]))
    >>> f = interpolate.RegularGridInterpolator(grid, snp.array([[10.0, 20.0], [30.0, 40.0]]))
    >>> f(snp.array([[1.5, 5.0], [9.0, 5.0]]))
    Array([25., nan], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        function = "RegularGridInterpolator"
        _check_method(method)
        if bounds_error:
            raise UnsupportedError(
                "an error for points outside of the grid depends on values",
                function=function,
                argument="bounds_error",
                fix="pass bounds_error=False, and look for the fill value in the result",
            )
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self.values = snp.asarray(values)
        if not snp.issubdtype(self.values.dtype, snp.inexact):
            self.values = self.values.astype(snp.result_type(self.values, 1.0))
        self.grid = tuple([snp.asarray(p) for p in points])
        if len(self.grid) > self.values.ndim:
            raise ArgumentValueError.about(
                function, "points", f"{len(self.grid)} axes", f"at most {self.values.ndim} axes"
            )
        for i, (axis, size) in enumerate(zip(self.grid, self.values.shape)):
            if axis.shape != (size,):
                raise ArgumentValueError.about(
                    function, f"points[{i}]", axis, f"a vector of {size} coordinates"
                )
            if not isinstance(axis, Tracer) and not np.all(np.diff(np.asarray(axis)) > 0):
                raise ArgumentValueError.about(
                    function, f"points[{i}]", axis, "strictly increasing coordinates"
                )

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """Interpolate at points of shape (..., number of dimensions)."""
        method = self.method if method is None else method
        _check_method(method)
        n = len(self.grid)
        if isinstance(xi, tuple):
            xi = snp.stack(snp.broadcast_arrays(*xi), -1)
        x = snp.asarray(xi)
        if n == 1 and x.ndim == 1:
            x = x[:, None]
        if x.ndim == 0 or x.shape[-1] != n:
            raise ArgumentValueError.about(
                "RegularGridInterpolator", "xi", x, f"points of {n} coordinates: shape (..., {n})"
            )
        cells = [_cell(axis, x[..., i]) for i, axis in enumerate(self.grid)]
        result = (
            _nearest(self.values, cells) if method == "nearest" else _linear(self.values, cells)
        )
        if self.fill_value is None:
            return result
        outside = snp.zeros(x.shape[:-1], bool)
        for i, axis in enumerate(self.grid):
            outside |= (x[..., i] < axis[0]) | (x[..., i] > axis[-1])
        outside = outside.reshape(outside.shape + (1,) * (self.values.ndim - n))
        return snp.where(outside, snp.asarray(self.fill_value, result.dtype), result)


def _check_method(method: Any) -> None:
    if method not in _METHODS:
        raise ArgumentValueError.about(
            "RegularGridInterpolator", "method", repr(method), "'linear' or 'nearest'"
        )


def _cell(axis: Any, x: Any) -> tuple[Any, Any]:
    """Return the index of the grid cell of each coordinate, and the position within, from 0 to 1."""
    if axis.shape[0] == 1:
        return snp.zeros(x.shape, snp.int32), snp.zeros(x.shape, x.dtype)
    i = snp.clip(snp.searchsorted(axis, x) - 1, 0, axis.shape[0] - 2)
    low = axis[i]
    return i, (x - low) / (axis[i + 1] - low)


def _linear(values: Any, cells: Sequence[tuple]) -> Any:
    total: Any = 0
    trailing = values.ndim - len(cells)
    for corner in itertools.product((0, 1), repeat=len(cells)):
        index = tuple(
            [snp.minimum(i + c, n - 1) for (i, _), c, n in zip(cells, corner, values.shape)]
        )
        weight: Any = 1
        for (_, part), c in zip(cells, corner, strict=True):
            weight = weight * (part if c else 1 - part)
        total = total + values[index] * weight.reshape(weight.shape + (1,) * trailing)
    return total


def _nearest(values: Any, cells: Sequence[tuple]) -> Any:
    return values[
        tuple([snp.minimum(i + (p > 0.5), n - 1) for (i, p), n in zip(cells, values.shape)])
    ]


def _flatten(f: RegularGridInterpolator) -> tuple:
    return (f.grid, f.values, f.fill_value), f.method


def _unflatten(method: str, parts: Any) -> RegularGridInterpolator:
    f = object.__new__(RegularGridInterpolator)
    f.grid, f.values, f.fill_value = parts
    f.method, f.bounds_error = method, False
    return f


trees.register_pytree_node(RegularGridInterpolator, _flatten, _unflatten)
