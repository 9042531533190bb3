"""Kernels: blocks, grids, loops over programs and vectorized ones, compared with NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pallas_cases
import pallas_rich_cases
import sagax
import sagax.numpy as snp
from sagax.experimental import checkify
from sagax.experimental import pallas as pl

Out = sagax.ShapeDtypeStruct
f32 = np.float32
modes = pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(f32)


@modes
@pytest.mark.own_promotion("dtype")
def test_blocks_of_a_grid(interpret):
    def kernel(x_ref, o_ref):
        assert pl.num_programs(0) == 2
        o_ref[...] = x_ref[...] * 10 + pl.program_id(0)

    spec = pl.BlockSpec((4, 6), lambda i, j: (i, j))
    f = pl.pallas_call(
        kernel, Out((8, 18), f32), grid=(2, 3), in_specs=[spec], out_specs=spec, interpret=interpret
    )
    x = values(8, 18)
    want = x * 10 + np.repeat([0, 1], 4)[:, None]
    np.testing.assert_allclose(f(x), want, rtol=1e-6)
    np.testing.assert_allclose(sagax.jit(f)(x), want, rtol=1e-6)


def matmul_kernel(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        acc_ref[...] = snp.zeros_like(acc_ref)

    acc_ref[...] += x_ref[...] @ y_ref[...]

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        o_ref[...] = acc_ref[...]


@modes
def test_matrix_product_with_scratch_memory(interpret):
    f = pl.pallas_call(
        matmul_kernel,
        Out((8, 12), f32),
        grid=(2, 3, 5),
        in_specs=[
            pl.BlockSpec((4, 2), lambda i, j, k: (i, k)),
            pl.BlockSpec((2, 4), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((4, 4), lambda i, j, k: (i, j)),
        scratch_shapes=[pl.ANY((4, 4), f32)],
        interpret=interpret,
    )
    x, y = values(8, 10), values(10, 12, seed=1)
    np.testing.assert_allclose(f(x, y), x @ y, rtol=1e-4, atol=1e-5)


@modes
def test_an_output_block_that_is_visited_again_keeps_its_contents(interpret):
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        o_ref[...] += x_ref[...].sum(0, keepdims=True)

    f = pl.pallas_call(
        kernel,
        Out((1, 6), f32),
        grid=(3,),
        in_specs=[pl.BlockSpec((2, 6), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((1, 6), lambda i: (0, 0)),
        interpret=interpret,
    )
    x = values(6, 6)
    np.testing.assert_allclose(f(x), x.sum(0, keepdims=True), rtol=1e-5)


@modes
def test_scratch_memory_carries_from_one_program_to_the_next(interpret):
    def kernel(x_ref, o_ref, last_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            last_ref[...] = snp.zeros_like(last_ref)

        o_ref[...] = snp.cumsum(x_ref[...]) + last_ref[...]
        last_ref[...] = o_ref[...][-1:]

    spec = pl.BlockSpec((4,), lambda i: (i,))
    f = pl.pallas_call(
        kernel,
        Out((16,), f32),
        grid=(4,),
        in_specs=[spec],
        out_specs=spec,
        scratch_shapes=(pl.ANY((1,), f32),),
        interpret=interpret,
    )
    x = values(16)
    np.testing.assert_allclose(f(x), np.cumsum(x), rtol=1e-5, atol=1e-5)


@modes
def test_squeezed_dimensions_and_whole_operands(interpret):
    def kernel(x_ref, w_ref, o_ref):
        assert x_ref.shape == (5,) and w_ref.shape == (5, 2) and o_ref.shape == (2,)
        o_ref[...] = x_ref[...] @ w_ref[...]

    f = pl.pallas_call(
        kernel,
        Out((3, 2), f32),
        grid=(3,),
        in_specs=[pl.BlockSpec((None, 5), lambda i: (i, 0)), pl.BlockSpec()],
        out_specs=pl.BlockSpec((pl.squeezed, 2), lambda i: (i, 0)),
        interpret=interpret,
    )
    x, w = values(3, 5), values(5, 2, seed=1)
    np.testing.assert_allclose(f(x, w), x @ w, rtol=1e-5)


@modes
def test_blocks_that_do_not_divide_are_extended(interpret):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    spec = pl.BlockSpec((3,), lambda i: (i,))
    f = pl.pallas_call(
        kernel, Out((8,), f32), grid=(pl.cdiv(8, 3),), in_specs=[spec], out_specs=spec,
        interpret=interpret,
    )  # fmt: skip
    np.testing.assert_array_equal(f(np.arange(8, dtype=f32)), np.arange(8) * 2)


@modes
def test_overlapping_blocks_by_their_first_element(interpret):
    def kernel(x_ref, o_ref):
        o_ref[0] = x_ref[...].sum()

    f = pl.pallas_call(
        kernel,
        Out((4,), f32),
        grid=(4,),
        in_specs=[pl.BlockSpec((pl.Element(3, (1, 1)),), lambda i: (i,))],
        out_specs=pl.BlockSpec((1,), lambda i: (i,)),
        interpret=interpret,
    )
    x = np.arange(4, dtype=f32)
    np.testing.assert_array_equal(f(x), [np.nan, 3, 6, np.nan])


@modes
def test_slices_of_bounded_size(interpret):
    def kernel(starts_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def at(i, starts_ref):
        return (pl.ds(starts_ref[i], starts_ref[i + 1] - starts_ref[i]),)

    spec = pl.BlockSpec((pl.BoundedSlice(4),), at)
    grid_spec = pl.tpu.PrefetchScalarGridSpec(1, (3,), [spec], spec)
    f = pl.pallas_call(kernel, Out((8,), f32), grid_spec=grid_spec, interpret=interpret)
    starts = np.array([0, 4, 5, 8], np.int32)
    np.testing.assert_array_equal(f(starts, np.arange(8, dtype=f32)), np.arange(8) * 2)
    with pytest.raises(ValueError, match="returns an index for a dimension"):
        wrong = pl.BlockSpec((pl.BoundedSlice(4),), lambda i: (i,))
        call(grid=(2,), in_specs=[wrong])


@modes
def test_index_maps_that_are_not_linear(interpret):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    f = pl.pallas_call(
        kernel,
        Out((8,), f32),
        grid=(4,),
        in_specs=[pl.BlockSpec((2,), lambda i: (i // 2,))],
        out_specs=pl.BlockSpec((2,), lambda i: (3 - i,)),
        interpret=interpret,
    )
    np.testing.assert_array_equal(f(np.arange(8, dtype=f32)), [2, 3, 2, 3, 0, 1, 0, 1])


@modes
def test_an_alias_starts_with_the_contents_of_the_input(interpret):
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 1)
        def _():
            o_ref[...] = x_ref[...] + 100

    spec = pl.BlockSpec((2,), lambda i: (i,))
    f = pl.pallas_call(
        kernel, Out((6,), f32), grid=(3,), in_specs=[spec], out_specs=spec,
        input_output_aliases={0: 0}, interpret=interpret,
    )  # fmt: skip
    np.testing.assert_array_equal(f(np.arange(6, dtype=f32)), [0, 1, 102, 103, 4, 5])


@modes
def test_windows_at_traced_starts_are_moved_inside(interpret):
    def kernel(x_ref, o_ref):
        i = pl.program_id(0)
        o_ref[pl.ds(i * 3, 4)] = x_ref[pl.ds(i * 3, 4)]

    f = pl.pallas_call(kernel, Out((8,), f32), grid=(3,), interpret=interpret)
    np.testing.assert_array_equal(f(np.arange(8, dtype=f32)), np.arange(8))


@modes
def test_trees_of_operands_and_results(interpret):
    def kernel(pair, x_ref, first, second):
        first[...] = pair["a"][...] + x_ref[...]
        second[...] = pair["b"][...] * 2

    shapes = [Out((3,), f32), Out((2,), np.int32)]
    f = pl.pallas_call(kernel, shapes, interpret=interpret)
    first, second = f({"a": snp.ones(3), "b": snp.arange(2)}, snp.ones(3))
    assert first.tolist() == [2, 2, 2] and second.tolist() == [0, 2]


@modes
@pytest.mark.own_promotion("dtype")
def test_loops_and_nested_functions(interpret):
    @sagax.jit
    def helper(x):
        return x + pl.program_id(0)

    def kernel(x_ref, o_ref):
        @pl.loop(0, 4, step=2)
        def _(i):
            o_ref[i] = helper(x_ref[i])
            o_ref[i + 1] = x_ref[i] * 10

    spec = pl.BlockSpec((4,), lambda i: (i,))
    f = pl.pallas_call(
        kernel, Out((8,), f32), grid=(2,), in_specs=[spec], out_specs=spec, interpret=interpret
    )
    for _ in range(2):
        got = f(np.arange(8, dtype=f32))
        np.testing.assert_array_equal(got, [0, 0, 2, 20, 5, 40, 7, 60])


@modes
def test_memory_of_a_scope(interpret):
    def kernel(x_ref, o_ref):
        def scope(tmp):
            tmp[...] = x_ref[...] + 1
            return tmp[...] * 2

        o_ref[...] = pl.run_scoped(scope, pl.ANY((3,), f32))

    f = pl.pallas_call(kernel, Out((3,), f32), interpret=interpret)
    assert f(snp.arange(3.0)).tolist() == [2, 4, 6]


def test_unwritten_outputs_hold_nan_or_the_least_integer():
    shapes = [Out((2,), f32), Out((2,), np.int32), Out((2,), bool), Out((2,), np.uint8)]
    a, b, c, d = pl.pallas_call(lambda *refs: None, shapes)()
    assert np.isnan(a).all() and b.tolist() == [-(2**31)] * 2
    assert c.tolist() == [False, False] and d.tolist() == [0, 0]


def test_derivatives_and_batches_of_a_kernel():
    def kernel(x_ref, o_ref):
        o_ref[...] = snp.sin(x_ref[...]) * x_ref[...]

    spec = pl.BlockSpec((2,), lambda i: (i,))
    call = functools.partial(
        pl.pallas_call, kernel, Out((6,), f32), grid=(3,), in_specs=[spec], out_specs=spec
    )
    x = values(6)
    slope = np.cos(x) * x + np.sin(x)
    for f in (call(), call(interpret=True)):
        _, tangent = sagax.jvp(f, (x,), (np.ones(6, f32),))
        np.testing.assert_allclose(tangent, slope, rtol=1e-5)
        np.testing.assert_allclose(sagax.grad(lambda x, f=f: f(x).sum())(x), slope, rtol=1e-5)
        xs = values(4, 6)
        np.testing.assert_allclose(sagax.vmap(f)(xs), np.sin(xs) * xs, rtol=1e-5)


# Mistakes ------------------------------------------------------------------------------------------


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def call(kernel=copy, x=None, **options):
    x = np.arange(8, dtype=f32) if x is None else x
    return pl.pallas_call(kernel, Out((8,), f32), **options)(x)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"grid": (0,)}, ValueError, ["grid", "cdiv"]),
        (
            {"grid": (2,), "in_specs": [pl.BlockSpec((4,), lambda i, j: (i,))]},
            TypeError,
            ["index map of args[0]", "lambda i: ..."],
        ),
        (
            {"grid": (2,), "in_specs": [pl.BlockSpec((4, 4), lambda i: (i, 0))]},
            ValueError,
            ["args[0]", "same number of dimensions"],
        ),
        (
            {"grid": (2,), "in_specs": [pl.BlockSpec((4,), lambda i: (i, 0))]},
            ValueError,
            ["args[0]", "must return 1 values"],
        ),
        ({"grid": (2,), "in_specs": []}, ValueError, ["in_specs", "inputs"]),
        ({"kernel": lambda x_ref, o_ref: x_ref[...]}, ValueError, ["should return None"]),
        (
            {"kernel": lambda x_ref, o_ref: pl.program_id(1), "grid": (2,)},
            ValueError,
            ["Axis 1", "grid (2,)"],
        ),
        (
            {"kernel": lambda x_ref, o_ref: o_ref.set(x_ref[...].astype("bfloat16"))},
            ValueError,
            ["dtype", "bfloat16", "astype('float32')"],
        ),
        ({"input_output_aliases": {3: 0}}, ValueError, ["input_output_aliases"]),
        ({"grid": 2.5}, TypeError, ["axis 0 of the grid"]),
        ({"kernel": lambda x_ref: None}, TypeError, ["of 1 inputs, 1 outputs and 0 scratch"]),
        ({"in_specs": [pl.BlockSpec((0,))]}, ValueError, ["block shape of args[0]", "positive"]),
        (
            {"grid": (2,), "in_specs": [pl.BlockSpec((4,), lambda i: (i * 0.5,))]},
            ValueError,
            ["index map of args[0]", "integers"],
        ),
    ],
)
def test_mistakes_are_named(options, error, words):
    with pytest.raises(error) as info:
        call(**options)
    text = str(info.value) + " ".join(getattr(info.value, "__notes__", []))
    for word in words:
        assert word in text, text


def writes(value):
    def kernel(x_ref, o_ref):
        o_ref[...] = value(x_ref)

    return kernel


def reads(index):
    def kernel(x_ref, o_ref):
        o_ref[pl.ds(0, 4)] = x_ref[index]

    return kernel


@pytest.mark.parametrize(
    ("kernel", "error", "words"),
    [
        (writes(lambda x: x[...] > 0), ValueError, ["of the block of outputs holds float32", "is bool"]),
        (writes(lambda x: x[...][:3]), ValueError, ["of the block of outputs have shape (8,)", "or select as many"]),
        (writes(lambda x: x[...][:1]), ValueError, ["broadcast_to(value, (8,))"]),
        (writes(lambda x: x * 2), TypeError, ["not references", "ref[...]"]),
        (writes(lambda x: 2 - x), TypeError, ["not references"]),
        (reads(pl.ds(6, 4)), ValueError, ["Out of bound slice: start=6, size=4, stride=1, dim=8"]),
        (reads(pl.ds(2, 4, 2)), ValueError, ["start=2, size=4, stride=2", "elements from 0 to 7"]),
        (reads(pl.ds(-1, 4)), ValueError, ["start=-1"]),
    ],
)  # fmt: skip
def test_mistakes_within_a_kernel_are_named(kernel, error, words):
    with pytest.raises(error) as info:
        call(kernel)
    text = " ".join(str(info.value).split())
    for word in words:
        assert word in text, text


def test_an_index_map_that_returns_nothing():
    with pytest.raises(ValueError, match="index map of args.0. returns None"):
        call(grid=(2,), in_specs=[pl.BlockSpec((4,), lambda i: None)])


def test_a_grid_that_is_a_numpy_array():
    spec = pl.BlockSpec((4,), lambda i: (i,))
    got = call(grid=np.array([2]), in_specs=[spec], out_specs=spec)
    assert got.tolist() == list(range(8))


@modes
def test_loops_with_traced_bounds_while_jit_is_off(interpret):
    def kernel(x_ref, o_ref):
        total = sagax.lax.fori_loop(0, pl.program_id(0) + 1, lambda i, t: t + x_ref[i], 0.0)
        o_ref[...] = snp.full(4, total)

    spec = pl.BlockSpec((4,), lambda i: (i,))
    with sagax.disable_jit():
        got = call(kernel, grid=(2,), in_specs=[spec], out_specs=spec, interpret=interpret)
    assert got.tolist() == [0, 0, 0, 0, 9, 9, 9, 9]


def test_swapped_arguments_of_a_block_specification():
    with pytest.raises(TypeError, match="swap the two arguments"):
        pl.BlockSpec(lambda i: (i,), (4,))


def test_captured_arrays_become_operands():
    y = snp.arange(8.0)

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + y + np.ones(8, f32)

    assert call(kernel).tolist() == [2 * i + 1 for i in range(8)]
    slope = sagax.grad(lambda y: call(lambda x_ref, o_ref: o_ref.set(x_ref[...] * y)).sum())(y)
    assert slope.tolist() == list(range(8))


def test_a_reference_that_leaves_its_kernel_is_named():
    kept = []

    def kernel(x_ref, o_ref):
        kept.append(x_ref)
        o_ref[...] = x_ref[...]

    call(kernel)
    with pytest.raises(sagax.errors.UnexpectedTracerError, match="while tracing `kernel`"):
        kept[0][...]


def test_repeated_calls_outside_of_jit_trace_once():
    traces = []

    def kernel(x_ref, o_ref):
        traces.append(1)
        o_ref[...] = x_ref[...]

    f = pl.pallas_call(kernel, Out((8,), f32))
    x = snp.arange(8.0)
    for _ in range(3):
        assert f(x).tolist() == list(range(8))
    assert len(traces) == 3  # it has a side effect, so that each call traces


def test_equal_kernels_share_an_executable():
    def double(x):
        return pl.pallas_call(lambda x_ref, o_ref: o_ref.set(x_ref[...] * 2), x)(x)

    x = snp.arange(8.0)
    double(x)
    seen = []
    listener = lambda event, *_, **__: seen.append(event)  # noqa: E731
    sagax.monitoring.register_event_duration_secs_listener(listener)
    try:
        double(x)
        assert seen == []
        double(snp.arange(8))
        assert any("compile" in event for event in seen)
    finally:
        sagax.monitoring.unregister_event_duration_listener(listener)


def test_captured_references_are_refused():
    ref = sagax.new_ref(snp.ones(8))
    with pytest.raises(ValueError, match="captures a reference"):
        call(lambda x_ref, o_ref: o_ref.set(ref[...]))


def test_program_id_outside_of_a_kernel():
    with pytest.raises(ValueError, match="outside of a kernel"):
        pl.program_id(0)


# Kernels for accelerators, on a CPU ------------------------------------------------------------------


@pytest.mark.own_promotion("dtype")
def test_prefetched_scalars_choose_blocks():
    def kernel(index_ref, x_ref, o_ref):
        o_ref[...] = x_ref[...] + index_ref[pl.program_id(0)]

    spec = pl.tpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(3,),
        in_specs=[pl.BlockSpec((2,), lambda i, index_ref: (index_ref[i],))],
        out_specs=pl.BlockSpec((2,), lambda i, _: (i,)),
    )
    for interpret in (False, True):
        f = pl.pallas_call(kernel, Out((6,), f32), grid_spec=spec, interpret=interpret)
        got = f(np.array([2, 0, 1], np.int32), np.arange(6, dtype=f32))
        np.testing.assert_array_equal(got, [6, 7, 0, 1, 3, 4])


def test_masked_reads_and_writes_out_of_bounds():
    def kernel(x_ref, o_ref):
        at = pl.ds(pl.program_id(0) * 3, 4)
        mask = snp.arange(4) + pl.program_id(0) * 3 < 8
        x = pl.triton.load(x_ref.at[at], mask=mask, other=-1.0)
        pl.triton.store(o_ref.at[at], x + 10, mask=mask)

    for interpret in (False, True):
        f = pl.pallas_call(kernel, Out((8,), f32), grid=(3,), interpret=interpret)
        np.testing.assert_array_equal(f(np.arange(8, dtype=f32)), np.arange(8) + 10)


def test_atomics():
    def kernel(x_ref, o_ref, before_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        before_ref[pl.program_id(0)] = pl.triton.atomic_add(o_ref, 0, x_ref[pl.program_id(0)])
        pl.triton.atomic_max(o_ref, 1, x_ref[pl.program_id(0)])

    shapes = [Out((2,), f32), Out((3,), f32)]
    total, before = pl.pallas_call(kernel, shapes, grid=(3,))(np.array([5, 7, 6], f32))
    assert total.tolist() == [18, 7] and before.tolist() == [0, 5, 12]


@pytest.mark.own_promotion("dtype")
def test_copies_semaphores_and_pipelines():
    def kernel(x_ref, o_ref, tmp_ref, sem):
        copy = pl.tpu.make_async_copy(x_ref.at[pl.ds(0, 4)], tmp_ref, sem)
        copy.start()
        copy.wait()

        def body(x, o):
            o[...] = x[...] * 2 + pl.program_id(0)

        spec = pl.BlockSpec((2,), lambda i: (i,))
        pl.tpu.emit_pipeline(body, grid=(2,), in_specs=[spec], out_specs=[spec])(tmp_ref, o_ref)

    f = pl.pallas_call(
        kernel,
        Out((4,), f32),
        scratch_shapes=[pl.tpu.VMEM((4,), f32), pl.tpu.SemaphoreType.DMA],
    )
    assert f(np.arange(8, dtype=f32)).tolist() == [0, 2, 5, 7]


@pytest.mark.parametrize("interpret", [False, True, pl.tpu.InterpretParams()])
def test_semaphores_count(interpret):
    def kernel(o_ref, sem, several):
        pl.semaphore_signal(sem, 3)
        pl.semaphore_wait(sem, 1)
        pl.semaphore_signal(several.at[1])
        o_ref[0] = pl.semaphore_read(sem)
        o_ref[1] = pl.semaphore_read(several.at[1])

        def scope(inner):
            pl.semaphore_signal(inner, 7)
            o_ref[2] = pl.semaphore_read(inner)

        pl.run_scoped(scope, pl.tpu.SemaphoreType.REGULAR)

    kinds = [pl.tpu.SemaphoreType.REGULAR, pl.tpu.SemaphoreType.REGULAR((2,))]
    f = pl.pallas_call(kernel, Out((3,), np.int32), scratch_shapes=kinds, interpret=interpret)
    assert f().tolist() == [2, 1, 7]
    with pytest.raises(ValueError, match="takes one semaphore"):
        pl.semaphore_read(sagax.new_ref(1))


def test_names_that_need_a_gpu_say_so():
    with pytest.raises(NotImplementedError, match="wgmma needs an NVIDIA GPU of the Hopper"):
        pl.mosaic_gpu.wgmma(None, None, None)
    with pytest.raises(NotImplementedError, match="several TPUs"):
        pl.tpu.make_async_remote_copy(None, None, None, None, 1)


# Random kernels, as jax's interpreter runs them ------------------------------------------------------


@modes
@pytest.mark.parametrize("seed", range(pallas_cases.COUNT))
def test_random_kernels_as_jax_interprets_them(seed, interpret, oracle_data):
    want = oracle_data("pallas_kernels")[str(seed)]
    got = pallas_cases.Case(seed).run(sagax, pl, interpret)
    np.testing.assert_allclose(got, want, rtol=1e-5)


# every kernel compiled, and some of them interpreted
_RICH = [
    (seed, seed % 4 == 0 and again)
    for seed in range(pallas_rich_cases.COUNT)
    for again in (False, True)
]


@pytest.mark.parametrize(("seed", "interpret"), sorted(set(_RICH)))
def test_random_kernels_with_more_features(seed, interpret, oracle_data):
    got = pallas_rich_cases.Case(seed).run(sagax, pl, interpret)
    for k, x in enumerate(got):
        want = oracle_data("pallas_kernels")[f"rich.{seed}.{k}"]
        np.testing.assert_allclose(x, want, rtol=1e-5, atol=1e-5)


# The checking interpreter ----------------------------------------------------------------------------

checked = pl.tpu.InterpretParams(detect_races=True)
parallel = pl.tpu.CompilerParams(dimension_semantics=("parallel",))


def test_the_checking_interpreter_computes_the_same():
    x, y = values(8, 10), values(10, 12, seed=1)
    f = pl.pallas_call(
        matmul_kernel,
        Out((8, 12), f32),
        grid=(2, 3, 5),
        in_specs=[
            pl.BlockSpec((4, 2), lambda i, j, k: (i, k)),
            pl.BlockSpec((2, 4), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((4, 4), lambda i, j, k: (i, j)),
        scratch_shapes=[pl.ANY((4, 4), f32)],
        compiler_params=pl.tpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary")
        ),
        interpret=checked,
    )
    np.testing.assert_allclose(f(x, y), x @ y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sagax.jit(f)(x, y), x @ y, rtol=1e-4, atol=1e-5)


def test_masked_accesses_are_no_mistakes():
    def kernel(x_ref, o_ref):
        at = pl.ds(pl.program_id(0) * 3, 3)
        mask = snp.arange(3) + pl.program_id(0) * 3 < 8
        x = pl.triton.load(x_ref.at[at], mask=mask, other=-1.0)
        pl.triton.store(o_ref.at[at], x + 10, mask=mask)

    f = pl.pallas_call(
        kernel, Out((8,), f32), grid=(3,), interpret=checked, compiler_params=parallel
    )
    np.testing.assert_array_equal(f(np.arange(8, dtype=f32)), np.arange(8) + 10)


def accumulate(x_ref, o_ref):
    o_ref[...] += x_ref[...]


def first_row(x_ref, o_ref):
    o_ref[...] = x_ref[pl.program_id(0) * 3]


def overlapping(x_ref, o_ref):
    o_ref[...] = x_ref[...]


@pytest.mark.parametrize(
    ("kernel", "out_spec", "in_spec", "words"),
    [
        (
            accumulate,
            pl.BlockSpec((2,), lambda i: (i,)),
            pl.BlockSpec((2,), lambda i: (i,)),
            ["program (0,) of accumulate reads 2 elements of outputs", "no program has written"],
        ),
        (
            copy,
            pl.BlockSpec((2,), lambda i: (i,)),
            pl.BlockSpec((2,), lambda i: (i + 1,)),
            ["program (3,) of copy", "args[0]", "out of bounds", "(4,)", "4 blocks"],
        ),
        (
            first_row,
            pl.BlockSpec((None,), lambda i: (i,)),
            None,
            ["program (3,) of first_row", "index 9 along dimension 0", "size is 8"],
        ),
        (
            overlapping,
            pl.BlockSpec((2,), lambda i: (i // 2,)),
            pl.BlockSpec((2,), lambda i: (i,)),
            ["race: program (1,) of overlapping writes 2 elements", "program (0,)"],
        ),
    ],
)
def test_the_checking_interpreter_finds_mistakes(kernel, out_spec, in_spec, words):
    f = pl.pallas_call(
        kernel,
        Out((8,), f32),
        grid=(4,),
        in_specs=[in_spec],
        out_specs=out_spec,
        interpret=checked,
        compiler_params=parallel,
    )
    with pytest.raises(sagax.errors.SagaxError) as info:
        f(np.arange(8, dtype=f32))
    text = str(info.value)
    assert info.value.code == "SX0132"
    for word in words:
        assert word in text, text
    if kernel is not copy:
        assert "test_pallas.py" in text


def test_writes_lost_to_overlapping_blocks():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    f = pl.pallas_call(
        kernel,
        Out((5,), f32),
        grid=(2,),
        in_specs=[pl.BlockSpec((pl.Element(3),), lambda i: (2 * i,))],
        out_specs=pl.BlockSpec((pl.Element(3),), lambda i: (2 * i,)),
        interpret=checked,
    )
    with pytest.raises(
        ValueError, match="lost writes: program .1,. of kernel overwrites 1 element"
    ):
        f(np.arange(5, dtype=f32))


def test_a_race_may_be_a_warning():
    f = pl.pallas_call(
        overlapping,
        Out((8,), f32),
        grid=(4,),
        in_specs=[pl.BlockSpec((2,), lambda i: (i,))],
        out_specs=pl.BlockSpec((2,), lambda i: (i // 2,)),
        interpret=pl.tpu.InterpretParams(detect_races=True, on_race="warn"),
        compiler_params=parallel,
    )
    with pytest.warns(UserWarning, match="race: program"):
        f(np.arange(8, dtype=f32))


@pytest.mark.parametrize("seed", range(0, pallas_cases.COUNT, 6))
def test_random_kernels_in_the_checking_interpreter(seed, oracle_data):
    want = oracle_data("pallas_kernels")[str(seed)]
    mode = pl.tpu.InterpretParams(out_of_bounds_reads="uninitialized")
    try:
        got = pallas_cases.Case(seed).run(sagax, pl, mode)
    except sagax.errors.SagaxError as error:
        assert "no program has written" in str(error)
        return
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_kernels_are_checked_within_a_context():
    with pl.tpu.force_tpu_interpret_mode(checked):
        with pytest.raises(ValueError, match="no program has written"):
            call(accumulate)


# Transformations -------------------------------------------------------------------------------------


def scaled(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] ** 2 + pl.program_id(0)

    spec = pl.BlockSpec((2,), lambda i: (i,))
    return pl.pallas_call(
        kernel, Out(x.shape, x.dtype), grid=(x.shape[0] // 2,), in_specs=[spec], out_specs=spec
    )(x)


@pytest.mark.own_promotion("dtype")
def test_nested_transformations():
    x = np.arange(8, dtype=f32).reshape(2, 4)
    slopes = sagax.vmap(sagax.grad(lambda x: scaled(x).sum()))(x)
    np.testing.assert_allclose(slopes, 2 * x)
    curves = sagax.hessian(lambda x: scaled(x).sum())(x[0])
    np.testing.assert_allclose(curves, 2 * np.eye(4))
    want = x**2 + np.array([0, 0, 1, 1])
    np.testing.assert_allclose(sagax.vmap(scaled, 1, 1)(x.T), want.T)
    np.testing.assert_allclose(sagax.lax.map(sagax.checkpoint(scaled), x), want)


@pytest.mark.own_promotion("dtype")
def test_a_custom_derivative_around_a_kernel():
    @sagax.custom_vjp
    def f(x):
        return scaled(x)

    f.defvjp(lambda x: (scaled(x), x), lambda x, g: (100 * x * g,))
    x = np.arange(4, dtype=f32)
    np.testing.assert_allclose(sagax.grad(lambda x: f(x).sum())(x), 100 * x)


@pytest.mark.parametrize("checked_types", [False, True])
@pytest.mark.own_promotion("dtype")
def test_kernels_within_shard_map(eight_devices, checked_types):
    P = sagax.sharding.PartitionSpec
    mesh = sagax.make_mesh((8,), ("x",))
    f = sagax.shard_map(
        scaled, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=checked_types
    )
    x = np.arange(32, dtype=f32)
    want = x**2 + np.tile([0, 0, 1, 1], 8)
    np.testing.assert_allclose(sagax.jit(f)(x), want)
    np.testing.assert_allclose(sagax.grad(lambda x: f(x).sum())(x), 2 * x)


@pytest.mark.own_promotion("dtype")
def test_an_exported_kernel_with_a_symbolic_grid():
    (size,) = sagax.export.symbolic_shape("2*n")
    exported = sagax.export.export(sagax.jit(scaled))(Out((size,), f32))
    for n in (2, 6):
        x = np.arange(n, dtype=f32)
        np.testing.assert_allclose(exported.call(x), x**2 + np.arange(n) // 2)


def test_checkify_goes_through_a_kernel():
    def kernel(x_ref, o_ref):
        o_ref[...] = 1 / x_ref[...]

    f = pl.pallas_call(kernel, Out((2,), f32))
    error, _ = checkify.checkify(f, errors=checkify.float_checks)(np.array([0, 1], f32))
    assert "division by zero" in error.get()


def test_conditions_are_checked_where_checks_are_on():
    def kernel(x_ref, o_ref):
        pl.debug_check(x_ref[0] < 4, "too large")
        o_ref[...] = x_ref[...]

    spec = pl.BlockSpec((2,), lambda i: (i,))
    options = {"grid": (4,), "in_specs": [spec], "out_specs": spec}
    assert call(kernel, **options).shape == (8,)
    with pytest.raises(ValueError, match=r"program .2,. of kernel fails a check: too large"):
        call(kernel, **options, interpret=pl.tpu.InterpretParams())
    f = pl.pallas_call(kernel, Out((8,), f32), **options)
    error, _ = checkify.checkify(f)(np.arange(8, dtype=f32))
    assert "too large" in error.get()


def test_prints_keep_the_order_of_programs(capfd):
    def kernel(o_ref):
        pl.debug_print("program {}", pl.program_id(0))
        o_ref[...] = snp.zeros_like(o_ref)

    spec = pl.BlockSpec((2,), lambda i: (i,))
    f = pl.pallas_call(kernel, Out((6,), f32), grid=(3,), out_specs=spec)
    sagax.block_until_ready(sagax.jit(f)())
    sagax.effects_barrier()
    assert capfd.readouterr().out.splitlines() == ["program 0", "program 1", "program 2"]


@pytest.mark.own_promotion("dtype")
def test_a_traced_grid():
    @sagax.jit
    def f(n, x):
        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[...] + pl.num_programs(0)

        spec = pl.BlockSpec((2,), lambda i: (i,))
        shape = Out(x.shape, x.dtype)
        return pl.pallas_call(kernel, shape, grid=(n,), in_specs=[spec], out_specs=spec)(x)

    np.testing.assert_array_equal(f(2, np.zeros(6, f32)), [2, 2, 2, 2, np.nan, np.nan])


@pytest.mark.own_promotion("dtype")
def test_references_and_cores():
    mesh = pl.tpu.TensorCoreMesh(axis_name="core", num_cores=2)

    def f(refs):
        x_ref, y_ref = refs

        @pl.core_map(mesh)
        def _():
            i = sagax.lax.axis_index("core")
            y_ref[pl.ds(i * 4, 4)] = x_ref[pl.ds(i * 4, 4)] + i

    x = np.arange(8, dtype=f32)
    _, y = sagax.jit(pl.run_state(f))((x, np.zeros(8, f32)))
    np.testing.assert_array_equal(y, x + np.repeat([0, 1], 4))


def test_the_cost_of_a_function_is_as_in_jax():
    found = pl.estimate_cost(lambda a, b: a @ b + snp.sin(a), snp.ones((4, 4)), snp.ones((4, 4)))
    assert (found.flops, found.transcendentals, found.bytes_accessed) == (144, 16, 192)


def test_waits_that_never_end_are_found():
    def kernel(x_ref, o_ref, sem):
        pl.semaphore_signal(sem, x_ref[0].astype(np.int32))
        pl.semaphore_wait(sem, 3)
        o_ref[...] = x_ref[...]

    memory = [pl.tpu.SemaphoreType.REGULAR]
    f = functools.partial(pl.pallas_call, kernel, Out((4,), f32), scratch_shapes=memory)
    x = np.arange(2, 6, dtype=f32)
    with pytest.raises(pl.KernelCheckError, match="never ends") as caught:
        f(interpret=pl.tpu.InterpretParams())(x)
    assert "pl.semaphore_wait(sem, 3)" in str(caught.value)
    error, found = checkify.checkify(f())(x)
    assert "never ends" in error.get()
    np.testing.assert_array_equal(f()(x), x)  # compiled, a wait ends at once if its count is data


def test_what_lies_behind_a_bounded_slice_is_not_seen():
    def kernel(x_ref, o_ref):
        o_ref[...] = snp.where(snp.isnan(x_ref[...]), -1.0, x_ref[...])

    block = pl.BlockSpec((pl.BoundedSlice(4),), lambda i: (pl.ds(2 * i, i + 1),))
    out = pl.BlockSpec((4,), lambda i: (i,))
    found = pl.pallas_call(kernel, Out((12,), f32), grid=(3,), in_specs=[block], out_specs=out)(
        snp.arange(10.0)
    )
    assert found.tolist() == [0, -1, -1, -1, 2, 3, -1, -1, 4, 5, 6, -1]


def test_views_of_views_with_traced_indices():
    def kernel(x_ref, o_ref):
        i = pl.program_id(0)
        o_ref[i] = x_ref.at[pl.ds(i, 3)].at[1, pl.ds(i, 2)][...].sum()
        o_ref.at[pl.ds(2, 2)].at[i][...] = x_ref[i, i]

    x = values(4, 4)
    found = pl.pallas_call(kernel, Out((4,), f32), grid=(2,))(x)
    want = [x[1, 0:2].sum(), x[2, 1:3].sum(), x[0, 0], x[1, 1]]
    np.testing.assert_allclose(found, want, rtol=1e-6)
