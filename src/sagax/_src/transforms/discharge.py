"""Discharge references: replace them in a jaxpr by the values that they hold.

The jaxpr is run with references that have values, under a trace that only forwards: reads and writes
then are operations on these values, and equations of higher-order primitives discharge in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from sagax._src.core import memo_keys
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from sagax._src.core.references import EFFECTS, AbstractRef, Ref
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.trace import AxisTrace, Trace, entered, evaluation, state
from sagax._src.primitives.references import as_array
from sagax._src.transforms.derived import derived


class DischargeTrace(AxisTrace):
    """Own the references of a jaxpr that is discharged.

    `final`: nothing is differentiated afterwards, so that custom derivative rules are not needed.
    """

    __slots__ = ("final",)

    discharges = True

    def __init__(self, parent: Trace, final: bool) -> None:
        super().__init__(parent, ())
        self.final = final


def is_final() -> bool:
    """Return whether what is discharged now is not differentiated afterwards."""
    trace = state.trace
    return trace is evaluation or (type(trace) is DischargeTrace and trace.final)


class Discharged(NamedTuple):
    """A jaxpr on values, whose last outputs are the new values of the references that it writes.

    `written` marks these among all inputs of the original jaxpr. Its own constants are leading inputs.
    """

    jaxpr: ClosedJaxpr
    written: tuple[bool, ...]


def discharge_jaxpr(
    closed: ClosedJaxpr, owned: Sequence[bool], returned: Sequence[bool] | None = None
) -> Discharged:
    """Replace the references among the inputs marked in `owned` by their values. Cached.

    New values are further outputs: of the references that are written, or of those marked in `returned`.
    """
    inner, final = closed.jaxpr, is_final()
    key = (memo_keys.DISCHARGED, tuple(owned), returned and tuple(returned), final)

    def build() -> tuple[Jaxpr, list, tuple[bool, ...]]:
        written: list[bool] = []

        def fun(*xs: Any) -> list:
            trace = DischargeTrace(state.trace, final)
            with entered(trace):
                ins = [
                    _owned_by(trace, v.aval, x) if mine else x
                    for v, x, mine in zip(inner.invars, xs, owned, strict=True)
                ]
                outs = eval_jaxpr(inner, closed.consts, *ins)
            written[:] = [
                mine and ref._value is not x for ref, x, mine in zip(ins, xs, owned, strict=True)
            ]
            marks = written if returned is None else returned
            return [*outs, *[ref._value for ref in compress(ins, marks)]]

        avals = [
            v.aval.inner_aval if mine else v.aval
            for v, mine in zip(inner.invars, owned, strict=True)
        ]
        jaxpr, consts = stage(fun, avals, inner.debug_info)
        return jaxpr, consts, tuple(written)

    if closed.consts:
        jaxpr, consts, written = build()
    else:
        jaxpr, consts, written = derived(inner, key, build)
    return Discharged(ClosedJaxpr(jaxpr, consts), written if returned is None else tuple(returned))


def _owned_by(trace: Trace, aval: AbstractRef, value: Any) -> Ref:
    return Ref(aval, trace, value=value)


def discharge_all(jaxpr: Jaxpr) -> Jaxpr:
    """Return a jaxpr without references; those that it creates become values.

    None of its inputs is a reference.
    """
    if not jaxpr.effects & EFFECTS:
        return jaxpr

    def build() -> Jaxpr:
        def fun(*xs: Any) -> list:
            n = len(jaxpr.constvars)
            with entered(DischargeTrace(state.trace, True)):
                return eval_jaxpr(jaxpr, xs[:n], *xs[n:])

        avals = [v.aval for v in (*jaxpr.constvars, *jaxpr.invars)]
        found, consts = stage(fun, avals, jaxpr.debug_info)
        n, n_captured = len(jaxpr.constvars), len(consts)
        if n_captured:  # scalars that were written: constants of the jaxpr
            raise AssertionError("a jaxpr captured values while it was discharged")
        return found.replace(constvars=found.invars[:n], invars=found.invars[n:])

    return derived(jaxpr, (memo_keys.DISCHARGED, "all"), build)


# Parts of discharge rules --------------------------------------------------------------------------


def contents(args: Sequence[Any], owned: Sequence[bool]) -> list:
    """Return operands with the values of owned references in place of them."""
    return [as_array(x._value) if mine else x for x, mine in zip(args, owned, strict=True)]


def write_back(args: Sequence[Any], written: Sequence[bool], outs: Sequence[Any]) -> list:
    """Store the last of `outs` in the written references; return the others."""
    refs = list(compress(args, written))
    n = len(outs) - len(refs)
    for ref, value in zip(refs, outs[n:], strict=True):
        ref._value = value
        ref._shared = False
    return list(outs[:n])


def discharge_call(
    primitive: Any, args: Sequence[Any], owned: Sequence[bool], closed: ClosedJaxpr, **params: Any
) -> list:
    """Apply a primitive that calls one jaxpr, `jaxpr`, to values; the rule of such primitives."""
    found = discharge_jaxpr(closed, owned)
    values = [*found.jaxpr.consts, *contents(args, owned)]
    pure = ClosedJaxpr(hoist_constants(found.jaxpr.jaxpr), ())
    return write_back(args, found.written, primitive.bind(*values, jaxpr=pure, **params))
