"""Test that reductions keep NaNs, also where XLA's code for CPUs loses them."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning, xla

SHAPES = [(8192,), (64, 64), (1000, 8), (3, 2000), (2, 3, 1000), (16, 2)]


def _with_nan(shape, at=-1, dtype=np.float32):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x.reshape(-1)[at] = np.nan
    return x


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [-1, 0, None])
def test_extrema_are_nan_where_an_element_is(name, shape, axis):
    for at in (0, -1):
        x = _with_nan(shape, at)
        expected = getattr(np, name)(x, axis)
        found = sagax.jit(getattr(snp, name), static_argnames="axis")(x, axis=axis)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(getattr(snp, name)(snp.asarray(x), axis=axis), expected)


def test_infinite_elements_are_no_nans():
    x = _with_nan((64, 128))
    x[3, 5], x[3, 7], x[9, 1], x[11] = np.inf, -np.inf, np.inf, 3e38
    np.testing.assert_array_equal(sagax.jit(lambda x: x.max(1))(x), x.max(1))
    np.testing.assert_array_equal(sagax.jit(lambda x: x.min(1))(x), x.min(1))
    np.testing.assert_array_equal(sagax.jit(lambda x: x.max(0))(x), x.max(0))


def test_double_precision():
    x = _with_nan((64, 128), dtype=np.float64)
    x[0, 0] = 1.7e308
    with sagax.enable_x64():
        found = sagax.jit(lambda x: x.max(1))(x)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, x.max(1))


LOSSES = {
    "hinge": lambda x: snp.maximum(0, 1 - x).sum(),
    "rectified": lambda x: snp.maximum(x, 0).mean(),
    "squared": lambda x: (snp.minimum(x, 2) ** 2).sum(1),
    "clipped": lambda x: snp.clip(x, 0, None).sum(),
    "rectifier of nn": lambda x: sagax.nn.relu(x).sum(0),
    "after another operation": lambda x: snp.exp(snp.minimum(x, 1)).sum(),
    "in a loop": lambda x: lax.fori_loop(
        0, 2, lambda i, t: t + snp.maximum(x, i).sum(1), 0 * x[:, 0]
    ),
    "of extrema": lambda x: snp.maximum(x, 0).max(1),
    "normalized exponentials": lambda x: _softmax(snp.minimum(x, 1)),
    "in a jitted function": lambda x: sagax.jit(lambda x: snp.maximum(x, 0))(x).sum(1),
    "in a checkpoint": lambda x: sagax.checkpoint(lambda x: snp.maximum(x, 0))(x).sum(1),
    "with a rule of its own": lambda x: _rectified(x).sum(1),
}


@sagax.custom_jvp
def _rectified(x):
    return snp.maximum(x, 0)


_rectified.defjvps(lambda t, out, x: t)


@pytest.mark.parametrize("loss", LOSSES)
def test_sums_of_extrema_are_nan_where_an_element_is(loss):
    x = _with_nan((100, 100))
    assert np.isnan(sagax.jit(LOSSES[loss])(x)).any()
    with sagax.config.context(exact=True):
        assert np.isnan(sagax.jit(LOSSES[loss])(x)).any()
    plain = np.nan_to_num(x)
    assert np.isfinite(sagax.jit(LOSSES[loss])(plain)).all()


def test_zeros_keep_their_signs():
    zeros = np.zeros(tuning.LEAST_SIZE_THAT_LOSES_NAN, np.float32)
    assert not np.signbit(sagax.jit(snp.maximum)(zeros, -zeros)).any()
    assert not np.signbit(sagax.jit(snp.maximum)(-zeros, zeros)).any()
    assert np.signbit(sagax.jit(snp.minimum)(zeros, -zeros)).all()
    assert np.signbit(sagax.jit(snp.minimum)(-zeros, zeros)).all()


def _attention(x, axis):
    """Return sums of exponentials, with the maximum found block by block."""

    def body(i, carry):
        most, total = carry
        part = lax.dynamic_slice_in_dim(x, 64 * i, 64, 1)
        new = snp.maximum(most, part.max(1))
        return new, total * snp.exp(most - new) + snp.exp(part - new[:, None]).sum(1)

    start = snp.full(x.shape[0], -1e30), snp.zeros(x.shape[0])
    return lax.fori_loop(0, x.shape[1] // 64, body, start)[1]


@pytest.mark.parametrize(
    "f",
    [sagax.nn.softmax, sagax.nn.log_softmax, sagax.nn.logsumexp, _attention]
    + [lambda x, axis: _softmax(x)],
)
def test_functions_that_shift_by_a_maximum_keep_nans_by_row(f):
    x = _with_nan((64, 128))
    found = np.asarray(sagax.jit(lambda x: f(x, axis=1))(x))
    assert np.isnan(found[-1]).all()
    assert np.isfinite(found[:-1]).all()


@pytest.mark.parametrize("shape", [(4096, 16), (100, 64), (2, 5000, 8)], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_rows_that_are_not_finite(shape, axis, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    rows = np.moveaxis(x, axis, -1)
    rows[..., 0, :] = -np.inf
    rows[..., 1, 0] = np.nan
    rows[..., 2, 0] = np.inf
    rows[..., 3, :2] = np.inf
    rows[..., 4, 1] = -np.inf
    shift = x.max(axis, keepdims=True)
    with np.errstate(invalid="ignore"):
        less = (x - shift).astype(np.float64)
    expected = np.exp(less) / np.exp(less).sum(axis, keepdims=True)
    with sagax.enable_x64(dtype == np.float64):
        found = sagax.jit(lambda x: sagax.nn.softmax(x, axis))(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, 1e-5 if dtype == np.float32 else 1e-13, 1e-30)
        found = sagax.jit(lambda x: sagax.nn.log_softmax(x, axis))(x)
        np.testing.assert_allclose(np.exp(found), expected, 2e-5, 1e-30)


@pytest.mark.skipif(not xla.loses_nans, reason="earlier XLA does not fuse a reduction so")
def test_maximum_and_exponentials_are_compiled_as_one_kernel():
    compiled = sagax.jit(sagax.nn.softmax).lower(np.ones((1000, 1000), np.float32)).compile()
    (kernel,) = [k for k in compiled.as_text().split("\n\n") if " exponential(" in k]
    assert " reduce(" in kernel


def _count(f, x):
    return sagax.jit(f).lower(x).as_text().count("stablehlo.reduce")


@pytest.mark.skipif(not xla.loses_nans, reason="the engine keeps NaNs by itself")
def test_what_shifts_and_what_is_small_is_not_looked_through():
    small = np.ones(tuning.LEAST_SIZE_THAT_LOSES_NAN - 1, np.float32)
    large = np.ones((64, 128), np.float32)
    assert _count(snp.max, small) == 1
    assert _count(snp.max, large) == 2
    assert _count(sagax.nn.softmax, large) == 2
    assert _count(sagax.grad(lambda x: sagax.nn.logsumexp(x, axis=1).sum()), large) <= 3
    assert _count(lambda x: x.astype(int).max(), large) == 1
    stopped = lambda x: lax.stop_gradient(x).max(1)  # noqa: E731
    assert _count(stopped, large) == 2
    assert _count(_softmax, large) == 2
    assert _count(lambda x: x - x.max(1, keepdims=True), large) == 2


def _softmax(x):
    e = snp.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_derivatives_and_batches():
    x = np.random.default_rng(0).normal(size=(4, 64, 64)).astype(np.float32)
    slope = sagax.jit(sagax.vmap(sagax.grad(lambda x: x.max(1).sum())))(x)
    np.testing.assert_array_equal(slope, (x == x.max(2, keepdims=True)).astype(np.float32))


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((70_001,), None), ((16 * 5000,), 0), ((300, 301), None), ((300, 301), 0), ((50, 2003), 1), ((7, 100, 130), (0, 1)),
        ((7, 100, 130), (1, 2)), ((7, 1000, 13), 1), ((7, 100, 130), (0, 2)), ((200_000, 1), 0), ((1, 100_000), 0), ((1, 100_000), 1),
    ],
    ids=str,
)  # fmt: skip
def test_large_arrays_are_folded_first(shape, axis):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    fs = [sagax.jit(lambda x, f=f: f(x, axis)) for f in (snp.max, snp.min)]
    for at in (None, 0, -1, 12_345, x.size // 16, x.size // 2):
        y = x.copy()
        if at is not None:
            y.reshape(-1)[at] = np.nan
        for f, reference in zip(fs, (np.max, np.min), strict=True):
            np.testing.assert_array_equal(f(y), reference(y, axis))
            z = np.where(np.isnan(y), np.float32(9), np.float32(-0.0))
            np.testing.assert_array_equal(f(z), reference(z, axis))


def test_infinite_elements_of_large_arrays():
    x = np.full(100_000, -np.inf, np.float32)
    largest, least = sagax.jit(snp.max), sagax.jit(snp.min)
    assert largest(x) == -np.inf and least(-x) == np.inf
    x[77_777] = np.nan
    assert np.isnan(largest(x)) and np.isnan(least(-x))
    x[77_777] = np.inf
    assert largest(x) == np.inf and least(-x) == -np.inf
    gradient = sagax.jit(sagax.grad(snp.max))(snp.asarray(x))
    assert gradient[77_777] == 1 and gradient.sum() == 1
