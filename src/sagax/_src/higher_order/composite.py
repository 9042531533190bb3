"""Implement `composite`: named operations with a decomposition that compilers may replace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sagax._src import trees
from sagax._src.argument_checks.functions import check_function
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order.compiler_attributes import Attributes
from sagax._src.higher_order.trace_bodies import operand_leaves

composite_p = Primitive(
    "composite",
    family=HIGHER_ORDER,
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")


composite_p.sets_vma = True


@composite_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return jaxpr.out_avals


@composite_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@composite_p.show
def _(*, jaxpr: ClosedJaxpr, name: str, version: int, attributes: Attributes) -> dict:
    return {"attributes": attributes, "call_jaxpr": jaxpr, "name": name, "version": version}


@composite_p.composite
def _(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    # a derivative or a batched form is another operation
    return eval_jaxpr(jaxpr.jaxpr, (), *args)


@composite_p.lower
def _(
    b: Any, *args: Any, jaxpr: ClosedJaxpr, name: str, version: int, attributes: Attributes
) -> list:
    return b.composite(name, jaxpr.jaxpr, args, version, attributes)


def composite(decomposition: Callable, name: str, version: int = 0) -> Callable:
    """Wrap `decomposition` so that a compiler may replace it by an operation that it knows as `name`.

    Positional arguments (pytrees) are operands. Keyword arguments are static attributes for both `decomposition`
    and the compiler; the compiler does not get those that are None. A compiler that does not know the operation
    compiles the decomposition, as do derivatives and `vmap`. Captured arrays become leading operands.

    Args:
      name: with a namespace: "my_namespace.my_operation".
      version: incremented when the semantics of the operation change.

    Raises ArgumentValueError for invalid names, ArgumentError for attributes of unsupported types.

    >>> import sagax
    >>> tangent = sagax.lax.composite(lambda x: sagax.lax.sin(x) / sagax.lax.cos(x), "my.tangent")
    >>> round(float(tangent(1.0)), 4)
    1.5574
    """
    check_function(
        decomposition,
        "lax.composite: decomposition should be a callable.",
        "composite",
        "decomposition",
    )
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ArgumentValueError(
            function="composite",
            argument="name",
            got=repr(name),
            expected="a name in a namespace, of letters, digits and underscores",
            fix="put a namespace and a dot before it: 'my_namespace.my_operation'",
        )
    if isinstance(version, bool) or not isinstance(version, int):
        raise ArgumentError(
            function="composite", argument="version", got=repr(version), expected="an int"
        )

    def apply(*args: Any, **attributes: Any) -> Any:
        leaves, tree = operand_leaves("composite", "args", args)
        static = Attributes("composite", {k: v for k, v in attributes.items() if v is not None})
        out_tree: Any = None

        def flat(*values: Any) -> list:
            nonlocal out_tree
            out = decomposition(*tree.unflatten(values), **attributes)
            found, out_tree = trees.flatten_argument("composite", "result", out)
            return found

        info = DebugInfo(function_name(decomposition))
        jaxpr, consts = stage(flat, [aval_of(x) for x in leaves], info)
        closed = ClosedJaxpr(hoist_constants(jaxpr), ())
        outs = composite_p.bind(
            *consts, *leaves, jaxpr=closed, name=name, version=version, attributes=static
        )
        return out_tree.unflatten(outs)

    return apply
