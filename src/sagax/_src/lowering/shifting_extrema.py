"""Find the maxima that need not look for the NaNs that XLA's reductions on CPUs lose.

XLA of jaxlib 0.12 compiles larger reductions, with the elementwise operations before them, by a library whose maxima
and minima take the other operand where one is NaN. So a loss that ends in `maximum(0, x).sum()` would be a number
where x has a NaN. Elementwise extrema are lowered to what is not compiled so (`Builder.extremum`), and reductions
that are extrema look for NaNs by a sum (`Builder.reduce_extremum`). They need not where the result
is what the elements are shifted by before they are exponentiated, as in `softmax`: the NaN itself arrives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, memo_keys
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.arithmetic import sub_p
from sagax._src.primitives.identities import stop_gradient_p
from sagax._src.primitives.reductions import reduce_max_p, reduce_min_p
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
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


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
