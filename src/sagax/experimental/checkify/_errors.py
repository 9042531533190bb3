"""What can go wrong, as data: kinds of checks, the places that check, and the outcome of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.tree_util as tree_util
from sagax._src.diagnostics.errors import SagaxError


class JaxRuntimeError(SagaxError, ValueError):
    """A check failed."""

    __module__ = "sagax.experimental.checkify"
    code = "SX0130"
    during_tracing = False


class ErrorCategory:
    """A kind of check; `checkify` is told which kinds to make."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


USER = ErrorCategory("user_checks")
NAN = ErrorCategory("nan_checks")
DIVISION = ErrorCategory("div_checks")
INDEX = ErrorCategory("index_checks")


class Site:
    """A place in a program that checks something: what to say if it fails, given the values it reports."""

    __slots__ = ("avals", "say")

    def __init__(self, avals: Sequence[Any], say: Callable[[list], str]) -> None:
        self.avals, self.say = tuple(avals), say


@tree_util.register_pytree_node_class
class Error:
    """Whether a checked program failed, and how: a pytree of arrays, so it goes through transformations.

    >>> from sagax.experimental import checkify
    >>> import sagax.numpy as snp
    >>> def f(x):
    ...     checkify.check(x > 0, "{} is not positive", x)
    ...     return snp.log(x)
    >>> error, out = checkify.checkify(f)(-1.0)
    >>> error.get()
    '-1.0 is not positive (`check` failed)'
    """

    def __init__(self, code: Any, payload: Sequence[Any], sites: tuple[Site, ...]) -> None:
        # The number of the site that failed first, from 1 on; 0: none. With leading dimensions where
        # the checked function was mapped.
        self._code, self._payload, self._sites = code, list(payload), sites

    def get(self) -> str | None:
        """What went wrong first, or None; of a mapped function a line for each example that failed."""
        code = np.asarray(self._code)
        if not code.any():
            return None
        if not code.ndim:
            return self._said(())
        lines = []
        for at in zip(*np.nonzero(code)):
            place = at[0] if len(at) == 1 else tuple(map(int, at))
            lines.append(f"at mapped index {place}: {self._said(at)}")
        return "\n".join(lines)

    def _said(self, at: tuple) -> str:
        number = int(np.asarray(self._code)[at])
        start = sum(len(site.avals) for site in self._sites[: number - 1])
        site = self._sites[number - 1]
        return site.say([np.asarray(x)[at] for x in self._payload[start : start + len(site.avals)]])

    def throw(self) -> None:
        """Raises JaxRuntimeError if something went wrong."""
        message = self.get()
        if message is not None:
            raise JaxRuntimeError(message)

    def tree_flatten(self) -> tuple:
        """The arrays, and what there is to say about them."""
        return (self._code, *self._payload), self._sites

    @classmethod
    def tree_unflatten(cls, sites: tuple[Site, ...], children: Sequence[Any]) -> Error:
        """The opposite of `tree_flatten`."""
        return cls(children[0], children[1:], sites)

    def __repr__(self) -> str:
        if isinstance(self._code, np.ndarray | int) or hasattr(self._code, "__array__"):
            return f"Error({self.get() or ''})"
        return f"Error({self._code!r}, {len(self._sites)} checks)"


init_error = Error(np.int32(0), (), ())
