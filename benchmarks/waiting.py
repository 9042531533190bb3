"""Define cases of latency: compilation, first results, calls of many arguments, eager transformations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks import draws, models
from benchmarks.rows import Fresh, Library, Loop, Row

MakeModel = Callable[[Library], models.Model]


def _anew(library: Library, model: models.Model) -> Any:
    """The model's function jitted, with nothing known of it."""
    library.lib.clear_caches()
    return library.lib.jit(lambda *operands: model.function(*operands))


def gradient(make: MakeModel) -> MakeModel:
    return lambda library: make(library).gradient(library)


def lowering(make: MakeModel) -> Callable[[Library], Fresh]:
    """From the Python function to the lowered module."""

    def case(library: Library) -> Fresh:
        model = make(library)
        return Fresh(lambda: _anew(library, model), lambda f: f.lower(*model.operands))

    return case


def compiling(make: MakeModel) -> Callable[[Library], Fresh]:
    """From the lowered module to the program."""

    def case(library: Library) -> Fresh:
        model = make(library)
        return Fresh(
            lambda: _anew(library, model).lower(*model.operands), lambda lowered: lowered.compile()
        )

    return case


def running(make: MakeModel) -> Callable[[Library], Loop]:
    def case(library: Library) -> Loop:
        model = make(library)
        f = library.lib.jit(model.function)
        return Loop(lambda: f(*model.operands))

    return case


def first(make: MakeModel) -> Callable[[Library], Fresh]:
    """From the Python function to its first result."""

    def case(library: Library) -> Fresh:
        model = make(library)
        wait = library.lib.block_until_ready
        return Fresh(lambda: _anew(library, model), lambda f: wait(f(*model.operands)))

    return case


def gpt(width: int, layers: int = 12) -> MakeModel:
    batch, length = (2, 64) if width == 64 else (4, 128)
    return lambda library: models.gpt(library, layers, width, batch, length)


def mapped_gradient(library: Library) -> models.Model:
    """Gradients of a transformer for each of several batches."""
    model = models.gpt(library)
    params, tokens = model.operands
    many = library.np.stack([tokens] * 4)
    grad = library.lib.grad(model.function)
    return models.Model(library.lib.vmap(grad, (None, 0)), (params, many))


def scan_leaves(library: Library) -> models.Model:
    """The gradient of a scan that carries sixty arrays."""
    np, lax = library.np, library.lib.lax
    names = [f"x{i}" for i in range(60)]

    def loss(carry: dict, xs: Any) -> Any:
        def step(carry: dict, x: Any) -> tuple[dict, Any]:
            return {n: np.sin(v) * x + v for n, v in carry.items()}, x

        last, _ = lax.scan(step, carry, xs)
        return sum(v.sum() for v in last.values())

    carry = {n: np.ones(3) for n in names}
    return models.Model(library.lib.grad(loss), (carry, np.ones(10)))


def adam_step(library: Library) -> models.Model:
    """One step of Adam on a four-layer transformer."""
    model = models.gpt(library, layers=4)
    lib, np = library.lib, library.np
    params, tokens = model.operands
    zeros = lib.tree.map(np.zeros_like, params)

    def step(params: Any, means: Any, squares: Any, tokens: Any) -> Any:
        loss, grads = lib.value_and_grad(model.function)(params, tokens)
        means = lib.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, grads)
        squares = lib.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, grads)
        params = lib.tree.map(
            lambda p, m, v: p - 1e-3 * m / (np.sqrt(v) + 1e-8), params, means, squares
        )
        return params, means, squares, loss

    return models.Model(step, (params, zeros, zeros, tokens))


# -- calls ----------------------------------------------------------------------------------------


def dispatch(count: int) -> Callable[[Library], Loop]:
    """A jitted call of so many small arrays."""

    def case(library: Library) -> Loop:
        f = library.lib.jit(lambda *xs: xs[0] + 1)
        xs = [library.np.ones(3) for _ in range(count)]
        return Loop(lambda: f(*xs))

    return case


def dispatch_dict(library: Library) -> Loop:
    """A jitted call with a dict of 200 small arrays in and out."""
    f = library.lib.jit(lambda d: {name: x + 1 for name, x in d.items()})
    d = {f"x{i:03}": library.np.ones(3) for i in range(200)}
    return Loop(lambda: f(d))


def device_put(size: int) -> Callable[[Library], Loop]:
    def case(library: Library) -> Loop:
        x = numpy.ones(size, numpy.float32)
        return Loop(lambda: library.lib.device_put(x))

    return case


def host_callback(library: Library) -> Loop:
    """A jitted call that asks a Python function once."""
    lib, np = library.lib, library.np
    like = lib.ShapeDtypeStruct((3,), "float32")
    f = lib.jit(lambda x: lib.pure_callback(lambda x: numpy.asarray(x) + 1, like, x))
    x = np.ones(3)
    return Loop(lambda: f(x))


# -- transformations without jit ------------------------------------------------------------------


def five_operations(np: Any, x: Any) -> Any:
    return np.sum(np.tanh(np.sin(x) * x + 2.0))


def without_jit(make: Callable[[Library], Callable[[Any], Any]]) -> Callable[[Library], Loop]:
    """`make(library)` is a function of ten numbers."""

    def case(library: Library) -> Loop:
        f, x = make(library), library.np.arange(10.0)
        return Loop(lambda: f(x))

    return case


def _five(library: Library) -> Callable[[Any], Any]:
    return functools.partial(five_operations, library.np)


def _pushed(library: Library) -> Callable[[Any], Any]:
    f = _five(library)
    return lambda x: library.lib.jvp(f, (x,), (x,))


def _mapped(library: Library) -> Callable[[Any], Any]:
    f = library.lib.vmap(_five(library))
    rows = library.np.ones((4, 10))
    return lambda x: f(rows)


def mlp_step(library: Library) -> Loop:
    """A step of gradient descent on a small network, nothing of it jitted."""
    lib, np = library.lib, library.np
    rng = numpy.random.default_rng(0)
    numbers = lambda *shape: np.asarray(rng.standard_normal(shape).astype("float32"))  # noqa: E731
    params = [(numbers(8, 16), numbers(16)), (numbers(16, 1), numbers(1))]
    x, y = numbers(32, 8), numbers(32, 1)

    def loss(params: list) -> Any:
        (w1, b1), (w2, b2) = params
        return ((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()

    grad = lib.value_and_grad(loss)

    def call() -> Any:
        value, grads = grad(params)
        return value, lib.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return Loop(call)


FIRST = "import {lib}, {lib}.numpy as np; {lib}.jit(lambda x: x * 2 + 1)(np.ones(3)).block_until_ready()"
ADAM = (
    "from benchmarks import rows, waiting; import {lib}, {lib}.numpy; library = rows.Library('{lib}', {lib}, {lib}.numpy); "
    "m = waiting.adam_step(library); library.lib.block_until_ready(library.lib.jit(m.function)(*m.operands))"
)


def model_rows(name: str, title: str, make: MakeModel, compile: Any, run: Any) -> tuple[Row, ...]:
    """One row for compiling a model and one for running it."""
    return (
        Row(f"{name}-compile", f"compiling {title}", compile, "cpu", compiling(make), slow=True),
        # CPU time on one core: what two threads take depends on how they happen to wait for each other
        Row(f"{name}-run", f"running {title}", run, "cpu", running(make), slow_start=True, one_core=True),
    )  # fmt: skip


WAITING = (
    Row("first-result", "import and first jitted result", 0.6, "cpu", statement=FIRST),
    Row("memory", "memory of both", 0.6, "memory", statement=FIRST),
    Row("dispatch-1", "jitted call, 1 array", 1.3, "wall", dispatch(1)),
    Row("dispatch-10", "jitted call, 10 arrays", 1.3, "wall", dispatch(10)),
    Row("dispatch-100", "jitted call, 100 arrays", 1.3, "wall", dispatch(100)),
    Row("dispatch-dict", "jitted call, dict of 200 in and out", 0.8, "wall", dispatch_dict),
    Row("put-10", "device_put of 10 numbers", 0.5, "wall", device_put(10)),
    Row("put-64M", "device_put of 64 MiB", 1.05, "wall", device_put(2**24)),
    Row("callback", "pure_callback", 1.0, "wall", host_callback),
    Row("unjitted-grad", "grad, 5 operations, no jit", 0.1, "wall",
        without_jit(lambda m: m.lib.grad(_five(m)))),
    Row("unjitted-value", "value_and_grad, 5 operations, no jit", 0.1, "wall",
        without_jit(lambda m: m.lib.value_and_grad(_five(m)))),
    Row("unjitted-jvp", "jvp, 5 operations, no jit", 0.2, "wall", without_jit(_pushed)),
    Row("unjitted-vmap", "vmap, 5 operations, no jit", 0.2, "wall", without_jit(_mapped)),
    Row("unjitted-mlp", "step of an MLP, no jit", 0.2, "wall", mlp_step),
    Row("scan-leaves", "lowering grad of a scan of 60 arrays", 0.4, "cpu", lowering(scan_leaves)),
    Row("gpt-lower", "lowering a GPT of 12 layers", 0.35, "cpu", lowering(gpt(64))),
    Row("gpt-lower-grad", "lowering its gradient", 0.35, "cpu", lowering(gradient(gpt(64)))),
    Row("gpt-lower-vmap", "lowering vmap of its gradient", 0.35, "cpu", lowering(mapped_gradient)),
    *model_rows("gpt64", "gradient of GPT, 12x64", gradient(gpt(64)), 0.2, 0.6),
    *model_rows("gpt256", "gradient of GPT, 12x256", gradient(gpt(256)), 0.2, 0.4),
    Row("residual-first", "first result, 64 residual layers, normed", 0.15, "cpu",
        first(lambda m: models.cnn(m, 64)), slow=True),
    Row("residual-mlp-first", "first result, 64 residual layers, plain", 1.05, "cpu",
        first(models.residual_mlp), slow=True),
    Row("steps-first", "first grad of 200 unrolled steps", 0.25, "cpu", first(gradient(models.steps)), slow=True),
    Row("steps-1000-first", "first grad of 1,000 unrolled steps", 0.2, "cpu",
        first(gradient(lambda m: models.steps(m, 1000))), slow=True),
    Row("adam-first", "first Adam step of a GPT of 4 layers", 0.5, "cpu", statement=ADAM, slow=True),
    Row("adam-again", "the same in a second process", 0.25, "cpu", statement=ADAM, slow=True, cached=True),
    *(
        row
        for name, make in (
            ("mlp-grad", gradient(models.residual_mlp)), ("cnn-grad", gradient(models.cnn)),
            ("unet-grad", gradient(models.unet)), ("rnn-grad", gradient(models.rnn)),
            ("lorenz", models.lorenz), ("heat", models.heat), ("heat-grad", gradient(models.heat)),
            ("stencil", models.stencil),
            ("sine-chain", models.sine_chain), ("cheap-chain", models.cheap_chain),
            ("fused", models.fused), ("adam", models.adam),
            ("draws-elbo", gradient(draws.evidence)), ("draws-bayesian", gradient(draws.bayesian_network)),
            ("draws-dropout", gradient(draws.dropout)), ("draws-hmc", draws.hamiltonian),
            ("draws-particles", draws.particle_filter), ("draws-keys", draws.keys),
            ("draws-integral", gradient(draws.integral)),
        )
        for row in model_rows(name, name.replace("-", " "), make, 1.05, 1.05)
    ),
)  # fmt: skip
