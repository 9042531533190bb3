"""Generated calls of every public function, and short descriptions of what they give.

tests/oracle/generated.py makes the calls and records in data/generated_calls.json.gz what jax gives. A call
is Python text over the operands below, after the transformation that it runs under: `grad numpy.sin(f)`.
A description holds dtype, weak type and shape of each result, its numbers of nan and inf, and a weighted sum.
"""

from __future__ import annotations

import binascii
import functools
import gzip
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import strict_calls

DATA = Path(__file__).resolve().parent / "data" / "generated_calls.json.gz"
TRANSFORMATIONS = ("plain", "jit", "vmap", "grad", "jvp", "vmap_grad")

# Settings of users under which calls give what they give by default.
SETTINGS: dict[str, dict[str, Any]] = {
    **strict_calls.SETTINGS,
    "nans": {"jax_debug_nans": True},
}

# What two implementations may differ by, relative to the sum of magnitudes.
_TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "complex64": 1e-4}
_ANY = (Exception, BaseException, object)
_GREATEST = 1_000_000  # elements of a result that are looked at


def operands(library: Any) -> dict[str, Any]:
    """The operands of the calls, by name: those of strict_calls, and more dtypes, ranks and extremes."""
    found = strict_calls.operands(library)
    asarray = library.numpy.asarray
    rng = np.random.default_rng(1)
    f32, i32 = np.float32, np.int32
    arrays = {
        "f1": rng.uniform(-1, 1, (1, 4)).astype(f32), "fc": rng.uniform(-1, 1, (3, 1)).astype(f32), "m": rng.uniform(-3, 3, (3, 4)).astype(f32),
        "fe": np.zeros((0, 4), f32), "ve": np.zeros(0, f32), "te": np.zeros((2, 0, 3), f32), "v1": np.array([0.7], f32),
        "fx": np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, 3e38, 1.0], f32), "z": np.zeros((3, 4), f32), "big": np.array([1e10, -1e20, 3e38, 5e5], f32),
        "i8": np.array([-128, -1, 0, 127], np.int8), "i16": np.array([3, -2, 1, 300], np.int16), "u32": np.array([0, 1, 2**31, 2**32 - 1], np.uint32),
        "ix": np.array([-(2**31), -1, 0, 2**31 - 1], i32), "ie": np.zeros((0,), i32), "im": np.array([[3, 1, 2, 0], [0, 0, 5, 7], [1, 1, 1, 1]], i32),
        "be": np.zeros((0,), bool), "ce": np.zeros((0,), np.complex64), "s0": np.float32(-1.5).reshape(()), "bs": np.asarray(True),
        "perm": np.array([2, 0, 3, 1], i32), "tri": np.triu(rng.uniform(1, 2, (4, 4))).astype(f32), "stack": rng.uniform(0, 1, (2, 4, 4)).astype(f32) + 4 * np.eye(4, dtype=f32),
        "spd": (lambda a: a @ a.T + 3 * np.eye(3))(rng.standard_normal((3, 3))).astype(f32), "w": np.array([1.0, 2.0, 0.0, 3.0], f32),
    }  # fmt: skip
    found |= {name: asarray(x) for name, x in arrays.items()}
    found |= {
        "bf": asarray(found["v"], library.numpy.bfloat16),
        "wf": asarray(2.0),
        "wi": asarray(3),
    }
    return found


FLOATS = "f v s t f1 fc m fe ve te v1 fx z big h hm bf wf s0 sq tri stack spd w".split()
INTEGERS = "i iv n u8 i8 i16 u32 ix ie im wi perm".split()
BOOLEANS = "b bv be bs".split()
COMPLEX = "c cv ce csq".split()


@functools.cache
def recorded() -> list[tuple[str, Any]]:
    """The calls, and what jax gives."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        return [(call, found) for call, found in json.load(file)]


def alike(library: Any) -> list[tuple[str, Any]]:
    """The first call of each function whose operands have all one dtype and rank, and its result: plain, mapped, differentiated.

    No setting of users has a reason to refuse such a call, unless its text promotes.
    """
    values = operands(library)
    types = {name: (str(x.dtype), x.ndim) for name, x in values.items() if name != "key"}
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for call, expected in recorded():
        transformation, text = call.split(" ", 1)
        used = {types[name] for name in strict_calls._words(text) & types.keys()}
        function = re.match(r"[\w.]*", text)[0] or text  # type: ignore[index]
        if (
            len(used) <= 1
            and not isinstance(expected, str)
            and transformation in ("plain", "vmap", "grad")
        ):
            found.setdefault((function, transformation), (call, expected))
    return list(found.values())


def is_finite(call: str, expected: Any) -> bool:
    """Whether operands and results of a call hold no NaN and no infinity."""
    words = strict_calls._words(call)
    return (
        not isinstance(expected, str)
        and not words & {"nan", "inf", "fx", "big"}
        and all(len(x) <= 3 for x in expected)
    )


def outcome(library: Any, names: dict[str, Any], values: dict[str, Any], call: str) -> Any:
    """What a call gives: descriptions of its results, or `raises` and the builtin classes of the error."""
    transformation, text = call.split(" ", 1)
    used = [k for k in values if k in strict_calls._words(text)]
    arguments = [values[k] for k in used]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the text too, such as an index of a number
        function = eval(f"lambda {', '.join(used)}: {text}", names)
        try:
            out = _transformed(library, transformation, function, arguments)
            return [described(x) for x in library.tree.leaves(out)]
        except Exception as error:
            kinds = [c for c in type(error).__mro__ if c.__module__ == "builtins"]
            return "raises " + " ".join(c.__name__ for c in kinds if c not in _ANY)


def _transformed(library: Any, transformation: str, function: Any, arguments: list[Any]) -> Any:
    if transformation == "plain":
        return function(*arguments)
    if transformation == "jit":
        return library.jit(function)(*arguments)
    snp = library.numpy
    if transformation == "vmap":
        stacked = [library.tree.map(lambda x: snp.stack([x, x]), a) for a in arguments]
        return library.vmap(function)(*stacked)
    inexact = tuple(i for i, a in enumerate(arguments) if snp.issubdtype(a.dtype, snp.floating))

    def total(*arguments: Any) -> Any:
        leaves = [
            x
            for x in library.tree.leaves(function(*arguments))
            if hasattr(x, "dtype") and snp.issubdtype(x.dtype, snp.inexact)
        ]
        return sum((x.real if snp.iscomplexobj(x) else x).astype("float32").sum() for x in leaves)

    if transformation == "grad":
        return library.grad(total, inexact)(*arguments)
    if transformation == "vmap_grad":
        stacked = [library.tree.map(lambda x: snp.stack([x, x]), a) for a in arguments]
        return library.vmap(library.grad(total, inexact))(*stacked)
    moving = [arguments[i] for i in inexact]

    def of_moving(*moving: Any) -> Any:
        given = list(arguments)
        for i, x in zip(inexact, moving, strict=True):
            given[i] = x
        return [x for x in library.tree.leaves(function(*given)) if hasattr(x, "dtype")]

    return library.jvp(of_moving, moving, [snp.ones_like(x) for x in moving])


def described(x: Any) -> Any:
    """A result as data."""
    if not hasattr(x, "dtype"):
        return repr(x)[:60] if isinstance(x, (int, float, complex, str)) else type(x).__name__
    dtype = str(x.dtype)
    head = f"{dtype}{'*' * bool(getattr(x, 'weak_type', False))}{list(np.shape(x))}"
    if dtype.startswith("key<"):
        return [head]
    values = np.asarray(x)
    if values.size > _GREATEST or dtype == "float0" or values.dtype == [("float0", "V")]:
        return [head]
    if dtype not in _TOLERANCES:
        return [head, binascii.crc32(np.ascontiguousarray(values).tobytes())]
    parts = [values.real, values.imag] if dtype.startswith("complex") else [values]
    wide = np.concatenate([p.astype(np.float64).ravel() for p in parts])
    counts = [int(np.isnan(wide).sum()), int((wide == np.inf).sum()), int((wide == -np.inf).sum())]
    finite = np.where(np.isfinite(wide), wide, 0.0)
    weights = 1.0 + np.cos(np.arange(finite.size) * 1.7) / 2
    found = [float(f"{(finite * weights).sum():.7g}"), float(f"{np.abs(finite).sum():.7g}")]
    return [head, *found, *(counts if any(counts) else [])]


def agree(found: Any, expected: Any) -> bool:
    """Whether two outcomes are the same, up to rounding."""
    if isinstance(found, str) and isinstance(
        expected, str
    ):  # the class that jax raises, or a subclass
        return expected.split()[1] in found.split()[1:]
    if isinstance(found, str) or isinstance(expected, str):
        return False
    return len(found) == len(expected) and all(map(_same, found, expected))


def _same(found: Any, expected: Any) -> bool:
    if isinstance(found, str) or isinstance(expected, str) or len(found) < 3 or len(expected) < 3:
        return found == expected
    if found[0] != expected[0] or found[3:] != expected[3:]:
        return False
    tolerance = _TOLERANCES[found[0].split("[")[0].rstrip("*")]
    scale = max(expected[2], found[2])
    if not math.isfinite(scale):
        return True
    return abs(found[1] - expected[1]) <= tolerance * (scale + 0.1)
