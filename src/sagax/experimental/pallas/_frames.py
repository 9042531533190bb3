"""Know the indices of the program while its kernel is traced."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from sagax._src.argument_checks import checks
from sagax._src.collectives.collectives import axis_index_p
from sagax._src.core import trace as traces
from sagax._src.core.trace import AxisTrace, NamedAxis
from sagax._src.diagnostics.errors import ArgumentValueError


class Frame:
    """The grid of the kernel that is traced, and the indices of its program."""

    __slots__ = ("grid", "ids", "kernel", "names")

    def __init__(
        self, kernel: str, grid: Sequence[Any], ids: Sequence[Any], names: tuple = ()
    ) -> None:
        self.kernel, self.grid, self.ids, self.names = kernel, tuple(grid), tuple(ids), names


class _GridTrace(AxisTrace):
    """Let `axis_index` give the indices of a program along the named axes of its grid."""

    __slots__ = ("ids",)

    def __init__(self, parent: Any, frame: Frame) -> None:
        sizes = zip(frame.names, frame.grid, strict=True)
        super().__init__(parent, [NamedAxis(name, n) for name, n in sizes])
        self.ids = dict(zip(frame.names, frame.ids, strict=True))

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        if primitive is axis_index_p and params["axis_name"] in self.ids:
            return self.ids[params["axis_name"]]
        return super().process(primitive, args, params)


class _Frames(threading.local):
    def __init__(self) -> None:
        self.stack: list[Frame] = []


_frames = _Frames()


@contextlib.contextmanager
def entered(frame: Frame) -> Iterator[None]:
    """Let `program_id` give the indices of `frame`."""
    _frames.stack.append(frame)
    try:
        if frame.names:
            with traces.entered(_GridTrace(traces.state.trace, frame)):
                yield
        else:
            yield
    finally:
        _frames.stack.pop()


def current(function: str) -> Frame:
    """Return the frame of the kernel that is traced."""
    if not _frames.stack:
        raise ArgumentValueError(
            f"{function} is called outside of a kernel, where there is no grid",
            function=function,
            fix="call it in the function that is passed to pallas_call",
        )
    return _frames.stack[-1]


def inside_kernel() -> bool:
    """Return whether a kernel is being traced."""
    return bool(_frames.stack)


def _axis(function: str, axis: Any) -> tuple[Frame, int]:
    frame = current(function)
    if isinstance(axis, str) and axis in frame.names:
        axis = frame.names.index(axis)
    axis = checks.integer(function, "axis", axis, "an int")
    if not 0 <= axis < len(frame.grid):
        raise ArgumentValueError(
            f"Axis {axis} is out of bounds for grid {frame.grid}",
            function=function,
            argument="axis",
            got=axis,
            expected=f"an axis from 0 to {len(frame.grid) - 1}"
            if frame.grid
            else "a kernel with a grid: pallas_call(..., grid=(n,))",
        )
    return frame, axis


def program_id(axis: int) -> Any:
    """Return the index of the running program along an axis of the grid, an int32 scalar.

    >>> def kernel(o_ref):
    ...     o_ref[...] = snp.full((2,), program_id(0))
    >>> spec = sagax.experimental.pallas.BlockSpec((2,), lambda i: (i,))
    >>> out = sagax.ShapeDtypeStruct((6,), snp.int32)
    >>> sagax.experimental.pallas.pallas_call(kernel, out, grid=(3,), out_specs=spec)()
    Array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    frame, axis = _axis("program_id", axis)
    return frame.ids[axis]


def num_programs(axis: int) -> Any:
    """Return the size of the grid along an axis: an int, or an int32 scalar if it is traced."""
    frame, axis = _axis("num_programs", axis)
    return frame.grid[axis]
