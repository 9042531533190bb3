"""Make runs of a script repeatable: clocks, unseeded generators, and draws that ignore keys.

Two runs can be compared only if what they read from outside is the same.
"""

from __future__ import annotations

import os
import random
import sys
import time
import uuid
from types import FrameType
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._autofix.checks.report import is_own_file
from sagax._src import config
from sagax._src.primitives import random_bits, random_implementations

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CLOCKS = ("time", "perf_counter", "monotonic", "process_time")


def install() -> None:
    """Let clocks count their calls, and seed the generators of Python and NumPy."""
    for name in _CLOCKS:
        setattr(time, name, _Clock(name, 1e9, 1e-3))
        setattr(time, f"{name}_ns", _Clock(f"{name}_ns", 10**18, 10**6))
    identifiers = random.Random(0)
    for name in ("uuid1", "uuid4"):
        setattr(uuid, name, lambda *_, **__: uuid.UUID(int=identifiers.getrandbits(128), version=4))
    os.urandom = lambda n: identifiers.randbytes(n)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  the legacy generator is what scripts share
    default_rng = np.random.default_rng
    np.random.default_rng = lambda seed=None: default_rng(0 if seed is None else seed)


class _Clock:
    """Count the readings by the user's own code: those of libraries depend on what is compiled."""

    def __init__(self, name: str, start: float, step: float) -> None:
        self.__name__ = name
        self.start, self.step, self.ticks = start, step, 0

    def __call__(self) -> float:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        if frame is not None and is_own_file(frame.f_code.co_filename):
            self.ticks += 1
        return self.start + self.step * self.ticks


def draw_by_shape() -> None:
    """Let random bits depend on their shape alone, so that other keys give the same draws.

    Reuse of keys is no error then.
    """
    options = type(config.config)
    update = options.update

    def update_others(name: str, value: Any) -> None:
        update(name, value and name != "jax_debug_key_reuse")

    options.update = staticmethod(update_others)
    assert random_implementations.threefry_prng_impl in random_bits.implementations()
    for implementation in random_bits.implementations():
        real = implementation.random_bits

        def same_bits(
            data: Any, bit_width: int, shape: Any, real: Any = real, of: Any = implementation
        ) -> Any:
            one = snp.zeros(of.key_shape, np.uint32)
            bits = real(one, bit_width, shape)
            keys = data.shape[: data.ndim - len(of.key_shape)]
            return snp.broadcast_to(bits, (*keys, *shape))

        object.__setattr__(implementation, "random_bits", same_bits)
        object.__setattr__(implementation, "bits_of_counters", None)
