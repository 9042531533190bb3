"""Libraries written for jax run unchanged: `make test-libraries` installs them, without jax, and runs this."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

PROGRAMS = {
    p.stem: p for p in sorted((Path(__file__).parent / "libraries" / "programs").glob("*.py"))
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_numbers_as_on_jax(name, run_python, oracle_data):
    library = name.partition("_")[0]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed here; `make test-libraries` installs it")
    lines = run_python("-m", "sagax", "run", str(PROGRAMS[name])).stdout.splitlines()
    found, expected = json.loads(lines[-1]), oracle_data("libraries")[name]
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=2e-4, atol=2e-6, err_msg=key)
