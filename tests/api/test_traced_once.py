"""Functions that are called many times with the same types of arguments are traced once."""

from __future__ import annotations

import gc
from collections import Counter

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src.runtime import eager

SEEN: Counter[str] = Counter()


def seen(name):
    SEEN[name] += 1


@sagax.jit
def jitted(x):
    seen("jit")
    return snp.sin(x) * x


@sagax.custom_jvp
def with_jvp(x):
    seen("custom_jvp")
    return snp.sin(x)


@with_jvp.defjvp
def _(primals, tangents):
    return with_jvp(*primals), 2 * tangents[0] * snp.cos(primals[0])


@sagax.custom_vjp
def with_vjp(x):
    seen("custom_vjp")
    return {"sine": snp.sin(x)}, x + 1


with_vjp.defvjp(lambda x: (with_vjp(x), x), lambda x, ct: (3 * ct[0]["sine"] * snp.cos(x) + ct[1],))


@sagax.checkpoint
def checkpointed(x):
    seen("checkpoint")
    return snp.sin(snp.sin(x))


def body(c, x):
    seen("scan")
    return c + x, c


def branch(x):
    seen("cond")
    return x * 2


def step(x):
    x = jitted(x)
    x = with_jvp(x)
    x = with_vjp(x)[0]["sine"]
    x = checkpointed(x)
    x = sagax.lax.scan(body, x, snp.ones(3))[0]
    return sagax.lax.cond(x > 0, branch, branch, x)


def ten(x):
    for _ in range(10):
        x = step(x)
    return x


@pytest.fixture(autouse=True)
def fresh():
    sagax.clear_caches()
    SEEN.clear()


def test_each_function_is_traced_once():
    sagax.make_jaxpr(ten)(snp.ones(()))
    assert set(SEEN) == {"jit", "custom_jvp", "custom_vjp", "checkpoint", "scan", "cond"}
    assert set(SEEN.values()) == {1}


def test_other_types_are_traced_anew():
    sagax.make_jaxpr(lambda x: with_jvp(x) + with_jvp(x[0]) + with_jvp(x))(snp.ones(3))
    assert SEEN["custom_jvp"] == 2


def sine_ten(x):
    for _ in range(10):
        x = np.sin(x) * x
        x = np.sin(np.sin(np.sin(np.sin(x)))) + 3
        x = 2 * x
    return x


def test_values_and_rules_are_as_without():
    close = {"rtol": 1e-5}
    np.testing.assert_allclose(sagax.jit(ten)(0.5), sine_ten(0.5), **close)

    def once(x):
        return with_jvp(x) + with_vjp(x)[0]["sine"] * with_vjp(x)[1]

    x = 0.7
    expected = 2 * np.cos(x) + 3 * np.cos(x) * (x + 1) + np.sin(x)
    for _ in range(2):
        np.testing.assert_allclose(sagax.jit(sagax.grad(once))(x), expected, **close)
        np.testing.assert_allclose(sagax.grad(sagax.jit(once))(x), expected, **close)
        rows = sagax.vmap(sagax.grad(once))(snp.array([x, x]))
        np.testing.assert_allclose(rows, [expected, expected], **close)


def test_structure_of_results_comes_along():
    shapes = sagax.eval_shape(lambda x: [with_vjp(x), with_vjp(x)], 1.0)
    first, second = shapes
    assert first == second
    assert first[0]["sine"].shape == ()


def test_functions_that_close_over_other_values_are_not_mixed_up():
    def made(k):
        @sagax.custom_jvp
        def f(x):
            return x * k

        f.defjvp(lambda p, t: (f(*p), t[0]))
        return f

    def total(x):
        return sum(made(k)(x) for k in (2.0, 3.0, snp.float32(4), snp.array(5.0)))

    assert float(sagax.jit(total)(1.0)) == 14.0


def test_signatures_of_a_function_are_bounded(monkeypatch):
    """A function that is called with ever new shapes keeps the last ones only."""
    monkeypatch.setattr(eager, "_LIMIT", 8)
    traced = []

    @sagax.jit
    def f(x):
        traced.append(x.shape)  # sagax: ignore
        return x + 1

    inputs = [np.ones(n, np.float32) for n in range(1, 21)]
    for x in inputs:
        f(x)
    live = sum(type(t).__name__ == "Traced" and t.name == "f" for t in gc.get_objects())
    assert 0 < live <= 8
    assert traced == [x.shape for x in inputs]
    f(inputs[-1])  # is remembered
    np.testing.assert_array_equal(f(inputs[0]), [2.0])  # is compiled again
    assert traced[20:] == [(1,)]
