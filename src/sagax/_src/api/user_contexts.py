"""Let users add to what jitted functions are traced again for: values that hold in a `with` block."""

from __future__ import annotations

import itertools
from typing import Any

from sagax._src import config
from sagax._src.argument_checks.functions import kind_of
from sagax._src.diagnostics.errors import ArgumentError

_numbers = itertools.count()


class UserContext:
    """A value that holds in `with` blocks, created by `make_user_context`."""

    __slots__ = ("default", "number")

    def __init__(self, default: Any) -> None:
        self.default, self.number = default, next(_numbers)

    @property
    def value(self) -> Any:
        """The value in the innermost block that sets it, or else the default."""
        return dict(config.thread.settings.user_contexts).get(self, self.default)

    def __call__(self, value: Any) -> config.Context:
        try:
            hash(value)
        except TypeError:
            raise ArgumentError.about(
                "make_user_context", "value", kind_of(value), "a hashable value"
            ) from None
        return config.Context((("user_contexts", ((self, value),)),))

    def __lt__(self, other: UserContext) -> bool:  # equal settings hold their contexts in one order
        return self.number < other.number

    def __repr__(self) -> str:
        return f"<user context of value {self.value!r}>"


def make_user_context(default_value: Any = None) -> UserContext:
    """Create a value that functions may read while they are traced; jit traces again for each value of it.

    >>> unit = sagax.make_user_context("m")
    >>> f = sagax.jit(lambda x: x * 1000 if unit.value == "mm" else x)
    >>> with unit("mm"):
    ...     print(f(2.0))
    2000.0
    >>> print(f(2.0), unit.value)
    2.0 m
    """
    return UserContext(default_value)
