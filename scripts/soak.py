"""Soak-test memory: after many small calls the process must be no larger than before.

    python scripts/soak.py             100,000 jitted calls over 40 shapes, 10,000 donations, 10,000 callbacks, ...
    python scripts/soak.py --scale 0.1 a tenth of all

Each part runs for a fifth of its rounds first, twice over all shapes at least, so that caches are full;
then memory is taken, the rest is run, and memory is taken again. The exit status is 1 if a part grew by more than the allowance.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sagax
import sagax.numpy as snp
from sagax.experimental import io_callback

ALLOWANCE = 8 << 20  # bytes that one part may grow: what allocators keep for themselves
SHAPES = [shape for n in range(1, 21) for shape in [(n,), (n, 3)]]
FEWEST = 4  # shapes, of a run however small


def resident() -> int:
    """Bytes of memory that the process has in use, without what it compiled and what the allocator holds free.

    Compiling leaves glibc with 48 MB of free pieces, a little more with each thousand of functions: that is no leak.
    """
    sagax.clear_caches()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def jitted_calls() -> Callable[[int], None]:
    """Calls of a compiled function over a bounded set of shapes."""
    step = sagax.jit(lambda x, scale: {"y": snp.sin(x) * scale, "sum": x.sum()})
    inputs = [snp.ones(shape) for shape in SHAPES]
    return lambda i: step(inputs[i % len(inputs)], 2.0)["y"].block_until_ready()


def operations() -> Callable[[int], None]:
    """Operations that run at once, and derivatives that are not compiled."""
    inputs = [snp.ones(shape) for shape in SHAPES]
    slope = sagax.grad(lambda x: (x * x).sum())

    def round(i: int) -> None:
        x = inputs[i % len(inputs)]
        (snp.cos(x) + x).sum()  # sagax: ignore[SX0410]
        if i % 20 < 2:
            slope(x)

    return round


def donations() -> Callable[[int], None]:
    """A state that is given to each step."""
    step = sagax.jit(lambda state: {k: x + 1 for k, x in state.items()}, donate_argnums=0)
    state = {"a": snp.zeros(1000), "b": snp.zeros((100, 10))}

    def round(i: int) -> None:
        nonlocal state
        state = step(state)

    return round


def callbacks() -> Callable[[int], None]:
    """Functions of Python that programs call, ordered and not, and prints."""
    seen = [0]

    def count(x: object) -> None:
        seen[0] += 1

    @sagax.jit
    def program(x: sagax.Array) -> sagax.Array:
        sagax.debug.callback(count, x)
        io_callback(count, None, x, ordered=True)
        return sagax.pure_callback(lambda x: np.asarray(x) * 2, x, x)

    x = snp.ones(50)

    def round(i: int) -> None:
        program(x).block_until_ready()
        if i % 100 == 0:
            sagax.effects_barrier()

    return round


def transfers() -> Callable[[int], None]:
    """Arrays that go to a device and come back, small and large."""
    small, large = np.ones(100, np.float32), np.ones(1 << 18, np.float32)
    device = sagax.devices()[0]
    negative = sagax.jit(lambda x: -x)

    def round(i: int) -> None:
        x = sagax.device_put(large if i % 10 == 0 else small, device)
        np.asarray(negative(x))

    return round


def failures() -> Callable[[int], None]:
    """Errors: of deleted arrays and of callbacks."""

    def fail(x: object) -> None:
        raise KeyError("mine")

    program = sagax.jit(lambda x: sagax.debug.callback(fail, x))
    add = sagax.jit(lambda x: x + 1, donate_argnums=0)

    def round(i: int) -> None:
        x = snp.ones(10) * 1
        add(x)
        for use in (lambda: add(x), lambda: (program(1.0), sagax.effects_barrier())):
            try:
                use()
            except (KeyError, RuntimeError):
                continue
            raise AssertionError("no error")

    return round


def closures() -> Callable[[int], None]:
    """Functions that are made anew for each call, around arrays of their own."""

    def round(i: int) -> None:
        weights = np.full(1000, i, np.float32)

        def model(x: sagax.Array) -> sagax.Array:
            return (x * weights).sum()

        if i % 10:
            sagax.make_jaxpr(sagax.grad(model))(weights)
        else:
            sagax.jit(sagax.vmap(model))(weights[:, None])

    return round


def shapes() -> Callable[[int], None]:
    """Shapes that never come again, in compiled functions and single operations; caches are cleared now and then."""
    step = sagax.jit(lambda x: snp.sin(x) * 2)

    def round(i: int) -> None:
        x = snp.asarray(np.ones((i % 150 + 1, i // 150 + 1), np.float32))
        if i % 2:
            step(x)
        else:
            x + x
        if i % 500 == 0:
            sagax.clear_caches()

    return round


def errors() -> Callable[[int], None]:
    """Errors while tracing: of sagax and of the traced function, caught and dropped."""
    x = snp.ones(1000)

    def fail(x: sagax.Array) -> None:
        raise KeyError(x)

    ways: list[Callable[[], object]] = [
        lambda: sagax.jit(lambda x: x + snp.ones(7))(x),
        lambda: sagax.jit(lambda x: 1 if x.sum() > 0 else 2)(x),  # sagax: ignore[SX0102]
        lambda: sagax.grad(fail)(x),
        lambda: sagax.vmap(fail)(x),
        lambda: sagax.lax.scan(lambda c, x: (c.astype(int), x), x, x),
        lambda: snp.ones(3) @ snp.ones(4),
    ]

    def round(i: int) -> None:
        try:
            ways[i % len(ways)]()
        except (KeyError, TypeError, ValueError):
            return
        raise AssertionError("no error")

    return round


PARTS = {
    "closures": (closures, 50_000),
    "shapes": (shapes, 20_000),
    "errors": (errors, 10_000),
    "jitted calls": (jitted_calls, 100_000),
    "operations": (operations, 20_000),
    "donations": (donations, 10_000),
    "callbacks": (callbacks, 10_000),
    "transfers": (transfers, 5_000),
    "failures": (failures, 500),
}


def main() -> int:
    """Run all parts; 1 if one of them grew."""
    parser = argparse.ArgumentParser(description="many calls, flat memory")
    parser.add_argument("--scale", type=float, default=1.0, help="times the numbers of rounds")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    scale, only = parser.parse_args().scale, parser.parse_args().only
    del SHAPES[max(FEWEST, int(scale * len(SHAPES))) :]
    grown = False
    print(f"{'part':14} {'rounds':>8} {'us each':>8} {'MiB before':>11} {'grown KiB':>10}")
    for name in only:
        make, rounds = PARTS[name]
        first = max(int(rounds * scale) // 5, 2 * len(SHAPES))
        rounds = max(int(rounds * scale), 2 * first)
        run = make()
        for i in range(first):
            run(i)
        before, start = resident(), time.perf_counter()
        for i in range(first, rounds):
            run(i)
        seconds = time.perf_counter() - start
        sagax.effects_barrier()
        growth = resident() - before
        grown |= growth > ALLOWANCE
        each = 1e6 * seconds / (rounds - first)
        print(f"{name:14} {rounds:8} {each:8.1f} {before / 2**20:11.1f} {growth / 1024:10.0f}")
    print("memory grew" if grown else "memory is flat")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())
