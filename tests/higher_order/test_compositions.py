"""Random programs of control flow, derivative rules, checkpoints and vmap inside one another: the values of jax.

The values are recorded by tests/oracle/compositions.py. Where jax refuses (derivatives of a while_loop backwards, of a
custom_vjp forwards) sagax may refuse too, and does nothing else.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sagax
from composed_programs import SEEDS, looks, results

with np.load(Path(__file__).resolve().parents[1] / "data" / "compositions.npz") as _data:
    RECORDED = dict(_data)


def test_the_record_is_of_these_programs():
    expected = {f"{seed} {name}" for seed in SEEDS for name in looks(seed)}
    assert {key.rsplit(" ", 1)[0] for key in RECORDED} == expected
    refused = [key for key in RECORDED if key.endswith("error")]
    assert len(expected) > 75
    assert len(refused) < 12


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.own_promotion("dtype")
def test_values(seed):
    with sagax.enable_x64(True):
        for name in looks(seed):
            if f"{seed} {name} error" in RECORDED:
                continue
            found = results(sagax, seed, name)
            wanted = [RECORDED[f"{seed} {name} {i}"] for i in range(len(found))]
            assert f"{seed} {name} {len(found)}" not in RECORDED, name
            for have, want in zip(found, wanted, strict=True):
                assert have.dtype == want.dtype, name
                np.testing.assert_allclose(have, want, rtol=1e-9, atol=1e-11, err_msg=name)
