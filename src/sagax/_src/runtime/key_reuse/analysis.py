"""Analyze the keys of a jaxpr: which it uses, returns, and creates.

A jaxpr is evaluated on `Cells` in place of keys. The result is its `Signature`, computed once for each
jaxpr, and replayed at each call: on the cells of arrays, or of variables of a calling jaxpr. Loops are
evaluated for two iterations, since any error of a later iteration occurs in the second. A key at an index
that is unknown while tracing never causes an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, memo_keys
from sagax._src.core.families import Default
from sagax._src.core.jaxpr import Jaxpr, Literal, subjaxprs
from sagax._src.core.operands import LoopOperands, WhileOperands
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p, custom_vjp_p
from sagax._src.higher_order.marked_calls import xla_metadata_call_p
from sagax._src.higher_order.progress import progress_p
from sagax._src.higher_order.remat import name_p, remat_p
from sagax._src.higher_order.saved_residuals import saved_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.shard_map import shard_map_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.gathering import gather_p
from sagax._src.primitives.identities import optimization_barrier_p, stop_gradient_p
from sagax._src.primitives.random_bits import (
    KeyDType,
    is_key_dtype,
    random_bits_p,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
)
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.slicing import dynamic_slice_p
from sagax._src.runtime.key_reuse import ledger as _ledger
from sagax._src.runtime.key_reuse.ledger import Cells, Journal, Ledger, Site, Use, consume

_U32 = np.dtype(np.uint32)
_LARGEST = 1 << 22  # larger uint32 arrays hold data, not keys
_MOST_KNOWN = 1 << 12


class Signature:
    """Describe the use of keys: a ledger with the uses for each input that may hold keys, and the cells of the
    results.
    """

    __slots__ = ("inputs", "outs", "simple_uses")

    def __init__(self, inputs: list[tuple[int, Ledger, int]], outs: list[Any]) -> None:
        self.inputs = [i for i in inputs if _used(i[1]) or _given_back(i[1], outs)]
        self.outs = outs
        # the commonest case: single keys, each used once, and nothing else
        simple = all(x is None for x in outs) and all(
            ledger.size == 1 and not ledger.children and not ledger.splits and 0 in ledger.uses
            for _, ledger, _ in self.inputs
        )
        self.simple_uses = (
            [(i, ledger.uses[0], w) for i, ledger, w in self.inputs] if simple else None
        )


def _used(ledger: Ledger) -> bool:
    return bool(ledger.uses or ledger.bulk or ledger.children or ledger.splits)


def _given_back(ledger: Ledger, outs: Sequence[Any]) -> bool:
    return any(isinstance(x, Cells) and ledger in x.ledgers for x in outs)


def concerns_keys(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr has inputs, outputs or operations of keys."""
    found = jaxpr.memo.get(memo_keys.HAS_RANDOM_KEYS)
    if found is None:
        found = jaxpr.memo[memo_keys.HAS_RANDOM_KEYS] = any(
            is_key_dtype(getattr(v.aval, "dtype", None))
            for v in (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)
        ) or any(
            eqn.primitive.handles_keys or any(map(concerns_keys, subjaxprs(eqn.params)))
            for eqn in jaxpr.eqns
        )
    return found


def signature(jaxpr: Jaxpr) -> Signature | None:
    """Return the signature of a jaxpr, whose inputs are its constvars and invars; None without keys.

    Raises KeyReuseError if the jaxpr uses a key twice.
    """
    if not concerns_keys(jaxpr):
        return None
    found = jaxpr.memo.get(memo_keys.KEY_REUSE)
    if found is None:
        found = jaxpr.memo[memo_keys.KEY_REUSE] = signature_with(jaxpr, {})
    return found


def signature_with(jaxpr: Jaxpr, known: dict[int, Any]) -> Signature:
    """Return the `signature` if the contents of some inputs (by position) are known integers."""
    env: dict[Any, Any] = {}
    inputs = []
    for i, v in enumerate((*jaxpr.constvars, *jaxpr.invars)):
        cells = input_cells(v.aval)
        env[v] = known.get(i) if cells is None else cells
        if cells is not None:
            inputs.append((i, cells.ledgers[0], v.aval.shape[-1] if cells.words else 0))
    outs = Interpreter().run(jaxpr, env)
    return Signature(inputs, outs)


def input_cells(aval: Any) -> Cells | None:
    """Create cells for a new array of a type that may hold keys; None for others."""
    dtype = getattr(aval, "dtype", None)
    if is_key_dtype(dtype):
        return _ledger.fresh(aval.shape) if dims.is_static(aval.shape) else None
    if dtype == _U32 and _ledger.raw_shape(aval) is not None and 0 < aval.size <= _LARGEST:
        return _ledger.fresh_raw(aval)
    return None


def _no_cells(aval: Any) -> Cells | None:
    """Return a result of unknown origin."""
    if is_key_dtype(getattr(aval, "dtype", None)) and dims.is_static(aval.shape):
        return _ledger.unknown(aval.shape)
    return None


class Interpreter:
    """Evaluate jaxprs on cells. With a journal, uses can be undone."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal = journal

    def run(self, jaxpr: Jaxpr, env: dict[Any, Any]) -> list[Any]:
        """Evaluate the equations; `env` has the values of the inputs.

        Values are Cells, known integers as NumPy arrays, or None.
        """
        for eqn in jaxpr.eqns:
            ins = [_literal(v) if type(v) is Literal else env.get(v) for v in eqn.invars]
            avals = [v.aval for v in eqn.outvars]
            outs = self.bind(eqn.primitive, eqn.params, ins, avals, eqn.traceback)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [
            x if isinstance(x := env.get(v), Cells) else None
            for v in (None if type(v) is Literal else v for v in jaxpr.outvars)
        ]

    def bind(
        self, primitive: Any, params: dict, ins: list[Any], avals: Sequence[Any], traceback: Any
    ) -> list[Any]:
        """Evaluate an operation; `avals` are the types of the results."""
        rule = primitive.key_rule
        if not isinstance(rule, Default):
            return rule(self, params, ins, avals, traceback)
        if primitive.handles_keys:
            return _use_all(self, params, ins, avals, traceback)
        has_cells = any(isinstance(x, Cells) for x in ins)
        if has_cells and primitive.moves_keys:
            return _moved(primitive, params, ins, avals)
        if not has_cells and ins and all(x is not None for x in ins):
            return _computed(primitive, params, ins, avals)
        return [_no_cells(a) for a in avals]

    def use(self, cells: Any, what: str, index: int, traceback: Any) -> None:
        """Use the keys in an operand."""
        if isinstance(cells, Cells):
            consume(cells, (Site(what, index), traceback), self.journal)

    def call(
        self,
        found: Signature | None,
        ins: Sequence[Any],
        what: str,
        traceback: Any,
        avals: Sequence[Any],
        *,
        hidden: int = 0,
        loop: str = "",
    ) -> list[Any]:
        """Call a jaxpr of this signature on operands; the first `hidden` operands are captured values."""
        if found is None:
            return [_no_cells(a) for a in avals]
        maps: dict[Ledger, tuple[np.ndarray, tuple[Ledger, ...]]] = {}
        for i, ledger, width in found.inputs:
            cells = ins[i]
            if not isinstance(cells, Cells):
                ids, ledgers = np.full(ledger.size, _ledger.UNKNOWN), ()
            else:
                keys = _ledger.wrapped(cells, (width,)) if width else cells
                ids, ledgers = keys.array.reshape(-1), keys.ledgers
            at = i - hidden if i >= hidden else None

            def used(inner: Use, at: int | None = at) -> Use:
                return Site(what, at, inner, loop), traceback

            self._replay(ledger, ids, ledgers, maps, used)
        copies: dict[Ledger, Ledger] = {}
        return [
            None if x is None else _handed_on(x, maps, copies, aval)
            for x, aval in zip(found.outs, avals, strict=True)
        ]

    def _replay(
        self, ledger: Ledger, ids: np.ndarray, ledgers: tuple, maps: dict, used: Callable
    ) -> None:
        """Apply the uses in a ledger to the keys `ids`."""
        maps[ledger] = ids, ledgers
        for where, inner in ledger.all_uses:
            consume(_ledger.pack(np.asarray(ids[where]), ledgers), used(inner), self.journal)
        children: dict[Ledger, tuple[np.ndarray, list[Ledger]]] = {}
        for (at, number), (child, offset) in ledger.children.items():
            account = locate(ledgers, int(ids[at]))
            if child not in children:
                children[child] = np.full(child.size, _ledger.UNKNOWN), []
            if account is not None:
                there, where = account[0].folded(account[1], number)
                children[child][0][offset] = there.start + where
                children[child][1].append(there)
        for child, (keys, owners) in children.items():
            self._replay(child, keys, tuple(dict.fromkeys(owners)), maps, used)
        for at, (split, first, parts) in ledger.splits.items():
            if split not in maps:
                copy = split.copy()
                maps[split] = np.arange(copy.start, copy.start + copy.size), (copy,)
            account = locate(ledgers, int(ids[at]))
            if account is not None:
                account[0].adopt(account[1], maps[split][1][0], first, parts)


def locate(ledgers: Sequence[Ledger], key: int) -> tuple[Ledger, int] | None:
    """Return the ledger of an id, and the offset in it."""
    for ledger in ledgers:
        if ledger.start <= key < ledger.start + ledger.size:
            return ledger, key - ledger.start
    return None


def _handed_on(x: Cells, maps: dict, copies: dict, aval: Any) -> Cells:
    """Translate the cells of a result to ids of the caller."""
    ids = x.array
    flat = (ids // _ledger.WORD if x.words else ids).reshape(-1)
    out = np.full(flat.shape, _ledger.UNKNOWN)
    ledgers: list[Ledger] = []
    for ledger, offsets, own in _ledger.part(x.ledgers, flat):
        if ledger in maps:
            target, owners = maps[ledger]
            out[own] = target[offsets]
            ledgers.extend(owners)
        else:
            if ledger not in copies:
                copies[ledger] = ledger.copy()
            out[own] = copies[ledger].start + offsets
            ledgers.append(copies[ledger])
    if x.words:
        out = np.where(out < 0, out, out * _ledger.WORD + ids.reshape(-1) % _ledger.WORD)
    return _ledger.pack(out.reshape(ids.shape), ledgers, x.words)


def _literal(v: Literal) -> Any:
    x = np.asarray(v.val)
    return x.astype(v.aval.dtype) if x.dtype.kind in "iub" else None


def _moved(primitive: Any, params: dict, ins: list[Any], avals: Sequence[Any]) -> list[Any]:
    """Move elements of the operands."""
    cells = [x for x in ins if isinstance(x, Cells)]
    words = cells[0].words
    ledgers = [ledger for x in cells for ledger in x.ledgers]
    several = primitive.multiple_results
    if primitive is random_wrap_p or any(x is None for x in ins):
        return _one_of(primitive, ins, avals)
    arrays = [x.array if isinstance(x, Cells) else x for x in ins]
    found = primitive.rule("reference")(*arrays, **params)
    outs = found if several else [found]
    return [_ledger.pack(np.asarray(x, np.int64), ledgers, words) for x in outs]


def _one_of(primitive: Any, ins: list[Any], avals: Sequence[Any]) -> list[Any]:
    """Select elements at unknown indices: known only if all are equal."""
    cells = [x for x in ins if isinstance(x, Cells)]
    ids = np.unique(np.concatenate([x.array.reshape(-1) for x in cells]))
    keys = [x for x in ins if not isinstance(x, np.ndarray)]
    certain = ids.size == 1 and primitive in (dynamic_slice_p, gather_p, select_n_p)
    if certain and len(avals) == 1 and len(keys) >= len(cells) and dims.is_static(avals[0].shape):
        ids = np.broadcast_to(ids.reshape(()), avals[0].shape)
        return [_ledger.pack(ids, cells[0].ledgers, cells[0].words)]
    return [_no_cells(a) for a in avals]


def _computed(primitive: Any, params: dict, ins: list[Any], avals: Sequence[Any]) -> list[Any]:
    """Compute known integers, such as indices."""
    small = all(
        dims.is_static(a.shape) and a.dtype.kind in "iub" and a.size <= _MOST_KNOWN
        for a in avals
        if not is_key_dtype(a.dtype)
    )
    exact = primitive.exact is True and primitive.reference_rule is not None
    if not exact or not small or any(is_key_dtype(a.dtype) for a in avals):
        return [_no_cells(a) for a in avals]
    with np.errstate(all="ignore"):
        found = primitive.rule("reference")(*ins, **params)
    outs = found if primitive.multiple_results else [found]
    return [np.asarray(x, a.dtype) for x, a in zip(outs, avals, strict=True)]


# rules: (interpreter, params, ins, avals of the results, traceback) -> outs -----------------------


@random_seed_p.key
@random_clone_p.key
def _fresh(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    return [input_cells(avals[0])]


@name_p.key
@saved_p.key
@optimization_barrier_p.key
@stop_gradient_p.key
def _same(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    return [_no_cells(a) if x is None else x for x, a in zip(ins, avals, strict=True)]


@random_split_p.key
def _split(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    self.use(ins[0], "random_split", 0, traceback)
    (out,) = _fresh(self, params, ins, avals, traceback)
    keys = ins[0]
    if (
        isinstance(keys, Cells)
        and out is not None
        and out.known
        and splits_like_fold_in(avals[0].dtype, params)
    ):
        ids = keys.array.reshape(-1)
        parts = out.ledgers[0].size // max(ids.size, 1)
        for i, account in enumerate(_accounts(keys, ids)):
            if account is not None:
                account[0].adopt(account[1], out.ledgers[0], i * parts, parts)
    return [out]


def _accounts(keys: Cells, ids: np.ndarray) -> list[tuple[Ledger, int] | None]:
    """Locate the accounts of keys; of too many keys, none."""
    if ids.size > _MOST_KNOWN or len(keys.ledgers) > 64:
        return [None] * ids.size
    return [locate(keys.ledgers, key) for key in ids.tolist()]


def splits_like_fold_in(dtype: KeyDType, params: dict) -> bool:
    """Return whether split(key)[i] is the same key as fold_in(key, i)."""
    return params.get("partitionable", True) and dtype.impl.name in ("threefry2x32", "rbg")


@random_fold_in_p.key
def _fold_in(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    keys, numbers = ins
    if not isinstance(keys, Cells) or not isinstance(numbers, np.ndarray):
        return _fresh(self, params, ins, avals, traceback)
    shape = avals[0].shape
    if not dims.is_static(shape) or np.prod(shape, dtype=np.int64) > _MOST_KNOWN:
        return _fresh(self, params, ins, avals, traceback)
    ids = np.broadcast_to(keys.array, shape).reshape(-1)
    data = np.broadcast_to(numbers, shape).reshape(-1).tolist()
    out, ledgers = np.full(ids.shape, _ledger.UNKNOWN), []
    for i, account in enumerate(_accounts(keys, ids)):
        if account is not None:
            ledger, offset = account[0].folded(account[1], data[i] & 0xFFFFFFFF)
            out[i] = ledger.start + offset
            ledgers.append(ledger)
    return [_ledger.pack(out.reshape(shape), ledgers)]


@random_bits_p.key
def _bits(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    self.use(ins[0], "random_bits", 0, traceback)
    return [None]


def _use_all(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    for i, x in enumerate(ins):
        if isinstance(x, Cells) and not x.words:
            self.use(x, "sampler", i, traceback)
    return [_no_cells(a) for a in avals]


@random_wrap_p.key
def _wrap(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    (data,) = ins
    if isinstance(data, Cells) and data.words:
        return [_ledger.wrapped(data, avals[0].dtype.impl.key_shape)]
    return _fresh(self, params, ins, avals, traceback)


@random_unwrap_p.key
def _unwrap(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    (keys,) = ins
    if not isinstance(keys, Cells):
        return [None]
    return [_ledger.unwrapped(keys, (avals[0].shape[-1],))]


def _call(program: Callable[[dict], Any], what: str) -> Callable:
    def rule(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
        closed = program(params)
        if closed is None or params.get("differentiated"):
            # recomputation for a backward pass draws the same numbers on purpose
            return [_no_cells(a) for a in avals]
        return self.call(signature(closed.jaxpr), ins, what, traceback, avals)

    return rule


jit_p.key(_call(lambda params: params["jaxpr"], "jit-compiled function"))
progress_p.key(_call(lambda params: params["jaxpr"], "loop with a progress bar"))
xla_metadata_call_p.key(_call(lambda params: params["jaxpr"], "function with attributes"))
remat_p.key(_call(lambda params: params["jaxpr"], "checkpoint"))
custom_jvp_p.key(_call(lambda params: params["inner"].jaxpr, "custom_jvp function"))
custom_vjp_p.key(_call(lambda params: params["inner"].jaxpr, "custom_vjp function"))


@shard_map_p.key
def _shard_map(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    """Map cells over devices: sharded keys differ between devices; replicated ones are used by all."""
    closed = params["jaxpr"]
    operands = [
        _no_cells(v.aval) if spec.used_axes() else x
        for x, spec, v in zip(ins, params["in_specs"], closed.jaxpr.invars, strict=True)
    ]
    self.call(signature(closed.jaxpr), operands, "shard_map", traceback, closed.out_avals)
    return [_no_cells(a) for a in avals]


@cond_p.key
def _cond(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    """Use the keys that any branch uses."""
    journals, results = [], []
    for branch in params["branches"]:
        journal = Journal()
        found = Interpreter(journal).call(
            signature(branch.jaxpr), ins[1:], "cond", traceback, avals
        )
        journal.undo()
        journals.append(journal)
        results.append(found)
    for journal in journals:
        journal.redo()
        if self.journal is not None:
            self.journal.entries.extend(journal.entries)
    operands = {ledger for x in ins if isinstance(x, Cells) for ledger in x.ledgers}
    return [_either(column, operands, a) for column, a in zip(zip(*results), avals, strict=True)]


def _either(found: Sequence[Any], operands: set[Ledger], aval: Any) -> Any:
    """Merge the values of the branches."""
    if any(not isinstance(x, Cells) for x in found):
        return _no_cells(aval)
    first = found[0]
    if all(np.array_equal(first.array, x.array) for x in found[1:]):
        return first
    if any(operands.intersection(x.ledgers) for x in found) or first.words:
        return _no_cells(aval)
    return _ledger.fresh(aval.shape)  # each branch creates new keys


@scan_p.key
def _scan(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    found = signature(params["jaxpr"].jaxpr)
    if found is None:
        return [_no_cells(a) for a in avals]
    length = params["length"] if type(params["length"]) is int else 2
    body = params["jaxpr"].out_avals
    consts, carry, xs = LoopOperands.of_scan(ins, params)
    n, m = len(consts), len(carry)
    if length == 0:
        return [*carry, *(_no_cells(a) for a in avals[m:])]

    def iterate(i: int, carry: list, loop: str) -> list:
        slices = [_row(x, i) for x in xs]
        return self.call(
            found, [*consts, *carry, *slices], "scan", traceback, body, hidden=n, loop=loop
        )

    outs = iterate(0, carry, "")
    if length > 1:
        outs = iterate(1, outs[:m], "scan")
        _rest(self, found, xs, n + m, traceback)
    stacked = [_sequence(y, a, xs) for y, a in zip(outs[m:], avals[m:], strict=True)]
    return [*(_after_loop(x, xs, a) for x, a in zip(outs[:m], avals, strict=False)), *stacked]


def _rest(self: Interpreter, found: Signature, xs: list, first: int, traceback: Any) -> None:
    """Evaluate the iterations after the second: they use the same positions of their slices."""
    for i, ledger, width in found.inputs:
        if i < first or not isinstance(xs[i - first], Cells):
            continue
        cells = xs[i - first]
        keys = _ledger.wrapped(cells, (width,)) if width else cells
        rows = keys.array.reshape(keys.array.shape[0], -1)[2:]
        for where, inner in ledger.all_uses:
            taken = _ledger.pack(rows[:, where].reshape(-1), keys.ledgers)
            consume(taken, (Site("scan", i, inner), traceback), self.journal)


def _row(x: Any, i: int) -> Any:
    if isinstance(x, Cells):
        return _ledger.pack(x.array[i], x.ledgers, x.words)
    return None  # slices of known integers differ between iterations


def _sequence(y: Any, aval: Any, xs: list) -> Any:
    """Collect a slice per iteration: new keys in each, if they are new in one."""
    if not isinstance(y, Cells) or y.words or not dims.is_static(aval.shape):
        return _no_cells(aval)
    of_xs = {ledger for x in xs if isinstance(x, Cells) for ledger in x.ledgers}
    if of_xs.intersection(y.ledgers):
        return _no_cells(aval)
    out = _ledger.fresh(aval.shape)
    flat = y.array.reshape(-1)
    for ledger, offsets, own in _ledger.part(y.ledgers, flat):
        used = np.zeros(flat.shape, bool)
        used[own] = np.frombuffer(ledger.marks, np.uint8)[offsets] != 0
        if used.any():
            use = ledger.all_uses[-1][1]
            taken = out.array.reshape(aval.shape[0], -1)[:, used].reshape(-1)
            consume(_ledger.pack(taken, out.ledgers), use)
    return out


def _after_loop(x: Any, xs: list, aval: Any) -> Any:
    """Return the carry after the last iteration; the second iteration is the model."""
    of_xs = {ledger for s in xs if isinstance(s, Cells) for ledger in s.ledgers}
    if isinstance(x, Cells) and of_xs.intersection(x.ledgers):
        return _no_cells(aval)
    return x


@while_p.key
def _while(self: Interpreter, params: dict, ins: list, avals: Sequence, traceback: Any) -> list:
    test, body = signature(params["cond_jaxpr"].jaxpr), signature(params["body_jaxpr"].jaxpr)
    if test is None and body is None:
        return [_no_cells(a) for a in avals]
    for_test, for_body, carry = WhileOperands.of_while(ins, params)
    n, m = len(for_test), len(for_body)
    # loop counters are unknown after the first iteration
    carry = [x if isinstance(x, Cells) else None for x in carry]
    scalar = params["cond_jaxpr"].out_avals
    for loop in ("", "while_loop"):
        self.call(test, [*for_test, *carry], "while_loop", traceback, scalar, hidden=n, loop=loop)
        carry = self.call(
            body, [*for_body, *carry], "while_loop", traceback, avals, hidden=m, loop=loop
        )
    return carry
