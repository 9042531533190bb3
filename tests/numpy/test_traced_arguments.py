"""Arguments that are usually ints and are traced: a result where jax has one, and its class of error otherwise."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import sagax
import traced_argument_cases as cases

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "traced_arguments.json").read_text(encoding="utf-8")
)

# jax hashes the argument, or asks whether it is true, where its value is not needed
ACCEPTED_HERE = {"np.triu(m, n)", "np.tril(m, n)", "np.delete(x, n)", "np.linalg.norm(x, n)"}
# a TypeError that names the argument, where jax raises one from its inside
OTHER_CLASS = {
    "np.fft.rfftfreq(n)": "TracerIntegerConversionError",
    "np.indices((n, 2))": "TracerIntegerConversionError",
    "np.resize(x, n)": "TracerIntegerConversionError",
    "np.round(x, n)": "TracerIntegerConversionError",
    "lib.lax.top_k(x, n)": "TracerIntegerConversionError",
    "lib.lax.cumsum(m, n)": "TracerIntegerConversionError",
    "lib.random.permutation(key, n)": "TracerIntegerConversionError",
    "lib.random.choice(key, n)": "TracerIntegerConversionError",
}


@pytest.mark.parametrize("case", cases.CASES)
def test_as_in_jax(case):
    found = cases.outcome(sagax, case)
    if RECORDED[case] == "a" or case in ACCEPTED_HERE:
        assert found == "a result"
    else:
        assert OTHER_CLASS.get(case, RECORDED[case]) in found.split()
        assert "SagaxError" in found.split()


def test_differences_are_differences():
    assert ACCEPTED_HERE | OTHER_CLASS.keys() <= set(cases.CASES)
    assert all(
        RECORDED[case] != OTHER_CLASS.get(case, "a") for case in ACCEPTED_HERE | {*OTHER_CLASS}
    )


def test_it_has_the_name_that_people_search_for():
    with pytest.raises(ValueError, match="axis argument") as caught:
        sagax.jit(lambda n: sagax.numpy.ones((2, 3)).sum(n))(1)
    assert type(caught.value).__name__ == "ConcretizationTypeError"
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is sagax.errors.ConcretizationTypeError
    assert str(copied) == str(caught.value)
