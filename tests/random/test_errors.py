"""What sagax.random says to wrong arguments: which one, what it wants, what to do."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from sagax import random

key = random.key(0)
keys = random.split(key, 4)
two = np.ones(2, np.float32)
three = np.ones(3, np.float32)

# expression, class of the error, words that its text must have
CASES = [
    # what is no key
    ("random.uniform((3,))", TypeError, "argument: key|a PRNG key|the key comes before the shape"),
    ("random.uniform((3,), key)", TypeError, "the key comes before the shape"),
    ("random.normal(0)", TypeError, "make a key of the seed: sagax.random.key(0)"),
    ("random.normal(None)", TypeError, "argument: key|got: None|random.key(seed)"),
    ("random.normal('0')", TypeError, "argument: key|got: '0'"),
    ("random.normal([0, 0])", TypeError, "argument: key|got: [0, 0]"),
    ("random.normal(np.zeros(2))", TypeError, "argument: key|uint32 and shape (..., 2)|float64[2]"),
    ("random.normal(np.zeros(3, np.uint32))", TypeError, "'threefry2x32'|uint32[3]"),
    ("random.split(3)", TypeError, "make a key of the seed"),
    ("random.fold_in(3, 4)", TypeError, "argument: key"),
    ("random.clone(3)", TypeError, "argument: key"),
    ("random.binomial(random.key(0), 5.0, np.ones(2) * 1j)", TypeError, "real numbers"),
    ("random.key_data(1.0)", TypeError, "argument: keys|got: 1.0"),
    ("random.key_impl(None)", TypeError, "argument: keys"),
    ("random.wrap_key_data(np.zeros((3, 4), np.uint32))", TypeError, "key_bits_array|(..., 2)"),
    ("random.wrap_key_data(np.zeros((3, 2)))", TypeError, "key_bits_array|uint32"),
    ("random.wrap_key_data(key)", TypeError, "key_bits_array"),
    # several keys
    ("random.normal(keys)", ValueError, "accepts a single key|key<fry>[4]|sagax.vmap("),
    ("random.split(keys)", ValueError, "accepts a single key|sagax.vmap(sagax.random.split)"),
    ("random.fold_in(keys, 1)", ValueError, "accepts a single key"),
    ("random.normal(np.zeros((2, 2), np.uint32))", ValueError, "accepts a single key"),
    # seeds
    ("random.key(1.5)", TypeError, "seed must be an integer|argument: seed|key(1)"),
    ("random.PRNGKey(1.5)", TypeError, "PRNGKey: PRNG key seed must be an integer"),
    ("random.key((2, 3))", TypeError, "argument: seed|the shape to the sampler"),
    ("random.key('a')", TypeError, "argument: seed|got: 'a'"),
    ("random.key(key)", TypeError, "argument: seed|this is a key already"),
    ("random.key(np.arange(3))", TypeError, "a scalar seed|sagax.vmap(sagax.random.key)(seeds)"),
    ("random.key(2**64)", OverflowError, "argument seed|seed % 2**32"),
    ("random.fold_in(key, 1.5)", TypeError, "argument data must be an integer|int(data): 1"),
    ("random.fold_in(key, 'a')", TypeError, "argument data must be an integer|got 'a'"),
    ("random.fold_in(key, -1)", OverflowError, "argument data|data % 2**32"),
    ("random.fold_in(key, np.arange(3))", TypeError, "argument: data|in_axes=(None, 0)"),
    # implementations
    ("random.key(0, impl='three')", ValueError, "argument: impl|'philox4x32'|impl='threefry2x32'"),
    ("random.key(0, impl=3)", TypeError, "argument impl"),
    ("random.key(0, impl='rbg', dtype=key.dtype)", ValueError, "argument dtype"),
    ("random.key(0, dtype=np.float32)", TypeError, "argument dtype|key_dtype("),
    ("random.key_dtype('philox')", ValueError, "argument: impl|impl='philox"),
    # shapes
    ("random.uniform(key, (-1,))", ValueError, "uniform|shape[0] is negative"),
    ("random.uniform(key, (2.5,))", TypeError, "uniform|shape[0]"),
    ("random.uniform(key, 'a')", TypeError, "uniform|argument shape"),
    ("random.split(key, -1)", ValueError, "split|num[0] is negative"),
    ("random.split(key, 2.0)", TypeError, "split|argument num"),
    ("random.gamma(key, three, (2,))", ValueError, "gamma|argument: shape|shape=(3,)"),
    ("random.bernoulli(key, three * 0.5, (2,))", ValueError, "bernoulli|argument: shape"),
    ("random.uniform(key, (2,), minval=three)", ValueError, "uniform|argument: shape"),
    ("random.randint(key, (2,), 0, np.arange(3))", ValueError, "randint|argument: shape"),
    ("random.beta(key, two, three)", ValueError, "beta|(2,), (3,)|along axis -1"),
    ("random.weibull_min(key, three, 1.0, (2,))", ValueError, "weibull_min|(2,), (3,)"),
    ("random.dirichlet(key, 1.0)", ValueError, "argument: alpha|a vector of concentrations"),
    ("random.dirichlet(key, np.ones((2, 3)), (3,))", ValueError, "dirichlet|argument: shape|(2,)"),
    ("random.ball(key, -1)", ValueError, "argument d"),
    ("random.ball(key, 2.0)", TypeError, "argument d"),
    ("random.ball(key, 2, two)", ValueError, "argument p must be a number"),
    ("random.orthogonal(key, 2.0)", TypeError, "argument n"),
    ("random.multivariate_normal(key, 0.0, 1.0)", ValueError, "argument: mean|a vector"),
    ("random.multivariate_normal(key, three, np.eye(2))", ValueError, "argument: cov|(3, 3)"),
    (
        "random.multivariate_normal(key, np.zeros((3, 2)), np.eye(2), (2,))",
        ValueError,
        "shape|(3,)",
    ),
    ("random.multinomial(key, 5, 0.5)", ValueError, "argument p|last axis"),
    ("random.multinomial(key, 5, np.ones((4, 2)), shape=(3,))", ValueError, "argument: shape|(4,)"),
    # dtypes
    ("random.uniform(key, dtype=int)", ValueError, "uniform|argument: dtype|a float dtype"),
    ("random.uniform(key, dtype=np.complex64)", ValueError, "argument: dtype|a float dtype"),
    (
        "random.uniform(key, dtype='float4_e2m1fn')",
        TypeError,
        "argument dtype|8, 16, 32 or 64 bits",
    ),
    ("random.normal(key, dtype=int)", ValueError, "normal|a float or complex dtype"),
    ("random.gumbel(key, dtype=int)", ValueError, "gumbel|argument: dtype"),
    ("random.bits(key, dtype=np.int32)", ValueError, "argument: dtype|uint8, uint16, uint32"),
    ("random.randint(key, (), 0, 5, float)", TypeError, "argument: dtype|an integer dtype"),
    ("random.poisson(key, 1.0, dtype=float)", TypeError, "argument: dtype|an integer dtype"),
    ("random.binomial(key, 5, 0.5, dtype=int)", ValueError, "argument: dtype|a float dtype"),
    ("random.rademacher(key, dtype=np.uint8)", ValueError, "argument dtype|holds -1"),
    ("random.uniform(key, dtype='spam')", TypeError, "uniform|'spam'"),
    ("random.pareto(key, three, dtype=np.float16)", ValueError, "argument: b|float32 to float16"),
    (
        "random.multivariate_normal(key, two, np.eye(2), dtype='float16')",
        ValueError,
        "dtype|float32",
    ),
    # parameters
    ("random.bernoulli(key, 1)", TypeError, "argument: p|pass 1.0"),
    ("random.gamma(key, [1.0, 2.0])", TypeError, "argument a|an array or a number|numpy.asarray"),
    ("random.gamma(key, 'a')", TypeError, "argument a|got 'a'"),
    ("random.gamma(key, 1j)", TypeError, "argument a|a real number"),
    ("random.normal(key, (2,), out_sharding=3)", TypeError, "argument out_sharding"),
    ("random.randint(key, (), 0, 2**40)", OverflowError, "argument: maxval|int32"),
    ("random.bernoulli(key, mode='x')", ValueError, "argument mode|'high' or 'low'"),
    ("random.gumbel(key, mode='x')", ValueError, "argument mode|'high'"),
    ("random.gamma(key, 1.0, method='x')", ValueError, "argument: method|'approximate'"),
    ("random.poisson(key, 1.0, method='x')", ValueError, "argument: method|'approximate'"),
    (
        "random.multivariate_normal(key, two, np.eye(2), method='x')",
        ValueError,
        "method|'cholesky'",
    ),
    # picking
    ("random.choice(key, 0)", ValueError, "argument: a|something to pick from"),
    ("random.choice(key, 2.0)", TypeError, "argument: a|an int, or an array"),
    ("random.choice(key, [1, 2])", TypeError, "argument a|numpy.asarray"),
    ("random.choice(key, 3, (5,), replace=False)", ValueError, "argument: shape|replace=True"),
    ("random.choice(key, 3, p=np.ones(4))", ValueError, "argument: p|shape (3,)"),
    ("random.choice(key, 3, p=[0.5, 0.2, 0.3])", TypeError, "argument p|numpy.asarray"),
    ("random.choice(key, np.ones((2, 3)), axis=2)", ValueError, "argument axis|2 dimensions"),
    ("random.permutation(key, 2.0)", TypeError, "argument: x|an int, or an array"),
    ("random.permutation(key, three, axis=1)", ValueError, "argument axis"),
    ("random.permutation(key, [1, 2])", TypeError, "argument x|numpy.asarray"),
    ("random.categorical(key, np.zeros(3, int))", ValueError, "argument logits|astype(float)"),
    ("random.categorical(key, [0.0, 1.0])", TypeError, "argument logits|numpy.asarray"),
    ("random.categorical(key, three, axis=1)", ValueError, "argument axis"),
    (
        "random.categorical(key, np.zeros((2, 0)))",
        ValueError,
        "argument logits|at least one category",
    ),
    ("random.categorical(key, np.zeros((2, 3)), shape=(3,))", ValueError, "argument: shape|(2,)"),
    ("random.categorical(key, three, shape=(5,), replace=False)", ValueError, "shape|replace=True"),
]


@pytest.mark.parametrize("expression, kind, words", CASES, ids=[c[0] for c in CASES])
def test_error(expression, kind, words):
    with pytest.raises(kind) as caught:
        eval(expression)
    assert isinstance(caught.value, sagax.errors.SagaxError)
    text = " ".join(str(caught.value).split())
    for word in words.split("|"):
        assert word in text, text


@pytest.mark.parametrize("kind, words", [(TypeError, "argument: key")])
def test_the_same_inside_of_a_program(kind, words):
    with pytest.raises(kind, match=words):
        sagax.jit(lambda x: random.normal(x))(np.float32(3))


def test_keys_are_no_numbers():
    for expression in (
        "key + 1",
        "-key",
        "key < key",
        "float(key)",
        "np.asarray(key)",
    ):
        with pytest.raises((TypeError, ValueError), match="key"):
            eval(expression)
