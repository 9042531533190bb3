"""Differences that rounding explains refute no repair, and larger ones do."""

from __future__ import annotations

import numpy as np
import pytest

import sagax.numpy as snp
from sagax._autofix.compare import exceeds_noise, is_noise
from sagax._autofix.probes import Probe, Recorder
from sagax._autofix.run_task import Outcome

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("wanted", "got", "rounded", "noise"),
    [
        (1.0, 1.5, 1.2, True),
        (1.0, 3.0, 1.2, False),
        (1.0, 1.1, 1.0, False),  # rounding does not change it
        ([1.0, [2.0]], [1.0, [2.5]], [1.1, [2.0]], True),
        ([1.0, 2.0], [1.0], [1.5, 2.0], False),
        (True, False, True, False),
        (True, False, False, True),
        (NAN, NAN, 1.0, True),
        (1.0, NAN, 1.1, False),
        (INF, INF, INF, True),
        ({"a": 1}, {"b": 1}, {"a": 2}, False),
    ],
)
def test_noise_is_bounded_by_what_rounding_changes(wanted, got, rounded, noise):
    assert is_noise(wanted, got, rounded) is noise


def test_printed_numbers_count_too():
    def runs(*values):
        return [Outcome("clean", output=f"loss {v:.2f}\n", results={"x": 1.0}) for v in values]

    assert not exceeds_noise(*runs(1.0, 1.5, 1.2))
    assert exceeds_noise(*runs(1.0, 3.0, 1.2))
    words = [Outcome("clean", output=text) for text in ("True", "False", "True")]
    assert exceeds_noise(*words)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_nudge_changes_little_of_each_dtype(dtype):
    x = np.asarray(snp.array([1.0, 2.0]).astype(snp.dtype(dtype)))
    nudged = np.asarray(Recorder(Probe(nudge=True)).vary("x", x), np.float64)
    change = nudged / np.asarray(x, np.float64) - 1
    assert (0 < change).all() and (change <= 2**-7).all()
    assert Recorder(Probe(nudge=True)).vary("n", 3) == 3
