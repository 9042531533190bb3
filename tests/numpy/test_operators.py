"""Operators and methods of arrays: on arrays, tracers and beside what others bring.

Values and types beside jax's are in tests/numpy/test_creation.py (METHODS in numpy_cases.py).
"""

import inspect
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sagax
import sagax.numpy as snp
from sagax import errors

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
INTEGERS = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
UNARY = {"-": operator.neg, "+": operator.pos, "abs": abs}


# --- beside NumPy ----------------------------------------------------------------------------------

compiled = {symbol: sagax.jit(f) for symbol, f in BINARY.items()}
arrays = hnp.arrays("float32", (3,), elements=st.floats(-8, 8, width=32).map(lambda v: round(v, 1)))


@pytest.mark.parametrize("symbol", BINARY)
@settings(max_examples=30)
@given(x=arrays, y=arrays)
def test_as_in_numpy(symbol, x, y):
    f = BINARY[symbol]
    x = abs(x) + 1 if symbol == "**" else x
    y = np.where(y == 0, 1, y).astype("float32")
    if symbol in ("//", "%"):  # at a quotient that is nearly whole, rounding decides
        x, y = np.rint(x), np.rint(y) + np.copysign(1, y).astype("float32")
    expected = f(x, y)
    for a, b in (
        (snp.asarray(x), snp.asarray(y)),
        (snp.asarray(x), y),
        (x, snp.asarray(y)),
    ):
        found = f(a, b)
        assert isinstance(found, sagax.Array)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert found.dtype == expected.dtype
    np.testing.assert_allclose(compiled[symbol](x, y), expected, rtol=1e-5)


@pytest.mark.parametrize("symbol", INTEGERS)
@settings(max_examples=30)
@given(x=hnp.arrays("int32", 4), y=hnp.arrays("int32", 4, elements=st.integers(0, 31)))
def test_integers_as_in_numpy(symbol, x, y):
    f = INTEGERS[symbol]
    np.testing.assert_array_equal(f(snp.asarray(x), snp.asarray(y)), f(x, y))
    np.testing.assert_array_equal(f(snp.asarray(x), 3), f(x, np.int32(3)))
    np.testing.assert_array_equal(f(3, snp.asarray(y)), f(np.int32(3), y))


@pytest.mark.parametrize("symbol", [*BINARY, *INTEGERS])
@pytest.mark.parametrize("number", [3, 2.5, np.float32(2.5), np.int32(3), True])
def test_numbers_on_both_sides(symbol, number):
    f = (BINARY | INTEGERS)[symbol]
    x = snp.array([1, 5, 2])
    if symbol in INTEGERS and not isinstance(number, (int, np.integer)):
        with pytest.raises(errors.DtypeError):
            f(x, number)
        return
    if symbol in ("<<", ">>") and number is True:
        number = 1
    for a, b in ((x, number), (number, x)):
        found = f(a, b)
        a, b = (np.asarray(v) for v in (a, b))
        expected = f(a, b)
        assert isinstance(found, sagax.Array)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("symbol", UNARY)
def test_unary(symbol):
    f = UNARY[symbol]
    for x in (np.array([-1.5, 2.0], "float32"), np.array([-3, 4], "int32")):
        for found in (f(snp.asarray(x)), sagax.jit(f)(x)):
            np.testing.assert_array_equal(found, f(x))
    assert (~snp.array([True, False])).tolist() == [False, True]


def test_numpy_leaves_its_operations_to_arrays():
    x = snp.arange(3)
    for made in (
        np.arange(3) + x,
        np.float64(2) * x,
        np.ones((2, 3)) @ x,
        np.arange(3) == x,
        np.int8(1) << x,
    ):
        assert isinstance(made, sagax.Array)
    owner = np.arange(3)
    owner += np.asarray(x)
    assert owner.tolist() == [0, 2, 4]


def test_updates_make_new_arrays():
    x = y = snp.arange(3)
    x += 1
    x *= 2
    x **= 2
    assert x.tolist() == [4, 16, 36]
    assert y.tolist() == [0, 1, 2]
    with pytest.raises(errors.ArgumentError, match="immutable"):
        x[0] = 1


def test_divmod_round_and_matmul():
    x = snp.array([7.5, -7.5])
    quotient, rest = divmod(x, 2)
    assert (quotient.tolist(), rest.tolist()) == ([3, -4], [1.5, 0.5])
    assert [v.tolist() for v in divmod(7, snp.array([2, -2]))] == [[3, -4], [1, -1]]
    assert round(x, 0).tolist() == [8, -8]
    assert round(snp.float32(2.5)).dtype == "int32"
    assert (snp.eye(2) @ x).tolist() == x.tolist()
    assert (np.eye(2) @ x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="matmul"):
        x @ 2
    with pytest.raises(TypeError):
        pow(x, 2, 3)


# --- beside others ---------------------------------------------------------------------------------


class Other:
    """Has its own opinion about operators."""

    def __radd__(self, x):
        return "radd"

    def __rmatmul__(self, x):
        return "rmatmul"

    def __eq__(self, x):
        return "eq"

    def __gt__(self, x):
        return "gt"


def test_other_types_get_their_say():
    x = snp.ones(2)
    assert x + Other() == "radd"
    assert x @ Other() == "rmatmul"
    assert (x == Other()) == "eq"
    assert (Other() == x) == "eq"
    assert (x < Other()) == "gt"
    assert sagax.jit(lambda x: x * (2 if (x + Other()) == "radd" else 3))(x).tolist() == [2, 2]
    for wrong in (None, "a", object(), {}):
        assert (x == wrong) is False
        assert (x != wrong) is True
        for f in (operator.add, operator.lt, operator.matmul, operator.and_):
            with pytest.raises(TypeError, match="not supported|unsupported operand"):
                f(x, wrong)


@pytest.mark.parametrize("symbol", [*BINARY, *INTEGERS, "@"])
@pytest.mark.parametrize("wrong", [[1, 2, 3], (1, 2, 3)])
def test_lists_are_refused_with_a_fix(symbol, wrong):
    f = (BINARY | INTEGERS | {"@": operator.matmul})[symbol]
    x = snp.arange(3)
    cases = [lambda: f(x, wrong), lambda: sagax.jit(lambda x: f(x, wrong))(x)]
    if symbol not in ("<", "<=", ">", ">=", "==", "!="):
        cases.append(lambda: f(wrong, x))
    for call in cases:
        with pytest.raises(errors.ArgumentError) as e:
            call()
        assert type(wrong).__name__ in str(e.value)
        assert symbol in str(e.value)
        assert "asarray" in str(e.value)


def test_arrays_of_text_are_refused():
    for f in (operator.add, operator.eq):
        with pytest.raises(errors.SagaxError):
            f(snp.ones(1), np.array(["a"]))


# --- transformations -------------------------------------------------------------------------------


def test_operators_on_tracers():
    def f(x, y):
        z = (x + y) * x - y / 2 + x**2 + (-y) + abs(x) + x % 2 + 3 // y
        return snp.where((x > y) & ~(x == y) | (x != 1), z, 2 * x)

    x, y = snp.array([1.5, -2.0]), snp.array([2.0, 3.0])
    expected = np.where(
        ((x0 := np.asarray(x)) > (y0 := np.asarray(y))) & ~(x0 == y0) | (x0 != 1),
        (x0 + y0) * x0 - y0 / 2 + x0**2 - y0 + abs(x0) + x0 % 2 + 3 // y0,
        2 * x0,
    )
    for g in (f, sagax.jit(f), sagax.vmap(f), sagax.jit(sagax.vmap(f))):
        np.testing.assert_allclose(g(x, y), expected, rtol=1e-6)
    np.testing.assert_allclose(
        sagax.grad(lambda x: f(x, y).sum())(x), y0 + 2 * x0 + np.sign(x0) + 1 + 2 * x0, rtol=1e-6
    )


def test_every_operator_is_on_arrays_and_tracers():
    names = [n for n in vars(sagax.Array) if n.startswith("__")]
    for name in ("__add__", "__rmatmul__", "__divmod__", "__rrshift__", "__getitem__", "__eq__"):
        assert name in names
    seen = []
    sagax.jit(lambda x: seen.append(type(x)) or x)(1.0)
    for kind in (type(snp.ones(1)), *seen):
        assert issubclass(kind, sagax.Array)
        # a type of a library that defines operators lets tracers ask it first, once it is there
        assert inspect.unwrap(kind.__add__) is inspect.unwrap(sagax.Array.__add__)


# --- methods ---------------------------------------------------------------------------------------

METHODS = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(axis=1, keepdims=True),
    "std": lambda x: x.std(),
    "cumsum": lambda x: x.cumsum(1),
    "reshape": lambda x: x.reshape(3, 2),
    "reshape of a tuple": lambda x: x.reshape((-1,)),
    "transpose": lambda x: x.transpose(1, 0),
    "T": lambda x: x.T,
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "astype": lambda x: x.astype("int32"),
    "clip": lambda x: x.clip(-1, 1),
    "round": lambda x: x.round(1),
    "argmax": lambda x: x.argmax(1),
    "sort": lambda x: x.sort() if isinstance(x, sagax.Array) else np.sort(x),
    "argsort": lambda x: x.argsort(axis=0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "squeeze": lambda x: x[:, :1].squeeze(1),
    "take": lambda x: x.take(np.array([0, 2]), axis=1),
    "repeat": lambda x: x.repeat(2, axis=0),
    "dot": lambda x: x.dot(np.ones(3, "float32")),
    "diagonal": lambda x: x.diagonal(1),
    "trace": lambda x: x.trace(),
    "view": lambda x: x.view("int32"),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conj": lambda x: x.conj(),
    "compress": lambda x: x.compress(np.array([True, False, True]), axis=1),
    "copy": lambda x: x.copy(),
    "any": lambda x: (x > 0).any(0),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_as_in_numpy(name):
    x = np.array([[0.25, -1.5, 3.0], [2.0, 0.5, -0.75]], "float32")
    expected = METHODS[name](x)
    for found in (METHODS[name](snp.asarray(x)), sagax.jit(METHODS[name])(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert found.shape == expected.shape


def test_iteration_and_membership():
    x = snp.arange(6).reshape(3, 2)
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert [row.tolist() for row in reversed(x)] == [[4, 5], [2, 3], [0, 1]]
    assert 3 in x
    assert 7 not in x
    a, b, c = sagax.jit(lambda x: tuple(x))(x)
    assert b.tolist() == [2, 3]
    assert sagax.jit(lambda x: sum(row[0] for row in x))(x) == 6
    with pytest.raises(TypeError, match="0-d"):
        iter(snp.asarray(1))
    with pytest.raises(TypeError, match="0-d"):
        sagax.jit(lambda x: list(x))(1)


@settings(max_examples=50)
@given(
    x=hnp.arrays(st.sampled_from(["float32", "int16", "uint8", "complex64"]), (2, 8)),
    to=st.sampled_from(["float32", "int8", "uint16", "int32", "complex64"]),
)
def test_views_read_the_same_bytes(x, to):
    np.testing.assert_array_equal(
        np.asarray(snp.asarray(x).view(to)).view("uint8"), x.view(to).view("uint8")
    )


def test_views_that_do_not_fit():
    with pytest.raises(errors.ArgumentValueError, match="even size"):
        snp.ones(3).view("complex64").shape  # noqa: B018
    with pytest.raises(errors.ArgumentValueError, match=r"shape \(\)"):
        snp.asarray(1.0, "float32").view("int8")
    with pytest.raises(errors.ArgumentValueError, match=r"shape \(\)"):
        snp.asarray(1j).view("float32")
    with pytest.raises(errors.ArgumentError, match="type"):
        snp.ones(2).view(int, type=np.ndarray)


def test_flat_and_buffers_are_refused():
    with pytest.raises(NotImplementedError, match="ravel"):
        snp.ones(2).flat  # noqa: B018
    with pytest.raises(errors.ArgumentError, match="stream"):
        snp.ones(2).to_device(sagax.devices()[0], stream=1)
