"""Define cases on eight devices of one process: sharded calls, transfers, a sharded transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from benchmarks import models
from benchmarks.rows import Fresh, Library, Loop, Row

COUNT = 8


def _shardings(library: Library) -> tuple[Any, Any]:
    """Of arrays of which each device has some rows, and of arrays that each device has whole."""
    sharding = library.lib.sharding
    mesh = sharding.Mesh(numpy.array(library.lib.devices()), ("data",))
    if mesh.size != COUNT:
        raise ValueError(f"there are {mesh.size} devices, and {COUNT} were asked for")
    P = sharding.PartitionSpec
    return sharding.NamedSharding(mesh, P("data")), sharding.NamedSharding(mesh, P())


# -- single calls -----------------------------------------------------------------------------------


def dispatch(count: int) -> Callable[[Library], Loop]:
    """A jitted call of `count` small arrays, divided among the devices."""

    def case(library: Library) -> Loop:
        divided, _ = _shardings(library)
        arrays = [
            library.lib.device_put(numpy.full((COUNT, 2), i, numpy.float32), divided)
            for i in range(count)
        ]
        f = library.lib.jit(lambda *xs: [x + 1 for x in xs])
        return Loop(lambda: f(*arrays))

    return case


def put(rows: int, columns: int) -> Callable[[Library], Loop]:
    """Divides an array of the host among the devices."""

    def case(library: Library) -> Loop:
        divided, _ = _shardings(library)
        host = numpy.random.default_rng(0).random((rows, columns), numpy.float32)
        device_put, wait = library.lib.device_put, library.lib.block_until_ready
        return Loop(lambda: wait(device_put(host, divided)))

    return case


# -- a transformer: each device has a part of every weight and of every batch ------------------------


def _fsdp(library: Library) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of gradient descent with momentum, and its operands."""
    lib = library.lib
    divided, whole = _shardings(library)
    model = models.gpt(library, batch=COUNT)
    params, tokens = model.operands

    def of(x: Any) -> Any:
        return divided if x.ndim > 1 and x.shape[0] % COUNT == 0 else whole

    params = lib.tree.map(lambda x: lib.device_put(x, of(x)), params)
    velocity = lib.tree.map(lambda x: lib.device_put(numpy.zeros(x.shape, x.dtype), of(x)), params)
    tokens = lib.device_put(tokens, divided)

    def step(params: Any, velocity: Any, tokens: Any) -> Any:
        loss, grads = lib.value_and_grad(model.function)(params, tokens)
        keep = lib.lax.with_sharding_constraint
        grads = lib.tree.map(lambda g: keep(g, of(g)), grads)
        velocity = lib.tree.map(lambda v, g: 0.9 * v - 0.1 * g, velocity, grads)
        params = lib.tree.map(lambda p, v: keep(p + v, of(p)), params, velocity)
        return params, velocity, loss

    return step, (params, velocity, tokens)


def fsdp_lower(library: Library) -> Fresh:
    """From the Python function to the lowered module."""
    step, operands = _fsdp(library)

    def prepare() -> Any:
        library.lib.clear_caches()
        return library.lib.jit(lambda *xs: step(*xs))

    return Fresh(prepare, lambda f: f.lower(*operands))


def train(library: Library) -> Loop:
    """One step after the other, each on what the one before gave."""
    step, (params, velocity, tokens) = _fsdp(library)
    jitted = library.lib.jit(step)
    state: Any = (params, velocity)

    def call() -> Any:
        nonlocal state
        *state, loss = jitted(*state, tokens)
        return library.lib.block_until_ready(loss)

    return Loop(call)


def _row(name: str, title: str, bound: float, clock: Any, case: Any, **options: Any) -> Row:
    return Row(
        f"devices-{name}", f"8 devices: {title}", bound, clock, case, devices=COUNT, **options
    )


DEVICES = (
    _row("dispatch-1", "jitted call, 1 array", 1.3, "cpu", dispatch(1)),
    _row("dispatch-10", "jitted call, 10 arrays", 1.3, "cpu", dispatch(10)),
    _row("put", "device_put of 64 MiB", 1.1, "wall", put(2**12, 2**12)),
    _row("put-small", "device_put of 128 numbers", 1.1, "cpu", put(COUNT, 16)),
    _row("fsdp-lower", "lowering an FSDP step, 12 layers", 0.5, "cpu", fsdp_lower),
    _row("train", "FSDP step, 12 layers", 1.05, "wall", train, slow_start=True),
)  # fmt: skip
