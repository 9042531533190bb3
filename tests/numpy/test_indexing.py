"""Indexing: reading and writing parts of arrays. Expected: NumPy, and tests/oracle/indexing.py."""

from __future__ import annotations

import builtins
import json
import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sagax
import sagax.numpy as jnp
from sagax._src import config, tuning
from sagax._src.core import dims
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import eval_jaxpr
from sagax._src.core.staging import stage
from sagax._src.diagnostics import errors
from sagax._src.primitives.gathering import GatherScatterMode
from sagax._src.primitives.structural import broadcast_in_dim
from sagax.numpy._indexing import Slice, ds, getitem

pytestmark = pytest.mark.own_promotion("dtype")  # many write values of other dtypes
RECORDED = json.loads((Path(__file__).resolve().parents[1] / "data" / "indexing.json").read_text())


def array(x: Any, dtype: Any = None) -> Any:
    return jnp.asarray(np.asarray(x, dtype))


NAMES = {
    "A": array,
    "np": np,
    "jit": sagax.jit,
    "grad": sagax.grad,
    "vmap": sagax.vmap,
    "ds": ds,
    "CLIP": GatherScatterMode.CLIP,
    "square": lambda x: x * x,
    "weak": lambda: broadcast_in_dim(1.5, (3,), ()),
    "x": array(np.arange(60).reshape(3, 4, 5), np.float32),
    "v": array(range(5), np.int32),
    "f": array(range(5), np.float32),
    "s": array(3, np.float32),
    "e": array(np.zeros((0, 3)), np.float32),
    "I": array([0, 7, -1, -9], np.int32),
    "m": array([True, False, True]),
    "m5": array([True, False, True, False, True]),
    **{name: getattr(jnp, name) for name in ("take", "put", "take_along_axis", "put_along_axis")},
    **{name: getattr(jnp, name) for name in ("r_", "c_", "mgrid", "ogrid", "ix_")},
}


def matches(found: Any, record: dict) -> None:
    """Fails unless an array has the recorded type and values."""
    values = np.asarray(found)
    assert str(values.dtype) == record["dtype"]
    assert values.shape == tuple(record["shape"])
    assert found.weak_type == record["weak"]
    flat = values.ravel()
    if values.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag])
    # the only arithmetic is that of linspace, `power`, and a division or two
    np.testing.assert_allclose(flat.astype(float), record["values"], rtol=1e-6)


def cases(*groups: str) -> list:
    return [
        pytest.param(expression, record, id=expression)
        for group in groups
        for expression, record in RECORDED[group].items()
    ]


@pytest.mark.parametrize("expression, record", cases("read", "write", "along", "grids"))
def test_as_jax(expression, record):
    matches(eval(expression, NAMES), record)


@pytest.mark.parametrize("expression, record", cases("read", "write", "along"))
def test_as_jax_in_a_compiled_program(expression, record):
    # The arrays become arguments; masks and windows have to stay known.
    traced = {name: NAMES[name] for name in "xvfseI"}
    if "e." not in expression.replace("apply", ""):
        del traced["e"]

    def program(values):
        return eval(expression, {**NAMES, **values})

    matches(sagax.jit(program)(traced), record)


@pytest.mark.parametrize("expression, record", cases("errors"))
def test_refused_as_jax(expression, record):
    *names, builtin = record["error"]
    with pytest.raises(getattr(builtins, builtin)) as caught:
        eval(expression, NAMES)
    public = [getattr(errors, name) for name in names if hasattr(errors, name)]
    assert all(isinstance(caught.value, cls) for cls in public)
    if type(caught.value) not in (AttributeError, TypeError, ValueError):
        assert isinstance(caught.value, errors.SagaxError)


@pytest.mark.parametrize("expression, record", cases("warns"))
def test_values_that_lose_by_the_cast_warn(expression, record):
    with pytest.warns(FutureWarning, match="scatter inputs have incompatible types"):
        found = eval(expression, NAMES)
    matches(found, record)


def length(jaxpr: Any) -> int:
    total = 0
    for eqn in jaxpr.eqns:
        inner = eqn.params.get("jaxpr") if eqn.primitive.name == "jit" else None
        total += length(inner.jaxpr) if inner is not None else 1
    return total


@pytest.mark.parametrize("expression, longest", cases("programs"))
def test_programs_are_no_longer_than_those_of_jax(expression, longest):
    fun = eval(f"lambda x, i, I: {expression}", NAMES)
    program = sagax.make_jaxpr(fun)(NAMES["x"], 1, array([0, 1]))
    assert length(program.jaxpr) <= longest, program


def test_an_index_that_moves_a_window_takes_five_operations():
    program = sagax.make_jaxpr(lambda x, i: x[i])(NAMES["x"], 1)
    names = [eqn.primitive.name for eqn in program.jaxpr.eqns]
    assert names == ["lt", "add", "select_n", "dynamic_slice", "squeeze"]


# -- against NumPy --------------------------------------------------------------------------------


@st.composite
def indexed(draw: st.DrawFn, repeats: bool = True) -> tuple[tuple, tuple]:
    """A shape of up to four dimensions, and an index that NumPy mostly accepts for it.

    Without `repeats` no element is named twice.
    """
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    common = draw(st.sampled_from([(), (2,), (0,), (3, 2)]))  # what the arrays broadcast to
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    index: list[Any] = []
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        arrays = [i for i in index if isinstance(i, (bool, np.ndarray))]
        kinds = ["slice", "slice"]
        if sum(i is None for i in index) < 2:
            kinds.append("new")
        if not any(i is ... for i in index):
            kinds += ["hole", "stop"]
        if size:
            kinds.append("int")
        if not arrays:
            kinds += ["mask", "bool"]
        if repeats and (size or 0 in common):
            kinds += ["array", "array"]
        kind = draw(st.sampled_from(kinds))
        if kind == "stop":
            break
        taken = 0 if kind in ("new", "bool") else 1
        if kind == "new":
            index.append(None)
        elif kind == "bool":
            index.append(draw(st.booleans()))
        elif kind == "hole":
            index.append(...)
            taken = draw(st.integers(0, len(shape) - axis))
        elif kind == "slice":
            bound = st.none() | st.integers(-size - 2, size + 2)
            step = st.sampled_from([None, 1, 2, 3, -1, -2])
            index.append(slice(draw(bound), draw(bound), draw(step)))
        elif kind == "int":
            index.append(draw(st.integers(-size, size - 1)))
        elif kind == "mask":
            taken = draw(st.integers(1, len(shape) - axis))
            index.append(rng.random(shape[axis : axis + taken]) < 0.5)
            common = (int(index[-1].sum()),)
        else:
            sizes = [draw(st.sampled_from([1, s])) for s in common]
            sizes = sizes[draw(st.integers(0, len(sizes))) :] if size else list(common)
            low, high = (-size, size) if size else (0, 1)
            dtype = draw(st.sampled_from([np.int8, np.int32, np.int64]))
            index.append(rng.integers(low, high, sizes, dtype))
        axis += taken
    return shape, tuple(index)


def numbers(shape: tuple) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def taken(host: np.ndarray, index: tuple) -> np.ndarray | None:
    try:
        return host[index]
    except IndexError:  # a few of the arrays do not broadcast
        return None


@settings(max_examples=400)
@given(indexed())
def test_reading_is_that_of_numpy(case):
    shape, index = case
    host = numbers(shape)
    expected = taken(host, index)
    if expected is None:
        with pytest.raises((IndexError, ValueError)):
            jnp.asarray(host)[index]
        return
    found = jnp.asarray(host)[index]
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert found.shape == expected.shape
    # the same by the primitives alone, as in a program being traced
    program, consts = stage(lambda x: [x[index]], [intern_aval(shape, np.dtype(np.float32))])
    (found,) = eval_jaxpr(program, consts, host)
    np.testing.assert_array_equal(np.asarray(found), expected)


@settings(max_examples=100)
@given(indexed())
def test_reading_at_traced_indices_is_that_of_numpy(case):
    shape, index = case
    host = numbers(shape)
    expected = taken(host, index)
    if expected is None:
        return
    moving = [
        k
        for k, i in enumerate(index)
        if type(i) is int or (isinstance(i, np.ndarray) and i.dtype != bool)
    ]

    def read(x, *given_indices):
        full = list(index)
        for k, i in zip(moving, given_indices, strict=True):
            full[k] = i
        return [x[tuple(full)]]

    values = [np.asarray(index[k], np.int32) for k in moving]
    avals = [intern_aval(a.shape, a.dtype) for a in (host, *values)]
    program, consts = stage(read, avals)
    (found,) = eval_jaxpr(program, consts, host, *values)
    np.testing.assert_array_equal(np.asarray(found), expected)


@settings(max_examples=300)
@given(indexed(repeats=False), st.booleans())
def test_writing_is_that_of_numpy(case, one):
    shape, index = case
    host = numbers(shape)
    part = taken(host, index)
    if part is None:
        return
    values = np.float32(-1) if one else -numbers(part.shape)
    expected = host.copy()
    expected[index] = values
    x = jnp.asarray(host)
    np.testing.assert_array_equal(np.asarray(x.at[index].set(values)), expected)
    np.testing.assert_array_equal(np.asarray(x), host)
    program, consts = stage(
        lambda x, v: [x.at[index].set(v)],
        [intern_aval(a.shape, a.dtype) for a in (host, np.asarray(values))],
    )
    (found,) = eval_jaxpr(program, consts, host, values)
    np.testing.assert_array_equal(np.asarray(found), expected)


@settings(max_examples=150)
@given(indexed(), st.sampled_from(["add", "subtract", "multiply", "min", "max"]))
def test_combining_is_that_of_numpy(case, method):
    # Small integers, so that the order in which repeated updates come makes no difference.
    shape, index = case
    host = np.asarray(numbers(shape) % 5 - 2)
    part = taken(host, index)
    if part is None:
        return
    ufuncs = {"min": "minimum", "max": "maximum"}
    values = (numbers(part.shape) % 3).astype(np.float32)
    expected = host.copy()
    getattr(np, ufuncs.get(method, method)).at(expected, index, values)
    found = getattr(jnp.asarray(host).at[index], method)(values)
    np.testing.assert_array_equal(np.asarray(found), expected)


# -- derivatives and batches ----------------------------------------------------------------------


def selection(shape: tuple, index: tuple) -> np.ndarray:
    """The matrix of the linear map x -> x[index], both in row-major order."""
    size = int(np.prod(shape))
    places = np.arange(size).reshape(shape)[index].ravel()
    return np.eye(size, dtype=np.float32)[places]


@settings(max_examples=60)
@given(indexed())
def test_derivatives_of_reading_are_the_matrix_of_the_index(case):
    shape, index = case
    host = numbers(shape)
    part = taken(host, index)
    if part is None:
        return
    matrix = selection(shape, index)
    out, pull = sagax.vjp(lambda x: x[index], jnp.asarray(host))
    ct = np.cos(numbers(part.shape))
    (found,) = pull(jnp.asarray(ct))
    np.testing.assert_allclose(np.asarray(found).ravel(), ct.ravel() @ matrix, rtol=1e-5, atol=1e-6)
    t = np.sin(host)
    _, found = sagax.jvp(lambda x: x[index], (jnp.asarray(host),), (jnp.asarray(t),))
    np.testing.assert_allclose(np.asarray(found).ravel(), matrix @ t.ravel(), rtol=1e-6)


@settings(max_examples=60)
@given(indexed(repeats=False), st.sampled_from(["set", "add", "subtract"]))
def test_derivatives_of_writing_are_matrices_of_the_index(case, method):
    shape, index = case
    host = numbers(shape)
    part = taken(host, index)
    if part is None:
        return
    matrix = selection(shape, index)
    # set: x - S'Sx + S'v, add: x + S'v, with S the matrix of the index
    keeps = np.eye(host.size) - (matrix.T @ matrix if method == "set" else 0)
    sign = -1 if method == "subtract" else 1
    values = np.sin(numbers(part.shape))
    _, pull = sagax.vjp(
        lambda x, v: getattr(x.at[index], method)(v), jnp.asarray(host), jnp.asarray(values)
    )
    ct = np.cos(host)
    ct_x, ct_v = pull(jnp.asarray(ct))
    np.testing.assert_allclose(np.asarray(ct_x).ravel(), keeps.T @ ct.ravel(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        np.asarray(ct_v).ravel(), sign * (matrix @ ct.ravel()), rtol=1e-6, atol=1e-6
    )


def test_derivative_of_a_product_at_known_distinct_places():
    x, g = np.float32([1, 2, 3]), np.float32([5, 7])
    mask = np.array([True, False, True])
    found = sagax.grad(lambda g: jnp.asarray(x).at[mask].multiply(g).sum())(jnp.asarray(g))
    np.testing.assert_array_equal(np.asarray(found), x[mask])


READS = [
    lambda x, i: x[1],
    lambda x, i: x[::-2, i],
    lambda x, i: x[i, i],
    lambda x, i: x[jnp.stack([i, 0]), 1:3],
    lambda x, i: x[:, jnp.stack([i, -i])],
    lambda x, i: x[ds(i, 2), ::2],
    lambda x, i: x.at[i].get(mode="fill", fill_value=-1),
    lambda x, i: x.at[1].set(i),
    lambda x, i: x.at[i, 1:].set(x[0, 1:]),
    lambda x, i: x.at[:, i].add(2),
    lambda x, i: x.at[jnp.stack([i, i])].add(x[:2]),
    lambda x, i: x.at[ds(i, 2)].multiply(3),
    lambda x, i: jnp.take(x, i, axis=0),
    lambda x, i: jnp.take_along_axis(x, i[None, None] % 2, 0),
    lambda x, i: jnp.put_along_axis(x, i[None, None], 9, 1, inplace=False),
]


@pytest.mark.parametrize("number", range(len(READS)))
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 0)])
def test_vmap_is_a_loop(number, axes):
    fun = READS[number]
    xs = (
        jnp.arange(36.0).reshape(3, 3, 4) if axes[0] is not None else jnp.arange(12.0).reshape(3, 4)
    )
    xs = jnp.moveaxis(xs, 0, 1) if axes[0] == 1 else xs
    i = jnp.array([1, -1, 7]) if axes[1] is not None else jnp.array(-2)
    loop = [
        np.asarray(
            fun(
                xs if axes[0] is None else jnp.take(xs, k, axis=axes[0]),
                i if axes[1] is None else i[k],
            )
        )
        for k in range(3)
    ]
    found = sagax.vmap(fun, in_axes=axes)(xs, i)
    np.testing.assert_array_equal(np.asarray(found), np.stack(loop))


def test_second_derivatives_through_a_write():
    x = jnp.array([1.0, 2.0, 3.0])
    found = sagax.hessian(lambda x: (x.at[1].multiply(x[0]) ** 2).sum())(x)
    # the sum is x0^2 + (x1 x0)^2 + x2^2
    np.testing.assert_allclose(np.asarray(found), [[10, 8, 0], [8, 2, 0], [0, 0, 2]], rtol=1e-6)


# -- what is known, what moves, what is out of bounds ---------------------------------------------


def test_slices_by_ds():
    x = jnp.arange(10)
    assert ds(None) == slice(None)
    assert ds(4) == Slice(0, 4) and ds(2, 3, 2) == Slice(2, 3, 2)
    np.testing.assert_array_equal(np.asarray(x[ds(2, 3, 2)]), [2, 4, 6])
    np.testing.assert_array_equal(np.asarray(x[ds(jnp.array(2), 3, 2)]), [2, 4, 6])
    moved = sagax.jit(lambda x, where: x[where])(x, ds(jnp.array(-2), 2))
    np.testing.assert_array_equal(np.asarray(moved), [8, 9])
    with pytest.raises(TypeError, match="size 11 does not|11 elements does not fit into axis 0"):
        x[ds(jnp.array(0), 11)]
    with pytest.raises(TypeError, match="argument stride must be at least 1"):
        x[ds(0, 2, 0)]
    with pytest.raises(TypeError, match="argument start must be an integer"):
        x[ds(0.5, 2)]


def test_static_indices_out_of_bounds_can_be_refused():
    x = jnp.arange(5)
    with config.context(check_static_indices=True):
        for index, shown in [(5, 5), (-6, -6), ((5, None), 5), (np.int64(7), 7)]:
            with pytest.raises(
                IndexError, match=f"index {shown} is out of bounds for axis 0 of size 5"
            ):
                x[index]
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0"):
            sagax.jit(lambda x: x[5])(x)
        with pytest.raises(IndexError, match="(?s)index -1 .*an index from 0 to 4"):
            x.at[-1].get(wrap_negative_indices=False)
        assert x[-5] == 0 and x[7:9].shape == (0,)
        assert x.at[5].get(mode="clip") == 4 and x.at[5].get(mode="fill", fill_value=-3) == -3
        assert x.at[5].set(1).tolist() == [0, 1, 2, 3, 4]


def test_known_indices_are_not_cut_to_32_bits():
    x = jnp.arange(5)
    wide = np.array([0, 2**40, -(2**40), 2**32 + 1])
    assert x[wide].tolist() == [0, 4, 0, 4]
    assert x.at[wide].set(9).tolist() == [9, 1, 2, 3, 4]
    assert x[np.array([1, 2**64 - 1], np.uint64)].tolist() == [1, 4]


def test_traced_indices_of_64_bits_stay_so():
    with config.context(x64=True):
        x, i = jnp.arange(5), jnp.asarray(np.array([1, 2**32 + 1, -1]))
        assert sagax.jit(lambda x, i: x[i])(x, i).tolist() == [1, 4, 4]
        assert sagax.jit(lambda x, i: x.at[i].set(9))(x, i).tolist() == [0, 9, 2, 3, 9]
        assert sagax.jit(lambda x, i: x[i[1]])(x, i) == 4


def test_small_index_types_do_not_overflow():
    x = jnp.arange(200)
    small = jnp.asarray(np.array([-1, -128, 127], np.int8))
    assert x[small].tolist() == [199, 72, 127]
    assert sagax.jit(lambda x, i: x[i])(x, small).tolist() == [199, 72, 127]
    assert sagax.jit(lambda x, i: x[i[1]])(x, small) == 72
    assert x.at[small].set(-1)[small].tolist() == [-1, -1, -1]


def test_boolean_scalars_are_new_axes_as_in_numpy():
    host = numbers((3, 4))
    x = jnp.asarray(host)
    for index in [
        (None, True),
        (None, None, True, ...),
        (0, None, True),
        (slice(None), True, None, 0),
    ]:
        np.testing.assert_array_equal(np.asarray(x[index]), host[index])
    assert x[np.bool_(True)].shape == (1, 3, 4)


def test_a_mask_whose_values_are_known_may_be_used_in_a_derivative():
    x = jnp.array([1.0, -2.0, 3.0])
    assert sagax.grad(lambda x: (x[x > 0] ** 2).sum())(x).tolist() == [2.0, 0.0, 6.0]


def test_weights_of_a_set_with_repeated_indices():
    # One of the two updates of place 0 wins; its derivative is one, that of the other zero.
    found = sagax.grad(lambda v: jnp.zeros(3).at[jnp.array([0, 0, 2])].set(v).sum())(jnp.ones(3))
    assert sorted(found.tolist()[:2]) == [0.0, 1.0] and found[2] == 1.0


@pytest.mark.parametrize("index", [3, slice(2, 9), (slice(None, None, 7), None), -1])
def test_a_small_part_does_not_keep_a_large_array_in_memory(index):
    host = np.arange(2.0 * tuning.NUMPY_MAX_ELEMENTS, dtype=np.float32).reshape(-1, 2)
    x = jnp.asarray(host)
    part = x[index]
    memory = weakref.ref(x.host())
    np.testing.assert_array_equal(np.asarray(part), host[index])
    del x
    assert memory() is None


def test_parts_of_arrays_can_be_computed_with():
    # They may be views, with strides of any sign, of which the engine needs a buffer.
    host = numbers((4, 5, 6))
    x = jnp.asarray(host)
    double = sagax.jit(lambda x: x * 2)
    for index in [
        slice(None, None, -1),
        (1, slice(None, None, -2)),
        (..., 2),
        (0, None, 1),
        (1, 2, 3),
    ]:
        np.testing.assert_array_equal(np.asarray(double(x[index])), host[index] * 2)


def test_parts_survive_the_donation_of_their_array():
    host = numbers((4, 5))
    x = sagax.jit(lambda x: x + 0)(jnp.asarray(host))
    part = x[1:3]
    sagax.jit(lambda x: x * 2, donate_argnums=0)(x)
    np.testing.assert_array_equal(np.asarray(part), host[1:3])


def test_arrays_cannot_be_written_in_place():
    with pytest.raises(TypeError, match=r"x\.at\[index\]\.set\(value\)"):
        NAMES["x"][0] = 1


def test_indices_take_array_likes():
    class Wrapped:
        def __jax_array__(self):
            return jnp.array([2, 0])

    class Index:
        def __index__(self):
            return 3

    x = jnp.arange(5)
    assert x[Wrapped()].tolist() == [2, 0]
    assert x[Index()] == 3
    assert x[Index() :].tolist() == [3, 4]
    assert x.at[0:2].set([x[4], 7]).tolist() == [4, 7, 2, 3, 4]


def test_strict_promotion_refuses_updates_of_another_dtype():
    x = jnp.arange(3)
    with config.context(numpy_dtype_promotion="strict"):
        assert x.at[0].set(5).tolist() == [5, 1, 2]
        for value in (2.5, jnp.float32(2), np.int8(1)):
            with pytest.raises(errors.TypePromotionError):
                x.at[0].set(value)


# -- symbolic sizes -------------------------------------------------------------------------------


SYMBOLIC = [
    lambda x, i: x[0],
    lambda x, i: x[-1],
    lambda x, i: x[1:, ::-1],
    lambda x, i: x[:-1:2],
    lambda x, i: x[i[0]],
    lambda x, i: x[i, 1:],
    lambda x, i: x[::2, i],
    lambda x, i: x[np.array([0, -1])],
    lambda x, i: x.at[-1].add(1),
    lambda x, i: x.at[1:].set(0),
    lambda x, i: x.at[::2, i].set(5),
    lambda x, i: x.at[i].get(mode="fill"),
    lambda x, i: jnp.take(x, i, axis=0, mode="wrap"),
    lambda x, i: jnp.take_along_axis(x, i[None, :], 0),
    lambda x, i: jnp.put_along_axis(x, i[None, :2], 1, 1, inplace=False),
]


@pytest.mark.parametrize("number", range(len(SYMBOLIC)))
def test_types_for_a_symbolic_size_specialise_to_those_for_a_number(number):
    (b,) = dims.symbolic_shape("b", constraints=["b >= 3"])
    fun = SYMBOLIC[number]
    index = intern_aval((3,), np.dtype(np.int32))
    program, _ = stage(lambda x, i: [fun(x, i)], [intern_aval((b, 3), np.dtype(np.float32)), index])
    symbolic = program.outvars[0].aval
    for size in (3, 8):
        program, _ = stage(
            lambda x, i: [fun(x, i)], [intern_aval((size, 3), np.dtype(np.float32)), index]
        )
        shape = tuple(
            dims.evaluate(d, {"b": size}) if dims.is_dim(d) else d for d in symbolic.shape
        )
        assert program.outvars[0].aval.shape == shape
        assert program.outvars[0].aval.dtype == symbolic.dtype


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression, words",
    [
        ("v[[0, 1]]", "fix: for elements of the first axis: x[numpy.array(index)]"),
        ("jit(lambda v, i: v[i:i + 2])(v, 1)", "x[sagax.ds(start, size)]"),
        ("jit(lambda v, i: v[i:i + 2])(v, 1)", "lax.dynamic_slice"),
        ("jit(lambda v, i: v[i:i + 2])(v, 1)", "depends on: i (argument of <lambda>)"),
        ("jit(lambda x, i: x[:, i:])(x, 1)", "at position 1"),
        ("jit(lambda v, m: v[m])(v, m5)", "jnp.where(mask, x, fill)"),
        ("v[2.0]", "write 2; if it is a quotient, divide with // instead of /"),
        ("v[1.5:]", "must be integers or None, not of type float"),
        ("x[0, 0, 0, 0]", "too many indices: 4 for an array of shape (3, 4, 5)"),
        (
            "x[:, m]",
            "the mask at position 1 of the index has shape (3,); it selects from axes of shape (4,)",
        ),
        ("x[A([0, 1]), A([0, 1, 2])]", "x[numpy.ix_(i, j)]"),
        ("v.at[0:2].set(A([1, 2, 3]))", "an array that broadcasts to (2,)"),
        ("v.at[0].set('a')", "ndarray.at[...].set"),
        ("v['a']", "keep named arrays in a dict"),
        ("put(v, 0, 1)", "inplace=False"),
        ("take(x, [0, 1])", "numpy.asarray"),
    ],
)
def test_errors_say_what_to_do(expression, words):
    with pytest.raises((TypeError, IndexError, ValueError)) as caught:
        eval(expression, NAMES)
    text = re.sub(r"\s+", " ", str(caught.value))
    assert words in text, text


def test_reprs():
    x = jnp.arange(2)
    assert repr(x.at) == f"IndexUpdateHelper({x!r})"
    assert repr(x.at[0]) == f"IndexUpdateRef({x!r}, 0)"
    assert repr(ds(0, 3)) == "Slice(start=0, size=3, stride=1)"
    assert jnp.index_exp[0] == (0,) and jnp.s_[1:2, None] == (slice(1, 2), None)
    assert repr(jnp.c_) == "sagax.numpy.c_"


def test_strategies_read_the_same_by_other_operations():
    def operations(strategy, index):
        fun = sagax.make_jaxpr(lambda x: x.at[index].get(strategy=strategy))
        return [eqn.primitive.name for eqn in fun(NAMES["x"]).jaxpr.eqns]

    assert "gather" in operations("gather", 1)
    assert "dynamic_slice" in operations("dynamic_slice", (1, slice(None, None, -2)))
    assert operations("static_slice", 1) == ["slice", "squeeze"]
    x = NAMES["x"]
    for strategy in ("auto", "gather", "static_slice", "dynamic_slice"):
        found = x.at[1, ::-2].get(strategy=strategy)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(x)[1, ::-2])
    for strategy in ("static_slice", "dynamic_slice"):
        with pytest.raises(TypeError, match=f"the strategy '{strategy}' takes"):
            x.at[np.array([0, 1])].get(strategy=strategy)
    with pytest.raises(ValueError, match="argument strategy must be 'auto', 'gather'"):
        x.at[1].get(strategy="scatter")


def test_parts_cannot_be_changed_through_numpy():
    x = jnp.arange(6.0).reshape(2, 3)
    for index in (1, (1, 2), slice(None), np.array([1, 0]), ([0, 1], 2)):
        assert not np.asarray(x[index]).flags.writeable
    assert not np.asarray(x.at[0].set(1)).flags.writeable


def test_getitem_takes_what_get_takes():
    x = jnp.arange(4.0)
    assert getitem(x, 9, mode="fill", fill_value=5) == 5.0
    assert getitem(x, -1, wrap_negative_indices=False) == 0.0


def test_great_unsigned_indices_are_out_of_bounds():
    x, i = np.arange(12.0).reshape(3, 4), np.array([1, 2**31, 2**32 - 1], np.uint32)
    last = np.take(x, i.astype(np.int64), 1, mode="clip")
    for f in (
        lambda i: jnp.take(x, i, 1, mode="clip"),
        lambda i: jnp.asarray(x).at[:, i].get(mode="clip"),
    ):
        np.testing.assert_array_equal(f(jnp.asarray(i)), last)
        np.testing.assert_array_equal(sagax.jit(f)(i), last)
    filled = sagax.jit(lambda i: jnp.take(x, i, 1))(i)
    assert np.isnan(filled).tolist() == [[False, True, True]] * 3
