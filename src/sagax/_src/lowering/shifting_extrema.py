"""Find the maxima that need not look for the NaNs that XLA's reductions on CPUs lose.

XLA of jaxlib 0.12 compiles larger reductions, with the elementwise operations before them, by a library whose maxima
and minima take the other operand where one is NaN. So a loss that ends in `maximum(0, x).sum()` would be a number
where x has a NaN. Elementwise extrema are lowered to what is not compiled so (`Builder.extremum`), and reductions
that are extrema look for NaNs by a sum (`Builder.reduce_extremum`). They need not where the result
is what the elements are shifted by before they are exponentiated, as in `softmax`: the NaN itself arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import Eqn, Jaxpr, Literal, Var
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.arithmetic import add_p, cap_infinity_p, div_p, mul_p, sub_p
from sagax._src.primitives.comparison import eq_p
from sagax._src.primitives.identities import stop_gradient_p
from sagax._src.primitives.reductions import reduce_max_p, reduce_min_p, reduce_sum_p
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import broadcast_in_dim_p
from sagax._src.primitives.transcendental import exp2_p, exp_p
from sagax._src.transforms.derived import derived

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
# Readers that are followed from an extremum: shifts are a few operations away, whatever the size of the program.
_MOST_STEPS = 16


def mark_shifts(jaxpr: Jaxpr) -> Jaxpr:
    """Mark the reductions to extrema that shift what they are the extrema of, also in sub-jaxprs."""
    return derived(jaxpr, (memo_keys.SHIFTS,), lambda: _with_marks(jaxpr))


def _with_marks(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, mark_shifts)
    if any(_is_reduced_extremum(eqn) for eqn in eqns):
        makers: dict[Any, Eqn] = {}
        readers: dict[Any, list[Eqn]] = {}
        for eqn in eqns:
            makers.update(dict.fromkeys(eqn.outvars, eqn))
            for v in eqn.invars:
                if type(v) is Var:
                    readers.setdefault(v, []).append(eqn)
        eqns = [_marked(eqn, makers, readers) if _is_reduced_extremum(eqn) else eqn for eqn in eqns]
        caps = {
            eqn.outvars[0]: cap
            for eqn in eqns
            if (cap := _cap_of(eqn, makers, readers, jaxpr.outvars)) is not None
        }
        if caps:
            eqns = _rewritten(eqns, caps)
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


def _cap_of(
    eqn: Eqn, makers: dict[Any, Eqn], readers: dict[Any, list[Eqn]], outs: Sequence[Any]
) -> Eqn | None:
    """Return the equation that caps what a marked extremum shifts, if nothing else reads its result."""
    if eqn.primitive is not reduce_max_p or not eqn.params.get("shifts"):
        return None
    maker = makers.get(eqn.invars[0])
    passed: list[Eqn] = [eqn]
    if maker is not None and maker.primitive is stop_gradient_p:
        passed.append(maker)
        maker = makers.get(maker.invars[0])
    if maker is None or maker.primitive is not cap_infinity_p:
        return None
    (capped,) = maker.outvars
    others = [e for e in readers[capped] if not (_is_less(e, capped) or e in passed)]
    return None if others or any(v is capped for v in outs) else maker


def _is_less(eqn: Eqn, x: Var) -> bool:
    """Return whether something else is subtracted from `x`."""
    return eqn.primitive is sub_p and eqn.invars[0] is x and eqn.invars[1] is not x


class _Writer:
    """Append equations in the place of one."""

    def __init__(self, eqn: Eqn) -> None:
        self.eqn = eqn
        self.eqns: list[Eqn] = []

    def emit(
        self, primitive: Any, ins: list, aval: Any, found: Var | None = None, **params: Any
    ) -> Var:
        found = Var(aval) if found is None else found
        made = Eqn(
            primitive, ins, [found], params, traceback=self.eqn.traceback, scope=self.eqn.scope
        )
        self.eqns.append(made)
        return found


def _number(value: float, aval: Any) -> Literal:
    return Literal(np.asarray(value, aval.dtype)[()], intern_aval((), aval.dtype, False, None))


def _with_flag(eqn: Eqn, x: Any) -> list[Eqn]:
    """Let the NaNs of `x` arrive by the extremum: add 0 / (1 + the sum of squares).

    That is NaN if and only if an element is, and 0 else.
    """
    (out,) = eqn.outvars
    inside, writer = Var(out.aval), _Writer(eqn)
    writer.eqns.append(eqn.replace(outvars=[inside]))
    squares = writer.emit(mul_p, [x, x], x.aval)
    total = writer.emit(reduce_sum_p, [squares], out.aval, axes=eqn.params["axes"])
    above = writer.emit(add_p, [total, _number(1, out.aval)], out.aval)
    flag = writer.emit(div_p, [_number(0, out.aval), above], out.aval)
    writer.emit(add_p, [inside, flag], out.aval, found=out)
    return writer.eqns


def _rewritten(eqns: list[Eqn], caps: dict[Any, Eqn]) -> list[Eqn]:
    """Write the shifts of capped numbers, by outvar of the extremum, in the form that is quickest.

    Where XLA compiles all of a softmax as one function, the cap takes part in it. Elsewhere each element that
    equals the extremum is 0 by a choice, so that the cap is not written to memory.
    """
    sources = {cap.outvars[0]: cap.invars[0] for cap in caps.values()}
    whole = {caps[out].outvars[0] for out in caps if _is_one_function(out.aval)}
    found: list[Eqn] = []
    for eqn in eqns:
        first = eqn.invars[0] if eqn.invars else None
        if eqn.primitive is cap_infinity_p and eqn.outvars[0] in sources:
            if eqn.outvars[0] in whole:
                found.append(eqn.replace(params={"fuses": True}))
        elif eqn.outvars and eqn.outvars[0] in caps:
            (x,) = caps[eqn.outvars[0]].invars
            if caps[eqn.outvars[0]].outvars[0] in whole:
                found += _with_flag(eqn, x)
            else:
                found.append(eqn.replace(invars=[x]))
        elif first in sources and first not in whole:
            x = sources[first]
            found += _chosen(eqn, x) if eqn.primitive is sub_p else [eqn.replace(invars=[x])]
        else:
            found.append(eqn)
    return found


def _chosen(eqn: Eqn, x: Any) -> list[Eqn]:
    """Subtract a shift from `x`: 0 where they are equal, infinities too; NaN where the shift is -inf."""
    (out,), shift, writer = eqn.outvars, eqn.invars[1], _Writer(eqn)
    boolean = np.dtype(bool)
    low = _number(-np.inf, out.aval)
    none = writer.emit(eq_p, [shift, low], shift.aval.update(dtype=boolean, weak_type=False))
    nans = writer.emit(
        broadcast_in_dim_p,
        [_number(np.nan, out.aval)],
        shift.aval,
        shape=shift.aval.shape,
        broadcast_dimensions=(),
    )
    shift = writer.emit(select_n_p, [none, shift, nans], shift.aval)
    equal = writer.emit(eq_p, [x, shift], out.aval.update(dtype=boolean, weak_type=False))
    less = writer.emit(sub_p, [x, shift], out.aval)
    zeros = writer.emit(
        broadcast_in_dim_p,
        [_number(0, out.aval)],
        out.aval,
        shape=out.aval.shape,
        broadcast_dimensions=(),
    )
    writer.emit(select_n_p, [equal, less, zeros], out.aval, found=out)
    return writer.eqns


def _is_one_function(rows: Any) -> bool:
    return dims.is_static(rows.shape) and rows.size >= tuning.LEAST_ROWS_OF_ONE_SOFTMAX


def _is_large(aval: Any) -> bool:
    size: Any = aval.size if dims.is_static(aval.shape) else tuning.LEAST_SIZE_THAT_LOSES_NAN
    return aval.dtype in _DTYPES and size >= tuning.LEAST_SIZE_THAT_LOSES_NAN


def _is_reduced_extremum(eqn: Eqn) -> bool:
    return eqn.primitive in (reduce_max_p, reduce_min_p) and _is_large(eqn.invars[0].aval)


def _marked(eqn: Eqn, makers: dict[Any, Eqn], readers: dict[Any, list[Eqn]]) -> Eqn:
    """Mark an extremum that shifts the elements it is the extremum of, before they are exponentiated.

    As in `softmax`: a NaN among the elements arrives by itself. Also if the elements are constants for derivatives.
    """
    elements, constant = {eqn.invars[0]}, False
    maker = makers.get(eqn.invars[0])
    if maker is not None and maker.primitive is stop_gradient_p:
        elements.add(maker.invars[0])
        constant = True
    rest = list(eqn.outvars)  # values of the size of the extremum that depend on it
    for _ in range(_MOST_STEPS):
        if not rest:
            break
        for e in readers.get(rest.pop(0), ())[:_MOST_STEPS]:
            if not elements.isdisjoint([v for v in e.invars if type(v) is Var]):
                if constant or (e.primitive is sub_p and _is_exponent(e, readers)):
                    return eqn.replace(params={**eqn.params, "shifts": True})
            elif len(e.outvars) == 1 and _is_spread(e, eqn):
                rest += e.outvars
    return eqn


def _is_exponent(eqn: Eqn, readers: dict[Any, list[Eqn]]) -> bool:
    return any(e.primitive in (exp_p, exp2_p) for e in readers.get(eqn.outvars[0], ()))


def _is_spread(e: Eqn, eqn: Eqn) -> bool:
    """Return whether a result is of the size of an extremum, or repeats it for the elements."""
    avals = [v.aval for v in (e.outvars[0], eqn.outvars[0], eqn.invars[0])]
    if not all(dims.is_static(a.shape) for a in avals):
        return True
    size, elements = e.outvars[0].aval.size, eqn.invars[0].aval.size
    return size <= eqn.outvars[0].aval.size or (
        e.primitive is broadcast_in_dim_p and size == elements
    )
