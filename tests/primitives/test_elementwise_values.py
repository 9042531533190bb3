"""Elementwise operations give jax's values, down to the sign of zero.

Also where mathematics is silent: division by zero, overflow, ties, shifts beyond the width,
infinities and NaN.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import sagax
from elementwise_data import JAX, array, columns, operation, unique_names
from sagax import lax
from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.diagnostics import errors
from sagax._src.primitives.comparison import eq_to_p, le_to_p, lt_to_p

# Not rounded correctly by everyone: how far from jax's values, in units of the last place
LOOSE = {"rsqrt": 2, "cbrt": 4, "pow": 8}
LOOSE_COMPLEX = {"sqrt", "sign", "abs", "reciprocal"}


def same_values(have: np.ndarray, want: np.ndarray, ulps: float = 0) -> None:
    """Equal elements, where zeros have signs and all NaN are one; or within `ulps`."""
    assert have.dtype == want.dtype
    assert have.shape == want.shape
    if have.dtype.kind == "c":
        same_values(have.real.copy(), want.real.copy(), ulps)
        same_values(have.imag.copy(), want.imag.copy(), ulps)
        return
    if dtypes.kind(have.dtype) != "f":
        np.testing.assert_array_equal(have, want)
        return
    wide, expected = have.astype(np.float64), want.astype(np.float64)
    eps = float(ml_dtypes.finfo(have.dtype).eps)
    np.testing.assert_allclose(wide, expected, rtol=ulps * eps, atol=ulps * eps * 1e-3)
    if not ulps:
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(wide[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("case", JAX["values"], ids=unique_names(JAX["values"]))
def test_values(case):
    operands = columns([array(v, d) for v, d in zip(case["axes"], case["dtypes"], strict=True)])
    want = array(case["result"], case["dtype"])
    complex_operand = "complex64" in case["dtypes"]
    ulps = LOOSE.get(case["op"], 2 if complex_operand and case["op"] in LOOSE_COMPLEX else 0)
    fun = operation(case)
    for how in (fun, sagax.jit(fun)):
        same_values(np.asarray(how(*operands)), want, ulps)


@pytest.mark.parametrize("case", JAX["values"], ids=unique_names(JAX["values"]))
def test_values_of_mapped_scalars(case):
    """Mapped over its elements an operation gives what it gives on arrays."""
    operands = columns([array(v, d) for v, d in zip(case["axes"], case["dtypes"], strict=True)])
    fun = operation(case)
    same_values(
        np.asarray(sagax.vmap(fun)(*[x[:7] for x in operands])),
        np.asarray(fun(*[x[:7] for x in operands])),
    )


@pytest.mark.parametrize("case", JAX["bitcasts"], ids=lambda c: f"{c['source']}-{c['target']}")
def test_bitcasts(case):
    x = array(case["x"], case["source"])
    want = array(case["result"], case["target"])
    assert list(want.shape) == case["shape"]

    def fun(x):
        return lax.bitcast_convert_type(x, case["target"])

    for how in (fun, sagax.jit(fun)):
        same_values(np.asarray(how(x)), want)
    stacked = np.stack([x, x[::-1] if x.ndim else -x])
    for axis in (0, x.ndim):
        mapped = sagax.vmap(fun, in_axes=axis)(np.moveaxis(stacked, 0, axis))
        same_values(np.asarray(mapped), np.stack([np.asarray(fun(s)) for s in stacked]))


def test_bitcast_there_and_back_keeps_every_bit():
    bits = np.random.default_rng(0).integers(0, 2**32, 100, dtype=np.uint32)
    back = lax.bitcast_convert_type(lax.bitcast_convert_type(bits, np.float32), np.uint32)
    np.testing.assert_array_equal(np.asarray(back), bits)


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_counts_of_bits_and_high_halves_of_products(dtype):
    """Against Python's integers, whose width has no limit."""
    with config.context(x64=True):
        info = np.iinfo(dtype)
        rng = np.random.default_rng(1)
        x = rng.integers(info.min, info.max, 50, dtype, endpoint=True)
        y = rng.integers(info.min, info.max, 50, dtype, endpoint=True)
        mask = (1 << info.bits) - 1
        ones = [bin(int(v) & mask).count("1") for v in x]
        zeros = [info.bits - (int(v) & mask).bit_length() for v in x]
        high = [(int(a) * int(b)) >> info.bits for a, b in zip(x, y, strict=True)]
        for fun, operands, want in [
            (lax.population_count, (x,), ones),
            (lax.clz, (x,), zeros),
            (lax.mulhi, (x, y), high),
        ]:
            for how in (fun, sagax.jit(fun)):
                np.testing.assert_array_equal(np.asarray(how(*operands)), np.array(want, dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "float16"])
def test_nextafter_walks_through_all_numbers_between(dtype):
    dtype = dtypes.as_dtype(dtype)
    start, end = np.asarray(-0.875, dtype), np.asarray(-1.0, dtype)
    unsigned = f"u{dtype.itemsize}"
    x = start
    for steps in range(1, 6):
        x = np.asarray(lax.nextafter(x, end))
        assert int(x.view(unsigned)) == int(start.view(unsigned)) + min(
            steps, int(end.view(unsigned)) - int(start.view(unsigned))
        )


def test_total_order_gives_every_number_its_place():
    line = np.float32([-np.nan, -np.inf, -1, -0.0, 0, 1, np.inf, np.nan])
    line[0] = np.copysign(np.float32(np.nan), -1)
    i, j = np.meshgrid(np.arange(8), np.arange(8))
    for primitive, want in [(eq_to_p, i == j), (lt_to_p, i < j), (le_to_p, i <= j)]:
        for how in (primitive.bind, sagax.jit(primitive.bind)):
            np.testing.assert_array_equal(np.asarray(how(line[i], line[j])), want)


def test_mul_converts_first_with_out_dtype():
    x = np.array([100, -100], np.int8)
    np.testing.assert_array_equal(np.asarray(lax.mul(x, x, out_dtype=np.int32)), [10000, 10000])
    y = np.float32([1.5])
    assert lax.mul(y, np.array([3]), out_dtype=np.float16).dtype == np.float16
    np.testing.assert_array_equal(np.asarray(lax.mul(y, y, out_dtype=np.int32)), [1])


def test_python_numbers_take_the_dtype_of_the_array():
    for dtype in (np.float32, np.float16, np.int8, np.uint8, np.complex64):
        x = np.ones(2, dtype)
        for out in (lax.add(x, 2), lax.add(2, x), lax.max(x, 2), lax.select(True, x, 2 * x)):
            assert out.dtype == dtype
    assert lax.clamp(0, np.ones(2, np.float16), 1).dtype == np.float16


def test_python_ints_beyond_the_dtype_are_refused():
    with pytest.raises(OverflowError, match="-1 does not fit uint8"):
        lax.add(np.ones(2, np.uint8), -1)


def test_scalars_and_sizes_of_one_stretch():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for y in (np.float32(2), np.float32([[2], [3]]), np.float32([[2, 3, 4]])):
        np.testing.assert_array_equal(np.asarray(lax.sub(x, y)), x - y)
        np.testing.assert_array_equal(np.asarray(sagax.jit(lax.sub)(y, x)), y - x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32])
@pytest.mark.parametrize("count", [2, 5, 300])
def test_numbers_out_of_range_select_the_first_or_last_case(dtype, count):
    info = np.iinfo(dtype)
    which = np.array([info.min, info.min + 1, 0, 1, 4, 100, info.max], dtype)
    cases = [np.full(7, k, np.float32) for k in range(count)]
    want = np.clip(which.astype(np.int64), 0, count - 1)
    for how in (lax.select_n, sagax.jit(lax.select_n)):
        np.testing.assert_array_equal(np.asarray(how(which, *cases)), want)


def test_keys_are_compared_and_selected_whole():
    a, b = sagax.random.key(0), sagax.random.key(1)
    assert bool(lax.eq(a, a)) and not bool(lax.eq(a, b))
    assert bool(sagax.jit(lax.ne)(a, b))
    keys = sagax.random.split(a, 3)
    assert np.asarray(lax.eq(keys, keys)).tolist() == [True] * 3
    chosen = sagax.jit(lax.select)(np.array([True, False, True]), keys, lax.rev(keys, (0,)))
    data = np.asarray(sagax.random.key_data(keys))
    np.testing.assert_array_equal(np.asarray(sagax.random.key_data(chosen)), data)


X = np.ones(3, np.float32)
ONE = np.float32([1])
YES = np.array([True])
MISTAKES = {
    "dtypes": (lambda: lax.add(ONE, np.int32([1])), TypeError, "same dtypes, got float32, int32"),
    "sizes": (lambda: lax.add(X, np.ones(4, "f")), TypeError, "along axis 0: 3 and 4"),
    "ranks": (lambda: lax.add(X, np.ones((1, 3), "f")), TypeError, "number of dimensions"),
    "list": (lambda: lax.add(X, [1.0, 2.0, 3.0]), TypeError, "type <class 'list'>"),
    "text": (lambda: lax.add(X, "a"), TypeError, "type <class 'str'>"),
    "none": (lambda: lax.add(X, None), TypeError, "type <class 'NoneType'>"),
    "bool": (lambda: lax.add(YES, YES), TypeError, "add: operand 0 has dtype bool"),
    "sqrt": (lambda: lax.sqrt(np.int32([4])), TypeError, "sqrt: the operand has dtype int32"),
    "complex order": (
        lambda: lax.lt(np.complex64(1), np.complex64(2)),
        TypeError,
        "lt: operand 0 has dtype complex64",
    ),
    "negative power": (
        lambda: lax.integer_pow(np.int32([2]), -1),
        TypeError,
        "Integers cannot be raised to negative powers",
    ),
    "fractional power": (
        lambda: lax.integer_pow(X, 0.5),
        TypeError,
        "argument y must be an int; got 0.5",
    ),
    "integer base": (
        lambda: lax.pow(np.int32([2]), np.int32([2])),
        TypeError,
        "pow: operand 0 has dtype int32",
    ),
    "exponent": (
        lambda: lax.pow(X, np.float16([2])),
        TypeError,
        "same dtypes, got float32, float16",
    ),
    "rounding": (
        lambda: lax.round(X, 5),
        ValueError,
        "argument rounding_method must be a RoundingMethod; got 5",
    ),
    "accuracy": (lambda: lax.sqrt(X, accuracy="high"), TypeError, "argument accuracy"),
    "no tolerance": (lambda: lax.Tolerance(), ValueError, "a positive atol, rtol or ulps"),
    "negative tolerance": (lambda: lax.Tolerance(rtol=-1), ValueError, "not negative"),
    "lower bound": (
        lambda: lax.clamp(np.zeros(1, "f"), X, 1.0),
        TypeError,
        r"argument min must be a scalar or the shape of x, \(3,\)",
    ),
    "upper bound": (
        lambda: lax.clamp(0.0, 1.0, X),
        TypeError,
        r"argument max must be a scalar or the shape of x, \(\)",
    ),
    "no case": (lambda: lax.select_n(YES), ValueError, "argument cases must be at least one"),
    "which": (
        lambda: lax.select_n(ONE, ONE, ONE),
        TypeError,
        "argument which must be booleans or integers",
    ),
    "three of two": (
        lambda: lax.select_n(YES, ONE, ONE, ONE),
        ValueError,
        "a boolean chooses between two cases",
    ),
    "dtypes of cases": (
        lambda: lax.select_n(True, X, np.ones(3, "i")),
        TypeError,
        "case 0 has float32, case 1 has int32",
    ),
    "shapes of cases": (
        lambda: lax.select_n(True, X, ONE),
        TypeError,
        r"case 0 has shape \(3,\), case 1 has shape \(1,\)",
    ),
    "shape of which": (lambda: lax.select_n(YES, X, X), TypeError, "argument which"),
    "pieces": (
        lambda: lax.bitcast_convert_type(np.ones((3, 3), np.int16), np.int32),
        ValueError,
        "last dimension has size 2",
    ),
    "one piece": (
        lambda: lax.bitcast_convert_type(np.int16(1), np.int32),
        ValueError,
        "has no last dimension",
    ),
    "bits of bool": (
        lambda: lax.bitcast_convert_type(YES, np.int8),
        TypeError,
        "the bits of bool cannot be read as int8",
    ),
    "no exponent": (
        lambda: lax.reduce_precision(X, 0, 2),
        ValueError,
        "argument exponent_bits must be an int of at least 1",
    ),
    "negative bits": (
        lambda: lax.reduce_precision(X, 5, -1),
        ValueError,
        "argument mantissa_bits must be an int of at least 0",
    ),
    "half a bit": (
        lambda: lax.reduce_precision(X, 1.5, 2),
        TypeError,
        "argument exponent_bits must be an int; got 1.5",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_say_what_and_where(mistake):
    call, error, words = MISTAKES[mistake]
    with pytest.raises(error, match=words) as caught:
        call()
    assert isinstance(caught.value, errors.SagaxError)
