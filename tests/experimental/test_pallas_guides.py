"""Programs such as those of public guides to Pallas, with only the imports changed: results against NumPy."""

from __future__ import annotations

import functools

import numpy as np

import sagax as jax
import sagax.numpy as jnp
from sagax import lax
from sagax.experimental import pallas as pl
from sagax.experimental.pallas import tpu as pltpu
from sagax.experimental.pallas import triton as plgpu


def numbers(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def test_hello_world_and_iota():
    def add_vectors_kernel(x_ref, y_ref, o_ref):
        x, y = x_ref[...], y_ref[...]
        o_ref[...] = x + y

    @jax.jit
    def add_vectors(x: jax.Array, y: jax.Array) -> jax.Array:
        return pl.pallas_call(add_vectors_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(
            x, y
        )

    np.testing.assert_array_equal(add_vectors(jnp.arange(8), jnp.arange(8)), np.arange(8) * 2)

    def iota_kernel(o_ref):
        i = pl.program_id(0)
        o_ref[i] = i

    def iota(size: int):
        return pl.pallas_call(
            iota_kernel, out_shape=jax.ShapeDtypeStruct((size,), jnp.int32), grid=(size,)
        )()

    np.testing.assert_array_equal(iota(8), np.arange(8))


def matmul_kernel(x_ref, y_ref, z_ref, *, activation):
    z_ref[...] = activation(x_ref[...] @ y_ref[...])


def matmul(x: jax.Array, y: jax.Array, *, activation):
    return pl.pallas_call(
        functools.partial(matmul_kernel, activation=activation),
        out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), x.dtype),
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((x.shape[0] // 2, x.shape[1]), lambda i, j: (i, 0)),
            pl.BlockSpec((y.shape[0], y.shape[1] // 2), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((x.shape[0] // 2, y.shape[1] // 2), lambda i, j: (i, j)),
    )(x, y)


def test_matmul_with_activation_under_vmap_and_grad():
    x, y = numbers(4, 16, 8), numbers(4, 8, 16, seed=1)
    z = jax.vmap(functools.partial(matmul, activation=jax.nn.relu))(x, y)
    want = np.maximum(np.einsum("bij,bjk->bik", x, y), 0)
    np.testing.assert_allclose(z, want, rtol=1e-4, atol=1e-5)
    g = jax.jit(jax.grad(lambda x: matmul(x, y[0], activation=lambda v: v).sum()))(x[0])
    np.testing.assert_allclose(g, np.broadcast_to(np.sum(y[0], 1), (16, 8)), rtol=1e-4, atol=1e-5)


def test_pipelined_matmul_with_an_accumulator():
    def matmul_kernel(x_ref, y_ref, z_ref, acc_ref, *, nsteps, transpose_rhs):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc_ref[...] = jnp.zeros_like(acc_ref)

        dims = ((1,), (1,)) if transpose_rhs else ((1,), (0,))
        acc_ref[...] += lax.dot_general(
            x_ref[...], y_ref[...], (dims, ((), ())), preferred_element_type=jnp.float32
        )

        @pl.when(pl.program_id(2) == nsteps - 1)
        def _():
            z_ref[...] = acc_ref[...].astype(z_ref.dtype)

    @functools.partial(jax.jit, static_argnames=["bm", "bk", "bn"])
    def matmul(x, y, *, bm=16, bk=8, bn=8):
        m, k = x.shape
        n, _ = y.shape
        return pl.pallas_call(
            functools.partial(matmul_kernel, nsteps=k // bk, transpose_rhs=True),
            grid_spec=pltpu.PrefetchScalarGridSpec(
                num_scalar_prefetch=0,
                in_specs=[
                    pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)),
                    pl.BlockSpec((bn, bk), lambda i, j, k: (j, k)),
                ],
                out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
                scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
                grid=(m // bm, n // bn, k // bk),
            ),
            out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
            compiler_params=pltpu.CompilerParams(
                dimension_semantics=("parallel", "parallel", "arbitrary")
            ),
        )(x, y)

    x, y = numbers(32, 16).astype(jnp.bfloat16), numbers(16, 16, seed=1).astype(jnp.bfloat16)
    found = matmul(x, y)
    assert found.dtype == jnp.bfloat16
    want = np.asarray(x, np.float32) @ np.asarray(y, np.float32).T
    np.testing.assert_allclose(found.astype(jnp.float32), want, rtol=0.02, atol=0.05)


def test_reduction_over_the_grid():
    def correct_sum_kernel(x_ref, o_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...]

    @jax.jit
    def correct_sum(x: jax.Array, block_size: tuple[int, ...] = (8, 8)) -> jax.Array:
        reduction_size, *out_shape = x.shape
        grid = (
            *(out // blk for out, blk in zip(out_shape, block_size, strict=True)),
            reduction_size,
        )
        return pl.pallas_call(
            correct_sum_kernel,
            grid=grid,
            in_specs=[pl.BlockSpec((None, *block_size), lambda i, j, k: (k, i, j))],
            out_specs=pl.BlockSpec(block_size, lambda i, j, k: (i, j)),
            out_shape=jax.ShapeDtypeStruct(out_shape, x.dtype),
        )(x)

    x = jnp.ones((8, 16, 16))
    np.testing.assert_array_equal(correct_sum(x), np.full((16, 16), 8.0))


def test_programs_with_overlapping_and_squeezed_blocks():
    def show_program_ids(x_shape, block_shape, grid, index_map=lambda i, j: (i, j)):
        def program_ids_kernel(o_ref):
            o_ref[...] = jnp.full(o_ref.shape, pl.program_id(1) * 10 + pl.program_id(0))

        return pl.pallas_call(
            program_ids_kernel,
            out_shape=jax.ShapeDtypeStruct(x_shape, dtype=np.int32),
            grid=grid,
            in_specs=[],
            out_specs=pl.BlockSpec(block_shape, index_map),
        )()

    found = show_program_ids(
        x_shape=(8, 6), block_shape=(2, 3), grid=(4, 2), index_map=lambda i, j: (i, j)
    )
    rows, columns = np.indices((8, 6))
    np.testing.assert_array_equal(found, columns // 3 * 10 + rows // 2)
    found = show_program_ids(
        x_shape=(7, 5), block_shape=(2, 3), grid=(4, 2)
    )  # blocks leave the array
    rows, columns = np.indices((7, 5))
    np.testing.assert_array_equal(found, columns // 3 * 10 + rows // 2)
    found = show_program_ids(x_shape=(4, 4), block_shape=(None, 4), grid=(4, 1))
    np.testing.assert_array_equal(found, np.indices((4, 4))[0])


def test_dynamic_slices_by_prefetched_indices():
    def dynamic_slice_kernel(indices, x_ref, o_ref):
        del indices
        o_ref[...] = x_ref[...]

    @functools.partial(jax.jit, static_argnums=(2,))
    def block_dynamic_slice(x, starts, sizes):
        grid_spec = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(1, 1),
            in_specs=[pl.BlockSpec(sizes, lambda i, j, block_idx: (block_idx[0], block_idx[1]))],
            out_specs=pl.BlockSpec(sizes, lambda *_: (0, 0)),
        )
        block_idx = jnp.array([starts[0] // sizes[0], starts[1] // sizes[1]])
        return pl.pallas_call(
            dynamic_slice_kernel,
            grid_spec=grid_spec,
            out_shape=jax.ShapeDtypeStruct(sizes, x.dtype),
        )(block_idx, x)

    x = numbers(64, 64)
    np.testing.assert_array_equal(
        block_dynamic_slice(x, jnp.array([32, 16]), (16, 8)), x[32:48, 16:24]
    )


def test_block_sparse_product_in_one_loop():
    def dsd_kernel(idxs_i_ref, idxs_k_ref, x_ref, y_ref, o_ref):
        blk_idx = pl.program_id(1)
        is_start = blk_idx == 0
        changed_blocks = idxs_i_ref[blk_idx] != idxs_i_ref[jnp.maximum(blk_idx - 1, 0)]

        @pl.when(is_start | changed_blocks)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    blk, nblocks = 8, 5
    rows, columns = jnp.array([0, 0, 1, 2, 3]), jnp.array([0, 3, 1, 2, 0])
    data, dense = numbers(nblocks, blk, blk), numbers(4 * blk, 16, seed=1)
    grid_spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=2,
        grid=(2, nblocks),
        in_specs=[
            pl.BlockSpec((None, blk, blk), lambda j, b, i_ref, k_ref: (b, 0, 0)),
            pl.BlockSpec((blk, 8), lambda j, b, i_ref, k_ref: (k_ref[b], j)),
        ],
        out_specs=pl.BlockSpec((blk, 8), lambda j, b, i_ref, k_ref: (i_ref[b], j)),
    )
    found = pl.pallas_call(
        dsd_kernel, grid_spec=grid_spec, out_shape=jax.ShapeDtypeStruct((4 * blk, 16), jnp.float32)
    )(rows, columns, data, dense)
    sparse = np.zeros((32, 32), np.float32)
    for r, c, part in zip(rows, columns, data, strict=True):
        sparse[r * 8 : r * 8 + 8, c * 8 : c * 8 + 8] = part
    np.testing.assert_allclose(found, sparse @ np.asarray(dense), rtol=1e-4, atol=1e-5)


def test_masked_loads_of_a_triton_kernel():
    def add_kernel(x_ref, y_ref, o_ref, *, block_size):
        pid = pl.program_id(axis=0)
        block_start = pid * block_size
        offsets = block_start + jnp.arange(block_size, dtype=jnp.int32)
        mask = offsets < x_ref.shape[0]
        x = plgpu.load(x_ref.at[offsets], mask=mask)
        y = plgpu.load(y_ref.at[offsets], mask=mask)
        plgpu.store(o_ref.at[offsets], x + y, mask=mask)

    def add(x, y, block_size=64):
        grid = (pl.cdiv(x.shape[0], block_size),)
        return pl.pallas_call(
            functools.partial(add_kernel, block_size=block_size),
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            grid=grid,
            compiler_params=plgpu.CompilerParams(num_warps=4),
        )(x, y)

    x, y = numbers(1000), numbers(1000, seed=1)
    np.testing.assert_allclose(jax.jit(add)(x, y), np.add(x, y), rtol=1e-6)


def test_copies_between_memories_in_a_scope():
    def copy_kernel(x_hbm_ref, o_hbm_ref):
        def body(x_vmem, sem):
            copy = pltpu.make_async_copy(x_hbm_ref.at[pl.ds(0, 8)], x_vmem, sem)
            copy.start()
            copy.wait()
            x_vmem[...] = x_vmem[...] * 2
            pltpu.sync_copy(x_vmem, o_hbm_ref)

        pl.run_scoped(body, pltpu.VMEM((8, 16), jnp.float32), pltpu.SemaphoreType.DMA)

    x = numbers(16, 16)
    found = pl.pallas_call(
        copy_kernel,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct((8, 16), jnp.float32),
    )(x)
    np.testing.assert_allclose(found, np.asarray(x)[:8] * 2)


def test_softmax_with_a_rule_for_its_derivative():
    def softmax_kernel(x_ref, o_ref):
        row = x_ref[...]
        numerator = jnp.exp(row - jnp.max(row, axis=-1, keepdims=True))
        o_ref[...] = numerator / jnp.sum(numerator, axis=-1, keepdims=True)

    def backward_kernel(y_ref, g_ref, o_ref):
        y, g = y_ref[...], g_ref[...]
        o_ref[...] = y * (g - jnp.sum(y * g, axis=-1, keepdims=True))

    def call(kernel, *xs):
        spec = pl.BlockSpec((4, xs[0].shape[1]), lambda i: (i, 0))
        return pl.pallas_call(
            kernel,
            grid=(xs[0].shape[0] // 4,),
            in_specs=[spec] * len(xs),
            out_specs=spec,
            out_shape=xs[0],
        )(*xs)

    @jax.custom_vjp
    def softmax(x):
        return call(softmax_kernel, x)

    def softmax_fwd(x):
        y = softmax(x)
        return y, y

    def softmax_bwd(y, g):
        return (call(backward_kernel, y, g),)

    softmax.defvjp(softmax_fwd, softmax_bwd)
    x, w = numbers(8, 16), numbers(8, 16, seed=1)
    found = jax.jit(jax.grad(lambda x: (softmax(x) * w).sum()))(x)
    e = np.exp(np.asarray(x) - np.max(x, -1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    want = p * (np.asarray(w) - (p * np.asarray(w)).sum(-1, keepdims=True))
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)
