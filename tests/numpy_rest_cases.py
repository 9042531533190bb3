"""Calls of jax.numpy functions that tests/oracle/numpy_rest.py records and the tests repeat.

They stand in data/numpy_rest_calls.txt under headings: each line is an expression in which `xp` is
the numpy namespace of either library, `lib` its top module and `np` NumPy; `arr`, `ones`, `zeros`,
`arange`, `nan` and `inf` are those of `xp`, and the letters are the arrays below. Those under "small"
are traced, and must not take more operations than jax.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

CALLS = Path(__file__).resolve().parent / "data" / "numpy_rest_calls.txt"


def sections() -> dict[str, list[str]]:
    """The expressions under each heading."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in CALLS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines = found[line[2:]] = []
        elif line:
            lines.append(line)
    return found


def refused(lib: Any) -> set[str]:
    """The expressions that jax refuses under the current settings of `lib`: they promote themselves, or give NaNs."""
    settings = {
        "rank": lib.config.jax_numpy_rank_promotion == "raise",
        "dtype": lib.config.jax_numpy_dtype_promotion == "strict",
        "nans": lib.config.jax_debug_nans,
    }
    recorded = json.loads((CALLS.parent / "strict_expressions.json").read_text(encoding="utf-8"))
    return {line for name, is_set in settings.items() if is_set for line in recorded[name]}


def calls_with_x64() -> list[str]:
    """A part of the expressions, which are also recorded with 64-bit types allowed."""
    lines = [line for name, found in sections().items() if name != "small" for line in found]
    return [line for line in lines[::4] if line not in DIFFERENT]


def names(lib: Any) -> dict[str, Any]:
    """What the expressions may use; `lib` is the module jax or sagax."""
    xp = lib.numpy
    n = np.arange(12).reshape(3, 4)
    f = (n - 5) / 2
    return {
        "lib": lib, "xp": xp, "np": np, "arr": xp.array, "ones": xp.ones, "zeros": xp.zeros,
        "arange": xp.arange, "nan": xp.nan, "inf": xp.inf,
        "f": xp.asarray(f, dtype="float32"), "f16": xp.asarray(f, dtype="float16"),
        "bf": xp.asarray(f / 4, dtype="bfloat16"), "f8": xp.asarray(n % 3, dtype="float8_e4m3fn"),
        "i8": xp.asarray(n - 5, dtype="int8"), "u8": xp.asarray(n * 20, dtype="uint8"),
        "b": xp.asarray(n % 3 > 0), "c": xp.asarray(f + 1j * (n % 4), dtype="complex64"),
        "v": xp.asarray([2.0, 0.5, 3.0, 1.0]), "wk": xp.asarray(2.0), "wi": xp.asarray(2),
    }  # fmt: skip


def traced(line: str, scope: dict[str, Any]) -> Any:
    """The expression as a function of some of the arrays, and these arrays."""
    given = ("f", "b", "v", "i8", "c")
    return eval(f"lambda {', '.join(given)}: {line}", dict(scope)), [scope[n] for n in given]


def plain(x: Any) -> Any:
    """The contents of an array as lists; complex numbers as lists of both parts."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return [plain(x.real), plain(x.imag)]
    if x.dtype.kind in "fV":
        return [float(f"{v:.8g}") for v in x.ravel().astype(np.float64)]
    return x.ravel().tolist()


def builtin(error: BaseException) -> str:
    """The builtin class of an error."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


# Where sagax does something else than jax, deliberately: the outcome, and why.
_ERROR = "an error of the class that NumPy raises or that fits the mistake"
_WIDER = "more than jax supports; the values are NumPy's"
_WEAK = "derivatives with respect to Python numbers are weakly typed, whatever they go through"
DIFFERENT: dict[str, tuple[Any, str]] = {
    "lib.grad(lambda q: xp.quantile(v, q))(0.3)": ([["float32*", [], [1.5]]], _WEAK),
    "xp.reshape(f, (2, -6))": ("ValueError", _ERROR),
    "xp.reshape(zeros((0, 3)), (-1, 0))": (
        [["float32", [1, 0], []]], "the size that is left is 1 rather than a division by zero",
    ),
    "xp.transpose(f, (0,))": ("ValueError", _ERROR),
    "xp.transpose(f, (0, 0))": ("ValueError", _ERROR),
    "xp.swapaxes(f, 0, 2)": ("ValueError", _ERROR),
    'xp.swapaxes(f, 0, "a")': ("TypeError", _ERROR),
    "xp.moveaxis(f, (0, 0), (0, 1))": ("ValueError", _ERROR),
    "xp.block((1, 2))": ("TypeError", _ERROR),
    "xp.split(arange(6), [4, 2])": (
        [["int32", [4], [0, 1, 2, 3]], ["int32", [0], []], ["int32", [4], [2, 3, 4, 5]]], _WIDER,
    ),
    "xp.split(arange(6), 0)": ("ValueError", _ERROR),
    "xp.split(f, 2, axis=5)": ("ValueError", _ERROR),
    "xp.split(f, 2.)": ("TypeError", _ERROR),
    "xp.dsplit(f, 2)": ("ValueError", _ERROR),
    "xp.tile(f, 2.)": ("TypeError", "a number of repetitions is an int"),
    "xp.argmax(c)": ([["int32", [], [11]]], _WIDER),
    "xp.argmin(c, axis=1)": ([["int32", [3], [0, 0, 0]]], _WIDER),
    "xp.max(i8, initial=200)": ("OverflowError", "200 is not silently made -56"),
    "xp.pad(i8, 1, constant_values=200)": ("OverflowError", "200 is not silently made -56"),
    "xp.var(f, dtype=int)": (
        [["float32", [], [2.9791667]]], "the variance is not computed in integers",
    ),
    "xp.var(f, axis=0, mean=v)": ("ValueError", _ERROR),
    "xp.matmul(ones((2, 3, 4)), ones((3, 4, 5)))": ("TypeError", "as for matrices that do not fit"),
    "xp.tensordot(f, f, axes=([0], [0, 1]))": ("ValueError", _ERROR),
    "xp.diagonal(f, axis1=0, axis2=0)": ("ValueError", _ERROR),
    'xp.einsum("ij,jk,kl->il", f, f.T, f, optimize=["einsum_path", (1, 2), (0, 1)])': (
        [["float32", [3, 4], [-55.25, -56, -56.75, -57.5, 5.75, 8, 10.25, 12.5, 66.75, 72, 77.25, 82.5]]],
        _WIDER,
    ),
    'xp.einsum("ij,jk->ik", [1], f)': ("TypeError", "a list is refused as everywhere"),
    'xp.einsum_path("ij,jk,kl->il", f, f.T, f, optimize=False)[0]': (
        [["int", [], 0], ["int", [], 1], ["int", [], 2]], "all at once, from left to right, as in NumPy",
    ),
    "xp.partition(arr([5, 3, 1, 4, 2]), arr([1, 2]))": ("TypeError", _ERROR),
    **{
        f'xp.quantile(arr([3., 1, 2, 5]), 0.3, method="{method}")': ([["float32", [], [value]]], _WIDER)
        for method, value in [
            ("hazen", 1.7), ("weibull", 1.5), ("median_unbiased", 1.6333333), ("normal_unbiased", 1.65),
            ("averaged_inverted_cdf", 2), ("closest_observation", 1), ("interpolated_inverted_cdf", 1.2),
        ]
    },
    "xp.quantile(arr([3, 1, 2, 5]), 1)": ([["float32", [], [5]]], _WIDER),
    "xp.quantile(zeros((0,)), 0.5)": ("ValueError", _ERROR),
    'xp.histogram(v, bins="auto")': ("NotImplementedError", _ERROR),
    "xp.bartlett(-1)": ("ValueError", _ERROR),
    "xp.bartlett(2.5)": ("TypeError", "a number of points is an int"),
    "xp.polyval(ones((2, 3)), v)": ("TypeError", "as for operands of arithmetic that do not fit"),
    "xp.repeat(f, -1, axis=0)": ("ValueError", _ERROR),
    "xp.delete(arr([1, 2, 3]), 5)": ("IndexError", _ERROR),
    "xp.apply_over_axes(xp.sum, f, 0)": ([["float32", [1, 4], [-1.5, 0, 1.5, 3]]], _WIDER),
    "xp.piecewise(arr([-1, 0, 2]), arr([True, False, False]), [5, 7])": (
        [["int32", [3], [5, 7, 7]]], "a vector of booleans is one condition, as in NumPy",
    ),
    "xp.unique(zeros((0,)),size=2,fill_value=3,return_index=True,return_inverse=True,return_counts=True)": (
        [["float32", [2], [3, 3]], ["int32", [2], [0, 0]], ["int32", [0], []], ["int32", [2], [0, 0]]],
        "index and counts have the size that was asked for",
    ),
    "xp.linalg.vector_norm(arr([1, -2, 3]), ord=arr(2.5))": (
        [["float32", [], [3.4585607]]], "a norm is not computed in integers",
    ),
    "xp.fft.fftfreq(4, dtype=int)": ("ValueError", "frequencies are not integers"),
    "xp.fft.fftfreq(2.5)": ("TypeError", "a number of samples is an int"),
    "xp.fft.fftfreq(4, d=v)": ("ValueError", "the distance of samples is one number"),
    "xp.fft.fftshift(f, axes=5)": ("ValueError", _ERROR),
    "xp.linalg.svd(v)": ("ValueError", _ERROR),
    "xp.polyfit(arange(5), arange(5)**2, 1)": ([["float32", [2], [4, -2]]], _WIDER),
    "lib.jit(lambda x: xp.delete(v, x))(1)": ([["float32", [3], [2, 3, 1]]], _WIDER),
    "lib.jit(lambda x: xp.choose(x, [1, 2]))(arr([0, 1]))": ("NotImplementedError", _ERROR),
}  # fmt: skip


def differences(lib: Any, array: type, leaves: Any, lines: list[str], recorded: dict) -> list[str]:
    """What is not as recorded, a text for each expression."""
    scope = names(lib)
    skipped = refused(lib)
    wrong = []
    for line in lines:
        if line in skipped:
            continue
        expected = DIFFERENT[line][0] if line in DIFFERENT else recorded[line]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [_leaf(x, array) for x in leaves(eval(line, dict(scope)))]
        except Exception as error:
            if not isinstance(expected, str) or not _is_a(error, expected):
                wrong.append(f"{line}\n  expected {expected}\n  raised {type(error)}: {error}")
            continue
        if isinstance(expected, str) or not _same(found, expected):
            wrong.append(f"{line}\n  expected {expected}\n  found {found}")
    return wrong


def _is_a(error: Exception, name: str) -> bool:
    return name in [c.__name__ for c in type(error).__mro__]


def _leaf(x: Any, array: type) -> list:
    if not isinstance(x, array):
        return [type(x).__name__, [], x]
    return [str(x.dtype) + "*" * x.weak_type, list(x.shape), plain(x)]


_TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float8_e4m3fn": 0.1}


def _same(found: list, expected: list) -> bool:
    if len(found) != len(expected):
        return False
    for (kind, shape, x), (kind2, shape2, y) in zip(found, expected):
        if kind != kind2 or list(shape) != list(shape2):
            return False
        if isinstance(x, (str, type(None))):
            if x != y:
                return False
            continue
        tolerance = _TOLERANCE.get(kind, 3e-5)
        if not np.allclose(x, y, rtol=tolerance, atol=tolerance / 10, equal_nan=True):
            return False
    return True
