"""Make wrappers look like the callables that they wrap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from sagax._src.diagnostics.spans import is_sagax

_NAMES = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__type_params__")


class MethodOfFunction(functools.partial[Any]):
    """A method that stands on a function, for this function alone: wrappers do not take it over."""


def copy_attributes(wrapper: Any, wrapped: Any) -> Any:
    """Give `wrapper` the names, documentation and attributes of `wrapped`; return it.

    `functools.update_wrapper` expects names that are strings, which callable objects need not have. What
    `wrapper` has already stays as it is, and the state of sagax's own wrappers is not taken over.
    """
    for name in _NAMES:
        try:
            setattr(wrapper, name, getattr(wrapped, name))
        except Exception:  # an object may lack it, hold another type, or raise anything
            continue
    for name, value in getattr(_user_function(wrapped), "__dict__", {}).items():
        if name not in vars(wrapper) and type(value) is not MethodOfFunction:
            vars(wrapper)[name] = value
    wrapper.__wrapped__ = wrapped
    return wrapper


def wrapped_by(x: Any) -> Any:
    """Return what the callable `x` wraps, or None; attribute access of a user's object may raise anything."""
    try:
        return x.__wrapped__
    except Exception:
        return None


def _user_function(x: Any) -> Any:
    """Return the user's callable in wrappers of sagax, whose attributes are their own state."""
    while True:
        code = getattr(x, "__code__", None) if type(x) is FunctionType else None
        own = type(x).__module__.startswith("sagax.") or (code and is_sagax(code.co_filename))
        inner = wrapped_by(x) if own else None
        if inner is None:
            return x
        x = inner


def wraps(wrapped: Any) -> Callable[[Any], Any]:
    """Return a decorator that makes a function look like `wrapped`."""
    return lambda wrapper: copy_attributes(wrapper, wrapped)
