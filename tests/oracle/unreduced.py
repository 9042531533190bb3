"""Record what jax gives on 8 virtual devices for the expressions of tests/unreduced_cases.py.

Run with an interpreter that has jax 0.12: `python tests/oracle/unreduced.py`. It rewrites tests/data/unreduced.json.
"""

import json
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import unreduced_cases as cases  # noqa: E402


def main():
    with jax.set_mesh(jax.make_mesh((4, 2), ("x", "y"))):
        names = cases.names(jax)
        types = {}
        for expression in cases.TYPES:
            try:
                types[expression] = cases.shown(jax, expression, eval(expression, dict(names)))
            except Exception:
                types[expression] = "raises"
        mapped = {}
        for expression in cases.MAPPED:
            try:
                found = eval(expression, dict(names))
                mapped[expression] = [
                    cases.shown(jax, expression, found),
                    cases.readable(jax, found),
                ]
            except Exception:
                mapped[expression] = "raises"
        values = {e: np.asarray(eval(e, dict(names))).tolist() for e in cases.VALUES}
    path = TESTS / "data" / "unreduced.json"
    path.write_text(
        json.dumps({"types": types, "mapped": mapped, "values": values}, indent=1) + "\n"
    )


main()
