"""Define cases of tracing, single calls, random numbers and kernels; both libraries run the same function.

A case gets a `Library` and returns the work to be timed: a `Loop` or a `Fresh`. It imports nothing
of either library, so that the rows can be listed without them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.rows import Fresh, Library, Loop, Row

OPS = 3000  # length of the straight-line program

# ------------------------------------------------------------------------- tracing and lowering


_counter = itertools.count()


def straight_line(library: Library) -> Callable[[Any, Any], Any]:
    """A new function of `OPS` operations in a row, as people write them, that ends in a number.

    No two mean the same, since a number in them differs: what was traced for one serves no other.
    """
    np = library.np
    number = 1.5 + next(_counter) / 1000

    def program(x, y):
        for _ in range((OPS - 1) // 10):
            x = np.sin(x)
            x = x * y
            x = x + number
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
        number = 1.5 + next(_counter) / 1000  # no two programs mean the same

        def fib(n, x):
            return x * number if n < 2 else lib.jit(lambda x: fib(n - 1, x) + fib(n - 2, x))(x)

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


def eager_integers(np: Any, x: Any, y: Any) -> Callable[[], Any]:
    i = x.astype(int)
    return lambda: i % 3


def eager_from_numpy(np: Any, x: Any, y: Any) -> Callable[[], Any]:
    numbers = numpy.arange(10, dtype="float32")
    return lambda: np.asarray(numbers)


def eager_take(np: Any, x: Any, y: Any) -> Callable[[], Any]:
    places = np.array([1, 3, 5])
    return lambda: np.take(x, places)


def new_shapes(library: Library) -> Fresh:
    """Twenty sizes that were not there before, each a new signature of each operation."""
    np, sizes = library.np, itertools.count(100, 20)

    def run(first: int) -> Any:
        return [np.ones(n) * 2 + 1 for n in range(first, first + 20)]

    return Fresh(lambda: next(sizes), run)


# name, title, the most that time may be beside jax's, and the call on two arrays of 10 elements
EAGER: tuple[tuple[str, str, float, Callable[[Any, Any, Any], Callable[[], Any]]], ...] = (
    ("add", "x + y", 0.3, lambda np, x, y: lambda: x + y),
    ("multiply", "x * 2.5", 0.3, lambda np, x, y: lambda: x * 2.5),
    ("compare", "x < y", 0.3, lambda np, x, y: lambda: x < y),
    ("remainder", "i % 3", 1.0, eager_integers),
    ("maximum", "maximum(x, y)", 0.5, lambda np, x, y: lambda: np.maximum(x, y)),
    ("clip", "clip(x, 1, 3)", 1.0, lambda np, x, y: lambda: np.clip(x, 1, 3)),
    ("sin", "sin(x)", 0.9, lambda np, x, y: lambda: np.sin(x)),
    ("sum", "sum(x)", 0.9, lambda np, x, y: lambda: np.sum(x)),
    ("mean", "mean(x)", 0.9, lambda np, x, y: lambda: np.mean(x)),
    ("slice", "x[2:5]", 0.15, lambda np, x, y: lambda: x[2:5]),
    ("element", "x[3]", 0.15, lambda np, x, y: lambda: x[3]),
    ("reshape", "reshape(x, (2, 5))", 0.25, lambda np, x, y: lambda: np.reshape(x, (2, 5))),
    ("transpose", "transpose(x)", 0.25, lambda np, x, y: lambda: np.transpose(x)),
    ("astype", "x.astype(int)", 0.25, lambda np, x, y: lambda: x.astype(int)),
    ("stack", "stack([x, y])", 0.25, lambda np, x, y: lambda: np.stack([x, y])),
    ("concatenate", "concatenate([x, y])", 0.25, lambda np, x, y: lambda: np.concatenate([x, y])),
    ("where", "where(mask, x, y)", 0.25, eager_where),
    ("take", "take(x, indices)", 1.1, eager_take),
    ("zeros", "zeros(10)", 0.3, lambda np, x, y: lambda: np.zeros(10)),
    ("arange", "arange(10)", 0.3, lambda np, x, y: lambda: np.arange(10)),
    ("linspace", "linspace(0, 1, 10)", 1.1, lambda np, x, y: lambda: np.linspace(0, 1, 10)),
    ("asarray", "asarray(a NumPy array)", 0.3, eager_from_numpy),
    ("set", "x.at[2].set(1.0)", 0.4, lambda np, x, y: lambda: x.at[2].set(1.0)),
)


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


# ------------------------------------------------------------------------------- random numbers


def draw(make: Callable[[Any, Any], Any], compiled: bool = False) -> Callable[[Library], Loop]:
    """A case of one call of a function of the module `random` and a key."""

    def case(library: Library) -> Loop:
        random = library.lib.random
        key = random.key(0)

        def call(key: Any) -> Any:
            return make(random, key)

        f = library.lib.jit(call) if compiled else call
        return Loop(lambda: f(key))

    return case


# ------------------------------------------------------------------------- compiled kernels of lax


def numbers(*shape: int, seed: int = 0) -> numpy.ndarray:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def places(n: int, below: int) -> numpy.ndarray:
    return numpy.random.default_rng(1).integers(0, below, n).astype(numpy.int32)


def definite(n: int) -> numpy.ndarray:
    x = numbers(n, n)
    return x @ x.T + n * numpy.eye(n, dtype=numpy.float32)


def compiled(
    f: Callable[..., Any], operands: Callable[[], list[numpy.ndarray]]
) -> Callable[[Library], Loop]:
    """A case of one call of a compiled `f(library, *arrays)`; other rows do not make the arrays."""

    def case(library: Library) -> Loop:
        arrays = [library.np.asarray(x) for x in operands()]
        g = library.lib.jit(functools.partial(f, library))
        return Loop(lambda: g(*arrays))

    return case


def convolution(library: Library, x: Any, k: Any) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return library.lib.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout)


def windows(library: Library, x: Any) -> Any:
    lax = library.lib.lax
    return lax.reduce_window(x, -numpy.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def recurrent(library: Library, w: Any, u: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = library.np.tanh(h @ w + x @ u)
        return h, h

    return library.lib.lax.scan(step, h, xs)


def ten_thousand(library: Library, x: Any) -> Any:
    return library.lib.lax.fori_loop(0, 10_000, lambda i, x: x * 0.999 + i, x)


def with_progress(library: Library, x: Any) -> Any:
    """Loop with a progress bar, which the host counts for as on a terminal; jax has none."""
    options = {}
    if library.name == "sagax":
        library.lib.config.update("loop_progress", "always")
        options["progress"] = True
    return library.lib.lax.fori_loop(0, 100_000, lambda i, x: library.np.sin(x) + i, x, **options)


def associative(library: Library, a: Any, b: Any) -> Any:
    def combine(p: Any, q: Any) -> Any:
        return p[0] * q[0], q[0] * p[1] + q[1]

    return library.lib.lax.associative_scan(combine, (a, b))


KERNELS = (
    ("conv", "convolution 3x3, 8x32x32x16", convolution, lambda: [numbers(8, 32, 32, 16), numbers(3, 3, 16, 32)]),
    ("window", "greatest of 3x3 windows, 8x64x64x16", windows, lambda: [numbers(8, 64, 64, 16)]),
    ("sort", "sort of 100,000", lambda m, x: m.lib.lax.sort(x), lambda: [numbers(100_000)]),
    ("top-k", "top 10 of 1,000, of 500 rows", lambda m, x: m.lib.lax.top_k(x, 10), lambda: [numbers(500, 1000)]),
    ("cumsum", "cumsum of 1,000x1,000", lambda m, x: m.lib.lax.cumsum(x, 1), lambda: [numbers(1000, 1000)]),
    ("gather", "20,000 of 10,000 rows of 64", lambda m, x, i: x[i], lambda: [numbers(10_000, 64), places(20_000, 10_000)]),
    (
        "scatter",
        "20,000 rows of 64 added to 10,000",
        lambda m, x, i, u: x.at[i].add(u),
        lambda: [numbers(10_000, 64), places(20_000, 10_000), numbers(20_000, 64)],
    ),
    ("dot", "product of 512x512", lambda m, x, y: m.lib.lax.dot(x, y), lambda: [numbers(512, 512), numbers(512, 512)]),
    ("cholesky", "cholesky of 200x200", lambda m, x: m.np.linalg.cholesky(x), lambda: [definite(200)]),
    ("qr", "qr of 200x100", lambda m, x: m.np.linalg.qr(x), lambda: [numbers(200, 100)]),
    ("svd", "svd of 100x80", lambda m, x: m.np.linalg.svd(x, full_matrices=False), lambda: [numbers(100, 80)]),
    ("eigh", "eigh of 100x100", lambda m, x: m.np.linalg.eigh(x), lambda: [definite(100)]),
    ("solve", "solve of 200x200", lambda m, x, y: m.np.linalg.solve(x, y), lambda: [definite(200), numbers(200, 50)]),
    ("fft", "fft of 64x4,096", lambda m, x: m.np.fft.fft(x), lambda: [numbers(64, 4096)]),
    (
        "scan",
        "scan of 1,000 steps of a small RNN",
        recurrent,
        lambda: [numbers(32, 32) / 8, numbers(16, 32), numbers(8, 32), numbers(1000, 8, 16)],
    ),
    ("fori", "fori_loop of 10,000, array of 16", ten_thousand, lambda: [numbers(16)]),
    ("progress", "fori_loop of 100,000 with a progress bar", with_progress, lambda: [numbers(64)]),
    ("associative", "associative_scan of 100,000", associative, lambda: [numbers(100_000), numbers(100_000)]),
)  # fmt: skip

MANY = 1_000_000

CASES = (
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
    Row("lower-text", "the same, printed", None, "cpu", lower_text),
    Row("trace-lower", "jit(f).lower of the same, traced anew", None, "cpu", trace_and_lower),
    Row("jit-call", "jitted call, two arrays of 10", 1.4, "wall", jitted_call),
    *[Row(f"eager-{n}", t, bound, "wall", eager(make)) for n, t, bound, make in EAGER],
    Row("new-shapes", "20 new shapes of ones(n) * 2 + 1", 0.1, "wall", new_shapes),
    Row("split", "split(key)", 0.7, "wall", draw(lambda r, k: r.split(k))),
    Row("normal-10", "normal of 10", 0.7, "wall", draw(lambda r, k: r.normal(k, (10,)))),
    Row("uniform", "uniform of 1M", 1.0, "wall", draw(lambda r, k: r.uniform(k, (MANY,)), True)),
    Row("normal", "normal of 1M", 1.0, "wall", draw(lambda r, k: r.normal(k, (MANY,)), True)),
    Row(
        "bernoulli",
        "bernoulli of 1M",
        1.0,
        "wall",
        draw(lambda r, k: r.bernoulli(k, 0.3, (MANY,)), True),
    ),
    Row(
        "randint",
        "randint of 1M",
        1.0,
        "wall",
        draw(lambda r, k: r.randint(k, (MANY,), 0, 10), True),
    ),
    Row("permutation", "permutation of 1M", 0.6, "wall", draw(lambda r, k: r.permutation(k, MANY))),
    Row(
        "choice",
        "choice of 1M without replacement",
        0.6,
        "wall",
        draw(lambda r, k: r.choice(k, MANY, (MANY,), replace=False)),
    ),
    *[Row(f"kernel-{n}", t, 1.05, "wall", compiled(f, make)) for n, t, f, make in KERNELS],
    # CPU time on one core, as of the models in `waiting`: each step is handed from one thread to another and back
    Row("digits-step", "training step of examples/digits", 1.05, "cpu", digits_step, one_core=True),
    Row("digits-step-wall", "the same on all cores, by the wall", 1.05, "wall", digits_step),
    Row("fibonacci", "nested jit fib(20), static number", None, "cpu", fibonacci),
    Row(
        "fibonacci-closures",
        "nested jit fib(20), new closures",
        0.05,
        "cpu",
        fibonacci_closures,
    ),
)
