"""Functions made of several operations, compiled as one where nothing is being traced.

Inside a program that is being traced they are just their operations, so that jaxprs stay flat and
the compiler sees everything; called on arrays they take one dispatch instead of many.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sagax._src.api.jit import jit
from sagax._src.core.trace import evaluation, state

_LIMIT = 4096  # variants of one function; beyond it all are forgotten


def fused(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun`, which takes arrays by position and hashable parameters by keyword, as described above."""
    compiled: dict[tuple, Callable] = {}

    @functools.wraps(fun)
    def call(*arrays: Any, **static: Any) -> Any:
        if state.trace is not evaluation:
            return fun(*arrays, **static)
        key = tuple(static.items())
        found = compiled.get(key)
        if found is None:
            if len(compiled) >= _LIMIT:
                compiled.clear()
            found = compiled[key] = jit(_named(fun, static))
        return found(*arrays)

    return call


def _named(fun: Callable, static: dict) -> Callable:
    def program(*arrays: Any) -> Any:
        return fun(*arrays, **static)

    program.__name__ = program.__qualname__ = fun.__name__.strip("_")
    return program
