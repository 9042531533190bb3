"""Elementwise functions of sagax.numpy: types, values, programs, derivatives, refusals.

What jax 0.12 does is recorded in tests/data/numpy_elementwise.json (tests/oracle/numpy_elementwise.py).
"""

import enum
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sagax
import sagax.numpy as snp
from numpy_cases import BINARY, OPERANDS, PYTHON, UNARY, pairs, values
from sagax import errors
from sagax._src import config


@pytest.fixture(scope="module")
def recorded(oracle_data):
    return oracle_data("numpy_elementwise")


# --- types ---------------------------------------------------------------------------------------


def type_of(function, operands):
    arrays = [sagax.ShapeDtypeStruct((3,), n) for n in operands if n not in PYTHON]

    def call(*xs):
        rest = iter(xs)
        return function(*[PYTHON[n] if n in PYTHON else next(rest) for n in operands])

    try:
        out = sagax.tree.leaves(sagax.eval_shape(call, *arrays))
    except errors.SagaxError:
        return "error"
    return " ".join([str(o.dtype) + "*" * o.weak_type for o in out])


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", UNARY)
def test_types_of_unary_functions(name, x64, recorded):
    row = recorded["types"][f"{name} {64 if x64 else 32}"]
    expected = [recorded["names"][code] for code in row]
    with config.context(x64=x64), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [type_of(getattr(snp, name), (a,)) for a in OPERANDS] == expected


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", BINARY)
def test_types_of_binary_functions(name, x64, recorded):
    rows = recorded["types"][f"{name} {64 if x64 else 32}"]
    expected = [[recorded["names"][code] for code in row] for row in rows]
    function = getattr(snp, name)
    with config.context(x64=x64), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [[type_of(function, (a, b)) for b in OPERANDS] for a in OPERANDS]
    differ = [
        (a, b, f, e)
        for a, fs, es in zip(OPERANDS, found, expected, strict=True)
        for b, f, e in zip(OPERANDS, fs, es, strict=True)
        if f != e
    ]
    assert differ == []


# --- values --------------------------------------------------------------------------------------

# where the recorded values are not what is wanted: (function, dtype) -> the elements to leave out
UNWANTED = {
    # jax: of an exponent of more than six bits only the last six count
    **{(f, "int32"): lambda x, y: (y < 0) | (y > 63) for f in ("power", "pow")},
    **{(f, "uint8"): lambda x, y: y > 63 for f in ("power", "pow")},
    # jax: the sign is lost
    ("spacing", "float16"): lambda x: x < 0,
    # jax: 1, although elsewhere the remainder of a division by zero is 0
    ("fmod", "bool"): lambda x, y: ~y,
}
TOLERANCE = {"float16": 6e-3}


def numbers(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return np.stack([x.real.ravel(), x.imag.ravel()]).astype(float)
    return x.ravel().astype(float)


def arguments(name, dtype):
    return (values(dtype),) if name in UNARY else pairs(dtype)


def cases(recorded_values):
    return [tuple(key.split()) for key in recorded_values]


def test_values(recorded):
    """One test for all, so that a change in the engine shows as one list of functions."""
    wrong = []
    for (name, dtype), expected in zip(
        cases(recorded["values"]), recorded["values"].values(), strict=True
    ):
        args = arguments(name, dtype)
        out = sagax.tree.leaves(getattr(snp, name)(*map(snp.asarray, args)))
        keep = ~np.asarray(
            UNWANTED.get((name, dtype), lambda *xs: np.zeros(xs[0].shape, bool))(*args)
        )
        for found, want in zip(out, expected, strict=True):
            want, found = np.array(want, float)[..., keep], numbers(found)[..., keep]
            scale = (
                np.abs(want[np.isfinite(want)]).max(initial=1.0) if dtype == "complex64" else 1e-3
            )
            tolerance = TOLERANCE.get(dtype, 4e-6)
            if not np.allclose(
                found, want, rtol=tolerance, atol=tolerance * scale * 1e-3, equal_nan=True
            ):
                wrong.append((name, dtype))
    assert wrong == []


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "floor_divide", "remainder", "fmod", "power", "bitwise_xor", "left_shift", "gcd", "lcm"])  # fmt: skip
@given(data=st.data())
def test_integers_as_in_numpy(name, data):
    dtype = data.draw(st.sampled_from(["int8", "uint8", "int32", "uint16"]))
    info = np.iinfo(dtype)
    low = 1 if name in ("floor_divide", "remainder", "fmod", "power") else info.min
    high = 6 if name == "left_shift" else info.max
    low = 0 if name == "left_shift" else low
    shape = data.draw(hnp.array_shapes(max_dims=2, max_side=4))
    x = data.draw(hnp.arrays(dtype, shape))
    y = data.draw(hnp.arrays(dtype, shape[-1:], elements=st.integers(low, high)))
    if name in ("floor_divide", "remainder", "fmod") and info.min < 0:
        y = np.where(data.draw(st.booleans()), y, -y).astype(dtype)
    if name in ("gcd", "lcm"):  # the least number has no absolute value
        x, y = (np.where(v == info.min, v + 1, v) if info.min else v for v in (x, y))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    found = getattr(snp, name)(x, y)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@given(
    base=st.integers(-50, 50),
    exponent=st.integers(0, 2**31 - 1),
)
def test_integer_powers_are_exact_modulo_the_width(base, exponent):
    exact = pow(base, exponent, 2**32)
    exact = exact - 2**32 if exact >= 2**31 else exact
    assert int(snp.power(snp.int32(base), snp.int32(exponent))) == exact


floats = hnp.arrays(
    "float32", st.integers(1, 5), elements=st.floats(-100, 100, width=32, allow_subnormal=False)
)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "hypot", "logaddexp", "copysign", "fmax", "fmin", "arctan2", "nextafter", "heaviside"])  # fmt: skip
@given(x=floats, scalar=st.floats(-10, 10, width=32).filter(lambda v: abs(v) > 0.1))
def test_floats_as_in_numpy(name, x, scalar):
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, np.float32(scalar))
    np.testing.assert_allclose(getattr(snp, name)(x, scalar), expected, rtol=3e-6, atol=1e-6)


@given(x=hnp.arrays("float32", 4, elements=st.floats(width=32, allow_subnormal=False)))
def test_parts_of_floats_as_in_numpy(x):
    mantissa, exponent = snp.frexp(x)
    expected_mantissa, expected_exponent = np.frexp(x)
    np.testing.assert_array_equal(mantissa, expected_mantissa)
    finite = np.isfinite(x)
    np.testing.assert_array_equal(np.asarray(exponent)[finite], expected_exponent[finite])
    np.testing.assert_array_equal(snp.ldexp(mantissa, exponent), x)
    np.testing.assert_array_equal(snp.signbit(x), np.signbit(x))
    np.testing.assert_array_equal(snp.trunc(x), np.trunc(x))
    np.testing.assert_array_equal(snp.rint(x), np.rint(x))


@given(x=hnp.arrays("int32", 6, elements=st.integers(-(10**8), 10**8)), decimals=st.integers(-4, 2))
def test_rounding_integers_is_exact(x, decimals):
    unit = 10 ** max(-decimals, 0)
    expected = [round(int(v) / unit) * unit if unit > 1 else int(v) for v in x]
    np.testing.assert_array_equal(snp.round(x, decimals), expected)


def test_known_values():
    assert float(snp.sinc(0.5)) == pytest.approx(2 / math.pi)
    assert float(snp.i0(1.0)) == pytest.approx(1.2660658777520084)
    assert float(snp.hypot(3e38, 1e38)) == pytest.approx(3.1622776e38, rel=1e-6)
    assert float(snp.hypot(3e-30, 4e-30)) == pytest.approx(5e-30, rel=1e-6)
    assert float(snp.hypot(snp.inf, snp.nan)) == math.inf
    assert float(snp.logaddexp(1000.0, 1000.0)) == pytest.approx(1000 + math.log(2))
    assert float(snp.logaddexp(-snp.inf, -snp.inf)) == -math.inf
    assert float(snp.logaddexp(snp.inf, snp.inf)) == math.inf
    assert int(snp.gcd(-(2**31) + 1, 2)) == 1
    assert snp.isclose(snp.array([1, 2]), snp.array([1, 3])).tolist() == [True, False]


# --- programs ------------------------------------------------------------------------------------


def equations(jaxpr):
    total = 0
    for eqn in jaxpr.eqns:
        inner = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
        total += 1 if inner is None else equations(getattr(inner, "jaxpr", inner))
    return total


# made of several operations here, and of one primitive in jax (one that jaxpr readers cannot look into)
COMPOSED = {"log2", "frexp", "ldexp"}
# correct for negative numbers of 16 bits; and for a division by False
CORRECT = {("spacing", "float16"), ("fmod", "bool")}
# jax has a primitive for polynomials
SERIES = {"sinc"}


def test_programs_are_as_small_as_those_of_jax(recorded):
    larger = []
    for (name, dtype), expected in zip(
        cases(recorded["equations"]), recorded["equations"].values(), strict=True
    ):
        if name in COMPOSED | SERIES or (name, dtype) in CORRECT:
            continue
        operands = [sagax.ShapeDtypeStruct((3,), dtype) for _ in arguments(name, dtype)]
        found = equations(sagax.make_jaxpr(getattr(snp, name))(*operands).jaxpr)
        if found > expected:
            larger.append((name, dtype, found, expected))
    assert larger == []


def test_traced_programs_are_plain():
    x, i = snp.ones(3), snp.arange(3)

    def text(function, *args):
        body = str(sagax.make_jaxpr(function)(*args)).split(" let", 1)[1].rsplit("in (", 1)[0]
        return [line.strip() for line in body.splitlines() if line.strip()]

    assert text(lambda x: x * 2, x) == ["b:f32[3] = mul a 2.0:f32[]"]
    assert text(lambda x: 1 - x, x) == ["b:f32[3] = sub 1.0:f32[] a"]
    assert text(lambda x: x > 0, x) == ["b:bool[3] = gt a 0.0:f32[]"]
    assert text(lambda i: i / 2, i) == [
        "b:f32[3] = convert_element_type[new_dtype=float32 weak_type=False] a",
        "c:f32[3] = div b 2.0:f32[]",
    ]
    assert text(lambda i: i % 3, i) == [
        "b:i32[3] = rem a 3:i32[]",
        "c:bool[3] = lt b 0:i32[]",
        "d:i32[3] = add b 3:i32[]",
        "e:i32[3] = select_n c b d",
    ]
    assert text(lambda x: snp.where(x > 0, x, 0), x) == [
        "b:bool[3] = gt a 0.0:f32[]",
        "c:f32[3] = broadcast_in_dim 0.0:f32[]",
        "d:f32[3] = select_n b c a",
    ]
    assert text(lambda x: snp.clip(x, 0, 1), x) == [
        "b:f32[3] = max 0.0:f32[] a",
        "c:f32[3] = min 1.0:f32[] b",
    ]
    assert text(lambda x: x**3, x) == ["b:f32[3] = integer_pow[y=3] a"]
    assert text(snp.positive, x) == []


@pytest.mark.parametrize("name", ["sinc", "hypot", "logaddexp", "floor_divide", "remainder", "frexp", "isclose", "gcd"])  # fmt: skip
def test_compiled_as_evaluated(name):
    args = arguments(name, "int32" if name == "gcd" else "float32")
    function = getattr(snp, name)
    eager, compiled = function(*args), sagax.jit(function)(*args)
    for e, c in zip(sagax.tree.leaves(eager), sagax.tree.leaves(compiled), strict=True):
        np.testing.assert_array_equal(e, c)


def test_mapped_functions():
    x = snp.arange(-6.0, 6.0).reshape(3, 4)
    for function in (snp.sinc, lambda v: snp.where(v > 0, v, 0.0), lambda v: v % 3, snp.spacing):
        np.testing.assert_array_equal(sagax.vmap(function)(x), function(x))
    np.testing.assert_array_equal(
        sagax.vmap(snp.power, (0, None))(snp.arange(3), snp.arange(2)),
        snp.arange(3)[:, None] ** snp.arange(2),
    )


# --- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (snp.sinc, 0.0, 0.0),
        (sagax.grad(snp.sinc), 0.0, -(math.pi**2) / 3),
        (snp.sinc, 1.0, -1.0),
        (lambda x: snp.hypot(x, 4.0), 3.0, 0.6),
        (lambda x: snp.hypot(x, 0.0), 1e-30, 1.0),
        (lambda x: snp.logaddexp(x, 1000.0), 1000.0, 0.5),
        (lambda x: snp.logaddexp(x, -snp.inf), 1.0, 1.0),
        (lambda x: snp.logaddexp2(x, 1.0), 1.0, 0.5),
        (lambda x: snp.frexp(x)[0], 3.0, 0.25),
        (lambda x: snp.ldexp(x, 3), 3.0, 8.0),
        (lambda x: snp.modf(x)[0], 2.5, 1.0),
        (lambda x: x % 3, 7.5, 1.0),
        (lambda x: snp.copysign(x, -1.0), 2.0, -1.0),
        (lambda x: snp.where(x > 0, x**2, 0.0), 3.0, 6.0),
        (lambda x: snp.clip(x, 0, 1), 0.5, 1.0),
        (lambda x: snp.clip(x, 0, 1), 2.0, 0.0),
        (lambda x: snp.nan_to_num(x), 2.0, 1.0),
        (snp.i0, 1.0, 0.5651591039924851),
        (lambda x: x ** snp.array([2, 3])[1], 2.0, 12.0),
        (snp.log2, 2.0, 1 / (2 * math.log(2))),
        (lambda x: snp.fmax(x, 1.0), 2.0, 1.0),
    ],
)
def test_derivatives(function, at, expected):
    assert float(sagax.grad(function)(at)) == pytest.approx(expected, rel=1e-5, abs=1e-6)


# --- settings ------------------------------------------------------------------------------------


def test_strict_promotion():
    with config.context(numpy_dtype_promotion="strict"):
        assert (snp.arange(3) + 1).dtype == "int32"
        with pytest.raises(errors.TypePromotionError, match="add"):
            snp.arange(3) + snp.ones(3)


def test_rank_promotion():
    with config.context(numpy_rank_promotion="raise"):
        assert (snp.ones((2, 3)) + snp.ones((1, 3)) + 1).shape == (2, 3)
        with pytest.raises(errors.ShapeError, match=r"add on shapes \(2, 3\), \(3,\)"):
            snp.ones((2, 3)) + snp.ones(3)
        with pytest.raises(errors.ShapeError, match="clip"):
            snp.clip(snp.ones((2, 3)), snp.zeros(3))
        # as in jax, whose `where` and `select` take operands of unlike ranks under all settings
        assert snp.where(snp.ones(3) > 0, snp.ones((2, 3)), 0).shape == (2, 3)
    with config.context(numpy_rank_promotion="warn"), pytest.warns(UserWarning, match="multiply"):
        snp.ones((2, 3)) * snp.ones(3)


# --- unusual operands ------------------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 3


def test_subclasses_of_numbers():
    assert snp.add(snp.arange(2), Colour.RED).tolist() == [3, 4]
    assert float(snp.sin(Colour.RED)) == pytest.approx(math.sin(3))
    assert snp.where(True, Colour.RED, 2.5).weak_type
    assert sagax.jit(lambda x: x * Colour.RED)(2) == 6


def test_signed_zeros_are_told_apart():
    x = snp.ones(2)
    for zero in (0.0, -0.0, 0.0):
        assert math.copysign(1, (x * zero)[0]) == math.copysign(1, zero)
        assert bool(snp.signbit(snp.full(2, zero))[0]) == (math.copysign(1, zero) < 0)


def test_keys_can_be_chosen_and_compared_only():
    keys = sagax.random.split(sagax.random.key(0), 3)
    chosen = snp.where(snp.array([True, False, True]), keys, keys[::-1])
    assert (chosen == keys).tolist() == [True, True, True]
    for f in (lambda: keys + 1, lambda: snp.sin(keys), lambda: -keys):
        with pytest.raises(errors.SagaxError, match="key<fry>"):
            f()


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("nan_to_num",)])
def test_lists_are_refused(name):
    with pytest.raises(
        errors.ArgumentError, match=r"requires ndarray or scalar.*'list'.*position 0"
    ) as e:
        getattr(snp, name)([1, 2])
    assert "asarray" in str(e.value)
    with pytest.raises(errors.ArgumentError, match="NoneType"):
        getattr(snp, name)(None)


@pytest.mark.parametrize("name", [n for n in BINARY if n != "isclose"])
def test_lists_are_refused_as_second_operand(name):
    with pytest.raises(errors.ArgumentError, match=r"'list'.*position 1"):
        getattr(snp, name)(1, [1, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: snp.add(snp.ones(3), snp.ones(2)), errors.ShapeError, "3 and 2"),
        (lambda: snp.where(True, 1), errors.ArgumentError, "both or neither"),
        (lambda: snp.where(True, 1, 2, size=3), ValueError, "three-term"),
        (lambda: snp.clip(snp.array([1j]), 0), errors.ArgumentValueError, "complex"),
        (lambda: snp.invert(snp.ones(2)), errors.DtypeError, "float32"),
        (lambda: snp.subtract(True, False), errors.DtypeError, "bool"),
        (lambda: snp.add(snp.arange(2), 2**40), OverflowError, r"1099511627776.*int32"),
        (lambda: snp.add(snp.uint8(1), -300), OverflowError, "uint8"),
        (lambda: snp.floor_divide(snp.uint8(1), -1), OverflowError, "uint8"),
        (lambda: snp.power(snp.arange(3), -1), TypeError, "negative powers"),
        (lambda: snp.arange(3) ** snp.array(-1), TypeError, "negative powers"),
        (lambda: snp.power(snp.zeros(0, bool), snp.array(-1)), TypeError, "negative powers"),
        (lambda: (lambda y: sagax.vmap(lambda x: x**y)(snp.arange(3)))(snp.array(-1)), TypeError, "negative powers"),
        (lambda: sagax.jit(lambda x: snp.power(x, np.array(-1)))(snp.arange(3)), TypeError, "negative powers"),
        (lambda: snp.round(1.0, 1.5), errors.ArgumentError, "decimals"),
        (lambda: snp.round(snp.int8(3), -9), errors.ArgumentValueError, "too large"),
        (lambda: snp.add(np.array(["a"]), 1), errors.SagaxError, "add"),
        (lambda: snp.sin(np.array([object()])), errors.SagaxError, "sin"),
        (lambda: snp.modf(1.0, out=snp.ones(1)), NotImplementedError, "out"),
        (lambda: snp.nan_to_num([1.0]), errors.ArgumentError, "list"),
    ],
)  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("number", [5.678, np.float32(5.678), np.float64(5.678)])
def test_numbers_are_rounded_as_arrays_are(number):
    # the quotient by 10 is a product with the nearest number to 0.1, in jax as well
    found = [np.asarray(snp.round(x, 1)) for x in (number, snp.asarray(np.float32(number)))]
    np.testing.assert_array_equal(found, np.float32([5.7000003, 5.7000003]))
