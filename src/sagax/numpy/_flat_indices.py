"""Convert between flat indices and multi-dimensional indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.dims import canonical_shape
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, ConcretizationTypeError, DtypeError
from sagax._src.primitives.arithmetic import add_p, div_p, mul_p, rem_p
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import check_choice
from sagax.numpy._arithmetic import remainder
from sagax.numpy._base import as_operand, dtype_of, number_like
from sagax.numpy._selection import clip, where3

_MODES = ("raise", "wrap", "clip", "ignore")


def _as_operand_like(size: dims.Size, x: Any) -> Any:
    """Convert a size to a scalar that combines with the operand `x`."""
    if not dims.is_dim(size):
        return number_like(size, x)
    aval = aval_of(x)
    return _size_as(size, aval.dtype, aval.weak_type)


def _size_as(size: dims.Size, dtype: Any, weak: bool = False) -> Any:
    return convert(size_as_value(size), dtype, weak)


def _too_large(size: dims.Size, dtype: Any) -> bool:
    """Return whether a dtype cannot hold a size; 32 bits hold symbolic ones."""
    if dims.is_dim(size) and dtypes.iinfo(dtype).max >= dtypes.iinfo(dtypes.int32).max:
        return False
    return size > dtypes.iinfo(dtype).max


def _integers(function: str, x: Any, position: int) -> Any:
    x = as_operand(function, x, position)
    if dtypes.kind(dtype_of(x)) not in "biu":
        raise DtypeError(
            "indices are integers",
            function=function,
            argument=f"at position {position}",
            got=x,
            fix="convert them first, with x.astype(int)",
        )
    return int(x) if type(x) is bool else x


def unravel_index(indices: Any, shape: Any) -> tuple[Array, ...]:
    """Convert row-major flat indices to an index along each dimension.

    Negative indices count from the end; indices beyond the ends are clipped to them.

    >>> snp.unravel_index(snp.array([5, 7]), (2, 4))
    (Array([1, 1], dtype=int32), Array([1, 3], dtype=int32))
    """
    x = _integers("unravel_index", indices, 0)
    sizes = canonical_shape(shape, "unravel_index: argument shape")
    total = dims.size(sizes)
    if total == 0:
        raise ArgumentValueError(
            "an array without elements has no places",
            function="unravel_index",
            got=f"shape {sizes}",
        )
    dtype = dtype_of(x)
    if dtype == dtypes.bool_ or _too_large(total, dtype):
        x = convert(_base.as_array("unravel_index", x), dtypes.default_int(_base.x64()))
    if dtypes.kind(dtype_of(x)) == "i":
        x = clip(x, _as_operand_like(-total, x), _as_operand_like(total - 1, x))
        x = where3(x < 0, x + _as_operand_like(total, x), x)
    else:
        x = clip(x, None, _as_operand_like(total - 1, x))
    out = []
    for size in reversed(sizes):
        out.append(rem_p.bind(x, _as_operand_like(size, x)))
        x = div_p.bind(x, _as_operand_like(size, x))
    return tuple(reversed(out))


def ravel_multi_index(
    multi_index: Sequence[Any],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: Any = None,
) -> Array:
    """Convert indices along each dimension of shape `dims` to flat indices.

    `mode` says what an index out of bounds means: "raise" (which needs concrete indices), "wrap",
    "clip", or "ignore" (not looked for). `order` "F" counts with the first dimension fastest.

    >>> snp.ravel_multi_index((snp.array([1, 1]), snp.array([1, 3])), (2, 4))
    Array([5, 7], dtype=int32)
    """
    name = "ravel_multi_index"
    sizes = canonical_shape(dims, f"{name}: argument dims")
    check_choice(name, "mode", mode, _MODES)
    check_choice(name, "order", order, ("C", "F"), "'C' or 'F'")
    multi_index = checks.several(name, "multi_index", multi_index, "a sequence of index arrays")
    if len(multi_index) != len(sizes):
        raise ArgumentValueError(
            function=name,
            argument="multi_index",
            got=f"{len(multi_index)} indices",
            expected=f"one for each of the {len(sizes)} dimensions",
        )
    given = [_integers(name, x, i) for i, x in enumerate(multi_index)]
    wide = _result_dtype(name, given, sizes, dtype)
    strides = _strides(sizes, order)
    total: Any = None
    for i, (x, size, stride) in enumerate(zip(given, sizes, strides, strict=True)):
        x = _base.cast(_within(name, x, size, mode, i), wide, False)
        if not isinstance(stride, int) or stride != 1:
            known = isinstance(stride, int)
            factor = _base.number(stride, int, wide) if known else _size_as(stride, wide)
            x = mul_p.bind(x, factor)
        total = x if total is None else add_p.bind(*_base.align_ranks(name, (total, x)))
    return _base.as_array(name, _base.number(0, int, wide) if total is None else total)


def _strides(sizes: dims.Shape, order: str) -> list[dims.Size]:
    """Return the stride of each dimension, in elements."""
    if order == "F":
        return [dims.size(sizes[:i]) for i in range(len(sizes))]
    return [dims.size(sizes[i + 1 :]) for i in range(len(sizes))]


def _result_dtype(name: str, given: list, sizes: dims.Shape, dtype: Any) -> Any:
    if dtype is not None:
        found = dtypes.requested_dtype(dtype, name)
    elif given:
        found, _ = _base.common_dtype(name, given)
        found = dtypes.to_numeric(found)
    else:
        found = dtypes.default_int(_base.x64())
    if dtypes.kind(found) not in "iu":
        raise ArgumentValueError.about(name, "dtype", dtypes.name(found), "an integer dtype")
    if _too_large(dims.size(sizes) - 1, found):
        raise ArgumentValueError(
            f"{dtypes.name(found)} cannot hold the places in an array of shape {sizes}",
            function=name,
            fix="pass a wider dtype, such as dtype='int64' with x64 on",
        )
    return found


def _within(name: str, x: Any, size: dims.Size, mode: str, position: int) -> Any:
    """Bring an index along a dimension into bounds, as `mode` says."""
    if mode == "wrap":
        return remainder(x, _as_operand_like(size, x))
    if mode == "clip":
        return clip(x, 0, _as_operand_like(size - 1, x))
    if mode == "raise":
        host = x.concrete() if isinstance(x, Tracer) else x
        if host is None:
            raise ConcretizationTypeError(
                x,
                f"It arose in numpy.{name} with mode='raise'; use mode='wrap' or mode='clip' instead.",
            )
        host = np.asarray(host)
        if host.size and (host.min() < 0 or host.max() >= size):
            raise ArgumentValueError(
                "invalid entry in coordinates array",
                function=name,
                argument=f"multi_index[{position}]",
                got=f"indices from {host.min()} to {host.max()}",
                expected=f"indices from 0 to {size - 1}",
            )
    return x
