"""Define custom primitives with jax's interface for rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.core import primitive


class Primitive(primitive.Primitive):
    """A custom primitive.

    `def_abstract_eval` sets its types, and `def_impl` its eager values; by default the lowered
    primitive is evaluated. `sagax.interpreters` registers the other rules: `mlir.register_lowering`,
    `ad.primitive_jvps`, `ad.primitive_transposes`, `batching.primitive_batchers`.

    >>> from sagax.extend.core import Primitive
    >>> from sagax.interpreters import ad, batching, mlir
    >>> twice_p = Primitive("twice")
    >>> twice_p.def_abstract_eval(lambda x: x)  # doctest: +ELLIPSIS
    <function ...>
    >>> mlir.register_lowering(twice_p, mlir.lower_fun(lambda x: x + x, multiple_results=False))
    >>> ad.deflinear(twice_p, lambda ct: [twice_p.bind(ct)])
    >>> batching.defvectorized(twice_p)
    >>> sagax.vmap(sagax.grad(lambda x: twice_p.bind(x) ** 2))(snp.array([1.0, 2.0]))
    Array([ 8., 16.], dtype=float32)
    """

    __slots__ = ()

    call_primitive = False
    map_primitive = False

    def __init__(self, name: str) -> None:
        super().__init__(name)

    def def_abstract_eval(self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
        """Set the abstract evaluation rule, a function of `ShapedArray`s (and parameters)."""
        self.abstract_rule = abstract_eval
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
        """Set the abstract evaluation rule, a function that returns types and a set of effects.

        The effects may depend on the parameters, not on the types.
        """
        found: dict[Any, Any] = {}

        def types(*avals: Any, **params: Any) -> Any:
            out, effects = abstract_eval(*avals, **params)
            found[_key(params)] = frozenset(effects)
            return out

        self.abstract_rule = types
        self.effects_rule = lambda **params: found.get(_key(params), frozenset())
        return abstract_eval


def _key(params: dict[str, Any]) -> Any:
    return tuple(sorted((name, id(value)) for name, value in params.items()))
