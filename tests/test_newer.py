"""Compare programs of newer parts of the API with what jax gave for them."""

import numpy as np
import pytest

import newer_cases as cases
import sagax


@pytest.mark.parametrize("program", cases.PROGRAMS, ids=lambda p: p.__name__)
def test_program_gives_what_jax_gives(program, oracle_data, eight_devices):
    _compare(
        cases.readable(sagax, program(sagax)), oracle_data("newer")[program.__name__], "result"
    )


def _compare(found, expected, path):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), path
        for k, v in expected.items():
            _compare(found[k], v, f"{path}[{k!r}]")
    elif isinstance(expected, list) and any(isinstance(v, (str, list, dict)) for v in expected):
        assert len(found) == len(expected), path
        for i, v in enumerate(expected):
            _compare(found[i], v, f"{path}[{i}]")
    elif isinstance(expected, str):
        assert found == expected, path
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6, err_msg=path)
