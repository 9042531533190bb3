"""sagax.random gives the numbers of jax.random: bit for bit, or to 2 ulp where functions differ.

The expressions stand in random_cases.py; oracle/random_values.py records what jax gives for them.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import random_cases
import sagax
from sagax import random
from sagax._src import xla

DATA = Path(__file__).resolve().parents[1] / "data" / "random.npz"


@functools.cache
def recorded() -> tuple[str, dict[tuple[str, str], tuple[dict, list[np.ndarray]]]]:
    """The version of the engine that made the record, and the record.

    Some cases have two values, since processors differ: they round float16 after each operation, or
    now and then.
    """
    file = np.load(DATA)
    about = json.loads(file["about"].tobytes())
    found = {}

    def read(records: list[dict], values: bytes) -> None:
        start = 0
        for record in records:
            dtype = np.dtype(getattr(ml_dtypes, record["dtype"], None) or record["dtype"])
            stop = start + dtype.itemsize * int(np.prod(record["shape"]))
            value = np.frombuffer(values[start:stop], dtype).reshape(record["shape"])
            case = record["expression"], record["mode"]
            found.setdefault(case, (record, []))[1].append(value)
            start = stop

    read(about["records"], file["values"].tobytes())
    read([about["records"][i] for i in about["others"]], file["others"].tobytes())
    return about["jaxlib"], found


@functools.cache
def same_engine() -> bool:
    recorded_with = recorded()[0].split(".")[:2]
    return recorded_with == xla.engine_version_text.split(".")[:2]


def allowed_ulps(dtype: np.dtype) -> int:
    """Where the engine's version is another one its functions are, too: log1p of 64-bit numbers of
    jaxlib 0.10 is off by a hundred ulp."""
    if same_engine():
        return 2
    return 512 if dtype in (np.float64, np.complex128) else 4


def ulps(x: np.ndarray, y: np.ndarray) -> float:
    """The greatest distance of elements, in steps between neighbouring numbers of their dtype."""
    if x.dtype.kind == "c":
        return max(ulps(x.real, y.real), ulps(x.imag, y.imag))
    x, y = x.ravel(), y.ravel()
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if np.isfinite(x).tolist() != np.isfinite(y).tolist():
        return np.inf
    if same.all():
        return 0
    x, y = x[~same], y[~same]
    signed = np.dtype(f"i{x.dtype.itemsize}")

    def position(z: np.ndarray) -> np.ndarray:
        i = np.ascontiguousarray(z).view(signed).astype(object)
        return np.where(i < 0, -(i + 2 ** (8 * signed.itemsize - 1)), i)

    return float(np.max(np.abs(position(x) - position(y))))


# Tables of samplers whose loops take seconds to compile: every other expression; all with FULL=1 (`make test-full`).
SLOW = (random_cases.GAMMA, random_cases.CONTINUOUS, random_cases.VECTORS)


def cases() -> list[Any]:
    return [
        pytest.param(expression, mode, id=f"{mode}:{expression}" if mode else expression)
        for table in random_cases.TABLES
        for i, (expression, mode) in enumerate(random_cases.cases(table))
        if i % 2 == 0 or table not in SLOW or os.environ.get("FULL") == "1"
    ]


@pytest.mark.parametrize("expression, mode", cases())
def test_value(expression: str, mode: str) -> None:
    record, expected = recorded()[1][expression, mode]
    with sagax.enable_x64(mode == "x64"), sagax.threefry_partitionable(mode != "legacy"):
        value = random_cases.evaluate(expression, random, sagax.vmap, random.key_data)
        weak = value.weak_type
        value = np.asarray(value)
    assert (str(value.dtype), value.shape, weak) == (
        record["dtype"],
        tuple(record["shape"]),
        record["weak"],
    )
    if value.dtype.kind in "iub":
        np.testing.assert_array_equal(value, expected[0])
    elif 'method="approximate"' in expression or "random.orthogonal(" in expression:
        # sums of large terms of both signs: a rounding of a term is many of a small result; so are the products of
        # LAPACK's factors, whose order of sums depends on the processor (there jax has these bits, too)
        eps = float(ml_dtypes.finfo(value.dtype).eps)
        np.testing.assert_allclose(value, expected[0], rtol=16 * eps, atol=8 * eps)
    else:
        assert min(ulps(value, one) for one in expected) <= allowed_ulps(value.dtype)


def test_all_are_recorded() -> None:
    current = [case for table in random_cases.TABLES for case in random_cases.cases(table)]
    assert list(recorded()[1]) == current
