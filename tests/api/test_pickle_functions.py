"""Pickles of jitted functions: by name where they are found under it, else with the function itself."""

from __future__ import annotations

import copy
import io
import marshal
import pickle
import types

import cloudpickle
import pytest

import sagax
from sagax._src.core.trace import evaluation
from sagax._src.lazy_import import _LazyModule


def halve(x):
    return x / 2


@sagax.jit
def decorated(x):
    return x + 1


class Model:
    @sagax.jit
    def method(self):
        return 1


def test_a_decorated_function_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert pickle.loads(pickle.dumps(Model.method)) is Model.method


def test_another_function_keeps_its_options():
    scaled = sagax.jit(_scaled, static_argnames="n", inline=True)
    found = pickle.loads(pickle.dumps(scaled))
    assert found is not scaled
    assert found(2.0, n=3) == 6.0
    assert (found._static_names, found._inline) == (scaled._static_names, True)
    assert pickle.loads(pickle.dumps(sagax.jit(halve)))(3.0) == 1.5


def _scaled(x, n):
    return x * n


def test_a_lambda_is_refused_by_pickle_itself():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(sagax.jit(lambda x: x))


class _ByValue(pickle.Pickler):
    """Pickle functions with their code, as cloudpickle does for those of a script."""

    def reducer_override(self, obj):
        if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
            return _function, (marshal.dumps(obj.__code__),)
        return NotImplemented


def _function(code):
    return types.FunctionType(marshal.loads(code), {})


def test_a_lambda_by_value():
    stream = io.BytesIO()
    _ByValue(stream).dump(sagax.jit(lambda x: x * 3))
    assert pickle.loads(stream.getvalue())(2.0) == 6.0


def test_copies_share_what_is_compiled():
    for copied in (copy.copy(decorated), copy.deepcopy(decorated)):
        assert copied is not decorated
        assert copied(1.0) == 2.0
        assert copied._caches is decorated._caches


@pytest.mark.parametrize("transform", [sagax.grad, sagax.vmap, sagax.jit, sagax.checkpoint])
def test_transformed_functions_of_a_script_travel(transform):
    scale = 3.0
    function = transform(lambda x: (x * scale).sum())
    function.__module__ = "__main__"
    x = sagax.numpy.ones((2, 2))
    found = cloudpickle.loads(cloudpickle.dumps(function))
    assert (found(x) == function(x)).all()


def test_the_evaluator_is_one_object():
    assert pickle.loads(pickle.dumps(evaluation)) is evaluation


def test_modules_that_are_not_loaded_yet_travel_by_their_name():
    lazy = _LazyModule("sagax.tree", {})
    assert pickle.loads(pickle.dumps(lazy)) is sagax.tree
