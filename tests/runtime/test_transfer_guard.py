"""transfer_guard: what is refused agrees with jax 0.12, but for numbers that stand in the program."""

import logging

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.errors import DisallowedTransferError

HOST = np.ones(3, np.float32)
double = sagax.jit(lambda x: x * 2)

# Calls, and whether jax 0.12 refuses them under "disallow" and under "disallow_explicit".
CALLS = {
    "jit of a NumPy array": (lambda x: double(HOST), True, True),
    "jit of a number": (lambda x: double(1.0), True, True),
    "operation on a NumPy array": (lambda x: snp.sin(HOST), True, True),
    "NumPy array beside an array": (lambda x: HOST + x, True, True),
    "array": (lambda x: snp.array(HOST), True, True),
    "list": (lambda x: snp.array([1.0, 2.0]), True, True),
    "device_put": (lambda x: sagax.device_put(HOST), False, True),
    "captured array": (lambda x: sagax.jit(lambda y: y + HOST)(x), False, False),
    "arrays": (lambda x: double(x) + x, False, False),
    "device_get": (lambda x: sagax.device_get(x), False, False),
    "asarray on a CPU": (lambda x: np.asarray(x), False, False),
    "sum": (lambda x: x.sum(), False, False),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("mode", ["disallow", "disallow_explicit"])
def test_refusals_are_those_of_jax(name, mode):
    call, *refused = CALLS[name]
    x = snp.ones(3)
    with sagax.transfer_guard(mode):
        if refused[mode == "disallow_explicit"]:
            with pytest.raises(DisallowedTransferError, match="host-to-device"):
                call(x)
        else:
            call(x)
    with sagax.transfer_guard("allow"):
        call(x)


def test_an_error_is_one_of_the_engine_for_those_who_catch_it():
    with sagax.transfer_guard("disallow"), pytest.raises(sagax.errors.JaxRuntimeError):
        double(HOST)


def test_numbers_in_the_program_are_no_transfers():
    x = snp.ones(3)
    with sagax.transfer_guard("disallow"):
        assert (x * 7.25 + 1)[0] == 8.25


def test_transfers_are_logged(caplog):
    with caplog.at_level(logging.WARNING, "sagax"), sagax.transfer_guard("log"):
        double(HOST)
        sagax.device_put(HOST)
    assert [r.message for r in caplog.records] == ["implicit host-to-device transfer of float32[3]"]
    with caplog.at_level(logging.WARNING, "sagax"), sagax.transfer_guard("log_explicit"):
        sagax.device_put(HOST)
    assert caplog.records[-1].message == "explicit host-to-device transfer of float32[3]"
