"""debug_nans and debug_infs: which expression, which pass, which iteration, which inputs."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors, lax

pytestmark = pytest.mark.usefixtures("tests_are_a_library")

HEAD = "from sagax import jit, grad, lax\nimport sagax.numpy as jnp\n"

# name -> (program with `run`; the mark is on the guilty line; the guilty expression; the operation;
# words of the text)
CASES = {
    "one operation": ("run = lambda x: jnp.log(x - 2)  #~", "jnp.log(x - 2)", "log", ["[0]", "-2.0"]),
    "compiled": (
        "@jit\ndef run(x):\n    y = x - 1\n    return jnp.sqrt(y) + 1  #~",
        "jnp.sqrt(y)",
        "sqrt",
        ["nan at index [0]", "sqrt was given: -1.0", "in the forward pass", "while running `run` for jit"],
    ),
    "what a where leaves out is not blamed": (
        "@jit\ndef run(x):\n    a = jnp.where(x > 9, jnp.log(x - 5), 0.0)\n"
        "    return a + jnp.arcsin(x + 7)  #~",
        "jnp.arcsin(x + 7)",
        "asin",
        ["was given: 7.0"],
    ),
    "backwards through a where": (
        "run = jit(grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0).sum()))  #~",
        "jnp.sqrt(x)",
        "mul",
        ["in the backward pass", "chooses among the results", "choose twice"],
    ),
    "backwards, a name is chosen, not compiled": (
        "def f(x):\n    root = jnp.sqrt(x)  #~\n    return jnp.where(x > 0, root, 0.0).sum()\nrun = grad(f)",
        "jnp.sqrt(x)",
        "mul",
        ["in the backward pass", "jnp.where(x > 0, root, 0.0)"],
    ),
    "inside of a function with a derivative rule": (
        "from sagax import custom_jvp\n@custom_jvp\ndef root(x):\n    y = x - 1\n    return jnp.sqrt(y)  #~\n"
        "root.defjvp(lambda p, t: (root(*p), t[0]))\nrun = jit(lambda x: root(x) + 1)",
        "jnp.sqrt(y)",
        "sqrt",
        ["sqrt was given: -1.0", "in the forward pass"],
    ),
    "an iteration of a scan": (
        "def step(c, y):\n    return c - 1.0, jnp.sqrt(c) * y  #~\n"
        "run = jit(lambda x: lax.scan(step, x.sum(), jnp.ones(9))[1])",
        "jnp.sqrt(c)",
        "sqrt",
        ["in iteration 6 of scan", "sqrt was given: -1.0"],
    ),
    "a scan that is not compiled by the user": (
        "def step(c, y):\n    return c - 1.0, jnp.sqrt(c) * y  #~\n"
        "run = lambda x: lax.scan(step, x.sum(), jnp.ones(9), reverse=True)[1]",
        "jnp.sqrt(c)",
        "sqrt",
        ["in iteration 2 of scan"],
    ),
    "an iteration of a while loop, in a branch": (
        "def body(c):\n    n, v = c\n    return n + 1, jnp.log(v - 2.0)  #~\n"
        "def loop(v):\n    return lax.while_loop(lambda c: c[0] < 5, body, (0, v))[1]\n"
        "run = jit(lambda x: lax.cond(x.sum() > 0, loop, jnp.sin, x.sum()))",
        "jnp.log(v - 2.0)",
        "log",
        ["in iteration 1 of while_loop"],
    ),
    "a function inside": (
        "@jit\ndef inner(v):\n    return v / v  #~\nrun = jit(lambda x: inner(x - x) + 1)",
        "v / v",
        "div",
        ["div was given: 0.0, 0.0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_blame(name, user):
    source, expression, primitive, words = CASES[name]
    names = user(HEAD + source + "\n")
    x = snp.array([0.0, 1.0, 4.0])
    with sagax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        names.run(x)
    error = caught.value
    assert isinstance(error, errors.NonFiniteError)
    head = f"invalid value (nan) encountered in {primitive}"
    assert str(error).startswith(head), str(error)
    found = error.explain()
    lines = (HEAD + source).split("\n")
    marked = next(i for i, line in enumerate(lines, 1) if line.endswith("#~"))
    assert found.primary is not None
    assert (found.primary.line, found.primary.text) == (marked, expression)
    assert [w for w in words if w not in str(error)] == [], str(error)
    assert len(str(error).splitlines()) <= 25


def test_infinities_are_asked_for_apart():
    f = sagax.jit(lambda x: 1.0 / x)
    with sagax.debug_nans(True):
        assert f(0.0) == float("inf")
    with (
        sagax.debug_infs(True),
        pytest.raises(FloatingPointError, match=r"\(inf\) encountered in div"),
    ):
        f(0.0)


def test_nothing_is_said_of_what_comes_in_bad():
    with sagax.debug_nans(True):
        x = snp.array([float("nan"), 1.0])
    with sagax.debug_nans(True):
        assert sagax.jit(lambda v: v[1] * 2)(x) == 2.0


MASKED = {  # as plain jnp.where(x > 9, jnp.nan, x), which is one program
    "grad": lambda f, x: sagax.grad(lambda x: f(x).sum())(x),
    "vmap": lambda f, x: sagax.vmap(f)(x),
    "jvp": lambda f, x: sagax.jvp(f, (x,), (x,))[1],
    "linearize": lambda f, x: sagax.linearize(f, x)[1](x),
}


@pytest.mark.parametrize("name", MASKED)
def test_a_nan_that_is_moved_but_not_chosen_is_not_blamed(name):
    x = snp.array([0.0, 1.0, 4.0])
    with sagax.debug_nans(True):
        found = MASKED[name](lambda x: snp.where(x > 9, snp.nan, x), x)
    assert found.tolist() == ([1.0] * 3 if name == "grad" else x.tolist())


@pytest.mark.parametrize("name", ["vmap", "jvp"])
def test_a_nan_that_is_chosen_is_blamed(name):
    x = snp.array([0.0, 1.0, 4.0])
    with (
        sagax.debug_nans(True),
        pytest.raises(FloatingPointError, match=r"\(nan\) encountered in select_n"),
    ):
        MASKED[name](lambda x: snp.where(x > 3, snp.nan, x), x)


def test_formulas_of_eager_transformations_are_checked_as_wholes():
    x = np.float32([1, 2])
    none = np.zeros(2, bool)
    with sagax.debug_nans(True):
        assert sagax.grad(lambda x: sagax.nn.softmax(x, where=none)[0])(x).tolist() == [0, 0]
        limits = np.float32([np.inf, 1])
        assert sagax.vmap(sagax.nn.logsumexp)(limits[None]).tolist() == [np.inf]
        with pytest.raises(FloatingPointError, match=r"\(nan\) encountered in sub\n"):
            sagax.vmap(sagax.nn.softmax)(limits[None])


@pytest.mark.parametrize("maker", [sagax.jit, lambda f: f], ids=["jit", "eager"])
def test_what_a_where_masks_stays_masked(maker):
    """A selection inside of a call would not mask the cotangents of what is computed before it."""
    x = np.float32([-2, 0, 4])

    def f(x):
        return snp.where(x > 0, snp.log(snp.where(x > -1, x, 1.0)), 0.0).sum()

    gradient = maker(sagax.grad(f, safe_where=True))
    with sagax.debug_nans(True):
        assert gradient(x).tolist() == [0, 0, 0.25]


def test_branches_that_an_example_does_not_choose_are_not_blamed():
    def f(x):
        return lax.cond(x > 0, snp.sqrt, lambda x: x * 0, x)

    with sagax.debug_nans(True):
        assert sagax.vmap(sagax.grad(f))(np.float32([-1, 4])).tolist() == [0, 0.25]
        with pytest.raises(FloatingPointError):
            sagax.vmap(lambda x: lax.cond(x > 0, snp.log, snp.sqrt, x))(np.float32([-1, 4]))


def test_a_formula_that_is_called_again_is_blamed_where_it_is_called(user):
    program = user(
        HEAD
        + "first = grad(lambda x: jnp.log(x).sum())\nsecond = grad(lambda x: jnp.log(2 * x).sum())\n"
    )
    x = snp.array([-1.0])
    with sagax.debug_nans(True):
        with pytest.raises(FloatingPointError, match=r"program.py:3:\d+ in .*lambda"):
            program.first(x)
        with pytest.raises(FloatingPointError, match=r"program.py:4:\d+ in .*lambda"):
            program.second(x)


def test_a_sort_is_not_blamed_for_a_nan_that_it_was_given():
    x = snp.array([3.0, float("nan"), 1.0])
    with sagax.debug_nans(True):
        assert snp.argsort(x).tolist() == [2, 0, 1]
        assert sagax.vmap(snp.argsort)(x[None]).tolist() == [[2, 0, 1]]
