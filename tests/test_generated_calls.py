"""Generated calls of public functions give what they give on jax 0.12: values, dtypes, weak types, shapes.

Functions of which a call is known to differ are left out: data/generated_calls_open.txt lists them.
A call that jax refuses is refused, too; the class of the error may be another one. Every sixth call
is made; FULL=1 makes all.
"""

from __future__ import annotations

import os
import re

import pytest

import generated_calls
import sagax
import strict_calls

STEP = 1 if os.environ.get("FULL") else 6

# Functions of which some calls are known to differ.
OPEN = set((generated_calls.DATA.parent / "generated_calls_open.txt").read_text().splitlines()[1:])


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
        both_refuse = isinstance(found, str) and isinstance(expected, str)
        if both_refuse or generated_calls.agree(found, expected):
            continue
        if call.split(" ", 1)[1].split("(")[0] not in OPEN:
            wrong.append(f"{call}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
