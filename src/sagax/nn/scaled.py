"""Multiply block-scaled matrices of low precision.

The formats are those of the Open Compute Project's "Microscaling Formats" (2023), in which a scale is
a power of two, and a second one with scales of 8 bits and one more for the whole array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

import sagax.numpy as snp
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.frozen_class import record
from sagax._src.higher_order.custom_derivatives import custom_vjp
from sagax._src.primitives.dot_general import dot_general
from sagax._src.primitives.structural import convert
from sagax.numpy._base import as_array, promotes_freely

_F32 = np.dtype(np.float32)


@record
class BlockScaleConfig:
    """Describe the quantization of an array: made by `get_scaled_dot_general_config`."""

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any = None


_MODES = {
    "mxfp8": (32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu),
    "mxfp4": (32, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu),
    "nvfp4": (16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn),
}


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """Configure how `scaled_dot_general` quantizes an operand: 'mxfp8', 'mxfp4' or 'nvfp4'.

    `global_scale`, for 'nvfp4' only, is one number (default 1) that the scales of blocks are relative to.

    Raises ValueError for an unknown mode.

    >>> nn.get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    if mode not in _MODES:
        raise ArgumentValueError(
            f"Unsupported mode: {mode}",
            function="get_scaled_dot_general_config",
            argument="mode",
            got=repr(mode),
            expected=f"one of {', '.join(map(repr, _MODES))}",
        )
    if mode != "nvfp4" and global_scale is not None:
        raise ArgumentValueError(
            function="get_scaled_dot_general_config",
            argument="global_scale",
            got=global_scale,
            expected="None: only 'nvfp4' has one",
        )
    block, data, scale = _MODES[mode]
    return BlockScaleConfig(mode, block, np.dtype(data), np.dtype(scale), global_scale)


def scaled_matmul(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any = np.float32
) -> Array:
    """Multiply scaled matrices: (B, M, K) and (B, N, K) give (B, M, N).

    `lhs_scales` has shape (B, M, K / block), `rhs_scales` (B, N, K / block): each holds for a block of
    elements in a row. Computed in float32.

    Raises TypeError if shapes do not fit.

    >>> nn.scaled_matmul(np.ones((1, 1, 4)), np.ones((1, 1, 4)), *2 * [np.full((1, 1, 1), 0.5)])
    Array([[[1.]]], dtype=float32)
    """
    name = "scaled_matmul"
    arrays = [as_array(name, x, i) for i, x in enumerate((lhs, rhs, lhs_scales, rhs_scales))]
    for argument, x in zip(("lhs", "rhs", "lhs_scales", "rhs_scales"), arrays, strict=True):
        if x.ndim != 3:
            raise ShapeError.about(name, argument, x, "three dimensions")
    lhs, rhs, lhs_scales, rhs_scales = arrays
    if lhs.shape[0] != rhs.shape[0] or lhs.shape[2] != rhs.shape[2]:
        raise ShapeError(
            function=name,
            got=f"lhs {lhs.shape} and rhs {rhs.shape}",
            expected="shapes (B, M, K) and (B, N, K)",
        )
    a, b = _unscaled(name, "lhs", lhs, lhs_scales), _unscaled(name, "rhs", rhs, rhs_scales)
    out = dot_general(a, b, (((2,), (2,)), ((0,), (0,))), preferred_element_type=_F32)
    return convert(out, dtypes.requested_dtype(preferred_element_type, name))


def _unscaled(name: str, argument: str, x: Any, scales: Any) -> Any:
    blocks = scales.shape[2]
    if scales.shape[:2] != x.shape[:2] or not blocks or x.shape[2] % blocks:
        raise ShapeError(
            function=name,
            argument=f"{argument}_scales",
            got=scales,
            expected=f"shape {x.shape[:2]} and a last dimension that divides {x.shape[2]}",
        )
    wide = convert(x, _F32).reshape(*x.shape[:2], blocks, x.shape[2] // blocks)
    return (wide * convert(scales, _F32)[..., None]).reshape(x.shape)


@promotes_freely
def _quantized(x: Any, config: BlockScaleConfig) -> Any:
    """Round `x` (B, M, K) to the values of the format, as float32."""
    block = config.block_size
    if x.shape[2] % block:
        raise ShapeError(
            function="scaled_dot_general",
            got=x,
            expected=f"a multiple of {block}, the size of blocks of {config.mode}, as the contracted size",
        )
    wide = convert(x, _F32).reshape(*x.shape[:2], x.shape[2] // block, block)
    most = float(ml_dtypes.finfo(config.data_type).max)
    greatest = snp.max(snp.abs(wide), axis=-1, keepdims=True)
    if config.mode == "nvfp4":
        outer_scale = 1.0 if config.global_scale is None else convert(config.global_scale, _F32)
        largest = float(ml_dtypes.finfo(config.scale_type).max)
        scales = snp.clip(greatest / (most * outer_scale), 0.0, largest)
        scales = convert(convert(scales, config.scale_type), _F32) * outer_scale
    else:
        # the least power of two with which the greatest element does not overflow
        nonzero = snp.where(greatest > 0, greatest, 1.0)
        scales = snp.exp2(snp.clip(snp.ceil(snp.log2(nonzero / most)), -127.0, 127.0))
    safe = snp.where(scales > 0, scales, 1.0)
    rounded = convert(convert(snp.clip(wide / safe, -most, most), config.data_type), _F32)
    return (rounded * scales).reshape(x.shape)


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """Compute `lax.dot_general` of operands quantized in blocks along the one contracted dimension.

    `configs` are for lhs, rhs and, in the backward pass, the gradient; without them nothing is
    quantized. Derivatives take quantization as the identity. `implementation` has no effect.

    Raises TypeError if the contracted size is no multiple of the block size, ValueError for several
    contracted dimensions.

    >>> config = nn.get_scaled_dot_general_config("mxfp8")
    >>> x = np.ones((1, 2, 32))
    >>> nn.scaled_dot_general(x, x, (((2,), (2,)), ((0,), (0,))), configs=[config] * 3).shape
    (1, 2, 2)
    """
    name = "scaled_dot_general"
    lhs, rhs = as_array(name, lhs), as_array(name, rhs, 1)
    out_type = dtypes.requested_dtype(preferred_element_type, name)
    if configs is None:
        return dot_general(lhs, rhs, dimension_numbers, preferred_element_type=out_type)
    if len(configs) != 3:
        raise ArgumentError.about(
            name, "configs", f"{len(configs)} of them", "three: for lhs, rhs and the gradient"
        )
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    if len(lhs_contract) != 1 or len(rhs_contract) != 1:
        raise ArgumentValueError.about(
            name, "dimension_numbers", dimension_numbers, "one contracted dimension"
        )
    a, batch_shape, rows = _as_matrices(lhs, lhs_contract[0], lhs_batch)
    b, _, columns = _as_matrices(rhs, rhs_contract[0], rhs_batch)
    out = _product(tuple(configs), a, b)
    return convert(out.reshape(*batch_shape, *rows, *columns), out_type)


def _as_matrices(x: Any, contract: int, batch: Sequence[int]) -> tuple[Any, tuple, tuple]:
    """Reshape `x` to (B, M, K); return also the shapes that B and M stand for."""
    contract = contract % x.ndim
    batch = [d % x.ndim for d in batch]
    free = [d for d in range(x.ndim) if d != contract and d not in batch]
    moved = snp.transpose(x, (*batch, *free, contract))
    batch_shape = tuple(x.shape[d] for d in batch)
    rows = tuple(x.shape[d] for d in free)
    count, size = math.prod(batch_shape), math.prod(rows)
    return moved.reshape(count, size, x.shape[contract]), batch_shape, rows


_DIMENSIONS = (((2,), (2,)), ((0,), (0,)))


def _product(configs: tuple, a: Any, b: Any) -> Any:
    def multiply(x: Any, y: Any) -> Any:
        return dot_general(x, y, _DIMENSIONS, preferred_element_type=_F32)

    @custom_vjp
    def product(a: Any, b: Any) -> Any:
        return multiply(_quantized(a, configs[0]), _quantized(b, configs[1]))

    def forward(a: Any, b: Any) -> tuple:
        return product(a, b), (a, b)

    def backward(residuals: tuple, g: Any) -> tuple:
        a, b = residuals
        turned = snp.swapaxes(g, 1, 2)

        def fits(x: Any) -> Any:
            return _quantized(x, configs[2]) if x.shape[2] % configs[2].block_size == 0 else x

        def fits_operand(x: Any, config: BlockScaleConfig) -> Any:
            return _quantized(x, config) if x.shape[2] % config.block_size == 0 else x

        da = multiply(fits(g), fits_operand(snp.swapaxes(b, 1, 2), configs[1]))
        db = multiply(fits(turned), fits_operand(snp.swapaxes(a, 1, 2), configs[0]))
        return convert(da, a.dtype), convert(db, b.dtype)

    product.defvjp(forward, backward)
    return product(a, b)


__all__ = [
    "BlockScaleConfig",
    "get_scaled_dot_general_config",
    "scaled_dot_general",
    "scaled_matmul",
]
