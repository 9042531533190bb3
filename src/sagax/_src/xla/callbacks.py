"""Check host callbacks: declared types against the module, returned values against the types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla import process_end
from sagax._src.xla.failures import record_callback_exception
from sagax._src.xla.load import load
from sagax._src.xla.shardings import describe_type

ResultType = tuple[Sequence[int], Any] | None
"""The (shape, dtype) of a result; None for a token."""

Callback = tuple[Callable[..., Any], Sequence[ResultType]]
"""A function of NumPy arrays, and the types of the tuple that it returns. It never sees tokens."""

# Custom calls of Python functions, as they show in text, bytecode and HLO.
CALLS_PYTHON = re.compile(r"_python_[cg]pu_callback")


class CallbackError(ValueError):
    """A host callback returned something else than was declared."""


class OnBuffers:
    """A callback `function(ctx, outs, *operands)` of buffers, which writes `count` results into them."""

    __slots__ = ("count", "function")

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self.function, self.count = function, count

    def __call__(self, ctx: Any, *buffers: Any) -> None:
        # the engine passes operands, then results
        operands, outs = buffers[: len(buffers) - self.count], buffers[len(buffers) - self.count :]
        self.function(ctx, list(outs), *operands)


def checked_callback(
    function: Callable[..., Any], results: Sequence[ResultType]
) -> Callable[..., Any]:
    """Wrap a callback for jaxlib: the wrapper returns exactly the declared types, or raises.

    XLA takes as many bytes from the results as it expects: from anything else it would read
    foreign memory, or crash.
    """
    if isinstance(function, OnBuffers):  # it returns nothing; the engine checks what it writes to
        return function
    expected = [(tuple(result[0]), np.dtype(result[1])) for result in results if result is not None]
    name = getattr(function, "__name__", type(function).__name__)

    def checked(values: Any) -> Iterator[np.ndarray]:
        if not isinstance(values, tuple | list) or len(values) != len(expected):
            got = f"{len(values)}" if isinstance(values, tuple | list) else type(values).__name__
            raise CallbackError(
                f"callback {name!r} must return a tuple of {len(expected)} arrays, got {got}"
            )
        for i, (value, (shape, dtype)) in enumerate(zip(map(np.asarray, values), expected)):
            if value.shape != shape or value.dtype != dtype:
                raise CallbackError(
                    f"callback {name!r} must return {describe_type(shape, dtype)} as result {i}, "
                    f"got {describe_type(value.shape, value.dtype)}"
                )
            yield value

    def call(*arguments: Any) -> tuple[Any, ...]:
        if process_end.is_ending():
            process_end.hold_callback()
        process_end.running_callbacks.add(run := object())
        try:
            values = list(checked(function(*[a for a in arguments if a is not None])))
            rest = iter(values)
            return tuple(None if result is None else next(rest) for result in results)
        except BaseException as error:
            reference = record_callback_exception(error)
            kind = type(error).__name__
        finally:
            process_end.running_callbacks.discard(run)
        raise RuntimeError(f"callback {name!r} raised {kind} ({reference})")

    return call


def check_callbacks(module: Any, callbacks: Sequence[Callback]) -> None:
    """Check that the callbacks' declared types are those of the parsed module's custom calls."""
    ir = load("jaxlib.mlir.ir")
    ops: list[Any] = []
    # An exception could not pass through the walk as it is.
    module.operation.walk(lambda op: ops.append(op) or ir.WalkResult.ADVANCE)
    for op in ops:
        if op.name != "stablehlo.custom_call":
            continue
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if not CALLS_PYTHON.search(target):
            continue
        config = op.attributes["backend_config"]
        if not isinstance(config, ir.DictAttr):
            config = op.attributes["mhlo.backend_config"]
        index = ir.IntegerAttr(ir.DictAttr(config)["index"]).value
        if not 0 <= index < len(callbacks):
            raise worded(
                ValueError(f"compile: the module calls callback {index} of {len(callbacks)}")
            )
        declared = [mlir_type(result) for result in callbacks[index][1]]
        expected = [str(value.type) for value in op.results]
        if declared != expected:
            raise worded(
                ValueError(
                    f"compile: callback {index} is declared to return {declared}, "
                    f"the module expects {expected}"
                )
            )
        if "_partitioned_" in target and "operand_layouts" not in op.attributes:
            raise worded(ValueError(f"compile: the call of callback {index} needs operand_layouts"))


def mlir_type(result: ResultType) -> str:
    """Write a result's type as MLIR does."""
    if result is None:
        return "!stablehlo.token"
    shape, dtype = result
    name, bits, variant = re.findall(r"([a-z]+)(\d*)(\w*)", np.dtype(dtype).name)[0]
    if name == "complex":
        element = f"complex<f{int(bits) // 2}>"
    else:
        short = {"bool": "i1", "int": "i", "uint": "ui", "float": "f", "bfloat": "bf"}[name]
        element = short + bits + variant.lstrip("_").upper()
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
