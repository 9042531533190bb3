"""A few tries of each attack; `make attack` runs them for minutes."""

from __future__ import annotations

import random

import pytest

from attacks import ATTACKS

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


# Other libraries' tables (hypothesis has some) run Python code where a function dies, in which exceptions are lost.
@pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <function WeakKeyDictionary:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_breaks(name):
    attack = ATTACKS[name](random.Random(0))
    tries = sum(1 for _, _ in zip(range(TRIES[name]), attack))
    attack.close()
    assert tries == TRIES[name]
