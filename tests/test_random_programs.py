"""Random programs of 5 to 25 operations give what they give on jax 0.12.

All are traced and lowered; those are run whose module is not the one that was compared (verified_modules.py), and every
twentieth. FULL=1 runs all. tests/oracle/random_programs.py records and minimises.
"""

from __future__ import annotations

import os

import pytest

import verified_modules

STEP = 1 if os.environ.get("FULL") else 20
PARTS = 8
CHANGED = 60  # programs of a part that are run when many lower to other modules


@pytest.mark.filterwarnings("default:.*lower to other modules")  # to be shown
@pytest.mark.parametrize("part", range(PARTS))
def test_a_program_gives_what_it_gives_on_jax(part):
    positions = range(part, len(verified_modules.KINDS["programs"].recorded()), PARTS)
    wrong = verified_modules.differing("programs", positions, CHANGED, STEP)
    assert not wrong, "\n".join(wrong)
