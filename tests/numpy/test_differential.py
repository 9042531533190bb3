"""The functions of `sagax.numpy` beside those of NumPy, over drawn dtypes, shapes and axes.

What NumPy computes in a wider type is rounded to the type of the result; integers wrap around. The
dtypes of results are tested against recorded ones elsewhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import sagax.numpy as snp

BOOL, I8, I32, U8, F32, C64 = (
    np.dtype(d) for d in ("bool", "int8", "int32", "uint8", "float32", "complex64")
)
INTEGERS = (BOOL, I8, I32, U8)
REAL = (*INTEGERS, F32)
ALL = (*REAL, C64)
# Few sizes, since every shape of a compiled function is compiled.
SHAPES = st.sampled_from([(), (0,), (1,), (4,), (2, 3), (0, 3), (3, 1), (2, 3, 4)])
settings.register_profile("differential", parent=settings.get_profile("suite"), max_examples=25)
EXAMPLES = settings(settings.get_profile("differential"))


def contents(dtype: np.dtype, special: bool = False) -> st.SearchStrategy[Any]:
    """Elements of a dtype: small numbers, and for floats with `special` also NaN and infinities."""
    if dtype == BOOL:
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return st.integers(max(int(info.min), -100), min(int(info.max), 100))
    real = st.integers(-64, 64).map(lambda n: n / 8)
    if dtype.kind == "c":
        return st.builds(complex, real, real)
    return st.one_of(real, st.sampled_from([np.nan, np.inf, -np.inf, -0.0])) if special else real


@st.composite
def array(draw: Any, dtypes: tuple = ALL, shapes: Any = SHAPES, special: bool = False) -> Any:
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes)
    return draw(arrays_of.arrays(dtype, shape, elements=contents(dtype, special)))


def wide(x: np.ndarray) -> np.ndarray:
    """`x` in the widest type of its kind, in which NumPy makes no error that counts here."""
    if x.dtype.kind in "iub":
        return x if x.dtype == BOOL else x.astype(np.int64)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def rounded(value: Any, like: np.ndarray) -> np.ndarray:
    value = np.asarray(value)
    if like.dtype.kind in "iu" and value.dtype.kind in "iub":
        return value.astype(like.dtype)  # wraps around
    if like.dtype.kind in "fc" and value.dtype.kind == like.dtype.kind:
        with np.errstate(over="ignore"):
            return value.astype(like.dtype)
    return value


def same(found: Any, expected: Any, tolerance: float = 2e-5) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            same(f, e, tolerance)
        return
    found = np.asarray(found)
    expected = rounded(expected, found)
    assert found.shape == expected.shape
    if found.dtype.kind in "iub" and expected.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def both(name: str, *args: Any, change: Callable = wide, **kwargs: Any) -> None:
    """Fails unless sagax gives what NumPy gives, or both refuse."""
    ours = [snp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    theirs = [change(a) if isinstance(a, np.ndarray) else a for a in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # of empty slices and NaN, by NumPy
        try:
            expected = getattr(np, name)(*theirs, **kwargs)
        except (ValueError, TypeError, IndexError) as refusal:
            with pytest.raises((ValueError, TypeError, IndexError)):
                getattr(snp, name)(*ours, **kwargs)
            assert str(refusal)
            return
    same(getattr(snp, name)(*ours, **kwargs), expected)


def axes_of(x: np.ndarray, several: bool = True) -> st.SearchStrategy[Any]:
    if not x.ndim:
        return st.none()
    one = st.integers(-x.ndim, x.ndim - 1)
    if not several:
        return st.one_of(st.none(), one)
    tuples = st.lists(st.integers(0, x.ndim - 1), unique=True).map(tuple)
    return st.one_of(st.none(), one, tuples)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "any", "all"])
@EXAMPLES
@given(data=st.data())
def test_reductions(name, data):
    x = data.draw(array())
    both(name, x, axis=data.draw(axes_of(x)), keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["max", "min", "ptp"])
@EXAMPLES
@given(data=st.data())
def test_extremes(name, data):
    x = data.draw(array((I8, I32, U8, F32), special=name != "ptp"))
    both(name, x, axis=data.draw(axes_of(x)), keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar"])
@EXAMPLES
@given(data=st.data())
def test_reductions_without_nan(name, data):
    values = st.one_of(st.just(np.nan), contents(F32))
    shapes = st.sampled_from([(1,), (4,), (2, 3), (2, 3, 4)])
    x = data.draw(arrays_of.arrays(F32, shapes, elements=values))
    both(name, x, axis=data.draw(axes_of(x)))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@EXAMPLES
@given(data=st.data())
def test_places_of_extremes(name, data):
    x = data.draw(array((I8, I32, U8, F32), special=True))
    both(name, x, axis=data.draw(axes_of(x, several=False)), change=np.asarray)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@EXAMPLES
@given(data=st.data())
def test_running(name, data):
    x = data.draw(array((I8, I32, U8, F32)))
    both(name, x, axis=data.draw(axes_of(x, several=False)))


@pytest.mark.parametrize("name", ["median", "quantile"])
@EXAMPLES
@given(data=st.data())
def test_order_statistics(name, data):
    x = data.draw(array((I32, F32), st.sampled_from([(1,), (4,), (2, 3), (2, 3, 4)])))
    q = (data.draw(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])),) if name == "quantile" else ()
    both(name, x, *q, axis=data.draw(axes_of(x, several=False)))


@pytest.mark.parametrize("name", ["sort", "argsort"])
@EXAMPLES
@given(data=st.data())
def test_sorting(name, data):
    x = data.draw(array((I8, I32, U8, F32), special=True))
    x = x + 0  # NumPy keeps -0.0 and 0.0 in any order
    axis = data.draw(axes_of(x, several=False))
    both(name, x, axis=axis, change=np.asarray, **({"stable": True} if name == "argsort" else {}))


UNARY = "negative abs sign floor ceil trunc rint square reciprocal exp log1p tanh sqrt conj isnan".split()


@pytest.mark.parametrize("name", UNARY)
@EXAMPLES
@given(data=st.data())
def test_of_one_array(name, data):
    kinds = (F32,) if name in ("rint", "reciprocal", "log1p", "sqrt") else (I32, F32)
    x = data.draw(array(kinds, special=True))
    both(name, x)


BINARY = (
    "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor"
).split()


@st.composite
def pair(draw: Any, dtypes: tuple, special: bool = False) -> Any:
    """Two arrays of one dtype whose shapes broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    shapes = draw(arrays_of.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    elements = contents(dtype, special)
    return [draw(arrays_of.arrays(dtype, s, elements=elements)) for s in shapes.input_shapes]


@pytest.mark.parametrize("name", BINARY)
@EXAMPLES
@given(data=st.data())
def test_of_two_arrays(name, data):
    x, y = data.draw(pair((I8, I32, U8, F32), special=True))
    both(name, x, y)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@EXAMPLES
@given(data=st.data())
def test_quotients(name, data):
    x, y = data.draw(pair((I8, I32, F32)))
    y = np.where(y == 0, y.dtype.type(3), y)
    both(name, x, y)


@pytest.mark.parametrize("name", ["gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor"])
@EXAMPLES
@given(data=st.data())
def test_of_two_arrays_of_integers(name, data):
    both(name, *data.draw(pair((I8, I32, U8))))


@pytest.mark.parametrize("name", ["arctan2", "hypot", "logaddexp", "copysign", "true_divide"])
@EXAMPLES
@given(data=st.data())
def test_of_two_arrays_of_floats(name, data):
    both(name, *data.draw(pair((F32,), special=True)))


@EXAMPLES
@given(data=st.data())
def test_flip_and_roll(data):
    x = data.draw(array())
    axis = data.draw(axes_of(x))
    both("flip", x, axis=axis)
    both("roll", x, data.draw(st.integers(-5, 5)), axis=axis)


@EXAMPLES
@given(data=st.data())
def test_rearranged_dimensions(data):
    x = data.draw(array())
    order = data.draw(st.permutations(range(x.ndim)))
    both("transpose", x, tuple(order))
    if x.ndim:
        source, target = data.draw(st.tuples(*2 * [st.integers(-x.ndim, x.ndim - 1)]))
        both("moveaxis", x, source, target)
        both("swapaxes", x, source, target)
    place = data.draw(st.integers(-x.ndim - 1, x.ndim))
    both("expand_dims", x, place)
    both("squeeze", x)
    both("ravel", x)
    both("reshape", x, (-1, 1) if x.size else (0, 1))


@EXAMPLES
@given(data=st.data())
def test_joined_and_divided(data):
    x = data.draw(array(shapes=st.sampled_from([(1,), (4,), (2, 3), (3, 1), (2, 3, 4)])))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    ours = snp.asarray(x)
    same(snp.concatenate([ours, ours], axis), np.concatenate([x, x], axis))
    same(snp.stack([ours, ours], axis), np.stack([x, x], axis))
    at = sorted(data.draw(st.lists(st.integers(0, x.shape[axis]), max_size=3)))
    both("split", x, at, axis=axis, change=np.asarray)
    both("array_split", x, data.draw(st.integers(1, 4)), axis=axis, change=np.asarray)
    both("repeat", x, data.draw(st.integers(0, 3)), axis=axis)
    both("tile", x, tuple(data.draw(st.lists(st.integers(0, 2), max_size=3))))


MODES = ["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "mean", "linear_ramp"]


@pytest.mark.parametrize("mode", MODES)
@EXAMPLES
@given(data=st.data())
def test_padded(mode, data):
    x = data.draw(array((F32,), st.sampled_from([(1,), (4,), (2, 3)])))
    width = [data.draw(st.tuples(*2 * [st.integers(0, 3)])) for _ in x.shape]
    both("pad", x, width, mode=mode)


@EXAMPLES
@given(data=st.data())
def test_differences_and_triangles(data):
    x = data.draw(array((I32, F32), st.sampled_from([(2, 3), (3, 1), (2, 3, 4)])))
    k = data.draw(st.integers(-3, 3))
    both("tril", x, k)
    both("triu", x, k)
    both("diagonal", x, k)
    both("trace", x, k)
    both("diff", x, data.draw(st.integers(0, 2)), axis=data.draw(st.integers(-x.ndim, x.ndim - 1)))


@EXAMPLES
@given(data=st.data())
def test_sets_and_counts(data):
    x = data.draw(array((I8, I32, F32), special=False))
    y = data.draw(array((x.dtype,)))
    both("unique", x)
    both("isin", x, y)
    both("union1d", x, y)
    both("intersect1d", x, y)
    both("setdiff1d", x, y)
    both("count_nonzero", x, axis=data.draw(axes_of(x)))
    if x.ndim:
        both("nonzero", x)
        both("argwhere", x)


@EXAMPLES
@given(data=st.data())
def test_search_and_interpolation(data):
    known = np.sort(data.draw(array((F32,), st.sampled_from([(1,), (4,), (6,)]))))
    x = data.draw(array((F32,)))
    both("searchsorted", known, x, side=data.draw(st.sampled_from(["left", "right"])))
    both("interp", x, np.unique(known), np.arange(np.unique(known).size, dtype=np.float32))
    numbers = data.draw(arrays_of.arrays(I32, st.integers(0, 6), elements=st.integers(0, 5)))
    both("bincount", numbers, minlength=data.draw(st.integers(0, 8)))


@EXAMPLES
@given(data=st.data())
def test_products(data):
    n, m, k = data.draw(st.tuples(*3 * [st.integers(0, 3)]))
    dtype = data.draw(st.sampled_from((I32, F32, C64)))
    of = lambda *shape: data.draw(arrays_of.arrays(dtype, shape, elements=contents(dtype)))  # noqa: E731
    x, y = of(n, m), of(m, k)
    both("matmul", x, y)
    both("dot", x, y)
    both("einsum", "ij,jk->ki", x, y)
    both("tensordot", x, y, axes=1)
    both("outer", x, y)
    both("kron", x, y)
    both("inner", x, np.conj(x))
    both("vdot", x, x)
