"""Making, joining, padding and slicing arrays: values, derivatives and batching as the oracle
recorded them; errors; what is better than there."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src.core import dims
from sagax.errors import TracerIntegerConversionError
from slicing_cases import SHAPING, SLICING
from slicing_oracle import check_derivatives, check_maps, check_values

CASES = SHAPING | SLICING
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("slicing")


@pytest.mark.parametrize("name", CASES)
def test_values(name, data):
    check_values(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.maps])
def test_maps(name, data):
    check_maps(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.derivative and c.operands])
def test_derivatives(name, data):
    check_derivatives(name, CASES[name], data)


# forms ------------------------------------------------------------------------------------------


def text(fun, *args):
    return str(sagax.make_jaxpr(fun)(*args))


@pytest.mark.parametrize(
    ("fun", "equation"),
    [
        (lambda x: lax.concatenate([x, x], 0), "b:f32[6,4] = concatenate[dimension=0] a a"),
        (lambda x: lax.split(x, (1, 3), 1), "b:f32[3,1] c:f32[3,3] = split[axis=1 sizes=(1, 3)] a"),
        (lambda x: lax.rev(x, [0]), "b:f32[3,4] = rev[dimensions=(0,)] a"),
        (lambda x: lax.tile(x, (2, 3)), "b:f32[6,12] = tile[reps=(2, 3)] a"),
        (lambda x: lax.stack([x, x], 1), "b:f32[3,2,4] = stack[axis=1] a a"),
        (lambda x: lax.unstack(x), "b:f32[4] c:f32[4] d:f32[4] = unstack[axis=0] a"),
        (
            lambda x: lax.slice(x, (0, 1), (3, 4)),
            "b:f32[3,3] = slice[limit_indices=(3, 4) start_indices=(0, 1) strides=None] a",
        ),
        (
            lambda x: lax.pad(x, np.float32(0), [(1, -1, 0), (0, 0, 2)]),
            "pad[padding_config=((1, -1, 0), (0, 0, 2))] a 0.0:f32[]",
        ),
        (lambda x: lax.full((2,), 3.0), "b:f32[2] = broadcast_in_dim 3.0:f32[]"),
        (lambda x: lax.iota(np.int32, 5), "iota[dimension=0 dtype=int32 shape=(5,) sharding=None]"),
        (
            lambda x: lax.dynamic_slice(x, (1, -1), (2, 2)),
            "b:f32[2,2] = dynamic_slice[slice_sizes=(2, 2)] a 1:i32[] 3:i32[]",
        ),
        (
            lambda x: lax.dynamic_update_slice(x, x, (0, -1)),
            "b:f32[3,4] = dynamic_update_slice a a 0:i32[] 3:i32[]",
        ),
    ],
)
def test_jaxprs_have_the_familiar_form(fun, equation):
    assert equation in text(fun, X)


def test_traced_start_indices_wrap_in_the_program():
    made = text(lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2)), X, np.int32(1))
    assert "lt b 0:i32[]" in made and "add b 3:i32[]" in made and "select_n" in made
    unsigned = text(lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2)), X, np.uint32(1))
    assert "select_n" not in unsigned
    plain = text(
        lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2), allow_negative_indices=False),
        X,
        np.int32(1),
    )
    assert "select_n" not in plain


def test_nothing_to_do_gives_the_operand():
    x = sagax.device_put(X)
    assert lax.concatenate([x], 0) is x
    assert lax.slice(x, (0, 0), (3, 4)) is x
    assert lax.slice(x, (0, 0), (3, 4), (1, 1)) is x
    assert lax.broadcast_to_rank(x, 2) is x
    assert lax.broadcast_to_rank(x, 1) is x
    assert lax.collapse(x, 1) is x


def test_weak_types():
    assert lax.full((2,), 1.0).weak_type
    assert not lax.full((2,), 1.0, np.float32).weak_type
    assert not lax.full((2,), 1, float).weak_type
    assert lax.full_like(1, 2.5).weak_type and lax.full_like(1, 2.5).dtype == np.int32
    assert not lax.full_like(X, 2).weak_type
    assert not lax.concatenate([lax.full((1,), 1.0), X[0]], 0).weak_type
    assert lax.concatenate([lax.full((1,), 1.0)] * 2, 0).weak_type


def test_full_of_anything_with_shape_and_dtype():
    out = lax.full_like(sagax.ShapeDtypeStruct((2,), np.int8), 3)
    assert out.dtype == np.int8 and out.tolist() == [3, 3]
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        assert lax.full((), np.float64(1e40)).dtype == np.float32


def test_empty_is_zeros():
    np.testing.assert_array_equal(lax.empty((2,), np.int32), [0, 0])


@pytest.mark.parametrize(
    "shapes", [((2, 1), (3,)), ((), (4,)), ((0,), (1,)), ((5,),), ((1, 1), (3, 1), (7,))]
)
def test_broadcast_shapes_is_that_of_numpy(shapes):
    assert lax.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)


# indices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32])
@pytest.mark.parametrize("index", [0, 1, 100, 127, -1, -100])
def test_start_indices_of_any_integer_dtype(dtype, index):
    """As Python counts, then clamped; also where the size is no number of the index type."""
    if index < 0 and np.dtype(dtype).kind == "u":
        index += 200
    x = np.arange(300, dtype=np.int32)
    start = min(index % 300, 298)
    i = np.asarray(index).astype(dtype)
    for how in (lambda f: f, sagax.jit):
        out = how(lambda x, i: lax.dynamic_slice(x, (i,), (2,)))(x, i)
        assert out.tolist() == [start, start + 1]
        out = how(lambda x, i: lax.dynamic_update_slice(x, np.array([-1, -2], np.int32), (i,)))(
            x, i
        )
        want = x.copy()
        want[start : start + 2] = -1, -2
        np.testing.assert_array_equal(out, want)


def test_python_indices_of_any_size_are_clamped():
    x = np.arange(5)
    for index, want in [(2**40, [3, 4]), (-(2**40), [0, 1]), (-3, [2, 3]), (4, [3, 4])]:
        assert lax.dynamic_slice(x, (index,), (2,)).tolist() == want


def test_python_indices_take_the_dtype_of_the_others():
    out = sagax.jit(lambda i: lax.dynamic_slice(X, (i, 1), (1, 2)))(np.uint8(2))
    np.testing.assert_array_equal(out, X[2:3, 1:3])


def test_x64_indices():
    with sagax.enable_x64(True):
        out = sagax.jit(lambda i: lax.dynamic_slice(np.arange(5), (i,), (2,)))(np.int64(2**40))
        assert out.tolist() == [3, 4] and out.dtype == np.int64


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4", "float8_e4m3fn", "bfloat16"])
def test_narrow_dtypes(name):
    """Moving data of types narrower than NumPy's own, at once and compiled."""
    x = np.array([[0, 1], [1, 0], [1, 1]]).astype(getattr(ml_dtypes, name))
    wide = x.astype(np.float32)
    programs = [
        (lambda x: lax.concatenate([x, x], 0), np.concatenate([wide, wide])),
        (lambda x: lax.slice(x, (1, 0), (3, 2)), wide[1:]),
        (
            lambda x: lax.pad(x, x.dtype.type(1), [(1, 0, 0), (0, -1, 0)]),
            np.pad(wide, ((1, 0), (0, 0)), constant_values=1)[:, :1],
        ),  # fmt: skip
        (lambda x: lax.dynamic_slice(x, (1, 1), (2, 1)), wide[1:, 1:]),
        (lambda x: lax.rev(x, (0,)), wide[::-1]),
        (lambda x: lax.tile(x, (2, 1)), np.tile(wide, (2, 1))),
        (lambda x: lax.stack([x, x], 2), np.stack([wide, wide], 2)),
    ]
    for fun, want in programs:
        for out in (fun(x), sagax.jit(fun)(x)):
            assert out.dtype == x.dtype
            np.testing.assert_array_equal(np.asarray(out).astype(np.float32), want)


# symbolic sizes ---------------------------------------------------------------------------------

_N, _M = dims.symbolic_shape("n, m")


@pytest.mark.parametrize(
    ("fun", "shape"),
    [
        (lambda x: lax.concatenate([x, x], 0), (6, _N)),
        (lambda x: lax.concatenate([x, x], 1), (3, 2 * _N)),
        (lambda x: lax.slice(x, (1, 0), (2, _N)), (1, _N)),
        (lambda x: lax.slice(x, (1, 1), (2, _N)), (1, _N - 1)),
        (lambda x: lax.slice_in_dim(x, -2, None), (2, _N)),
        (lambda x: lax.pad(x, np.float32(0), [(1, 0, 0), (1, 2, 1)]), (4, 2 * _N + 2)),
        (lambda x: lax.pad(x, np.float32(0), [(1, 0, 0), (_M, 0, 0)]), (4, _N + _M)),
        (lambda x: lax.split(x, (1, 2))[1], (2, _N)),
        (lambda x: lax.dynamic_slice(x, (1, 0), (2, _N)), (2, _N)),
        (lambda x: lax.dynamic_index_in_dim(x, -1, 1), (3, 1)),
        (lambda x: lax.dynamic_update_slice(x, x, (0, 1)), (3, _N)),
        (lambda x: lax.tile(x, (2, 3)), (6, 3 * _N)),
        (lambda x: lax.unstack(x)[0], (_N,)),
        (lambda x: lax.collapse(x, 0), (3 * _N,)),
        (lambda x: lax.broadcasted_iota(np.int32, (_M, 3), 0), (_M, 3)),
        (lambda x: lax.full_like(x, 1, shape=(_M,)), (_M,)),
    ],
)
def test_symbolic_sizes(fun, shape):
    made = sagax.make_jaxpr(fun)(sagax.ShapeDtypeStruct((3, _N), np.float32))
    assert made.out_avals[0].shape == shape


# errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.concatenate([], 0), ValueError, "at least one array"),
        (lambda: lax.concatenate([X, X[0]], 0), TypeError, "number of dimensions.*\\(3, 4\\) and"),
        (lambda: lax.concatenate([X, X.astype(int)], 0), TypeError, "got float32, int32"),
        (lambda: lax.concatenate([X, X[:, :1]], 0), TypeError, "operand 1 has size 1 along.* 1"),
        (lambda: lax.concatenate([X, X], -1), TypeError, "dimension from 0 to 1"),
        (lambda: lax.concatenate([1.0, 2.0], 0), TypeError, "lax.stack"),
        (lambda: lax.split(X, (1, 1)), ValueError, "add up to 2, axis 0 has size 3"),
        (lambda: lax.split(X, (1, 2), 3), ValueError, "axis.*got 3"),
        (lambda: lax.stack([]), ValueError, "at least one array"),
        (lambda: lax.stack([X, X[:1]]), ValueError, "differ in shape"),
        (lambda: lax.unstack(X, 5), ValueError, "axis.*got 5"),
        (lambda: lax.tile(X, (2,)), TypeError, "operand's 2 dimensions"),
        (lambda: lax.tile(X, (2, -1)), ValueError, "negative"),
        (lambda: lax.rev(X, [2]), TypeError, "rev.*dimensions.*got \\(2,\\)"),
        (lambda: lax.rev(X, [-1]), TypeError, "no negative ones"),
        (lambda: lax.rev(X, [0, 0]), TypeError, "distinct"),
        (lambda: lax.rev(X, 0), TypeError, "pass \\(axis,\\)"),
        (lambda: lax.iota(np.int32, -1), ValueError, "iota.*negative"),
        (lambda: lax.iota(bool, 3), TypeError, "iota does not accept dtype bool"),
        (lambda: lax.iota(np.int32, 2.0), TypeError, "iota.*integer"),
        (lambda: lax.broadcasted_iota(np.int32, (2, 3), 2), ValueError, "below 2"),
        (lambda: lax.full((2,), X), TypeError, "fill_value.*scalar"),
        (lambda: lax.full((-1,), 1), ValueError, "full.*negative"),
        (lambda: lax.full((2,), "a"), TypeError, "fill_value"),
        (lambda: lax.full((2,), None), TypeError, "fill_value"),
        (lambda: lax.broadcast_shapes((2,), (3,)), ValueError, "axis -1.*\\(2,\\) and \\(3,\\)"),
        (lambda: lax.broadcast_like(X, X[0]), ValueError, "broadcasts to \\(4,\\)"),
        (lambda: lax.collapse(X, 1, 0), ValueError, "end before it starts"),
        (lambda: lax.pad(X, np.int32(0), [(0, 0, 0)] * 2), TypeError, "float32, int32"),
        (lambda: lax.pad(X, X[0], [(0, 0, 0)] * 2), ValueError, "padding_value.*scalar"),
        (lambda: lax.pad(X, np.float32(0), [(0, 0, 0)]), ValueError, "operand's 2 dimensions"),
        (lambda: lax.pad(X, np.float32(0), [(0, 0), (0, 0)]), ValueError, "low, high, interior"),
        (lambda: lax.pad(X, np.float32(0), [(0, 0, -1), (0, 0, 0)]), ValueError, "\\[0\\]\\[2\\]"),
        (lambda: lax.pad(X, np.float32(0), [(-4, 0, 0), (0, 0, 0)]), ValueError, "size -1"),
        (lambda: lax.slice(X, (0,), (1, 1)), TypeError, "start_indices.*2 dimensions"),
        (lambda: lax.slice(X, (0, 0), (1,)), TypeError, "limit_indices.*2 dimensions"),
        (lambda: lax.slice(X, (0, 0), (2, 2), (1,)), TypeError, "strides.*2 dimensions"),
        (lambda: lax.slice(X, (-1, 0), (1, 1)), TypeError, "from -1 to 1.*slice_in_dim"),
        (lambda: lax.slice(X, (2, 0), (1, 1)), TypeError, "dimension 0 of size 3.*from 2 to 1"),
        (lambda: lax.slice(X, (0, 0), (3, 5)), TypeError, "dimension 1 of size 4.*to 5"),
        (lambda: lax.slice(X, (0, 0), (2, 2), (0, 1)), TypeError, "stride of at least 1"),
        (lambda: lax.slice(X, (0.5, 0), (2, 2)), TypeError, "start_indices.*ints"),
        (lambda: lax.slice_in_dim(X, 0, 9), TypeError, "from 0 to 9"),
        (lambda: lax.slice_in_dim(X, 0, 1, axis=5), ValueError, "axis.*got 5"),
        (lambda: lax.index_in_dim(X, 3), IndexError, "index 3 is out of bounds for axis 0"),
        (lambda: lax.index_in_dim(X, -4), IndexError, "index -4"),
        (lambda: lax.dynamic_slice(X, (0,), (1, 1)), ValueError, "1 start indices.*\\(3, 4\\)"),
        (lambda: lax.dynamic_slice(X, (0, 0), (1,)), TypeError, "slice_sizes.*2 dimensions"),
        (lambda: lax.dynamic_slice(X, (0, 0), (1, 5)), TypeError, "size 5.*dimension 1, of size 4"),
        (lambda: lax.dynamic_slice(X, (0, 0), (1, -1)), TypeError, "size -1"),
        (lambda: lax.dynamic_slice(X, (0.0, 0.0), (1, 1)), TypeError, "integers of the same type"),
        (lambda: lax.dynamic_slice(X, (X, 0), (1, 1)), TypeError, "integers of the same type"),
        (lambda: lax.dynamic_slice(X, (X.astype(int), 0), (1, 1)), TypeError, "not a scalar"),
        (lambda: lax.dynamic_slice(X, np.zeros((1, 2), int), (1, 1)), TypeError, "one-dimensional"),
        (
            lambda: lax.dynamic_slice(X, (np.uint8(1), np.int32(1)), (1, 1)),
            TypeError,
            "uint8, int32",
        ),
        (
            lambda: lax.dynamic_slice(X, (0, -10), (2, 2), allow_negative_indices=False),
            ValueError,
            "index -10 of dimension 1 is negative",
        ),
        (
            lambda: lax.dynamic_slice(X, (0, 0), (1, 1), allow_negative_indices=(True,)),
            ValueError,
            "allow_negative_indices.*2 dimensions",
        ),
        (lambda: lax.dynamic_slice_in_dim(X, 0, 1, 5), ValueError, "axis.*got 5"),
        (
            lambda: lax.dynamic_update_slice(X, X.astype(int), (0, 0)),
            TypeError,
            "float32, int32",
        ),
        (lambda: lax.dynamic_update_slice(X, X[0], (0, 0)), TypeError, "number of dimensions"),
        (
            lambda: lax.dynamic_update_slice(X, np.ones((4, 4), np.float32), (0, 0)),
            TypeError,
            "size 4 does not fit into dimension 0, of size 3",
        ),
    ],
)  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match="(?s)" + words):
        call()


def test_sizes_must_be_known_while_tracing():
    calls = (
        lambda n: lax.dynamic_slice(X, (0, 0), (n, 1)),
        lambda n: lax.dynamic_slice_in_dim(X, 0, n),
        lambda n: lax.slice(X, (0, 0), (n, 1)),
    )
    for call, argument in zip(calls, ("slice_sizes", "slice_sizes", "limit_indices"), strict=True):
        with pytest.raises(TracerIntegerConversionError) as caught:
            sagax.jit(call)(2)
        assert f"argument: {argument}" in str(caught.value)
        assert "depends on: n (argument of" in str(caught.value)


def test_unstacking_an_unknown_number_of_slices():
    with pytest.raises(ValueError, match="symbolic size n"):
        sagax.make_jaxpr(lax.unstack)(sagax.ShapeDtypeStruct((_N,), np.float32))
