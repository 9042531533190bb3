"""Recorded results of elementwise operations (tests/oracle/elementwise.py) as arrays."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from sagax import lax
from sagax._src.core import dtypes

JAX = json.loads((Path(__file__).parent / "data" / "elementwise.json").read_text())


def array(numbers: Any, dtype: Any) -> np.ndarray:
    """Recorded numbers as an array; complex ones are recorded as a pair of parts."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind == "c":
        part = np.float32 if dtype.itemsize == 8 else np.float64
        real, imag = (np.asarray(p, part) for p in numbers)
        out = np.empty(real.shape, dtype)
        out.real, out.imag = real, imag
        return out
    if dtypes.kind(dtype) == "f":
        return np.asarray(numbers, np.float64).astype(dtype)
    return np.asarray(numbers).astype(dtype)


def columns(axes: list[np.ndarray]) -> list[np.ndarray]:
    """The operands of an operation on every combination of the values of its axes."""
    return [a.reshape(-1) for a in np.meshgrid(*axes, indexing="ij")]


def operation(case: dict) -> Any:
    """The recorded operation as a function of its operands."""
    fun = getattr(lax, case["op"])
    return lambda *xs: fun(*xs, **case.get("params", {}))


def name(case: dict) -> str:
    """A readable id of a case."""
    params = [f"{k}={v}" for k, v in case.get("params", {}).items()]
    return "-".join([case["op"], *case.get("dtypes", [])[:1], *params])


def unique_names(cases: list[dict]) -> list[str]:
    seen: dict[str, int] = {}
    out = []
    for case in cases:
        base = name(case)
        seen[base] = seen.get(base, 0) + 1
        out.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return out


def combinations(values: list, count: int) -> list[np.ndarray]:
    """float32 columns of every combination of `count` of the values."""
    return [np.float32(c) for c in zip(*itertools.product(values, repeat=count), strict=True)]
