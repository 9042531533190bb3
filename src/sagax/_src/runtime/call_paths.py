"""Build fast call paths: buffers in, arrays out.

All decisions are taken when the entry is built. There is one function for each calling convention of an
executable, so that the commonest ones only call XLA and wrap its results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import itemgetter
from types import CodeType, FunctionType
from typing import Any, cast

from sagax._src import xla
from sagax._src.diagnostics.boundary import passed_through
from sagax._src.runtime import arity_template, commit_sites, effect_tokens
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.compile import Compiled, buffers_on, explained

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
    avals = tuple(compiled.out_avals)
    if target is None and not several_devices and 1 <= len(avals) <= _MOST_NAMED:
        pick, picking = _picker(picked), "pass"
        if picked == []:
            picking = "bufs = held"
        elif held or picked is not None:
            picking = "bufs = [*held, *pick(bufs)]"
        make = _maker(_CALL.replace("PICKING", picking), len(avals), *_container(unflatten))
        return noted(make(execute, handlers, avals, failed, unflatten, held, pick))
    wrapped = _wrapping(avals, target)
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

    def call(bufs: list, arrays: Sequence[ConcreteArray]) -> Any:
        try:
            outs = execute(bufs).consume_with_handlers(handlers)
        except FAILURES as error:
            failure = failed(error, bufs, arrays)
            raise failure from failure.__cause__
        results = wrapped(outs)
        if target is not None:
            commit_sites.inherit(results, arrays)
        return results[0] if unflatten is None else unflatten(results)

    return noted(call)


# Each result is wrapped by what ConcreteArray's `__init__` does, without a call of it.
_MOST_NAMED = 8
_RESULTS = """
        b{x} = {x}
        {x} = _new(ConcreteArray)
        {x}.aval = a{x}
        {x}._host = None
        {x}._buffer = b{x}
        {x}._device = None
        return RESULT

    return call
"""
_CALL = """
def make(execute, handlers, avals, failed, unflatten, held, pick):
    {a}, = avals

    def call(bufs, arrays):
        PICKING
        try:
            {operands}, = execute(bufs).consume_with_handlers(handlers)
        except FAILURES as error:
            failure = failed(error, bufs, arrays)
            raise failure from failure.__cause__
"""
_PLAIN_CALL = """
def make(execute, handlers, avals, again, unflatten):
    {a}, = avals

    def call(arrays):
        bufs = [a.buffer() if a._buffer is None else a._buffer for a in arrays]
        try:
            {operands}, = execute(bufs).consume_with_handlers(handlers)
        except FAILURES:
            return again(arrays)
"""


@functools.cache
def _maker(template: str, count: int, result: str, keys: tuple[str, ...]) -> Callable[..., Any]:
    """Return the function `make` of a template, for this number of results, and the way they are combined."""
    names = [f"x{i}" for i in range(count)]
    if result == "dict":
        result = "{" + ", ".join(f"{k!r}: {x}" for k, x in zip(keys, names, strict=True)) + "}"
    text = template.replace("{a}", ", ".join(f"a{x}" for x in names)) + _RESULTS.lstrip("\n")
    return arity_template.filled_in(text.replace("RESULT", result), count, globals())


def _container(unflatten: Callable[[list], Any] | None) -> tuple[str, tuple[str, ...]]:
    """Return an expression of results named `{operands}`, and the keys of a dict.

    A flat list, tuple or dict is made at once.
    """
    if unflatten is None:
        return "{operands}", ()
    if unflatten in (list, tuple):
        return ("[{operands}]" if unflatten is list else "({operands},)"), ()
    other = "unflatten([{operands}])", ()
    tree: Any = getattr(unflatten, "__self__", None)
    if not isinstance(tree, xla.PyTreeDef):
        return other
    data, children = tree.node_data(), tree.children()
    if data is None or not all(
        c is not None and c.num_nodes == 1 and c.num_leaves for c in children
    ):
        return other
    kind, aux = data
    if kind is list or kind is tuple:
        return ("[{operands}]" if kind is list else "({operands},)"), ()
    if kind is dict and all(type(k) is str and "{" not in k for k in aux):
        return "dict", tuple(aux)
    return other


def plain_call(
    compiled: Compiled,
    unflatten: Callable[[list], Any] | None,
    again: Callable[[Sequence[ConcreteArray]], Any],
) -> Callable[[Sequence[ConcreteArray]], Any]:
    """Build a call from arrays to the result, with one frame less than that of `entry`.

    The executable has no effects, and takes all its operands on its device, the only one. `again` runs it
    once more after a failure, and raises the error with its explanation.
    """
    avals = tuple(compiled.out_avals)
    if compiled.kept is not None or not 1 <= len(avals) <= _MOST_NAMED:
        return again
    execute, handlers = compiled.executable.execute, compiled.executable.handlers
    make = _maker(_PLAIN_CALL, len(avals), *_container(unflatten))
    call = make(execute, handlers, avals, again, unflatten)
    if unflatten is None:
        call.parts = execute, handlers, *avals
    return call


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
