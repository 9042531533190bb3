"""Random programs of 5 to 25 operations give what they give on jax 0.12.

Every twentieth program is run; FULL=1 runs all. tests/oracle/random_programs.py records and minimises.
"""

from __future__ import annotations

import os

import pytest

import random_programs
import sagax
import sagax.scipy.special

STEP = 1 if os.environ.get("FULL") else 20
PARTS = 8

# Programs that deliberately differ, or whose rounding errors grow, with the reasons.
INTEGERS = (
    "`cumlogsumexp` refuses integers, for which jax computes with their logarithms cut to integers"
)
BESIDE = "derivatives of `softmax` of integers exist here, and its values do not overflow"
WEAK = "derivatives with respect to Python numbers are weakly typed"
GROWN = "sines of numbers of many digits, whose last ones are rounding errors"
LOGISTIC = "`sigmoid` takes integers, which jax refuses"
SATURATED = "1 - tanh(x)**2 of bfloat16 is 0 on jax, and here the small number that it is"
TIED = "an `argmax` or `floor` of numbers that differ by rounding errors"
DEVIATION = "the derivative of a standard deviation that is 0 on jax, and here a rounding error"
DIFFERENT = {
    **dict.fromkeys((2054, 2089, 2265, 3184, 3452, 4681), LOGISTIC),
    **dict.fromkeys((1003, 1007, 1813, 2192, 2440, 2725, 3374), INTEGERS),
    **dict.fromkeys((1169, 1776, 2482, 3895, 4081, 4173), GROWN),
    1534: SATURATED, 3148: TIED, 3980: TIED, 3863: DEVIATION,
    62: BESIDE, 774: BESIDE, 951: BESIDE, 162: WEAK, 520: WEAK, 184: INTEGERS, 353: INTEGERS, 776: INTEGERS, 200: GROWN, 959: GROWN,
    450: "a standard deviation that is 0 on jax, and here a rounding error",
}  # fmt: skip


@pytest.mark.parametrize("part", range(PARTS))
def test_a_program_gives_what_it_gives_on_jax(part):
    wrong = []
    for seed, expected in list(random_programs.recorded().items())[part * STEP :: PARTS * STEP]:
        if seed in DIFFERENT:
            continue
        found = random_programs.outcome(
            sagax, random_programs.source(seed), random_programs.stack(seed)
        )
        if not random_programs.same(seed, found, expected):
            wrong.append(f"{seed}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
