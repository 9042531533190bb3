"""Import jaxlib, and name its version, its types and its errors."""

from __future__ import annotations

import os
import re
from typing import Any

# XLA logs a line per device on stderr, unless this is set before it is loaded.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import jaxlib.version

from sagax._src.xla.load import load

load("jaxlib.xla_client")
from jaxlib import xla_client as xla_client  # noqa: E402 (loaded above)

# jaxlib's extension modules have no stubs: to a type checker everything in them is Any.
xla_extension: Any = load("jaxlib._jax")

engine_version_text: str = jaxlib.version.__version__


def _version_numbers(text: str) -> tuple[int, int, int]:
    major, minor, patch = (int(digits) for digits in re.findall(r"\d+", text)[:3])
    return major, minor, patch


engine_version: tuple[int, int, int] = _version_numbers(engine_version_text)
BEFORE_0_11 = engine_version < (0, 11, 0)
BEFORE_0_12 = engine_version < (0, 12, 0)
# Whether XLA for the CPU keeps an optimization barrier until fusion; before 0.11 it drops it earlier.
barriers_last_until_fusion: bool = not BEFORE_0_11
# Whether XLA for the CPU multiplies int8 and uint8 with sums in int32, which is 30 times as fast as products of int32.
sums_products_of_bytes: bool = not BEFORE_0_12
# Whether XLA for the CPU computes chains of operations that end in a reduction by a library with a fast sine.
reduces_sines: bool = not BEFORE_0_12
# Whether that library loses NaNs in maxima and minima, as of 0.12.0.
loses_nans: bool = not BEFORE_0_12

EngineError = xla_extension.JaxRuntimeError
Client = xla_extension.Client
Device = xla_extension.Device
Buffer = xla_extension.ArrayImpl


class DeletedBufferError(RuntimeError):
    """A buffer was used after it had been deleted or donated."""
