"""Define cases of references and of the experimental modules: ODEs, Taylor series, sparse matrices."""

from __future__ import annotations

import importlib
from typing import Any

import numpy

from benchmarks.models import Model
from benchmarks.rows import Library, Loop, Row
from benchmarks.waiting import gradient, model_rows


def _network(library: Library) -> tuple[Any, Any, Any, Any]:
    """The loss of a small network, its weights, and one batch for it."""
    np = library.np
    rng = numpy.random.default_rng(0)
    weights = [(rng.standard_normal((256, 256)) / 16).astype("float32") for _ in range(3)]
    x, y = (np.asarray(rng.standard_normal((64, 256)).astype("float32")) for _ in range(2))

    def loss(weights: list, x: Any, y: Any) -> Any:
        for w in weights:
            x = np.tanh(x @ w)
        return ((x - y) ** 2).mean()

    return loss, weights, x, y


def _descend(library: Library, loss: Any, weights: list, x: Any, y: Any) -> tuple[Any, list]:
    value, grads = library.lib.value_and_grad(loss)(weights, x, y)
    return value, [w - 0.1 * g for w, g in zip(weights, grads)]


def _step_of_references(library: Library, read: bool) -> Loop:
    lib, np = library.lib, library.np
    loss, weights, x, y = _network(library)
    refs = [lib.new_ref(np.asarray(w)) for w in weights]

    @lib.jit
    def step(refs: list, x: Any, y: Any) -> Any:
        value, news = _descend(library, loss, [ref[...] for ref in refs], x, y)
        for ref, new in zip(refs, news):
            ref[...] = new
        return value

    def call() -> Any:
        value = step(refs, x, y)
        return refs[0][...] if read else value

    return Loop(call)


def step_of_references(library: Library) -> Loop:
    """A step of gradient descent that keeps its weights in references, and returns its loss."""
    return _step_of_references(library, read=False)


def step_with_read(library: Library) -> Loop:
    """The same step; each time the caller reads the first reference, so that the next step copies it."""
    return _step_of_references(library, read=True)


def step_of_values(library: Library) -> Loop:
    """The step from weights to weights, donated, and the loss."""
    loss, weights, x, y = _network(library)
    held = [library.np.asarray(w) for w in weights]
    step = library.lib.jit(lambda w, x, y: _descend(library, loss, w, x, y), donate_argnums=0)

    def call() -> Any:
        nonlocal held
        value, held = step(held, x, y)
        return value

    return Loop(call)


def step_beside_values(library: Library) -> Loop:
    """The step with references in sagax, without them in jax."""
    return step_of_values(library) if library.name == "jax" else step_of_references(library)


def scan_of_references(library: Library) -> Loop:
    """A scan of 100 numbers that adds each to a row of a reference."""
    lib, np = library.lib, library.np
    rows = np.asarray(numpy.random.default_rng(0).standard_normal((100, 1000)).astype("float32"))
    places = np.arange(100) % 10

    @lib.jit
    def gather(rows: Any) -> Any:
        sums = lib.new_ref(np.zeros((10, 1000)))

        def add(carry: Any, row: Any) -> Any:
            place, numbers = row
            sums[place] = sums[place] + numbers * carry
            return carry * 0.99, None

        lib.lax.scan(add, np.float32(1.0), (places, rows))
        return sums[...]

    return Loop(lambda: gather(rows))


def oscillator(library: Library) -> Model:
    """The distance from the origin after the path of 20 coupled oscillators, by `odeint`."""
    np = library.np
    odeint = importlib.import_module(f"{library.name}.experimental.ode").odeint
    rng = numpy.random.default_rng(0)
    stiffness = np.asarray((0.1 * rng.standard_normal((20, 20))).astype("float32"))
    start = np.asarray(rng.standard_normal(40).astype("float32"))
    times = np.linspace(0.0, 5.0, 20)

    def velocity(state: Any, time: Any, stiffness: Any) -> Any:
        place, speed = state[:20], state[20:]
        return np.concatenate([speed, -place + stiffness @ np.sin(place) + 0.1 * np.cos(time)])

    return Model(
        lambda k, start: (odeint(velocity, start, times, k)[-1] ** 2).sum(), (stiffness, start)
    )


def series(library: Library) -> Model:
    """Five terms of the Taylor series of a network along a line."""
    np = library.np
    jet = importlib.import_module(f"{library.name}.experimental.jet").jet
    rng = numpy.random.default_rng(0)
    first, second = (
        np.asarray((rng.standard_normal((200, 200)) / 14).astype("float32")) for _ in range(2)
    )
    x = np.asarray(rng.standard_normal((50, 200)).astype("float32"))

    def terms(x: Any, first: Any, second: Any) -> Any:
        def network(x: Any) -> Any:
            return np.sin(np.tanh(x @ first) @ second) * np.exp(-x / 4)

        zero = np.zeros_like(x)
        return jet(network, (x,), ((np.ones_like(x), zero, zero, zero, zero),))

    return Model(terms, (x, first, second))


def sparse_product(columns: int) -> Any:
    """A product with 1 % of 10,000 x 10,000: sparse in sagax, dense in jax."""

    def case(library: Library) -> Loop:
        lib, np = library.lib, library.np
        rng = numpy.random.default_rng(0)
        count = 1_000_000
        places = numpy.stack([rng.integers(0, 10_000, count), rng.integers(0, 10_000, count)], 1)
        places = np.asarray(places.astype("int32"))
        numbers = np.asarray(rng.standard_normal(count).astype("float32"))
        sparse = importlib.import_module(f"{library.name}.experimental.sparse")
        matrix = sparse.BCOO((numbers, places), shape=(10_000, 10_000)).sum_duplicates(nse=count)
        if library.name == "jax":
            matrix = matrix.todense()
        vector = np.asarray(rng.standard_normal((10_000, columns)).astype("float32"))
        vector = vector[:, 0] if columns == 1 else vector
        product = lib.jit(lambda matrix, vector: matrix @ vector)
        return Loop(lambda: product(matrix, vector))

    return case


EXPERIMENTAL = (
    Row("ref-step", "training step, weights in references", 1.05, "cpu", step_of_references, one_core=True),
    Row("ref-step-values", "the same; jax: without references, donated", 1.05, "cpu", step_beside_values, one_core=True),
    Row("ref-step-read", "the same, one reference read after each step", 1.05, "cpu", step_with_read, one_core=True),
    Row("ref-scan", "scan of 100 that adds to rows of a reference", 1.05, "cpu", scan_of_references, one_core=True),
    *model_rows("odeint", "odeint of 40 numbers", oscillator, 1.1, 1.1),
    *model_rows("odeint-grad", "gradient of odeint", gradient(oscillator), 1.1, 1.1),
    *model_rows("jet", "five terms of a Taylor series", series, 1.1, 1.1),
    Row("sparse-vector", "1 % of 10,000 x 10,000 by a vector; jax: dense", 0.1, "wall", sparse_product(1),
        slow_start=True),
    Row("sparse-columns", "the same by 16 columns; jax: dense", 0.1, "wall", sparse_product(16), slow_start=True),
    Row("sparse-wide", "the same by 128 columns; jax: dense", 0.1, "wall", sparse_product(128), slow_start=True),
)  # fmt: skip
