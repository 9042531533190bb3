"""How primitives are compiled: as functions of other operations.

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
    """What `lower_fun` returns: a function of arrays, to be compiled in place of a primitive."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun, self.multiple_results = fun, multiple_results


def _refusing(prim: Primitive, rule: Any) -> Callable[..., Any]:
    """A rule for a primitive whose own rule cannot be used; a library that never applies it still works."""

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
    """A rule for `register_lowering`: `fun` of arrays, in operations that sagax knows.

    >>> from sagax.interpreters import mlir
    >>> rule = mlir.lower_fun(lambda x: [x + 1])
    """
    return _AsFunction(fun, multiple_results)


def register_lowering(
    prim: Primitive, rule: Any, platform: str | None = None, inline: bool = True, **_: Any
) -> None:
    """Says how a primitive is compiled, on all platforms or on one ("cpu", "cuda").

    Args:
      prim: the primitive.
      rule: what `lower_fun` gives. sagax writes programs as text, so a rule that builds operations with
        MLIR's Python bindings cannot be used: compiling the primitive then raises ArgumentError.
      platform: the platform for which it holds.
      inline: accepted; the function is always written in place.

    >>> from sagax.extend.core import Primitive
    >>> from sagax.interpreters import mlir
    >>> mlir.register_lowering(Primitive("one_more"), mlir.lower_fun(lambda x: [x + 1]))
    """
    if not isinstance(rule, _AsFunction):
        prim.lower_rule = _refusing(prim, rule)
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
