"""Measure how the time of an operation grows with the size of a program, as an exponent.

    python -m benchmarks --only growth [--jax-python .venv-jax/bin/python]

Each case runs in a process of its own for each library, from small sizes to large ones; what is measured is CPU
time, so other processes disturb little. The exponent is the slope of log(time) over log(size) between the first and
the last size, where the first takes long enough to be measured; the last step shows where the growth gets steeper.
A case above the bound is measured once more without Python's garbage collector, to see whether that is the cause.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import ROOT, Side, last_line
from benchmarks.rows import Row

BOUND = 1.1  # of the exponent
PATIENCE = 300  # seconds for all sizes of a case
LEAST = 0.02  # seconds: shorter times of traces are not used for an exponent

Prepare = Callable[[Any, Any, int], Callable[[], Any]]


@dataclass(frozen=True)
class Growth:
    """A case: `prepare(lib, np, n)` returns the call that is timed, once for each size."""

    title: str
    prepare: Prepare
    sizes: tuple[int, ...] = (1_000, 4_000, 16_000, 64_000)
    least: float = LEAST  # seconds from which on times are used; less where little varies


def _chain(n: int) -> Callable[[Any], Any]:
    def chain(x: Any) -> Any:
        for _ in range(n):
            x = x * 1.5
        return x

    return chain


def trace_chain(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    chain, x = _chain(n), np.float32(1.0)
    return lambda: lib.make_jaxpr(chain)(x)


def trace_grad(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    slope, x = lib.grad(_chain(n)), np.float32(1.0)
    return lambda: lib.make_jaxpr(slope)(x)


def trace_mapped_grad(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    slope, x = lib.vmap(lib.grad(_chain(n))), np.ones(3, np.float32)
    return lambda: lib.make_jaxpr(slope)(x)


def lower_chain(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    traced = lib.jit(_chain(n)).trace(np.float32(1.0))
    return traced.lower


def lower_inputs(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    def total(xs: Any) -> Any:
        out = xs[0]
        for x in xs[1:]:
            out = out + x
        return out

    traced = lib.jit(total).trace([np.float32(i) for i in range(n)])
    return traced.lower


def lower_outputs(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    traced = lib.jit(lambda x: [x + i for i in range(n)]).trace(np.float32(1.0))
    return traced.lower


def lower_jits(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    functions = [lib.jit(lambda x, i=i: x * i + 1) for i in range(n)]

    def all_of_them(x: Any) -> Any:
        for f in functions:
            x = f(x)
        return x

    traced = lib.jit(all_of_them).trace(np.float32(1.0))
    return traced.lower


def trace_jits(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    functions = [lib.jit(lambda x, i=i: x * i + 1) for i in range(n)]

    def all_of_them(x: Any) -> Any:
        for f in functions:
            x = f(x)
        return x

    return lambda: lib.make_jaxpr(all_of_them)(np.float32(1.0))


def lower_conds(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    def conds(x: Any) -> Any:
        for i in range(n):
            x = lib.lax.cond(x > i, lambda x, i=i: x + i, lambda x: x * 2, x)
        return x

    traced = lib.jit(conds).trace(np.float32(1.0))
    return traced.lower


def trace_conds(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    def conds(x: Any) -> Any:
        for i in range(n):
            x = lib.lax.cond(x > i, lambda x, i=i: x + i, lambda x: x * 2, x)
        return x

    return lambda: lib.make_jaxpr(conds)(np.float32(1.0))


def lower_nested_jits(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    f = lambda x: x + 1  # noqa: E731
    for _ in range(n):
        f = lib.jit(lambda x, g=f: g(x) * 2)
    return lambda: f.lower(np.float32(1.0))  # type: ignore[attr-defined]


def tree_map(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    tree = {str(i): [i, (i, {"x": i})] for i in range(n)}
    return lambda: lib.tree.map(lambda x: x + 1, tree)


def call_with_leaves(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    f = lib.jit(lambda tree: tree["a"][0] + 1)
    tree = {"a": [np.float32(i) for i in range(n)]}
    f(tree)
    return lambda: f(tree)


def scan_leaves(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    carry = [np.float32(i) for i in range(n)]

    def step(carry: Any, x: Any) -> Any:
        return [c + x for c in carry], None

    return lambda: lib.make_jaxpr(lambda c: lib.lax.scan(step, c, np.arange(3.0)))(carry)


def grad_scan_leaves(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    carry = [np.float32(i) for i in range(n)]

    def step(carry: Any, x: Any) -> Any:
        return [c * x for c in carry], None

    def loss(carry: Any) -> Any:
        return sum(lib.lax.scan(step, carry, np.arange(3.0))[0])

    return lambda: lib.make_jaxpr(lib.grad(loss))(carry)


def eager_shapes(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    import numpy

    arrays = [np.asarray(numpy.ones((i % 97 + 1, i // 97 + 1), numpy.float32)) for i in range(n)]

    def call() -> None:
        for x in arrays:
            _ = x + x

    return call


def orders(lib: Any, np: Any, n: int) -> Callable[[], Any]:
    f = lambda x: np.sin(x) * x  # noqa: E731
    for _ in range(n):
        f = lib.grad(f)
    return lambda: lib.make_jaxpr(f)(np.float32(1.0))


CASES = {
    "trace_chain": Growth("trace a chain of n operations", trace_chain),
    "trace_grad": Growth("trace the gradient of a chain", trace_grad),
    "trace_vmap_grad": Growth("trace vmap(grad) of a chain", trace_mapped_grad, (1_000, 4_000, 16_000)),
    "lower_chain": Growth("lower a chain of n operations", lower_chain),
    "lower_inputs": Growth("lower a function of n inputs", lower_inputs),
    "lower_outputs": Growth("lower a function of n results", lower_outputs),
    "trace_jits": Growth("trace n jitted functions in one", trace_jits, (1_000, 4_000, 16_000)),
    "lower_jits": Growth("lower n jitted functions in one", lower_jits, (1_000, 4_000, 16_000)),
    "trace_conds": Growth("trace n conds", trace_conds, (250, 1_000, 4_000)),
    "lower_conds": Growth("lower n conds", lower_conds, (250, 1_000, 4_000)),
    "nested_jits": Growth("lower jits nested n deep", lower_nested_jits, (20, 40, 80)),
    "tree_map": Growth("map over a pytree of 3n leaves", tree_map, least=0.001),
    "call_leaves": Growth("call a jitted function of n leaves", call_with_leaves, least=0.0001),
    "scan_leaves": Growth("trace a scan of n leaves", scan_leaves, (1_000, 4_000, 16_000)),
    "grad_scan_leaves": Growth("trace the gradient of a scan of n leaves", grad_scan_leaves, (1_000, 4_000, 16_000)),
    "eager_shapes": Growth("add two arrays, in n shapes", eager_shapes, (250, 1_000, 4_000)),
    "orders": Growth("trace a derivative of order n", orders, (2, 4, 6, 8)),
}  # fmt: skip

# Where jax itself grows faster than any power, or the size is no count of work: shown beside jax, without bound.
UNBOUNDED = {"orders", "nested_jits"}


def measure_case(library: str, name: str) -> None:
    """Print the CPU seconds of each size of a case, one JSON line each."""
    import importlib

    sys.setrecursionlimit(20_000)
    lib, np = importlib.import_module(library), importlib.import_module(f"{library}.numpy")
    case = CASES[name]
    case.prepare(lib, np, min(case.sizes[0], 50))()  # imports and the start of the engine
    for n in case.sizes:
        call = case.prepare(lib, np, n)
        start = time.process_time()
        call()
        print(json.dumps([n, time.process_time() - start]), flush=True)


def exponent(times: list[tuple[int, float]]) -> float:
    """Return the slope of log(time) over log(size)."""
    (n, first), (m, last) = times[0], times[-1]
    return math.log(last / first) / math.log(m / n)


def _run(side: Side, name: str, collect: bool) -> tuple[dict[int, float], str]:
    """Return the seconds by size that a process of a case measured, and why it failed."""
    code = f"from benchmarks.growth import measure_case; measure_case({side.library!r}, {name!r})"
    if not collect:
        code = f"import gc; gc.disable(); {code}"
    process = subprocess.Popen(
        [side.python, "-c", code],
        cwd=ROOT,
        env=side.environment(Row(name, "", None, "cpu")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        text, errors = process.communicate(timeout=PATIENCE)
        failure = last_line(errors) if process.returncode else ""
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        failure = f"over {PATIENCE} s"
    return dict(json.loads(line) for line in text.splitlines()), failure


def _slopes(times: dict[int, float], least: float) -> tuple[float, float] | None:
    """Return the exponents over all sizes that take at least so many seconds, and of the last step."""
    points = [(n, t) for n, t in times.items() if t >= least]
    return (exponent(points), exponent(points[-2:])) if len(points) > 1 else None


def measure_all(ours: Side, theirs: Side, repeats: int = 2) -> tuple[list[str], list[str]]:
    """Print a table; return its lines, and the cases that grow faster than the bound."""
    lines, over = [], []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    def is_over(title: str, label: str, side: Side, name: str, collect: bool = True) -> bool:
        times: dict[int, float] = {}
        failure = ""
        for _ in range(repeats):
            found, failure = _run(side, name, collect)
            times = {n: min(t, times.get(n, t)) for n, t in found.items()}
        slopes = _slopes(times, CASES[name].least)
        text = "     -      -" if slopes is None else f"{slopes[0]:6.2f} {slopes[1]:6.2f}"
        shown = "  ".join([f"{n}: {t:.3g}" for n, t in times.items()])
        say(f"{title:16} {label:6} {text}  {shown}  {failure}".rstrip())
        return bool(failure) or (slopes is not None and slopes[0] > BOUND)

    say(f"{'case':16} {'':6} {'slope':>6} {'last':>6}  CPU seconds by size")
    for name in CASES:
        if is_over(name, ours.label, ours, name):
            over.append(name)
            is_over("", "no gc", ours, name, False)
        is_over("", theirs.label, theirs, name)
    return lines, [name for name in over if name not in UNBOUNDED]


def page(lines: list[str], revision: str) -> str:
    """Return the page of a run: what was measured, and the table."""
    cases = "\n".join(f"- `{name}`: {case.title}" for name, case in CASES.items())
    table = "\n".join(lines)
    return (
        f"# Growth of times with the size of a program\n\nCommit {revision}. CPU seconds of one call; exponents "
        f"from times of at least {LEAST} s (of pytrees and calls less). `no gc`: sagax without Python's garbage collector.\n\n{cases}\n\n```text\n{table}\n```\n"
    )
