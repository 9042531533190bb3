"""Trace functions to jaxprs, and eliminate dead code.

>>> import sagax
>>> from sagax.interpreters import partial_eval
>>> jaxpr = sagax.make_jaxpr(lambda x: (x + 1, x * 2))(1).jaxpr
>>> partial_eval.dce_jaxpr(jaxpr, [True, False])[0].eqns[0].primitive
add
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from sagax._src.core.staging import StagedTracer as DynamicJaxprTracer
from sagax._src.core.staging import StagedTracer as JaxprTracer
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.trace import entered, state
from sagax._src.core.value import aval_of
from sagax._src.transforms.linearize import TangentTrace
from sagax._src.transforms.prune import prune_jaxpr, used_inputs

__all__ = [
    "DynamicJaxprTracer",
    "JaxprTracer",
    "PartialVal",
    "abstract_eval_fun",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "dce_jaxpr",
    "dce_jaxpr_consts",
    "move_binders_to_back",
    "partial_eval_jaxpr_nounits",
    "prune_closed_jaxpr_outputs",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
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

    >>> jaxpr = sagax.make_jaxpr(lambda x, y: (x, y))(1, 2).jaxpr
    >>> partial_eval.dce_jaxpr(jaxpr, [True, False])[1]
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


class PartialVal(tuple[Any, Any]):
    """A known value, or an unknown one of known type: the pair (None, value) or (type, None).

    >>> partial_eval.PartialVal.known(3.0).is_known()
    True
    """

    __slots__ = ()

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """Return a known value."""
        return cls((None, const))

    @classmethod
    def unknown(cls, aval: Any) -> PartialVal:
        """Return an unknown value of this type."""
        return cls((aval, None))

    def is_known(self) -> bool:
        """Return whether the value is known."""
        return self[0] is None

    def get_known(self) -> Any:
        """Return the value if it is known, else None."""
        return self[1]

    def get_aval(self) -> Any:
        """Return the type."""
        return aval_of(self[1]) if self[0] is None else self[0]


def trace_to_jaxpr_nounits(
    fun: Any, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Run a flat function; record what depends on unknown arguments, and compute the rest.

    Returns a jaxpr from the computed values that it needs, and the unknown arguments, to the unknown outputs;
    all outputs, known or not; and these computed values. Outputs marked in `instantiate` become unknown.

    >>> from sagax.core import ShapedArray
    >>> x = partial_eval.PartialVal.unknown(ShapedArray((), "float32"))
    >>> jaxpr, outs, consts = partial_eval.trace_to_jaxpr_nounits(
    ...     lambda x, y: [x * y, y * 2.0], [x, partial_eval.PartialVal.known(3.0)]
    ... )
    >>> outs[1].is_known(), float(outs[1].get_known())
    (True, 6.0)
    """
    call = getattr(fun, "call_wrapped", fun)
    trace = TangentTrace(state.trace)
    with entered(trace):
        ins = [p.get_known() if p.is_known() else trace.new_input(p.get_aval()) for p in pvals]
        outs = list(call(*ins))
        wanted = [instantiate] * len(outs) if isinstance(instantiate, bool) else list(instantiate)
        outs = [trace.lift(x) if w else x for x, w in zip(outs, wanted, strict=True)]
        unknown = [type(x) is JaxprTracer and x._trace is trace for x in outs]
        jaxpr, consts = trace.finish([x for x, u in zip(outs, unknown, strict=True) if u])
    found = [
        PartialVal.unknown(x.aval) if u else PartialVal.known(x)
        for x, u in zip(outs, unknown, strict=True)
    ]
    return hoist_constants(jaxpr), found, consts


def partial_eval_jaxpr_nounits(
    jaxpr: ClosedJaxpr, unknowns: Sequence[bool], instantiate: bool | Sequence[bool]
) -> tuple[ClosedJaxpr, ClosedJaxpr, list[bool], list[Any]]:
    """Split a closed jaxpr into what depends on unknown inputs, and the rest.

    Returns a jaxpr from known inputs to known outputs and residuals; one from residuals and unknown inputs to
    unknown outputs; marks of the unknown outputs; and the types of the residuals.

    >>> jaxpr = sagax.make_jaxpr(lambda x, y: (snp.sin(x) * y, x))(1.0, 2.0)
    >>> known, unknown, marks, types = partial_eval.partial_eval_jaxpr_nounits(jaxpr, [False, True], False)
    >>> [e.primitive.name for e in known.eqns], [e.primitive.name for e in unknown.eqns], marks
    (['sin'], ['mul'], [True, False])
    """
    rest: list[Any] = []

    def run(*given: Any) -> list[Any]:
        values = iter(given)
        pvals = [
            PartialVal.unknown(a) if u else PartialVal.known(next(values))
            for a, u in zip(jaxpr.in_avals, unknowns, strict=True)
        ]
        inner, outs, consts = trace_to_jaxpr_nounits(
            lambda *xs: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *xs), pvals, instantiate
        )
        rest[:] = [inner, [not p.is_known() for p in outs], list(map(aval_of, consts))]
        return [*(p.get_known() for p in outs if p.is_known()), *consts]

    known, consts = stage(run, [a for a, u in zip(jaxpr.in_avals, unknowns, strict=True) if not u])
    return ClosedJaxpr(known, consts), ClosedJaxpr(rest[0], ()), rest[1], rest[2]


def dce_jaxpr_consts(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool], list[bool]]:
    """Eliminate dead code; return the jaxpr, the used constants and the used inputs.

    >>> jaxpr = sagax.make_jaxpr(lambda x, y: (x, y))(1, 2).jaxpr
    >>> partial_eval.dce_jaxpr_consts(jaxpr, [True, False])[1:]
    ([], [True, False])
    """
    small, used = dce_jaxpr(jaxpr, used_outputs, instantiate)
    plain = small.replace(constvars=[], invars=[*small.constvars, *small.invars])
    consts = used_inputs(plain)[: len(small.constvars)]
    kept = [v for v, u in zip(small.constvars, consts, strict=True) if u]
    return small.replace(constvars=kept), consts, used


def move_binders_to_back(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """Return the same jaxpr with the marked inputs last.

    >>> jaxpr = sagax.make_jaxpr(lambda x, y: x - y)(1.0, 2)
    >>> [a.dtype.name for a in partial_eval.move_binders_to_back(jaxpr, [True, False]).in_avals]
    ['int32', 'float32']
    """
    pairs = list(zip(closed_jaxpr.invars, to_move, strict=True))
    invars = [*(v for v, m in pairs if not m), *(v for v, m in pairs if m)]
    return closed_jaxpr.replace(jaxpr=closed_jaxpr.jaxpr.replace(invars=invars))


def prune_closed_jaxpr_outputs(jaxpr: ClosedJaxpr, used_outputs: Sequence[bool]) -> ClosedJaxpr:
    """Return a jaxpr with the marked outputs only.

    >>> jaxpr = sagax.make_jaxpr(lambda x: (x, x + 1))(1)
    >>> len(partial_eval.prune_closed_jaxpr_outputs(jaxpr, [False, True]).outvars)
    1
    """
    return jaxpr.replace(jaxpr=prune_jaxpr(jaxpr.jaxpr, list(used_outputs)))


def abstract_eval_fun(fun: Any, *avals: Any, debug_info: Any = None, **params: Any) -> list[Any]:
    """Return the types of the outputs of a flat function, for arguments of these types.

    >>> from sagax.core import ShapedArray
    >>> partial_eval.abstract_eval_fun(lambda x: [x + 1], ShapedArray((), "int32"))
    [ShapedArray(int32[])]
    """
    return stage(lambda *xs: list(fun(*xs, **params)), list(avals))[0].out_avals
