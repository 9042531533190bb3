"""Derivatives with respect to Python numbers are weakly typed, so that they do not decide dtypes.

What is expected was looked up in jax 0.12.
"""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.scipy import special

FUNCTIONS = {
    "identity": lambda x: x,
    "abs": snp.abs,
    "relu": sagax.nn.relu,
    "where": lambda x: snp.where(x > 0, x, 0.0),
    "beside an array": lambda x: (x * snp.ones(3)).sum(),
    "cond": lambda x: lax.cond(x > 0, lambda v: v * 2, lambda v: 3.0, x),
    "scan": lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=2)[0],
    "no derivative": snp.round,
    "stopped": lax.stop_gradient,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_python_numbers(name):
    f = FUNCTIONS[name]
    assert sagax.grad(f)(2.0).weak_type
    assert sagax.jit(sagax.grad(f))(2.0).weak_type
    assert sagax.jacrev(f)(2.0).weak_type
    assert sagax.value_and_grad(f)(2.0)[1].weak_type
    assert not sagax.grad(f)(snp.float32(2.0)).weak_type
    half = snp.ones(3, snp.bfloat16)
    assert (half * sagax.grad(f)(2.0)).dtype == snp.bfloat16


def test_rules_that_multiply_by_strongly_typed_values():
    # expected: what jax 0.12 gives
    @sagax.custom_jvp
    def f(x):
        return snp.sin(x) * np.float32(2)

    f.defjvp(lambda p, t: (f(*p), np.float32(2) * snp.cos(*p) * t[0]))
    for derivative in (sagax.grad(f), sagax.jit(sagax.grad(f)), sagax.grad(lambda x: f(x * 2))):
        assert derivative(0.3).weak_type
        assert not derivative(snp.float32(0.3)).weak_type
    assert not sagax.jvp(f, (0.3,), (1.0,))[1].weak_type
    for function in (special.ndtri, special.gamma, special.dawsn, special.erfcinv):
        assert sagax.grad(function)(0.3).weak_type
    # a primitive's own rule has no such conversion
    assert not sagax.grad(lambda x: snp.maximum(x, 0.1))(0.3).weak_type


def test_an_argument_that_nothing_depends_on():
    def f(x, y):
        return x * 1.0

    assert [g.weak_type for g in sagax.grad(f, (0, 1))(1.0, 2.0)] == [True, True]
    assert not sagax.grad(f, 1)(1.0, snp.float32(2.0)).weak_type
    assert sagax.jvp(lambda x: 3.0, (1.0,), (1.0,))[1].weak_type
    assert sagax.linearize(lambda x: 3.0, 1.0)[1](1.0).weak_type


def test_cotangents_that_are_strongly_typed_stay_so():
    pull = sagax.vjp(lambda x: x * 1.0, 1.0)[1]
    assert pull(1.0)[0].weak_type
    assert not pull(snp.float32(1.0))[0].weak_type


def test_jacobians():
    for f in (lambda x: x * 2, snp.sin, snp.abs, snp.round):
        assert sagax.jacfwd(f)(1.0).weak_type
        assert sagax.hessian(f)(1.0).weak_type
    assert not sagax.jacfwd(lambda x: x * snp.ones(2))(1.0).weak_type
    assert sagax.jacrev(lambda x: x * snp.ones(2))(1.0).weak_type
    assert not sagax.jacfwd(lambda x: x * 2)(snp.ones(2)).weak_type


def test_steps_of_descent_are_traced_once():
    traced = []

    @sagax.jit
    def step(w):
        traced.append("step")
        return w - 0.1 * sagax.grad(snp.abs)(w)

    w = 1.0
    for _ in range(3):
        w = step(w)
    assert len(traced) == 1
    assert float(w) == pytest.approx(0.7)
