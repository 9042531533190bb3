"""Sorts by packed keys, and searches for single positions, beside NumPy and beside sorts by comparisons."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning
from sagax._src.core import dtypes
from sagax._src.core.verify import check_jaxpr
from sagax._src.lowering.passes import prepared
from sagax._src.lowering.sorts import rewrite_sorts

RNG = np.random.default_rng(0)
MANY = 1500
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.5, -1.5, 3e38], np.float32)


def operand(kind, shape=(MANY,)):
    if kind == "special":
        return RNG.choice(SPECIAL, shape)
    if kind == "ties":
        return RNG.integers(-3, 3, shape).astype(np.float32)
    if np.dtype(kind).kind in "iu":
        info = np.iinfo(kind)
        return RNG.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    return RNG.standard_normal(shape).astype(kind)


KINDS = ["special", "ties", "float32", "float16", dtypes.bfloat16, "int32", "uint32", "int8", "uint16"]  # fmt: skip


def numpy_order(x, axis):
    """The stable order with NaN last and equal zeros."""
    wide = x.astype(np.float64) + 0.0 if x.dtype.kind not in "iu" else x
    return np.argsort(np.where(wide != wide, np.inf, wide), axis=axis, kind="stable")


def compares(f, *args):
    """Whether the sort of a compiled function calls a comparison of floats, or of several arrays."""
    text = sagax.jit(f).lower(*args).as_text()
    return "FLOAT" in text.split("stablehlo.sort")[1] if "stablehlo.sort" in text else None


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("shape, axis", [((MANY,), 0), ((30, 50), 1), ((30, 50), 0)])
def test_order_is_stable(kind, shape, axis):
    x = operand(kind, shape)
    if kind == "special":  # of infinity and NaN, in this order
        x = np.where(np.isinf(x) & (x > 0), np.float32(3.2e38), x)
    order = numpy_order(x, axis)
    found = sagax.jit(lambda x: snp.argsort(x, axis=axis))(x)
    assert np.array_equal(found, order)
    sorted_, carried = sagax.jit(lambda x, v: lax.sort((x, v), axis, num_keys=1))(
        x, np.arange(x.size, dtype=np.float32).reshape(shape)
    )
    expected = np.take_along_axis(np.arange(x.size).reshape(shape), order, axis)
    assert np.array_equal(carried, expected)
    assert np.asarray(sorted_).tobytes() == np.take_along_axis(x, order, axis).tobytes()


@pytest.mark.parametrize("kind", ["special", "ties", "float16"])
def test_same_bits_as_by_comparisons(kind, monkeypatch):
    x = operand(kind)
    found = np.asarray(sagax.jit(lambda x: lax.sort(x))(x))
    monkeypatch.setattr(tuning, "PACKED_SORT_MIN_ELEMENTS", 1 << 40)
    compared = sagax.jit(lambda x: lax.sort(x) * 1)
    assert compares(compared, x)
    monkeypatch.undo()
    assert not compares(lambda x: lax.sort(x), x)
    assert found.tobytes() == np.take_along_axis(x, numpy_order_with_nan(x), 0).tobytes()


def numpy_order_with_nan(x):
    wide = x.astype(np.float64) + 0.0
    return np.lexsort((np.where(wide != wide, 0, wide), wide != wide))


def test_subnormal_numbers_are_ordered():
    x = RNG.permutation(np.arange(-500, 500).astype(np.int32)).view(np.int32)
    tiny = (np.abs(x) | np.where(x < 0, np.int32(-(1 << 31)), np.int32(0))).view(np.float32)
    assert np.array_equal(np.asarray(sagax.jit(lambda x: lax.sort(x))(tiny)).view(np.int32),
                          np.sort(tiny).view(np.int32))  # fmt: skip


def test_derivatives_follow_the_order():
    x = operand("float32")
    ct = RNG.standard_normal(MANY).astype(np.float32)
    back = sagax.jit(lambda x: sagax.vjp(lambda x: lax.sort(x), x)[1](ct)[0])(x)
    expected = np.empty_like(ct)
    expected[np.argsort(x)] = ct
    assert np.array_equal(back, expected)


def test_vmap_and_symbolic_sizes():
    x = operand("float32", (5, 400))
    assert np.array_equal(sagax.jit(sagax.vmap(snp.sort))(x), np.sort(x))
    exported = sagax.export.export(sagax.jit(snp.sort))(
        sagax.ShapeDtypeStruct(sagax.export.symbolic_shape("n"), np.float32)
    )
    assert np.array_equal(exported.call(x[0]), np.sort(x[0]))


# Single positions


def has_sort(f, *args):
    jaxpr = rewrite_sorts(sagax.make_jaxpr(f)(*args).jaxpr)
    check_jaxpr(jaxpr)
    return "sort[" in str(jaxpr)


def at(*positions):
    def f(x):
        x = snp.sort(x, -1)
        return tuple([x[..., k] for k in positions])

    return f


@pytest.mark.parametrize("kind", ["ties", "float32", "float16", dtypes.bfloat16, "int32", "uint32"])
@pytest.mark.parametrize("positions", [(700,), (749, 750), (0,), (MANY - 1,), (0, 1), (3, 4, MANY - 1)])  # fmt: skip
def test_positions(kind, positions):
    for shape in ((MANY,), (3, MANY)):
        x = operand(kind, shape)
        assert not has_sort(at(*positions), x)
        for found, k in zip(sagax.jit(at(*positions))(x), positions, strict=True):
            assert np.array_equal(found, np.sort(x, -1)[..., k])


def test_positions_among_infinities_and_nan():
    x = operand("special", (4, MANY))
    for k in (0, 5, 700, MANY - 1):
        (found,) = sagax.jit(at(k))(x)
        assert np.array_equal(found, np.sort(x, -1)[..., k], equal_nan=True)


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 0.999, 1.0])
def test_quantiles(q):
    x = operand("float32", (2, MANY))
    for axis in (None, 1):
        found = sagax.jit(lambda x, axis=axis: snp.quantile(x, q, axis=axis))(x)
        np.testing.assert_allclose(found, np.quantile(x, q, axis=axis), rtol=1e-6)
    assert not has_sort(lambda x: snp.quantile(x, q), x)
    x[0, 7] = np.nan
    assert np.array_equal(
        np.isnan(sagax.jit(lambda x: snp.quantile(x, q, axis=1))(x)), [True, False]
    )


def test_derivative_of_a_median():
    x = operand("float32", (MANY + 1,))
    found = sagax.jit(sagax.grad(lambda x: snp.median(x) ** 2))(x)
    expected = np.zeros_like(x)
    expected[np.argsort(x)[MANY // 2]] = 2 * np.median(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_stays_a_sort():
    x = operand("float32")
    assert has_sort(lambda x: snp.sort(x), x)
    assert has_sort(lambda x: (lambda y: (y[700], y.sum()))(snp.sort(x)), x)
    assert has_sort(lambda x: (lambda y: (y[700], y))(snp.sort(x)), x)
    assert has_sort(at(100, 900), x)  # two searches take as long
    assert has_sort(at(10), x[:100])
    assert has_sort(lambda x: snp.sort(x)[700:702], x)
    jaxpr = sagax.make_jaxpr(at(700))(x).jaxpr
    with sagax.config.context(exact=True):
        assert "sort[" in str(prepared(jaxpr, "cpu"))
    assert prepared(jaxpr, "gpu") is jaxpr
