"""Define cases of Pallas kernels. On jax, which only interprets them on CPUs, jnp's function takes their place."""

from __future__ import annotations

import functools
import importlib
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks.rows import Fresh, Library, Loop, Row

_number = itertools.count(1)


def _pallas(library: Library) -> Any:
    return importlib.import_module(f"{library.name}.experimental.pallas")


def _rows(pl: Any, x: Any, b: int) -> Any:
    return pl.BlockSpec((b, x.shape[1]), lambda i: (i, 0))


# matmul ----------------------------------------------------------------------------------------------


def _matmul_kernel(np: Any, pl: Any) -> Callable:
    def kernel(x_ref, y_ref, z_ref, acc_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc_ref[...] = np.zeros_like(acc_ref)

        acc_ref[...] += x_ref[...] @ y_ref[...]

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _():
            z_ref[...] = acc_ref[...].astype(z_ref.dtype)

    return kernel


def matmul(library: Library, x: Any, y: Any, b: int = 256, **options: Any) -> Any:
    pl, lib = _pallas(library), library.lib
    (m, k), n = x.shape, y.shape[1]
    return pl.pallas_call(
        _matmul_kernel(library.np, pl),
        lib.ShapeDtypeStruct((m, n), x.dtype),
        grid=(m // b, n // b, k // b),
        in_specs=[
            pl.BlockSpec((b, b), lambda i, j, k: (i, k)),
            pl.BlockSpec((b, b), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((b, b), lambda i, j, k: (i, j)),
        scratch_shapes=[pl.ANY((b, b), numpy.float32)],
        **options,
    )(x, y)


def jnp_matmul(library: Library, x: Any, y: Any) -> Any:
    return x @ y


# softmax and layer norm --------------------------------------------------------------------------------


def jnp_softmax(library: Library, x: Any) -> Any:
    return library.lib.nn.softmax(x)


def softmax(library: Library, x: Any, **options: Any) -> Any:
    pl, np = _pallas(library), library.np

    def kernel(x_ref, o_ref):
        x = x_ref[...]
        e = np.exp(x - x.max(-1, keepdims=True))
        o_ref[...] = e / e.sum(-1, keepdims=True)

    spec = _rows(pl, x, 64)
    shape = library.lib.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // 64,)
    return pl.pallas_call(kernel, shape, grid=grid, in_specs=[spec], out_specs=spec, **options)(x)


def _normalized(library: Library, x: Any, scale: Any, shift: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * library.lib.lax.rsqrt(variance + 1e-5) * scale + shift


def layer_norm(library: Library, x: Any, scale: Any, shift: Any, **options: Any) -> Any:
    pl = _pallas(library)

    def kernel(x_ref, scale_ref, shift_ref, o_ref):
        o_ref[...] = _normalized(library, x_ref[...], scale_ref[...], shift_ref[...])

    spec, vector = _rows(pl, x, 64), pl.BlockSpec(scale.shape, lambda i: (0,))
    shape = library.lib.ShapeDtypeStruct(x.shape, x.dtype)
    grid = (x.shape[0] // 64,)
    return pl.pallas_call(
        kernel, shape, grid=grid, in_specs=[spec, vector, vector], out_specs=spec, **options
    )(x, scale, shift)


# attention -----------------------------------------------------------------------------------------


def _attention_kernel(library: Library, pl: Any, block: int, causal: bool) -> Callable:
    np, lax = library.np, library.lib.lax

    def kernel(q_ref, k_ref, v_ref, o_ref):
        q = q_ref[...] * (1 / math.sqrt(q_ref.shape[-1]))
        rows = pl.program_id(1) * block + np.arange(block)

        def body(j, carry):
            total, most, weight = carry
            at = pl.ds(j * block, block)
            scores = q @ k_ref[at].T
            if causal:
                keys = j * block + np.arange(block)
                scores = np.where(rows[:, None] >= keys[None], scores, -1e30)
            new = np.maximum(most, scores.max(-1))
            p, fade = np.exp(scores - new[:, None]), np.exp(most - new)
            return total * fade[:, None] + p @ v_ref[at], new, weight * fade + p.sum(-1)

        start = np.zeros(q.shape), np.full(block, -1e30), np.zeros(block)
        count = pl.program_id(1) + 1 if causal else k_ref.shape[0] // block
        total, _, weight = lax.fori_loop(0, count, body, start)
        o_ref[...] = total / weight[:, None]

    return kernel


def attention(
    library: Library, q: Any, k: Any, v: Any, causal: bool = False, **options: Any
) -> Any:
    pl, block = _pallas(library), 128
    heads, length, size = q.shape
    rows = pl.BlockSpec((None, block, size), lambda h, i: (h, i, 0))
    whole = pl.BlockSpec((None, length, size), lambda h, i: (h, 0, 0))
    return pl.pallas_call(
        _attention_kernel(library, pl, block, causal),
        library.lib.ShapeDtypeStruct(q.shape, q.dtype),
        grid=(heads, length // block),
        in_specs=[rows, whole, whole],
        out_specs=rows,
        **options,
    )(q, k, v)


def jnp_attention(library: Library, q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    np = library.np
    scores = np.einsum("hqd,hkd->hqk", q, k) / math.sqrt(q.shape[-1])
    if causal:
        at = np.arange(q.shape[1])
        scores = np.where(at[:, None] >= at[None], scores, -1e30)
    return np.einsum("hqk,hkd->hqd", library.lib.nn.softmax(scores), v)


# running sum -----------------------------------------------------------------------------------------


def running_sum(library: Library, x: Any, **options: Any) -> Any:
    pl, np = _pallas(library), library.np

    def kernel(x_ref, o_ref, last_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            last_ref[...] = np.zeros_like(last_ref)

        total = np.cumsum(x_ref[...], 0) + last_ref[...]
        o_ref[...] = total
        last_ref[...] = total[-1:]

    spec = _rows(pl, x, 64)
    shape = library.lib.ShapeDtypeStruct(x.shape, x.dtype)
    memory = [pl.ANY((1, x.shape[1]), numpy.float32)]
    return pl.pallas_call(
        kernel,
        shape,
        grid=(x.shape[0] // 64,),
        in_specs=[spec],
        out_specs=spec,
        scratch_shapes=memory,
        **options,
    )(x)


def jnp_running_sum(library: Library, x: Any) -> Any:
    return library.np.cumsum(x, 0)


def _beside_jnp(kernel: Callable, function: Callable, *shapes: tuple) -> Callable:
    def case(library: Library) -> Loop:
        numbers = numpy.random.default_rng(0)
        args = [library.np.asarray(numbers.normal(size=s).astype("float32")) for s in shapes]
        chosen = function if library.name == "jax" else kernel
        compiled = library.lib.jit(functools.partial(chosen, library))
        return Loop(lambda: compiled(*args))

    return case


def _traced(library: Library) -> Fresh:
    """Trace and lower kernels anew: a number in each differs, so that no cache can help."""
    lib, pl, np = library.lib, _pallas(library), library.np
    x = np.ones((512, 512), "float32")
    spec = pl.BlockSpec((64, 512), lambda i: (i, 0))
    shape = lib.ShapeDtypeStruct(x.shape, x.dtype)

    def prepare() -> Callable:
        number = 1 + next(_number) / 1000

        def kernel(x_ref, o_ref):
            x = x_ref[...] * number
            e = np.exp(x - x.max(-1, keepdims=True))

            @pl.when(pl.program_id(0) >= 0)
            def _():
                o_ref[...] = e / e.sum(-1, keepdims=True)

        def program(x):
            return pl.pallas_call(
                kernel,
                shape,
                grid=(8,),
                in_specs=[spec],
                out_specs=spec,
                interpret=library.name == "jax",
            )(x)

        return program

    return Fresh(prepare, lambda program: lib.jit(program).lower(x))


_LAYERS = ((2048, 1024), (1024,), (1024,))
_HEADS = ((8, 1024, 64),) * 3
_causal = functools.partial(attention, causal=True)
_jnp_causal = functools.partial(jnp_attention, causal=True)

CASES = (
    *[
        Row(f"pallas-{name}", f"{text}; jax: jnp's", 1.25, "wall", _beside_jnp(kernel, function, *shapes))
        for name, text, kernel, function, shapes in (
            ("matmul", "kernel: product of 1024 x 1024", matmul, jnp_matmul, ((1024, 1024),) * 2),
            ("softmax", "kernel: softmax of 2048 rows", softmax, jnp_softmax, _LAYERS[:1]),
            ("layer-norm", "kernel: layer norm of 2048 rows", layer_norm, _normalized, _LAYERS),
            ("attention", "kernel: attention, 8 heads, 1024", attention, jnp_attention, _HEADS),
            ("causal", "kernel: the same, causal", _causal, _jnp_causal, _HEADS),
            ("running-sum", "kernel: running sum, 4096 rows", running_sum, jnp_running_sum, ((4096, 512),)),
        )
    ],
    Row("pallas-trace", "tracing and lowering a kernel", 0.5, "cpu", _traced),
)  # fmt: skip
