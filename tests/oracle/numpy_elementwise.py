"""Records what jax.numpy's elementwise functions give, for tests/numpy/test_elementwise.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/numpy_elementwise.py

It rewrites tests/data/numpy_elementwise.json: for each function and operands the type of the result
("float32*" is weak, "error" where jax refuses), the values, and how many equations jax traces.
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
from numpy_cases import BINARY, OPERANDS, PYTHON, UNARY, VALUES, pairs, values  # noqa: E402


def operand(name: str) -> Any:
    return PYTHON[name] if name in PYTHON else jax.ShapeDtypeStruct((3,), name)


def type_of(f: Any, names: tuple[str, ...]) -> str:
    arrays = [operand(n) for n in names if n not in PYTHON]

    def call(*xs: Any) -> Any:
        rest = iter(xs)
        return f(*[PYTHON[n] if n in PYTHON else next(rest) for n in names])

    try:
        out = jax.tree.leaves(jax.eval_shape(call, *arrays))
    except Exception:  # whatever jax raises: the tests ask only that sagax refuses too
        return "error"
    return " ".join([str(o.dtype) + "*" * o.weak_type for o in out])


def equations(jaxpr: Any) -> int:
    """How many operations there are, those inside of jit and custom derivatives included."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = [p for p in ("jaxpr", "call_jaxpr") if p in eqn.params]
        total += equations(eqn.params[inner[0]].jaxpr) if inner else 1
    return total


def count(f: Any, *args: Any) -> int:
    return equations(jax.make_jaxpr(f)(*args).jaxpr)


def plain(x: Any) -> Any:
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return [plain(x.real), plain(x.imag)]
    if x.dtype.kind in "fV" and x.dtype != np.float64:
        return [float(str(v)) for v in x.ravel().astype(np.float32)]
    return x.ravel().tolist()


def main() -> None:
    warnings.simplefilter("ignore")
    types: dict[str, Any] = {}
    for x64 in (False, True):
        with jax.enable_x64(x64):
            for name in UNARY:
                f = getattr(jnp, name)
                row = [type_of(f, (a,)) for a in OPERANDS]
                types[f"{name} {64 if x64 else 32}"] = row
            for name in BINARY:
                f = getattr(jnp, name)
                rows = [[type_of(f, (a, b)) for b in OPERANDS] for a in OPERANDS]
                types[f"{name} {64 if x64 else 32}"] = rows
    names = sorted(
        {t for row in types.values() for r in row for t in ([r] if isinstance(r, str) else r)}
    )
    code = {name: i for i, name in enumerate(names)}
    types = {
        k: [code[r] if isinstance(r, str) else [code[t] for t in r] for r in row]
        for k, row in types.items()
    }
    results: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    for name in (*UNARY, *BINARY):
        f = getattr(jnp, name)
        for dtype in VALUES:
            args = (values(dtype),) if name in UNARY else pairs(dtype)
            try:
                out = jax.tree.leaves(f(*map(jnp.asarray, args)))
            except Exception:
                continue
            results[f"{name} {dtype}"] = [plain(o) for o in out]
            sizes[f"{name} {dtype}"] = count(f, *[jax.ShapeDtypeStruct((3,), dtype) for _ in args])
    data = {"names": names, "types": types, "values": results, "equations": sizes}
    text = json.dumps(data, separators=(",", ":"))
    (TESTS / "data" / "numpy_elementwise.json").write_text(text + "\n")


main()
