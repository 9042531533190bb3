"""Operations evaluated at once give the same through NumPy as through a compiled program."""

from __future__ import annotations

import concurrent.futures
import gc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sagax
import sagax.numpy as snp
from sagax._src import tuning
from sagax._src.runtime import eager

DTYPES = ("bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32", "complex64")
SHAPES = ((), (1,), (5,), (2, 3), (0, 3))
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.25, 100.0, np.nan, np.inf, -np.inf)

BINARY = {
    "add": snp.add,
    "subtract": snp.subtract,
    "multiply": snp.multiply,
    "divide": snp.divide,
    "floor_divide": snp.floor_divide,
    "remainder": snp.remainder,
    "fmod": snp.fmod,
    "divmod": snp.divmod,
    "maximum": snp.maximum,
    "fmin": snp.fmin,
    "less": snp.less,
    "equal": snp.equal,
    "logical_xor": snp.logical_xor,
    "where": lambda x, y: snp.where(x == y, x, y),
    "clip": lambda x, y: snp.clip(x, y, 3),
    "copysign": snp.copysign,
}
UNARY = {
    "negative": snp.negative,
    "absolute": snp.absolute,
    "sign": snp.sign,
    "square": snp.square,
    "sqrt": snp.sqrt,
    "floor": snp.floor,
    "round": snp.round,
    "isnan": snp.isnan,
    "signbit": snp.signbit,
    "logical_not": snp.logical_not,
    "astype int": lambda x: x.astype("int32"),
    "astype float16": lambda x: x.astype("float16"),
    "sum": snp.sum,
    "mean": snp.mean,
    "last sum": lambda x: snp.sum(x, axis=-1, keepdims=True),
    "max": lambda x: snp.max(x, initial=0),
    "least": lambda x: snp.min(x, axis=0, initial=0),
    "argmax": lambda x: snp.argmax(snp.append(x, 0)),
    "sort": lambda x: snp.sort(x.ravel()),
    "cumsum": lambda x: snp.cumsum(x.ravel()),
    "transpose": snp.transpose,
    "ravel": snp.ravel,
    "flip": snp.flip,
    "roll": lambda x: snp.roll(x, 2),
    "pad": lambda x: snp.pad(x, 1),
    "take": lambda x: snp.take(x, snp.array([0, -1, 9])),
    "diff": lambda x: snp.diff(x.ravel()),
    "tril": lambda x: snp.tril(snp.atleast_2d(x)),
    "nan_to_num": snp.nan_to_num,
    "repeat": lambda x: snp.repeat(x, 2),
}


def outcome(function, *args):
    """The leaves of the result with their types, or the class of the error."""
    try:
        leaves = sagax.tree_util.tree_leaves(function(*args))
    except Exception as error:
        return [type(error)]
    return [(x.dtype, x.weak_type, x.shape, x.committed, np.asarray(x)) for x in leaves]


def through_the_engine(function, *args):
    """`outcome` with NumPy out of the way."""
    limit, tuning.NUMPY_MAX_ELEMENTS = tuning.NUMPY_MAX_ELEMENTS, -1
    eager.clear()
    try:
        return outcome(function, *args)
    finally:
        tuning.NUMPY_MAX_ELEMENTS = limit
        eager.clear()


def assert_same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if isinstance(b, type):
            assert a is b
            continue
        assert a[:4] == b[:4]
        x, y = a[4], b[4]
        if x.dtype.kind == "c":
            x, y = np.atleast_1d(x).view("float32"), np.atleast_1d(y).view("float32")
        if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
            x, y = x.astype("float64"), y.astype("float64")
            assert np.array_equal(np.signbit(x) & ~np.isnan(x), np.signbit(y) & ~np.isnan(y))
        assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


@st.composite
def arrays(draw, dtypes=DTYPES, shapes=SHAPES):
    dtype, shape = draw(st.sampled_from(dtypes)), draw(st.sampled_from(shapes))
    size = int(np.prod(shape))
    numbers = draw(st.lists(st.sampled_from(SPECIAL), min_size=size, max_size=size))
    if dtype.startswith(("int", "uint", "bool")):
        numbers = [abs(v) if v == v and abs(v) != np.inf else 2 for v in numbers]
    return snp.array(np.array(numbers, "float64").reshape(shape).astype("float32")).astype(dtype)


NUMBERS = st.sampled_from((0, 1, -3, 7, 0.0, -0.0, 2.5, True, 1j))


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=3, deadline=None)
@given(x=arrays(), y=st.one_of(arrays(), NUMBERS), swap=st.booleans())
def test_binary_functions(name, x, y, swap):
    args = (y, x) if swap else (x, y)
    assert_same(outcome(BINARY[name], *args), through_the_engine(BINARY[name], *args))


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=3, deadline=None)
@given(x=arrays())
def test_functions_of_one_array(name, x):
    assert_same(outcome(UNARY[name], x), through_the_engine(UNARY[name], x))


@pytest.mark.parametrize("name", ["remainder", "floor_divide", "divmod"])
def test_what_is_called_often_is_compiled_and_stays_the_same(name, monkeypatch):
    monkeypatch.setattr(tuning, "COMPILE_AFTER_NUMPY_CALLS", 2)
    eager.clear()
    x, y = snp.array([7, -7, 0, 2**31 - 1, -(2**31)]), snp.array([2, 2, 0, -1, -1])
    first, *others = [outcome(BINARY[name], x, y) for _ in range(4)]
    eager.clear()
    for other in others:
        assert_same(other, first)


def test_committed_operands_give_committed_results():
    device = sagax.devices()[0]
    x = sagax.device_put(snp.arange(3), device)
    assert x.committed and (x + 1).committed and (1 - x).committed and snp.roll(x, 1).committed
    assert not (snp.arange(3) + 1).committed


def test_division_by_zero_and_overflow_do_not_warn():
    x = snp.array([0.0, 1.0, 3e38])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.asarray(x / 0), np.asarray(x * 10), np.asarray(snp.array([1, 0]) // 0)
    assert np.isnan(found[0][0]) and found[1][2] == np.inf and np.geterr()["divide"] == "warn"


def test_settings_of_numpy_stay_those_of_the_user():
    with np.errstate(all="raise"):
        assert float(snp.array(1.0) / 0.0) == np.inf
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)


def test_an_operation_in_a_finalizer_does_not_disturb_the_one_at_work():
    seen = []

    class Finalized:
        def __del__(self):
            seen.append(float(snp.array(2.0) / 0.0))

    def reference(x):
        Finalized()
        gc.collect()
        return x / np.float32(0)

    found = eager._quietly(reference, np.ones(2, "float32"))
    assert seen == [np.inf] and np.isinf(found).all()


def test_threads_evaluate_at_the_same_time():
    def work(seed):
        x = snp.arange(10) + seed
        for _ in range(50):
            x = (x * 3 + 1) % 1000
        return np.asarray(x)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(8)))
    for seed, x in enumerate(found):
        y = np.arange(10) + seed
        for _ in range(50):
            y = (y * 3 + 1) % 1000
        assert np.array_equal(x, y)


def test_results_cannot_be_written_to():
    x = snp.arange(4.0)
    for y in (x + 1, x[1:3], snp.reshape(x, (2, 2)), snp.sum(x), snp.where(x > 1, x, 0.0)):
        assert not np.asarray(y).flags.writeable


def test_zero_keeps_its_sign_beside_an_array():
    x = snp.array([-1.0, 1.0])
    assert np.signbit(np.asarray(x * 0.0)).tolist() == [True, False]
    assert np.signbit(np.asarray(x * -0.0)).tolist() == [False, True]


@pytest.mark.parametrize("axis", [1.0, "0", 5])
def test_wrong_arguments_are_refused_also_after_right_ones(axis):
    x = snp.ones((2, 2))
    snp.sum(x, 1)
    with pytest.raises((TypeError, ValueError, NameError)):  # a text names an axis of vmap
        snp.sum(x, axis)


def test_other_threads_evaluate_while_this_one_traces():
    def f(x):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            there = pool.submit(lambda: (snp.ones(2) + 1, sagax.jit(lambda y: 3 * y)(snp.ones(2))))
            two, three = there.result()
        assert isinstance(two.tolist(), list)  # values, not something that is traced
        assert isinstance(three.tolist(), list)
        return (x * two * three).sum()

    x = snp.array([1.0, 2.0])
    assert float(sagax.jit(f)(x)) == 18.0
    np.testing.assert_array_equal(sagax.grad(f)(x), [6.0, 6.0])
    np.testing.assert_array_equal(sagax.vmap(f)(x[None]), [18.0])


def test_what_was_left_by_an_error_is_evaluated_again():
    def fails(x):
        raise KeyError("mine")

    for transform in (sagax.jit, sagax.grad, sagax.vmap, lambda f: sagax.jit(sagax.vmap(f))):
        with pytest.raises(KeyError):
            transform(fails)(snp.ones(2) if transform is not sagax.grad else 1.0)
        assert (snp.ones(2) + 1).tolist() == [2.0, 2.0]
