"""The work of tracing and lowering grows as the program does: counted in calls of functions, not in seconds.

`python -m benchmarks --only growth` measures the times.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src.lowering import fusion_fences


def count_calls(f) -> int:
    """Return how many functions, of Python and of C, are called meanwhile."""
    count = 0

    def count_one(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_one)
    try:
        f()
    finally:
        sys.setprofile(None)
    return count


def chain(n):
    def f(x):
        for _ in range(n):
            x = x * 1.5
        return x

    return f


def sum_of(xs):
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def of_jitted(n):
    functions = [sagax.jit(lambda x, i=i: x * i + 1) for i in range(n)]

    def f(x):
        for g in functions:
            x = g(x)
        return x

    return f


def of_conds(n):
    def f(x):
        for i in range(n):
            x = lax.cond(x > i, lambda x, i=i: x + i, lambda x: x * 2, x)
        return x

    return f


def scan_of(n):
    def f(carry):
        step = lambda c, x: ([a * x for a in c], None)  # noqa: E731
        return lax.scan(step, carry, np.arange(3.0, dtype=np.float32))[0]

    return lambda: sagax.make_jaxpr(f)([np.float32(i) for i in range(n)])


ONE = np.float32(1)
CASES = {
    "trace": lambda n: lambda: sagax.make_jaxpr(chain(n))(ONE),
    "trace a gradient": lambda n: lambda: sagax.make_jaxpr(sagax.grad(chain(n)))(ONE),
    "lower": lambda n: sagax.jit(chain(n)).trace(ONE).lower,
    "lower inputs": lambda n: sagax.jit(sum_of).trace([np.float32(i) for i in range(n)]).lower,
    "lower results": lambda n: sagax.jit(lambda x: [x + i for i in range(n)]).trace(ONE).lower,
    "lower jitted functions": lambda n: sagax.jit(of_jitted(n)).trace(ONE).lower,
    "lower conds": lambda n: sagax.jit(of_conds(n)).trace(ONE).lower,
    "trace a scan": scan_of,
}


@pytest.mark.parametrize("name", CASES)
def test_four_times_the_program_is_four_times_the_work(name):
    CASES[name](20)()  # imports
    small, large = (
        count_calls(CASES[name](n)) for n in (1000, 4000)
    )  # from 500 on, other passes run too
    assert small > 1000
    assert large < 4.4 * small


def test_fences_count_the_arrays_to_read_up_to_a_limit():
    jaxpr = sagax.make_jaxpr(sum_of)([np.float32(i) for i in range(300)]).jaxpr
    (cost,) = fusion_fences._fenced(jaxpr, 1e3).outputs
    assert 0 < len(cost.reads) <= 2 * fusion_fences._MAX_READS


def test_functions_of_one_name_have_numbers():
    text = sagax.jit(of_jitted(5)).lower(ONE).as_text()
    names = [line.split("@")[1].split("(")[0] for line in text.splitlines() if "func.func" in line]
    assert len(set(names)) == len(names) == 6
