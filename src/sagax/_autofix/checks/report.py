"""Collect findings, and locate them in the user's own files."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from sagax._autofix.repairs.source_file import Source
from sagax._src.core.trace import Trace, evaluation, state
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.spans import (
    CodePosition,
    is_installed,
    is_user_file,
    span_at,
    user_positions,
)

__all__ = [
    "Add", "caller", "direct_caller", "in_loop_body", "is_written_in_each_iteration", "is_own_file", "is_staging", "node_at", "own_caller", "own_position", "own_span", "source_of", "traced_function",
]  # fmt: skip

# (category, message, stack, **facts of `warning_facts`)
Add = Callable[..., None]


@functools.cache
def is_own_file(file: str) -> bool:
    """Return whether a file is the user's own, and not of sagax or an installed library."""
    return is_user_file(file) and not is_installed(file) and not file.startswith("<")


def own_position(stack: Any) -> CodePosition | None:
    """Return the innermost instruction of the user's own files on a stack."""
    return next((p for p in user_positions(stack) if is_own_file(p.code.co_filename)), None)


def own_span(stack: Any) -> Span | None:
    """Return the innermost expression of the user's own files on a stack."""
    position = own_position(stack)
    return None if position is None else span_at(position)


def caller(frame: FrameType | None) -> FrameType | None:
    """Return the first frame outside of sagax, the standard library and hidden libraries."""
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def own_caller(depth: int = 2) -> tuple[FrameType, CodePosition] | None:
    """Return the calling frame in a file of the user; None if a library calls."""
    frame = caller(sys._getframe(depth))
    if frame is None or not is_own_file(frame.f_code.co_filename):
        return None
    return frame, CodePosition(frame.f_code, frame.f_lasti)


def is_staging(trace: Trace | None = None) -> bool:
    """Return whether the current operations are recorded, to run later and more than once."""
    found: Any = state.trace if trace is None else trace
    while found is not None and found is not evaluation:
        if getattr(found, "records", False):
            return True
        found = found.parent
    return False


def traced_function() -> str:
    """Return the name of the function that is being traced."""
    trace: Any = state.trace
    while trace is not None and trace is not evaluation:
        name = getattr(trace.debug_info, "func_name", "")
        if name and getattr(trace, "records", False):
            return str(name)
        trace = trace.parent
    return ""


_LOOPS = {"scan", "fori_loop", "while_loop", "map", "associative_scan"}
_ABOUT_TRACING = re.compile(r"trac|compil|stag|jit|lower", re.IGNORECASE)


def in_loop_body() -> bool:
    """Return whether the body of a loop of `lax` is being traced."""
    trace: Any = state.trace
    while trace is not None and trace is not evaluation:
        if getattr(trace.debug_info, "traced_for", "") in _LOOPS:
            return True
        trace = trace.parent
    return False


def is_written_in_each_iteration(*texts: Any) -> bool:
    """Return whether texts, written while the body of a loop is traced, are not about tracing."""
    given = " ".join(map(str, texts)).strip()
    return bool(given) and in_loop_body() and not _ABOUT_TRACING.search(given)


_PASSED = {os.__file__, "<frozen os>", "<frozen _collections_abc>"}
_CHECKS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def direct_caller() -> tuple[FrameType, CodePosition] | None:
    """Return the frame that calls a watched function, if the user's own code does, and not a library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith(_CHECKS) or frame.f_code.co_filename in _PASSED
    ):
        frame = frame.f_back
    if frame is None or not is_own_file(frame.f_code.co_filename):
        return None
    return frame, CodePosition(frame.f_code, frame.f_lasti)


@functools.lru_cache(maxsize=64)
def _parsed(file: str, text: str) -> Source | None:
    try:
        return Source(file, text)
    except SyntaxError:
        return None


def source_of(file: str) -> Source | None:
    """Return the source of a file, as it is run; None if it cannot be parsed."""
    lines = linecache.getlines(file)
    return _parsed(os.path.abspath(file), "".join(lines)) if lines else None


def node_at(position: CodePosition) -> tuple[Source, ast.AST] | None:
    """Return the expression that an instruction belongs to, with its source."""
    span = span_at(position)
    source = source_of(span.file)
    node = source.at(span) if source is not None else None
    return None if source is None or node is None else (source, node)
