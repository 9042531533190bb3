"""Compile a function as one unit, with its results in chosen kinds of memory.

>>> from sagax.experimental.fused import fused
>>> float(fused(out_spaces=(sagax.memory.Space.Device,))(lambda x: (x + 1,))(1.0)[0])
2.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.api import arguments
from sagax._src.api.jit import jit
from sagax._src.core.avals import Space
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.function_wrappers import wraps

__all__ = ["fused"]


def fused(*, out_spaces: Any) -> Callable[[Callable], Callable]:
    """Return a decorator that compiles a function as one unit.

    `out_spaces` are the kinds of memory of the results, one for each. Inside of programs of the CPU all
    memory is the device's own.
    """
    spaces = tuple(out_spaces)
    for i, space in enumerate(spaces):
        if not isinstance(space, Space):
            raise ArgumentValueError.about("fused", f"out_spaces[{i}]", space, "a memory.Space")

    def decorate(fun: Callable[..., Any]) -> Callable[..., Any]:
        arguments.check_callable(fun, "fused")
        compiled = jit(fun)

        @wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            return compiled(*args, **kwargs)

        return call

    return decorate
