"""Records what jax computes on 8 virtual devices for the cases of tests/parallel_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/parallel.py

It rewrites tests/data/parallel.json: for each case a list of [dtype, shape, elements] of the arrays that it gives.
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

from parallel_cases import CASES  # noqa: E402


def recorded(value):
    x = np.asarray(value)
    return [str(x.dtype), list(x.shape), [float(f"{v:.8g}") for v in x.ravel()]]


def main():
    found = {}
    for name, case in CASES.items():
        try:
            values = jax.tree.leaves(case(jax))
        except Exception as error:
            raise RuntimeError(f"the case {name!r} fails") from error
        found[name] = [recorded(x) for x in values]
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    path = TESTS / "data" / "parallel.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


main()
