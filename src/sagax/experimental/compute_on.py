"""Say on which unit of a machine XLA computes a function.

>>> from sagax.experimental.compute_on import compute_on
>>> from sagax.memory import Space
>>> f = compute_on(lambda x: x * 2, compute_type="device_host", out_memory_spaces=Space.Device)
>>> '_xla_compute_type = "host"' in sagax.jit(f).lower(1.0).as_text()
True
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sagax._src import trees
from sagax._src.core.avals import Space
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.marked_calls import xla_metadata_call
from sagax._src.primitives.unsupported import UnsupportedError

__all__ = ["compute_on"]

_KINDS = {"device_host": "host", "device": "dense", "tpu_sparsecore": "sparse"}


def compute_on(
    f: Callable[..., Any] | None = None,
    *,
    compute_type: str,
    out_memory_spaces: Any,
    compiler_options: Any = None,
) -> Any:
    """Wrap `f` so that XLA computes it on a unit of the machine. The CPU ignores it.

    Args:
      f: a function of pytrees of arrays; None: return a decorator.
      compute_type: "device_host" (the processor beside an accelerator), "device", "tpu_sparsecore", or
        "gpu_stream:" and a number.
      out_memory_spaces: the memory of the results, a `Space` or a pytree of them; only that of the device.
      compiler_options: None.

    Raises ValueError for another compute type.

    >>> from sagax.experimental.compute_on import compute_on
    >>> float(compute_on(lambda x: x + 1, compute_type="device", out_memory_spaces=Space.Device)(1.0))
    2.0
    """
    if f is None:
        return functools.partial(
            compute_on,
            compute_type=compute_type,
            out_memory_spaces=out_memory_spaces,
            compiler_options=compiler_options,
        )
    if compute_type.startswith("gpu_stream:"):
        marks = {"_xla_stream_annotation": compute_type.partition(":")[2], "inlineable": "false"}
    elif compute_type in _KINDS:
        marks = {"_xla_compute_type": _KINDS[compute_type]}
    else:
        raise ArgumentValueError(
            f"Invalid compute type {compute_type}",
            function="compute_on",
            argument="compute_type",
            expected="'device_host', 'device', 'tpu_sparsecore', or 'gpu_stream:' and a number",
        )
    if any(space is not Space.Device for space in trees.leaves(out_memory_spaces)):
        raise UnsupportedError(
            "results in other memory than the device's",
            function="compute_on",
            argument="out_memory_spaces",
            fix="pass sagax.memory.Space.Device",
        )
    if compiler_options is not None:
        raise UnsupportedError(
            "options of a part of a program",
            function="compute_on",
            argument="compiler_options",
            fix="pass compiler_options to sagax.jit",
        )
    return xla_metadata_call(f, **marks)
