"""Positions of extrema along long axes, by two reductions, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning

RNG = np.random.default_rng(0)
NAMES = ["argmax", "argmin"]
SHAPES = [((5000,), 0), ((30, 300), 1), ((300, 30), 0), ((4, 70, 20), 1)]


def operand(kind, shape):
    if kind == "ties":
        return RNG.integers(-2, 2, shape).astype(np.float32)
    if kind == "int32":
        return RNG.integers(-9, 9, shape).astype(np.int32)
    if kind == "uint8":
        return RNG.integers(0, 255, shape).astype(np.uint8)
    if kind == "zeros":
        return RNG.choice(np.array([0.0, -0.0], np.float32), shape)
    if kind == "infinite":
        sign = RNG.choice([-1, 1], shape[:1] + (1,) * (len(shape) - 1))
        return np.broadcast_to(sign * np.inf, shape).astype(np.float32)
    x = RNG.standard_normal(shape).astype(np.float32 if kind == "nan" else kind)
    if kind == "nan":
        x[RNG.random(shape) < 0.01] = np.nan
    return x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize(
    "kind", ["float32", "float16", "ties", "int32", "uint8", "zeros", "infinite", "nan"]
)
def test_positions(kind, shape, axis, name):
    x = operand(kind, shape)
    f = sagax.jit(lambda x: getattr(snp, name)(x, axis=axis))
    assert np.array_equal(f(x), getattr(np, name)(x, axis=axis))
    text = f.lower(x).as_text()
    assert "optimization_barrier" in text
    with sagax.config.context(exact=True):
        assert np.array_equal(f(x), getattr(np, name)(x, axis=axis))


def test_what_one_reduction_does():
    def text(shape, axis, dtype=np.int32):
        x = np.ones(shape, np.float32)
        f = sagax.jit(lambda x: lax.argmax(x, axis, dtype))
        assert np.array_equal(f(x), np.zeros_like(f(x)))
        return f.lower(x).as_text()

    few = tuning.ARGMAX_MIN_LENGTH - 1
    assert "barrier" not in text((1000, few), 1)
    assert "barrier" not in text((2, 100), 1)
    assert "barrier" not in text((100, 100), 1, np.uint8)
    assert "barrier" in text((100, 100), 1)


def test_vmap_and_draws():
    x = RNG.standard_normal((6, 9, 500)).astype(np.float32)
    assert np.array_equal(sagax.jit(sagax.vmap(lambda x: snp.argmax(x, 1)))(x), x.argmax(2))
    key = sagax.random.key(0)
    logits = RNG.standard_normal((50, 200)).astype(np.float32)
    found = sagax.jit(sagax.random.categorical)(key, logits)
    noise = np.asarray(sagax.random.gumbel(key, logits.shape))
    assert np.array_equal(found, (noise + logits).argmax(1))
