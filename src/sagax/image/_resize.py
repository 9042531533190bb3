"""Resample images along each of their dimensions.

A pixel i covers the interval from i to i + 1, so its centre is at i + 1/2. An output pixel is a weighted
mean of the input pixels around the position that it comes from; the weights are those of a kernel, or how
much the pixels overlap. One matrix of weights for each dimension that changes, multiplied to the image.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.numpy._arguments import UnsupportedArgumentError
from sagax.numpy._base import as_array, promote_inexact, promotes_freely
from sagax.numpy._fused import fused, fused_function


class ResizeMethod(enum.Enum):
    """The interpolation method of a resampled image.

    NEAREST takes the pixel at the position that an output pixel comes from. LINEAR, CUBIC, LANCZOS3 and
    LANCZOS5 weigh the pixels around it by a kernel: a triangle, the cubic of Keys (1981) with a = -1/2,
    or a windowed sinc of radius 3 or 5. CUBIC_PYTORCH is the cubic with a = -3/4 and pixels beyond the
    border repeated, as PyTorch has it, unless it is antialiased; then it is CUBIC. AREA takes the mean
    over the area that an output pixel covers.

    >>> from sagax import image
    >>> image.ResizeMethod.from_string("bilinear")
    <ResizeMethod.LINEAR: 1>
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Return the method of that name; "bilinear", "bicubic" and the like are names too.

        >>> from sagax import image
        >>> image.ResizeMethod.from_string("lanczos3")
        <ResizeMethod.LANCZOS3: 2>
        """
        found = _NAMES.get(s) if isinstance(s, str) else None
        if found is None:
            raise ArgumentValueError(
                f'Unknown resize method "{s}"',
                argument="method",
                got=repr(s),
                expected=f"one of {', '.join(_NAMES)}",
            )
        return found


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def _method(method: Any) -> ResizeMethod:
    return method if isinstance(method, ResizeMethod) else ResizeMethod.from_string(method)


# kernels: the weight of a pixel at distance x >= 0 ------------------------------------------------


def _triangle(x: Array) -> Array:
    return snp.maximum(0, 1 - x)


def _cubic(a: float) -> Callable[[Array], Array]:
    """The piecewise cubic of Keys with slope `a` at distance 1."""

    def kernel(x: Array) -> Array:
        inner = ((a + 2) * x - (a + 3)) * x * x + 1
        outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return snp.where(x <= 1, inner, snp.where(x < 2, outer, 0))

    return kernel


def _lanczos(radius: int) -> Callable[[Array], Array]:
    """sinc(x) sinc(x / radius) within the radius."""

    def kernel(x: Array) -> Array:
        product = radius * snp.sin(math.pi * x) * snp.sin(math.pi * x / radius)
        around = snp.where(x == 0, 1, math.pi**2 * x * x)
        return snp.where(x > radius, 0, snp.where(x == 0, 1, product / around))

    return kernel


_KERNELS = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.5),
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
}


# weights --------------------------------------------------------------------------------------------


def _weights(
    size: Any,
    out_size: Any,
    scale: Array,
    translation: Array,
    method: ResizeMethod,
    antialias: bool,
) -> Array:
    """The weight of each of `size` input pixels (rows) in each of `out_size` output pixels (columns)."""
    dtype = scale.dtype
    step = 1 / scale  # between two output pixels, in input pixels
    centers = (snp.arange(out_size, dtype=dtype) + 0.5) * step - translation * step
    positions = centers - 0.5
    if method is ResizeMethod.CUBIC_PYTORCH and not antialias:
        return _with_repeated_border(size, positions)
    if method is ResizeMethod.AREA:
        weights = _overlaps(size, centers, step)
    else:
        width = snp.maximum(step, 1) if antialias else 1
        distances = snp.abs(positions[None, :] - snp.arange(size, dtype=dtype)[:, None]) / width
        weights = _normalized(_KERNELS[method](distances))
    inside = (positions >= -0.5) & (positions <= size - 0.5)
    return snp.where(inside[None, :], weights, 0)


def _normalized(weights: Array) -> Array:
    total = snp.sum(weights, axis=0, keepdims=True)
    enough = snp.abs(total) > 1000 * float(np.finfo(np.float32).eps)
    return snp.where(enough, weights / snp.where(total != 0, total, 1), 0)


def _overlaps(size: Any, centers: Array, step: Array) -> Array:
    """The fraction of each output pixel within the image that each input pixel covers."""
    reach = step / 2
    first, last = centers - reach, centers + reach
    pixels = snp.arange(size, dtype=centers.dtype)[:, None]
    common = snp.minimum(last[None, :], pixels + 1) - snp.maximum(first[None, :], pixels)
    return _normalized(snp.maximum(common, 0))


@promotes_freely
def _with_repeated_border(size: Any, positions: Array) -> Array:
    """Weights of the cubic with a = -3/4, where the pixels at the border are there twice more."""
    base = snp.floor(positions)
    kernel = _cubic(-0.75)
    pixels = snp.arange(size, dtype=positions.dtype)[:, None]
    weights = snp.zeros((), positions.dtype)
    for offset in (-1, 0, 1, 2):
        pixel = base + offset
        share = snp.where(
            (pixel >= -2) & (pixel <= size + 1), kernel(snp.abs(positions - pixel)), 0
        )
        weights = weights + snp.where(pixels == snp.clip(pixel, 0, size - 1), share, 0)
    return _normalized(weights)


# public functions -----------------------------------------------------------------------------------


def _checked_shape(function: str, shape: Sequence[Any], image: Array) -> tuple:
    shape = dims.canonical_shape(shape, f"{function}: argument shape")
    if len(shape) != image.ndim:
        raise ArgumentValueError(
            "shape must have length equal to the number of dimensions of x; "
            f" {shape} vs {image.shape}",
            function=function,
            argument="shape",
            got=shape,
            expected=f"{image.ndim} sizes; keep those of dimensions that do not change",
        )
    return shape


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = "highest",
) -> Array:
    """Resample `image` to `shape`, scaled and translated along some dimensions.

    The value at position x (the center of pixel i is at i + 1/2) goes to `x * scale + translation`. Output
    pixels that come from positions outside of `image` are 0, except with CUBIC_PYTORCH, not antialiased.

    Args:
      image: an array; integers become floating point numbers.
      shape: of the result, all dimensions included.
      spatial_dims: the dimensions that are resampled; the others keep their sizes.
      scale, translation: a number for each of `spatial_dims`, as arrays. They may be traced and
        differentiated.
      method: a `ResizeMethod` or its name, other than NEAREST.
      antialias: whether kernels are widened where an image gets smaller, so that all its pixels count.
      precision: of the products, as for `numpy.dot`.

    Raises:
      ValueError: the shape has another length than that of the image, the method is unknown or
        NEAREST, or dimensions are repeated.

    >>> from sagax import image
    >>> image.scale_and_translate(snp.arange(3.0), (3,), (0,), snp.array([1.0]), snp.array([1.0]), "linear")
    Array([0., 0., 1.], dtype=float32)
    """
    function = "scale_and_translate"
    x = as_array(function, image)
    shape = _checked_shape(function, shape, x)
    chosen = _method(method)
    if chosen is ResizeMethod.NEAREST:
        raise ArgumentValueError(
            "Nearest neighbor resampling is not currently supported for scale_and_translate.",
            function=function,
            fix="use image.resize, or round the coordinates and index with them",
        )
    spatial_dims = checks.several(function, "spatial_dims", spatial_dims, "a sequence of ints")
    axes = tuple([_axis(d, x.ndim) for d in spatial_dims])
    if len(set(axes)) != len(axes):
        raise ArgumentValueError.about(
            function, "spatial_dims", tuple(spatial_dims), "different dimensions"
        )
    for d in range(x.ndim):
        if d not in axes and not dims.same(shape[d], x.shape[d]):
            raise ArgumentValueError(
                f"dimension {d} is not among spatial_dims, but its size changes",
                function=function,
                argument="shape",
                got=shape,
                expected=f"the size {x.shape[d]} of the image in dimension {d}",
            )
    (x,) = promote_inexact(function, x)
    scale, translation = as_array(function, scale, 3), as_array(function, translation, 4)
    for name, given in (("scale", scale), ("translation", translation)):
        if given.shape != (len(axes),):
            raise ArgumentValueError(
                function=function,
                argument=name,
                got=given,
                expected=f"a vector with a number for each of spatial_dims: shape ({len(axes)},)",
            )
    return _resampled(
        x, scale, translation,
        shape=shape, axes=axes, method=chosen, antialias=bool(antialias), precision=precision,
    )  # fmt: skip


def _axis(d: Any, ndim: int) -> int:
    k = int(d)
    if not -ndim <= k < ndim:
        raise ArgumentValueError(
            function="scale_and_translate",
            argument="spatial_dims",
            got=d,
            expected=f"dimensions of the image, from {-ndim} to {ndim - 1}",
        )
    return k % ndim


@fused
def _resampled(
    x: Any,
    scale: Any,
    translation: Any,
    *,
    shape: tuple,
    axes: tuple,
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Array:
    out_dtype = x.dtype
    real = dtypes.float32 if not dtypes.is_complex(out_dtype) else dtypes.real_part_dtype(out_dtype)
    computed = real if dtypes.is_narrow_float(out_dtype) else dtypes.real_part_dtype(out_dtype)
    for i, axis in enumerate(axes):
        weights = _weights(
            x.shape[axis],
            shape[axis],
            scale[i].astype(computed),
            translation[i].astype(computed),
            method,
            antialias,
        )
        x = snp.moveaxis(
            snp.tensordot(x, weights.astype(out_dtype), axes=(axis, 0), precision=precision),
            -1,
            axis,
        )
    return x


@fused_function(1)
def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = "highest",
) -> Array:
    """Resize an image; its borders stay borders.

    Args:
      image: an array.
      shape: of the result: one size for each dimension, equal where a dimension does not change
        (such as those of batches and channels).
      method: a `ResizeMethod` or its name: "nearest", "linear" (or "bilinear", ...), "cubic",
        "cubic-pytorch", "lanczos3", "lanczos5", "area".
      antialias: whether kernels are widened where the image gets smaller, so that all its pixels count.
      precision: of the products, as for `numpy.dot`.

    Returns:
      An array of `shape`, of the dtype of the image for "nearest", else of its floating point dtype.

    Raises:
      ValueError: the shape has another length than that of the image, or the method is unknown.

    >>> from sagax import image
    >>> image.resize(snp.arange(4.0), (2,), "linear", antialias=False)
    Array([0.5, 2.5], dtype=float32)
    """
    x = as_array("resize", image)
    shape = _checked_shape("resize", shape, x)
    chosen = _method(method)
    axes = tuple([d for d in range(x.ndim) if not dims.same(shape[d], x.shape[d])])
    for d in axes:
        if type(x.shape[d]) is int and x.shape[d] == 0:
            raise UnsupportedArgumentError(
                f"dimension {d} of the image is empty, so that there is nothing to resample",
                function="resize",
                got=x,
            )
    if chosen is ResizeMethod.NEAREST:
        return _nearest(x, shape=shape, axes=axes)
    (x,) = promote_inexact("resize", x)
    if not axes:
        return x
    scale = snp.array([1.0 if shape[d] == 0 else shape[d] / x.shape[d] for d in axes], dtype=float)
    return _resampled(
        x, scale, snp.zeros(len(axes), scale.dtype),
        shape=shape, axes=axes, method=chosen, antialias=bool(antialias), precision=precision,
    )  # fmt: skip


@fused
def _nearest(x: Any, *, shape: tuple, axes: tuple) -> Array:
    for d in axes:
        size, wanted = x.shape[d], shape[d]
        positions = snp.floor(
            (snp.arange(wanted, dtype=float) + 0.5) * (size / wanted if wanted else 0)
        )
        x = snp.take(x, positions.astype(dtypes.int32), axis=d, mode="clip")
    return x
