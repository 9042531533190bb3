"""Gathers and scatters: values, derivatives and batching as the oracle recorded them; errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src.core import dims
from slicing_cases import GATHER, SCATTER
from slicing_oracle import check_derivatives, check_maps, check_values, same_bits

CASES = GATHER | SCATTER
RANDOM = 80
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
ROW_UPDATES = lax.ScatterDimensionNumbers((1,), (0,), (0,))
X = np.arange(12, dtype=np.float32).reshape(3, 4)
WHERE = np.array([[1], [0]], np.int32)


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("slicing")


@pytest.mark.parametrize("name", CASES)
def test_values(name, data):
    check_values(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.maps])
def test_maps(name, data):
    check_maps(name, CASES[name], data)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.derivative])
def test_derivatives(name, data):
    check_derivatives(name, CASES[name], data)


@pytest.mark.parametrize("k", range(RANDOM))
def test_random_forms(k, data):
    """Any dimension numbers, index dtypes and modes; also against reading and writing in a loop."""
    spec = json.loads(str(data[f"random/{k}/spec"]))
    x, indices, updates = (data[f"random/{k}/{n}"] for n in ("x", "indices", "updates"))

    def gather(x, indices):
        numbers = lax.GatherDimensionNumbers(*spec["numbers"])
        return lax.gather(x, indices, numbers, spec["sizes"], mode=spec["mode"])

    def scatter(x, indices, updates):
        numbers = lax.ScatterDimensionNumbers(*spec["numbers"])
        return getattr(lax, spec["op"])(x, indices, updates, numbers, mode=spec["mode"])

    for how in (lambda f: f, sagax.jit):
        same_bits(how(gather)(x, indices), data[f"random/{k}/gather"], f"gather {spec}")
        same_bits(how(scatter)(x, indices, updates), data[f"random/{k}/scatter"], f"{spec}")


def test_scatter_without_indices_combines_all_updates_at_one_place():
    """XLA by itself takes the updates for an array like the operand, and adds elementwise."""
    numbers = lax.ScatterDimensionNumbers((), (0,), ())
    updates = np.array([1, 10, 100], np.float32)
    x = np.arange(3, dtype=np.float32)
    indices = np.zeros((3, 0), np.int32)
    for fun in (lax.scatter_add, sagax.jit(lax.scatter_add, static_argnums=3)):
        np.testing.assert_array_equal(fun(x, indices, updates, numbers), [111, 1, 2])
    scalar = lax.ScatterDimensionNumbers((), (), ())
    added = sagax.jit(lambda x, u: lax.scatter_add(x, indices, u, scalar))(x[2], updates)
    assert added == 113


def test_modes_by_name():
    mode = lax.GatherScatterMode
    assert mode.from_any("clip") is mode.CLIP
    assert mode.from_any("fill") is mode.from_any("drop") is mode.FILL_OR_DROP
    assert mode.from_any(None) is mode.FILL_OR_DROP
    assert mode.from_any("promise_in_bounds") is mode.PROMISE_IN_BOUNDS
    assert mode.from_any(mode.CLIP) is mode.CLIP
    assert [m.value for m in mode] == [1, 2, 3, 4]
    with pytest.raises(ValueError, match='Unknown gather mode "wrap"'):
        mode.from_any("wrap")


def test_dimension_numbers_are_tuples_with_names():
    assert repr(ROWS) == (
        "GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), "
        "operand_batching_dims=(), start_indices_batching_dims=())"
    )
    assert lax.GatherDimensionNumbers([1], np.array([0]), (0,)) == ROWS
    assert hash(lax.GatherDimensionNumbers([1], [0], [0])) == hash(ROWS)
    assert ROW_UPDATES._replace(update_window_dims=(0,)).update_window_dims == (0,)


def test_jaxpr_names_the_parameters():
    text = str(
        sagax.make_jaxpr(lambda x, i, u: lax.scatter_add(x, i, u, ROW_UPDATES))(X, WHERE, X[:2])
    )
    assert "scatter-add[" in text
    assert "dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), " in text
    assert "mode=GatherScatterMode.FILL_OR_DROP" in text
    assert "update_jaxpr={ lambda ; " in text and "= add " in text
    text = str(sagax.make_jaxpr(lambda x, i: lax.gather(x, i, ROWS, (1, 4), mode="fill"))(X, WHERE))
    assert "fill_value=nan" in text and "mode=GatherScatterMode.FILL_OR_DROP" in text


def test_the_same_gather_is_staged_once():
    """A NaN as fill value must not make two equal gathers different."""
    fills = []
    for fill in (None, float("nan"), np.float32("nan")):
        how = {"mode": "fill", "fill_value": fill}
        made = sagax.make_jaxpr(lambda x, how=how: lax.gather(x, WHERE, ROWS, (1, 4), **how))(X)
        fills.append(made.jaxpr.eqns[-1].params["fill_value"])
    assert fills[0] is fills[1] is fills[2]


def test_scatter_mul_needs_unique_indices_for_the_derivative():
    def f(u):
        return lax.scatter_mul(X, WHERE, u, ROW_UPDATES).sum()

    with pytest.raises(NotImplementedError, match="only implemented if `unique_indices=True`"):
        sagax.grad(f)(X[:2])


def test_transpose_of_scatter_needs_unique_indices():
    def f(x):
        return lax.scatter(x, WHERE, X[:2], ROW_UPDATES)

    with pytest.raises(NotImplementedError, match="unique_indices=True"):
        sagax.linear_transpose(f, X)(X)


def test_scatter_apply_has_no_derivative():
    def f(x):
        return lax.scatter_apply(x, WHERE, lax.neg, ROW_UPDATES, update_shape=(2, 4)).sum()

    with pytest.raises(NotImplementedError, match="scatter-apply.*no jvp rule"):
        sagax.grad(f)(X)


def test_scatter_apply_as_often_as_named():
    points = lax.ScatterDimensionNumbers((), (0,), (0,))
    where = np.array([[1], [1], [2], [9]])
    x = np.array([1, 2, 3], np.int32)
    for how in (lambda f: f, sagax.jit):
        out = how(
            lambda x: lax.scatter_apply(x, where, lambda v: v * 10, points, update_shape=(4,))
        )(x)
        np.testing.assert_array_equal(out, [1, 200, 30])


def gather(numbers=((1,), (0,), (0,)), sizes=(1, 4), indices=WHERE, **how):
    return lambda: lax.gather(X, indices, lax.GatherDimensionNumbers(*numbers), sizes, **how)


def scatter(numbers=((1,), (0,), (0,)), indices=WHERE, updates=X[:2], op=lax.scatter_add, **how):
    return lambda: op(X, indices, updates, lax.ScatterDimensionNumbers(*numbers), **how)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (gather(indices=WHERE.astype(np.float32)), ValueError, "indices must have an integer type"),
        (gather(indices=np.int32(1)), TypeError, "last dimension holds index vectors"),
        (gather(indices=np.zeros((2, 2), np.int32)), TypeError, "start_index_map.*entries: 2"),
        (gather(((1,), (0,), (2,))), TypeError, "start_index_map.*distinct.*got \\(2,\\)"),
        (gather(((1, 1), (), (0,))), TypeError, "offset_dims.*distinct dimensions of the result"),
        (gather(((2, 1), (), (0,))), TypeError, "offset_dims.*increasing"),
        (gather(((1,), (), (0,))), TypeError, "offset_dims.*neither in collapsed_slice_dims"),
        (gather(((1,), (0,), (0,), (0,), (0,))), TypeError, "none of the operand_batching_dims"),
        (gather(((1,), (), (1,), (0,), ()), (1, 1)), TypeError, "as many as operand_batching_dims"),
        (gather(((1,), (), (1,), (0,), (0,)), (1, 1)), TypeError, "3 .dimension 0 of the operand"),
        (gather(sizes=(1,)), TypeError, "slice_sizes.*2 dimensions"),
        (gather(sizes=(1, 5)), TypeError, "size 5 does not fit into dimension 1, of size 4"),
        (gather(sizes=(2, 4)), TypeError, "size 2 in dimension 0.*collapsed_slice_dims"),
        (gather(mode="wrap"), ValueError, 'Unknown gather mode "wrap"'),
        (gather(mode=2), ValueError, "Unknown gather mode"),
        (gather(mode="one_hot"), ValueError, "other than ONE_HOT"),
        (gather(mode="fill", fill_value="a"), TypeError, "fill_value"),
        (gather(mode="fill", fill_value=X), TypeError, "fill_value"),
        (scatter(updates=X[:2].astype(np.int32)), TypeError, "same dtypes, got float32, int32"),
        (scatter(updates=X[0]), TypeError, "updates have 1 dimensions"),
        (scatter(updates=X), TypeError, "dimension 0 of the updates has size 3.*has size 2"),
        (scatter(updates=np.ones((2, 5), np.float32)), TypeError, "window of size 5.*of size 4"),
        (scatter(((1,), (0,), (5,))), TypeError, "scatter_dims_to_operand_dims"),
        (scatter(((1, 2), (0,), (0,))), TypeError, "updates have 2 dimensions"),
        (scatter(mode="bogus"), ValueError, 'Unknown gather mode "bogus"'),
        (
            lambda: lax.scatter_add(X > 0, WHERE, X[:2] > 0, ROW_UPDATES),
            TypeError,
            "bool",
        ),
        (
            lambda: lax.scatter_apply(X, WHERE, lambda v: v > 0, ROW_UPDATES, update_shape=(2, 4)),
            TypeError,
            "f32.* to bool",
        ),
        (
            lambda: lax.scatter_apply(
                X, WHERE, lambda v: v + lax.index_in_dim(sagax.device_put(X[0]), 1, keepdims=False),
                ROW_UPDATES, update_shape=(2, 4),
            ),
            TypeError,
            "uses 1 other arrays: f32\\[4\\]",
        ),
    ],
)  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match="(?s)" + words):
        call()


def test_fill_value_must_be_known():
    with pytest.raises(TypeError, match="(?s)fill_value.*known while tracing"):
        sagax.jit(lambda v: lax.gather(X, WHERE, ROWS, (1, 4), mode="fill", fill_value=v))(1.0)


def test_mapping_over_no_examples():
    out = sagax.vmap(lambda x, i: lax.gather(x, i, ROWS, (1, 4)))(
        np.zeros((0, 3, 4), np.float32), np.zeros((0, 2, 1), np.int32)
    )
    assert out.shape == (0, 2, 4) and out.dtype == np.float32
    scatter_all = sagax.vmap(lambda x, i, u: lax.scatter(x, i, u, ROW_UPDATES))
    for fun in (scatter_all, sagax.jit(scatter_all)):
        out = fun(
            np.zeros((0, 3, 4), np.float32),
            np.zeros((0, 2, 1), np.int32),
            np.zeros((0, 2, 4), np.float32),
        )
        assert out.shape == (0, 3, 4)


def test_indices_that_their_own_type_cannot_wrap():
    """Sizes beyond the index type: clamping and bounds are computed in a wider one."""
    x = np.arange(300, dtype=np.int32)
    points = lax.GatherDimensionNumbers((), (0,), (0,))
    for dtype in (np.int8, np.uint8):
        where = np.array([[100], [127]], dtype)
        for mode in ("clip", "fill"):
            out = sagax.jit(lambda i, m=mode: lax.gather(x, i, points, (1,), mode=m))(where)
            np.testing.assert_array_equal(out, [100, 127])


def test_symbolic_sizes_that_are_not_indexed():

    (n,) = dims.symbolic_shape("n")
    made = sagax.make_jaxpr(
        lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, n))
    )(sagax.ShapeDtypeStruct((3, n), np.float32), sagax.ShapeDtypeStruct((2, 1), np.int32))
    assert made.out_avals[0].shape == (2, n)
