"""Measure what a progress bar costs a loop: `python -m benchmarks.progress`.

Each loop runs without a bar, with one that nobody sees (stderr is a file), and with one that is drawn on a
terminal, in turn. The table shows ratios of the shortest times and of the medians.
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import sagax
import sagax.numpy as snp
from sagax import lax

TURNS = 15


class Terminal(io.StringIO):
    """Stand for a terminal."""

    def isatty(self) -> bool:
        return True


def _filter(c: Any, x: Any) -> tuple[Any, Any]:
    return snp.sin(c) * 1.01 + x, c[0]


def _scan(progress: bool, n: int, **options: Any) -> Callable[..., Any]:
    xs = snp.arange(float(n)) * 1e-5
    return lambda c: lax.scan(_filter, c, xs, progress=progress, **options)


def _loop(progress: bool, n: int, body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda c: lax.fori_loop(0, n, body, c, progress=progress)


def _traced(progress: bool) -> Callable[..., Any]:
    body = lambda i, c: c * 1.0001 + 1e-3  # noqa: E731
    return lambda c, n: lax.fori_loop(0, n, body, c, progress=progress)


Make = Callable[[bool], Callable[..., Any]]
LOOPS: Sequence[tuple[str, Make, tuple[Any, ...]]] = (
    ("scan of 30,000, array of 500", lambda p: _scan(p, 30_000), (snp.ones(500),)),
    ("the same, unroll=7", lambda p: _scan(p, 30_000, unroll=7), (snp.ones(500),)),
    (
        "its gradient, 10,000",
        lambda p: sagax.grad(lambda c: _scan(p, 10_000)(c)[0].sum()),
        (snp.ones(500),),
    ),
    (
        "fori_loop of 100,000,000, a number",
        lambda p: _loop(p, 100_000_000, lambda i, c: c * 1.0001 + 1e-3),
        (snp.float32(1),),
    ),
    ("fori_loop of 20,000,000, traced bound", _traced, (snp.float32(1), 20_000_000)),
    (
        "fori_loop of 10,000, product of 64x64",
        lambda p: _loop(p, 10_000, lambda i, c: snp.tanh(c @ c)),
        (snp.ones((64, 64)) * 0.01,),
    ),
    (
        "fori_loop of 500, array of 100,000",
        lambda p: _loop(p, 500, lambda i, c: snp.sin(c)),
        (snp.ones(100_000),),
    ),
    (
        "fori_loop of 100, array of 500",
        lambda p: _loop(p, 100, lambda i, c: snp.sin(c)),
        (snp.ones(500),),
    ),
)


def measure(make: Make, args: tuple[Any, ...]) -> list[list[float]]:
    """Return the seconds of each turn: without a bar, with a hidden one, with a drawn one."""
    plain, shown = sagax.jit(make(False)), sagax.jit(make(True))
    sagax.block_until_ready((plain(*args), shown(*args)))
    seconds: list[list[float]] = [[], [], []]
    before = sys.stderr
    try:
        for _ in range(TURNS):
            for found, run, stream in zip(
                seconds, (plain, shown, shown), (io.StringIO(), io.StringIO(), Terminal())
            ):
                sys.stderr = stream
                start = time.perf_counter()
                sagax.block_until_ready(run(*args))
                found.append(time.perf_counter() - start)
    finally:
        sys.stderr = before
    return seconds


def main() -> None:
    """Print a row for each loop."""
    print(
        "| loop | without | hidden: shortest, median | drawn: shortest, median |\n|---|---|---|---|"
    )
    for title, make, args in LOOPS:
        plain, *others = measure(make, args)
        ratios = [
            f"{min(x) / min(plain):.3f}, {statistics.median(x) / statistics.median(plain):.3f}"
            for x in others
        ]
        print(f"| {title} | {min(plain) * 1e3:.2f} ms | {' | '.join(ratios)} |", flush=True)


if __name__ == "__main__":
    main()
