"""Programs of this part of the library give what they give on jax."""

import pytest

import sagax
from behavior_programs import agree, outcome, programs

PROGRAMS = programs("higher_order")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_jax(name, oracle_data):
    expected = oracle_data("behavior/higher_order")[name]
    found = outcome(sagax, PROGRAMS[name])
    assert agree(found, expected), f"{found} instead of {expected}"
