"""Test loops over blocks that only add up, which run as one operation on all blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental import checkify
from sagax.experimental import pallas as pl

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (8, 24)).astype(np.float32)
Y = RNG.integers(-4, 5, (24, 6)).astype(np.float32)


def summed(
    kernel: Callable, *, out: tuple = (8, 6), scratch: bool = True, **options: Any
) -> Callable:
    """Return a product of X and Y in blocks of 4 x 8 and 8 x 3; sums of integers, so that any order is exact."""
    return lambda x, y: pl.pallas_call(
        kernel,
        sagax.ShapeDtypeStruct(out, x.dtype),
        grid=(2, 2, 3),
        in_specs=[
            pl.BlockSpec((4, 8), lambda i, j, k: (i, k)),
            pl.BlockSpec((8, 3), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((4, 3), lambda i, j, k: (i, j)),
        scratch_shapes=[pl.ANY((4, 3), snp.float32)] if scratch else (),
        **options,
    )(x, y)


def first() -> Any:
    return pl.program_id(2) == 0


def last() -> Any:
    return pl.program_id(2) == pl.num_programs(2) - 1


def in_scratch(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(first())
    def _():
        acc_ref[...] = snp.zeros_like(acc_ref)

    acc_ref[...] += x_ref[...] @ y_ref[...]

    @pl.when(last())
    def _():
        o_ref[...] = snp.maximum(acc_ref[...], 0) + 1


def in_output(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.full_like(o_ref, 2.0)

    o_ref[...] += x_ref[...] @ y_ref[...]


def first_written(x_ref, y_ref, o_ref):
    part = x_ref[...] @ y_ref[...]

    @pl.when(first())
    def _():
        o_ref[...] = part

    @pl.when(~first())
    def _():
        o_ref[...] += part


def of_constants(x_ref, y_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    o_ref[...] = (2 * x_ref[...]) @ snp.square(y_ref[...]) + o_ref[...]


def of_ones(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] @ (y_ref[...] * 0 + 1)


KERNELS = [
    (in_scratch, lambda x, y: np.maximum(x @ y, 0) + 1),
    (in_output, lambda x, y: x @ y + 2),
    (first_written, lambda x, y: x @ y),
    (of_constants, lambda x, y: 2 * x @ y**2),
    (of_ones, lambda x, y: x @ np.ones_like(y)),
]


@pytest.mark.parametrize(("kernel", "expected"), KERNELS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_tiled_product_is_one_product(kernel, expected):
    f = sagax.jit(summed(kernel, scratch=kernel is in_scratch))
    text = f.lower(X, Y).as_text()
    assert text.count("stablehlo.dot_general") == 1
    assert "stablehlo.while" not in text
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))
    loop = summed(kernel, scratch=kernel is in_scratch, interpret=True)
    np.testing.assert_array_equal(f(X, Y), loop(X, Y))


def reduction(step: Callable, start: float) -> Callable:
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(1) == 0)
        def _():
            o_ref[...] = snp.full_like(o_ref, start)

        o_ref[...] = step(o_ref[...], x_ref[...])

    return lambda x, **options: pl.pallas_call(
        kernel,
        sagax.ShapeDtypeStruct((8,), x.dtype),
        grid=(2, 3),
        in_specs=[pl.BlockSpec((4, 8), lambda i, k: (i, k))],
        out_specs=pl.BlockSpec((4,), lambda i, k: (i,)),
        **options,
    )(x)


@pytest.mark.parametrize(
    ("step", "start", "expected"),
    [
        (lambda o, x: o + x.sum(1), 1.0, lambda x: 1 + x.sum(1)),
        (lambda o, x: o + (x * x).sum(1), 0.0, lambda x: (x * x).sum(1)),
        (
            lambda o, x: snp.maximum(o, snp.abs(x).max(1)),
            3.0,
            lambda x: np.maximum(3, abs(x).max(1)),
        ),
        (lambda o, x: snp.minimum(x.min(1), o), -2.0, lambda x: np.minimum(x.min(1), -2)),
        (lambda o, x: o * x.prod(1), 1.0, lambda x: x.prod(1)),
    ],
    ids=["sum", "squares", "largest", "least", "product"],
)
def test_reductions_over_blocks_are_one_reduction(step, start, expected):
    f = sagax.jit(reduction(step, start))
    assert "stablehlo.while" not in f.lower(X).as_text()
    np.testing.assert_array_equal(f(X), expected(X))


def decayed(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    o_ref[...] = 0.5 * o_ref[...] + x_ref[...] @ y_ref[...]


def weighted(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] @ y_ref[...] * (1 + pl.program_id(2))


def first_differs(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = 3 * (x_ref[...] @ y_ref[...])

    @pl.when(~first())
    def _():
        o_ref[...] += x_ref[...] @ y_ref[...]


def last_differs(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    @pl.when(~last())
    def _():
        o_ref[...] += x_ref[...] @ y_ref[...]

    @pl.when(last())
    def _():
        o_ref[...] += 2 * (x_ref[...] @ y_ref[...])


def clipped(x_ref, y_ref, o_ref):
    @pl.when(first())
    def _():
        o_ref[...] = snp.zeros_like(o_ref)

    o_ref[...] = snp.minimum(o_ref[...] + x_ref[...] @ y_ref[...], 20)


def _parts(x: Any, y: Any) -> list:
    return [x[:, k : k + 8] @ y[k : k + 8] for k in (0, 8, 16)]


def _clip(x: Any, y: Any) -> Any:
    total = np.zeros((8, 6), np.float32)
    for part in _parts(x, y):
        total = np.minimum(total + part, 20)
    return total


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (decayed, lambda a, b, c: 0.25 * a + 0.5 * b + c),
        (weighted, lambda a, b, c: a + 2 * b + 3 * c),
        (first_differs, lambda a, b, c: 3 * a + b + c),
        (last_differs, lambda a, b, c: a + b + 2 * c),
        (clipped, None),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
@pytest.mark.own_promotion("dtype")
def test_what_does_more_than_add_up_stays_a_loop(kernel, expected):
    found = sagax.jit(summed(kernel, scratch=False))(X, Y)
    np.testing.assert_array_equal(found, expected(*_parts(X, Y)) if expected else _clip(X, Y))


def test_two_accumulators_and_a_count_that_the_end_reads():
    def kernel(x_ref, o_ref, total_ref, squares_ref):
        @pl.when(pl.program_id(1) == 0)
        def _():
            total_ref[...] = snp.zeros_like(total_ref)
            squares_ref[...] = snp.zeros_like(squares_ref)

        x = x_ref[...]
        total_ref[...] += x.sum(1)
        squares_ref[...] += (x * x).sum(1)

        @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
        def _():
            count = pl.num_programs(1) * 8
            o_ref[...] = squares_ref[...] * count - total_ref[...] ** 2

    f = sagax.jit(
        lambda x: pl.pallas_call(
            kernel,
            sagax.ShapeDtypeStruct((8,), x.dtype),
            grid=(2, 3),
            in_specs=[pl.BlockSpec((4, 8), lambda i, k: (i, k))],
            out_specs=pl.BlockSpec((4,), lambda i, k: (i,)),
            scratch_shapes=[pl.ANY((4,), snp.float32)] * 2,
        )(x)
    )
    assert "stablehlo.while" not in f.lower(X).as_text()
    np.testing.assert_array_equal(f(X), 24 * (X * X).sum(1) - X.sum(1) ** 2)


def test_blocks_that_are_read_twice_stay_a_loop():
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        o_ref[...] += x_ref[...].sum(1)

    f = sagax.jit(
        lambda x: pl.pallas_call(
            kernel,
            sagax.ShapeDtypeStruct((8,), x.dtype),
            grid=(4,),
            in_specs=[pl.BlockSpec((8, 8), lambda k: (0, k % 2))],
            out_specs=pl.BlockSpec((8,), lambda k: (0,)),
        )(x)
    )
    np.testing.assert_array_equal(f(X), 2 * X[:, :16].sum(1))


def test_derivatives_and_rows_of_a_sum_over_blocks():
    f = summed(in_output, scratch=False)
    slopes = sagax.jit(sagax.grad(lambda x, y: f(x, y).sum(), (0, 1)))(X, Y)
    np.testing.assert_array_equal(slopes[0], np.ones((8, 6), np.float32) @ Y.T)
    np.testing.assert_array_equal(slopes[1], X.T @ np.ones((8, 6), np.float32))
    rows = np.stack([X, 2 * X])
    found = sagax.jit(sagax.vmap(f, (0, None)))(rows, Y)
    np.testing.assert_array_equal(found, rows @ Y + 2)


@pytest.mark.parametrize("check", [checkify.check, checkify.debug_check])
def test_checks_happen_in_each_iteration(check):
    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        check(x_ref[0, 0] < 3, "large: {}", x_ref[0, 0])
        o_ref[...] += x_ref[...].sum(1)

    def f(x):
        return pl.pallas_call(
            kernel,
            sagax.ShapeDtypeStruct((2,), x.dtype),
            grid=(3,),
            in_specs=[pl.BlockSpec((2, 2), lambda k: (0, k))],
            out_specs=pl.BlockSpec((2,), lambda k: (0,)),
        )(x)

    x = np.zeros((2, 6), np.float32)
    x[0, 2] = 5
    error, found = checkify.checkify(sagax.jit(f))(x)
    assert "large: 5" in (error.get() or "")
    np.testing.assert_array_equal(found, [5, 0])


def test_a_small_dtype_is_added_up_in_it():
    x = np.full((4, 8), 100, np.int8)

    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        o_ref[...] += x_ref[...].sum(1, dtype=snp.int8)

    f = sagax.jit(
        lambda x: pl.pallas_call(
            kernel,
            sagax.ShapeDtypeStruct((4,), x.dtype),
            grid=(4,),
            in_specs=[pl.BlockSpec((4, 2), lambda k: (0, k))],
            out_specs=pl.BlockSpec((4,), lambda k: (0,)),
        )(x)
    )
    np.testing.assert_array_equal(f(x), np.full(4, 800 - 3 * 256, np.int8))
