"""Small programs whose results are those of jax; tests/oracle/behavior.py records them.

They stand in data/behavior/*.txt, one file for each folder of tests, each program below a line
`### name`. The value of its last line is the result. `jax` is either library, `jnp`, `lax`, `nn`,
`random`, `scipy` and `checkify` are its namespaces, `np` is NumPy.
"""

from __future__ import annotations

import ast
import importlib
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data" / "behavior"
_MODULES = {
    "jnp": "numpy", "lax": "lax", "nn": "nn", "random": "random", "scipy": "scipy", "special": "scipy.special",
    "stats": "scipy.stats", "linalg": "scipy.linalg", "sparse_linalg": "scipy.sparse.linalg", "signal": "scipy.signal",
    "fft": "scipy.fft", "checkify": "experimental.checkify", "core": "extend.core", "test_util": "test_util",
    "tree_util": "tree_util", "initializers": "nn.initializers", "image": "image",
    "cluster": "scipy.cluster.vq", "custom_batching": "custom_batching",
}  # fmt: skip


def families() -> list[str]:
    """The names of the files."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def programs(family: str) -> dict[str, str]:
    """The programs of a file, by name."""
    text = (FOLDER / f"{family}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^### *(.*)\n", text, flags=re.MULTILINE)[1:]
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    assert 2 * len(found) == len(parts), f"two programs of {family} have the same name"
    return found


def outcome(library: Any, program: str) -> Any:
    """What a program gives, as data: its value, or the builtin class of its error."""
    program = re.sub(
        r"^(from|import) jax\b", rf"\1 {library.__name__}", program, flags=re.MULTILINE
    )
    tree = ast.parse(program)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), "the last line of a program is its result"
    # without a module, dataclasses would run their code in the globals of builtins
    scope: dict[str, Any] = {"__name__": __name__, "jax": library, "np": np}
    for name in _MODULES.keys() & names:
        scope[name] = importlib.import_module(f"{library.__name__}.{_MODULES[name]}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "<program>", "exec"), scope)
            return described(eval(compile(ast.Expression(last.value), "<program>", "eval"), scope))
        except Exception as error:
            return f"raises {builtin(error)}"


def builtin(error: Exception) -> str:
    """The builtin classes of an error, the nearest first."""
    classes = [c for c in type(error).__mro__ if c.__module__ == "builtins"]
    return " ".join(c.__name__ for c in classes if issubclass(c, Exception))


def described(x: Any) -> Any:
    """A result as data: arrays with their type and shape, `*` where it is weak."""
    if isinstance(x, dict):
        return {str(key): described(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [described(item) for item in x]
    if isinstance(x, (bool, int, str)) or x is None:
        return x
    if isinstance(x, float):
        return numbers(x)
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        name = str(x.dtype) + "*" * bool(getattr(x, "weak_type", False))
        if not hasattr(x, "__array__"):  # a type alone
            return {"type": name, "shape": list(x.shape)}
        values = np.asarray(x)
        if values.dtype.kind not in "biufc":
            values = values.astype(np.float32)
        return {"type": name, "shape": list(x.shape), "values": numbers(values.ravel().tolist())}
    return str(x)


def numbers(x: Any) -> Any:
    """Numbers that JSON can hold."""
    if isinstance(x, list):
        return [numbers(item) for item in x]
    if isinstance(x, complex):
        return [numbers(x.real), numbers(x.imag)]
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return x


# The last bit of short floats: processors differ in the last bit of the 32-bit floats that are rounded to them.
_LAST_BITS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def agree(found: Any, expected: Any, tolerance: float = 2e-5) -> bool:
    """Whether two results are the same up to rounding, two errors of one builtin class or a subclass of it."""
    if isinstance(expected, str) and expected.startswith("raises "):
        raised = isinstance(found, str) and found.startswith("raises ")
        return raised and expected.split()[1] in found.split()[1:]
    if isinstance(expected, dict):
        kind = str(expected.get("type")).rstrip("*")
        tolerance = max(tolerance, _LAST_BITS.get(kind, 0))
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(agree(found[k], expected[k], tolerance) for k in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(agree(a, b, tolerance) for a, b in zip(found, expected, strict=True))
        )
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-7)
    return type(found) is type(expected) and found == expected
