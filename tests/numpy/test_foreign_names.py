"""Test what people from other libraries are told, and what other libraries take from arrays."""

import pickle
import sys

import cloudpickle
import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import ArgumentValueError, NotAnArrayError
from sagax.numpy._foreign_names import FUNCTIONS, METHODS


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_other_libraries_are_missing_and_say_what_to_use(name: str):
    x = snp.ones((2, 3))
    with pytest.raises(AttributeError, match="use ") as raised:
        getattr(x, name)
    assert METHODS[name] in str(raised.value)
    assert not hasattr(x, name) and not hasattr(type(x), name)
    assert getattr(x, name, 7) == 7


def test_traced_arrays_say_it_too():
    with pytest.raises(AttributeError, match=r"use snp\.expand_dims\(x, axis\)"):
        sagax.jit(lambda x: x.unsqueeze(0))(1.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_other_libraries_are_missing_and_say_what_to_use(name: str):
    with pytest.raises(AttributeError, match="use ") as raised:
        getattr(snp, name)
    assert FUNCTIONS[name] in str(raised.value)


def test_a_name_of_nobody_gets_no_advice():
    with pytest.raises(AttributeError, match="has no attribute 'arangee'$"):
        snp.arangee  # noqa: B018


def test_view_of_a_shape():
    with pytest.raises(ArgumentValueError, match=r"x\.reshape\(3, 2\)"):
        snp.ones((2, 3)).view(3, 2)
    with pytest.raises(ArgumentValueError, match=r"x\.reshape\(-1\)"):
        snp.ones((2, 3)).view(-1)


def test_datetimes_are_no_operands():
    with pytest.raises(NotAnArrayError, match="counts units"):
        snp.sin(np.array(["2020"], dtype="datetime64[D]"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes get buffers in Python 3.12")
def test_buffers():
    x = snp.arange(6, dtype=snp.float32).reshape(2, 3)
    view = memoryview(x)
    assert (view.shape, view.format, view.readonly) == ((2, 3), "f", True)
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(x.astype(snp.bfloat16))


def test_cloudpickle_takes_transformed_functions():
    scale = 3.0
    for function in (
        sagax.jit(lambda x: scale * x),
        sagax.vmap(lambda x: scale * x),
        sagax.checkpoint(lambda x: scale * x),
    ):
        copied = pickle.loads(cloudpickle.dumps(function))
        assert copied(snp.ones(2)).tolist() == [3.0, 3.0]
    assert pickle.loads(cloudpickle.dumps(sagax.grad(lambda x: scale * x)))(1.0) == 3.0


def test_results_without_arrays_keep_their_class():
    assert snp.unstack(snp.zeros((0, 3))) == ()
    assert isinstance(snp.unstack(snp.zeros((0, 3))), tuple)


def test_explain_compiles_is_shown_as_a_table():
    sagax.jit(lambda x: x < 2)(snp.ones(2))
    table = sagax.explain_compiles()
    assert isinstance(table, str) and repr(table) == str(table)
    assert "&lt;lambda&gt;" in table._repr_html_() and table._repr_html_().startswith("<pre>")


def test_signatures_show_no_addresses():
    import inspect

    for function in (lax.cond, lax.switch, sagax.ds):
        assert "0x" not in str(inspect.signature(function))
