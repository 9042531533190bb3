"""Checks of a case of slicing_cases against what the oracle recorded for it."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax
from sagax import lax
from slicing_cases import Case, directions, mapped, on_inexact


def as_list(out: Any) -> list:
    return list(out) if isinstance(out, (list, tuple)) else [out]


def flat(case: Case) -> Any:
    """The case as a function of its operands that gives a list."""
    return lambda *operands: as_list(case.fun(lax, *operands))


def recorded(data: dict, name: str, kind: str) -> list[np.ndarray]:
    found = []
    while (key := f"{name}/{kind}/{len(found)}") in data:
        found.append(data[key])
    return found


def same_bits(have: Any, want: np.ndarray, what: str) -> None:
    """Equal shapes, dtypes and elements; any NaN equals any other."""
    have = np.asarray(have)
    assert have.shape == want.shape and have.dtype == want.dtype, (
        f"{what}: {have.dtype}{have.shape}, expected {want.dtype}{want.shape}"
    )
    np.testing.assert_array_equal(have, want, err_msg=what)
    if have.dtype.kind == "f":
        zeros = want == 0
        np.testing.assert_array_equal(
            np.signbit(have[zeros]), np.signbit(want[zeros]), err_msg=f"{what}: signs of zeros"
        )


def check_values(name: str, case: Case, data: dict) -> None:
    """Evaluated at once and compiled: what the oracle gives, bit for bit."""
    want = recorded(data, name, "out")
    operands = [sagax.device_put(x) for x in case.operands]
    for how, outs in (
        ("at once", flat(case)(*operands)),
        ("compiled", sagax.jit(flat(case))(*operands)),
    ):
        assert len(outs) == len(want), f"{how}: {len(outs)} results, expected {len(want)}"
        for i, (h, w) in enumerate(zip(outs, want)):
            same_bits(h, w, f"{how}, result {i}")


def check_maps(name: str, case: Case, data: dict) -> None:
    """Under vmap: what the oracle gives, bit for bit."""
    for k, in_axes in enumerate(case.maps):
        want = recorded(data, name, f"map {k}")
        outs = sagax.vmap(flat(case), in_axes)(*mapped(case, in_axes))
        assert len(outs) == len(want)
        for i, (h, w) in enumerate(zip(outs, want)):
            same_bits(h, w, f"in_axes {in_axes}, result {i}")


def check_derivatives(name: str, case: Case, data: dict) -> None:
    """Tangents and cotangents for given directions are those of the oracle."""
    operands = tuple(map(sagax.device_put, case.operands))
    of_some, values = on_inexact(flat(case), operands)
    _, tangents = sagax.jvp(of_some, values, directions(name, values))
    _, pull = sagax.vjp(of_some, *values)
    pulled = pull(directions(name + "/ct", recorded(data, name, "out")))
    for kind, have in (("jvp", tangents), ("vjp", pulled)):
        want = recorded(data, name, kind)
        assert len(have) == len(want) > 0
        for i, (h, w) in enumerate(zip(have, want)):
            close(h, w, f"{kind} {i}")


def close(have: Any, want: np.ndarray, what: str) -> None:
    have = np.asarray(have)
    assert have.shape == want.shape and have.dtype == want.dtype, what
    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6, err_msg=what)
