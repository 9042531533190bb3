"""Test what is said about keywords of other libraries: `sum(x, dim=1)`."""

import inspect
import re

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, nn, random
from sagax._src.diagnostics.boundary import hide_frames
from sagax._src.diagnostics.foreign_keywords import KEYWORDS, right_keyword
from sagax.numpy import stack

X = snp.ones((2, 3))

CALLS = {
    "axis": [
        lambda x: snp.sum(x, dim=1),
        lambda x: x.sum(dim=1),
        lambda x: x.argmax(dim=1),
        lambda x: nn.softmax(x, dim=-1),
        lambda x: snp.concatenate([x, x], dim=0),
        lambda x: stack([x, x], dim=0),
        lambda x: lax.cumsum(x, dim=1),
        lambda x: snp.flip(x, dims=0),
    ],
    "keepdims": [lambda x: snp.max(x, keepdim=True), lambda x: snp.mean(x, keep_dims=True)],
    "shape": [lambda x: random.normal(random.key(0), size=(3,))],
    "minval": [lambda x: random.uniform(random.key(0), (3,), low=0.0)],
    "replace": [lambda x: random.choice(random.key(0), x, replacement=False)],
    "ddof": [lambda x: snp.var(x, unbiased=True)],
    "axes": [lambda x: snp.transpose(x, perm=(1, 0))],
}


def names_it(error: TypeError, name: str) -> bool:
    """Whether a message names the keyword: sagax's words, or those of Python from 3.13 on."""
    words = re.search(r"calls it `(\w+)`$|Did you mean '(\w+)'\?$", str(error))
    return words is not None and name in words.groups()


@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in CALLS.items() for call in calls]
)
def test_the_right_keyword_is_named(name, call):
    with pytest.raises(TypeError) as eager:
        call(X)
    hide_frames(eager.value)  # as before it is printed
    assert names_it(eager.value, name), eager.value
    with pytest.raises(TypeError) as traced:
        sagax.jit(call)(X)
    assert names_it(traced.value, name), traced.value


def test_an_uncaught_error_names_the_keyword(run_python):
    script = "import sagax.numpy as snp\nsnp.stack([snp.ones(3)], dim=0)\n"
    done = run_python("-c", script, status=1)
    assert done.stderr.rstrip().endswith("'dim': `stack` calls it `axis`")


def test_functions_of_others_are_left_alone():
    def stack(x, *, axis=0):
        return x

    for call in (lambda x: stack(x, dim=1), lambda x: np.random.default_rng(0).normal(shape=3)):
        with pytest.raises(TypeError) as found:
            sagax.jit(call)(X)
        assert "calls it" not in str(found.value)


def test_unknown_keywords_get_no_guess():
    assert right_keyword(snp.sum, "banana") is None
    assert right_keyword(snp.sum, "axis") is None


def test_each_row_of_the_table_serves_a_public_function():
    modules = (snp, lax, nn, random, snp.linalg)
    names = set()
    for module in modules:
        for value in vars(module).values():
            if inspect.isfunction(value):
                names.update(inspect.signature(value).parameters)
    assert {k: v for k, v in KEYWORDS.items() if not names.intersection(v)} == {}
