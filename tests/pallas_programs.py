"""Programs such as those of public guides to Pallas, written for either library; jax's results are recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def programs(lib: Any, pl: Any, **options: Any) -> dict[str, Callable[[], Any]]:
    """Return programs by their names; `options` are those of each pallas_call."""
    jnp, lax, pltpu, plgpu = lib.numpy, lib.lax, pl.tpu, pl.triton
    block, out = pl.BlockSpec, lib.ShapeDtypeStruct
    call = functools.partial(pl.pallas_call, **options)
    found: dict[str, Callable[[], Any]] = {}
    rng = np.random.default_rng(0)

    def case(f: Callable) -> Callable:
        def run() -> Any:
            nonlocal rng
            rng = np.random.default_rng(len(f.__name__))
            return f()

        found[f.__name__] = run
        return f

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    @case
    def hand_pipeline():
        "double-buffered copies with semaphores, as the pipelining guide derives it"
        x = numbers(32, 16)

        def k(x_hbm, o_hbm, ib, ob, isem, osem):
            n = 4
            pltpu.make_async_copy(x_hbm.at[pl.ds(0, 8)], ib.at[0], isem.at[0]).start()

            def body(i, _):
                cur, nxt = i % 2, (i + 1) % 2

                @pl.when(i + 1 < n)
                def _():
                    pltpu.make_async_copy(
                        x_hbm.at[pl.ds((i + 1) * 8, 8)], ib.at[nxt], isem.at[nxt]
                    ).start()

                pltpu.make_async_copy(x_hbm.at[pl.ds(i * 8, 8)], ib.at[cur], isem.at[cur]).wait()

                @pl.when(i > 1)
                def _():
                    pltpu.make_async_copy(
                        ob.at[cur], o_hbm.at[pl.ds((i - 2) * 8, 8)], osem.at[cur]
                    ).wait()

                ob[cur] = ib[cur] * 2 + 1
                pltpu.make_async_copy(ob.at[cur], o_hbm.at[pl.ds(i * 8, 8)], osem.at[cur]).start()

            lax.fori_loop(0, n, body, None)
            for i in (2, 3):
                pltpu.make_async_copy(
                    ob.at[i % 2], o_hbm.at[pl.ds(i * 8, 8)], osem.at[i % 2]
                ).wait()

        A = block(memory_space=pl.ANY)
        return call(
            k,
            out((32, 16), np.float32),
            in_specs=[A],
            out_specs=A,
            scratch_shapes=[
                pltpu.VMEM((2, 8, 16), np.float32),
                pltpu.VMEM((2, 8, 16), np.float32),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.SemaphoreType.DMA((2,)),
            ],
        )(x)

    @case
    def sparse_output_mask():
        "dense @ dense where only listed blocks of the result are wanted"
        x, y = numbers(32, 32), numbers(32, 32)
        rows = np.array([0, 1, 3], np.int32)
        cols = np.array([1, 1, 2], np.int32)

        def k(r, c, x, y, z, o, acc):
            @pl.when(pl.program_id(1) == 0)
            def _():
                acc[...] = jnp.zeros_like(acc)

            acc[...] += x[...] @ y[...]

            @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
            def _():
                o[...] = acc[...]

        gs = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            grid=(3, 4),
            in_specs=[
                block((8, 8), lambda m, k, r, c: (r[m], k)),
                block((8, 8), lambda m, k, r, c: (k, c[m])),
                block((8, 8), lambda m, k, r, c: (r[m], c[m])),
            ],
            out_specs=block((8, 8), lambda m, k, r, c: (r[m], c[m])),
            scratch_shapes=[pltpu.VMEM((8, 8), np.float32)],
        )
        return call(k, out((32, 32), np.float32), grid_spec=gs, input_output_aliases={4: 0})(
            rows, cols, x, y, np.zeros((32, 32), np.float32)
        )

    @case
    def wrong_sum():
        x = np.ones((4, 8, 8), np.float32)

        def k(x, o):
            o[...] += x[...]

        return call(
            k,
            out((8, 8), np.float32),
            grid=(4,),
            in_specs=[block((None, 8, 8), lambda i: (i, 0, 0))],
            out_specs=block((8, 8), lambda i: (0, 0)),
        )(x)

    @case
    def halo():
        "a stencil over overlapping rows"
        x = numbers(32)

        def k(x, o):
            o[...] = (x[pl.ds(0, 8)] + x[pl.ds(1, 8)] + x[pl.ds(2, 8)]) / 3

        return jnp.nan_to_num(
            call(
                k,
                out((32,), np.float32),
                grid=(4,),
                in_specs=[block((pl.Element(10, (1, 1)),), lambda i: (i * 8,))],
                out_specs=block((8,), lambda i: (i,)),
            )(x),
            nan=-1.0,
        )

    @case
    def masked():
        x = numbers(37)

        def k(x, o):
            at = pl.program_id(0) * 16 + jnp.arange(16)
            m = at < 37
            v = plgpu.load(x.at[at], mask=m, other=-jnp.inf)
            e = jnp.where(m, jnp.exp(v), 0.0)
            plgpu.store(o.at[at], e, mask=m)

        return call(k, out((37,), np.float32), grid=(3,))(x)

    @case
    def tpu_flash():
        "attention with running maxima in scratch memory, keys along the last axis of the grid"
        q, kk, v = numbers(2, 32, 8), numbers(2, 32, 8), numbers(2, 32, 8)

        def k(q, kk, v, o, m, w, acc):
            j = pl.program_id(2)

            @pl.when(j == 0)
            def _():
                m[...] = jnp.full_like(m, -jnp.inf)
                w[...] = jnp.zeros_like(w)
                acc[...] = jnp.zeros_like(acc)

            i = pl.program_id(1)

            @pl.when(j <= i)
            def _():
                s = q[0] @ kk[0].T
                rows = i * 8 + lax.broadcasted_iota(jnp.int32, (8, 8), 0)
                cols = j * 8 + lax.broadcasted_iota(jnp.int32, (8, 8), 1)
                s = jnp.where(rows >= cols, s, -jnp.inf)
                new = jnp.maximum(m[...], s.max(1, keepdims=True))
                p = jnp.exp(s - new)
                a = jnp.exp(m[...] - new)
                w[...] = w[...] * a + p.sum(1, keepdims=True)
                acc[...] = acc[...] * a + p @ v[0]
                m[...] = new

            @pl.when(j == pl.num_programs(2) - 1)
            def _():
                o[0] = acc[...] / w[...]

        return call(
            k,
            out((2, 32, 8), np.float32),
            grid=(2, 4, 4),
            in_specs=[
                block((1, 8, 8), lambda b, i, j: (b, i, 0)),
                block((1, 8, 8), lambda b, i, j: (b, j, 0)),
                block((1, 8, 8), lambda b, i, j: (b, j, 0)),
            ],
            out_specs=block((1, 8, 8), lambda b, i, j: (b, i, 0)),
            scratch_shapes=[
                pltpu.VMEM((8, 1), np.float32),
                pltpu.VMEM((8, 1), np.float32),
                pltpu.VMEM((8, 8), np.float32),
            ],
        )(q, kk, v)

    @case
    def ln_backward():
        x, g = numbers(32, 8), numbers(32, 8)

        def k(x, g, dx, dw, db):
            @pl.when(pl.program_id(0) == 0)
            def _():
                dw[...] = jnp.zeros_like(dw)
                db[...] = jnp.zeros_like(db)

            m = x[...].mean(1, keepdims=True)
            r = lax.rsqrt(x[...].var(1, keepdims=True) + 1e-5)
            h = (x[...] - m) * r
            dw[...] += (g[...] * h).sum(0)
            db[...] += g[...].sum(0)
            dx[...] = (
                g[...] - g[...].mean(1, keepdims=True) - h * (g[...] * h).mean(1, keepdims=True)
            ) * r

        R = block((8, 8), lambda i: (i, 0))
        V = block((8,), lambda i: (0,))
        return call(
            k,
            (out((32, 8), np.float32), out((8,), np.float32), out((8,), np.float32)),
            grid=(4,),
            in_specs=[R, R],
            out_specs=(R, V, V),
        )(x, g)

    @case
    def mandelbrot():
        def k(o):
            re = -2 + lax.broadcasted_iota(jnp.float32, (8, 16), 1) * 0.2
            im = -1 + (lax.broadcasted_iota(jnp.float32, (8, 16), 0) + pl.program_id(0) * 8) * 0.12

            def cond(s):
                return (s[0] < 20) & jnp.any(s[1] ** 2 + s[2] ** 2 < 4)

            def body(s):
                n, a, b, c = s
                inside = a * a + b * b < 4
                return (
                    n + 1,
                    jnp.where(inside, a * a - b * b + re, a),
                    jnp.where(inside, 2 * a * b + im, b),
                    c + inside.astype(jnp.int32),
                )

            o[...] = lax.while_loop(
                cond,
                body,
                (0, jnp.zeros((8, 16)), jnp.zeros((8, 16)), jnp.zeros((8, 16), jnp.int32)),
            )[3]

        return call(
            k, out((16, 16), np.int32), grid=(2,), out_specs=block((8, 16), lambda i: (i, 0))
        )()

    @case
    def vmap_prefetch():
        x = numbers(3, 8, 4)
        idx = np.array([[1, 0], [0, 1], [1, 1]], np.int32)

        def k(i, x, o):
            o[...] = x[...] * 2 + i[0]

        gs = pltpu.PrefetchScalarGridSpec(
            1,
            grid=(2,),
            in_specs=[block((4, 4), lambda i, s: (s[i], 0))],
            out_specs=block((4, 4), lambda i, s: (i, 0)),
        )
        return lib.vmap(call(k, out((8, 4), np.float32), grid_spec=gs))(idx, x)

    @case
    def tree_operands():
        p = {"w": numbers(8, 8), "b": numbers(8)}
        x = numbers(16, 8)

        def k(p, x, o):
            o["y"][...] = x[...] @ p["w"][...] + p["b"][...]
            o["n"][...] = (x[...] ** 2).sum(1)

        W = {"w": block((8, 8), lambda i: (0, 0)), "b": block((8,), lambda i: (0,))}

        def kk(p, x, n, y):
            y[...] = x[...] @ p["w"][...] + p["b"][...]
            n[...] = (x[...] ** 2).sum(1)

        return call(
            lambda p, x, n, y: kk(p, x, n, y),
            (out((16,), np.float32), out((16, 8), np.float32)),
            grid=(4,),
            in_specs=[W, block((4, 8), lambda i: (i, 0))],
            out_specs=(block((4,), lambda i: (i,)), block((4, 8), lambda i: (i, 0))),
        )(p, x)

    @case
    def jvp_vjp():
        x, t = numbers(8), numbers(8)

        def k(x, o):
            o[...] = jnp.sin(x[...]) * x[...]

        s = block((4,), lambda i: (i,))
        f = call(k, out((8,), np.float32), grid=(2,), in_specs=[s], out_specs=s)
        return lib.jvp(f, (x,), (t,))

    @case
    def custom_rule():
        x = numbers(8)
        s = block((4,), lambda i: (i,))

        def run(k, *a):
            return call(k, out((8,), np.float32), grid=(2,), in_specs=[s] * len(a), out_specs=s)(*a)

        @lib.custom_vjp
        def f(x):
            return run(lambda x, o: o.__setitem__(..., jnp.tanh(x[...])), x)

        f.defvjp(
            lambda x: (f(x), f(x)),
            lambda y, g: (
                run(lambda y, g, o: o.__setitem__(..., g[...] * (1 - y[...] ** 2)), y, g),
            ),
        )
        return lib.jit(lib.grad(lambda x: (f(x) ** 2).sum()))(x)

    @case
    def gather_rows():
        x = numbers(16, 4)
        ids = rng.integers(0, 16, 8).astype(np.int32)

        def k(i, x, o):
            o[...] = x[i[...]]

        return call(
            k,
            out((8, 4), np.float32),
            grid=(2,),
            in_specs=[block((4,), lambda i: (i,)), block(memory_space=pl.ANY)],
            out_specs=block((4, 4), lambda i: (i, 0)),
        )(ids, x)

    @case
    def in_place():
        x = numbers(8, 8)

        def k(x, o):
            @pl.when(pl.program_id(0) % 2 == 0)
            def _():
                o[...] = -x[...]

        s = block((2, 8), lambda i: (i, 0))
        return call(
            k,
            out((8, 8), np.float32),
            grid=(4,),
            in_specs=[s],
            out_specs=s,
            input_output_aliases={0: 0},
        )(x)

    @case
    def scoped_accumulator():
        x, y = numbers(16, 32), numbers(32, 8)

        def k(x, y, o):
            def body(acc):
                acc[...] = jnp.zeros_like(acc)

                @pl.loop(0, 4)
                def _(i):
                    acc[...] += x[:, pl.ds(i * 8, 8)] @ y[pl.ds(i * 8, 8), :]

                o[...] = acc[...]

            pl.run_scoped(body, pltpu.VMEM((8, 8), np.float32))

        return call(
            k,
            out((16, 8), np.float32),
            grid=(2,),
            in_specs=[block((8, 32), lambda i: (i, 0)), block((32, 8), lambda i: (0, 0))],
            out_specs=block((8, 8), lambda i: (i, 0)),
        )(x, y)

    @case
    def random_in_kernel():
        key = lib.random.key_data(lib.random.key(3))

        def k(k_ref, o):
            key = lib.random.fold_in(lib.random.wrap_key_data(k_ref[...]), pl.program_id(0))
            o[...] = lib.random.uniform(key, (4, 8))

        return call(
            k,
            out((8, 8), np.float32),
            grid=(2,),
            in_specs=[block((2,), lambda i: (0,))],
            out_specs=block((4, 8), lambda i: (i, 0)),
        )(key)

    @case
    def fused_epilogue():
        x, w, b = (
            numbers(16, 32).astype(jnp.bfloat16),
            numbers(16, 32).astype(jnp.bfloat16),
            numbers(1, 16),
        )

        def k(x, w, b, o, acc):
            @pl.when(pl.program_id(2) == 0)
            def _():
                acc[...] = jnp.zeros_like(acc)

            acc[...] += lax.dot_general(
                x[...], w[...], (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32
            )

            @pl.when(pl.program_id(2) == 3)
            def _():
                o[...] = lib.nn.gelu(acc[...] + b[...]).astype(o.dtype)

        return call(
            k,
            out((16, 16), jnp.bfloat16),
            grid=(2, 2, 4),
            in_specs=[
                block((8, 8), lambda i, j, k: (i, k)),
                block((8, 8), lambda i, j, k: (j, k)),
                block((1, 8), lambda i, j, k: (0, j)),
            ],
            out_specs=block((8, 8), lambda i, j, k: (i, j)),
            scratch_shapes=[pltpu.VMEM((8, 8), np.float32)],
            compiler_params=pltpu.CompilerParams(
                dimension_semantics=("parallel", "parallel", "arbitrary")
            ),
            cost_estimate=pl.CostEstimate(flops=1, transcendentals=2, bytes_accessed=3),
            name="fused",
        )(x, w, b).astype(np.float32)

    @case
    def strided():
        x = numbers(16)

        def k(x, o):
            o[...] = x[pl.ds(0, 8, 2)] + x[pl.ds(1, 8, 2)]

        return call(k, out((8,), np.float32))(x)

    @case
    def fft_stage():
        x = numbers(4, 8)

        def k(x, o):
            a = x[...].reshape(2, 2, 8)
            o[...] = jnp.concatenate([a[:, 0] + a[:, 1], a[:, 0] - a[:, 1]], 0)

        return call(k, out((4, 8), np.float32))(x)

    return found
