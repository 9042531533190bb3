"""Embed constants of shape () in jaxprs, so that executables do not take them as operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.callbacks import active_calls
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import Jaxpr, Literal
from sagax._src.runtime.array import ConcreteArray


def embed_scalars(jaxpr: Jaxpr, consts: Sequence[Any]) -> tuple[Jaxpr, list[Any]]:
    """Replace constvars whose single number is known to the host by literals; return the other constants.

    An operand more costs time at each call, and XLA computes nothing from it beforehand.
    """
    literals: dict[Any, Literal] = {}
    constvars, kept = [], []
    for var, x in zip(jaxpr.constvars, consts, strict=True):
        if _is_known_scalar(x):
            literals[var] = Literal(x.host()[()], var.aval)
        else:
            constvars.append(var)
            kept.append(x)
    if not literals:
        return jaxpr, kept

    def of(atoms: Sequence[Any]) -> list[Any]:
        return [literals.get(a, a) for a in atoms]

    eqns = [
        e.replace(invars=of(e.invars)) if any(v in literals for v in e.invars) else e
        for e in jaxpr.eqns
    ]
    return jaxpr.replace(constvars=constvars, eqns=eqns, outvars=of(jaxpr.outvars)), kept


def _is_known_scalar(x: Any) -> bool:
    if type(x) is not ConcreteArray or x.aval.shape != () or x._device is not None:
        return False
    if dtypes.is_extended(x.aval.dtype):
        return False
    if x._host is not None:
        return True
    if x._buffer is None or x._buffer.is_deleted() or active_calls.active_calls:
        return False
    return x._where().platform == "cpu"  # elsewhere it takes a transfer
