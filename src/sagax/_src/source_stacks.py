"""Capture the source stacks of operations, and the name scopes around them.

Capturing a stack takes time and memory for each frame, most for new ones (CPython creates an object
for each). The frames around a transformed function are the same for all its operations. So they are
captured at its entry (`core/staging.py`), and a capture inside ends there; readers of a stack join
both parts. Functions that record several operations capture the stack themselves, as near to the
user's call as possible.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from sagax._src import xla
from sagax._src.uninterrupted import uninterrupted

# The innermost part of the current stack: up to the entry of the last function that was staged.
capture = xla.get_traceback


class Stack:
    """Store a captured stack in two parts: the inner one, and the outer stack around it."""

    __slots__ = ("inner", "outer")

    def __init__(self, inner: Any, outer: Any) -> None:
        self.inner = inner
        self.outer = outer

    def __eq__(self, other: object) -> bool:
        return type(other) is Stack and self.outer is other.outer and self.inner == other.inner

    def __hash__(self) -> int:
        return hash((self.inner, id(self.outer)))

    def raw_frames(self) -> tuple[list[CodeType], list[int]]:
        codes, offsets = self.inner.raw_frames()
        more, theirs = self.outer.raw_frames()
        return [*codes, *more], [*offsets, *theirs]

    def instructions(self) -> Iterator[tuple[CodeType, int]]:
        """Return the code and offset of each frame, innermost first, the outer ones only on request."""
        yield from zip(*self.inner.raw_frames(), strict=False)
        if type(self.outer) is Stack:
            yield from self.outer.instructions()
        else:
            yield from zip(*self.outer.raw_frames(), strict=False)


def joined(inner: Any, outer: Any) -> Any:
    """Join the whole stack; None if capture is disabled."""
    return inner if outer is None or inner is None else Stack(inner, outer)


class Here:
    """Hold the current source origin of operations in a thread."""

    __slots__ = ("around", "origin", "outer", "scope")

    def __init__(self) -> None:
        # names given by named_scope, joined by "/"; among them attributes for XLA, in braces
        self.scope = ""
        # the stack of the current operations, if one user's call makes several of them, or if they
        # are those of a jaxpr that is evaluated or transformed; None: capture at the operation
        self.origin: Any = None
        self.around: Any = None  # the stack around `origin`, if that is only its inner part
        self.outer: Any = None  # the stack around the result of `capture`; None: there is none

    def state(self) -> tuple:
        """Return the state, for `restore`."""
        return self.scope, self.origin, self.around, self.outer

    @uninterrupted
    def restore(self, state: tuple) -> None:
        self.scope, self.origin, self.around, self.outer = state

    def set_origin(self, eqn: Any) -> None:
        """Set the origin to that of a recorded operation."""
        if eqn.inner is not None:
            self.origin, self.around = eqn.inner, eqn.outer


class _Written(threading.local):
    def __init__(self) -> None:
        self.here = Here()


written = _Written()


def stack() -> Any:
    """Capture the whole current stack; None if capture is disabled."""
    return joined(capture(), written.here.outer)


def origin() -> Any:
    """Return the origin of the current operations."""
    here = written.here
    return stack() if here.origin is None else joined(here.origin, here.around)


def apart(fun: Callable[..., Any], *args: Any) -> Any:
    """Call the user's function `fun`, whose operations originate in it and not at its call."""
    here = written.here
    if here.origin is None:
        return fun(*args)
    before = here.state()
    here.origin = None
    try:
        return fun(*args)
    finally:
        here.restore(before)


@contextlib.contextmanager
def transformation(name: str | None) -> Iterator[str]:
    """Context manager: operations are those of a transformation that the user called, `jvp` or `vmap`.

    It gives the scope around. Without a name it changes nothing: rules of operations call transformations, too.
    """
    here = written.here
    before = here.scope
    if name is not None:
        here.scope = joined_scopes(before, f"{name}()")
    try:
        yield before
    finally:
        here.scope = before


# Attributes of operations, as a part of their scope ----------------------------------------------------

_METADATA = re.compile(r"/?(\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\})")
_ATTRIBUTE = re.compile(r"\"((?:[^\"\\]|\\.)*)\" = (\"(?:[^\"\\]|\\.)*\")")


def joined_scopes(outer: str, inner: str) -> str:
    """Join two scopes, either may be empty: `a` and `b` to `a/b`, `vmap()` and `a/b` to `vmap(a)/b`."""
    if not outer or not inner:
        return outer or inner
    begin = outer.rstrip(")")
    if begin[-1:] != "(" or inner[0] == "{":
        return f"{outer}/{inner}"
    first, slash, others = inner.partition("/")
    return f"{begin}{first}{outer[len(begin) :]}{slash}{others}"


def scope_inside(scope: str, outer: str) -> str:
    """Return the part of a scope inside of `outer`: that which `joined_scopes` joins with it."""
    if not outer or scope == outer:
        return "" if outer else scope
    begin = outer.rstrip(")")
    if begin[-1:] != "(":
        return scope[len(outer) + 1 :] if scope.startswith(f"{outer}/") else scope
    if not scope.startswith(begin):
        return scope
    first, slash, others = scope[len(begin) :].partition("/")
    return f"{first[: len(begin) - len(outer)]}{slash}{others}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def metadata_scope(marks: Iterable[tuple[str, str]]) -> str:
    """Write attributes as a part of a scope."""
    found = ", ".join(f"{_quoted(k)} = {_quoted(v)}" for k, v in marks)
    return f"{{{found}}}" if found else ""


def split_metadata(scope: str) -> tuple[str, dict[str, str]]:
    """Return the names of a scope, and its attributes: quoted texts. Those of inner parts override."""
    if "{" not in scope:
        return scope, {}
    found: dict[str, str] = {}
    for text in _METADATA.findall(scope):
        found.update(_ATTRIBUTE.findall(text))
    return _METADATA.sub("", scope).lstrip("/"), found
