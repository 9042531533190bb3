"""Define the `accuracy` parameter of roots and transcendental functions."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from sagax._src.argument_checks import checks
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.primitive import Primitive
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.primitives.makers import elementwise


class AccuracyMode(enum.Enum):
    """Select an implementation: the most accurate or the default one."""

    HIGHEST = 1
    DEFAULT = 2


@record
class Tolerance:
    """Bound the error of a result: absolute, relative, and in units of the last place.

    At least one bound is positive, none is negative. Devices without a choice ignore it.

    >>> from sagax import lax
    >>> lax.Tolerance(rtol=1e-5)
    Tolerance(atol=0.0, rtol=1e-05, ulps=0)
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        bounds = (self.atol, self.rtol, self.ulps)
        if min(bounds) < 0:
            raise ArgumentValueError(
                function="Tolerance",
                got=bounds,
                expected="atol, rtol and ulps that are not negative",
            )
        if max(bounds) == 0:
            raise ArgumentValueError(
                function="Tolerance", got=bounds, expected="a positive atol, rtol or ulps"
            )


def accurate_elementwise(
    name: str,
    *,
    numpy: Callable[..., Any],
    hlo: str,
    in_float32: bool = False,
    **rest: Any,
) -> Primitive:
    """Define a unary elementwise primitive with an accuracy; `bind_accurately` applies it.

    `hlo` is an operation of StableHLO. XLA computes most of them in float32 for narrower floats. Operands are not
    converted, since XLA would skip the rounding between fused operations; but they are (`in_float32`) where the
    operation expands to several that would each round.
    """
    p = elementwise(name, numpy=lambda x, accuracy=None: numpy(x), **rest)

    @p.lower
    def _(b: Any, x: Any, *, accuracy: Any = None) -> Any:
        attributes = {} if accuracy is None else {"result_accuracy": _attribute(accuracy)}
        dtype = x.aval.dtype
        if in_float32 and dtype_predicates.is_narrow_float(dtype):
            x = b.convert(x, dtypes.float32)
        return b.convert(b.op(hlo, [x], x.aval, **attributes), dtype)

    return p


def bind_accurately(primitive: Primitive, x: Any, accuracy: Any) -> Any:
    """Apply `primitive` to `x`; omit the parameter without an accuracy."""
    if accuracy is None:
        return primitive.bind(x)
    checks.instance(
        primitive.name,
        "accuracy",
        accuracy,
        (AccuracyMode, Tolerance),
        "an AccuracyMode, a Tolerance or None",
    )
    return primitive.bind(x, accuracy=accuracy)


def _attribute(accuracy: AccuracyMode | Tolerance) -> str:
    """Format the accuracy as a StableHLO attribute."""
    if isinstance(accuracy, AccuracyMode):
        fields, mode = "", accuracy.name
    else:
        # not repr: MLIR requires a decimal point before an exponent
        atol, rtol = f"{float(accuracy.atol):.17e}", f"{float(accuracy.rtol):.17e}"
        fields = f"atol = {atol}, rtol = {rtol}, ulps = {int(accuracy.ulps)}, "
        mode = "TOLERANCE"
    return f"#stablehlo.result_accuracy<{fields}mode = #stablehlo.result_accuracy_mode<{mode}>>"


__all__ = ["AccuracyMode", "Tolerance", "accurate_elementwise", "bind_accurately"]
