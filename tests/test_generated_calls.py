"""Generated calls of public functions give what they give on jax 0.12: values, dtypes, weak types, shapes.

Deliberate differences are those of generated_call_differences.py. A call that jax refuses is refused, too, with
the class of jax's error or a subclass. Every 47th call is made, in a minute; FULL=1 makes all.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import generated_call_differences
import generated_calls
import sagax
import strict_calls

STEP = 1 if os.environ.get("FULL") else 47


def parts() -> dict[str, list[tuple[str, object]]]:
    """The calls by namespace."""
    found: dict[str, list[tuple[str, object]]] = {}
    for call, expected in generated_calls.recorded()[::STEP]:
        name = re.match(r"\w+ (?:([a-z_.]+)\.)?", call)[1] or "operators"
        found.setdefault(name, []).append((call, expected))
    return found


PARTS = parts()


@pytest.fixture(scope="module")
def surroundings():
    return strict_calls.scope(sagax), generated_calls.operands(sagax)


@pytest.mark.parametrize("part", PARTS)
def test_calls_give_what_they_give_on_jax(part, surroundings):
    wrong = []
    for call, expected in PARTS[part]:
        found = generated_calls.outcome(sagax, *surroundings, call)
        if generated_calls.agree(found, expected):
            continue
        if not generated_call_differences.fitting(call, found, expected):
            wrong.append(f"{call}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)


def test_each_deliberate_difference_is_documented_and_occurs():
    docs = Path(__file__).resolve().parents[1] / "docs" / "differences.md"
    text = " ".join(docs.read_text(encoding="utf-8").split())
    calls = [call for call, _ in generated_calls.recorded()]
    refused = [f"{call} {x}" for call, x in generated_calls.recorded() if isinstance(x, str)]
    for kind, pattern, reason in generated_call_differences.DIFFERENCES:
        own = reason in generated_call_differences.UNDOCUMENTED
        assert own or reason in text, f"docs/differences.md does not say: {reason}"
        assert any(
            re.fullmatch(pattern, call, re.DOTALL)
            for call in (refused if kind == "class" else calls)
        ), pattern
