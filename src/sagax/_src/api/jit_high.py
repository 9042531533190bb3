"""Run jitted functions on values of types that libraries add: arrays in, and values back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.core.high_types import lower_values, lowered_avals, raise_values
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.higher_order.high_primitives import has_high, lowered


class OnArrays:
    """A traced function as one on arrays, `function`."""

    __slots__ = ("closed", "function")

    def __init__(self, closed: ClosedJaxpr, name: str) -> None:
        self.closed = closed
        found = lowered(closed)

        def function(*arrays: Any) -> list:
            return eval_jaxpr(found.jaxpr, found.consts, *arrays)

        function.__name__ = function.__qualname__ = name
        self.function = function

    def call(self, run: Callable[..., Sequence[Any]], arguments: Sequence[Any]) -> list:
        """Run the compiled `function` on the arrays that the arguments stand for; return the results."""
        arrays = lower_values(self.closed.in_avals, arguments)
        return raise_values(self.closed.out_avals, run(*arrays))

    def example_arrays(self) -> list[Any]:
        """Return the types of the arrays."""
        return [ShapeDtypeStruct.of(a) for a in lowered_avals(self.closed.in_avals)]


def on_arrays(jitted: Any, traced: Any, jit: Callable[..., Any]) -> tuple[OnArrays, Any]:
    """Return a traced function as one on arrays, and that jitted with the options of the original."""
    found = OnArrays(traced.closed, traced.name)
    compiled = jit(
        found.function,
        device=jitted._device,
        keep_unused=jitted._keep_unused,
        compiler_options=jitted._options,
    )
    compiled._context = jitted._context
    return found, compiled


def call(jitted: Any, traced: Any, leaves: Sequence[Any]) -> Any:
    """Run a jitted function on flat arguments; return its result."""
    found, compiled = jitted.on_arrays(traced)
    return traced.out_tree.unflatten(found.call(compiled, leaves))


__all__ = ["OnArrays", "call", "has_high", "on_arrays"]
