"""Repeated stretches of a program become scans, with the values of the unrolled program."""

from __future__ import annotations

import random

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src.core.jaxpr import eval_jaxpr
from sagax._src.core.verify import check_jaxpr
from sagax._src.lowering.passes import prepared
from sagax._src.lowering.reroll import rerolled

ROUNDS = 100
RNG = np.random.default_rng(0)
W = (RNG.standard_normal((5, 5)) / 4).astype(np.float32)
X = RNG.standard_normal(5).astype(np.float32)
XS = RNG.standard_normal((ROUNDS, 5)).astype(np.float32)


def constant_body(x):
    for _ in range(ROUNDS):
        x = x + 0.01 * snp.tanh(W @ x)
    return x


def sequence_by_index(x, xs):
    for t in range(ROUNDS):
        x = snp.tanh(x * 0.9 + xs[t])
    return x


def sequence_by_iteration(x, xs):
    for row in xs:
        x = snp.tanh(x * 0.9 + row)
    return x


def sequence_backwards(x, xs):
    for t in reversed(range(ROUNDS)):
        x = snp.tanh(x * 0.9 + xs[t])
    return x


def every_second_column(x, xs):
    columns = xs.T
    for t in range(0, ROUNDS, 2):
        x = snp.sin(x * 0.9 + columns[:, t]) * snp.cos(x) + 0.1 * x
    return x


def numbers_that_change(x):
    for t in range(ROUNDS):
        x = snp.sin(x) * (1.0 - 1.0 / (t + 2)) + 0.5 / (t + 1)
    return x


def stacked_results(x):
    rows = []
    for _ in range(ROUNDS):
        x = snp.sin(x) + 0.1 * x
        rows.append(x * 2)
    return snp.stack(rows), x


def some_results(x):
    kept = []
    for t in range(ROUNDS):
        x = snp.sin(x) + 0.1 * x
        if t % 10 == 3:
            kept.append(x)
    return kept


def last_of_an_inner_value(x):
    y = x
    for _ in range(ROUNDS):
        y = snp.cos(x) * 2
        x = snp.sin(x) + 0.1 * y
    return x, y


def two_states(x):
    v = x * 0.5
    for _ in range(ROUNDS):
        v = v - 0.01 * x
        x = x + 0.01 * v
    return x, v


def of_the_round_before_last(x):
    before, now = x, x + 0.01
    for _ in range(ROUNDS):
        before, now = now, 2 * now - before - 1e-4 * snp.sin(now)
    return now


def two_loops(x, xs):
    for t in range(ROUNDS):
        x = snp.tanh(x * 0.9 + xs[t])
    x = x.sum() + x
    for _ in range(ROUNDS):
        x = snp.cos(x) + 0.1 * x * x
    return x


def with_jitted_steps(x):
    @sagax.jit
    def step(x):
        y = snp.sin(x) * 0.5
        return x - y + 0.01 * y * y

    for _ in range(3 * ROUNDS):
        x = step(x)
    return x


def keys_too(x):
    key = sagax.random.key(0)
    for _ in range(ROUNDS):
        key, sub = sagax.random.split(key)
        x = 0.9 * x + sagax.random.normal(sub, x.shape)
    return x


def inside_of_a_branch(x):
    return sagax.lax.cond(x[0] > -10, constant_body, lambda x: x, x)


CASES = [
    (constant_body, (X,)),
    (sequence_by_index, (X, XS)),
    (sequence_by_iteration, (X, XS)),
    (sequence_backwards, (X, XS)),
    (every_second_column, (X, XS)),
    (numbers_that_change, (X,)),
    (stacked_results, (X,)),
    (some_results, (X,)),
    (last_of_an_inner_value, (X,)),
    (two_states, (X,)),
    (two_loops, (X, XS)),
    (with_jitted_steps, (X,)),
    (keys_too, (X,)),
    (inside_of_a_branch, (X,)),
]


def count(jaxpr, name: str = "scan") -> int:
    """How many equations of that name a program has, with those inside."""
    found = 0
    for eqn in jaxpr.eqns:
        found += eqn.primitive.name == name
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                found += count(inner, name) if hasattr(inner, "eqns") else 0
    return found


def equations(jaxpr) -> int:
    return len(jaxpr.eqns)


def by_numpy(f, *args):
    """The values, operation by operation: no program is compiled."""
    with sagax.disable_jit():
        return f(*args)


def assert_close(found, expected, tolerance=2e-5):
    found, expected = (sagax.tree.leaves(t) for t in (found, expected))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), tolerance, tolerance)


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_loops_are_found_and_keep_their_values(f, args):
    closed = sagax.make_jaxpr(f)(*args)
    rolled = rerolled(closed.jaxpr)
    check_jaxpr(rolled)
    assert count(rolled) == count(closed.jaxpr) + (2 if f is two_loops else 1)
    assert [a.str_short(short_dtypes=True) for a in rolled.out_avals] == [
        a.str_short(short_dtypes=True) for a in closed.out_avals
    ]
    assert_close(sagax.jit(f)(*args), by_numpy(f, *args))


@pytest.mark.parametrize("f", [constant_body, two_states])
def test_gradients_are_rolled_forwards_and_backwards(f):
    args = (X, XS)[: f.__code__.co_argcount]

    def loss(x, *rest):
        y = f(x, *rest)
        return sum(snp.sum(leaf**2) for leaf in sagax.tree.leaves(y))

    gradient = sagax.grad(loss)
    closed = sagax.make_jaxpr(gradient)(*args)
    rolled = rerolled(closed.jaxpr)
    check_jaxpr(rolled)
    assert count(rolled) == 2
    # what is left unrolled are the ends of the loops, not their rounds
    assert equations(rolled) < 0.25 * equations(closed.jaxpr)
    assert_close(sagax.jit(gradient)(*args), by_numpy(gradient, *args), 1e-4)


def test_a_value_of_the_round_before_last_stays_right():
    assert_close(
        sagax.jit(of_the_round_before_last)(X), by_numpy(of_the_round_before_last, X), 1e-4
    )


def test_off():
    closed = sagax.make_jaxpr(constant_body)(X)
    assert count(prepared(closed.jaxpr, "cpu")) == 1
    with sagax.config.context(reroll="off"):
        assert prepared(closed.jaxpr, "cpu") is closed.jaxpr
    for f, loops in ((sagax.jit(constant_body), 1), (sagax.jit(constant_body, reroll="off"), 0)):
        assert f.lower(X).as_text().count("stablehlo.while") == loops


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: [x := snp.sin(x) for _ in range(8)][-1], id="short"),
        pytest.param(lambda x: x + 1, id="no loop"),
    ],
)
def test_short_programs_are_left_alone(f):
    jaxpr = sagax.make_jaxpr(f)(X).jaxpr
    assert rerolled(jaxpr) is jaxpr


def test_what_would_have_to_be_stacked_is_not_copied():
    """Layers with large weights of their own stay as they are."""
    weights = [np.ones((128, 128), np.float32) for _ in range(ROUNDS)]

    def f(x, weights):
        for w in weights:
            x = snp.tanh(x @ w) * 0.5 + x
        return x

    jaxpr = sagax.make_jaxpr(f)(np.ones(128, np.float32), weights).jaxpr
    assert rerolled(jaxpr) is jaxpr


def test_effects_stay_in_order():
    log = []

    def f(x):
        for _ in range(ROUNDS):
            sagax.debug.callback(lambda v: log.append(float(v)), x, ordered=True)
            x = x + 1.0 + 0.0 * snp.sin(x)
        return x

    sagax.jit(f)(0.0)
    sagax.effects_barrier()
    assert log == list(range(ROUNDS))


def test_integers_and_booleans_are_exact():
    def f(n):
        odd = n > 0
        for t in range(ROUNDS):
            n = n * 1664525 + 1013904223 + t
            odd = odd ^ (n % 2 == 1)
            n = snp.where(odd, n, n + 1)
        return n, odd

    n = np.arange(4, dtype=np.uint32)
    closed = sagax.make_jaxpr(f)(n)
    assert count(rerolled(closed.jaxpr)) == 1
    found, expected = sagax.jit(f)(n), by_numpy(f, n)
    for x, y in zip(found, expected, strict=True):
        assert x.tolist() == y.tolist()


# -- random loops ---------------------------------------------------------------------------------

ONE = (snp.sin, snp.tanh, lambda x: 0.5 * x, lambda x: snp.roll(x, 1), lambda x: x - x.mean())
TWO = (lambda a, b: a - 0.5 * b, lambda a, b: a * b * 0.1, snp.maximum)


def random_loop(rng: random.Random):
    """A function with a loop: operations and their operands drawn once, the same in each round."""
    states, rounds = rng.randint(1, 3), rng.choice([40, 64, 100])
    body = [
        (
            rng.choice(["one", "two", "row", "back", "constant", "number"]),
            rng.random(),
            rng.random(),
        )
        for _ in range(rng.randint(4, 9))
    ]
    following = [rng.random() for _ in range(states)]
    other = rng.choice(
        [None, 0, rounds // 2, rounds - 1]
    )  # a round that does something else as well
    every = rng.choice([None, 1, 2, 7])  # which rounds' values are results

    def f(values, xs, c):
        values, results = list(values), []
        for t in range(rounds):
            v = list(values)
            for kind, p, q in body:
                a, b = v[int(p * len(v))], v[int(q * len(v))]
                if kind == "one":
                    v.append(ONE[int(q * len(ONE))](a))
                elif kind == "two":
                    v.append(TWO[int(q * len(TWO))](a, b))
                elif kind == "constant":
                    v.append(a + c)
                elif kind == "number":
                    v.append(a * (1.0 / (t + 2)))
                else:
                    v.append(a * 0.5 + xs[t if kind == "row" else rounds - 1 - t])
            if t == other:
                v[-1] = v[-1] + 1.0
            if every is not None and t % every == 0:
                results.append(v[-1])
            values = [snp.tanh(v[int(p * len(v))]) for p in following]
        return values, results

    numbers = np.random.default_rng(rng.randrange(1000))
    draw = lambda *shape: numbers.standard_normal(shape).astype(np.float32)  # noqa: E731
    return f, ([draw(5) for _ in range(states)], draw(rounds, 5), draw(5))


def test_random_loops_keep_their_values():
    """Twelve random loops; most of them are found."""
    found = 0
    for seed in range(12):
        f, args = random_loop(random.Random(seed))
        closed = sagax.make_jaxpr(f)(*args)
        rolled = rerolled(closed.jaxpr)
        check_jaxpr(rolled)
        found += count(rolled) > 0
        leaves = sagax.tree.leaves(args)
        expected = eval_jaxpr(closed.jaxpr, closed.consts, *leaves)
        assert_close(eval_jaxpr(rolled, closed.consts, *leaves), expected, 1e-3)
    assert found >= 6
