"""Build and measure rows of the sweep on one library, as the driver asks.

    python -m benchmarks.sweep_worker LIBRARY CORE

It answers each line of JSON on stdin with one: `build` compiles a row, `measure` times it, `forget` drops all rows.
The first library chooses the size of the operands: the greatest at which the call fits memory and is over soon.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.rows import Library
from benchmarks.sweep_rows import SweepRow, call_forms, operands, scope
from benchmarks.worker import open_library

GREATEST = 32_000_000  # elements of an intermediate value
SLOWEST = 0.2  # seconds of a call; beyond, a smaller size is measured
SHORTEST = 0.002  # seconds of a measurement
STEADY_CALLS = 1500  # of an eager function: it may be compiled after many calls only
STEADY_SECONDS = 0.3  # spent on them at most

_LEVELS = {"large": ("large", "medium", "small"), "grad": ("large", "medium", "small"), "int": ("large", "medium", "small"),
           "small": ("small",), "eager": ("tiny",), "call": ("tiny",)}  # fmt: skip


class Unmeasurable(Exception):
    """A row that has no meaning in this form, such as a derivative of a comparison."""


class Rows:
    """Compile and time the rows of one library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._values: dict[str, dict[str, Any]] = {}
        self._scopes: dict[str, dict[str, Any]] = {}
        self._forms: dict[str, Callable[[], Any]] = {}
        self._built: dict[
            str, tuple[Callable[[], Any], int]
        ] = {}  # with the calls of a measurement

    def forget(self) -> dict[str, Any]:
        """Drop all rows."""
        self._built.clear()
        gc.collect()
        return {}

    def build(self, row: SweepRow, level: str | None) -> dict[str, Any]:
        """Compile a row and call it; return its level and the seconds of a call."""
        levels = _LEVELS[row.form] if level is None else (level,)
        made: Callable[[], Any] | None = None
        for each in levels:
            last = each == levels[-1]
            made = self._make(row, each, last)
            if made is None:
                continue
            seconds = self._settle(made)
            if row.form == "eager":
                seconds = self._steady(made, seconds)
            if seconds <= SLOWEST or last:
                break
        assert made is not None  # the last level is always made
        self._built[row.name] = made, max(1, round(SHORTEST / max(seconds, 1e-9)))
        return {"level": each, "seconds": seconds}

    def measure(self, name: str) -> dict[str, float]:
        """Return the CPU seconds of one call of a row."""
        call, number = self._built[name]
        result = None
        start = time.process_time()
        for _ in itertools.repeat(None, number):
            result = call()
        self._wait(result)
        return {"seconds": (time.process_time() - start) / number}

    def _wait(self, result: Any) -> None:
        self._library.lib.block_until_ready(result)

    def _settle(self, call: Callable[[], Any]) -> float:
        """Call until warm; return the seconds of a call."""
        self._wait(call())
        seconds = float("inf")
        for _ in range(5):
            start = time.process_time()
            self._wait(call())
            seconds = min(seconds, time.process_time() - start)
            if seconds > SLOWEST / 4:
                break
        return seconds

    def _steady(self, call: Callable[[], Any], seconds: float) -> float:
        """Call as often as it takes until calls stay alike; return the seconds of a call."""
        for _ in range(min(STEADY_CALLS, int(STEADY_SECONDS / max(seconds, 1e-9)))):
            call()
        return min(seconds, self._settle(call))

    def _make(self, row: SweepRow, level: str, last: bool) -> Callable[[], Any] | None:
        """Return the call, None if its values are too large at this level."""
        if row.form == "call":
            self._forms = self._forms or call_forms(self._library)
            return self._forms[row.text]
        if level not in self._values:
            self._values[level] = operands(self._library, level)
            self._scopes[level] = scope(self._library, level)
        values, names = self._values[level], self._scopes[level]
        code = compile(row.text, row.name, "eval")
        used = [k for k in values if k in code.co_names or _inner(code, k)]
        function = eval(f"lambda {', '.join(used)}: {row.text}", names)
        arguments = [values[k] for k in used]
        if row.form == "grad":
            function = self._gradient(function, arguments)
        if row.form == "eager":
            return lambda: function(*arguments)
        if not last and self._greatest(function, arguments) > GREATEST:
            return None
        jitted = self._library.lib.jit(lambda *xs: self._arrays(function(*xs)))
        return lambda: jitted(*arguments)

    def _arrays(self, result: Any) -> list[Any]:
        return [
            x
            for x in self._library.lib.tree.leaves(result)
            if hasattr(x, "dtype") or isinstance(x, (int, float))
        ]

    def _gradient(self, function: Callable[..., Any], arguments: list[Any]) -> Callable[..., Any]:
        snp, lib = self._library.np, self._library.lib
        wanted = tuple(i for i, a in enumerate(arguments) if snp.issubdtype(a.dtype, snp.floating))
        floats = [
            x
            for x in self._arrays(lib.eval_shape(function, *arguments))
            if hasattr(x, "dtype") and snp.issubdtype(x.dtype, snp.floating)
        ]
        if not wanted or not floats:
            raise Unmeasurable("no derivative")

        def total(*xs: Any) -> Any:
            return sum(
                snp.sum(x)
                for x in self._arrays(function(*xs))
                if snp.issubdtype(x.dtype, snp.floating)
            )

        return lib.grad(total, wanted)

    def _greatest(self, function: Callable[..., Any], arguments: list[Any]) -> int:
        closed = self._library.lib.make_jaxpr(lambda *xs: self._arrays(function(*xs)))(*arguments)
        return max(_sizes(closed.jaxpr), default=0)


def _inner(code: Any, name: str) -> bool:
    return any(
        hasattr(c, "co_names") and (name in c.co_names or _inner(c, name)) for c in code.co_consts
    )


def _sizes(jaxpr: Any) -> Any:
    """Yield the numbers of elements of all values of a jaxpr."""
    for eqn in jaxpr.eqns:
        for var in eqn.outvars:
            yield getattr(var.aval, "size", 0)
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _sizes(inner)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, {int(sys.argv[2])})
    rows = Rows(open_library(sys.argv[1]))
    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["do"] == "measure":
                answer: dict[str, Any] = rows.measure(asked["row"])
            elif asked["do"] == "forget":
                answer = rows.forget()
            else:
                answer = rows.build(SweepRow(*asked["row"]), asked["level"])
        except Unmeasurable as reason:
            answer = {"skip": str(reason)}
        except Exception as error:
            text = next(iter(f"{error}".splitlines()), "")
            answer = {"error": f"{type(error).__name__}: {text}"}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
