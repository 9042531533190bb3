"""Read where operations come from, name scopes, and hide the lines of a library from messages.

>>> from sagax.extend import source_info_util
>>> source_info_util.register_exclusion("/opt/library/layers.py")
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sagax._src.diagnostics import spans
from sagax._src.source_stacks import joined_scopes, stack, written

__all__ = [
    "NameStack",
    "SourceInfo",
    "current",
    "current_name_stack",
    "extend_name_stack",
    "new_name_stack",
    "new_source_info",
    "register_exclusion",
    "reset_name_stack",
    "set_name_stack",
    "summarize",
    "transform_name_stack",
    "user_context",
]


class NameStack(str):
    """The names of the scopes around an operation, outermost first, joined by "/".

    >>> source_info_util.NameStack("encoder").extend("layer")
    NameStack('encoder/layer')
    """

    __slots__ = ()

    @property
    def stack(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.split("/")) if self else ()

    def extend(self, name: str) -> NameStack:
        """Return the stack with one more scope inside."""
        return NameStack(joined_scopes(self, name))

    def transform(self, name: str) -> NameStack:
        """Return the stack with a transformation inside."""
        return self.extend(f"{name}()")

    def __add__(self, other: str) -> NameStack:
        return NameStack(joined_scopes(self, other))

    def __repr__(self) -> str:
        return f"NameStack({str(self)!r})"


class SourceInfo:
    """The origin of an operation: its stack of frames, and the names of scopes around it."""

    __slots__ = ("name_stack", "traceback")

    def __init__(self, traceback: Any, name_stack: Any = "") -> None:
        self.traceback = traceback
        self.name_stack = NameStack(name_stack)

    def replace(self, **changes: Any) -> SourceInfo:
        """Return the same information with some fields replaced."""
        return SourceInfo(**({n: getattr(self, n) for n in ("traceback", "name_stack")} | changes))


def register_exclusion(path: str) -> None:
    """Hide a file: tracebacks and messages show the line that called into it.

    Args:
      path: a file; or a folder, ending with a separator.

    >>> source_info_util.register_exclusion("/opt/library/")
    """
    spans.hide(path)


def current() -> SourceInfo:
    """Return the source of operations that are made here.

    >>> type(source_info_util.current()).__name__
    'SourceInfo'
    """
    return SourceInfo(stack(), written.here.scope)


def new_source_info() -> SourceInfo:
    """Return the source of an operation without one.

    >>> source_info_util.new_source_info().traceback is None
    True
    """
    return SourceInfo(None)


def summarize(source_info: Any, num_frames: int = 1) -> str:
    """Describe a source, or an equation's, by file, line and column of the user's frame.

    >>> source_info_util.summarize(source_info_util.new_source_info())
    'unknown'
    """
    position = spans.user_position(getattr(source_info, "traceback", source_info))
    if position is None:
        return "unknown"
    code, offset = position
    line, _, column, _ = list(code.co_positions())[offset // 2]
    return f"{code.co_filename}:{line}:{(column or 0) + 1} ({code.co_qualname})"


def current_name_stack() -> NameStack:
    """Return the names of the scopes around operations that are made here.

    >>> with sagax.named_scope("encoder"):
    ...     source_info_util.current_name_stack()
    NameStack('encoder')
    """
    return NameStack(written.here.scope)


def new_name_stack(name: str = "") -> NameStack:
    """Return a stack of one name, or of none.

    >>> source_info_util.new_name_stack("a")
    NameStack('a')
    """
    return NameStack(name)


@contextlib.contextmanager
def set_name_stack(name_stack: str) -> Iterator[None]:
    """Context manager: operations are in these scopes.

    >>> with source_info_util.set_name_stack("a/b"):
    ...     source_info_util.current_name_stack()
    NameStack('a/b')
    """
    here = written.here
    before, here.scope = here.scope, str(name_stack)
    try:
        yield
    finally:
        here.scope = before


@contextlib.contextmanager
def extend_name_stack(name: str) -> Iterator[NameStack]:
    """Context manager: operations are in one more scope.

    >>> with source_info_util.extend_name_stack("a") as names:
    ...     names
    NameStack('a')
    """
    found = current_name_stack().extend(name)
    with set_name_stack(found):
        yield found


def transform_name_stack(name: str) -> contextlib.AbstractContextManager[None]:
    """Context manager: operations are in the scope of a transformation.

    >>> with source_info_util.transform_name_stack("jvp"):
    ...     source_info_util.current_name_stack()
    NameStack('jvp()')
    """
    return set_name_stack(current_name_stack().transform(name))


def reset_name_stack() -> contextlib.AbstractContextManager[None]:
    """Context manager: operations are in no scope.

    >>> with sagax.named_scope("encoder"), source_info_util.reset_name_stack():
    ...     source_info_util.current_name_stack()
    NameStack('')
    """
    return set_name_stack("")


@contextlib.contextmanager
def user_context(traceback: Any, *, name_stack: Any = None) -> Iterator[None]:
    """Context manager: operations come from the stack `traceback`, as that of an equation.

    >>> program = sagax.make_jaxpr(lambda x: x + 1)(1)
    >>> with source_info_util.user_context(program.eqns[0].traceback):
    ...     again = sagax.make_jaxpr(lambda x: x * 2)(1)
    """
    here = written.here
    before = here.state()
    if traceback is not None:
        here.origin, here.around = traceback, None
    if name_stack is not None:
        here.scope = str(name_stack)
    try:
        yield
    finally:
        here.restore(before)
