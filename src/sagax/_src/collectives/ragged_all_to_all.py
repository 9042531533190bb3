"""Define `ragged_all_to_all`: exchange slices of unequal sizes along a named axis."""

from __future__ import annotations

from typing import Any

from sagax._src.collectives.collectives import all_gather, axis_index, axis_size
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, ShapeError
from sagax._src.primitives import structural as s
from sagax._src.primitives.arithmetic import add, mul, sub
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import le, lt
from sagax._src.primitives.gathering import GatherDimensionNumbers, GatherScatterMode, gather
from sagax._src.primitives.reductions import reduce_max
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import broadcasted_iota, full
from sagax._src.primitives.slicing import dynamic_slice_in_dim

_API_NAME = "ragged_all_to_all"


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Any:
    """Send slices of `operand` to all examples, and write the received slices into `output`.

    With n examples along the axis, each sends k = K / n slices to every one: the first k to the
    first example, and so on.

    Args:
      operand: shape (N, ...); slices along the leading dimension are sent.
      output: shape (M, ...); received slices are written into it.
      input_offsets, send_sizes: integers of shape (K,): the start and the length of each slice.
      output_offsets: integers of shape (K,): the start of each slice in the output of its receiver.
      recv_sizes: integers of shape (K,): the lengths of received slices, which must agree with the
        `send_sizes` of the senders.

    Raises ShapeError, DtypeError or ArgumentValueError if these do not fit each other.

    >>> one, ones = snp.zeros((2, 2), int), snp.ones((2, 2), int)
    >>> x = snp.array([[1, 2], [3, 4]])
    >>> starts, places = snp.array([[0, 1]] * 2), snp.array([[0] * 2, [1] * 2])
    >>> sagax.vmap(lambda *a: lax.ragged_all_to_all(*a, axis_name="i"), axis_name="i")(
    ...     x, one, starts, ones, places, ones)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if axis_index_groups is not None:
        raise ArgumentValueError(
            "axis_index_groups are not supported",
            function=_API_NAME,
            argument="axis_index_groups",
            got=axis_index_groups,
            expected="None",
        )
    _check_operands(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes)
    n, count = axis_size(axis_name), aval_of(input_offsets).shape[0]
    if count % n:
        raise ShapeError(
            function=_API_NAME,
            argument="input_offsets",
            got=input_offsets,
            expected=f"a length divisible by {n}, the size of axis {axis_name!r}",
        )
    per, here = count // n, axis_index(axis_name)
    length, rows = aval_of(output).shape[0], aval_of(operand).shape[0]

    def arriving(numbers: Any) -> Any:
        """Return the entries for slices sent here, as int32 of shape (n * per, length)."""
        everything = all_gather(s.convert(numbers, dtypes.int32), axis_name)
        mine = dynamic_slice_in_dim(everything, mul(here, per), per, 1)
        return s.broadcast_in_dim(s.reshape(mine, (n * per,)), (n * per, length), (0,))

    starts, sizes, offsets = map(arriving, (input_offsets, send_sizes, output_offsets))
    shape = (n * per, length)
    row = broadcasted_iota(dtypes.int32, shape, 1)
    covered = bitwise_and(le(offsets, row), lt(row, add(offsets, sizes)))
    # where slices overlap, the last one wins
    slot = broadcasted_iota(dtypes.int32, shape, 0)
    nothing = full(shape, -1, dtypes.int32)
    winner = reduce_max(select_n(covered, nothing, slot), (0,))
    wins = s.broadcast_in_dim(winner, shape, (1,))
    sender = broadcasted_iota(dtypes.int32, (n, per, length), 0)
    source = add(mul(s.reshape(sender, shape), rows), add(starts, sub(row, offsets)))
    chosen = bitwise_and(le(slot, wins), le(wins, slot))
    index = reduce_max(select_n(chosen, nothing, source), (0,))
    item = aval_of(operand).shape[1:]
    everything = s.reshape(all_gather(operand, axis_name), (n * rows, *item))
    numbers = GatherDimensionNumbers(tuple(range(1, len(item) + 1)), (0,), (0,))
    taken = gather(
        everything,
        s.reshape(index, (length, 1)),
        numbers,
        (1, *item),
        mode=GatherScatterMode.CLIP,
    )
    written = s.broadcast_in_dim(
        lt(full((length,), -1, dtypes.int32), winner), (length, *item), (0,)
    )
    return select_n(written, output, taken)


def _check_operands(operand: Any, output: Any, *numbers: Any) -> None:
    x, y = aval_of(operand), aval_of(output)
    if x.ndim == 0 or y.ndim == 0 or not dims.same_shape(x.shape[1:], y.shape[1:]):
        raise ShapeError.about(
            _API_NAME, "output", y, f"the shape of operand, {x.shape}, but for its leading size"
        )
    if x.dtype != y.dtype:
        raise DtypeError.about(_API_NAME, "output", y, f"dtype {dtypes.name(x.dtype)}, as operand")
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    for name, value in zip(names, numbers, strict=True):
        aval = aval_of(value)
        if not dtype_predicates.is_integer(aval.dtype):
            raise DtypeError(
                f"ragged_all_to_all {name} must be integer type.",
                function=_API_NAME,
                argument=name,
                got=aval,
                expected="integers",
            )
        if aval.ndim != 1 or aval.shape[0] == 0 or aval.shape != aval_of(numbers[0]).shape:
            raise ShapeError(
                function=_API_NAME,
                argument=name,
                got=aval,
                expected="a vector with an entry for each slice, as long as input_offsets",
            )
