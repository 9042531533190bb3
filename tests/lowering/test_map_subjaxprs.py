"""Programs that equations hold are prepared for the compiler as the program around them is."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.core.verify import check_jaxpr
from sagax._src.lowering.canonicalize_dots import merge_contracted_dims
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.lowering.passes import prepared

X = np.random.default_rng(0).standard_normal((4, 5, 6)).astype(np.float32)


def product(x):
    return lax.dot_general(x, x, (((0, 1), (0, 1)), ((), ())))


def with_jvp(scale=None):
    f = sagax.custom_jvp(lambda x: product(x) if scale is None else product(x) * scale)
    f.defjvp(lambda primals, tangents: (f(*primals), product(tangents[0])))
    return f


def with_vjp():
    f = sagax.custom_vjp(product)
    f.defvjp(lambda x: (product(x), x), lambda x, ct: (x * 3,))
    return f


def branches(x):
    return lax.cond(x[0, 0, 0] > 0, product, lambda x: -product(x), x)


def rounds(x):
    return lax.while_loop(
        lambda s: s[0] < 1, lambda s: (s[0] + 1, s[1] + product(x)), (0, snp.zeros((6, 6)))
    )[1]


HOLDERS = {
    "jit": sagax.jit(product),
    "custom_jvp": with_jvp(),
    "custom_vjp": with_vjp(),
    "custom_jvp, a value closed over": lambda x: with_jvp(x[0, 0, 0] ** 0)(x),
    "in a custom_jvp": sagax.jit(lambda x: with_jvp()(x)),
    "checkpoint": sagax.checkpoint(product),
    "scan": lambda x: lax.scan(lambda c, _: (c + product(x), None), snp.zeros((6, 6)), None, 1)[0],
    "while": rounds,
    "cond": branches,
}


@pytest.mark.parametrize("f", HOLDERS.values(), ids=HOLDERS)
def test_products_are_rewritten_in_what_equations_hold(f):
    jaxpr = sagax.make_jaxpr(f)(X).jaxpr
    found = prepared(jaxpr, "cpu")
    check_jaxpr(found)
    assert "([0, 1], [0, 1])" in str(jaxpr)
    assert "([0, 1], [0, 1])" not in str(found)
    assert merge_contracted_dims(found) is found  # nothing is left to do
    expected = np.einsum("abi,abj->ij", X, X) * (1 if f is not branches else np.sign(X[0, 0, 0]))
    np.testing.assert_allclose(sagax.jit(f)(X), expected, 1e-4, 1e-4)


def test_rules_stay_as_they_are():
    f = HOLDERS["custom_vjp"]
    slope = sagax.jit(sagax.grad(lambda x: sagax.jit(f)(x).sum()))(X)
    np.testing.assert_allclose(slope, X * 3, 1e-6)


def test_where_nothing_changes_the_equations_are_the_same_object():
    eqns = sagax.make_jaxpr(HOLDERS["custom_jvp"])(X).jaxpr.eqns
    assert within(eqns, lambda jaxpr: jaxpr) is eqns
