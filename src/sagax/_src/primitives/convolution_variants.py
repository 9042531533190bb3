"""Define variants of convolution: transposed, patches, locally connected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, ShapeError
from sagax._src.primitives.convolution import conv_general_dilated, convolution_of
from sagax._src.primitives.convolution_layouts import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    numbers_of,
)
from sagax._src.primitives.dot_general import dot_general
from sagax._src.primitives.shaping import rev, same_dtypes
from sagax._src.primitives.slicing import sizes_of
from sagax._src.primitives.structural import convert, moveaxis, reshape, transpose
from sagax._src.primitives.window_geometry import padding_pairs, stacked_windows


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """Convolve with fractional strides, the inverse in shape of a convolution with `strides`.

    Args:
      lhs: input, with a batch, a feature and n spatial dimensions.
      rhs: kernel, with an output feature, an input feature and n spatial dimensions.
      strides: n factors by which the spatial dimensions grow.
      padding: that of the transposed convolution: 'SAME' (the result is larger by exactly `strides`) or
          'VALID' (the maximal size); or n pairs (low, high), which pad the dilated input unless
          `use_consistent_padding`.
      rhs_dilation: n distances between the elements of the kernel.
      dimension_numbers: as in `conv_general_dilated`, but None means features last:
        ('NHWC', 'HWIO', 'NHWC').
      transpose_kernel: whether the kernel is that of the transposed convolution: it is flipped, and its
          two feature dimensions are swapped.
      precision: see `conv_general_dilated`.
      preferred_element_type: see `conv_general_dilated`.
      use_consistent_padding: whether pairs, too, are those of the transposed convolution.

    With `transpose_kernel` and `use_consistent_padding` it is the derivative of that convolution
    with respect to its input.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.conv_transpose(np.ones((1, 4, 4, 3)), np.ones((3, 3, 3, 2)), (2, 2), 'SAME').shape
    (1, 8, 8, 2)
    """
    function = "conv_transpose"
    x, y = aval_of(lhs), aval_of(rhs)
    numbers = _transposed_numbers(function, x.shape, y.shape, dimension_numbers)
    o, i, *spatial = numbers.rhs_spec
    factors = sizes_of(function, "strides", strides)
    if len(factors) != len(spatial):
        raise ShapeError(
            function=function,
            argument="strides",
            got=factors,
            expected=f"{len(spatial)} entries, one for each spatial dimension",
        )
    dilation = (
        (1,) * len(spatial)
        if rhs_dilation is None
        else sizes_of(function, "rhs_dilation", rhs_dilation)
    )
    extents = [dims.dilate_dim(y.shape[d], k) for d, k in zip(spatial, dilation)]
    pairs = _transposed_padding(function, padding, extents, factors, use_consistent_padding)
    if transpose_kernel:
        rhs = rev(rhs, spatial)
        numbers = numbers._replace(rhs_spec=(i, o, *spatial))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * len(spatial),
        pairs,
        factors,
        dilation,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_numbers(
    function: str, lhs_shape: tuple, rhs_shape: tuple, numbers: Any
) -> ConvDimensionNumbers:
    if numbers is None and len(lhs_shape) >= 2:
        last = len(lhs_shape) - 1
        image = (0, last, *range(1, last))
        numbers = ConvDimensionNumbers(image, (last, last - 1, *range(last - 1)), image)
    return numbers_of(function, lhs_shape, rhs_shape, numbers)


def _transposed_padding(
    function: str, padding: Any, extents: Sequence[Any], strides: Sequence[Any], consistent: bool
) -> tuple:
    """Return the padding of the dilated input, from that of the transposed convolution."""
    if not isinstance(padding, str):
        pairs = padding_pairs(function, padding)
        if not consistent:
            return pairs
        return tuple([(k - 1 - lo, k - 1 - hi) for (lo, hi), k in zip(pairs, extents)])
    name = padding.upper()
    if name not in ("SAME", "VALID"):
        raise ArgumentValueError(
            function=function,
            argument="padding",
            got=repr(padding),
            expected="'SAME', 'VALID', or pairs (low, high)",
        )
    pairs = []
    for k, stride in zip(extents, strides):
        # for n elements the result has stride * (n - 1) + 1 + total - (k - 1) elements
        total = k + stride - 2
        low = dims.min_dim(k - 1, dims.ceil_div(total, 2))
        if name == "VALID":
            total, low = total + dims.non_negative(k - stride), k - 1
        pairs.append((low, total - low))
    return tuple(pairs)


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Extract the patch of `lhs` under a kernel of shape `filter_shape` at each position, as features.

    The arguments are those of `conv_general_dilated`; `filter_shape` has the spatial dimensions in the order of
    the kernel's layout. The features of the result are those of `lhs` times the elements of a patch, the latter
    varying fastest. Elements are moved, without arithmetic, so `precision` has no effect and infinities are
    preserved.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.conv_general_dilated_patches(np.arange(4.0).reshape(1, 1, 4), (2,), (1,), 'VALID')
    Array([[[0., 1., 2.],
            [1., 2., 3.]]], dtype=float32)
    """
    function = "conv_general_dilated_patches"
    x = aval_of(lhs)
    sizes = sizes_of(function, "filter_shape", filter_shape)
    numbers = numbers_of(function, x.shape, x.shape, dimension_numbers)
    if len(sizes) != x.ndim - 2:
        raise ShapeError(
            function=function,
            argument="filter_shape",
            got=sizes,
            expected=f"{x.ndim - 2} entries, one for each spatial dimension of lhs {x.shape}",
        )
    n, f, *_ = numbers.lhs_spec
    kernel = [0] * x.ndim
    for d, size in zip(numbers.rhs_spec, (1, 1, *sizes)):
        kernel[d] = size
    conv = convolution_of(
        function,
        x.shape,
        tuple(kernel),
        numbers,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
    )
    window = conv.window(tuple(kernel)).with_dimension(0).with_dimension(0)
    moved = transpose(lhs, numbers.lhs_spec)
    patches = stacked_windows(moved, window, np.zeros((), x.dtype)[()])
    # from (1, 1, kernel, batch, features, positions) to (batch, features and kernel, positions)
    shape = aval_of(patches).shape
    batch, features, *positions = shape[x.ndim :]
    patches = reshape(patches, (dims.size(sizes), batch, features, *positions))
    patches = moveaxis(patches, 0, 2)
    patches = reshape(patches, (batch, features * dims.size(sizes), *positions))
    order = [0] * x.ndim
    for position, d in enumerate(numbers.out_spec):
        order[d] = position
    out = transpose(patches, order)
    if preferred_element_type is None:
        return out
    return convert(out, dtype_predicates.requested(preferred_element_type, function))


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
) -> Any:
    """Convolve with a separate kernel at each position: a locally connected layer.

    The arguments are those of `conv_general_dilated`, with two exceptions. `filter_shape` is the
    spatial shape of a kernel. The spatial dimensions of `rhs` are the positions of the result, and
    its input features are those of `conv_general_dilated_patches`: features of `lhs` times the
    elements of a kernel.

    >>> from sagax import lax
    >>> import numpy as np
    >>> x, y = np.ones((1, 1, 4)), np.arange(6.0).reshape(1, 2, 3)
    >>> lax.conv_general_dilated_local(x, y, (1,), 'VALID', (2,))
    Array([[[3., 5., 7.]]], dtype=float32)
    """
    function = "conv_general_dilated_local"
    x, y = aval_of(lhs), aval_of(rhs)
    same_dtypes(function, [x, y])
    numbers = numbers_of(function, x.shape, y.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, numbers
    )
    n, f, *positions = numbers.out_spec
    o, i, *kernel_positions = numbers.rhs_spec
    shape = aval_of(patches).shape
    for d, e in [(f, i), *zip(positions, kernel_positions)]:
        if not dims.same(shape[d], y.shape[e]):
            what = "input features times elements of a patch" if e == i else "positions"
            raise ArgumentValueError(
                f"axis {e} of rhs has size {y.shape[e]}, but there are {shape[d]} {what}",
                function=function,
                argument="rhs",
                got=y,
                expected=f"size {shape[d]} along axis {e}",
            )
    numbers_of_dot = (((f,), (i,)), (tuple(positions), tuple(kernel_positions)))
    out = dot_general(patches, rhs, numbers_of_dot, precision)  # positions, batch, features
    order = [0] * x.ndim
    for position, d in enumerate((*positions, n, f)):
        order[d] = position
    return transpose(out, order)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]:
    """Return the shape of `conv_transpose`.

    >>> from sagax import lax
    >>> layout = ('NWC', 'WIO', 'NWC')
    >>> lax.conv_transpose_shape_tuple((2, 8, 4), (3, 4, 6), (2,), 'SAME', layout)
    (2, 16, 6)
    """
    function, x, y = "conv_transpose_shape_tuple", tuple(lhs_shape), tuple(rhs_shape)
    numbers = _transposed_numbers(function, x, y, dimension_numbers)
    strides = sizes_of(function, "window_strides", window_strides)
    extents = [y[d] for d in numbers.rhs_spec[2:]]
    pairs = _transposed_padding(function, padding, extents, strides, False)
    ones = (1,) * len(extents)
    return convolution_of(function, x, y, numbers, ones, pairs, strides, None).result(x, y)


__all__ = [
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_transpose_shape_tuple",
]
