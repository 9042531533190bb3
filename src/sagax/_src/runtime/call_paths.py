"""Build fast call paths: buffers in, arrays out.

All decisions are taken when the entry is built. There is one function for each calling convention of an
executable, so that the commonest ones only call XLA and wrap its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from types import CodeType, FunctionType
from typing import Any, cast

from sagax._src import xla
from sagax._src.diagnostics.boundary import passed_through
from sagax._src.runtime import commit_sites, effect_tokens
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.compile import Compiled, buffers_on, explained

__all__ = ["FAILURES", "entry", "noted", "ran"]

Entry = Callable[[list, Sequence[ConcreteArray]], Any]
FAILURES = (xla.EngineError, xla.DeletedBufferError, TypeError, ValueError)
_new = object.__new__


def entry(
    compiled: Compiled,
    consts: Sequence[ConcreteArray],
    unflatten: Callable[[list], Any] | None,
    target: Any,
    several_devices: bool,
) -> Entry:
    """Build the call of an executable on one device: a function from buffers, and their arrays, to the result.

    Args:
        compiled: the executable.
        consts: arrays that are its first operands.
        unflatten: from the flat results to the result; None: there is a single result.
        target: the device that results are committed to.
        several_devices: operands may be on another device than the executable's.
    """
    executable, kept, device = compiled.executable, compiled.kept, compiled.device
    const_buffers = buffers_on(consts, device)
    first = len(const_buffers)
    picked = None if kept is None else [i - first for i in kept if i >= first]
    held = const_buffers if kept is None else [const_buffers[i] for i in kept if i < first]

    def operands(bufs: list, arrays: Sequence[ConcreteArray]) -> list:
        if several_devices:
            bufs = buffers_on(arrays, device)
        if picked is not None:
            bufs = [bufs[i] for i in picked]
        return held + bufs

    def failed(error: BaseException, bufs: list, arrays: Sequence[ConcreteArray]) -> BaseException:
        return explained(executable.diagnose(error, bufs), [*arrays, *consts])

    execute, handlers = executable.execute, executable.handlers
    if compiled.lowered.jaxpr.effects:
        return _effectful(compiled, operands, unflatten, target, consts)
    wrapped = _wrapping(compiled.out_avals, target)
    if held or several_devices or picked is not None:
        pick = None if several_devices else _picker(picked)
        first_aval = compiled.out_avals[0] if unflatten is None else None

        def call_with_more(bufs: list, arrays: Sequence[ConcreteArray]) -> Any:
            bufs = operands(bufs, arrays) if pick is None else [*held, *pick(bufs)]
            try:
                outs = execute(bufs).consume_with_handlers(handlers)
            except FAILURES as error:
                failure = failed(error, bufs, arrays)
                raise failure from failure.__cause__
            if unflatten is None:
                result = ConcreteArray(first_aval, None, outs[0], target)
                if target is not None:
                    commit_sites.inherit((result,), arrays)
                return result
            results = wrapped(outs)
            if target is not None:
                commit_sites.inherit(results, arrays)
            return unflatten(results)

        return noted(call_with_more)
    if unflatten is None:
        (aval,) = compiled.out_avals

        def call_one(bufs: list, arrays: Sequence[ConcreteArray]) -> Any:
            try:
                (out,) = execute(bufs).consume_with_handlers(handlers)
            except FAILURES as error:
                failure = failed(error, bufs, arrays)
                raise failure from failure.__cause__
            result = _new(ConcreteArray)  # as in `_wrapping`
            result.aval = aval
            result._host = None
            result._buffer = out
            result._device = target
            if target is not None:  # as in `commit_sites.inherit`: saves a call
                for x in arrays:
                    stack = getattr(x, "_committed_at", None)
                    if stack is not None:
                        result._committed_at = stack
                        break
            return result

        return noted(call_one)

    def call(bufs: list, arrays: Sequence[ConcreteArray]) -> Any:
        try:
            outs = execute(bufs).consume_with_handlers(handlers)
        except FAILURES as error:
            failure = failed(error, bufs, arrays)
            raise failure from failure.__cause__
        results = wrapped(outs)
        if target is not None:
            commit_sites.inherit(results, arrays)
        return unflatten(results)

    return noted(call)


def _wrapping(avals: Sequence[Any], target: Any) -> Callable[[list], list[ConcreteArray]]:
    """Return a function that wraps result buffers as arrays."""
    avals = tuple(avals)

    def wrapped(outs: list) -> list[ConcreteArray]:
        results = []
        for aval, out in zip(avals, outs):
            x = _new(ConcreteArray)  # like its __init__, without a call for each
            x.aval = aval
            x._host = None
            x._buffer = out
            x._device = target
            results.append(x)
        return results

    return wrapped


def _picker(indices: list[int] | None) -> Callable[[list], Sequence[Any]]:
    """Return a function that picks items of a list at these indices; all of them, if None."""
    if indices is None:
        return lambda items: items
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda items: [items[i] for i in indices]


def _effectful(
    compiled: Compiled,
    operands: Callable,
    unflatten: Callable[[list], Any] | None,
    target: Any,
    consts: Sequence[ConcreteArray],
) -> Entry:
    run = effect_tokens.run(compiled.executable, compiled.lowered.jaxpr.effects)
    wrapped = _wrapping(compiled.out_avals, target)

    def call_with_effects(bufs: list, arrays: Sequence[ConcreteArray]) -> Any:
        try:
            outs = run(operands(bufs, arrays))
        except (xla.EngineError, xla.DeletedBufferError) as error:
            failure = explained(error, [*arrays, *consts])
            raise failure from failure.__cause__
        results = wrapped(outs)
        if target is not None:
            commit_sites.inherit(results, arrays)
        return results[0] if unflatten is None else unflatten(results)

    return noted(call_with_effects)


_codes: set[CodeType] = set()


def noted(function: Entry) -> Entry:
    """Register a function as one that runs an executable; return it."""
    _codes.add(cast("FunctionType", function).__code__)
    return function


def ran(error: BaseException) -> bool:
    """Return whether an exception comes from running an executable, not from tracing or compiling it."""
    return any(passed_through(error, code) for code in _codes)
