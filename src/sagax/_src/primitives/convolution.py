"""Define convolution: one primitive for every layout, stride, dilation, padding and grouping.

With lhs x, kernel y and dimensions in the order batch, feature, spatial (x, result) and output
feature, input feature, spatial (y), the primitive computes

    out[n, o, p] = sum over i and k of  x[n, i, p * stride + k * rhs_dilation - low] * y[o, i, k]

where x has lhs_dilation - 1 zeros between its elements and zeros around it. As in all of machine learning,
the kernel is not flipped. Feature groups split the features of x and the output features into blocks;
each block of outputs depends on its own block of inputs. Batch groups split the batch of x instead;
each block of outputs depends on its own block of examples, and the result has the batch size of a
block.

The derivatives are convolutions again, in which batch and features, strides and dilations, feature
groups and batch groups exchange roles.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, boolean, c64, f32, i8, i32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError
from sagax._src.primitives.convolution_layouts import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    numbers_of,
)
from sagax._src.primitives.convolution_slices import by_slices
from sagax._src.primitives.dot_algorithms import Precision, canonical_levels
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.shaping import rev, same_dtypes
from sagax._src.primitives.slicing import sizes_of
from sagax._src.primitives.structural import convert, full_of, moveaxis, reshape, zeros_of
from sagax._src.primitives.window_geometry import (
    Window,
    named_padding,
    numpy_windows,
    padding_pairs,
)

# The primitive ------------------------------------------------------------------------------------

_ARGUMENTS = ("rhs", "window_strides", "padding", "lhs_dilation", "rhs_dilation")


@dataclass(frozen=True, slots=True)
class Convolution:
    """Hold the parameters of the primitive, and compute with them."""

    window_strides: tuple
    padding: tuple
    lhs_dilation: tuple
    rhs_dilation: tuple
    dimension_numbers: ConvDimensionNumbers
    feature_group_count: Any = 1
    batch_group_count: Any = 1
    precision: Any = None
    preferred_element_type: Any = None

    def params(self) -> dict:
        """Return the parameters as a dictionary for binding."""
        return {name: getattr(self, name) for name in self.__slots__}

    def bind(self, x: Any, y: Any) -> Any:
        return conv_general_dilated_p.bind(x, y, **self.params())

    def window(self, rhs_shape: tuple) -> Window:
        """Return the window of the kernel over the spatial dimensions."""
        sizes = tuple([rhs_shape[d] for d in self.dimension_numbers.rhs_spec[2:]])
        return Window(
            sizes, self.window_strides, self.padding, self.lhs_dilation, self.rhs_dilation
        )

    def spatial(self, lhs_shape: tuple) -> tuple:
        return tuple([lhs_shape[d] for d in self.dimension_numbers.lhs_spec[2:]])

    def result(self, lhs_shape: tuple, rhs_shape: tuple) -> tuple:
        """Return the shape of the result."""
        numbers = self.dimension_numbers
        batch = lhs_shape[numbers.lhs_spec[0]] // self.batch_group_count
        spatial = self.window(rhs_shape).result(self.spatial(lhs_shape))
        shape: list[Any] = [0] * len(lhs_shape)
        for d, size in zip(numbers.out_spec, (batch, rhs_shape[numbers.rhs_spec[0]], *spatial)):
            shape[d] = size
        return tuple(shape)

    def sliding(self, window: Window) -> dict:
        """Return the fields by which the kernel slides like `window`."""
        return {
            "window_strides": window.strides,
            "padding": window.padding,
            "lhs_dilation": window.base_dilation,
            "rhs_dilation": window.window_dilation,
            "preferred_element_type": None,
        }

    def towards_lhs(self, lhs_shape: tuple, rhs_shape: tuple) -> Convolution:
        """Return the convolution of cotangents with the flipped kernel, which is the cotangent of lhs.

        Its kernel exchanges the feature dimensions; groups, of either kind, move to the other feature dimension.
        The result of batch groups has the groups in its features.
        """
        lhs, (o, i, *rest), out = self.dimension_numbers
        return replace(
            self,
            dimension_numbers=ConvDimensionNumbers(out, (i, o, *rest), lhs),
            feature_group_count=self.feature_group_count * self.batch_group_count,
            batch_group_count=1,
            **self.sliding(self.window(rhs_shape).reversed(self.spatial(lhs_shape))),
        )

    def towards_rhs(self, lhs_shape: tuple, rhs_shape: tuple) -> Convolution:
        """Return the convolution of lhs with the cotangents, which is the cotangent of the kernel.

        The sum runs over the batch, hence batch and features exchange roles, and with them the two kinds of
        groups.
        """
        (n, f, *lhs), (o, i, *rhs), (n_out, f_out, *out) = self.dimension_numbers
        return replace(
            self,
            dimension_numbers=ConvDimensionNumbers(
                (f, n, *lhs), (f_out, n_out, *out), (i, o, *rhs)
            ),
            feature_group_count=self.batch_group_count,
            batch_group_count=self.feature_group_count,
            **self.sliding(self.window(rhs_shape).over_kernel(self.spatial(lhs_shape))),
        )


conv_general_dilated_p = Primitive("conv_general_dilated", family=WHOLE, multilinear=True)
_NAME = "conv_general_dilated"


@conv_general_dilated_p.abstract
def _(x: ShapedArray, y: ShapedArray, **params: Any) -> ShapedArray:
    conv = Convolution(**params)
    _check(conv, x, y)
    dtype = conv.preferred_element_type or x.dtype
    return intern_aval(conv.result(x.shape, y.shape), dtype, x.weak_type and y.weak_type, None)


def _check(conv: Convolution, x: ShapedArray, y: ShapedArray) -> None:
    same_dtypes(_NAME, [x, y])
    if dtypes.is_extended(x.dtype):
        raise DtypeError.about(_NAME, "lhs", x, "numbers")
    if conv.preferred_element_type is not None:
        _check_preferred(x.dtype, conv.preferred_element_type)
    _, (o, i, *_), _ = conv.dimension_numbers
    n, f, *_ = conv.dimension_numbers.lhs_spec
    conv.window(y.shape).check(_NAME, conv.spatial(x.shape), _ARGUMENTS)
    for argument in ("feature_group_count", "batch_group_count"):
        count = getattr(conv, argument)
        if not dims.is_dim(count) and count < 1:
            raise ArgumentValueError.about(_NAME, argument, count, "at least 1")
    features, batches = conv.feature_group_count, conv.batch_group_count
    if not dims.same(features, 1) and not dims.same(batches, 1):
        raise ArgumentValueError(
            "features and batch cannot both be split into groups",
            function=_NAME,
            got=f"feature_group_count={features} and batch_group_count={batches}",
            expected="one of them to be 1",
        )
    if not dims.same(x.shape[f], y.shape[i] * features):
        groups = "" if dims.same(features, 1) else f" in each of {features} groups"
        raise ArgumentValueError(
            f"the input features of lhs and rhs differ: {x.shape[f]} (axis {f} of lhs) and "
            f"{y.shape[i]} (axis {i} of rhs){groups}",
            function=_NAME,
            got=f"lhs {x.shape} and rhs {y.shape} with {conv.dimension_numbers}",
            expected=f"{y.shape[i] * features} features of lhs",
            fix="say which dimension is which with dimension_numbers, like ('NHWC', 'HWIO', 'NHWC')",
            lhs=x,
            rhs=y,
        )
    for argument, count, what, size in (
        ("feature_group_count", features, f"output features (axis {o} of rhs)", y.shape[o]),
        ("batch_group_count", batches, f"output features (axis {o} of rhs)", y.shape[o]),
        ("batch_group_count", batches, f"examples (axis {n} of lhs)", x.shape[n]),
    ):
        if not dims.same(count, 1) and not dims.same(size % count, 0):
            raise ArgumentValueError(
                f"{size} {what} cannot be split into {count} equal groups",
                function=_NAME,
                argument=argument,
                got=count,
                expected=f"a divisor of {size}",
            )


def _check_preferred(dtype: Any, preferred: Any) -> None:
    """Raise unless dtype `preferred` can hold results of operands of type `dtype`."""
    operand_kind, preferred_kind = dtypes.kind(dtype), dtypes.kind(preferred)
    fits = {"b": "b", "i": "iuf", "u": "iuf", "f": "f", "c": "c"}
    if preferred_kind not in fits.get(operand_kind, "") or dtypes.itemsize_bits(
        preferred
    ) < dtypes.itemsize_bits(dtype):
        raise DtypeError(
            function=_NAME,
            argument="preferred_element_type",
            got=dtypes.name(preferred),
            expected=f"a dtype of the kind of {dtypes.name(dtype)} that is no narrower (for "
            "integers also a floating point one)",
            fix="convert the result with astype, or the operands first",
        )


@conv_general_dilated_p.show
def _(**params: Any) -> dict:
    return {**params, "out_sharding": None}


def _products(operands: Any, results: Any, params: dict) -> float:
    """Count a product and a sum for each input channel and position of the kernel."""
    spec = params["dimension_numbers"].rhs_spec
    return 2 * results[0].size * math.prod([operands[1].shape[i] for i in spec[1:]])


conv_general_dilated_p.cost = _products


@conv_general_dilated_p.shard
def _(call: Any) -> list:
    numbers = call.params["dimension_numbers"]
    lhs, rhs, out = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    call.check_unsharded(lhs[1:2], "summed over")
    call.check_unsharded(rhs[1:], "convolved over", 1)
    found: list[tuple] = [()] * len(out)
    found[out[0]] = call.cuts[0][lhs[0]]
    found[out[1]] = call.cuts[1][rhs[0]]
    for here, there in zip(lhs[2:], out[2:], strict=True):
        found[there] = call.cuts[0][here]  # halo elements come from the neighboring device
    return [tuple(found)]


@conv_general_dilated_p.reference
def _(x: np.ndarray, y: np.ndarray, **params: Any) -> np.ndarray:
    conv = Convolution(**params)
    lhs, rhs, out_spec = conv.dimension_numbers
    dtype = np.dtype(conv.preferred_element_type or x.dtype)
    wide = np.dtype(np.float32) if dtype_predicates.is_narrow_float(dtype) else dtype
    if dtypes.itemsize_bits(dtype) < 8:
        wide = np.dtype(np.int32)
    x, y = x.transpose(lhs).astype(wide), y.transpose(rhs).astype(wide)
    (batch, features), (out_features, in_features, *kernel) = x.shape[:2], y.shape
    window = replace(conv.window(y.shape), sizes=tuple(kernel))
    windows = numpy_windows(x, window.with_dimension(0).with_dimension(0), 0)
    positions = windows.shape[2 : x.ndim]
    # blocks of examples and of features; then groups, examples, features, positions, elements
    batches, blocks = conv.batch_group_count, conv.feature_group_count
    groups, p, k = batches * blocks, math.prod(positions), math.prod(kernel)
    windows = windows.reshape(batches, batch // batches, blocks, features // blocks, p, k)
    windows = np.moveaxis(windows, 2, 1).reshape(groups, batch // batches, features // blocks, p, k)
    kernels = y.reshape(groups, out_features // groups, in_features, k)
    out = np.einsum("gnipk,goik->ngop", windows, kernels)
    out = out.reshape(batch // batches, out_features, *positions).astype(dtype)
    return out.transpose(np.argsort(out_spec))


@conv_general_dilated_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    (x, y), (tx, ty) = primals, tangents
    out = conv_general_dilated_p.bind(x, y, **params)
    total: Any = Zero.like(aval_of(out))
    if not is_zero(tx):
        total = conv_general_dilated_p.bind(tx, y, **params)
    if not is_zero(ty):
        total = add_tangents(total, conv_general_dilated_p.bind(x, ty, **params))
    return out, total


@conv_general_dilated_p.transpose
def _(ct: Any, x: Any, y: Any, **params: Any) -> tuple:
    conv = Convolution(**params)
    dtype = aval_of(
        ct
    ).dtype  # wider than the dtype of the operands for a wider preferred element type
    if is_linear(x):
        return convert(_towards_lhs(conv, ct, x.aval, convert(y, dtype)), x.dtype), None
    return None, convert(_towards_rhs(conv, ct, convert(x, dtype), y.aval), y.dtype)


def _towards_lhs(conv: Convolution, ct: Any, x: ShapedArray, y: Any) -> Any:
    back = conv.towards_lhs(x.shape, aval_of(y).shape)
    o, i, *spatial = conv.dimension_numbers.rhs_spec
    groups = back.feature_group_count
    if not dims.same(groups, 1):
        y = _fold(_unfold(y, o, groups), o, i)
    out = back.bind(ct, rev(y, spatial))
    if not dims.same(conv.batch_group_count, 1):
        n, f, *_ = conv.dimension_numbers.lhs_spec
        out = _fold(_unfold(out, f, groups), f, n)
    return out


def _towards_rhs(conv: Convolution, ct: Any, x: Any, y: ShapedArray) -> Any:
    back = conv.towards_rhs(aval_of(x).shape, y.shape)
    if 0 in back.window(aval_of(ct).shape).sizes:  # XLA has no kernels without elements
        return zeros_of(y.with_dtype(aval_of(ct).dtype))
    return back.bind(x, ct)


# Composite dimensions: examples of vmap become batch, features or groups


def _fold(x: Any, source: int, target: int, groups: Any = 1) -> Any:
    """Merge dimension `source` of `x` into dimension `target`, as its major part.

    `target` is counted without `source`. With `groups`, its parts (groups, rest) become (groups, source,
    rest).
    """
    x = moveaxis(x, source, target)
    shape = aval_of(x).shape
    head, (size, whole), tail = shape[:target], shape[target : target + 2], shape[target + 2 :]
    if not dims.same(groups, 1):
        x = reshape(x, (*head, size, groups, whole // groups, *tail))
        x = moveaxis(x, target, target + 1)
    return reshape(x, (*head, size * whole, *tail))


def _unfold(x: Any, d: int, size: Any, groups: Any = 1) -> Any:
    """Split dimension `d`, with parts (groups, size, rest), into two: size, and the others."""
    shape = aval_of(x).shape
    head, whole, tail = shape[:d], shape[d], shape[d + 1 :]
    if not dims.same(groups, 1):
        x = reshape(x, (*head, groups, size, whole // (groups * size), *tail))
        x = moveaxis(x, d + 1, d)
    return reshape(x, (*head, size, whole // size, *tail))


@conv_general_dilated_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    conv = Convolution(**params)
    (x, y), (dx, dy) = args, in_dims
    n, f, *_ = conv.dimension_numbers.lhs_spec
    o, *_ = conv.dimension_numbers.rhs_spec
    n_out, f_out, *_ = conv.dimension_numbers.out_spec
    features, batches = conv.feature_group_count, conv.batch_group_count
    size = axis.size
    if dims.same(size, 0):  # XLA has no kernels without elements
        shapes = [
            a.shape if d is None else (*a.shape[:d], *a.shape[d + 1 :])
            for a, d in zip(map(aval_of, args), in_dims)
        ]
        dtype = conv.preferred_element_type or aval_of(x).dtype
        return full_of(intern_aval((0, *conv.result(*shapes)), dtype, False, None), 0), 0
    if dy is None:  # examples become batch
        out = conv.bind(_fold(x, dx, n, batches), y)
        return _unfold(out, n_out, size), n_out
    if dx is None:  # examples become output features
        groups = features * batches
        out = conv.bind(x, _fold(y, dy, o, groups))
        return _unfold(out, f_out, size, groups), f_out
    y = _fold(y, dy, o)
    if dims.same(batches, 1):  # examples become feature groups
        conv = replace(conv, feature_group_count=size * features)
        out = conv.bind(_fold(x, dx, f), y)
    else:  # or batch groups, since a convolution cannot have both
        conv = replace(conv, batch_group_count=size * batches)
        out = conv.bind(_fold(x, dx, n), y)
    return _unfold(out, f_out, size), f_out


@conv_general_dilated_p.lower
def _(b: Any, x: Any, y: Any, **params: Any) -> Any:
    conv = Convolution(**params)
    out = b.out
    if dtypes.kind(x.aval.dtype) == "c" and b.module.platform != "cpu":
        return _lower_complex(b, conv, x, y, out)
    return _lower(b, conv, x, y, out)


def _lower(b: Any, conv: Convolution, x: Any, y: Any, out: Any) -> Any:
    if b.may_rewrite and (fun := by_slices(conv, x.aval, y.aval, out)) is not None:
        jaxpr, consts = stage(lambda x, y: [fun(x, y)], [x.aval, y.aval])
        return b.inline(jaxpr, [x, y], [b.constant(c) for c in consts])[0]
    if x.aval.dtype != out.dtype and b.module.platform == "cpu":
        x, y = b.convert(x, out.dtype), b.convert(y, out.dtype)
    groups = (conv.feature_group_count, conv.batch_group_count)
    sliding = (conv.window_strides, conv.lhs_dilation, conv.rhs_dilation)
    if not dims.is_static((*groups, *[e for entries in sliding for e in entries])):
        raise ArgumentValueError(
            "the compiler needs to know groups, strides and dilations",
            function=_NAME,
            got=f"feature_group_count={groups[0]}, batch_group_count={groups[1]}, strides and "
            f"dilations {sliding}",
            expected="no symbolic sizes among them",
            fix="under vmap over a symbolic size, map only one of lhs and rhs",
        )
    first, second = conv.precision or (Precision.DEFAULT, Precision.DEFAULT)
    attributes = {
        "window_strides": b.ints(conv.window_strides),
        "lhs_dilation": b.ints(conv.lhs_dilation),
        "rhs_dilation": b.ints(conv.rhs_dilation),
        "dimension_numbers": conv.dimension_numbers.text(),
        "feature_group_count": f"{groups[0]} : i64",
        "batch_group_count": f"{groups[1]} : i64",
        "precision_config": f"[#stablehlo<precision {first.name}>, "
        f"#stablehlo<precision {second.name}>]",
    }
    amounts = [p for pair in conv.padding for p in pair]
    if dims.is_static(amounts):
        pairs = b.dense_ints(np.reshape(conv.padding, (-1, 2)))
        return b.op("convolution", [x, y], out, padding=pairs, **attributes)
    pairs = b.reshape(b.shape_value(tuple(amounts)), (len(amounts) // 2, 2))
    return b.op("dynamic_conv", [x, y, pairs], out, **attributes)


def _lower_complex(b: Any, conv: Convolution, x: Any, y: Any, out: Any) -> Any:
    """Lower a complex convolution to four real ones, where XLA has none."""
    part = dtype_predicates.real_part_dtype(out.dtype)
    conv = replace(conv, preferred_element_type=None)
    real, imag = (
        [
            b.convert(
                b.op(which, [v], v.aval.with_dtype(dtype_predicates.real_part_dtype(v.aval.dtype))),
                part,
            )
            for v in (x, y)
        ]
        for which in ("real", "imag")
    )
    aval = out.with_dtype(part)
    rr, ii, ri, ir = (
        _lower(b, conv, u, v, aval)
        for u, v in ((real[0], real[1]), (imag[0], imag[1]), (real[0], imag[1]), (imag[0], real[1]))
    )
    parts = [b.op("subtract", [rr, ii], aval), b.op("add", [ri, ir], aval)]
    return b.op("complex", parts, out)


# Public functions ---------------------------------------------------------------------------------


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Convolve `lhs` with the kernel `rhs`, over any number of spatial dimensions.

    Args:
      lhs: input, with a batch, a feature and n spatial dimensions.
      rhs: kernel of the same dtype, with an output feature, an input feature and n spatial
        dimensions. It is not flipped.
      window_strides: n distances from one position of the kernel to the next.
      padding: 'SAME' (as many results as inputs, over the stride), 'SAME_LOWER', 'VALID' (none), or
        n pairs (low, high); negative ones remove elements.
      lhs_dilation: n distances between elements of the dilated input, with zeros between.
      rhs_dilation: n distances between the elements of the kernel.
      dimension_numbers: the role of each dimension: three strings such as ('NHWC', 'HWIO', 'NHWC') for
          input, kernel and result, ConvDimensionNumbers, or None for ('NCHW', 'OIHW', 'NCHW').
      feature_group_count: the number of groups of input and output features; the kernel has the input
          features of one group.
      batch_group_count: the number of groups of the batch and of output features.
      precision: a `Precision`, its name, or one for each operand.
      preferred_element_type: dtype in which products are summed, and of the result.

    A spatial dimension of the result has `(padded - reach) // stride + 1` elements, where `padded` is the
    size of the dilated and padded input, and `reach` that of the dilated kernel.

    Errors name the invalid axis or letter. Raises ArgumentError for dimension numbers, ArgumentValueError
    for features and groups, DtypeError for dtypes.

    >>> image, kernel = np.ones((1, 8, 8, 3)), np.ones((3, 3, 3, 4))
    >>> layout = ('NHWC', 'HWIO', 'NHWC')
    >>> lax.conv_general_dilated(image, kernel, (2, 2), 'SAME', dimension_numbers=layout).shape
    (1, 4, 4, 4)
    """
    if out_sharding is not None:
        within = functools.partial(
            conv_general_dilated,
            window_strides=window_strides,
            padding=padding,
            lhs_dilation=lhs_dilation,
            rhs_dilation=rhs_dilation,
            dimension_numbers=dimension_numbers,
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )
        return with_out_sharding(_NAME, within, (lhs, rhs), out_sharding)
    x, y = aval_of(lhs), aval_of(rhs)
    numbers = numbers_of(_NAME, x.shape, y.shape, dimension_numbers)
    conv = convolution_of(
        _NAME, x.shape, y.shape, numbers, window_strides, padding, lhs_dilation, rhs_dilation
    )
    if preferred_element_type is not None:
        preferred_element_type = dtype_predicates.requested(preferred_element_type, _NAME)
    return replace(
        conv,
        feature_group_count=_count("feature_group_count", feature_group_count),
        batch_group_count=_count("batch_group_count", batch_group_count),
        precision=canonical_levels(precision, _NAME),
        preferred_element_type=preferred_element_type,
    ).bind(lhs, rhs)


def _count(argument: str, value: Any) -> Any:
    return sizes_of(_NAME, argument, (value,))[0]


def convolution_of(
    function: str,
    lhs_shape: tuple,
    rhs_shape: tuple,
    numbers: ConvDimensionNumbers,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
) -> Convolution:
    """Return the parameters of a convolution from user arguments."""
    n = len(numbers.lhs_spec) - 2
    strides = sizes_of(function, "window_strides", window_strides)
    base = (1,) * n if lhs_dilation is None else sizes_of(function, "lhs_dilation", lhs_dilation)
    dilation = (
        (1,) * n if rhs_dilation is None else sizes_of(function, "rhs_dilation", rhs_dilation)
    )
    named = isinstance(padding, str)
    pairs = ((0, 0),) * n if named else padding_pairs(function, padding)
    conv = Convolution(strides, pairs, base, dilation, numbers)
    window, spatial = conv.window(rhs_shape), conv.spatial(lhs_shape)
    window.check(function, spatial, _ARGUMENTS)
    if not named:
        return conv
    if any(d != 1 for d in base):
        raise ArgumentValueError(
            "padding by name has no meaning for a dilated input",
            function=function,
            argument="padding",
            got=repr(padding),
            expected="a pair (low, high) for each spatial dimension",
            fix="lax.conv_transpose takes names",
        )
    pairs = named_padding(function, spatial, window.extents, strides, padding)
    return replace(conv, padding=tuple(pairs))


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolve `lhs` (batch, feature, spatial) with the kernel `rhs` (output and input feature, spatial).

    This is `conv_general_dilated` in its default layout; see there for the arguments and errors.

    >>> lax.conv(np.arange(5.0).reshape(1, 1, 5), np.array([[[1.0, -1.0]]]), (1,), 'VALID')
    Array([[[-1., -1., -1., -1.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolve in the default layout, with explicit padding and dilations.

    See `conv_general_dilated` for the arguments and errors.

    >>> x, y = np.ones((1, 1, 3)), np.ones((1, 1, 2))
    >>> lax.conv_with_general_padding(x, y, (1,), [(1, 1)], (2,), None)
    Array([[[1., 1., 1., 1., 1., 1.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# Shapes only


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """Return the shape of a convolution in its default layout.

    >>> lax.conv_shape_tuple((2, 4, 8), (6, 4, 3), (2,), 'SAME')
    (2, 6, 4)
    """
    function, x, y = "conv_shape_tuple", tuple(lhs_shape), tuple(rhs_shape)
    numbers = numbers_of(function, x, y, None)
    conv = convolution_of(function, x, y, numbers, strides, pads, None, None)
    return replace(conv, batch_group_count=batch_group_count).result(x, y)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers,
) -> tuple[int, ...]:
    """Return the shape of a convolution in any layout.

    >>> layout = ('NWC', 'WIO', 'NWC')
    >>> lax.conv_general_shape_tuple((2, 8, 4), (3, 4, 6), (2,), 'SAME', layout)
    (2, 4, 6)
    """
    function, x, y = "conv_general_shape_tuple", tuple(lhs_shape), tuple(rhs_shape)
    numbers = numbers_of(function, x, y, dimension_numbers)
    return convolution_of(function, x, y, numbers, window_strides, padding, None, None).result(x, y)


# Samples ------------------------------------------------------------------------------------------


def _sample(lhs: Any, rhs: Any, *, derivatives: bool = True, **given: Any) -> Sample:
    n = len(lhs.shape) - 2
    spec = tuple(range(n + 2))
    one = (1,) * n
    params = Convolution(
        one, ((0, 0),) * n, one, one, ConvDimensionNumbers(spec, spec, spec)
    ).params()
    return Sample(lhs, rhs, derivatives=derivatives, **{**params, **given})


_NHWC = ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
_ODD = ConvDimensionNumbers((2, 0, 1), (1, 2, 0), (1, 2, 0))
conv_general_dilated_p.samples = [
    _sample(f32(2, 3, 5), f32(4, 3, 2)),
    _sample(f32(2, 3), f32(4, 3)),
    _sample(f32(1, 4, 5, 2), f32(3, 2, 2, 3), dimension_numbers=_NHWC, padding=((1, 1), (0, 1))),
    _sample(f32(3, 6, 2), f32(2, 4, 3), dimension_numbers=_ODD, window_strides=(2,)),
    _sample(
        f32(1, 2, 5), f32(2, 2, 3), window_strides=(2,), padding=((2, 1),), lhs_dilation=(3,),
        rhs_dilation=(2,),
    ),
    _sample(f32(1, 1, 7), f32(1, 1, 2), padding=((-2, 3),), window_strides=(3,)),
    _sample(f32(1, 1, 4), f32(1, 1, 2), padding=((5, -1),), lhs_dilation=(2,)),
    _sample(f32(2, 4, 5), f32(6, 2, 2), feature_group_count=2, window_strides=(2,)),
    _sample(f32(1, 3, 4), f32(3, 1, 2), feature_group_count=3, padding=((1, 0),)),
    _sample(f32(4, 3, 5), f32(6, 3, 2), batch_group_count=2, padding=((0, 2),)),
    _sample(
        f32(3, 4, 2), f32(2, 4, 3), dimension_numbers=_ODD, batch_group_count=2, rhs_dilation=(2,),
    ),
    _sample(f32(1, 2, 3), f32(2, 2, 5)),
    _sample(f32(0, 2, 3), f32(2, 2, 2)),
    _sample(f32(1, 2, 0), f32(2, 2, 2), padding=((2, 1),)),
    _sample(c64(1, 2, 4), c64(2, 2, 2), padding=((1, 0),)),
    _sample(f32(1, 1, 3, 3, 3), f32(1, 1, 2, 2, 2)),
    _sample(i32(2, 3, 5), i32(4, 3, 2)),
    _sample(i8(1, 2, 4), i8(2, 2, 2), preferred_element_type=np.dtype(np.int32)),
    _sample(boolean(1, 2, 4), boolean(2, 2, 2)),
    _sample(bf16(1, 2, 4), bf16(2, 2, 2), derivatives=False),
    _sample(
        bf16(1, 2, 4), bf16(2, 2, 2), preferred_element_type=np.dtype(np.float32),
        derivatives=False,
    ),
]  # fmt: skip
