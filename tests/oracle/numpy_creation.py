"""Records what jax.numpy gives for the expressions of tests/numpy_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/numpy_creation.py

It rewrites tests/data/numpy_creation.json: for each expression and setting of x64 the results, each
as [dtype ("*": weak), shape, values], or the name of the exception.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from numpy_cases import CREATION, METHODS  # noqa: E402


def plain(x: Any) -> list:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return [plain(x.real), plain(x.imag)]
    if x.dtype.kind in "fV" and x.dtype != np.float64:
        return [float(str(v)) for v in x.ravel().astype(np.float32)]
    return x.ravel().tolist()


def described(out: Any) -> Any:
    if isinstance(out, (bool, int, float, str)):
        return out
    found = []
    for leaf in jax.tree.leaves(out):
        leaf = jnp.asarray(leaf)
        found.append([str(leaf.dtype) + "*" * leaf.weak_type, list(leaf.shape), plain(leaf)])
    return found


def result(expression: str) -> Any:
    try:
        return described(eval(expression, {"xp": jnp, "np": np}))
    except Exception as error:
        bases = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        return "raises " + bases[0]


def main() -> None:
    warnings.simplefilter("ignore")
    data = {}
    for x64 in (False, True):
        with jax.enable_x64(x64):
            for expression in (*CREATION, *METHODS):
                data[f"{64 if x64 else 32} {expression}"] = result(expression)
    text = json.dumps(data, indent=0)
    (TESTS / "data" / "numpy_creation.json").write_text(text + "\n")


main()
