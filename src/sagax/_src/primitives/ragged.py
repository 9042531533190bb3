"""Define products of matrices with ragged groups of rows, and of scaled operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, Spec, bf16, f32
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.frozen_class import record
from sagax._src.primitives import structural as s
from sagax._src.primitives.arithmetic import mul, sub
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import le, lt
from sagax._src.primitives.cumulative import cumsum
from sagax._src.primitives.dot_algorithms import canonical_precision
from sagax._src.primitives.dot_general import (
    canonical_dimension_numbers,
    dot_general,
    dot_general_p,
)
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import broadcasted_iota, full
from sagax._src.primitives.unsupported import UnsupportedError

# ragged_dot ---------------------------------------------------------------------------------------


@record
class RaggedDotDimensionNumbers:
    """Assign the dimensions of `ragged_dot_general`: contracted, ragged, and of groups.

    `dot_dimension_numbers` are those of `dot_general`, `lhs_ragged_dimensions` holds the dimension of lhs that is
    split into groups, `rhs_group_dimensions` that of rhs with an entry for each group.
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]

    def __post_init__(self) -> None:
        canonical = canonical_dimension_numbers(self.dot_dimension_numbers)
        object.__setattr__(self, "dot_dimension_numbers", canonical)
        for name in ("lhs_ragged_dimensions", "rhs_group_dimensions"):
            object.__setattr__(self, name, tuple(map(int, getattr(self, name))))

    def __repr__(self) -> str:
        return (
            f"RaggedDotDimensionNumbers(dot_dimension_numbers={self.dot_dimension_numbers}, "
            f"lhs_ragged_dimensions={self.lhs_ragged_dimensions}, "
            f"rhs_group_dimensions={self.rhs_group_dimensions})"
        )


def _numbers(
    contracting: Any, batch: Any, ragged: Sequence[int], groups: Sequence[int]
) -> RaggedDotDimensionNumbers:
    return RaggedDotDimensionNumbers((contracting, batch), ragged, groups)


_ROWS = _numbers(((1,), (1,)), ((), ()), (0,), (0,))
_SIZES = np.array([2, 0, 3], np.int32)
_NO: dict[str, Any] = {"precision": None, "preferred_element_type": None}

ragged_dot_general_p = Primitive(
    "ragged_dot_general", family=WHOLE,
    samples=[
        Sample(f32(6, 2), f32(3, 2, 4), _SIZES, ragged_dot_dimension_numbers=_ROWS, **_NO),
        Sample(f32(2, 5, 3), f32(3, 2, 3, 2), np.stack([_SIZES, _SIZES[::-1]]),
               ragged_dot_dimension_numbers=_numbers(((2,), (2,)), ((0,), (1,)), (1,), (0,)), **_NO),
        Sample(f32(2, 5), f32(5, 3), _SIZES, ragged_dot_dimension_numbers=_numbers(((1,), (0,)), ((), ()), (1,), ()), **_NO),
        Sample(f32(5, 2, 3), f32(5, 3, 2), _SIZES, ragged_dot_dimension_numbers=_numbers(((2,), (1,)), ((0,), (0,)), (0,), ()), **_NO),
        Sample(bf16(6, 2), bf16(3, 2, 4), _SIZES, ragged_dot_dimension_numbers=_ROWS, precision=None,
               preferred_element_type=np.dtype(np.float32), derivatives=False),
    ],
)  # fmt: skip


@record
class _Ragged:
    """Resolve dimension numbers for operands of given ranks."""

    lhs_contract: tuple
    rhs_contract: tuple
    lhs_batch: tuple
    rhs_batch: tuple
    ragged: int
    group: int | None  # the group dimension of rhs
    kind: str  # of the ragged dimension: "free", "contracting" or "batch"
    outer: tuple  # dimensions of lhs over which the sizes of groups may differ

    @classmethod
    def of(cls, numbers: RaggedDotDimensionNumbers, lhs: ShapedArray, rhs: ShapedArray) -> _Ragged:
        (lc, rc), (lb, rb) = numbers.dot_dimension_numbers
        ragged = numbers.lhs_ragged_dimensions
        if len(ragged) != 1:
            raise ArgumentError(
                "ragged_dot_general expects exactly one lhs ragged dimension.",
                function="ragged_dot_general",
                argument="lhs_ragged_dimensions",
                got=ragged,
            )
        (r,) = ragged
        if not 0 <= r < lhs.ndim:
            raise ArgumentError(
                f"ragged dimension {r} of lhs does not exist",
                function="ragged_dot_general",
                argument="lhs_ragged_dimensions",
                got=lhs,
                expected=f"an array with more than {r} dimensions",
            )
        free = [d for d in range(lhs.ndim) if d not in lc and d not in lb]
        kind = "batch" if r in lb else "contracting" if r in lc else "free"
        own = {"batch": lb, "contracting": lc, "free": free}[kind]
        outer = (*(() if kind == "batch" else lb), *own[: list(own).index(r)])
        groups = numbers.rhs_group_dimensions
        if kind == "free" and len(groups) != 1:
            raise ArgumentError(
                "ragged_dot_general requires exactly one rhs group dimension when lhs ragged dimension is noncontracting.",
                function="ragged_dot_general",
                argument="rhs_group_dimensions",
                got=groups,
            )
        if kind != "free" and groups:
            raise ArgumentError(
                "ragged_dot_general requires zero group dimensions in the rhs when lhs ragged dimension is contracting or batch.",
                function="ragged_dot_general",
                argument="rhs_group_dimensions",
                got=groups,
            )
        if groups and not (0 <= groups[0] < rhs.ndim and groups[0] not in (*rc, *rb)):
            raise ArgumentError(
                f"rhs group dimension {groups[0]} must be a dimension of rhs that is neither contracting nor batch",
                function="ragged_dot_general",
                argument="rhs_group_dimensions",
                got=rhs,
            )
        return cls(lc, rc, lb, rb, r, groups[0] if groups else None, kind, outer)

    def without_groups(self, rhs: ShapedArray) -> tuple[ShapedArray, tuple]:
        """Return `rhs` without its group dimension, and the dimension numbers of the dense product."""
        numbers = ((self.lhs_contract, self.rhs_contract), (self.lhs_batch, self.rhs_batch))
        g = self.group
        if g is None:
            return rhs, numbers
        rc, rb = (tuple(d - (d > g) for d in ds) for ds in (self.rhs_contract, self.rhs_batch))
        shape = (*rhs.shape[:g], *rhs.shape[g + 1 :])
        return rhs.update(shape=shape), ((self.lhs_contract, rc), (self.lhs_batch, rb))


@ragged_dot_general_p.abstract
def _(
    lhs: ShapedArray,
    rhs: ShapedArray,
    sizes: ShapedArray,
    *,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
) -> ShapedArray:
    function = "ragged_dot_general"
    if not dtype_predicates.is_integer(sizes.dtype):
        raise DtypeError(
            "ragged_dot_general requires that group_sizes.dtype is subtype of np.integer.",
            function=function,
            argument="group_sizes",
            got=sizes,
            expected="integers",
        )
    parts = _Ragged.of(ragged_dot_dimension_numbers, lhs, rhs)
    dense, numbers = parts.without_groups(rhs)
    product = dot_general_p.abstract_eval(
        (lhs, dense),
        {
            "dimension_numbers": numbers,
            "precision": precision,
            "preferred_element_type": preferred_element_type,
        },
    )
    if sizes.ndim == 0:
        raise ShapeError.about(function, "group_sizes", sizes, "at least one dimension")
    count = sizes.shape[-1]
    expected_shape = tuple(lhs.shape[d] for d in parts.outer)
    if sizes.ndim != 1 and not dims.same_shape(sizes.shape[:-1], expected_shape):
        raise ShapeError(
            "expected group_sizes to have a size for each group, and for each element of the dimensions outside the ragged one",
            function=function,
            argument="group_sizes",
            got=sizes,
            expected=f"shape {(count,)} or {(*expected_shape, count)}",
        )
    if parts.group is not None and not dims.same(rhs.shape[parts.group], count):
        raise ShapeError(
            f"expected rhs group dimension size to be {count}, got {rhs.shape[parts.group]}.",
            function=function,
            argument="rhs",
            got=rhs,
            expected=f"size {count} along dimension {parts.group}, as group_sizes has",
        )
    shape = (count, *product.shape) if parts.kind == "contracting" else product.shape
    return intern_aval(shape, product.dtype, False, None)


@ragged_dot_general_p.show
def _(*, ragged_dot_dimension_numbers: Any, precision: Any, preferred_element_type: Any) -> dict:
    return {
        "group_offset": None,
        "out_sharding": None,
        "precision": precision,
        "preferred_element_type": preferred_element_type,
        "ragged_dot_dimension_numbers": ragged_dot_dimension_numbers,
    }


def _in_groups(x: Any, ragged: int, outer: Sequence[int], sizes: Any) -> Any:
    """Copy `x` for each group, along a new leading dimension, with zeros outside of the group."""
    aval, sizes_aval = aval_of(x), aval_of(sizes)
    count = sizes_aval.shape[-1]
    shape = (count, *aval.shape)
    ends = cumsum(sizes, sizes_aval.ndim - 1)
    starts = sub(ends, sizes)
    along = (*(d + 1 for d in outer), 0) if sizes_aval.ndim > 1 else (0,)
    order = sorted(range(len(along)), key=along.__getitem__)
    starts, ends = (
        s.broadcast_in_dim(s.transpose(v, order), shape, tuple(sorted(along)))
        for v in (starts, ends)
    )
    index = broadcasted_iota(sizes_aval.dtype, shape, ragged + 1)
    inside = bitwise_and(le(starts, index), lt(index, ends))
    copies = s.broadcast_in_dim(x, shape, tuple(range(1, aval.ndim + 1)))
    return select_n(inside, full(shape, 0, aval.dtype), copies)


@ragged_dot_general_p.reference
def _(
    lhs: np.ndarray,
    rhs: np.ndarray,
    sizes: np.ndarray,
    *,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
) -> np.ndarray:
    # group by group: elements outside of the group are zero
    parts = _Ragged.of(ragged_dot_dimension_numbers, aval_of(lhs), aval_of(rhs))
    dense, numbers = parts.without_groups(aval_of(rhs))
    ends = np.cumsum(sizes, -1)
    index = np.arange(lhs.shape[parts.ragged])
    products = []
    for g in range(sizes.shape[-1]):
        inside = ((ends - sizes)[..., g, None] <= index) & (index < ends[..., g, None])
        along = (*parts.outer, parts.ragged) if sizes.ndim > 1 else (parts.ragged,)
        spread = [lhs.shape[d] if d in along else 1 for d in range(lhs.ndim)]
        mask = np.transpose(inside, np.argsort(np.argsort(along))).reshape(spread)
        matrix = rhs if parts.group is None else np.take(rhs, g, parts.group)
        products.append(
            dot_general_p.rule("reference")(
                np.where(mask | (parts.kind == "batch"), lhs, np.zeros((), lhs.dtype)),
                matrix,
                dimension_numbers=numbers,
                precision=precision,
                preferred_element_type=preferred_element_type,
            )
        )
    if parts.kind == "batch":
        return products[0]
    return np.stack(products) if parts.kind == "contracting" else np.sum(products, 0)


@ragged_dot_general_p.composite
def _(
    lhs: Any,
    rhs: Any,
    sizes: Any,
    *,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    parts = _Ragged.of(ragged_dot_dimension_numbers, aval_of(lhs), aval_of(rhs))
    out = preferred_element_type
    lc, rc, lb, rb = parts.lhs_contract, parts.rhs_contract, parts.lhs_batch, parts.rhs_batch

    def up(numbers: Sequence[int]) -> tuple:
        return tuple(d + 1 for d in numbers)

    if parts.kind == "batch":
        return dot_general(lhs, rhs, ((lc, rc), (lb, rb)), precision, out)
    left = _in_groups(lhs, parts.ragged, parts.outer, sizes)
    if parts.kind == "free":
        numbers = (((*up(lc), 0), (*rc, parts.group)), (up(lb), rb))
        return dot_general(left, rhs, numbers, precision, out)
    partner = dict(zip((*lc, *lb), (*rc, *rb), strict=True))
    outer = [partner[d] for d in parts.outer]
    right = _in_groups(rhs, partner[parts.ragged], outer, sizes)
    numbers = ((up(lc), up(rc)), ((0, *up(lb)), (0, *up(rb))))
    return dot_general(left, right, numbers, precision, out)


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Multiply arrays with one dimension split into groups of `group_sizes` elements.

    With g groups and, by `ragged_dot_dimension_numbers`, batch dimensions b, contracting ones k and
    others m and n, the ragged dimension of lhs is

    - one of m: each group of rows has its own rhs. `[b, m, k], [g, b, k, n] -> [b, m, n]`.
    - one of k: each group is summed by itself. `[b, m, k], [b, k, n] -> [g, b, m, n]`.
    - one of b: nothing but the dense product. `[b, m, k], [b, k, n] -> [b, m, n]`.

    The result is sharded by `out_sharding`. `group_sizes` are integers of shape (g,), or (..., g) with the batch
    dimensions and those before the ragged one. Elements beyond the last group count as zero.

    Raises ShapeError if sizes differ, ArgumentError if dimension numbers are invalid, and UnsupportedError for a
    `group_offset`.

    >>> numbers = lax.RaggedDotDimensionNumbers((((1,), (0,)), ((), ())), [1], [])
    >>> x = np.ones((1, 3), np.float32)
    >>> lax.ragged_dot_general(x, x.T, np.array([1, 2]), numbers).ravel()
    Array([1., 2.], dtype=float32)
    """
    if group_offset is not None:
        raise UnsupportedError(
            "a group_offset is not supported",
            function="ragged_dot_general",
            argument="group_offset",
            got=group_offset,
            expected="None",
            fix="pass the sizes of the groups from the offset on, and the rows that belong to them",
        )
    if preferred_element_type is not None:
        preferred_element_type = dtype_predicates.requested(
            preferred_element_type, "ragged_dot_general"
        )
    precision = canonical_precision(precision, "ragged_dot_general")

    def op(*operands: Any) -> Any:
        return ragged_dot_general_p.bind(
            *operands,
            ragged_dot_dimension_numbers=ragged_dot_dimension_numbers,
            precision=precision,
            preferred_element_type=preferred_element_type,
        )

    return with_out_sharding("ragged_dot_general", op, (lhs, rhs, group_sizes), out_sharding)


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Multiply each group of rows of `lhs` with the matrix of its group.

    `lhs` has shape (m, k), `rhs` (g, k, n) and `group_sizes`, integers, (g,); the result (m, n). Rows
    beyond the last group give zeros. Arguments and errors are those of `ragged_dot_general`.

    >>> experts = np.array([[[1.0]], [[10.0]]], np.float32)
    >>> lax.ragged_dot(np.ones((3, 1), np.float32), experts, np.array([1, 2])).ravel()
    Array([ 1., 10., 10.], dtype=float32)
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS, precision, preferred_element_type, group_offset, out_sharding
    )


# scaled_dot ---------------------------------------------------------------------------------------

_MATRICES = (((1,), (0,)), ((), ()))
_F8 = np.dtype(ml_dtypes.float8_e4m3fn)
_SCALE = np.dtype(ml_dtypes.float8_e8m0fnu)

scaled_dot_p = Primitive(
    "scaled_dot", family=WHOLE,
    samples=[
        Sample(f32(3, 8), f32(8, 2), f32(3, 2, low=0.5), f32(4, 2, low=0.5), dimension_numbers=_MATRICES,
               preferred_element_type=np.dtype(np.float32)),
        Sample(f32(2, 3, 4), f32(2, 4, 2), f32(2, 3, 2, low=0.5), f32(2, 1, 2, low=0.5),
               dimension_numbers=(((2,), (1,)), ((0,), (0,))), preferred_element_type=np.dtype(np.float32)),
        Sample(Spec((3, 8), _F8), Spec((8, 2), _F8), Spec((3, 2), _SCALE, 0.5, 4), Spec((4, 2), _SCALE, 0.5, 4),
               dimension_numbers=_MATRICES, preferred_element_type=np.dtype(dtypes.bfloat16), derivatives=False),
    ],
)  # fmt: skip


@scaled_dot_p.abstract
def _(
    lhs: ShapedArray,
    rhs: ShapedArray,
    lhs_scale: ShapedArray,
    rhs_scale: ShapedArray,
    *,
    dimension_numbers: tuple,
    preferred_element_type: Any,
) -> ShapedArray:
    (lc, rc), _ = dimension_numbers
    product = dot_general_p.abstract_eval(
        (lhs, rhs),
        {
            "dimension_numbers": dimension_numbers,
            "precision": None,
            "preferred_element_type": preferred_element_type,
        },
    )
    for side, x, scale, contracted in (
        ("lhs", lhs, lhs_scale, lc),
        ("rhs", rhs, rhs_scale, rc),
    ):
        _check_scale(side, x, scale, contracted)
    return product.strip_weak_type()


def _check_scale(side: str, x: ShapedArray, scale: ShapedArray, contracted: tuple) -> None:
    error = ShapeError(
        f"the scale of {side} has another size than {side} in a dimension that is not contracted",
        function="scaled_dot",
        argument=f"{side}_scale",
        got=scale,
        expected=f"{x.shape}, with sizes that divide those of dimensions {contracted}",
    )
    if scale.ndim != x.ndim:
        raise error
    for d in range(x.ndim):
        size, part = x.shape[d], scale.shape[d]
        if d not in contracted:
            if not dims.same(size, part):
                raise error
        elif part == 0 or size % part:
            raise ShapeError(
                f"{side.upper()} contracting dim {d} of size {size} must be divisible by its scale's dim size {part}.",
                function="scaled_dot",
                argument=f"{side}_scale",
                got=scale,
            )
        elif size < 2 * part:
            raise ShapeError(
                f"The ratio of {side.upper()} contracting dim {d} to its scale's dim size ({size // part}) must be at least 2.",
                function="scaled_dot",
                argument=f"{side}_scale",
                got=scale,
            )


def _scaled(x: Any, scale: Any, dtype: Any) -> Any:
    """Scale `x` by blocks: each element of its scale applies to several of `x`."""
    shape, sizes = aval_of(x).shape, aval_of(scale).shape
    parts = [n for pair in zip(sizes, shape, strict=True) for n in (pair[0], pair[1] // pair[0])]
    spread = s.broadcast_in_dim(scale, tuple(parts), tuple(range(0, len(parts), 2)))
    return mul(s.convert(x, dtype), s.convert(s.reshape(spread, shape), dtype))


@scaled_dot_p.reference
def _(
    lhs: np.ndarray,
    rhs: np.ndarray,
    lhs_scale: np.ndarray,
    rhs_scale: np.ndarray,
    *,
    dimension_numbers: tuple,
    preferred_element_type: Any,
) -> np.ndarray:
    factors = []
    for x, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        for d in range(x.ndim):
            scale = np.repeat(scale, x.shape[d] // scale.shape[d], d)
        factors.append(x.astype(preferred_element_type) * scale.astype(preferred_element_type))
    return dot_general_p.rule("reference")(
        *factors,
        dimension_numbers=dimension_numbers,
        precision=None,
        preferred_element_type=preferred_element_type,
    )


@scaled_dot_p.composite
def _(
    lhs: Any,
    rhs: Any,
    lhs_scale: Any,
    rhs_scale: Any,
    *,
    dimension_numbers: tuple,
    preferred_element_type: Any,
) -> Any:
    dtype = preferred_element_type
    left, right = _scaled(lhs, lhs_scale, dtype), _scaled(rhs, rhs_scale, dtype)
    return dot_general(left, right, dimension_numbers, preferred_element_type=dtype)


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Multiply `lhs * lhs_scale` and `rhs * rhs_scale`, where a scale applies to a block of elements.

    Args:
      lhs, rhs: matrices, or stacks of them in three dimensions; other ranks need dimension numbers.
      lhs_scale, rhs_scale: as their operands, but with one element for each block along contracted dimensions.
          Its size there divides that of the operand at least twice. Without a scale the operand is not scaled.
      dimension_numbers: as in `dot_general`.
      preferred_element_type: the dtype of the computation and of the result, bfloat16 by default.

    Raises ShapeError if a scale has an invalid shape. It is computed as written; formats for microscaling are
    float8_e4m3fn for operands and float8_e8m0fnu for scales.

    >>> x, twice = np.ones((1, 4), np.float32), np.full((1, 2), 2.0, np.float32)
    >>> float(lax.scaled_dot(x, x.T, lhs_scale=twice)[0, 0])
    8.0
    """
    left, right = aval_of(lhs), aval_of(rhs)
    if min(left.ndim, right.ndim) < 2:
        raise ShapeError(
            "scaled_dot does not support 0-rank and 1-rank operands.",
            function="scaled_dot",
            got=f"{left.shape} and {right.shape}",
        )
    if dimension_numbers is None:
        if left.ndim != right.ndim or left.ndim > 3:
            raise ArgumentValueError(
                function="scaled_dot",
                argument="dimension_numbers",
                got=f"None, and operands of shapes {left.shape} and {right.shape}",
                expected="dimension numbers, unless both operands have two or three dimensions",
            )
        batch = tuple(range(left.ndim - 2))
        dimension_numbers = (((left.ndim - 1,), (left.ndim - 2,)), (batch, batch))
    dimension_numbers = canonical_dimension_numbers(dimension_numbers)
    dtype = dtype_predicates.requested(
        dtypes.bfloat16 if preferred_element_type is None else preferred_element_type, "scaled_dot"
    )
    (lc, rc), _ = dimension_numbers
    scales = [
        _no_scale(aval, contracted) if scale is None else scale
        for aval, scale, contracted in ((left, lhs_scale, lc), (right, rhs_scale, rc))
    ]
    return scaled_dot_p.bind(
        lhs, rhs, *scales, dimension_numbers=dimension_numbers, preferred_element_type=dtype
    )


def _no_scale(x: ShapedArray, contracted: tuple) -> Any:
    return full([1 if d in contracted else n for d, n in enumerate(x.shape)], 1, _SCALE)
