"""Find waits for semaphores that never end, while a kernel is traced.

Programs run in order, so all that the first program waits for was signaled by itself, before. Its counts are computed
where they follow from constants and the indices of the program; others stay unknown, and are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, subjaxprs
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.primitives.references import (
    OPERAND,
    BlockIndex,
    addupdate_p,
    get_p,
    new_ref_p,
    swap_p,
)
from sagax.experimental.checkify._errors import Error, check_p
from sagax.experimental.pallas._check import KernelCheckError
from sagax.experimental.pallas._memory import TPUMemorySpace, is_semaphore
from sagax.experimental.pallas._plan import compute
from sagax.experimental.pallas._semaphores import NEVER_ENDS


class _Counts:
    """The counts of a semaphore or of an array of them; None if they are not known any more."""

    __slots__ = ("now",)

    def __init__(self, shape: tuple) -> None:
        self.now: np.ndarray | None = np.zeros(shape, np.int32)


def check_waits(kernel: Any) -> None:
    """Raise KernelCheckError if the first program of a traced kernel waits for what is never signaled."""
    jaxpr = kernel.jaxpr.jaxpr
    if not any(map(is_semaphore, kernel.scratch)) and not _creates_semaphores(jaxpr):
        return
    first = kernel.n_captured
    known: dict[Any, Any] = {}
    for k, n in enumerate(kernel.grid):
        known[jaxpr.invars[first + k]] = np.int32(0)
        if type(n) is int:
            known[jaxpr.invars[first + len(kernel.grid) + k]] = np.int32(n)
    memory = jaxpr.invars[len(jaxpr.invars) - len(kernel.scratch) :]
    counts = {
        v: _Counts(a.shape) for v, a in zip(memory, kernel.scratch, strict=True) if is_semaphore(a)
    }
    _First(kernel).walk(jaxpr, known, counts)


def _creates_semaphores(jaxpr: Jaxpr) -> bool:
    return any(
        (eqn.primitive is new_ref_p and eqn.params["memory_space"] is TPUMemorySpace.SEMAPHORE)
        or any(map(_creates_semaphores, subjaxprs(eqn.params)))
        for eqn in jaxpr.eqns
    )


class _First:
    """Follow the first program of a kernel."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def walk(self, jaxpr: Jaxpr, known: dict, counts: dict) -> None:
        """Compute known values and counts, from one equation to the next."""
        for eqn in jaxpr.eqns:
            p, ins = eqn.primitive, eqn.invars
            if p is check_p:
                self._check(eqn, known)
            elif p is new_ref_p:
                if eqn.params["memory_space"] is TPUMemorySpace.SEMAPHORE:
                    counts[eqn.outvars[0]] = _Counts(eqn.outvars[0].aval.shape)
            elif p in (get_p, addupdate_p, swap_p):
                if ins[0] in counts:
                    _access(eqn, known, counts[ins[0]])
            elif p is cond_p:
                index = _value(ins[0], known)
                if index is None:
                    _forget(ins, counts)
                else:
                    self._enter(eqn.params["branches"][int(index)].jaxpr, ins[1:], known, counts)
            elif p is scan_p:
                if eqn.params["length"] and not eqn.params["reverse"]:
                    n = eqn.params["num_consts"] + eqn.params["num_carry"]
                    inner = eqn.params["jaxpr"].jaxpr
                    self._enter(inner, ins[:n], known, counts)  # the first iteration
                _forget(ins, counts)
            elif p.is_call and isinstance(eqn.params.get("jaxpr"), ClosedJaxpr):
                self._enter(eqn.params["jaxpr"].jaxpr, ins, known, counts)
            elif p.is_higher_order:
                _forget(ins, counts)
            elif p.reference_rule is not None:
                compute(eqn, known)

    def _enter(self, inner: Jaxpr, operands: Sequence[Any], known: dict, counts: dict) -> None:
        pairs = list(zip(inner.invars, operands, strict=False))
        values = {v: x for v, o in pairs if (x := _value(o, known)) is not None}
        inside = {v: counts[o] for v, o in pairs if type(o) is not Literal and o in counts}
        self.walk(inner, values, inside)

    def _check(self, eqn: Any, known: dict) -> None:
        code, *more = [_value(v, known) for v in eqn.invars]
        if not code or any(x is None for x in more):
            return
        text = Error(np.asarray(code), tuple(more), eqn.params["sites"]).get() or ""
        if NEVER_ENDS in text:
            ids = (0,) * len(self.kernel.grid)
            raise KernelCheckError(
                f"program {ids} of {self.kernel.name}: {NEVER_ENDS}",
                function="pallas_call",
                traceback=eqn.traceback,
                fix="signal the semaphore as often as is waited for, or start the copy, before the wait: "
                "programs run in order here, and none runs beside the one that waits",
            )


def _value(x: Any, known: dict) -> Any:
    return np.asarray(x.val, x.aval.dtype)[()] if type(x) is Literal else known.get(x)


def _forget(operands: Sequence[Any], counts: dict) -> None:
    for x in operands:
        if type(x) is not Literal and x in counts:
            counts[x].now = None


def _access(eqn: Any, known: dict, counts: _Counts) -> None:
    """Read or add to counts, if they, the index and the number are known."""
    n = 1 if eqn.primitive is get_p else 2
    at = _index(eqn.params["transforms"], [_value(v, known) for v in eqn.invars[n:]])
    if eqn.primitive is get_p:
        if counts.now is not None and at is not None and np.shape(counts.now[at]) == ():
            known[eqn.outvars[0]] = counts.now[at]
        return
    number = _value(eqn.invars[1], known)
    if eqn.primitive is addupdate_p and None not in (at, number) and counts.now is not None:
        counts.now[at] += number
    else:
        counts.now = None


def _index(transforms: Sequence[Any], operands: list) -> tuple | None:
    """Return the index of one element, or None."""
    if not transforms:
        return ()
    if len(transforms) > 1 or type(transforms[0]) is not BlockIndex:
        return None
    given, found = iter(operands), []
    for e in transforms[0].entries:
        i = next(given) if e is OPERAND else e
        if not isinstance(i, (int, np.integer)):
            return None
        found.append(int(i))
    return tuple(found)
