"""Programs such as those of public guides, compiled and interpreted, compared with jax's interpreter; others with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from pallas_programs import programs
from sagax import lax
from sagax.experimental import pallas as pl
from sagax.experimental.pallas import tpu as pltpu
from sagax.experimental.pallas import triton as plgpu

Out = sagax.ShapeDtypeStruct
f32 = np.float32
anywhere = pl.BlockSpec(memory_space=pl.ANY)
NAMES = list(programs(sagax, pl))


@pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", NAMES)
def test_programs_as_jax_interprets_them(name, interpret, oracle_data):
    got = sagax.tree.leaves(programs(sagax, pl, interpret=interpret)[name]())
    want = oracle_data("pallas_programs")
    assert f"{name}.{len(got)}" not in want
    # products of bfloat16 numbers round in another order
    exact = name != "fused_epilogue"
    for i, x in enumerate(got):
        np.testing.assert_allclose(
            np.asarray(x),
            want[f"{name}.{i}"],
            rtol=2e-5 if exact else 0.02,
            atol=1e-5 if exact else 0.05,
        )


# What jax runs on accelerators only -------------------------------------------------------------------


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(f32)


def pipelined(body, grid, in_specs, out_specs, out, *xs):
    def kernel(*refs):
        pltpu.emit_pipeline(body, grid=grid, in_specs=in_specs, out_specs=out_specs)(*refs)

    specs = [anywhere] * len(xs)
    return pl.pallas_call(kernel, Out(out, f32), in_specs=specs, out_specs=anywhere)(*xs)


def test_a_pipeline_within_a_kernel():
    def add(a, b, c):
        c[...] = a[...] + b[...]

    x, y = values(16, 32), values(16, 32, seed=1)
    spec = pl.BlockSpec((8, 8), lambda i, j: (i, j))
    got = pipelined(add, (2, 4), [spec, spec], spec, (16, 32), x, y)
    np.testing.assert_allclose(got, x + y, rtol=1e-6)


def test_a_pipeline_over_slices_of_bounded_size():
    def triple(a, c):
        c[...] = a[...] * 3

    x = values(20, 8)
    spec = pl.BlockSpec((pl.BoundedSlice(4), 8), lambda i: (pl.ds(i * 4, 4), 0))
    got = pipelined(triple, (5,), [spec], [spec], (20, 8), x)
    np.testing.assert_allclose(got, x * 3, rtol=1e-6)


def test_a_pipeline_that_adds_up():
    def add_up(a, c):
        @pl.when(pl.program_id(0) == 0)
        def _():
            c[...] = snp.zeros_like(c)

        c[...] += a[...]

    x = values(4, 8, 8)
    layer = pl.BlockSpec((None, 8, 8), lambda i: (i, 0, 0))
    whole = pl.BlockSpec((8, 8), lambda i: (0, 0))
    got = pipelined(add_up, (4,), [layer], [whole], (8, 8), x)
    np.testing.assert_allclose(got, x.sum(0), rtol=1e-5, atol=1e-5)


def test_a_pipeline_whose_blocks_a_prefetched_number_chooses():
    def kernel(start, x_ref, o_ref):
        def body(a, c):
            c[...] = a[...] + 1

        pltpu.emit_pipeline(
            body,
            grid=(2, 2),
            in_specs=[pl.BlockSpec((8, 8), lambda i, j: (i, start[0] // 8 + j))],
            out_specs=[pl.BlockSpec((8, 8), lambda i, j: (i, j))],
        )(x_ref, o_ref)

    x = values(16, 64)
    spec = pltpu.PrefetchScalarGridSpec(1, grid=(), in_specs=[anywhere], out_specs=anywhere)
    got = pl.pallas_call(kernel, Out((16, 16), f32), grid_spec=spec)(np.array([16], np.int32), x)
    np.testing.assert_allclose(got, x[:, 16:32] + 1, rtol=1e-6)


def test_a_histogram_by_atomic_additions():
    x = np.random.default_rng(0).integers(0, 5, 64).astype(np.int32)

    def kernel(x_ref, _, o_ref):
        def body(i, carry):
            plgpu.atomic_add(o_ref, (x_ref[i],), 1)
            return carry

        lax.fori_loop(0, 16, body, 0)

    counts = pl.BlockSpec((5,), lambda i: (0,))
    f = pl.pallas_call(
        kernel, Out((5,), np.int32), grid=(4,), in_specs=[pl.BlockSpec((16,), lambda i: (i,)), counts],
        out_specs=counts, input_output_aliases={1: 0},
    )  # fmt: skip
    np.testing.assert_array_equal(f(x, np.zeros(5, np.int32)), np.bincount(x, minlength=5))


@pytest.mark.own_promotion("dtype")
def test_cores_that_share_the_work():
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)

    def kernel(x_ref, o_ref, tmp, sem):
        i = lax.axis_index("core")
        part = pl.ds(i * 8, 8)
        pltpu.async_copy(x_ref.at[part], tmp, sem).wait()
        tmp[...] = tmp[...] * 2 + i
        pltpu.sync_copy(tmp, o_ref.at[part])

    x = values(16)
    memory = [pltpu.VMEM((8,), f32), pltpu.SemaphoreType.DMA]
    got = pl.kernel(kernel, out_type=Out((16,), f32), mesh=mesh, scratch_types=memory)(x)
    np.testing.assert_allclose(got, x * 2 + np.repeat([0, 1], 8), rtol=1e-6)


def test_a_grid_with_names():
    def kernel(o_ref):
        o_ref[...] = snp.full(4, lax.axis_index("rows"))

    f = pl.pallas_call(
        kernel,
        Out((8,), np.int32),
        grid=(("rows", 2),),
        out_specs=pl.BlockSpec((4,), lambda i: (i,)),
    )
    assert f().tolist() == [0] * 4 + [1] * 4
