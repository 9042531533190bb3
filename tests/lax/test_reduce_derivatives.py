"""Derivatives of `lax.reduce` with a computation of one's own: those of the formula that it computes."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

X = np.random.default_rng(3).uniform(0.5, 1.5, (3, 5, 4)).astype(np.float32)


def product(x, axes, start=1.0):
    return lax.reduce(x, np.float32(start), lambda a, b: a * b * 1.0, axes)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_products(axes):
    want = np.prod(X, axes, keepdims=True) / X
    found = sagax.grad(lambda x: product(x, axes).sum())
    np.testing.assert_allclose(found(X), want, rtol=1e-5)
    np.testing.assert_allclose(sagax.jit(found)(X), want, rtol=1e-5)
    tangent = sagax.jvp(lambda x: product(x, axes), (X,), (X,))[1]
    count = np.prod([X.shape[a] for a in axes])
    np.testing.assert_allclose(tangent, count * np.prod(X, axes), rtol=1e-4)


@pytest.mark.parametrize("start", [snp.int32(0), snp.float16(0), snp.float32(0)])
def test_a_neutral_element_may_be_an_array_of_any_dtype(start):
    found = sagax.jit(lambda x: lax.reduce(x, start, lax.add, (0,)))(X[0])
    np.testing.assert_allclose(found, X[0].sum(0), rtol=1e-6)
    assert found.dtype == np.float32


def test_an_array_that_is_not_neutral_needs_the_dtype_of_the_operand():
    with pytest.raises(TypeError):
        lax.reduce(X[0], snp.int32(1), lax.add, (0,))


def test_logarithms_of_sums_and_their_second_derivatives():
    def total(x):
        return lax.reduce(x, np.float32(-np.inf), snp.logaddexp, (0,))

    x = X[0, 0]
    p = np.exp(x) / np.exp(x).sum()
    np.testing.assert_allclose(sagax.grad(total)(x), p, rtol=1e-5)
    np.testing.assert_allclose(sagax.hessian(total)(x), np.diag(p) - np.outer(p, p), atol=1e-6)
    batch = sagax.vmap(sagax.grad(total))(X[0])
    np.testing.assert_allclose(batch, np.exp(X[0]) / np.exp(X[0]).sum(1, keepdims=True), rtol=1e-5)


def test_pairs_initial_values_and_nothing():
    def affine(a, b):  # composition of x -> k x + c
        return a[0] * b[0], a[1] * b[0] + b[1]

    k, c = X[0, :, 0], X[1, :, 0]

    def last(k, c):
        return lax.reduce((k, c), (np.float32(1), np.float32(0)), affine, (0,))[1]

    by_c = [np.prod(k[i + 1 :]) for i in range(5)]
    np.testing.assert_allclose(sagax.grad(last, 1)(k, c), by_c, rtol=1e-5)
    by_k = [by_c[i] * sum(c[j] * np.prod(k[j + 1 : i]) for j in range(i)) for i in range(5)]
    np.testing.assert_allclose(sagax.grad(last)(k, c), by_k, rtol=1e-4, atol=1e-6)
    start = sagax.grad(lambda i: lax.reduce(k, i, lambda a, b: a + b + a * b, (0,)))
    np.testing.assert_allclose(start(0.0), np.prod(1 + k), rtol=1e-5)
    assert sagax.grad(lambda x: product(x, (0,)))(snp.zeros(0)).shape == (0,)
