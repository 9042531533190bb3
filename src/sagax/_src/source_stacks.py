"""Capture the source stacks of operations, and the name scopes around them.

To capture a stack takes time and memory for each frame, most for those that were not captured before
(CPython makes an object for each). So the frames around a transformed function, which are the same for
all that it does, are captured where it is entered (`core/staging.py`), and a capture inside ends there;
whoever reads a stack sees both parts as one. And functions that may record several operations capture
the stack themselves, as near to the user's call as can be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from sagax._src import xla

# The innermost part of the current stack: as far as where a function was last entered to be staged.
capture = xla.get_traceback


class Stack:
    """A captured stack in two parts: the inner one, and the stack around it."""

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
        """Code and offset of each frame, innermost first, the outer ones only if they are asked for."""
        yield from zip(*self.inner.raw_frames(), strict=False)
        if type(self.outer) is Stack:
            yield from self.outer.instructions()
        else:
            yield from zip(*self.outer.raw_frames(), strict=False)


def joined(inner: Any, outer: Any) -> Any:
    """The whole of a stack; None where no stacks are captured."""
    return inner if outer is None or inner is None else Stack(inner, outer)


class Here:
    """Where the operations of one thread were written."""

    __slots__ = ("around", "origin", "outer", "scope")

    def __init__(self) -> None:
        self.scope = ""  # names given by named_scope, joined by "/"
        # the stack at which they were written, where one call of the user's makes several of them, or
        # where they are those of a program that is run again or transformed; None: where they are called
        self.origin: Any = None
        self.around: Any = None  # the stack around `origin`, if that is the inner part of one only
        self.outer: Any = None  # the stack around what `capture` gives; None: that is all of it

    def state(self) -> tuple:
        """All of it, for `restore`."""
        return self.scope, self.origin, self.around, self.outer

    def restore(self, state: tuple) -> None:
        self.scope, self.origin, self.around, self.outer = state

    def set_origin(self, eqn: Any) -> None:
        """Operations are those of a recorded one, from now on."""
        if eqn.inner is not None:
            self.origin, self.around = eqn.inner, eqn.outer


class _Written(threading.local):
    def __init__(self) -> None:
        self.here = Here()


written = _Written()


def stack() -> Any:
    """The whole of the current stack; None where no stacks are captured."""
    return joined(capture(), written.here.outer)


def origin() -> Any:
    """The stack at which the operations at work were written."""
    here = written.here
    return stack() if here.origin is None else joined(here.origin, here.around)


def apart(fun: Callable[..., Any], *args: Any) -> Any:
    """Call `fun`, code of the user's, whose operations were written in it and not where it is called."""
    here = written.here
    if here.origin is None:
        return fun(*args)
    before = here.state()
    here.origin = None
    try:
        return fun(*args)
    finally:
        here.restore(before)
