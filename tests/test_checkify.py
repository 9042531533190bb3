"""`sagax.experimental.checkify`: what is found, in what order, through all transformations."""

from __future__ import annotations

import numpy as np
import pytest

import checkify_cases
import sagax
import sagax.numpy as snp
from sagax.errors import ArgumentError
from sagax.experimental import checkify


@pytest.mark.parametrize("name", checkify_cases.CASES)
def test_as_jax(name, oracle_data):
    said, values = oracle_data("checkify")["cases"][name]
    found, results = checkify_cases.plain(checkify_cases.CASES[name](sagax, checkify))
    assert found == said
    np.testing.assert_allclose(*_leaves(results, values), rtol=1e-6)


def _leaves(*trees):
    return [np.array([float(x) for x in sagax.tree.leaves(tree)]) for tree in trees]


def positive(x):
    checkify.check(x > 0, "{} is not positive", x)
    return snp.log(x)


def test_outside_of_tracing_a_check_raises_at_once():
    with pytest.raises(checkify.JaxRuntimeError, match=r"^-1.0 is not positive \(`check` failed\)"):
        positive(snp.float32(-1))
    assert positive(snp.float32(1)) == 0
    checkify.debug_check(False, "left out")


def test_compiling_a_check_that_nothing_takes_up_is_refused():
    with pytest.raises(ValueError, match="nothing takes up what it finds"):
        sagax.jit(positive)(1.0)
    out = sagax.jit(lambda x: (checkify.debug_check(x > 0, "left out"), x)[1])(-1.0)
    assert out == -1


def test_errors_are_thrown_and_go_through_transformations():
    error, _ = sagax.jit(checkify.checkify(positive))(-2.0)
    with pytest.raises(checkify.JaxRuntimeError, match="-2.0 is not positive"):
        error.throw()
    with pytest.raises(checkify.JaxRuntimeError, match="-2.0 is not positive"):
        checkify.check_error(error)
    fine, _ = checkify.checkify(positive)(2.0)
    assert fine.get() is None
    fine.throw()
    checkify.check_error(fine)
    leaves, tree = sagax.tree.flatten(error)
    assert sagax.tree.unflatten(tree, leaves).get() == error.get()


def test_derivatives_of_checked_functions():
    def f(x):
        error, out = checkify.checkify(lambda v: positive(v) ** 2)(x)
        return out, error

    gradient, error = sagax.grad(f, has_aux=True)(3.0)
    np.testing.assert_allclose(gradient, 2 * np.log(3) / 3, rtol=1e-6)
    assert error.get() is None
    gradient, error = sagax.jit(sagax.grad(f, has_aux=True))(-3.0)
    assert error.get() == "-3.0 is not positive (`check` failed)"


def test_values_are_those_of_the_function_itself():
    def f(x, n):
        def body(i, v):
            checkify.check(v.sum() < 1e6, "grows")
            return snp.sin(v) * 1.5 + v[i % 3]

        return sagax.lax.fori_loop(0, n, body, x)

    x = snp.array([0.1, 0.2, 0.3])
    plain = checkify.checkify(f, errors=frozenset())(x, 7)[1]
    error, out = sagax.jit(checkify.checkify(f, errors=checkify.all_checks))(x, 7)
    assert error.get() is None
    np.testing.assert_allclose(out, plain, rtol=1e-6)


def test_several_values_of_any_shape_are_reported():
    def f(table, i):
        checkify.check(snp.all(table > 0), "row {row}: {values}", row=i, values={"t": table})
        return table

    error, _ = sagax.jit(checkify.checkify(f))(snp.array([1.0, -2.0]), 3)
    assert error.get() == "row 3: {'t': array([ 1., -2.], dtype=float32)} (`check` failed)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: checkify.check(1, "m"), "takes a scalar pred"),
        (lambda: checkify.check(snp.array([True]), "m"), "all\\(\\) or any\\(\\)"),
        (lambda: checkify.check(True, "{}", "text"), "must be arrays or numbers"),
        (lambda: checkify.check_error("bad"), "argument error must be the Error"),
        (lambda: checkify.checkify(3), "argument f must be a function"),
        (lambda: checkify.checkify(positive, errors="all"), "user_checks"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
