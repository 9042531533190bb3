"""Implement `stage`: convert a value to one of the current trace."""

from __future__ import annotations

from typing import Any

from sagax._src.core.staging import StageTrace
from sagax._src.core.trace import Tracer, state
from sagax._src.core.value import is_operand, not_an_array, sockets


def stage(x: Any, /) -> Any:
    """Convert `x` to a value of the current trace, or to an array outside of one.

    A number or NumPy array inside of `jit` becomes a tracer, whose value Python cannot inspect.

    Raises NotAnArrayError if it is neither an array nor a number.

    >>> from sagax import lax
    >>> lax.stage(2)
    Array(2, dtype=int32, weak_type=True)
    """
    if not is_operand(x):
        raise not_an_array(x).attach(function="stage", argument="x")
    if isinstance(x, Tracer):
        return x
    if isinstance(state.trace, StageTrace):
        return state.trace.lift(x)
    return sockets.concrete(x)
