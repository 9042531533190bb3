"""Small functions: polynomials, minima with maxima, types of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import SagaxError


def test_polynomials():
    x = snp.linspace(-1.0, 2.0, 5)
    coefficients = [1.0, -2.0, 0.0, 3.0]
    expected = np.polynomial.polynomial.polyval(np.asarray(x), coefficients)
    np.testing.assert_allclose(lax.polynomial(x, coefficients), expected, rtol=1e-6, atol=1e-6)
    slope = np.polynomial.polynomial.polyval(0.5, [-2.0, 0.0, 9.0])
    assert float(sagax.grad(lambda x: lax.polynomial(x, coefficients))(0.5)) == pytest.approx(slope)
    assert lax.polynomial(x, [snp.float32(7)]).tolist() == [7.0] * 5
    with pytest.raises(SagaxError, match="at least one coefficient"):
        lax.polynomial(x, [])


def test_minima_with_maxima():
    a = np.array([[3, 1, 2], [9, 7, 8]])
    for options in (
        {},
        {"axis": 1},
        {"axis": 0, "keepdims": True},
        {"where": a > 1, "initial": (9, 0)},
    ):
        initial = options.get("initial", (None, None))
        given = {k: v for k, v in options.items() if k != "initial"}
        low, high = (
            f(a, **given, **({} if i is None else {"initial": i}))
            for f, i in zip((np.min, np.max), initial, strict=True)
        )
        found = snp.minmax(a, **options)
        np.testing.assert_array_equal(found[0], low)
        np.testing.assert_array_equal(found[1], high)


def test_types_like_arrays():
    like = sagax.ShapeDtypeStruct.like
    assert like(snp.zeros((2, 3))) == sagax.ShapeDtypeStruct((2, 3), np.float32)
    assert like(1.5).weak_type
    assert like(np.zeros(2, np.int32)).dtype == np.int32
    placed = sagax.device_put(snp.zeros(2), sagax.devices()[0])
    assert like(placed).sharding == placed.sharding


def test_a_real_product_of_complex_matrices_is_the_real_part_of_their_product():
    c = snp.array([[1 + 1j, 2j], [3, 1j]])
    found = lax.dot(c, c, preferred_element_type=np.float32)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[0, -4], [3, -1]])  # jax's
    np.testing.assert_array_equal(found, (np.asarray(c) @ np.asarray(c)).real)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_a_complex_number_does_not_fill_real_arrays(dtype):
    with pytest.raises(TypeError, match="real number"):
        lax.full((2,), 1j, dtype)
    with pytest.raises(TypeError, match="real number"):
        lax.full_like(snp.ones(2, dtype), 1j)
    assert lax.full((2,), 1j, "complex64").dtype == np.complex64
