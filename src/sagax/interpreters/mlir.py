"""Register lowering rules of primitives: functions of other operations.

>>> import sagax
>>> from sagax.extend.core import Primitive
>>> from sagax.interpreters import mlir
>>> double_p = Primitive("double")
>>> rule = double_p.def_abstract_eval(lambda x: x)
>>> mlir.register_lowering(double_p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
>>> sagax.jit(double_p.bind)(3.0)
Array(6., dtype=float32, weak_type=True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.diagnostics.errors import ArgumentError

__all__ = ["lower_fun", "register_lowering"]


class _AsFunction:
    """The result of `lower_fun`: a function of arrays that a primitive is lowered to."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun, self.multiple_results = fun, multiple_results


def _unsupported_rule(prim: Primitive, rule: Any) -> Callable[..., Any]:
    """Return a rule that raises, for a primitive whose own rule cannot be used."""

    def lower(builder: Any, *operands: Any, **params: Any) -> Any:
        raise ArgumentError(
            f"the primitive '{prim.name}' has a rule that builds MLIR operations, which cannot be used: sagax writes programs as text",
            function="register_lowering",
            argument="rule",
            got=rule,
            fix="pass mlir.lower_fun(f), of a function in operations of sagax.numpy and sagax.lax; native code "
            "can be called by sagax.ffi.ffi_call",
        )

    return lower


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Any:
    """Build a rule for `register_lowering` from `fun`, a function of arrays.

    >>> rule = mlir.lower_fun(lambda x: [x + 1])
    """
    return _AsFunction(fun, multiple_results)


def register_lowering(
    prim: Primitive, rule: Any, platform: str | None = None, inline: bool = True, **_: Any
) -> None:
    """Register the lowering rule of a primitive, for all platforms or for one ("cpu", "cuda").

    Args:
      prim: the primitive.
      rule: the result of `lower_fun`. sagax lowers to text, so a rule that builds operations with MLIR's
        Python bindings cannot be used: compiling the primitive then raises ArgumentError.
      platform: the platform of the rule; by default all.
      inline: ignored; the function is always inlined.

    >>> from sagax.extend.core import Primitive
    >>> mlir.register_lowering(Primitive("one_more"), mlir.lower_fun(lambda x: [x + 1]))
    """
    if not isinstance(rule, _AsFunction):
        prim.lower_rule = _unsupported_rule(prim, rule)
        return
    fun = rule.fun
    if rule.multiple_results and not prim.multiple_results:
        several = fun

        def fun(*args: Any, **params: Any) -> Any:
            (result,) = several(*args, **params)
            return result

    if platform is None:
        prim.composite_rule = fun
        return

    def lower(builder: Any, *operands: Any, **params: Any) -> Any:
        def flat(*xs: Any) -> Any:
            out = fun(*xs, **params)
            return out if prim.multiple_results else [out]

        jaxpr, consts = stage(flat, [x.aval for x in operands])
        outs = builder.inline(jaxpr, operands, [builder.constant(c) for c in consts])
        return outs if prim.multiple_results else outs[0]

    prim.lower_on["cuda" if platform == "gpu" else platform] = lower
