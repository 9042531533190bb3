"""Decide along which axes of a grid programs are independent, so that they may run as one vectorized program.

They are where each of them has output blocks of its own, and where none reads scratch memory before it has
written it. Control flow that depends on the index along an axis makes the axis a loop: a vectorized program would
run all branches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, subjaxprs
from sagax._src.core.references import EFFECTS, AbstractRef
from sagax._src.core.staging import stage
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.references import addupdate_p, get_p, swap_p
from sagax._src.primitives.structural import convert_element_type_p
from sagax.experimental.checkify._errors import check_p
from sagax.experimental.pallas._blocks import Blocked, BlockMapping, Squeezed
from sagax.experimental.pallas._memory import is_semaphore

# A vectorized kernel holds the values of all programs at a time: at most so many elements of one value.
_MOST_ELEMENTS = 1 << 27


def cut_axes(mapping: BlockMapping, parallel: Sequence[int], grid: Sequence[Any]) -> list:
    """Return for each dimension the parallel axis that counts its blocks, or None."""
    found: list[int | None] = [None] * len(mapping.dims)
    if mapping.forms is None:
        return found
    for k in parallel:
        users = [
            j for j, (_, factors) in enumerate(mapping.forms) if any(a == k for a, _ in factors)
        ]
        if len(users) != 1:
            continue
        (j,) = users
        d = mapping.dims[j]
        if mapping.forms[j] != (0, ((k, 1),)) or type(d) not in (Blocked, Squeezed):
            continue
        n = 1 if type(d) is Squeezed else d.block_size
        size = mapping.array_aval.shape[j]
        if dims.is_dim(size) or dims.is_dim(n) or -(-size // n) != grid[k]:
            continue
        found[j] = k
    return found


def parallel_axes(kernel: Any) -> tuple[int, ...]:
    """Return the axes of the grid along which programs are independent, and are to be vectorized."""
    grid, jaxpr = kernel.grid, kernel.jaxpr.jaxpr
    if not all(type(n) is int for n in grid) or jaxpr.effects - EFFECTS:
        return ()
    own = independent_axes(kernel)
    if not own:
        return ()
    axes, shared = range(len(grid)), _Shared(kernel)
    steering = _steering_axes(shared.ids, jaxpr)
    kept = [k for k in own if not steering >> k & 1]
    if kernel.scratch and kept != list(own) and not shared.written_first({}):
        kept = [k for k in kept if kept[: k + 1] == list(range(k + 1))]
        if not shared.written_first({k: 0 for k in axes if k not in kept}):
            return ()
    largest = _largest(jaxpr)
    while kept and largest * math.prod(grid[k] for k in kept) > _MOST_ELEMENTS:
        if kernel.scratch and len(kept) > 1 and not shared.written_first({}):
            kept = kept[:-1]
            if not shared.written_first({k: 0 for k in axes if k not in kept}):
                return ()
        else:
            kept = kept[1:] if not kernel.scratch else kept[:-1]
    return tuple(kept)


def independent_axes(kernel: Any) -> tuple[int, ...]:
    """Return the axes of a grid of known sizes along which no program sees what another one writes."""
    grid = kernel.grid
    axes = range(len(grid))
    own = [k for k in axes if all(k in cut_axes(m, (k,), grid) for m in kernel.outputs)]
    if not own or not kernel.outputs:
        return ()
    for i, o in kernel.aliases:
        # an aliased input sees what programs before wrote: here the program itself alone
        mine, other = kernel.inputs[i], kernel.outputs[o]
        if mine.forms is None or _blocks_of(mine) != _blocks_of(other):
            return ()
    shared = _Shared(kernel)
    if kernel.scratch and not shared.written_first({}):
        # written by the first iteration of the inner loops only
        own = [k for k in own if own[: k + 1] == list(range(k + 1))]
        loops = [k for k in axes if k not in own]
        if not shared.written_first(dict.fromkeys(loops, 0)):
            return ()
    return tuple(own)


def _blocks_of(mapping: BlockMapping) -> tuple:
    return mapping.dims, mapping.forms


def _largest(jaxpr: Jaxpr) -> int:
    """Return the number of elements of the largest intermediate value, at any depth."""
    sizes = [1]
    for eqn in jaxpr.eqns:
        for v in eqn.outvars:
            if not isinstance(v.aval, AbstractRef) and all(type(n) is int for n in v.aval.shape):
                sizes.append(math.prod(v.aval.shape))
        sizes += [_largest(inner) for inner in subjaxprs(eqn.params)]
    return max(sizes)


# Scratch memory ------------------------------------------------------------------------------------


class _Shared:
    """Tell whether a program reads scratch memory that it has not written itself."""

    def __init__(self, kernel: Any) -> None:
        self.jaxpr = kernel.jaxpr.jaxpr
        self.ids = self.jaxpr.invars[kernel.n_captured : kernel.n_captured + len(kernel.grid)]
        self.sizes = self.jaxpr.invars[kernel.n_captured + len(kernel.grid) :]
        self.n_scratch = len(kernel.scratch)
        self.grid = kernel.grid

    def written_first(self, ids: dict[int, int]) -> bool:
        """Return whether all scratch memory is written before it is read, where some indices are known."""
        known: dict[Any, Any] = {self.ids[k]: np.int32(i) for k, i in ids.items()}
        for k, n in enumerate(self.grid):
            known[self.sizes[k]] = np.int32(n)
        memory = self.jaxpr.invars[len(self.jaxpr.invars) - self.n_scratch :]
        counted = [v for v in memory if is_semaphore(v.aval)]
        unread = set(counted) - _observed(self.jaxpr, set(counted))
        return _written_first(self.jaxpr, known, {v: v in unread for v in memory})


def _observed(jaxpr: Jaxpr, refs: set) -> set:
    """Return those of the references whose contents are read for more than the checks of waits."""
    used = {v for v in jaxpr.outvars if type(v) is not Literal}
    found = set()
    for eqn in reversed(jaxpr.eqns):
        p, ins = eqn.primitive, eqn.invars
        if p is check_p and eqn.params["debug"]:
            continue
        passed = [(k, v) for k, v in enumerate(ins) if type(v) is not Literal and v in refs]
        if p is get_p or p is swap_p:
            if passed and eqn.outvars[0] in used:
                found.add(ins[0])
        elif passed and p is not addupdate_p:
            inner = eqn.params.get("jaxpr")
            bodies = [b.jaxpr for b in eqn.params["branches"]] if p is cond_p else None
            if (p is scan_p or p.is_call) and isinstance(inner, ClosedJaxpr):
                bodies = [inner.jaxpr]
            skipped = p is cond_p
            for k, v in passed:
                if bodies is None or any(_observed(b, {b.invars[k - skipped]}) for b in bodies):
                    found.add(v)
        if eqn.effects or p.is_higher_order or not used.isdisjoint(eqn.outvars):
            used.update(v for v in ins if type(v) is not Literal)
    return found


def _written_first(jaxpr: Jaxpr, known: dict, written: dict) -> bool:
    """Walk a jaxpr; `written` tells of each reference whether all of it was written, and is updated."""
    used = {v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal}
    used.update(v for v in jaxpr.outvars if type(v) is not Literal)
    for eqn in jaxpr.eqns:
        p, ins = eqn.primitive, eqn.invars
        if p is get_p:
            if not written.get(ins[0], True):
                return False
        elif p is swap_p:
            if not written.get(ins[0], True):
                if eqn.outvars[0] in used:
                    return False
                if not eqn.params["transforms"]:
                    written[ins[0]] = True
        elif p is addupdate_p:
            if not written.get(ins[0], True):
                return False
        elif p is cond_p:
            if not _branches_write_first(eqn, known, written):
                return False
        elif any(written.get(v) is False for v in ins if type(v) is not Literal):
            inner = eqn.params.get("jaxpr")
            if not (p.is_call and isinstance(inner, ClosedJaxpr)):
                return False
            if not _enter(inner.jaxpr, ins, known, written):
                return False
        elif not p.is_higher_order and p.reference_rule is not None:
            compute(eqn, known)
    return True


def _enter(inner: Jaxpr, operands: Sequence[Any], known: dict, written: dict) -> bool:
    """Walk the jaxpr of a call or of a branch."""
    pairs = [(v, x) for v, x in zip(inner.invars, operands, strict=True) if type(x) is not Literal]
    inside = {v: written[x] for v, x in pairs if x in written}
    values = {v: known[x] for v, x in pairs if x in known}
    for v, x in zip(inner.invars, operands, strict=True):
        if type(x) is Literal:
            values[v] = x.val
    if not _written_first(inner, values, inside):
        return False
    for v, x in pairs:
        if x in written:
            written[x] = inside[v]
    return True


def _branches_write_first(eqn: Any, known: dict, written: dict) -> bool:
    index, *operands = eqn.invars
    branches = eqn.params["branches"]
    value = index.val if type(index) is Literal else known.get(index)
    if value is not None:
        branches = (branches[int(value)],)
    results = []
    for b in branches:
        after = dict(written)
        if not _enter(b.jaxpr, operands, known, after):
            return False
        results.append(after)
    for v in written:
        written[v] = all(after[v] for after in results)
    return True


def compute(eqn: Any, known: dict) -> None:
    """Compute a scalar whose operands are known."""
    if len(eqn.outvars) != 1 or eqn.outvars[0].aval.shape != () or eqn.effects:
        return
    values = []
    for x in eqn.invars:
        if type(x) is Literal:
            values.append(np.asarray(x.val, x.aval.dtype)[()])
        elif x in known:
            values.append(known[x])
        else:
            return
    found = eqn.primitive.reference_rule(*values, **eqn.params)
    known[eqn.outvars[0]] = found[0] if eqn.primitive.multiple_results else found


# Conditions on the indices of loops ----------------------------------------------------------------


def resolved(closed: ClosedJaxpr, known: dict[int, np.ndarray]) -> ClosedJaxpr:
    """Replace each condition that has one outcome by its branch.

    `known` holds for inputs, by position, the values that they take in the iterations meant.
    """
    inner = closed.jaxpr

    def fun(*xs: Any) -> list:
        values = {inner.invars[i]: v for i, v in known.items()}
        return _run_resolved(inner, dict(zip(inner.invars, xs, strict=True)), values)

    jaxpr, consts = stage(fun, closed.in_avals, inner.debug_info)
    return ClosedJaxpr(jaxpr, consts)


def _run_resolved(jaxpr: Jaxpr, env: dict, known: dict) -> list:
    for eqn in jaxpr.eqns:
        p = eqn.primitive
        ins = [x.val if type(x) is Literal else env[x] for x in eqn.invars]
        if p is cond_p:
            index = eqn.invars[0]
            values = np.asarray(index.val) if type(index) is Literal else known.get(index)
            if values is not None and values.size and (values == values.flat[0]).all():
                branch = eqn.params["branches"][int(values.flat[0])].jaxpr
                inside = {
                    v: known[x]
                    for v, x in zip(branch.invars, eqn.invars[1:], strict=True)
                    if type(x) is not Literal and x in known
                }
                outs = _run_resolved(branch, dict(zip(branch.invars, ins[1:], strict=True)), inside)
                env.update(zip(eqn.outvars, outs, strict=True))
                continue
        elif p.elementwise or p is convert_element_type_p:
            compute(eqn, known)
        out = p.bind(*ins, **eqn.params)
        env.update(zip(eqn.outvars, out if p.multiple_results else [out], strict=True))
    return [x.val if type(x) is Literal else env[x] for x in jaxpr.outvars]


def count_conditions(jaxpr: Jaxpr) -> int:
    """Return the number of conditions, those within others left out."""
    return sum(eqn.primitive is cond_p for eqn in jaxpr.eqns)


# Control flow --------------------------------------------------------------------------------------


def _steering_axes(ids: Sequence[Any], jaxpr: Jaxpr) -> int:
    """Return, as bits, the axes whose index decides how long loops run, or which large branch runs."""
    return _steering(jaxpr, {v: 1 << k for k, v in enumerate(ids)})


def _taint(x: Any, taints: dict) -> int:
    return 0 if type(x) is Literal else taints.get(x, 0)


def _steering(jaxpr: Jaxpr, taints: dict) -> int:
    found = 0
    for eqn in jaxpr.eqns:
        ins = [_taint(x, taints) for x in eqn.invars]
        total = 0
        for t in ins:
            total |= t
        p = eqn.primitive
        if p is cond_p:
            if any(map(_is_large, (b.jaxpr for b in eqn.params["branches"]))):
                found |= ins[0]
            for b in eqn.params["branches"]:
                found |= _inside(b.jaxpr, ins[1:])
        elif p is while_p:
            inner, condition = eqn.params["body_jaxpr"].jaxpr, eqn.params["cond_jaxpr"].jaxpr
            n_cond, n_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
            at_body = {v: t for v, t in zip(inner.invars, ins[n_cond:], strict=True) if t}
            found |= _steering(inner, at_body)
            # what an iteration computes from its index depends on it in later ones
            grown = [
                a | _taint(out, at_body)
                for a, out in zip(ins[n_cond + n_body :], inner.outvars, strict=True)
            ]
            at_cond = {
                v: t for v, t in zip(condition.invars, [*ins[:n_cond], *grown], strict=True) if t
            }
            _steering(condition, at_cond)
            found |= _taint(condition.outvars[0], at_cond)
        elif p is scan_p or p.is_call:
            for inner in subjaxprs(eqn.params):
                if len(inner.invars) == len(ins):
                    found |= _inside(inner, ins)
        for v in eqn.outvars:
            if total:
                taints[v] = total
    return found


def _inside(inner: Jaxpr, ins: Sequence[int]) -> int:
    return _steering(inner, {v: t for v, t in zip(inner.invars, ins, strict=True) if t})


def _is_large(jaxpr: Jaxpr) -> bool:
    """Return whether a branch costs more than the elements that it writes."""
    return any(
        eqn.primitive in (dot_general_p, while_p, scan_p)
        or any(map(_is_large, subjaxprs(eqn.params)))
        for eqn in jaxpr.eqns
    )
