"""Is it faster than NumPy? The measurement of the documentation, done with care, on whatever device is there.

    python examples/faq_benchmark.py

For a large and a small input: how long NumPy takes, how long the input takes to the device, how long
compiling takes (once for each shape), and then each run. Runs are waited for (`block_until_ready`):
otherwise only their start would be measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax
from sagax import Array


def f(x: Any) -> Any:
    """What is measured: it works in NumPy and in sagax."""
    return x.T @ (x - x.mean(axis=0))


def seconds(call: Callable[[], Any], budget: float = 0.3) -> float:
    """The shortest time of a call, of as many as fit into the budget (three at least)."""
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(size: int) -> dict[str, float]:
    """The times for an input of size x size, in microseconds."""
    x_np = np.ones((size, size), np.float32)  # the dtype that sagax has by default
    device = sagax.devices()[0]

    def transfer() -> Array:
        return sagax.device_put(x_np, device).block_until_ready()

    x = transfer()
    f_jit = sagax.jit(f)
    start = time.perf_counter()
    compiled = f_jit.lower(x).compile()
    compiling = time.perf_counter() - start
    np.testing.assert_allclose(np.asarray(compiled(x)), f(x_np), atol=1e-3)
    f_jit(x)  # the call compiles for itself
    times = {
        "NumPy": seconds(lambda: f(x_np)),
        "transfer": seconds(transfer),
        "compile": compiling,
        "run": seconds(lambda: f_jit(x).block_until_ready()),
    }
    return {name: 1e6 * time for name, time in times.items()}


def main() -> None:
    """Print the table."""
    device = sagax.devices()[0]
    print(f"device: {device.device_kind} ({sagax.default_backend()}), times in microseconds")
    rows = {size: measure(size) for size in (1000, 10)}
    print("input      " + "".join(f"{name:>12}" for name in rows[10]) + "   NumPy / run")
    for size, times in rows.items():
        cells = "".join(f"{value:12.1f}" for value in times.values())
        print(f"{f'{size}x{size}':11}{cells}{times['NumPy'] / times['run']:14.2f}")


if __name__ == "__main__":
    main()
