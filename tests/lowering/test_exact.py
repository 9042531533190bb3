"""`exact`: a compiled function computes, bit for bit, what it computes without jit."""

from __future__ import annotations

import os

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from exact_cases import CASES
from sagax import lax, nn
from sagax.scipy import special

# all of them with FULL=1 (`make test-full`); else every third, which still covers each kind
CHOSEN = CASES if os.environ.get("FULL") == "1" else CASES[::3]


@pytest.fixture(scope="module")
def operands():
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=1000).astype(np.float32) for _ in range(2))
    a, b = (rng.normal(size=(8, 8)).astype(np.float32) for _ in range(2))
    s = (a @ a.T + 8 * np.eye(8)).astype(np.float32)
    i = rng.integers(0, 1000, 1000).astype(np.int32)
    return [snp.asarray(v) for v in (x, y, a, b, s, i)]


def bits(x):
    return [np.asarray(leaf).tobytes() for leaf in sagax.tree.leaves(x)]


def function(text):
    names = {"n": snp, "lax": lax, "nn": nn, "special": special, "sagax": sagax}
    return eval(f"lambda x, y, A, B, S, i: {text}", names)


def test_corpus_is_large_enough():
    assert len(set(CASES)) == len(CASES) >= 200


@pytest.mark.parametrize("text", CHOSEN)
def test_same_bits_as_without_jit(text, operands):
    f = function(text)
    assert bits(sagax.jit(f, exact=True)(*operands)) == bits(f(*operands))


def test_the_compiler_rewrites_otherwise():
    """What the option is for: without it the two functions of the question round differently."""
    x = snp.pi
    f = sagax.jit(lambda x: snp.log(snp.sqrt(x)))
    g = sagax.jit(lambda x: snp.log(snp.sqrt(x)), exact=True)
    assert str(snp.log(snp.sqrt(x))) == str(g(x)) == "0.572365"
    assert str(f(x)) == "0.5723649"


def affine(x):
    for _ in range(5):
        x = x * 1.1 + 0.3
    return x


def affine_loop(x):
    return lax.fori_loop(0, 5, lambda _, v: v * 1.1 + 0.3, x)


def test_setting_reaches_into_loops(operands):
    x = operands[0]
    with sagax.config.context(exact=True):
        want = bits(affine(x))
        assert bits(affine_loop(x)) == want
        assert bits(sagax.jit(affine_loop)(x)) == want
        assert bits(sagax.jit(affine)(x)) == want


def test_setting_reaches_into_small_loops():
    """Whose bodies the compiler would otherwise make one kernel of, in which it contracts."""
    x = np.random.default_rng(0).normal(size=50).astype(np.float32)
    want, carry = [], np.float32(0)
    for v in x:
        want.append(carry * v)
        carry = np.float32(carry * np.float32(0.9)) + v

    def f(x):
        return lax.scan(lambda c, v: (c * 0.9 + v, c * v), 0.0, x)

    with sagax.config.context(exact=True):
        assert bits(f(x)[1]) == bits(sagax.jit(f)(x)[1]) == bits(np.array(want))


def test_argument_leaves_loops_as_they_are(operands):
    """A loop is one operation: it is computed as it is outside of jit."""
    x = operands[0]
    assert bits(sagax.jit(affine_loop, exact=True)(x)) == bits(affine_loop(x))


def test_part_of_another_program(operands):
    x = operands[0]
    inner = sagax.jit(affine, exact=True)
    assert bits(sagax.jit(lambda v: inner(v) * 2.0)(x)) == bits(affine(x) * 2.0)


def test_setting_can_be_turned_off_for_a_function():
    with sagax.config.context(exact=True):
        assert str(sagax.jit(lambda x: snp.log(snp.sqrt(x)), exact=False)(snp.pi)) == "0.5723649"
        assert str(sagax.jit(lambda x: snp.log(snp.sqrt(x)))(snp.pi)) == "0.572365"


def test_quotients_by_a_number_do_not_depend_on_the_size():
    """XLA multiplies with the reciprocal of a divisor that is stretched; small arrays get the same."""
    x = np.random.default_rng(0).normal(size=20_000).astype(np.float32)
    large = np.asarray(snp.asarray(x) / 3)
    assert bits(large[:1000]) == bits(np.asarray(snp.asarray(x[:1000]) / 3))


def test_products_do_not_depend_on_jit():
    x = snp.asarray(1 + 0.01 * np.random.default_rng(0).normal(size=500).astype(np.float32))
    assert bits(snp.prod(x)) == bits(sagax.jit(snp.prod)(x))


@pytest.mark.parametrize("value", [1, "yes", "alone"])
def test_wrong_values(value):
    if value == 1:
        assert bits(sagax.jit(affine, exact=value)(snp.ones(3))) == bits(affine(snp.ones(3)))
        return
    with pytest.raises(ValueError, match="'exact' must be True or False"):
        sagax.jit(affine, exact=value)
