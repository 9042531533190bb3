"""The text of jaxprs: as jax prints them, or smaller for a reason that is stated."""

from __future__ import annotations

import pytest

import sagax
import sagax.numpy as snp
from jaxpr_cases import cases
from sagax import lax
from sagax._src.core.verify import check_closed

CASES = cases(sagax)

# Where sagax's program differs from jax's, and why.
DIFFERENT = {
    "traced index": "no conversion of an index that has the dtype already",
    "batched product": "no preferred type where it is the operands' own",
    "set": "a static index is an update of a slice, which costs no scatter",
}


def normal(text: str) -> str:
    """Without what differs in print only: NumPy's spelling of ints, a blank at the end of a line."""
    return "\n".join(line.rstrip() for line in text.replace("np.int64(1)", "1").splitlines())


@pytest.mark.parametrize("name", CASES)
def test_text(name, oracle_data, golden):
    function, args = CASES[name]
    closed = sagax.make_jaxpr(function)(*args)
    check_closed(closed)
    text = str(closed)
    expected = normal(oracle_data("jaxprs")["texts"][name])
    if name in DIFFERENT:
        assert text != expected, "no longer different: take it out of DIFFERENT"
        assert len(text) < len(expected)
        golden(f"{name.replace(' ', '_')}.txt", text + "\n")
    else:
        assert text == expected


def test_shared_jaxprs_are_printed_once(golden):
    @sagax.jit
    def square(x):
        return x * x

    text = str(sagax.make_jaxpr(lambda x: square(x) + square(x + 1.0))(2.0))
    assert text.count("mul") == 1
    golden("shared.txt", text + "\n")


def test_loops_and_branches(golden):
    def program(x):
        def step(carry, y):
            return lax.cond(y > 0, lambda c: c * y, lambda c: c - 1.0, carry), carry

        return lax.scan(step, 1.0, x)

    text = str(sagax.make_jaxpr(program)(snp.arange(3.0)))
    golden("loop.txt", text + "\n")
    assert "scan" in text and "cond" in text


def test_closed_over_arrays_are_inputs_of_their_own():
    table = snp.arange(1000.0)
    closed = sagax.make_jaxpr(lambda i: table[i])(0)
    assert str(closed).startswith("{ lambda a:f32[1000]; b:i32[].")
    assert closed.consts[0] is table


def test_unused_results_are_shown_as_such():
    text = str(sagax.make_jaxpr(lambda x: (snp.sin(x), x + 1.0)[1])(1.0))
    assert "_:f32[] = sin" in text


def test_deep_nesting_is_printed_with_one_copy_of_each_line():
    def nested(depth):
        return snp.sin if depth == 0 else sagax.jit(lambda x: nested(depth - 1)(x) + 1)

    text = str(sagax.make_jaxpr(nested(60))(1.0))
    assert text.count(" add ") == 60 and text.count("sin") == 1
    deepest = next(line for line in text.splitlines() if "sin" in line)
    assert len(deepest) - len(deepest.lstrip()) > 60 * 6
