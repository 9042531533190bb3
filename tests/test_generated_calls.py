"""Generated calls of public functions give what they give on jax 0.12: values, dtypes, weak types, shapes.

Deliberate differences are those of generated_call_differences.py. A call that jax refuses is refused, too, with
the class of jax's error or a subclass. All are traced and lowered; those are made whose module is not the one that was
compared (verified_modules.py), and every 47th. FULL=1 makes all.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import generated_call_differences
import generated_calls
import verified_modules

STEP = 1 if os.environ.get("FULL") else 47
PARTS = 20
CHANGED = 100  # calls of a part that are run when many lower to other modules


@pytest.mark.filterwarnings("default:.*lower to other modules")  # to be shown
@pytest.mark.parametrize("part", range(PARTS))
def test_calls_give_what_they_give_on_jax(part):
    positions = range(part, len(verified_modules.KINDS["calls"].recorded()), PARTS)
    wrong = verified_modules.differing("calls", positions, CHANGED, STEP)
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
