"""Records what jax.numpy gives for the calls in tests/data/numpy_rest_calls.txt.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/numpy_rest.py

With the argument x64 it records a part of them with 64-bit types allowed, in numpy_rest_x64.json.
Without, it rewrites tests/data/numpy_rest.json: for each expression the leaves of the result as [type, shape,
values] ("float32*" is weak, complex numbers are pairs), or the builtin class of the error. For the
expressions under "small" how many operations jax traces.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from numpy_rest_cases import builtin, calls_with_x64, names, plain, sections, traced  # noqa: E402


def leaf(x: Any) -> list:
    if not isinstance(x, jax.Array):
        return [type(x).__name__, [], x]
    return [str(x.dtype) + "*" * x.weak_type, list(x.shape), plain(x)]


def equations(jaxpr: Any) -> int:
    """How many operations there are, those inside of jit and custom derivatives included."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = [p for p in ("jaxpr", "call_jaxpr") if p in eqn.params]
        total += equations(eqn.params[inner[0]].jaxpr) if inner else 1
    return total


def values(lines: list[str]) -> dict[str, Any]:
    """What each expression gives."""
    scope = names(jax)
    found: dict[str, Any] = {}
    for line in lines:
        try:
            found[line] = [leaf(x) for x in jax.tree.leaves(eval(line, dict(scope)))]
        except Exception as error:
            found[line] = builtin(error)
    return found


def write(name: str, data: Any) -> None:
    text = (
        json.dumps(data, separators=(",", ":"))
        .replace(',"xp', ',\n"xp')
        .replace(',"lib', ',\n"lib')
    )
    (TESTS / "data" / name).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["x64"]:
        jax.config.update("jax_enable_x64", True)
        write("numpy_rest_x64.json", values(calls_with_x64()))
        return
    calls = sections()
    small = calls.pop("small")
    sizes = {}
    for line in small:
        fun, args = traced(line, names(jax))
        sizes[line] = equations(jax.make_jaxpr(fun)(*args).jaxpr)
    found = values([line for lines in calls.values() for line in lines])
    write("numpy_rest.json", {"values": found, "equations": sizes})


if __name__ == "__main__":
    main()
