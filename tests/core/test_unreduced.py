"""Types with unreduced and reduced axes: what jax gives, and the messages."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import unreduced_cases as cases
from sagax.errors import ShardingError, ShardingTypeError
from sagax.sharding import PartitionSpec as P
from sagax.sharding import reshard


@pytest.fixture
def names(eight_devices):
    with sagax.set_mesh(sagax.make_mesh((4, 2), ("x", "y"))):
        yield cases.names(sagax)


def _type_or_error(expression, names):
    try:
        return cases.shown(sagax, expression, eval(expression, dict(names)))
    except (TypeError, ValueError):
        return "raises"


def test_types_are_those_of_jax(names, oracle_data):
    want = oracle_data("unreduced")["types"]
    assert {e: _type_or_error(e, names) for e in cases.TYPES} == want


def test_values_are_those_of_jax(names, oracle_data):
    for expression, want in oracle_data("unreduced")["values"].items():
        found = np.asarray(eval(expression, dict(names)))
        np.testing.assert_array_equal(found, want, err_msg=expression)


def test_functions_of_one_device_are_those_of_jax(names, oracle_data):
    for expression, want in oracle_data("unreduced")["mapped"].items():
        if want == "raises":
            with pytest.raises((TypeError, ValueError)):
                eval(expression, dict(names))
        else:
            found = eval(expression, dict(names))
            assert cases.shown(sagax, expression, found) == want[0], expression
            np.testing.assert_array_equal(cases.readable(sagax, found), want[1], expression)


def test_errors_name_the_axis_and_the_way_out(names):
    u = names["u"]
    with pytest.raises(ShardingTypeError, match="sin is a non-linear") as caught:
        sagax.numpy.sin(u)
    assert "unreduced along 'y'" in str(caught.value)
    assert "reshard(x, P('x'" in str(caught.value.facts["fix"])
    with pytest.raises(ShardingTypeError, match="reduced along the same axes"):
        u * 2.0
    with pytest.raises(ShardingError, match="hold summands") as caught:
        np.asarray(u)
    assert "addressable_shards" in str(caught.value.facts["fix"])
    with pytest.raises(ShardingTypeError, match="contracting specs"):
        sagax.lax.reduce_sum(names["x"], (1,), out_sharding=P("x", unreduced={"y"}))
    assert "shape=(4, 4)" in repr(u)


def test_a_sum_of_products_is_reduced_once(names):
    """In a loop the devices add what they have; one all-reduce follows."""
    marked = reshard(names["w"], P(None, None, reduced={"x"}))
    xs = sagax.numpy.stack([names["x"], names["x"]])
    text = sagax.jit(names["accumulated"]).lower(marked, xs).compile().as_text()
    body, after = text.split("ENTRY")
    assert "all-reduce(" not in body and after.count("all-reduce(") == 1


def test_nans_are_found_in_summands(names):
    product = sagax.jit(lambda a, b: sagax.lax.dot_general(
        a, b, (((1,), (0,)), ((), ())), out_sharding=P("x", unreduced={"y"})
    ))  # fmt: skip
    a, b = names["a"], names["b"]
    with sagax.debug_nans(True):
        assert sagax.typeof(product(a, b)) == sagax.typeof(names["u"])
        bad = sagax.device_put(
            np.where(np.arange(np.size(a)).reshape(a.shape) == 3, np.nan, a), a.sharding
        )
        with pytest.raises(sagax.errors.NonFiniteError, match="nan") as caught:
            product(bad, b)
    assert "dot_general" in str(caught.value)
