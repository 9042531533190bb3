"""Track keys in arrays: hooks of the evaluator for `debug_key_reuse`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, source_stacks, trees
from sagax._src.core import dims
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.higher_order.remat import recomputing
from sagax._src.primitives.random_bits import is_key_dtype, random_split_p
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.key_reuse.analysis import (
    Interpreter,
    Signature,
    input_cells,
    locate,
    signature,
    signature_with,
    splits_like_fold_in,
)
from sagax._src.runtime.key_reuse.ledger import (
    Cells,
    Ledger,
    Site,
    consume,
    of_ledger,
    raw_shape,
    unwrapped,
    wrapped,
)

_thread = config.thread
_U32 = np.dtype(np.uint32)
_MOST_KNOWN = 1 << 12


def cells_of(x: ConcreteArray) -> Cells | None:
    """Return the cells of an array, new ones if it may hold keys and has none."""
    try:
        return x._cells
    except AttributeError:
        found = x._cells = input_cells(x.aval)
        return found


def _operand(x: ConcreteArray) -> Any:
    """Convert an operand for the analysis: to cells, or known integers."""
    dtype = x.aval.dtype
    if is_key_dtype(dtype) or dtype == _U32:
        found = cells_of(x)
        if found is not None:
            return found
    return _integers(x)


def _integers(x: ConcreteArray) -> np.ndarray | None:
    dtype = x.aval.dtype
    small = isinstance(dtype, np.dtype) and dtype.kind in "iub" and x.aval.size <= _MOST_KNOWN
    return x.host() if small else None


def share_element(x: ConcreteArray, part: ConcreteArray, key: Any) -> ConcreteArray:
    """Share the accounts of `x` with `element`, which is `x[key]` of an array that may hold keys.

    `key` is a NumPy index of leading dimensions, whose result is an array.
    """
    found = cells_of(x)
    if found is not None:
        ids = found.array[key]
        if found.words or ids.ndim:
            part._cells = Cells(ids, found.ledgers, found.words)
        else:
            account = locate(found.ledgers, int(ids))
            part._cells = Cells(int(ids), () if account is None else (account[0],))
    return part


def _attach(arrays: Sequence[Any], cells: Sequence[Any]) -> None:
    for x, found in zip(arrays, cells, strict=True):
        if isinstance(found, Cells):
            x._cells = found


def wrap_keys(data: ConcreteArray, keys: ConcreteArray) -> ConcreteArray:
    """Share the accounts of raw numbers with `keys`, which were made from them."""
    found = cells_of(data)
    if found is not None and found.words:
        keys._cells = wrapped(found, keys.aval.dtype.impl.key_shape)
    return keys


def unwrap_keys(keys: ConcreteArray, data: ConcreteArray) -> ConcreteArray:
    """Share the accounts of keys with `data`, their raw numbers."""
    found = cells_of(keys)
    if found is not None:
        data._cells = unwrapped(found, keys.aval.dtype.impl.key_shape)
    return data


def watched_operation(
    run: Callable, primitive: Any, params: dict, in_avals: Sequence[Any], out: Any
) -> Callable:
    """Return a function `run(arrays)`, which evaluates an operation and records the uses of keys."""
    several = primitive.multiple_results
    avals = list(out) if several else [out]
    types = [*in_avals, *avals]
    if not any(is_key_dtype(a.dtype) or a.dtype == _U32 for a in types if hasattr(a, "dtype")):
        if not primitive.is_higher_order:
            return run

    if primitive is random_split_p and not in_avals[0].shape and dims.is_static(out.shape):
        return _watched_split(run, params, out)

    def watched(arrays: Sequence[ConcreteArray]) -> Any:
        cells = [_operand(x) for x in arrays]
        outs = Interpreter().bind(primitive, params, cells, avals, source_stacks.stack())
        result = run(arrays)
        _attach(result if several else [result], outs)
        return result

    return watched


_SPLIT = Site("random_split", 0)


def _watched_split(run: Callable, params: dict, out: Any) -> Callable:
    """Split a single key: a fast path of the analysis."""
    size = math.prod(out.shape)
    related = splits_like_fold_in(out.dtype, params)

    def watched(arrays: Sequence[ConcreteArray]) -> Any:
        cells = cells_of(arrays[0])
        assert cells is not None
        consume(cells, (_SPLIT, source_stacks.stack()))
        parts = Ledger(size)
        account = locate(cells.ledgers, cells.ids) if related else None
        if account is not None:
            account[0].adopt(account[1], parts, 0, size)
        result = run(arrays)
        result._cells = of_ledger(parts, out.shape)
        return result

    return watched


def watched_call(run: Callable, jaxpr: Jaxpr, consts: Sequence[ConcreteArray]) -> Callable:
    """Return a function `run(buffers, arrays)`, which calls a compiled function and records the
    uses of keys.

    The function closes over `consts`. Raises KeyReuseError if it uses a key twice itself.
    """
    known = {i: _integers(x) for i, x in enumerate(consts)}
    if any(x is not None for x in known.values()):
        found = signature_with(jaxpr, known) if signature(jaxpr) is not None else None
    else:
        found = signature(jaxpr)
    if found is None or not (found.inputs or any(x is not None for x in found.outs)):
        return run
    n = len(consts)
    avals = jaxpr.out_avals
    if found.simple_uses is not None and not n:
        sites = [
            (i, Site("jit-compiled function", i, inner))
            for i, inner, w in found.simple_uses
            if not w
        ]
        if len(sites) == len(found.simple_uses):
            return _watched_draw(run, sites)

    def watched(buffers: list, arrays: Sequence[ConcreteArray]) -> Any:
        outs = _enter(found, [*consts, *arrays], n, avals)
        result = run(buffers, arrays)
        _attach(trees.leaves(result), outs)
        return result

    return watched


def _watched_draw(run: Callable, sites: list[tuple[int, Site]]) -> Callable:
    """Draw from single keys: a fast path for the commonest case."""
    if len(sites) == 1:
        ((account, only),) = sites

        def watched_one(buffers: list, arrays: Sequence[ConcreteArray]) -> Any:
            try:
                cells = arrays[account]._cells
            except AttributeError:
                cells = cells_of(arrays[account])
            consume(cells, (only, source_stacks.stack()))
            return run(buffers, arrays)

        return watched_one

    def watched(buffers: list, arrays: Sequence[ConcreteArray]) -> Any:
        stack = source_stacks.stack()
        for i, site in sites:
            x = arrays[i]
            try:
                cells = x._cells
            except AttributeError:
                cells = cells_of(x)
            consume(cells, (site, stack))
        return run(buffers, arrays)

    return watched


def _enter(
    found: Signature, arrays: Sequence[ConcreteArray], hidden: int, avals: Sequence[Any]
) -> list:
    cells: list[Any] = [None] * len(arrays)
    for i, _, _ in found.inputs:
        cells[i] = cells_of(arrays[i])
    return Interpreter().call(
        found, cells, "jit-compiled function", source_stacks.stack(), avals, hidden=hidden
    )


def watched_jaxpr(run: Callable, jaxpr: Jaxpr) -> Callable:
    """Return a function `run(arrays)`, which evaluates a jaxpr and records the uses of keys."""
    found = signature(jaxpr)
    if found is None and not any(
        a.dtype == _U32 and raw_shape(a) is not None for a in jaxpr.out_avals
    ):
        return run
    # The operands may determine which keys it selects: their identity, and their values. So raw keys of
    # unknown operands are not tracked in the jaxpr alone.
    chooses = found is None or any(isinstance(x, Cells) and not x.known for x in found.outs)
    inputs = (*jaxpr.constvars, *jaxpr.invars)

    def watched(arrays: Sequence[ConcreteArray]) -> Any:
        if recomputing.active:
            return run(arrays)
        if found is None or chooses:
            cells = dict(zip(inputs, map(_operand, arrays), strict=True))
            outs = Interpreter().run(jaxpr, cells)
        else:
            outs = _enter(found, arrays, 0, jaxpr.out_avals)
        result = run(arrays)
        _attach(result if type(result) is list else [result], outs)
        return result

    return watched
