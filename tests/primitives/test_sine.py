"""The sine, cosine and tangent of many float32 numbers by a formula, beside Python's in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning, xla

RNG = np.random.default_rng(0)
MANY = 1 << 16


def exponents():
    """Floats of all exponents but those of subnormal numbers, and both signs."""
    bits = RNG.integers(0x00800000, 0x7F800000, MANY, dtype=np.uint32)
    return (bits | RNG.integers(0, 2, MANY, dtype=np.uint32) << 31).view(np.float32)


def near_multiples():
    """The floats next to multiples of pi / 2, where digits cancel."""
    multiples = np.concatenate([np.arange(1, MANY // 2 + 1), RNG.integers(1, 1 << 40, MANY // 2)])
    return np.nextafter(np.float32(multiples * (math.pi / 2)), np.float32(0))


OPERANDS = {
    "all exponents": exponents,
    "near multiples": near_multiples,
    "a turn": lambda: RNG.uniform(-math.pi, math.pi, MANY).astype(np.float32),
    "hardest": lambda: np.full(MANY, 16367173 * 2.0**72, np.float32),
}


@pytest.mark.parametrize("make", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_values(name, make):
    x = make()
    exact = np.array([getattr(math, name)(v) for v in x.tolist()])
    found = np.asarray(sagax.jit(getattr(snp, name))(x), np.float64)
    ulp = np.spacing(np.maximum(np.abs(exact).astype(np.float32), np.float32(2e-38)))
    assert (np.abs(found - exact) / ulp).max() < 0.51


def test_special_values():
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-30], np.float32)
    x = np.resize(special, tuning.SINE_MIN_ELEMENTS)
    found = np.asarray(sagax.jit(snp.sin)(x))[:8]
    nan = np.float32(np.nan)
    expected = np.array([0.0, -0.0, nan, nan, nan, 1e-40, -1e-40, 1e-30], np.float32)
    assert np.array_equal(
        found.view(np.int32)[[0, 1, 5, 6, 7]], expected.view(np.int32)[[0, 1, 5, 6, 7]]
    )
    assert np.isnan(found[2:5]).all()
    tangent = np.asarray(sagax.jit(snp.tan)(x))[:8]
    assert np.array_equal(tangent.view(np.int32), found.view(np.int32))
    cosine = np.asarray(sagax.jit(snp.cos)(x))[:8]
    assert np.array_equal(cosine, [1, 1, nan, nan, nan, 1, 1, 1], equal_nan=True)


def test_derivatives_and_vmap():
    x = RNG.uniform(-9, 9, (64, 1024)).astype(np.float32)
    back = sagax.jit(sagax.grad(lambda x: snp.sum(snp.sin(x) + 2 * snp.cos(x))))(x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(back, np.cos(wide) - 2 * np.sin(wide), rtol=0, atol=4e-7)
    np.testing.assert_allclose(sagax.jit(sagax.vmap(snp.sin))(x), np.sin(wide), rtol=0, atol=6e-8)
    slope = sagax.jit(sagax.grad(lambda x: snp.sum(snp.tan(x))))(x)
    np.testing.assert_allclose(slope, 1 / np.cos(wide) ** 2, rtol=1e-6)


def test_where_xla_computes_it():
    def text(x, f=snp.sin):
        return sagax.jit(f).lower(x).as_text()

    many = np.ones(tuning.SINE_MIN_ELEMENTS, np.float32)
    assert "stablehlo.sine" not in text(many)
    assert "stablehlo.sine" in text(many[1:])
    assert "stablehlo.sine" in text(many.astype(np.float16))
    assert "stablehlo.sine" in text(many, lambda x: lax.sin(x, accuracy=lax.AccuracyMode.HIGHEST))
    with sagax.config.context(exact=True):
        assert "stablehlo.sine" in text(many)
    # by itself and within `jit(exact=True)` the operation has the same bits
    x = snp.asarray(RNG.uniform(-99, 99, MANY).astype(np.float32))
    exactly = sagax.jit(lambda x: snp.sin(x * 1.5) * 1.1, exact=True)(x)
    assert np.array_equal(exactly, snp.sin(x * 1.5) * 1.1)


# the one that XLA computes within a reduction, and the one by the formula
REDUCED = {
    "sum": lambda x: snp.sum(snp.sin(x)),
    "chain": lambda x: snp.max(snp.abs(snp.cos(2 * x + 1))),
    "product": lambda x: snp.sin(x) @ x,
    "tangent": lambda x: snp.sum(snp.minimum(snp.tan(x), 5)),
    "in a call": lambda x: sagax.jit(lambda x: snp.sum(snp.sin(x)))(x),
}
KEPT = {
    "result": lambda x: snp.sin(x),
    "both": lambda x: (lambda s: (s, s.sum()))(snp.sin(x)),
    "moved": lambda x: snp.sum(snp.sin(x)[::2]),
    "drawn": lambda x: snp.sum(snp.sin(sagax.random.uniform(sagax.random.key(0), x.shape))),
}


@pytest.mark.parametrize("name", [*REDUCED, *KEPT])
def test_sines_that_reductions_absorb_are_left_to_xla(name):
    f = {**REDUCED, **KEPT}[name]
    x = RNG.uniform(-9, 9, tuning.SINE_MIN_ELEMENTS).astype(np.float32)
    text = sagax.jit(f).lower(x).as_text()
    left = name in REDUCED and xla.reduces_sines
    assert any(f"stablehlo.{op}" in text for op in ("sine", "cosine", "tan ")) == left
    with sagax.config.context(exact=True):
        expected = sagax.jit(f)(x)
    for found, want in zip(sagax.tree.leaves(sagax.jit(f)(x)), sagax.tree.leaves(expected)):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=2e-4)
