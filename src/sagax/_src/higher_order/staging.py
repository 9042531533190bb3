"""Implement `stage`: convert a value to one of the current trace."""

from __future__ import annotations

from typing import Any

from sagax._src.core.staging import StageTrace
from sagax._src.core.trace import Tracer, state
from sagax._src.core.value import is_operand, not_an_array, sockets


def stage(x: Any, /) -> Any:
    """`x` as a value of the program that is being traced, or as an array if none is.

    A number or NumPy array inside of `jit` becomes a tracer, whose value Python cannot look at.

    Raises NotAnArrayError for what is no array or number.

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
