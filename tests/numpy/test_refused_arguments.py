"""Check that arguments without a meaning are refused by name, as in jax, and that none is cut to fit."""

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, random
from sagax.scipy import linalg, signal, special

X = np.arange(3, dtype=np.float32)
V = snp.asarray(X)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "ptp", "nansum", "nanmax", "cumsum", "argmax"]
)
def test_reductions_refuse_ints_of_more_than_32_bits(name):
    reduce = getattr(snp, name)
    with pytest.raises(OverflowError, match="1099511627776 does not fit int32"):
        reduce(2**40)
    with pytest.raises(OverflowError, match="1099511627776 does not fit int32"):
        sagax.jit(lambda: reduce(2**40))()
    assert reduce(5).shape == (1,) * (name == "cumsum")


def test_the_dtype_of_a_sum_may_be_narrower_than_its_operand():
    assert int(snp.sum(300, dtype="int8")) == int(np.int32(300).astype(np.int8))


REFUSED = {
    "zeros(3, x)": (lambda: snp.zeros(3, V), "dtype=arr.dtype"),
    "astype(x)": (lambda: V.astype(V), "dtype=arr.dtype"),
    "random(dtype=x)": (lambda: random.normal(random.key(0), (3,), V), "dtype=arr.dtype"),
    "clip(1j)": (lambda: snp.clip(snp.array([1j])), "complex"),
    "pad(True)": (lambda: snp.pad(V, True), "pad_width"),
    "extract(size=-1)": (lambda: snp.extract(V > 0, V, size=-1), "size"),
    "compress(size=7)": (lambda: snp.compress(V > 0, V, size=7), "size"),
    "argmax(axis=[[0]])": (lambda: snp.argmax(V, axis=np.array([0])), "axis"),
    "linspace(axis=[0])": (lambda: snp.linspace(0, 1, 5, axis=[0]), "axis"),
    "einsum(x)": (lambda: snp.einsum(V), "subscripts"),
    "select(1, x)": (lambda: snp.select(1, V), "condlist"),
    "arange(nan)": (lambda: snp.arange(np.nan), "not finite"),
    "reduce(1.5)": (lambda: lax.reduce(V, 0.0, 1.5, (0,)), "computation"),
    "dynamic_slice": (lambda: lax.dynamic_slice(V, 1j, (1,)), "start_indices"),
    "dot(int8)": (lambda: lax.dot(np.ones(3, int), np.ones(3, int), preferred_element_type="int8"), "narrower"),
    "erf()": (lambda: special.erf(), "missing"),
    "hilbert(1.5)": (lambda: linalg.hilbert(1.5), "argument n"),
    "cho_solve(x)": (lambda: linalg.cho_solve(V, V), "c_and_lower"),
    "dft(int)": (lambda: linalg.dft(3, dtype=int), "complex dtype"),
    "fftconvolve": (lambda: signal.fftconvolve(V, V, axes=99), "axes"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    call, words = REFUSED[name]
    with pytest.raises(sagax.errors.SagaxError, match=words):
        call()


def test_what_jax_accepts():
    """Expected values are NumPy's, or SciPy's."""
    assert float(snp.sum(V, axis=np.array([0]))) == 3
    assert snp.shape(sagax.ShapeDtypeStruct((2, 3), float)) == (2, 3)
    assert snp.ndim(None) == 0 and snp.size([V, V]) == 6 and snp.size("abc") == 1
    twice = snp.fft.fftshift(V, axes=(0, 0))
    np.testing.assert_array_equal(twice, np.fft.fftshift(X, axes=(0, 0)))
    np.testing.assert_array_equal(lax.polynomial(V, [1, snp.arange(3)]), 1 + X * np.arange(3))
    np.testing.assert_array_equal(lax.one_minus_square(snp.arange(3)), 1 - np.arange(3) ** 2)
    np.testing.assert_allclose(special.sici(-3.0)[1], 0.1196297860080003, rtol=1e-6)  # Ci(3)
    np.testing.assert_array_equal(special.sici(np.array([np.inf, -np.inf]))[1], [0.0, np.nan])
    np.testing.assert_allclose(signal.detrend([1.0, 2.0, 4.0]), [1 / 6, -1 / 3, 1 / 6], atol=1e-6)
    drawn = random.randint(random.key(0), (50,), -5, 7, dtype="int4")
    assert drawn.dtype == "int4" and -5 <= drawn.astype(int).min() and drawn.astype(int).max() < 7


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool"])
def test_sums_of_floats_are_rounded_to_integers_at_the_end(dtype):
    x = np.full(3, 0.7, np.float32)
    for found in (
        snp.dot(x, x, preferred_element_type=dtype),
        snp.einsum("i,i->", x, x, preferred_element_type=dtype),
        sagax.jit(lambda: lax.dot(x, x, preferred_element_type=dtype))(),
    ):
        assert found.dtype == dtype and int(found) == 1  # 3 * 0.49 is 1.47
