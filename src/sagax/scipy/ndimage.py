"""Interpolate in arrays of any number of dimensions, as `scipy.ndimage` does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import sagax.numpy as snp
from sagax._src.argument_checks import checks
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.rounding import round
from sagax.numpy._arguments import UnsupportedArgumentError
from sagax.numpy._base import as_array, promotes_freely
from sagax.numpy._fused import fused

__all__ = ["map_coordinates"]


def _mirrored(index: Array, size: Any) -> Array:
    """Mirror indices at the centers of the first and the last element."""
    last = size - 1 if type(size) is not int or size > 1 else 1
    distance = snp.mod(index, 2 * last)
    inside = snp.minimum(distance, 2 * last - distance)
    return inside if type(size) is not int or size > 1 else snp.zeros_like(index)


def _reflected(index: Array, size: Any) -> Array:
    """Reflect indices at the outer edges of the first and the last element."""
    coordinate = snp.mod(index, 2 * size)
    return snp.minimum(coordinate, 2 * size - 1 - coordinate)


# mode -> the index to read instead of one that may be out of bounds
_MODES: dict[str, Callable[[Array, Any], Array]] = {
    "constant": lambda index, size: snp.clip(index, 0, size - 1),
    "nearest": lambda index, size: snp.clip(index, 0, size - 1),
    "wrap": lambda index, size: snp.mod(index, size),
    "mirror": _mirrored,
    "reflect": _reflected,
}


@promotes_freely
def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """Interpolate `input` at coordinates between its elements.

    Args:
      input: an array of n dimensions.
      coordinates: n arrays of equal shape, or one array with n rows: the coordinates along
        each dimension. Element i of a dimension is at i.
      order: 0 takes the nearest element (halfway between two, the one farther from 0), 1 interpolates linearly.
      mode: what is beyond the border. 'constant': `cval` (next to the border interpolation mixes it
        in, as SciPy's 'grid-constant' does); 'nearest': the element at the border; 'wrap': the
        array repeated (SciPy's 'grid-wrap'); 'mirror': the array mirrored at the centres of its
        last elements; 'reflect': mirrored at their edges.
      cval: a number.

    Returns:
      An array of the shape of the coordinates and the dtype of `input`; integers are rounded, halves away from 0.

    Raises:
      ValueError: the number of coordinates differs from that of the dimensions.
      NotImplementedError: another order or mode.

    >>> x = snp.arange(12.0).reshape(3, 4)
    >>> ndimage.map_coordinates(x, [snp.array([0.5, 1.5]), snp.array([1.5, 2.5])], order=1)
    Array([3.5, 8.5], dtype=float32)
    """
    function = "map_coordinates"
    x = as_array(function, input)
    coordinates = checks.several(
        function, "coordinates", coordinates, "a sequence of arrays, one for each dimension"
    )
    coordinate_arrays = [snp.asarray(c) for c in coordinates]
    if order == 0:
        coordinate_arrays = [
            c if snp.issubdtype(c.dtype, snp.inexact) else c.astype(float)
            for c in coordinate_arrays
        ]
    if len(coordinate_arrays) != x.ndim:
        raise ArgumentValueError(
            f"coordinates must be a sequence of length input.ndim, but {len(coordinate_arrays)} != {x.ndim}",
            function=function,
            argument="coordinates",
            expected="one array of coordinates for each dimension of the input",
        )
    if mode not in _MODES:
        raise UnsupportedArgumentError(
            f"scipy.ndimage.map_coordinates does not yet support mode {mode}. Currently supported modes "
            f"are {', '.join(map(repr, _MODES))}",
            function=function,
            argument="mode",
            got=repr(mode),
        )
    if order not in (0, 1):
        raise UnsupportedArgumentError(
            "scipy.ndimage.map_coordinates currently requires order<=1",
            function=function,
            argument="order",
            got=order,
            fix="use order=0 (the nearest element) or order=1 (linear interpolation)",
        )
    cval = snp.asarray(cval, x.dtype)
    return _interpolated(x, cval, *coordinate_arrays, linear=order == 1, mode=mode)


@fused
def _interpolated(x: Any, cval: Any, *coordinate_arrays: Any, linear: bool, mode: str) -> Array:
    # for each dimension the elements that take part, as (index, is it inside, weight)
    neighbors = [
        _neighbors(c, size, linear, mode)
        for c, size in zip(coordinate_arrays, x.shape, strict=True)
    ]
    out = None
    for combination in itertools.product(*neighbors):
        value = x[tuple([index for index, _, _ in combination])]
        for _, inside, _ in combination:
            if inside is not None:
                value = snp.where(inside, value, cval)
        for _, _, weight in combination:
            if weight is not None:
                value = value * weight
        out = value if out is None else out + value
    if out is None:  # an array of rank 0 has one element
        return x
    if not dtype_predicates.is_integer(x.dtype) or dtypes.kind(out.dtype) not in "fc":
        return out.astype(x.dtype)
    return round(out).astype(x.dtype)


def _neighbors(coordinate: Array, size: Any, linear: bool, mode: str) -> list[tuple]:
    beyond = _MODES[mode]

    def at(index: Array, weight: Array | None) -> tuple:
        index = index.astype(dtypes.int32)
        inside = (index >= 0) & (index < size) if mode == "constant" else None
        return beyond(index, size), inside, weight

    if not linear:
        return [at(round(coordinate), None)]
    low = snp.floor(coordinate)
    upper = coordinate - low
    return [at(low, 1 - upper), at(low + 1, upper)]
