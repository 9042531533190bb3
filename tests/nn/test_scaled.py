"""Scaled products beside jax's results, which are written here, and beside their definition."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from sagax import nn

BATCHED = (((2,), (2,)), ((0,), (0,)))


def operands():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(2, 3, 64)) * 10.0 ** rng.integers(-3, 3, (2, 3, 64))
    return a.astype(np.float32), rng.normal(size=(2, 5, 64)).astype(np.float32), rng


# the first results, of jax 0.12
RECORDED = {
    "mxfp8": [-408.71866, 50.305206, -618.3579, 930.42883, 436.47018, 265.54883],
    "nvfp4": [-368.59375, 64.03125, -598.1094, 948.875, 480.71875, 239.96094],
    "mxfp4": [-464.0, 96.0, -520.0, 784.0, 416.0, 307.5],
}
RECORDED_GRADIENTS = (
    [113.17578, 43.20215, -33.82422, 47.058594, 11.494141],
    [262.79102, 68.03345, -139.12598, 65.16797, 74.40234],
)


@pytest.mark.parametrize("mode", RECORDED)
def test_quantized_products_are_those_of_jax(mode):
    a, b, _ = operands()
    scale = [np.array([0.5], np.float32)] if mode == "nvfp4" else []
    config = nn.get_scaled_dot_general_config(mode, *scale)
    out = nn.scaled_dot_general(a, b, BATCHED, configs=[config] * 3)
    assert out.shape == (2, 3, 5)
    np.testing.assert_allclose(np.ravel(out)[:6], RECORDED[mode], rtol=1e-6)


def test_quantized_gradients_are_those_of_jax():
    _, _, rng = operands()
    a = rng.normal(size=(1, 64, 64)).astype(np.float32)
    b = rng.normal(size=(1, 32, 64)).astype(np.float32)
    config = nn.get_scaled_dot_general_config("mxfp8")

    def loss(a, b):
        return (nn.scaled_dot_general(a, b, BATCHED, configs=[config] * 3) ** 2).sum()

    found = sagax.jit(sagax.grad(loss, (0, 1)))(a, b)
    for gradient, recorded in zip(found, RECORDED_GRADIENTS, strict=True):
        np.testing.assert_allclose(np.ravel(gradient)[:5], recorded, rtol=1e-6)


def test_dimensions_and_no_configs():
    a, b, _ = operands()
    plain = nn.scaled_dot_general(a, b, (((2,), (2,)), ((), ())))
    np.testing.assert_allclose(plain, np.einsum("imk,jnk->imjn", a, b), rtol=1e-4, atol=1e-2)
    config = nn.get_scaled_dot_general_config("mxfp8")
    turned = nn.scaled_dot_general(
        a.transpose(2, 0, 1), b, (((0,), (2,)), ((1,), (0,))), configs=[config] * 3
    )
    straight = nn.scaled_dot_general(a, b, BATCHED, configs=[config] * 3)
    np.testing.assert_array_equal(turned, straight)


def test_scaled_matmul():
    a, b, rng = operands()
    s, t = rng.uniform(0.5, 2, (2, 3, 4)), rng.uniform(0.5, 2, (2, 5, 2))
    out = nn.scaled_matmul(a, b, s.astype(np.float32), t.astype(np.float32), "bfloat16")
    expected = np.einsum("bmk,bnk->bmn", a * np.repeat(s, 16, 2), b * np.repeat(t, 32, 2))
    assert out.dtype.name == "bfloat16"
    np.testing.assert_allclose(out.astype(np.float32), expected, rtol=2e-2, atol=1)


def test_what_is_refused():
    a, b, _ = operands()
    with pytest.raises(ValueError, match="Unsupported mode: int3"):
        nn.get_scaled_dot_general_config("int3")
    with pytest.raises(ValueError, match="global_scale"):
        nn.get_scaled_dot_general_config("mxfp8", 2.0)
    config = nn.get_scaled_dot_general_config("mxfp8")
    with pytest.raises(TypeError, match="configs"):
        nn.scaled_dot_general(a, b, BATCHED, configs=[config])
    with pytest.raises(TypeError, match="multiple of 32"):
        nn.scaled_dot_general(a[..., :33], b[..., :33], BATCHED, configs=[config] * 3)
    with pytest.raises(TypeError, match="lhs_scales"):
        nn.scaled_matmul(a, b, np.ones((2, 3, 5)), np.ones((2, 5, 2)))
