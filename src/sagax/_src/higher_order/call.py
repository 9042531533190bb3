"""Define the primitive of `jit`: apply a jaxpr, compiled as a whole where it is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src import config
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import Linear, Zero
from sagax._src.lazy_import import lazy_imports
from sagax._src.transforms.prune import prune_program


@lazy_imports
def _() -> None:
    global batch_transform, jvp_transform, linearize_transform, transpose_transform
    from sagax._src.transforms import batch as batch_transform
    from sagax._src.transforms import jvp as jvp_transform
    from sagax._src.transforms import linearize as linearize_transform
    from sagax._src.transforms import transpose as transpose_transform


jit_p = Primitive("jit", multiple_results=True, holds_program=True)
jit_p.is_call = True


def call(closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list:
    """Apply a closed jaxpr under the current trace. Its constants become leading operands, so that
    they are never copied into the program and may be values of enclosing transformations.

    `name` is its name, `under` the context of the settings of its own, if it has any.
    """
    if closed.consts:
        args = [*closed.consts, *args]
        closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
    return jit_p.bind(*args, jaxpr=closed, **params)


jit_p.tells_vma = True


@jit_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return jaxpr.out_avals


@jit_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@jit_p.show
def _(*, jaxpr: ClosedJaxpr, name: str, **_: Any) -> dict:
    return {"name": name, "jaxpr": jaxpr}


@jit_p.reference
def _(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return eval_jaxpr(jaxpr.jaxpr, (), *args)


@jit_p.jvp
def _(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, name: str, **params: Any
) -> tuple:
    nonzero = tuple(type(t) is not Zero for t in tangents)
    derived, marks = jvp_transform.jvp_jaxpr(jaxpr, nonzero)
    outs = call(
        derived, [*primals, *(t for t in tangents if type(t) is not Zero)], name=name, **params
    )
    n = len(jaxpr.out_avals)
    return outs[:n], _spread(outs[n:], marks, jaxpr.out_avals)


def _spread(values: Sequence[Any], marks: Sequence[bool], avals: Sequence[Any]) -> list:
    given = iter(values)
    return [next(given) if m else Zero.like(a) for m, a in zip(marks, avals, strict=True)]


@jit_p.linearize
def _(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, name: str, **params: Any
) -> tuple:
    nonzero = tuple(type(t) is not Zero for t in tangents)
    split = linearize_transform.linearize_jaxpr(jaxpr, nonzero)
    n = len(jaxpr.out_avals)
    known = call(split.known, primals, name=name, **params)
    given = [t for t in tangents if type(t) is not Zero]
    outs = (
        call(split.linear, [*split.pick(primals, known), *given], name=name, **params)
        if any(split.nonzero_out)
        else []
    )
    return known[:n], _spread(outs, split.nonzero_out, jaxpr.out_avals)


@jit_p.transpose
def _(cts: Sequence[Any], *args: Any, jaxpr: ClosedJaxpr, name: str, **params: Any) -> list:
    linear = tuple(type(a) is Linear for a in args)
    nonzero = tuple(type(c) is not Zero for c in cts)
    with params.get("under", config.unchanged):
        transposed, marks = transpose_transform.transpose_jaxpr(jaxpr, linear, nonzero)
    operands = [a for a in args if type(a) is not Linear] + [c for c in cts if type(c) is not Zero]
    found = iter(call(transposed, operands, name=name, **params))
    flags = iter(marks)
    return [
        (next(found) if next(flags) else Zero(a.aval)) if lin else None
        for a, lin in zip(args, linear, strict=True)
    ]


@jit_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    name: str,
    **params: Any,
) -> tuple:
    batched, out_dims = batch_transform.batch_jaxpr(jaxpr, axis, tuple(in_dims))
    return call(batched, args, name=name, **params), list(out_dims)


@jit_p.prune
def _(used: list[bool], *, jaxpr: ClosedJaxpr, **params: Any) -> tuple:
    small, operands = prune_program(jaxpr, used)
    return {"jaxpr": small, **params}, operands, used


@jit_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, name: str, under: Any = None, **_: Any) -> list:
    if under is None or "exact" not in dict(under.changes):
        return b.call(jaxpr.jaxpr, args, name)
    around, b.exact = b.exact, bool(dict(under.changes)["exact"])
    try:
        return b.inline(jaxpr.jaxpr, args)
    finally:
        b.exact = around
