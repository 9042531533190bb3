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
    programs = verified_modules.Programs
    positions = range(part, len(programs.recorded()), PARTS)
    wrong = []
    for seed, expected in verified_modules.to_run("programs", positions, CHANGED, STEP):
        found = programs.run(seed)
        if not programs.holds(seed, found, expected):
            wrong.append(f"{seed}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
