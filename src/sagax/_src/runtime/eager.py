"""Evaluating one operation at a time.

Each signature (primitive, avals, parameters, device) gets an entry once; a call looks it up and runs
it. On the CPU, an operation whose NumPy reference is bit for bit what XLA computes runs through
NumPy while its operands are small: no compilation, no transfer. The rest are compiled programs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, xla
from sagax._src.core import dtypes
from sagax._src.core.stage import stage
from sagax._src.runtime import devices
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.compile import Compiled, Lowered, buffers_on, explained, placement

HOST_LIMIT = 1 << 14  # elements, of operands and results each; beyond it the engine's threads pay
_thread = config.thread
_errstate = np.errstate


def evaluate(primitive: Any, args: tuple, params: dict) -> Any:
    """Apply a primitive to concrete operands."""
    if primitive.impl is not None:
        return primitive.impl(*args, **params)
    key: list = [_thread.settings]
    for a in args:
        if type(a) is not ConcreteArray or a._device is not None:
            return _evaluate_any(primitive, args, params)
        key.append(a.aval)
    if params:
        key.extend(params.items())
    try:
        entry = primitive.entries.get(tuple(key))
    except TypeError:  # parameters that cannot be hashed
        return _entry(primitive, args, params, None)(args)
    if entry is None:
        entry = _remember(primitive, tuple(key), _entry(primitive, args, params, None))
    return entry(args)


def _evaluate_any(primitive: Any, args: tuple, params: dict) -> Any:
    """With operands that are no arrays yet, or are committed to a device."""
    arrays = tuple([a if type(a) is ConcreteArray else as_array(a) for a in args])
    committed = placement(arrays)
    key = (_thread.settings, committed, *[a.aval for a in arrays], *params.items())
    if committed is None:
        key = (key[0], *key[2:])
    try:
        entry = primitive.entries.get(key)
    except TypeError:
        return _entry(primitive, arrays, params, committed)(arrays)
    if entry is None:
        entry = _remember(primitive, key, _entry(primitive, arrays, params, committed))
    return entry(arrays)


_LIMIT = 4096  # signatures of one primitive
_used: weakref.WeakSet[Any] = weakref.WeakSet()


def _remember(primitive: Any, key: tuple, entry: Callable) -> Callable:
    if len(primitive.entries) >= _LIMIT:
        primitive.entries.clear()
    primitive.entries[key] = entry
    _used.add(primitive)
    return entry


def clear() -> None:
    """Forget all entries."""
    for primitive in list(_used):
        primitive.entries.clear()


def _entry(primitive: Any, arrays: Sequence, params: dict, committed: Any) -> Callable:
    in_avals = tuple([a.aval for a in arrays])
    out = primitive.abstract_eval(in_avals, params)
    device = committed if committed is not None else devices.default_device()
    exact = primitive.exact if isinstance(primitive.exact, bool) else primitive.exact(in_avals)
    if exact and device.platform == "cpu":
        avals = (*in_avals, *(out if primitive.multiple_results else (out,)))
        small = max(a.size for a in avals) <= HOST_LIMIT
        if small and not any(dtypes.is_extended(a.dtype) for a in avals):
            return _host_entry(primitive, params, out, committed)
    return _device_entry(primitive, in_avals, params, device, committed)


def _host_entry(primitive: Any, params: dict, out: Any, committed: Any) -> Callable:
    reference = primitive.reference_rule

    def wrap(result: Any, aval: Any) -> ConcreteArray:
        if type(result) is not np.ndarray or result.dtype != aval.dtype:
            result = np.asarray(result, aval.dtype)
        result.flags.writeable = False
        return ConcreteArray(aval, result, None, committed)

    if primitive.multiple_results:

        def run_several(arrays: Sequence) -> list:
            results = reference(*[a.host() for a in arrays], **params)
            return [wrap(r, a) for r, a in zip(results, out, strict=True)]

        return run_several
    dtype = out.dtype

    def run(arrays: Sequence) -> ConcreteArray:
        operands = [a.host() if a._host is None else a._host for a in arrays]
        result = reference(*operands, **params)
        if type(result) is not np.ndarray or result.dtype != dtype:
            result = np.asarray(result, dtype)
        result.flags.writeable = False
        return ConcreteArray(out, result, None, committed)

    if not primitive.elementwise:
        return run

    def quiet(arrays: Sequence) -> ConcreteArray:
        with _errstate(all="ignore"):
            return run(arrays)

    return quiet


def _device_entry(
    primitive: Any, in_avals: tuple, params: dict, device: Any, committed: Any
) -> Callable:
    several = primitive.multiple_results

    def fun(*xs: Any) -> list:
        out = primitive.bind(*xs, **params)
        return out if several else [out]

    jaxpr, consts = stage(fun, in_avals)
    if consts:
        raise AssertionError(f"{primitive.name} captured constants")
    lowered = Lowered(jaxpr, devices.backend_of(device).platform, primitive.name, keep_unused=True)
    compiled = Compiled(lowered, device)
    execute = compiled.run
    out_avals = compiled.out_avals
    single = out_avals[0] if not several else None

    def run(arrays: Sequence) -> Any:
        try:
            outs = execute([a._buffer or a.buffer() for a in arrays])
        except (xla.EngineError, xla.DeletedBufferError) as error:
            raise explained(error, arrays) from None
        if several:
            return [
                ConcreteArray(a, None, b, committed) for a, b in zip(out_avals, outs, strict=True)
            ]
        return ConcreteArray(single, None, outs[0], committed)

    if len(devices.backend_of(device).local_devices) == 1:
        return run

    def run_there(arrays: Sequence) -> Any:  # uncommitted operands may lie on another device
        buffers_ready = [
            ConcreteArray(a.aval, None, b)
            for a, b in zip(arrays, buffers_on(arrays, device), strict=True)
        ]
        return run(buffers_ready)

    return run_there
