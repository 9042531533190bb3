"""Capture stacks cheaply, and turn them into frames and Python tracebacks."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sagax._src.xla.engine import xla_extension

# The current stack as code objects and offsets; None where tracebacks are switched off.
get_traceback: Callable[[], Any] = xla_extension.Traceback.get_traceback
# A context manager: stacks end at the function that entered it, which is left out.
TracebackScope = xla_extension.TracebackScope


class Frame(NamedTuple):
    """One frame of a stack. Lines count from 1, columns from 0."""

    file_name: str
    function_name: str
    line: int
    column: int
    end_line: int
    end_column: int


def traceback_frames(traceback: Any) -> list[Frame]:
    """List the frames of a traceback, innermost first, with exact columns; none for None."""
    if traceback is None:
        return []
    locate = xla_extension.Traceback.code_addr2location
    return [
        Frame(code.co_filename, code.co_name, *locate(code, offset))
        for code, offset in zip(*traceback.raw_frames())
    ]


def python_traceback(frames: Iterable[Frame]) -> types.TracebackType | None:
    """Make a traceback of the frames (innermost first) for `error.with_traceback`; None for none."""
    return xla_extension.Traceback.traceback_from_frames(
        [xla_extension.Frame(f.file_name, f.function_name, f.line, f.line) for f in frames]
    )
