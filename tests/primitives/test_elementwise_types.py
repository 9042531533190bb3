"""Which dtypes elementwise operations take and give, what stays weak, how programs print."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import sagax
from elementwise_data import JAX
from sagax import lax

DTYPES = JAX["accepted"]["dtypes"]
# sagax takes these where jax does not: the values are those of wider integers
ALSO = {("abs", "int4")}


def function(op: str):
    """The operation, and the dtypes of its operands from the one in question."""
    special = {
        "integer_pow": (lambda x: lax.integer_pow(x, 3), lambda d: [d]),
        "integer_pow -1": (lambda x: lax.integer_pow(x, -1), lambda d: [d]),
        "pow int32": (lax.pow, lambda d: [d, "int32"]),
        "clamp": (lax.clamp, lambda d: [d] * 3),
        "select_n": (lax.select_n, lambda d: ["bool", d, d]),
        "select_n which": (lax.select_n, lambda d: [d, *["float32"] * 3]),
        "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 2), lambda d: [d]),
    }
    if op in special:
        return special[op]
    unary = """neg abs sign square sqrt rsqrt cbrt floor ceil round is_finite reciprocal bitwise_not
               population_count clz real imag conj""".split()
    return getattr(lax, op), lambda d: [d] if op in unary else [d, d]


@pytest.mark.parametrize("op", JAX["accepted"]["table"])
def test_dtypes(op):
    fun, operands = function(op)
    have = []
    for d in DTYPES:
        specs = [sagax.ShapeDtypeStruct((2,), _dtype(o)) for o in operands(d)]
        try:
            have.append(sagax.eval_shape(fun, *specs).dtype.name)
        except (TypeError, ValueError) as error:
            assert isinstance(error, sagax.errors.SagaxError)
            have.append("-")
        if (op, d) in ALSO:
            assert have.pop() == d
            have.append("-")
    assert have == JAX["accepted"]["table"][op]


def _dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


def arguments() -> tuple:
    ones = np.ones(3)
    return (
        ones.astype(np.float32),
        ones.astype(np.int32),
        ones.astype(bool),
        ones.astype(np.complex64),
        lax.add(0.5, 0.5),
    )


def expression(text: str):
    return eval(f"lambda x, i, b, z, s: {text}", {"lax": lax, "np": np})


@pytest.mark.parametrize("text", JAX["jaxprs"])
def test_programs_print_as_in_jax(text):
    assert str(sagax.make_jaxpr(expression(text))(*arguments())) == JAX["jaxprs"][text]


@pytest.mark.parametrize("text", JAX["weak"])
def test_weak_types(text):
    out = sagax.eval_shape(expression(text), *arguments())
    assert [out.dtype.name, out.weak_type] == JAX["weak"][text]


def test_accuracy_reaches_the_program():
    x = np.float32([2.0])
    text = sagax.jit(lambda x: lax.rsqrt(x, accuracy=lax.Tolerance(rtol=1e-3))).lower(x).as_text()
    assert "rtol = 1.000000e-03" in text and "TOLERANCE" in text
    have = sagax.jit(lambda x: lax.rsqrt(x, accuracy=lax.AccuracyMode.HIGHEST))(x)
    np.testing.assert_allclose(np.asarray(have), 2**-0.5, rtol=1e-6)


def test_long_exponents_cost_few_products():
    text = sagax.jit(lambda x: lax.integer_pow(x, 1000)).lower(np.float32([1])).as_text()
    assert text.count("stablehlo.multiply") <= 2 * 10
