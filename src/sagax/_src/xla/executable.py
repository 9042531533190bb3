"""Run executables, find the reason of their failures, and analyze them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla.buffers import deleted_error, devices_of, shards
from sagax._src.xla.callbacks import ResultType
from sagax._src.xla.engine import (
    BEFORE_0_11,
    Buffer,
    DeletedBufferError,
    EngineError,
    xla_client,
    xla_extension,
)
from sagax._src.xla.failures import original_error
from sagax._src.xla.shardings import (
    EngineAval,
    EngineSharding,
    describe_type,
    single_device_sharding,
)


class Executable:
    """A compiled module on its devices.

    `run(buffers)` returns the list of its results, as buffers. `run_with_token(buffers)` returns
    them with a token to wait for effects (`token.block_until_ready()`). Neither checks its
    arguments: a wrong type of the right size gives garbage. If they fail, they raise the
    exception of the callback that failed, or that of `check_arguments`.
    """

    __slots__ = (
        "__weakref__",
        "devices",
        "execute",
        "handlers",
        "loaded",
        "out_avals",
        "run",
        "run_with_token",
    )

    def __init__(
        self, loaded: Any, devices: tuple[Any, ...], out_avals: Sequence[ResultType] | None
    ) -> None:
        self.loaded = loaded
        self.devices = devices
        self.out_avals = _read_out_avals(loaded) if out_avals is None else list(out_avals)
        self.handlers = _result_handlers(loaded, devices, self.out_avals)
        # `execute(buffers).consume_with_handlers(handlers)` is `run` without the diagnosis of failures
        self.execute = loaded.execute_sharded
        self.run, self.run_with_token = _run_functions(loaded, devices, self.handlers)

    def name_memories(self, kinds: Sequence[str | None]) -> None:
        """Say in which kind of memory each result lies; None is the default of the devices."""
        if any(kind is not None for kind in kinds):
            self.handlers = _result_handlers(self.loaded, self.devices, self.out_avals, kinds)
            self.run, self.run_with_token = _run_functions(self.loaded, self.devices, self.handlers)

    def diagnose(self, failure: BaseException, buffers: Sequence[Any]) -> BaseException:
        """Return the exception to raise where executing failed."""
        return _diagnose(failure, self.loaded, self.devices, buffers)

    def check_arguments(self, buffers: Sequence[Any]) -> None:
        """Raise TypeError, ValueError or DeletedBufferError if the buffers are no valid arguments.

        Slow: for use after a failure and in tests.
        """
        _check_arguments(self.loaded, self.devices, buffers)

    def serialize(self) -> bytes:
        """Serialize, for `compiler.deserialize` where `client.platform_fingerprint` is the same."""
        return self.loaded.serialize()

    def hlo_text(self) -> str:
        """Return the optimized HLO."""
        return self.loaded.hlo_modules()[0].to_string()

    def cost_analysis(self) -> dict[str, float]:
        """Return XLA's estimates: 'flops', 'bytes accessed', 'transcendentals', ..."""
        return dict(self.loaded.cost_analysis())

    def memory_analysis(self) -> Any:
        """Return sizes in bytes: argument_size_in_bytes, output_size_in_bytes, temp_size_in_bytes, ..."""
        return self.loaded.get_compiled_memory_stats()

    @property
    def fingerprint(self) -> bytes | None:
        """Bytes that are equal for equal optimized executables, in every process."""
        return self.loaded.fingerprint

    @property
    def input_shardings(self) -> list[str] | None:
        """The text of each argument's sharding; None if the executable is not partitioned."""
        return _sharding_texts(self.loaded.get_parameter_shardings())

    @property
    def output_shardings(self) -> list[str] | None:
        """The text of each result's sharding; None if the executable is not partitioned."""
        return _sharding_texts(self.loaded.get_output_shardings())


class DescribedExecutable(Executable):
    """A module that was compiled for devices that are only described. It can be analyzed, and not run."""

    __slots__ = ()

    def __init__(
        self, compiled: Any, devices: tuple[Any, ...], out_avals: Sequence[ResultType] | None
    ) -> None:
        self.loaded = compiled
        self.devices = devices
        self.out_avals = _read_out_avals(compiled) if out_avals is None else list(out_avals)
        self.handlers = []
        self.execute = self.run = self.run_with_token = _refuse_to_run


def _refuse_to_run(*_: Any, **__: Any) -> Any:
    raise worded(
        ValueError(
            "this executable was compiled for devices that are only described: none of them is here to run it"
        )
    )


def _sharding_texts(protos: Sequence[Any] | None) -> list[str] | None:
    return None if protos is None else [str(xla_client.HloSharding.from_proto(p)) for p in protos]


def _executable_shape(loaded: Any) -> Any:
    module = loaded.hlo_modules()[0]
    return xla_client.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape()


def _type_of(shape: Any) -> ResultType:
    return None if shape.is_token() else (tuple(shape.dimensions()), shape.numpy_dtype())


def _read_out_avals(loaded: Any) -> list[ResultType]:
    if loaded.get_output_shardings() is not None:
        raise worded(
            ValueError("out_avals are needed: a partitioned program knows only its shards' shapes")
        )
    result = _executable_shape(loaded).result_shape()
    return [_type_of(shape) for shape in (result.tuple_shapes() if result.is_tuple() else [result])]


def _result_handlers(
    loaded: Any,
    devices: tuple[Any, ...],
    out_avals: Sequence[ResultType],
    kinds: Sequence[str | None] | None = None,
) -> list[Any]:
    # Before 0.11 a handler calls a method that jax adds to the class, unless told not to check.
    extra = {"_skip_checks": True} if BEFORE_0_11 else {}
    if len(devices) == 1:
        shardings = [
            single_device_sharding(devices[0], k) for k in kinds or [None] * len(out_avals)
        ]
    else:
        protos = loaded.get_output_shardings()
        layouts = (
            map(xla_client.HloSharding.from_proto, protos) if protos else itertools.repeat(None)
        )
        kinds = kinds or [None] * len(out_avals)
        shardings = [EngineSharding(devices, layout, k) for layout, k in zip(layouts, kinds)]
    handlers = []
    for out_aval, sharding in zip(out_avals, shardings, strict=True):
        shape, dtype = ((0,), bool) if out_aval is None else out_aval  # a token is an empty array
        aval = EngineAval(tuple(shape), np.dtype(dtype))
        handlers.append(xla_extension.array_result_handler(aval, sharding, True, **extra))
    return handlers


def _run_functions(loaded: Any, devices: tuple[Any, ...], handlers: list[Any]) -> tuple[Any, Any]:
    execute = loaded.execute_sharded

    def run(buffers: Sequence[Any]) -> list[Any]:
        try:
            return execute(buffers).consume_with_handlers(handlers)
        except (EngineError, TypeError, ValueError) as error:
            failure = error
        raise _diagnose(failure, loaded, devices, buffers)

    def run_with_token(buffers: Sequence[Any]) -> tuple[list[Any], Any]:
        try:
            results = execute(buffers, with_tokens=True)
            token = results.consume_token()
            return results.consume_with_handlers(handlers), token
        except (EngineError, TypeError, ValueError) as error:
            failure = error
        raise _diagnose(failure, loaded, devices, buffers)

    return run, run_with_token


def _diagnose(
    failure: BaseException, loaded: Any, devices: tuple[Any, ...], buffers: Sequence[Any]
) -> BaseException:
    original = original_error(failure, loaded)
    if original is failure:
        try:
            _check_arguments(loaded, devices, buffers)
        except (TypeError, ValueError, DeletedBufferError) as reason:
            reason.__cause__ = failure
            return reason
    return original


def _check_arguments(loaded: Any, devices: tuple[Any, ...], buffers: Sequence[Any]) -> None:
    for i, buffer in enumerate(buffers):
        if not isinstance(buffer, Buffer):
            raise worded(TypeError(f"argument {i} must be a buffer, got {type(buffer).__name__}"))
        if buffer.is_deleted():
            raise deleted_error(buffer, f"argument {i}")
    expected = [_type_of(shape) for shape in _executable_shape(loaded).parameter_shapes()]
    if len(expected) != len(buffers):
        raise worded(ValueError(f"the program takes {len(expected)} arguments, got {len(buffers)}"))
    for i, (want, buffer) in enumerate(zip(expected, buffers)):
        if devices_of(buffer) != devices:
            raise worded(
                ValueError(
                    f"argument {i} lies on {list(devices_of(buffer))}, the program on {list(devices)}"
                )
            )
        aval = shards(buffer)[0].aval
        if want is not None and want != (aval.shape, aval.dtype):
            raise worded(
                ValueError(
                    f"argument {i} must be {describe_type(*want)} on each device, "
                    f"got {describe_type(aval.shape, aval.dtype)}"
                )
            )
