"""Programs of this part of the library give what they give on jax."""

import pytest

import sagax
from behavior_programs import agree, outcome, programs

PROGRAMS = programs("api")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_jax(name, oracle_data):
    expected = oracle_data("behavior/api")[name]
    found = outcome(sagax, PROGRAMS[name])
    assert agree(found, expected), f"{found} instead of {expected}"
