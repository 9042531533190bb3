"""Functions that change shape and order, put arrays together and take them apart."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numpy_rest_cases as rest
import sagax
import sagax.export
import sagax.numpy as snp
from sagax import lax
from sagax._src import trees
from sagax._src.core import dims
from sagax._src.core.value import Array

SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=4).map(tuple)
FULL = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


def numbers(shape: tuple) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


def agree(found, expected) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


def both(fun, *arrays) -> list:
    """The result of `fun` called on arrays, and compiled."""
    return [fun(*arrays), sagax.jit(fun)(*arrays)]


@pytest.mark.parametrize("section", ["shaping", "sequences"])
def test_as_recorded(section, oracle_data):
    lines = rest.sections()[section]
    recorded = oracle_data("numpy_rest")["values"]
    wrong = rest.differences(sagax, Array, trees.leaves, lines, recorded)
    assert not wrong, "\n".join(wrong)


@given(shape=SHAPES, data=st.data())
def test_order_of_dimensions(shape, data):
    x = numbers(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    agree(snp.transpose(x, axes), np.transpose(x, axes))
    agree(snp.transpose(x), x.T)
    agree(snp.flip(x, tuple(axes[:2])), np.flip(x, tuple(axes[:2])))
    if len(shape) > 1:
        i, j = axes[0], axes[1] - len(shape)
        agree(snp.swapaxes(x, i, j), np.swapaxes(x, i, j))
        agree(snp.moveaxis(x, i, j), np.moveaxis(x, i, j))
        agree(snp.moveaxis(x, axes[:2], [0, -1]), np.moveaxis(x, axes[:2], [0, -1]))
        agree(snp.rollaxis(x, i, axes[1]), np.rollaxis(x, i, axes[1]))
        turns = data.draw(st.integers(-5, 5))
        agree(snp.rot90(x, turns, (i, j)), np.rot90(x, turns, (i, j)))


@given(shape=SHAPES, order=st.sampled_from("CF"), data=st.data())
def test_reshape(shape, order, data):
    x = numbers(shape)
    divisors = [d for d in range(1, x.size + 1) if x.size % d == 0] or [1]
    first = data.draw(st.sampled_from(divisors))
    agree(snp.reshape(x, (first, -1), order), np.reshape(x, (first, x.size // first), order))
    agree(snp.ravel(x, order), np.ravel(x, order))
    new = data.draw(st.sampled_from([(2, 3), (7,), (), (1, 0)]))
    agree(snp.resize(x, new), np.resize(x, new))
    for y in (snp.atleast_1d(x), snp.atleast_2d(x), snp.atleast_3d(x)):
        assert y.size == x.size and y.ndim >= 1
    agree(snp.atleast_3d(x), np.atleast_3d(x))


@given(shape=FULL, data=st.data())
def test_joining(shape, data):
    x = numbers(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    other = list(shape)
    other[axis] = data.draw(st.integers(0, 3))
    y = -numbers(tuple(other))
    agree(snp.concatenate([x, y, x], axis), np.concatenate([x, y, x], axis))
    agree(snp.concatenate([x, y], None), np.concatenate([x, y], None))
    agree(snp.append(x, y, axis), np.append(x, y, axis))
    agree(snp.stack([x, -x], axis), np.stack([x, -x], axis))
    for name in ("vstack", "hstack", "dstack"):
        agree(getattr(snp, name)([x, -x]), getattr(np, name)([x, -x]))
    if len(shape) < 3:
        agree(snp.column_stack([x, -x]), np.column_stack([x, -x]))
        agree(snp.block([[x, -x], [-x, x]]), np.block([[x, -x], [-x, x]]))


@given(shape=FULL, data=st.data())
def test_splitting(shape, data):
    x = numbers(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    cuts = data.draw(st.lists(st.integers(-6, 6), max_size=3))
    count = data.draw(st.integers(1, 5))
    for found, expected in [
        (snp.split(x, cuts, axis), np.split(x, cuts, axis)),
        (snp.array_split(x, count, axis), np.array_split(x, count, axis)),
        (snp.unstack(x, axis=axis), np.unstack(x, axis=axis)),
    ]:
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            agree(a, b)


@given(shape=FULL, data=st.data())
def test_repetition(shape, data):
    x = numbers(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    reps = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
    agree(snp.tile(x, reps), np.tile(x, reps))
    times = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=shape[axis], max_size=shape[axis])), np.int32
    )
    expected = np.repeat(x, times, axis)
    agree(snp.repeat(x, times, axis), expected)
    total = expected.shape[axis] + data.draw(st.integers(-1, 2))
    if total >= 0:
        filled = np.concatenate([expected, *[np.take(x, [-1], axis)] * 2], axis)
        filled = np.take(filled, range(total), axis)
        for fun in (
            snp.repeat,
            sagax.jit(snp.repeat, static_argnames=("axis", "total_repeat_length")),
        ):
            agree(fun(x, times, axis=axis, total_repeat_length=total), filled)
    shift = data.draw(st.integers(-9, 9))
    agree(snp.roll(x, shift, axis), np.roll(x, shift, axis))
    agree(sagax.jit(lambda x, s: snp.roll(x, s, axis))(x, shift), np.roll(x, shift, axis))
    agree(snp.roll(x, shift), np.roll(x, shift))


def test_the_derivative_of_roll_adds_its_own_parts_first():
    weights = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)

    def total(x):
        moved = snp.roll(x, 1, 0) + snp.roll(x, -2, 1) + snp.roll(x, 4)
        return (weights * moved).sum()

    found = sagax.grad(total)(weights)
    parts = [np.roll(weights, -1, 0), np.roll(weights, 2, 1), np.roll(weights, -4)]
    np.testing.assert_allclose(found, sum(parts), rtol=1e-6)
    mapped = sagax.vmap(sagax.grad(total), in_axes=1, out_axes=1)(np.stack([weights] * 2, 1))
    np.testing.assert_allclose(mapped[:, 1], found)
    eqns = sagax.make_jaxpr(sagax.grad(total))(weights).jaxpr.eqns
    padded = {v for e in eqns if e.primitive.name == "pad" for v in e.outvars}
    sums = [e for e in eqns if e.primitive.name == "add_any" and padded.issuperset(e.invars)]
    assert (len(padded), len(sums)) == (6, 3)


@given(shape=FULL, data=st.data())
def test_insert_and_delete(shape, data):
    x = numbers(shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = shape[axis]
    place = data.draw(st.integers(-size, size))
    places = np.array(data.draw(st.lists(st.integers(-size, size), max_size=4)), np.int32)
    agree(snp.insert(x, place, 7, axis), np.insert(x, place, 7, axis))
    agree(snp.insert(x, places, -7, axis), np.insert(x, places, -7, axis))
    agree(
        sagax.jit(lambda x, p: snp.insert(x, p, -7, axis))(x, places),
        np.insert(x, places, -7, axis),
    )
    gone = np.array(data.draw(st.lists(st.integers(-size, size - 1), max_size=4)), np.int32)
    agree(snp.delete(x, gone, axis), np.delete(x, gone, axis))
    one = data.draw(st.integers(-size, size - 1))
    for found in both(lambda x: snp.delete(x, one, axis), x):
        agree(found, np.delete(x, one, axis))
    agree(sagax.jit(lambda x, i: snp.delete(x, i, axis))(x, one), np.delete(x, one, axis))
    part = slice(*data.draw(st.tuples(*[st.none() | st.integers(-5, 5)] * 2)))
    agree(snp.delete(x, part, axis), np.delete(x, part, axis))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
def test_integers_of_other_widths_say_where(dtype):
    """They are the function's own numbers, which neither wrap nor promote."""
    x = np.arange(300, dtype=np.int32)
    with sagax.enable_x64(True), sagax.numpy_dtype_promotion("strict"):
        places, times = snp.array([200, 250], dtype), snp.array([200, 200], dtype)
        agree(snp.insert(x, places, 9), np.insert(x, [200, 250], 9))
        found = snp.repeat(x[:2], times, total_repeat_length=400)
        agree(found, np.repeat(x[:2], 200))
        unique = functools.partial(snp.delete, assume_unique_indices=True)
        agree(sagax.jit(unique)(x, places), np.delete(x, [200, 250]))
        agree(sagax.jit(unique)(x, places[0]), np.delete(x, 200))


PADDINGS = [
    ("constant", {}),
    ("constant", {"constant_values": ((1, 2), (3, 4))}),
    ("edge", {}),
    ("wrap", {}),
    ("reflect", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}),
    ("linear_ramp", {"end_values": (5, -2)}),
    ("maximum", {}),
    ("minimum", {"stat_length": 2}),
    ("mean", {}),
    ("mean", {"stat_length": ((1, 2), (2, 1))}),
    ("median", {}),
]


@pytest.mark.parametrize(("mode", "options"), PADDINGS, ids=str)
@given(data=st.data())
def test_pad(mode, options, data):
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 4)))
    widths = data.draw(st.tuples(*[st.tuples(*[st.integers(0, 6)] * 2)] * 2))
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    expected = np.pad(x, widths, mode, **options)
    found = snp.pad(x, widths, mode, **options)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-6, atol=2e-6)


def test_pad_by_a_function():
    def ends(vector, width, axis, kwargs):
        before, after = width
        vector = vector.at[:before].set(kwargs["value"] + axis)
        return vector.at[vector.shape[0] - after :].set(-1)

    found = snp.pad(np.ones((1, 2), np.float32), 1, ends, value=5)
    np.testing.assert_array_equal(found, [[5 + 1, 5, 5, -1], [6, 1, 1, -1], [6, -1, -1, -1]])


def test_small_arrays_do_not_wait_for_the_compiler(monkeypatch):
    """Functions that only move data run on the host while arrays are small."""
    from sagax._src.runtime import eager

    def refuse(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(eager, "_device_entry", refuse)
    x = snp.asarray(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    y = snp.concatenate([snp.reshape(x, (4, 3)), snp.transpose(x)])
    y = snp.stack([y, snp.flip(y)])
    assert snp.squeeze(snp.split(snp.expand_dims(y, 0), 2, axis=1)[0]).shape == (8, 3)
    assert snp.sort(snp.ravel(snp.roll(snp.tile(x, 2), 3))).shape == (24,)


def test_symbolic_sizes():
    (n,) = dims.symbolic_shape("n")
    x = sagax.ShapeDtypeStruct((n, 6), np.float32)

    def shapes(fun):
        return sagax.eval_shape(fun, x).shape

    assert shapes(lambda x: snp.reshape(x, (-1, 2))) == (3 * n, 2)
    assert shapes(lambda x: snp.ravel(x)) == (6 * n,)
    assert shapes(lambda x: snp.concatenate([x, x])) == (2 * n, 6)
    assert shapes(lambda x: snp.stack([x, x], axis=1)) == (n, 2, 6)
    assert shapes(lambda x: snp.tile(x, (2, 1))) == (2 * n, 6)
    assert shapes(lambda x: snp.pad(x, ((0, 0), (2, 2)), mode="reflect")) == (n, 10)
    assert shapes(lambda x: snp.split(x, 3, axis=1)[0]) == (n, 2)
    assert shapes(lambda x: snp.repeat(x, 2, axis=0)) == (2 * n, 6)
    assert shapes(lambda x: snp.mean(x, axis=0, keepdims=True)) == (1, 6)
    assert shapes(lambda x: snp.var(x, axis=1)) == (n,)
    assert shapes(lambda x: snp.einsum("ij,kj->ik", x, x)) == (n, n)
    assert shapes(lambda x: snp.median(x, axis=1)) == (n,)
    assert shapes(lambda x: snp.argsort(x, axis=0)) == (n, 6)


def test_repeats_of_any_shape_count_for_the_flattened_array():
    x = np.arange(4.0, dtype=np.float32)
    repeats = np.array([[1, 2], [3, 0]])
    assert snp.repeat(x, repeats).tolist() == np.repeat(x, repeats.ravel()).tolist()
    assert snp.repeat(x, np.array([[2]])).tolist() == np.repeat(x, 2).tolist()
    padded = snp.repeat(x, repeats, total_repeat_length=8)
    assert padded.tolist() == [0, 1, 1, 2, 2, 2, 3, 3]


def test_the_axis_of_compress_may_stand_in_a_sequence():
    x, chosen = np.arange(12).reshape(3, 4), np.array([True, False, True])
    for axis in (0, -1):
        expected = np.compress(chosen, x, axis=axis)
        assert snp.compress(chosen, x, axis=(axis,)).tolist() == expected.tolist()
        assert snp.compress(chosen, x, axis=[axis]).tolist() == expected.tolist()
    with pytest.raises(TypeError, match="axis"):
        snp.compress(chosen, x, axis=(0, 1))


def test_stacks_of_polynomials_are_differentiated_and_added_along_their_first_axis():
    p = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    for m in (1, 2, 4):
        expected = np.stack([np.polyder(column, m) for column in p.T], 1)
        np.testing.assert_allclose(snp.polyder(p, m), expected)
    expected = np.stack([np.polyadd(a, b) for a, b in zip(p.T, p[:2].T, strict=True)], 1)
    np.testing.assert_allclose(snp.polyadd(p, p[:2]), expected)
    assert snp.polyder(np.float32(3)).shape == snp.roots(np.float32(3)).shape == (0,)
    with pytest.raises(ValueError, match="dimensions"):
        snp.polysub(p, p[0])


def test_the_first_coefficient_is_1_beside_infinite_zeros():
    assert snp.poly(np.array([np.inf, 1.0], np.float32))[0] == 1


def test_shapes_as_values():
    assert lax.shape_as_value((2, 3)).tolist() == [2, 3]
    assert lax.shape_as_value(()).shape == (0,)
    exported = sagax.export.export(sagax.jit(lambda x: lax.shape_as_value(x.shape)))(
        *sagax.export.symbolic_args_specs((np.ones((2, 3), np.float32),), "a, 3")
    )
    assert exported.call(np.ones((5, 3), np.float32)).tolist() == [5, 3]
