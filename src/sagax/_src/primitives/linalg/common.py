"""Share checks, products of stacked matrices, LAPACK calls and batching among factorizations.

A matrix is the last two dimensions of an operand; all leading dimensions are a stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.primitive import Primitive
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives.arithmetic import add, div
from sagax._src.primitives.comparison import eq, ge
from sagax._src.primitives.complex_numbers import conj
from sagax._src.primitives.dot_algorithms import Precision
from sagax._src.primitives.dot_general import batch_matmul
from sagax._src.primitives.gathering import GatherDimensionNumbers, gather
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import broadcasted_iota
from sagax._src.primitives.structural import (
    broadcast,
    broadcast_in_dim,
    convert,
    expand_dims,
    full_of,
    moveaxis,
    transpose,
    zeros_of,
)
from sagax._src.primitives.unsupported import UnsupportedError

_I32 = np.dtype(np.int32)
_BOOL = np.dtype(bool)
_LETTER = {
    np.dtype(np.float32): "s",
    np.dtype(np.float64): "d",
    np.dtype(np.complex64): "c",
    np.dtype(np.complex128): "z",
}


# Checks --------------------------------------------------------------------------------------------


def is_lapack_dtype(dtype: Any) -> bool:
    """Return whether LAPACK supports the dtype: single and double precision, real and complex."""
    return dtype in _LETTER


def check_matrix(
    function: str, x: ShapedArray, argument: str, *, square: bool = False, any_float: bool = False
) -> None:
    """Raise, naming the operand, unless `x` is a stack of (square) matrices of a LAPACK dtype."""
    check_dtype(function, x, argument, any_float=any_float)
    if x.ndim < 2 or (square and not dims.same(x.shape[-1], x.shape[-2])):
        raise ArgumentValueError(
            function=function,
            argument=argument,
            got=x,
            expected=f"{'square ' if square else ''}matrices: shape "
            + ("(..., n, n)" if square else "(..., m, n)"),
            operand=x,
        )


def check_dtype(function: str, x: ShapedArray, argument: str, *, any_float: bool = False) -> None:
    good = dtypes.is_inexact(x.dtype) if any_float else is_lapack_dtype(x.dtype)
    if not good:
        raise DtypeError(
            f"{argument} has dtype {dtypes.name(x.dtype)}",
            function=function,
            argument=argument,
            got=x,
            expected="floating point or complex numbers"
            if any_float
            else "float32, float64, complex64 or complex128",
            fix="convert it first, with x.astype(...)",
        )


def check_same_dtype(function: str, **operands: ShapedArray) -> None:
    """Raise, naming the operands, unless all have one dtype."""
    if len({x.dtype for x in operands.values()}) > 1:
        have = ", ".join(f"{k} {dtypes.name(x.dtype)}" for k, x in operands.items())
        raise DtypeError(
            f"lax.{function} requires arguments to have the same dtypes, got {have}",
            function=function,
            fix="convert one of them, with x.astype(...)",
        )


def check_same_stack(function: str, cores: Sequence[int], **operands: ShapedArray) -> None:
    """Raise, naming the operands, unless their shapes without the core dimensions agree."""
    stacks = [x.shape[: x.ndim - c] for c, x in zip(cores, operands.values(), strict=True)]
    for other in stacks[1:]:
        if not dims.same_shape(stacks[0], other):
            shown = " and ".join(f"{k} {x.shape}" for k, x in operands.items())
            raise ShapeError(
                "the operands are stacks of different shapes",
                function=function,
                got=shown,
                expected="equal dimensions in front of the matrices",
                fix="broadcast them first, or use sagax.vmap",
                **operands,
            )


def of(x: ShapedArray, *core: Any, dtype: Any = None, batch: int | None = None) -> ShapedArray:
    """Return the type of a result: the stack of `x` (its first `batch` dimensions), then `core`."""
    n = x.ndim - 2 if batch is None else batch
    return intern_aval((*x.shape[:n], *core), dtype or x.dtype, x.weak_type, None)


# Matrix algebra in primitives ------------------------------------------------------------------------


def mT(x: Any) -> Any:
    """Transpose matrices."""
    n = aval_of(x).ndim
    return transpose(x, (*range(n - 2), n - 1, n - 2))


def mH(x: Any) -> Any:
    """Transpose and conjugate matrices."""
    return mT(conj_of(x))


def conj_of(x: Any) -> Any:
    return conj(x) if dtype_predicates.is_complex(aval_of(x).dtype) else x


def matmul(x: Any, y: Any) -> Any:
    """Multiply the matrices of two equal stacks, in full precision on all devices."""
    return batch_matmul(x, y, Precision.HIGHEST)


def hermitian_part(x: Any) -> Any:
    """Return (x + x^H) / 2."""
    return div(add(x, mH(x)), 2)


def triangle_mask(shape: Sequence[Any], offset: int = 0) -> Any:
    """Return True on and below the diagonal number `offset` of matrices of the given shape."""
    rows, columns = _indices(shape)
    below = ge(add(rows, np.int32(offset)) if offset else rows, columns)
    return _stacked(below, shape)


def diagonal_mask(shape: Sequence[Any]) -> Any:
    return _stacked(eq(*_indices(shape)), shape)


def _indices(shape: Sequence[Any]) -> tuple[Any, Any]:
    core = tuple(shape[-2:])
    return broadcasted_iota(_I32, core, 0), broadcasted_iota(_I32, core, 1)


def _stacked(x: Any, shape: Sequence[Any]) -> Any:
    n = len(shape)
    return x if n == 2 else broadcast_in_dim(x, tuple(shape), (n - 2, n - 1))


def lower_part(x: Any, offset: int = 0) -> Any:
    """Zero `x` above the diagonal number `offset`."""
    aval = aval_of(x)
    return select_n(triangle_mask(aval.shape, offset), zeros_of(aval), x)


def upper_part(x: Any, offset: int = 0) -> Any:
    """Zero `x` below the diagonal number `offset`."""
    aval = aval_of(x)
    return select_n(triangle_mask(aval.shape, offset - 1), x, zeros_of(aval))


def diagonal_part(x: Any) -> Any:
    """Zero `x` off the diagonal."""
    aval = aval_of(x)
    return select_n(diagonal_mask(aval.shape), zeros_of(aval), x)


def with_diagonal(x: Any, value: Any) -> Any:
    """Set the diagonals of matrices `x` to `value`."""
    aval = aval_of(x)
    return select_n(diagonal_mask(aval.shape), x, full_of(aval, value))


def identity(shape: Sequence[Any], dtype: Any) -> Any:
    """Return identity matrices of the given shape."""
    return convert(diagonal_mask(shape), dtype)


def columns(x: Any, shape: Sequence[Any]) -> Any:
    """Return the vectors `x` as factors of the columns of matrices of `shape`: x[..., None, :]."""
    n = len(shape)
    return broadcast_in_dim(x, tuple(shape), (*range(n - 2), n - 1))


def rows(x: Any, shape: Sequence[Any]) -> Any:
    """Return the vectors `x` as factors of the rows of matrices of `shape`: x[..., :, None]."""
    return broadcast_in_dim(x, tuple(shape), tuple(range(len(shape) - 1)))


def take_rows(x: Any, order: Any) -> Any:
    """Permute the rows of matrices, with one order for each matrix."""
    aval = aval_of(x)
    n = aval.ndim - 2
    if dims.is_static(aval.shape) and 0 in aval.shape[:-1]:
        return x  # a gather cannot take a row of no rows
    stack = tuple(range(n))
    numbers = GatherDimensionNumbers((n + 1,), (n,), (n,), stack, stack)
    sizes = (*[1] * (n + 1), aval.shape[-1])
    return gather(x, expand_dims(order, (n + 1,)), numbers, sizes)


# Batching --------------------------------------------------------------------------------------------


def batch_in_front(p: Primitive) -> None:
    """Batch a primitive on stacks by one more leading dimension of all operands."""

    def batch(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        moved = [
            broadcast(x, (axis.size,)) if d is None else moveaxis(x, d, 0)
            for x, d in zip(args, in_dims, strict=True)
        ]
        out = p.bind(*moved, **params)
        return (out, [0] * len(out)) if p.multiple_results else (out, 0)

    p.batch_rule = batch


def each(function: Callable[..., tuple], cores: Sequence[int], *stacks: np.ndarray) -> list:
    """Apply `function` to every matrix of the stacks in NumPy, and stack its results.

    `cores` are the ranks of one example of every operand.
    """
    shape = stacks[0].shape[: stacks[0].ndim - cores[0]]
    count = int(np.prod(shape, dtype=int))
    flat = [x.reshape(count, *x.shape[x.ndim - c :]) for c, x in zip(cores, stacks, strict=True)]
    results = [function(*xs) for xs in zip(*flat, strict=True)]
    return [np.stack(r).reshape(*shape, *r[0].shape) for r in zip(*results, strict=True)]


def lapack_routine(name: str, *arrays: np.ndarray) -> Any:
    """Return SciPy's LAPACK routine for the type of the arrays."""
    import scipy.linalg

    return scipy.linalg.get_lapack_funcs(name, arrays)


# Lowering --------------------------------------------------------------------------------------------


def uses_lapack(b: Any, *operands: Any) -> bool:
    """Return whether the faster LAPACK kernel replaces a native operation."""
    return b.module.platform == "cpu" and all(
        is_lapack_dtype(x.aval.dtype) and dims.is_static(x.aval.shape) for x in operands
    )


def kernel(
    b: Any,
    name: str,
    operands: Sequence[Any],
    outs: Sequence[ShapedArray],
    *,
    batch: int,
    in_place: Sequence[tuple[int, int]] = (),
    target: str | None = None,
    **attributes: Any,
) -> list[Any]:
    """Call a LAPACK kernel on stacks with `batch` leading dimensions.

    `name` is the routine without its type prefix: a pair if real and complex differ. Attributes: characters
    as str, numbers as int, flags as bool. `in_place` holds pairs (operand, result) that may share memory.
    Matrices are column-major, as LAPACK requires.
    """
    what = target or (name if isinstance(name, str) else name[0])
    if b.module.platform != "cpu":
        raise UnsupportedError(
            f"the factorization behind '{what}' does not exist on this platform",
            function=what,
            got=f"platform '{b.module.platform}'",
            fix="run this function under sagax.jit on a CPU device",
        )
    if target is None:
        target = f"lapack_{_LETTER[operands[0].aval.dtype]}{name}_ffi"
    texts = {k: _text(v) for k, v in attributes.items()}
    return _call(b, target, operands, outs, texts, batch=batch, in_place=in_place)


def cuda_kernel(
    b: Any,
    target: str,
    operands: Sequence[Any],
    outs: Sequence[ShapedArray],
    *,
    batch: int,
    in_place: Sequence[tuple[int, int]] = (),
    row_major: bool = False,
    splits: bool = True,
    **attributes: Any,
) -> list[Any]:
    """Call a kernel of the CUDA plugin (cuSOLVER, cuSPARSE, ...) on stacks, as `kernel` calls LAPACK.

    Attributes: words as str, flags as bool, small numbers as int. Matrices are column-major, or `row_major`.
    `splits`: every operand and result has the batch dimensions, by which devices may share the work.
    """
    texts = {k: _cuda_text(v) for k, v in attributes.items()}
    layout = {"row_major": row_major, "splits": splits}
    return _call(b, target, operands, outs, texts, batch=batch, in_place=in_place, **layout)


def _call(
    b: Any,
    target: str,
    operands: Sequence[Any],
    outs: Sequence[ShapedArray],
    attributes: dict[str, str],
    *,
    batch: int,
    in_place: Sequence[tuple[int, int]],
    row_major: bool = False,
    splits: bool = True,
) -> list[Any]:
    shapes = []
    more: dict[str, str] = {}
    if not all(dims.is_static(x.aval.shape) for x in operands):
        # result shapes as operands, which are removed when the sizes are known
        shapes = [b.shape_value(out.shape) for out in outs]
        first = len(operands)
        positions = list(range(first, first + len(shapes)))
        more["indices_of_shape_operands"] = f"dense<{positions}> : tensor<{len(positions)}xi64>"
    if any(0 in x.aval.shape for x in operands):
        return [_of_nothing(b, out, batch) for out in outs]
    if splits:
        more["mhlo__frontend_attributes"] = f'{{num_batch_dims = "{batch}"}}'
    if batch and splits and not shapes and len(b.module.devices) > 1:
        more["sdy__sharding_rule"] = _sharding_rule([x.aval for x in operands], outs, batch)
    return b.custom_call(
        target,
        [*operands, *shapes],
        outs,
        api_version="4 : i32",
        backend_config="{" + ", ".join(f"{k} = {v}" for k, v in attributes.items()) + "}",
        operand_layouts=_layouts([x.aval for x in operands], batch, row_major, len(shapes)),
        result_layouts=_layouts(outs, batch, row_major),
        output_operand_aliases="["
        + ", ".join(
            f"#stablehlo.output_operand_alias<output_tuple_indices = {[r] if len(outs) > 1 else []}, "
            f"operand_index = {o}, operand_tuple_indices = []>"
            for o, r in in_place
        )
        + "]",
        **more,
    )


def _sharding_rule(operands: Sequence[Any], outs: Sequence[Any], batch: int) -> str:
    """Return the rule by which the partitioner shards stacks: each device computes its own matrices.

    Batch dimensions correspond, every other dimension is a factor of its own.
    """
    sizes: list[int] = list(operands[0].shape[:batch])

    def factors(aval: Any) -> str:
        own = list(range(batch)) if aval.ndim >= batch else []
        for size in aval.shape[len(own) :]:
            own.append(len(sizes))
            sizes.append(size)
        return f"[{', '.join([_factor(i) for i in own])}]"

    ins, results = [", ".join(map(factors, avals)) for avals in (operands, outs)]
    listed = ", ".join([f"{_factor(i)}={size}" for i, size in enumerate(sizes)])
    return f"#sdy.op_sharding_rule<({ins})->({results}) {{{listed}}}, custom>"


def _factor(i: int) -> str:
    return "ijklmnopqrstuvwxyz"[i] if i < 18 else f"z_{i - 17}"


def _of_nothing(b: Any, out: ShapedArray, batch: int) -> Any:
    """Return the factor of matrices without elements: an identity matrix of its shape."""
    if out.ndim - batch != 2:
        return b.full(0, out)
    index = out.with_dtype(_I32)
    positions = [b.iota(index, out.ndim - 2), b.iota(index, out.ndim - 1)]
    return b.convert(b.compare("EQ", *positions), out.dtype)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return f"{ord(value)} : ui8"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value} : i32"


def _cuda_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return _text(value) if isinstance(value, bool) else f"{value} : ui8"


def _layouts(avals: Sequence[Any], batch: int, row_major: bool, shapes: int = 0) -> str:
    """Return layouts of matrices, and of so many shapes after them."""
    found = [_layout(a.ndim, batch, row_major) for a in avals]
    return "[" + ", ".join([*found, *["dense<0> : tensor<1xindex>"] * shapes]) + "]"


def _layout(ndim: int, batch: int, row_major: bool) -> str:
    order = list(range(ndim - 1, -1, -1))
    if ndim - batch == 2 and not row_major:
        order[:2] = [ndim - 2, ndim - 1]
    return f"dense<{order}> : tensor<{ndim}xindex>"


def info_of(x: ShapedArray, batch: int) -> ShapedArray:
    """Return the type of LAPACK's info: one int32 for each matrix."""
    return intern_aval(x.shape[:batch], _I32, False, None)


def nan_where_failed(b: Any, info: Any, xs: Sequence[Any], *, direction: str = "EQ") -> list[Any]:
    """Fill the results `xs` with NaN for matrices whose info is not zero (or not `direction` zero)."""
    ok = b.compare(direction, info, b.full_like(info, 0))
    n = info.aval.ndim
    return [
        b.select(
            b.broadcast_in_dim(ok, x.aval.shape, range(n)), x, b.full(_nan(x.aval.dtype), x.aval)
        )
        for x in xs
    ]


def _nan(dtype: Any) -> Any:
    return np.asarray(
        complex(np.nan, np.nan) if dtype_predicates.is_complex(dtype) else np.nan, dtype
    )[()]
