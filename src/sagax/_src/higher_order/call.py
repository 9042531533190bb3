"""Define calls: primitives that apply one jaxpr, above all that of `jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config
from sagax._src.core.families import HIGHER_ORDER, CotangentMask
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.primitive import HigherOrderPrimitive
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import (
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_cotangents,
    spread_tangents,
    transposed_operands,
)
from sagax._src.lazy_import import lazy_imports
from sagax._src.transforms.prune import prune_call

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import backward_logs
    from sagax._src.transforms import batch as batch_transform
    from sagax._src.transforms import discharge as discharge_transform
    from sagax._src.transforms import jvp as jvp_transform
    from sagax._src.transforms import linearize as linearize_transform
    from sagax._src.transforms import transpose as transpose_transform


def call_primitive(
    name: str, derivative_params: Callable[[dict], dict] = lambda params: params
) -> HigherOrderPrimitive:
    """Create a primitive that applies its parameter `jaxpr`; the caller defines how it is lowered.

    Derivatives and batched forms are calls by the same primitive, with its other parameters. Tangents that
    are computed apart, and cotangents, have those that `derivative_params` returns.
    """
    p = HigherOrderPrimitive(
        name,
        family=HIGHER_ORDER,
        cotangent_mask=CotangentMask.INSIDE,
        multiple_results=True,
        is_higher_order=True,
    )
    p.is_call = True
    p.sets_vma = True
    p.prune_rule = prune_call

    def call(closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list:
        return bind_call(p, closed, args, **params)

    @p.abstract
    def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
        return jaxpr.out_avals

    @p.effect
    def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
        return jaxpr.effects

    @p.reference
    def _(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
        return eval_jaxpr(jaxpr.jaxpr, (), *args)

    @p.jvp
    def _(
        primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any
    ) -> tuple:
        derived, marks = jvp_transform.jvp_jaxpr(jaxpr, nonzero_marks(tangents))
        outs = call(derived, [*primals, *nonzero_tangents(tangents)], **params)
        n = len(jaxpr.out_avals)
        return outs[:n], spread_tangents(outs[n:], marks, jaxpr.out_avals)

    @p.linearize
    def _(
        primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any
    ) -> tuple:
        split = linearize_transform.linearize_jaxpr(jaxpr, nonzero_marks(tangents))
        n = len(jaxpr.out_avals)
        known = call(split.known, primals, **params)
        outs: list[Any] = []
        if any(split.nonzero_out):
            operands = [*split.pick(primals, known), *nonzero_tangents(tangents)]
            outs = call(split.linear, operands, **derivative_params(params))
        return known[:n], spread_tangents(outs, split.nonzero_out, jaxpr.out_avals)

    @p.transpose
    def _(cts: Sequence[Any], *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list:
        if backward_logs.are_collected():  # what rules log must be values of the caller
            with params.get("under", config.unchanged):
                return transpose_transform.backward(jaxpr.jaxpr, (), args, cts)
        with params.get("under", config.unchanged):
            transposed, marks = transpose_transform.transpose_jaxpr(
                jaxpr, linear_marks(args), nonzero_marks(cts)
            )
        found = call(transposed, transposed_operands(args, cts), **derivative_params(params))
        return spread_cotangents(found, marks, args)

    @p.batch
    def _(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, jaxpr: ClosedJaxpr, **params: Any
    ) -> tuple:
        batched, out_dims = batch_transform.batch_jaxpr(jaxpr, axis, tuple(in_dims))
        return call(batched, args, **params), list(out_dims)

    @p.discharge
    def _(args: Sequence[Any], owned: Sequence[bool], *, jaxpr: ClosedJaxpr, **params: Any) -> list:
        return discharge_transform.discharge_call(p, args, owned, jaxpr, **params)

    return p


def bind_call(
    primitive: HigherOrderPrimitive, closed: ClosedJaxpr, args: Sequence[Any], **params: Any
) -> list:
    """Apply a closed jaxpr under the current trace, by a call primitive.

    Its constants become leading operands. So they are never embedded in the module, and may be values of
    outer transformations.
    """
    if closed.consts:
        args = [*closed.consts, *args]
        closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
    return primitive.bind(*args, jaxpr=closed, **params)


jit_p = call_primitive("jit")


def call(closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list:
    """Apply a closed jaxpr under the current trace, compiled as a whole under eager evaluation.

    `under` is the context of its own settings, if it has any.
    """
    return bind_call(jit_p, closed, args, **params)


@jit_p.show
def _(*, jaxpr: ClosedJaxpr, name: str, **_: Any) -> dict:
    return {"name": name, "jaxpr": jaxpr}


@jit_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, name: str, under: Any = None, **_: Any) -> list:
    if under is None or "exact" not in dict(under.changes):
        return b.call(jaxpr.jaxpr, args, name)
    around, b.exact = b.exact, bool(dict(under.changes)["exact"])
    try:
        return b.inline(jaxpr.jaxpr, args)
    finally:
        b.exact = around
