"""Trace functions to jaxprs, and eliminate dead code.

>>> import sagax
>>> from sagax.interpreters import partial_eval
>>> program = sagax.make_jaxpr(lambda x: (x + 1, x * 2))(1).jaxpr
>>> partial_eval.dce_jaxpr(program, [True, False])[0].eqns[0].primitive
add
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr
from sagax._src.core.staging import StagedTracer as DynamicJaxprTracer
from sagax._src.core.staging import stage
from sagax._src.transforms.prune import prune_jaxpr, used_inputs

__all__ = [
    "DynamicJaxprTracer",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "dce_jaxpr",
    "trace_to_jaxpr_dynamic",
]


def trace_to_jaxpr_dynamic(fun: Any, in_avals: Sequence[Any], **_: Any) -> tuple:
    """Trace a flat function for arguments of the types; return its jaxpr, output types and constants.

    `fun` is a function, or one wrapped by `sagax.extend.linear_util`.

    >>> from sagax.core import ShapedArray
    >>> jaxpr, outs, consts = partial_eval.trace_to_jaxpr_dynamic(
    ...     lambda x: [x + x], [ShapedArray((), "float32")]
    ... )
    >>> outs
    [ShapedArray(float32[])]
    """
    call = getattr(fun, "call_wrapped", fun)
    jaxpr, consts = stage(lambda *xs: list(call(*xs)), list(in_avals))
    return jaxpr, jaxpr.out_avals, consts


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """Eliminate dead code for the used outputs; return the jaxpr and the used inputs.

    Inputs marked in `instantiate` are kept.

    >>> program = sagax.make_jaxpr(lambda x, y: (x, y))(1, 2).jaxpr
    >>> partial_eval.dce_jaxpr(program, [True, False])[1]
    [True, False]
    """
    keep = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else list(instantiate)
    outvars = [v for v, used in zip(jaxpr.outvars, used_outputs, strict=True) if used]
    pruned = prune_jaxpr(jaxpr.replace(outvars=outvars))
    used = [u or k for u, k in zip(used_inputs(pruned), keep, strict=True)]
    invars = [v for v, u in zip(pruned.invars, used) if u]
    return pruned.replace(invars=invars), used


def close_jaxpr(jaxpr: Jaxpr) -> ClosedJaxpr:
    """Close a jaxpr without constants.

    >>> partial_eval.close_jaxpr(sagax.make_jaxpr(lambda x: x)(1).jaxpr).consts
    []
    """
    return ClosedJaxpr(jaxpr, [])


def convert_constvars_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """Convert constants of a jaxpr to its first arguments.

    >>> len(partial_eval.convert_constvars_jaxpr(sagax.make_jaxpr(lambda x: x)(1).jaxpr).invars)
    1
    """
    return jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
