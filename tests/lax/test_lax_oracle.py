"""`lax` over ranges of parameters: values, dtypes and weak types as recorded from jax."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sagax
from lax_cases import CASES, Case
from sagax import lax, tree_util
from sagax._src.runtime import eager

DATA = Path(__file__).resolve().parents[1] / "data" / "lax.npz"
TOGETHER = 48  # so many cases are compiled as one program


@functools.cache
def recorded() -> tuple[dict, bytes]:
    with np.load(DATA) as data:
        return json.loads(data["index"].tobytes()), data["bytes"].tobytes()


def dtype_named(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def expected(name: str) -> list[tuple[np.ndarray, bool]]:
    """The results of a case, and whether their types are weak."""
    index, whole = recorded()
    out = []
    for dtype_name, shape, weak, first in index[name]:
        dtype = dtype_named(dtype_name)
        count = int(np.prod(shape, dtype=int))
        values = np.frombuffer(whole, dtype, count, first) if count else np.zeros(0, dtype)
        out.append((values.reshape(shape), weak))
    return out


def raised(name: str) -> bool:
    return isinstance(recorded()[0][name], str)


def is_number(x: np.ndarray) -> bool:
    return x.dtype.kind in "fc" or (x.dtype.kind == "V" and "int" not in x.dtype.name)


def wide(x: np.ndarray) -> np.ndarray:
    """Numbers in double precision. The engine takes subnormals for zero, where NumPy does not."""
    if not is_number(x):
        return x
    if x.dtype.kind == "c":
        out = np.empty(x.shape, np.complex128)
        out.real, out.imag = wide(x.real), wide(x.imag)
        return out
    with np.errstate(all="ignore"):
        numbers = x.astype(np.float64)
    if x.dtype in (np.float32, np.float64, ml_dtypes.bfloat16):
        tiny = np.abs(numbers) < float(ml_dtypes.finfo(x.dtype).tiny)
        numbers = np.where(tiny, np.copysign(0.0, numbers), numbers)
    return numbers


def differences(name: str, case: Case, outs: Any, how: str) -> Iterator[str]:
    """What is wrong with the results of a case, in words."""
    wanted = expected(name)
    outs = tree_util.tree_leaves(outs)
    if len(outs) != len(wanted):
        yield f"{how}: {len(outs)} results, not {len(wanted)}"
        return
    for i, (out, (want, weak)) in enumerate(zip(outs, wanted, strict=True)):
        have = np.asarray(out)
        kinds = (have.dtype, have.shape), (want.dtype, want.shape)
        if kinds[0] != kinds[1] or out.weak_type != weak:
            yield f"{how} {i}: type {kinds[0]} weak {out.weak_type}, not {kinds[1]} weak {weak}"
            continue
        try:
            if case.close and is_number(want):
                scale = 0.0
                if case.close > 1e-20 and want.size:
                    finite = np.abs(wide(want))[np.isfinite(wide(want))]
                    scale = float(min(finite.max(initial=0.0), 1.0))
                np.testing.assert_allclose(
                    wide(have), wide(want), rtol=case.close, atol=case.close * scale
                )
            else:
                same_bits(have, want)
        except AssertionError as error:
            yield f"{how} {i}: {error}"


def same_bits(have: np.ndarray, want: np.ndarray) -> None:
    """Equal numbers with equal signs of zeros; NaN is NaN."""
    np.testing.assert_array_equal(wide(have), wide(want))
    if is_number(want):
        for part in ("real", "imag"):
            a, b = getattr(wide(have), part), getattr(wide(want), part)
            known = ~np.isnan(b)
            np.testing.assert_array_equal(np.signbit(a)[known], np.signbit(b)[known], "signs")


def test_the_record_is_of_these_cases():
    assert list(recorded()[0]) == list(CASES)
    assert len(CASES) > 2000


NAMES = list(CASES)
GROUPS = [NAMES[i : i + TOGETHER] for i in range(0, len(NAMES), TOGETHER)]
labels = [f"{i}:{group[0].split()[0]}" for i, group in enumerate(GROUPS)]


class CompiledError(Exception):
    """What is called at once is not small, or has no exact form in NumPy: it is compiled."""


def refuse(*_: Any) -> Any:
    raise CompiledError


@pytest.mark.filterwarnings("ignore:Casting complex values")  # as jax does
@pytest.mark.parametrize("group", GROUPS, ids=labels)
def test_values(group, monkeypatch):
    """At once what runs through NumPy; everything else together, as one compiled program."""
    wrong, rest = [], {}
    with sagax.enable_x64(True):
        for name in group:
            if raised(name):
                continue
            with monkeypatch.context() as patched:
                patched.setattr(eager, "_compiled_operation", refuse)
                try:
                    outs = CASES[name].fun(lax, *CASES[name].operands)
                except CompiledError:
                    rest[name] = CASES[name]
                    continue
                except (TypeError, ValueError, NotImplementedError) as error:
                    wrong.append(f"{name}\n  {type(error).__name__}: {error}")
                    continue
            wrong += [f"{name}\n  {d}" for d in differences(name, CASES[name], outs, "at once")]
        for name, outs in compiled(rest).items():
            wrong += [f"{name}\n  {d}" for d in differences(name, rest[name], outs, "compiled")]
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong])


def compiled(cases: dict[str, Case]) -> dict:
    """The results of several cases, from one program that gets their arrays."""

    def is_array(x: Any) -> bool:
        return isinstance(x, (np.ndarray, np.generic))

    def all_of_them(arrays: dict) -> dict:
        found = {}
        for name, case in cases.items():
            given = iter(arrays[name])
            operands = [next(given) if is_array(x) else x for x in case.operands]
            found[name] = case.fun(lax, *operands)
        return found

    arrays = {name: [x for x in case.operands if is_array(x)] for name, case in cases.items()}
    return sagax.jit(all_of_them)(arrays) if cases else {}


@pytest.mark.parametrize("name", [name for name in CASES if raised(name)])
def test_what_jax_refuses_is_refused(name):
    case = CASES[name]
    with sagax.enable_x64(True), pytest.raises((TypeError, ValueError, NotImplementedError)):
        case.fun(lax, *case.operands)
