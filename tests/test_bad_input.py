"""Wrong use: each mistake gives jax's class of error, in words that name function, argument and both sides."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

import bad_input
import sagax
import sagax.lax
import sagax.numpy as snp
import sagax.random
from sagax import errors
from sagax._src.core.trace import axis_environment, evaluation, state
from sagax._src.source_stacks import written

CASES = bad_input.load()

# Where sagax differs on purpose: what it does instead, and why.
INTENDED = {
    # In jax the class is an accident: the mistake surfaces somewhere inside.
    "branches/cond_pred_key": "raises TypeError",
    "values/compiler_options_text": "raises TypeError",
    "custom/jvp_nondiff_beyond": "raises ValueError",
    "custom/vjp_nondiff_beyond": "raises ValueError",
    "jit/backend_number": "raises RuntimeError",
    "jit/device_text": "raises TypeError",
    "loops/associative_scalar": "raises ValueError",
    "loops/associative_scalar_leaf": "raises ValueError",
    "loops/associative_shape": "raises TypeError",
    "loops/associative_text": "raises TypeError",
    "loops/map_batch_scalar": "raises ValueError",
    "mapping/ppermute_with_repeated_target": "raises ValueError",
    "values/named_call_of_value": "raises TypeError",
    "values/tree_unflatten_swapped": "raises TypeError",
    # As Python has it.
    "values/struct_assigned": "raises AttributeError",
    # A deleted array is deleted whoever notices.
    "values/block_until_ready_deleted": "raises RuntimeError",
    # Refused at once; jax fails later, or where the function is called.
    "custom/checkpoint_function_value": "raises TypeError",
    "custom/jvp_function_none": "raises TypeError",
    "custom/jvp_function_value": "raises TypeError",
    "custom/jvp_rule_none": "raises TypeError",
    "custom/vjp_bwd_not_callable": "raises TypeError",
    "custom/vjp_function_none": "raises TypeError",
    "custom/vjp_nondiff_names_unknown": "raises ValueError",
    "custom/vjp_rules_not_callable": "raises TypeError",
    "scan/scan_length_negative": "raises ValueError",
    "values/struct_shape_negative": "raises ValueError",
    # A number of rounds or examples is an int: 3.7 would be cut off silently, "3" is no number.
    "scan/scan_unroll_float": "raises TypeError",
    "mapping/axis_size_float": "raises TypeError",
    "scan/scan_length_float": "raises TypeError",
    "scan/scan_length_text": "raises TypeError",
    # What has a meaning is accepted.
    "custom/checkpoint_as_decorator_with_options": "gives float32[]: (6+0j)",
    "custom/defjvps_all_none": "gives float32[]: 0j",
    "custom/jvp_nondiff_int": "gives float32[]: (5+0j)",
    "custom/vjp_fwd_output_dtype": "gives float32[]: (1+0j)",
    "custom/vjp_nondiff_traced": "gives float32[]: (3+0j)",
    "grad/argnums_empty": "gives PyTreeDef(()) of ",
    "jacobians/jacfwd_aux_text": "gives PyTreeDef((*, *)) of float32[]: (2+0j); 'note'",
    "jacobians/jacrev_empty_result": "gives PyTreeDef(()) of ",
    "linear/jvp_list_and_tuple": "gives PyTreeDef((*, *)) of float32[]: (1+0j); float32[]: (2+0j)",
    "loops/associative_no_leaves": "gives PyTreeDef(()) of ",
    "values/struct_shape_number": "gives None",
    # A cotangent has the dtype of its argument, whatever a rule computes in.
    "custom/vjp_bwd_dtype": "gives float32[3]: [(1+0j), (1+0j), (1+0j)]",
    # A struct has the dtype that arrays of it have.
    "values/struct_of_dtype_python_float": "gives float32[3]",
    # The warning is of a class of its own, a UserWarning.
    "marked/donated_of_no_use": "gives float32[]: (32+0j), warns DonationWarning",
    # repr does not fail.
    "arrays/deleted_repr": "gives None",
}

# What is still to be done elsewhere.
PENDING: dict[str, str] = {}


def names() -> list[Any]:
    return [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=PENDING[name]))
        if name in PENDING
        else name
        for name in sorted(CASES)
    ]


def agrees(outcome: str, got: str, error: BaseException | None) -> bool:
    """Whether what happened is `outcome`; a subclass of the error will do."""
    kind, _, rest = outcome.partition(" ")
    if kind == "raises":
        cls = getattr(errors, rest, None) or getattr(builtins, rest)
        return isinstance(error, cls)
    return got == outcome


def check_text(error: BaseException, words: tuple[str, ...]) -> None:
    """The text has the words, and nothing of the inside of sagax."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    assert [word for word in words if word not in text] == [], text
    for inside in ("_src", "Traceback", "from inside sagax"):
        assert inside not in text, text


def check_clean() -> None:
    """No trace, scope or axis is left behind: operations run at once again."""
    assert state.trace is evaluation
    assert written.here.state() == ("", None, None, None)
    assert axis_environment() == ()
    assert float(snp.add(1.0, 1.0)) == 2.0


@pytest.mark.parametrize("name", names())
def test_mistake(name, oracle_data):
    recorded = oracle_data("bad_input")["outcomes"][name]
    expected = INTENDED.get(name, recorded)
    got, error = bad_input.outcome(sagax, CASES[name].program)
    check_clean()
    shown = f"expected: {expected}\ngot: {got}\n{error}"
    assert agrees(expected, got, error), shown
    assert name not in INTENDED or not agrees(recorded, got, error), "no difference any more"
    if error is not None:
        check_text(error, CASES[name].words)


def test_the_lists_of_differences_are_about_programs():
    assert [name for name in (*INTENDED, *PENDING) if name not in CASES] == []
    assert INTENDED.keys().isdisjoint(PENDING)


def test_each_error_is_described_by_words(oracle_data):
    outcomes = oracle_data("bad_input")["outcomes"] | INTENDED
    raising = {name for name, outcome in outcomes.items() if outcome.startswith("raises")}
    wordless = {name for name in raising if not CASES[name].words}
    assert wordless - PENDING.keys() == set()
