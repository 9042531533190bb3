"""A few tries of each attack, in a process of its own; `make attack` runs them for minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attacks import ATTACKS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
import attack as attack_script

TRIES = {
    "interrupts": 12,
    "forks": 3,
    "exits": 3,
    "threads": 2,
    "caches": 6,
    "coordinator": 3,
    "deep": 3,
}


def test_each_attack_is_tried():
    assert TRIES.keys() == ATTACKS.keys()


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_breaks(name):
    found = attack_script.run(name, seed=0, minutes=10, most=TRIES[name])
    assert found == (TRIES[name], "nothing broke")
