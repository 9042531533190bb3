"""Semaphores and copies within compiled kernels: counts as in jax's interpreter, waits that never end are refused."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental import pallas as pl
from sagax.experimental.pallas import _plan
from sagax.experimental.pallas import tpu as pltpu

Out = sagax.ShapeDtypeStruct
Sem = pltpu.SemaphoreType
f32 = np.float32
x = np.arange(8, dtype=f32)
anywhere = pl.BlockSpec(memory_space=pl.ANY)
modes = pytest.mark.parametrize("interpret", [False, True, pltpu.InterpretParams()])


def call(kernel, scratch=(), grid=(), interpret=False):
    return pl.pallas_call(
        kernel,
        Out((8,), f32),
        grid=grid,
        in_specs=[anywhere],
        out_specs=anywhere,
        scratch_shapes=scratch,
        interpret=interpret,
    )(x)


@modes
def test_a_copy_adds_its_number_of_elements_until_it_is_waited_for(interpret):
    def kernel(x_ref, o_ref, tmp, sem):
        copy = pltpu.make_async_copy(x_ref, tmp, sem)
        copy.start()
        o_ref[...] = snp.full((8,), pl.semaphore_read(sem), f32)
        copy.wait()
        o_ref[0] = pl.semaphore_read(sem).astype(f32)

    # jax 0.12 gives the same, interpreted
    got = call(kernel, [pltpu.VMEM((8,), f32), Sem.DMA], interpret=interpret)
    assert got.tolist() == [0, 8, 8, 8, 8, 8, 8, 8]


@modes
def test_a_copy_that_one_program_starts_and_the_next_one_waits_for(interpret):
    def kernel(x_ref, o_ref, tmp, sem):
        @pl.when(pl.program_id(0) == 0)
        def _():
            pltpu.make_async_copy(x_ref, tmp, sem).start()

        @pl.when(pl.program_id(0) == 1)
        def _():
            pltpu.make_async_copy(x_ref, tmp, sem).wait()
            o_ref[...] = tmp[...] + 1

    got = call(kernel, [pltpu.VMEM((8,), f32), Sem.DMA], (2,), interpret)
    np.testing.assert_array_equal(got, x + 1)


@modes
def test_two_buffers_by_hand(interpret):
    steps = 4

    def kernel(x_ref, o_ref, tmp, sems):
        def copy(i):
            return pltpu.make_async_copy(x_ref.at[pl.ds(i * 2, 2)], tmp.at[i % 2], sems.at[i % 2])

        copy(0).start()

        def body(i, _):
            @pl.when(i + 1 < steps)
            def _():
                copy(i + 1).start()

            copy(i).wait()
            o_ref[pl.ds(i * 2, 2)] = tmp[i % 2] * 2

        sagax.lax.fori_loop(0, steps, body, None)

    got = call(kernel, [pltpu.VMEM((2, 2), f32), Sem.DMA((2,))], interpret=interpret)
    np.testing.assert_array_equal(got, x * 2)


@modes
def test_semaphores_of_a_scope_and_of_a_loop(interpret):
    def kernel(x_ref, o_ref):
        def scope(sem, copied, tmp):
            @pl.loop(0, 4)
            def _(i):
                pl.semaphore_signal(sem)

            pl.semaphore_wait(sem, 3)
            pltpu.async_copy(x_ref, tmp, copied).wait()
            o_ref[...] = tmp[...] + pl.semaphore_read(sem).astype(f32)

        pl.run_scoped(scope, Sem.REGULAR, Sem.DMA, pltpu.VMEM((8,), f32))

    np.testing.assert_array_equal(call(kernel, interpret=interpret), x + 1)


def signals_too_little(x_ref, o_ref, sem):
    pl.semaphore_signal(sem, 2)
    pl.semaphore_wait(sem, 3)
    o_ref[...] = x_ref[...]


def waits_without_decrement(x_ref, o_ref, sem):
    pl.semaphore_wait(sem, 1, decrement=False)
    o_ref[...] = x_ref[...]


def waits_in_a_loop(x_ref, o_ref, sem):
    @pl.loop(0, 3)
    def _(i):
        pl.semaphore_wait(sem)

    o_ref[...] = x_ref[...]


def waits_in_the_first_program(x_ref, o_ref, sem):
    @pl.when(pl.program_id(0) == 0)
    def _():
        pl.semaphore_wait(sem)

    @pl.when(pl.program_id(0) == 1)
    def _():
        pl.semaphore_signal(sem)

    o_ref[...] = x_ref[...]


def waits_in_a_scope(x_ref, o_ref, _):
    pl.run_scoped(lambda s: pl.semaphore_wait(s.at[1]), Sem.REGULAR((2,)))
    o_ref[...] = x_ref[...]


def never_starts(x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).wait()


@pytest.mark.parametrize(
    "kernel",
    [
        signals_too_little,
        waits_without_decrement,
        waits_in_a_loop,
        waits_in_the_first_program,
        waits_in_a_scope,
        never_starts,
    ],
)
def test_a_wait_that_never_ends_is_refused_when_the_kernel_is_traced(kernel):
    with pytest.raises(
        pl.KernelCheckError, match="program .0,. of .*: a wait .* never ends"
    ) as error:
        sagax.make_jaxpr(lambda: call(kernel, [Sem.REGULAR], (2,)))()
    text = str(error.value)
    assert "wait" in text.split("-->")[1]  # the line
    assert "start the copy" in text.replace("\n     ", " ")  # the fix


def test_waits_whose_counts_are_not_known_are_not_refused():
    def kernel(x_ref, o_ref, sem):
        pl.semaphore_signal(sem, x_ref[3].astype(np.int32))
        pl.semaphore_wait(sem, 3)
        o_ref[...] = x_ref[...]

    np.testing.assert_array_equal(call(kernel, [Sem.REGULAR]), x)


def test_semaphores_that_nothing_reads_do_not_order_programs():
    def kernel(x_ref, o_ref, tmp, sem):
        pltpu.async_copy(x_ref, tmp, sem).wait()
        o_ref[...] = tmp[...] * 2

    def reads(x_ref, o_ref, tmp, sem):
        pltpu.async_copy(x_ref, tmp, sem).start()
        o_ref[...] = tmp[...] + pl.semaphore_read(sem).astype(f32)

    spec = pl.BlockSpec((2,), lambda i: (i,))

    def axes(kernel):
        f = pl.pallas_call(
            kernel, Out((8,), f32), grid=(4,), in_specs=[spec], out_specs=spec,
            scratch_shapes=[pltpu.VMEM((2,), f32), Sem.DMA],
        )  # fmt: skip
        jaxpr = sagax.make_jaxpr(f)(x)
        return _plan.parallel_axes(jaxpr.jaxpr.eqns[0].params["kernel"]), f(x)

    found, got = axes(kernel)
    assert found == (0,)
    np.testing.assert_array_equal(got, x * 2)
    assert axes(reads)[0] == ()
