"""Programs that slice, join, gather and scatter, for both sides of the comparison with the oracle.

Each is a function of the module `lax` and of operands. `tests/oracle/slicing.py` runs them with
jax; `primitives/test_shaping_slicing.py` and `primitives/test_gather_scatter.py` run them with sagax and compare.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """`fun(lax, *operands)`; `derivative` says whether it has one.

    It is also vmapped, once for each tuple of in_axes in `maps`.
    """

    fun: Callable[..., Any]
    operands: tuple
    derivative: bool = True
    maps: tuple = ()


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Different small numbers that sums and products of narrow types hold exactly."""
    size = int(np.prod(shape, dtype=int))
    values = (np.arange(size) * 7) % max(size, 1) - size // 3
    values = values.reshape(shape)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[..., ::-1] if shape else values).astype(dtype)
    return (values / 4 if np.dtype(dtype).kind == "f" else values).astype(dtype)


def directions(name: str, arrays: list) -> list:
    """A tangent for each array, the same in every run."""
    out = []
    for i, x in enumerate(map(np.asarray, arrays)):
        seed = zlib.crc32(f"{name}/{i}".encode())
        values = (np.arange(x.size, dtype=np.uint64) * 2654435761 + seed) % 97
        out.append(((values.astype(np.float64) - 48) / 8).reshape(x.shape).astype(x.dtype))
    return out


def inexact(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


X = numbers(3, 4)
I32 = np.int32
_rows = np.array([[1], [-1], [0], [5], [1]], I32)


def _iota(dtype: Any, shape: tuple, dimension: int) -> Case:
    return Case(lambda lax: lax.broadcasted_iota(dtype, shape, dimension), (), False)


def _full(value: Any, dtype: Any = None) -> Case:
    return Case(lambda lax: lax.full((2, 2), value, dtype), (), False)


def _pad(x: np.ndarray, config: Any) -> Case:
    scalar = np.asarray(9, x.dtype)[()]
    return Case(lambda lax, x, v: lax.pad(x, v, config), (x, scalar), maps=((0, None), (None, 0)))


SHAPING = {
    "concatenate": Case(
        lambda lax, x, y: lax.concatenate([x, y, x], 1),
        (X, numbers(3, 2)),
        maps=((0, None), (None, 0), (0, 2)),
    ),
    "concatenate bool": Case(
        lambda lax, x: lax.concatenate([x, x], 0), (np.array([True, False]),), False
    ),
    "concatenate empty": Case(
        lambda lax, x, y: lax.concatenate([x, y], 0), (X[:0], X[:0]), maps=((0, 1),)
    ),
    "split": Case(lambda lax, x: lax.split(x, (1, 0, 3), 1), (X,), maps=((0,), (2,))),
    "split negative axis": Case(lambda lax, x: lax.split(x, [1, 2], -2), (X,), maps=((1,),)),
    "stack": Case(lambda lax, x, y: lax.stack([x, y], 1), (X, X + 1), maps=((0, None), (1, 2))),
    "stack last": Case(lambda lax, x, y: lax.stack([x, y], -1), (X, X + 1), maps=((2, 0),)),
    "unstack": Case(lambda lax, x: lax.unstack(x, 1), (X,), maps=((0,), (2,))),
    "tile": Case(lambda lax, x: lax.tile(x, (2, 3)), (X,), maps=((0,), (1,))),
    "tile zero": Case(lambda lax, x: lax.tile(x, (0, 1)), (X,)),
    "rev": Case(lambda lax, x: lax.rev(x, (1,)), (X,), maps=((0,), (1,))),
    "rev complex": Case(lambda lax, x: lax.rev(x, (0, 1)), (numbers(2, 2, dtype=np.complex64),)),
    "iota": _iota(I32, (4,), 0),
    "iota rows": _iota(np.float32, (2, 3), 0),
    "iota wraps": _iota(np.int8, (300,), 0),
    "iota rounds": _iota(np.float16, (2100,), 0),
    "iota complex": _iota(np.complex64, (2, 2), 1),
    "full": _full(7.5),
    "full int": _full(7),
    "full bool": _full(True),
    "full truncates": _full(-1.7, np.int32),
    "full saturates": _full(-1.7, np.uint8),
    "full wraps": _full(300, np.int8),
    "full unsigned": _full(-1, np.uint32),
    "full high": _full(2**31, np.uint32),
    "full nan": _full(float("nan"), np.int32),
    "full to bool": _full(3, bool),
    "full array": Case(lambda lax, v: lax.full((2,), v), (np.float32(2.5),), maps=((0,),)),
    "full_like": Case(lambda lax, x: lax.full_like(x, 3), (X,), False),
    "full_like other": Case(
        lambda lax, x: lax.full_like(x, 3.7, dtype=np.int32, shape=(2,)), (X,), False
    ),
    "broadcast_to_rank": Case(lambda lax, x: lax.broadcast_to_rank(x, 4), (X,)),
    "broadcast_like": Case(lambda lax, x, y: lax.broadcast_like(x, y), (X[0], X)),
    "collapse": Case(lambda lax, x: lax.collapse(x, 0, 2), (numbers(2, 3, 2),)),
    "collapse rest": Case(lambda lax, x: lax.collapse(x, -2), (numbers(2, 3, 2),)),
    "collapse none": Case(lambda lax, x: lax.collapse(x, 1, 1), (X,)),
}

SLICING = {
    "slice": Case(lambda lax, x: lax.slice(x, (1, 0), (3, 3)), (X,), maps=((0,), (1,))),
    "slice strided": Case(
        lambda lax, x: lax.slice(x, (0, 1), (3, 4), (2, 2)), (X,), maps=((0,), (2,))
    ),
    "slice nothing": Case(lambda lax, x: lax.slice(x, (2, 1), (2, 4), (3, 2)), (X,)),
    "slice beyond": Case(lambda lax, x: lax.slice(x, (0,), (7,), (3,)), (numbers(8),)),
    "slice_in_dim": Case(lambda lax, x: lax.slice_in_dim(x, -3, -1, axis=1), (X,)),
    "slice_in_dim all": Case(lambda lax, x: lax.slice_in_dim(x, None, None, 2, 1), (X,)),
    "index_in_dim": Case(lambda lax, x: lax.index_in_dim(x, -1, 1), (X,)),
    "index_in_dim drops": Case(lambda lax, x: lax.index_in_dim(x, 2, 1, False), (X,)),
    "pad": _pad(X, [(1, 2, 0), (0, 1, 0)]),
    "pad interior": _pad(X, [(0, 0, 1), (1, 1, 2)]),
    "pad negative": _pad(X, [(-1, 0, 0), (2, -3, 0)]),
    "pad negative interior": _pad(numbers(5), [(-2, 1, 2)]),
    "pad cuts more": _pad(numbers(3), [(-8, 3, 2)]),
    "pad removes all": _pad(numbers(2), [(-3, 4, 0)]),
    "pad removes all after": _pad(numbers(2), [(4, -3, 0)]),
    "pad leaves none": _pad(numbers(3), [(-2, -3, 1)]),
    "pad empty": _pad(numbers(0), [(2, 1, 3)]),
    "pad integers": Case(
        lambda lax, x: lax.pad(x, np.int8(1), [(1, -1, 1)]), (numbers(3, dtype=np.int8),), False
    ),
    "dynamic_slice": Case(
        lambda lax, x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)),
        (X, I32(1), I32(2)),
        maps=((0, None, None), (None, 0, None), (1, None, 0), (2, 0, 0)),
    ),
    "dynamic_slice clamped": Case(
        lambda lax, x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)),
        (X, I32(9), I32(-9)),
        maps=((None, 0, 0), (1, 0, None)),
    ),
    "dynamic_slice negative": Case(
        lambda lax, x, i: lax.dynamic_slice(x, (i, -2), (1, 2)), (X, I32(-1)), maps=((0, 0),)
    ),
    "dynamic_slice not from the end": Case(
        lambda lax, x, i: lax.dynamic_slice(x, (i, 1), (1, 2), allow_negative_indices=False),
        (X, I32(-1)),
    ),
    "dynamic_slice some from the end": Case(
        lambda lax, x, i: lax.dynamic_slice(
            x, (i, i), (1, 2), allow_negative_indices=(False, True)
        ),
        (X, I32(-2)),
    ),
    "dynamic_slice array": Case(
        lambda lax, x, i: lax.dynamic_slice(x, i, (1, 2)), (X, np.array([1, -2])), maps=((None, 0),)
    ),
    "dynamic_slice uint8": Case(
        lambda lax, x, i: lax.dynamic_slice(x, i, (1, 2)), (X, np.array([250, 1], np.uint8))
    ),
    "dynamic_slice int8": Case(
        lambda lax, x, i: lax.dynamic_slice(x, i, (1, 2)), (X, np.array([-1, -128], np.int8))
    ),
    "dynamic_slice scalar": Case(lambda lax, x: lax.dynamic_slice(x, (), ()), (np.float32(3),)),
    "dynamic_slice nothing": Case(
        lambda lax, x, i: lax.dynamic_slice(x, (i, 0), (0, 2)), (X, I32(1)), maps=((0, 0),)
    ),
    "dynamic_slice_in_dim": Case(
        lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 2, -1), (X, I32(-3)), maps=((1, 0),)
    ),
    "dynamic_index_in_dim": Case(
        lambda lax, x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims=False),
        (X, I32(-1)),
        maps=((0, 0), (None, 0)),
    ),
    "dynamic_update_slice": Case(
        lambda lax, x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
        (X, numbers(2, 2) + 50, I32(1), I32(3)),
        maps=(
            (0, None, None, None),
            (None, 0, None, None),
            (None, None, 0, None),
            (1, 2, None, 0),
            (2, 1, 0, 0),
        ),
    ),
    "dynamic_update_slice negative": Case(
        lambda lax, x, u, i: lax.dynamic_update_slice(x, u, (i, -9)),
        (X, numbers(1, 3) + 50, I32(-1)),
        maps=((0, 0, 0),),
    ),
    "dynamic_update_slice_in_dim": Case(
        lambda lax, x, u, i: lax.dynamic_update_slice_in_dim(x, u, i, 1),
        (X, numbers(3, 2) + 50, I32(2)),
        maps=((0, None, 0),),
    ),
    "dynamic_update_index_in_dim": Case(
        lambda lax, x, u, i: lax.dynamic_update_index_in_dim(x, u, i, -2),
        (X, numbers(4) + 50, I32(-1)),
        maps=((None, 0, 0),),
    ),
}


def _gather(
    x: Any, indices: Any, numbers_: tuple, sizes: tuple, maps: Any = None, **how: Any
) -> Case:
    maps = ((0, None), (None, 0), (1, 1)) if maps is None else maps
    return Case(
        lambda lax, x, i: lax.gather(x, i, lax.GatherDimensionNumbers(*numbers_), sizes, **how),
        (x, indices),
        inexact(x),
        maps,
    )


_ROWS = ((1,), (0,), (0,))
_WINDOWS = ((1,), (), (0,))
_BATCHED = ((), (1,), (1,), (0,), (0,))
_at = np.array([[3], [4], [-1], [0]], I32)

GATHER = {
    f"gather {mode}": _gather(X, _rows, _ROWS, (1, 4), mode=mode)
    for mode in ("clip", "fill", "promise_in_bounds", None)
} | {
    "gather fill value": _gather(X, _rows, _ROWS, (1, 4), mode="fill", fill_value=7),
    "gather fill int8": _gather(
        numbers(3, 2, dtype=np.int8), _rows, _ROWS, (1, 2), maps=(), mode="fill"
    ),
    "gather fill uint8": _gather(
        numbers(3, 2, dtype=np.uint8), _rows, _ROWS, (1, 2), maps=(), mode="fill"
    ),
    "gather fill bool": _gather(np.zeros((3, 2), bool), _rows, _ROWS, (1, 2), maps=(), mode="fill"),
    "gather fill complex": _gather(
        numbers(3, 2, dtype=np.complex64), _rows, _ROWS, (1, 2), maps=(), mode="fill"
    ),
    "gather fill wraps": _gather(
        numbers(3, 2, dtype=np.int8), _rows, _ROWS, (1, 2), maps=(), mode="fill", fill_value=300
    ),
    "gather fill truncates": _gather(
        numbers(3, 2, dtype=np.int32), _rows, _ROWS, (1, 2), maps=(), mode="fill", fill_value=7.5
    ),
    "gather windows clip": _gather(numbers(5), _at, _WINDOWS, (2,), mode="clip"),
    "gather windows fill": _gather(numbers(5), _at, _WINDOWS, (2,), mode="fill"),
    "gather batched": _gather(X, np.array([[0], [3], [4]], I32), _BATCHED, (1, 1), mode="fill"),
    "gather points": _gather(
        X, np.array([[[1, 2], [0, 0]], [[2, -1], [7, 1]]], I32), ((), (0, 1), (0, 1)), (1, 1)
    ),
    "gather swapped": _gather(
        numbers(2, 3, 4),
        np.array([[1, 0], [2, 1], [9, 0]], I32),
        ((0, 2), (1,), (2, 0)),
        (1, 1, 2),
        mode="fill",
        fill_value=0.5,
    ),
    "gather nothing indexed": _gather(X, np.zeros((2, 0), I32), ((1, 2), (), ()), (2, 3), maps=()),
    "gather no indices": _gather(X, np.zeros((0, 1), I32), _ROWS, (1, 4)),
    "gather uint8": _gather(
        numbers(300),
        np.array([[200], [255]], np.uint8),
        ((), (0,), (0,)),
        (1,),
        maps=(),
        mode="fill",
    ),  # fmt: skip
    "gather uint32": _gather(
        numbers(300),
        np.array([[200], [2**32 - 1]], np.uint32),
        ((), (0,), (0,)),
        (1,),
        maps=(),
        mode="clip",
    ),  # fmt: skip
    "gather int8": _gather(
        numbers(300), np.array([[100], [-1]], np.int8), ((), (0,), (0,)), (1,), maps=(), mode="fill"
    ),  # fmt: skip
    "index_take": Case(
        lambda lax, x, i, j: lax.index_take(x, [i, j], (0, 2)),
        (numbers(2, 3, 4), np.array([0, 3, -1]), np.array([5, -2, 1])),
    ),
}

_updates = numbers(5, 4) * 2 + 1
_scatter_maps = ((0, None, None), (None, 0, None), (None, None, 0), (1, 1, -1))


def _scatter(
    op: str, x: Any, indices: Any, updates: Any, numbers_: tuple, derivative: Any = True,
    maps: tuple = _scatter_maps, **how: Any,
) -> Case:  # fmt: skip
    def fun(lax: Any, x: Any, i: Any, u: Any) -> Any:
        return getattr(lax, op)(x, i, u, lax.ScatterDimensionNumbers(*numbers_), **how)

    return Case(fun, (x, indices, updates), derivative, maps)


_unique = np.array([[1], [-1], [0], [5], [7]], I32)
_ties_x = np.array([1, 2, 2, 3, 5, 6], np.float32)
_ties_i = np.array([[1], [2], [2], [3], [4], [9], [5], [5]], I32)
_ties_u = np.array([5, 2, 2, 1, 9, 3, 7, 7], np.float32)
_nan_x = np.where(_ties_x == 3, np.nan, _ties_x).astype(np.float32)
_nan_u = np.where(_ties_u == 9, np.nan, _ties_u).astype(np.float32)
_POINTS = ((), (0,), (0,))

SCATTER = {
    f"{op} {mode}": _scatter(op, X, _rows, _updates, _ROWS, mode=mode)
    for op in ("scatter", "scatter_add", "scatter_sub", "scatter_min", "scatter_max")
    for mode in ("clip", "drop", "promise_in_bounds", None)
} | {
    f"{op} unique": _scatter(op, X, _unique, _updates, _ROWS, unique_indices=True)
    for op in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
} | {
    "scatter_mul": _scatter("scatter_mul", X, _rows, _updates, _ROWS, False),
    "scatter one_hot": _scatter("scatter", X, _rows, _updates, _ROWS, False, mode="one_hot"),
    "scatter_max ties": _scatter("scatter_max", _ties_x, _ties_i, _ties_u, _POINTS),
    "scatter_min ties": _scatter("scatter_min", _ties_x, _ties_i, _ties_u, _POINTS),
    "scatter_max nan": _scatter("scatter_max", _nan_x, _ties_i, _nan_u, _POINTS),
    "scatter_min nan": _scatter("scatter_min", _nan_x, _ties_i, _nan_u, _POINTS),
    "scatter windows drop": _scatter("scatter", numbers(5), _at, numbers(4, 2) + 20, _WINDOWS),
    "scatter_add windows": _scatter("scatter_add", numbers(5), _at, numbers(4, 2), _WINDOWS),
    "scatter_add windows clip": _scatter(
        "scatter_add", numbers(5), _at, numbers(4, 2), _WINDOWS, mode="clip"
    ),
    "scatter_add batched": _scatter(
        "scatter_add", X, np.array([[0], [3], [4]], I32), numbers(3), _BATCHED
    ),
    "scatter batched": _scatter("scatter", X, np.array([[0], [3], [4]], I32), numbers(3), _BATCHED),
    "scatter points": _scatter(
        "scatter", X, np.array([[[1, 2], [0, 0]], [[2, -1], [1, 2]]], I32), numbers(2, 2),
        ((), (0, 1), (0, 1)),
    ),  # fmt: skip
    "scatter swapped": _scatter(
        "scatter_add", numbers(2, 3, 4), np.array([[1, 0], [2, 1], [9, 0]], I32), numbers(1, 3, 2),
        ((0, 2), (1,), (2, 0)),
    ),  # fmt: skip
    "scatter no indices": _scatter(
        "scatter", X, np.zeros((0, 1), I32), np.zeros((0, 4), np.float32), _ROWS
    ),
    "scatter bool": _scatter(
        "scatter", np.zeros(3, bool), _rows, np.ones(5, bool), _POINTS, False, ()
    ),
    "scatter_max bool": _scatter(
        "scatter_max", np.zeros(3, bool), _rows, np.ones(5, bool), _POINTS, False, ()
    ),
    "scatter_add int8": _scatter(
        "scatter_add", numbers(300, dtype=np.int8), np.array([[100], [100], [-1]], np.int8),
        np.array([100, 100, 100], np.int8), _POINTS, False, (),
    ),  # fmt: skip
    "scatter uint8 clip": _scatter(
        "scatter", np.zeros(3, I32), np.array([[1], [255]], np.uint8), np.array([7, 8], I32),
        _POINTS, False, (), mode="clip",
    ),  # fmt: skip
    "scatter_add complex": _scatter(
        "scatter_add", numbers(3, dtype=np.complex64), _rows, numbers(5, dtype=np.complex64),
        _POINTS,
    ),
    "scatter complex": _scatter(
        "scatter", numbers(3, dtype=np.complex64), _rows, numbers(5, dtype=np.complex64), _POINTS,
    ),
    "scatter_apply": Case(
        lambda lax, x, i: lax.scatter_apply(
            x, i, lambda v: lax.mul(v, v), lax.ScatterDimensionNumbers(*_ROWS), update_shape=(5, 4)
        ),
        (X, _rows),
        False,
        ((0, None), (None, 0)),
    ),
}  # fmt: skip

CASES = SHAPING | SLICING | GATHER | SCATTER


def on_inexact(fun: Callable[..., Any], operands: tuple) -> tuple[Callable[..., Any], list]:
    """`fun` as a function of those operands that have derivatives, and these operands."""

    def of_some(*values: Any) -> Any:
        given = iter(values)
        return fun(*[next(given) if inexact(x) else x for x in operands])

    return of_some, [x for x in operands if inexact(x)]


def mapped(case: Case, in_axes: tuple) -> tuple:
    """The operands with three examples along the mapped axes."""
    out = []
    for k, (x, axis) in enumerate(zip(case.operands, in_axes, strict=True)):
        if axis is None:
            out.append(x)
            continue
        x = np.asarray(x)
        examples = [x, np.roll(x, 1), x[::-1] if x.ndim else np.asarray(x - k, x.dtype)]
        out.append(np.stack(examples, axis))
    return tuple(out)
