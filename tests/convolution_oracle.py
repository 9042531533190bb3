"""Checks of a case of convolution_cases against what the oracle recorded for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

import sagax
from slicing_cases import Case, directions, mapped, on_inexact
from slicing_oracle import flat, recorded


def agrees(have: Any, want: np.ndarray, what: str, rounding: float = 0) -> None:
    """Equal shapes, dtypes and elements, these up to `rounding` times the greatest of them."""
    have = np.asarray(have)
    if want.dtype.kind == "V":  # how a file keeps bfloat16
        want = want.view(ml_dtypes.bfloat16)
    assert have.shape == want.shape and have.dtype == want.dtype, (
        f"{what}: {have.dtype}{have.shape}, expected {want.dtype}{want.shape}"
    )
    if have.dtype == ml_dtypes.bfloat16:
        have, want = have.astype(np.float32), want.astype(np.float32)
    if not rounding or not want.size:
        np.testing.assert_array_equal(have, want, err_msg=what)
    else:
        scale = np.max(np.abs(want))
        np.testing.assert_allclose(have, want, rtol=0, atol=rounding * scale, err_msg=what)


def all_agree(have: Sequence[Any], want: Sequence[Any], what: str, rounding: float = 0) -> None:
    assert len(have) == len(want) > 0, f"{what}: {len(have)} results, expected {len(want)}"
    for i, (h, w) in enumerate(zip(have, want)):
        agrees(h, w, f"{what}, result {i}", rounding)


def check_values(name: str, case: Case, data: dict, rounding: float = 0) -> None:
    """Evaluated at once and compiled: what the oracle gives."""
    want = recorded(data, name, "out")
    all_agree(flat(case)(*case.operands), want, "at once", rounding)
    all_agree(sagax.jit(flat(case))(*case.operands), want, "compiled", rounding)


def check_maps(name: str, case: Case, data: dict, rounding: float = 0) -> None:
    """Under vmap: what the oracle gives."""
    for k, in_axes in enumerate(case.maps):
        outs = sagax.vmap(flat(case), in_axes)(*mapped(case, in_axes))
        want = recorded(data, name, f"map {k}")
        all_agree(outs, want, f"in_axes {in_axes}", rounding)


def check_derivatives(name: str, case: Case, data: dict, rounding: float = 0) -> None:
    """Tangents and cotangents for given directions are those of the oracle."""
    of_some, values = on_inexact(flat(case), case.operands)

    def both(values: list, tangents: list, cotangents: list) -> tuple:
        _, pushed = sagax.jvp(of_some, values, tangents)
        _, pull = sagax.vjp(of_some, *values)
        return pushed, pull(cotangents)

    cotangents = directions(name + "/ct", recorded(data, name, "out"))
    pushed, pulled = sagax.jit(both)(values, directions(name, values), cotangents)
    all_agree(pushed, recorded(data, name, "jvp"), "jvp", rounding)
    all_agree(pulled, recorded(data, name, "vjp"), "vjp", rounding)
