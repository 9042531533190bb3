"""`sagax.test_util`, and with it the derivatives up to second order of every primitive.

The programs are evaluated by the NumPy reference rules, in double precision: nothing is compiled, and
differences are exact enough for tight tolerances.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import laws
import sagax
import sagax.numpy as snp
from sagax._src.core import dtypes
from sagax._src.core.trace import evaluate_by_reference, evaluation
from sagax.test_util import check_grads, check_jvp, check_vjp

# check_grads itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_right_derivatives_pass(dtype):
    order = 1 if dtype == "bfloat16" else 2  # whose second differences have no digits left
    check_grads(lambda x: x * x * 0.5 + snp.sin(x), (snp.asarray(0.3, dtype),), order)


def test_pytrees_and_integers_that_stay():
    def f(d, n):
        return {"y": d["a"] * d["b"] * n, "n": n}

    check_grads(f, ({"a": np.float32(0.3), "b": np.ones(3, np.float32)}, 3), order=2)


def wrong_sine(factor):
    @sagax.custom_jvp
    def f(x):
        return snp.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), factor * tangents[0] * snp.cos(primals[0])))
    return f


@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")])
def test_a_wrong_derivative_is_found(modes):
    x = (np.float32(0.3),)
    check_grads(wrong_sine(1.0), x, 2, modes)
    with pytest.raises(AssertionError, match="fwd tangent" if "fwd" in modes else "rev cotangent"):
        check_grads(wrong_sine(1.1), x, 1, modes)


def test_a_wrong_second_derivative_is_found():
    @sagax.custom_jvp
    def slope(x):
        return snp.cos(x)

    slope.defjvp(lambda p, t: (snp.cos(p[0]), t[0] * snp.sin(p[0])))  # the sign is missing

    @sagax.custom_jvp
    def f(x):
        return snp.sin(x)

    f.defjvp(lambda p, t: (f(*p), t[0] * slope(p[0])))
    check_grads(f, (0.7,), 1)
    for modes in ("fwd", "rev"):
        with pytest.raises(AssertionError, match=f"{modes} of {modes}"):
            check_grads(f, (0.7,), 2, modes)


def test_a_wrong_value_is_found():
    x = (np.float32(0.3),)
    cos = functools.partial(sagax.jvp, snp.cos)
    with pytest.raises(AssertionError, match="mine value of the jvp"):
        check_jvp(snp.sin, cos, x, err_msg="mine")
    with pytest.raises(AssertionError, match="value of the vjp"):
        check_vjp(snp.sin, functools.partial(sagax.vjp, snp.cos), x)


def test_tolerances_decide():
    f, x = wrong_sine(1.1), (np.float32(0.3),)
    check_grads(f, x, 1, atol=0.2, rtol=0.2)
    with pytest.raises(AssertionError):
        check_grads(wrong_sine(1.0), x, 1, atol=1e-12, rtol=1e-12, eps=0.5)


@pytest.mark.parametrize("how", [{"modes": "forward"}, {"modes": ()}, {"order": 0}])
def test_unknown_modes_and_orders(how):
    with pytest.raises(ValueError, match="check_grads: argument (modes|order)"):
        check_grads(snp.sin, (1.0,), **{"order": 1} | how)


# Every primitive -------------------------------------------------------------------------------------

PER_PRIMITIVE = (
    3  # samples; the first derivatives of all others are checked in primitives/test_laws.py
)
CASES = [
    (name, p, sample)
    for name, p, sample in laws.cases()
    if sample.derivatives
    and p.reference_rule is not None
    and sample in list(p.samples)[:PER_PRIMITIVE]
]
# Derivatives of these are themselves without derivatives, in jax too.
ONCE = {"igamma_grad_a", "random_gamma_grad"}


@pytest.fixture
def by_reference(monkeypatch):
    """Everything is evaluated by NumPy, with 64-bit types."""
    monkeypatch.setattr(evaluation, "evaluate", evaluate_by_reference)
    with sagax.enable_x64(True):
        yield


@pytest.mark.parametrize(("name", "primitive", "sample"), CASES, ids=[c[0] for c in CASES])
def test_primitive(name, primitive, sample, by_reference):
    operands = [laws._wide(x) for x in laws.fill(sample, name)]
    if not any(dtypes.is_inexact(x.dtype) for x in operands):
        return
    fun = laws.bind(primitive, laws.widened(primitive, sample))
    order = 1 if primitive.name in ONCE else 2
    check_grads(fun, operands, order, atol=2e-4, rtol=2e-4)
