"""What is measured. Each case is one function, written once, that both libraries run.

A case gets a `Library` and returns the work to be timed: a `Loop` or a `Fresh`. It imports nothing
of either library, so that the rows can be listed without them.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
OPS = 3000  # length of the straight-line program


@dataclass(frozen=True)
class Library:
    """The library under measurement: the module itself (`jax` or `sagax`) and its NumPy names."""

    name: str
    lib: Any
    np: Any

    def example(self, name: str) -> ModuleType:
        """The example program of that name, in the form that is written for this library."""
        path = EXAMPLES / (f"{name}_jax.py" if self.name == "jax" else f"{name}.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no example program {path}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


@dataclass(frozen=True)
class Loop:
    """`call` is timed many times over in one measurement, until its last result is ready."""

    call: Callable[[], Any]


@dataclass(frozen=True)
class Fresh:
    """Each timed `run(prepare())` has an untimed `prepare` before it, so that no cache can help."""

    prepare: Callable[[], Any]
    run: Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """A line of the table. `bound`: the most that time(sagax)/time(jax) may be, None for no bound.

    `clock` is "cpu" where the work is Python's and other processes should not count, else "wall".
    A row has a `case`, or else `statement`: timed in a new process, {lib} being the library's name.
    """

    name: str
    title: str
    bound: float | None
    clock: Literal["cpu", "wall"]
    case: Callable[[Library], Loop | Fresh] | None = None
    statement: str = ""


# ------------------------------------------------------------------------- tracing and lowering


def straight_line(library: Library) -> Callable[[Any, Any], Any]:
    """A new function of `OPS` operations in a row, as people write them, that ends in a number."""
    np = library.np

    def program(x, y):
        for _ in range((OPS - 1) // 10):
            x = np.sin(x)
            x = x * y
            x = x + 1.5
            x = np.tanh(x)
            x = np.maximum(x, y)
            x = x - y
            x = np.exp(x)
            x = x.T
            x = x / 2.0
            x = np.reshape(x, (3, 4))
        return np.sum(x)

    return program


def operands(library: Library) -> tuple[Any, Any]:
    x = library.np.arange(12.0).reshape(3, 4)
    return x, library.np.ones((3, 4))


def trace(library: Library) -> Fresh:
    x, y = operands(library)
    make_jaxpr = library.lib.make_jaxpr
    return Fresh(lambda: straight_line(library), lambda program: make_jaxpr(program)(x, y))


def trace_grad(library: Library) -> Fresh:
    x, y = operands(library)
    make_jaxpr, grad = library.lib.make_jaxpr, library.lib.grad
    return Fresh(lambda: straight_line(library), lambda program: make_jaxpr(grad(program))(x, y))


def lower(library: Library) -> Fresh:
    """From the traced program to the module that is given to the compiler."""
    x, y = operands(library)
    return Fresh(
        lambda: library.lib.jit(straight_line(library)).trace(x, y),
        lambda traced: traced.lower(),
    )


def lower_text(library: Library) -> Fresh:
    """The same with the module printed, so that nothing of it can be put off."""
    x, y = operands(library)
    return Fresh(
        lambda: library.lib.jit(straight_line(library)).trace(x, y),
        lambda traced: traced.lower().as_text(),
    )


def trace_and_lower(library: Library) -> Fresh:
    """From the Python function to the lowered module."""
    x, y = operands(library)
    return Fresh(
        lambda: library.lib.jit(straight_line(library)),
        lambda program: program.lower(x, y),
    )


def fibonacci(library: Library) -> Fresh:
    """One jitted function that calls itself, twice at each level, with a static number."""
    lib = library.lib

    def prepare():
        @functools.partial(lib.jit, static_argnums=0)
        def fib(n, x):
            return x if n < 2 else fib(n - 1, x) + fib(n - 2, x)

        return lambda x: fib(20, x)

    return Fresh(prepare, lambda program: lib.make_jaxpr(program)(1.0))


def fibonacci_closures(library: Library) -> Fresh:
    """The same where each level jits a new function that closes over its number."""
    lib = library.lib

    def prepare():
        def fib(n, x):
            return x if n < 2 else lib.jit(lambda x: fib(n - 1, x) + fib(n - 2, x))(x)

        return lambda x: fib(20, x)

    return Fresh(prepare, lambda program: lib.make_jaxpr(program)(1.0))


# ------------------------------------------------------------------------------------ calls


def jitted_call(library: Library) -> Loop:
    f = library.lib.jit(lambda x, y: x + y)
    x, y = library.np.arange(10.0), library.np.ones(10)
    return Loop(lambda: f(x, y))


def eager(make: Callable[[Any, Any, Any], Callable[[], Any]]) -> Callable[[Library], Loop]:
    """A case of one operation on arrays of 10 elements: `make(np, x, y)` gives the call."""

    def case(library: Library) -> Loop:
        np = library.np
        return Loop(make(np, np.arange(10.0), np.ones(10)))

    return case


def eager_where(np: Any, x: Any, y: Any) -> Callable[[], Any]:
    mask = x > 4.0
    return lambda: np.where(mask, x, y)


# ------------------------------------------------------------------------------ example programs


def digits_step(library: Library) -> Loop:
    """One training step of the digits example, compiled, parameters in and out."""
    random = library.lib.random
    digits = library.example("digits")
    (images, labels), _ = digits.load_data(random.key(0))
    params = digits.init_params(random.key(1))
    velocity = library.lib.tree.map(library.np.zeros_like, params)
    rows = library.np.arange(digits.BATCH_SIZE)

    def call():
        nonlocal params, velocity
        params, velocity, value = digits.train_step(params, velocity, images, labels, rows)
        return value

    return Loop(call)


ROWS = (
    Row(
        "import",
        "import, with its NumPy names, new process",
        0.5,
        "cpu",
        statement="import {lib}, {lib}.numpy",
    ),
    Row("trace", f"make_jaxpr of {OPS:,} operations", 0.35, "cpu", trace),
    Row("trace-grad", "make_jaxpr of grad of the same", 0.35, "cpu", trace_grad),
    Row("lower", "lowering the same to StableHLO", 0.5, "cpu", lower),
    Row("lower-text", "the same, printed", 0.5, "cpu", lower_text),
    Row("trace-lower", "jit(f).lower of the same, traced anew", None, "cpu", trace_and_lower),
    Row("jit-call", "jitted call, two arrays of 10", 1.4, "wall", jitted_call),
    Row("eager-add", "x + y", 1.0, "wall", eager(lambda np, x, y: lambda: x + y)),
    Row("eager-sin", "sin(x)", 1.0, "wall", eager(lambda np, x, y: lambda: np.sin(x))),
    Row(
        "eager-reshape",
        "reshape(x, (2, 5))",
        1.0,
        "wall",
        eager(lambda np, x, y: lambda: np.reshape(x, (2, 5))),
    ),
    Row("eager-slice", "x[2:5]", 1.0, "wall", eager(lambda np, x, y: lambda: x[2:5])),
    Row("eager-where", "where(mask, x, y)", 1.0, "wall", eager(eager_where)),
    Row(
        "eager-concatenate",
        "concatenate([x, y])",
        1.0,
        "wall",
        eager(lambda np, x, y: lambda: np.concatenate([x, y])),
    ),
    Row("digits-step", "training step of examples/digits", 1.05, "wall", digits_step),
    Row("fibonacci", "nested jit fib(20), static number", None, "cpu", fibonacci),
    Row(
        "fibonacci-closures",
        "nested jit fib(20), new closures",
        0.05,
        "cpu",
        fibonacci_closures,
    ),
)
