"""Records the types and shardings that jax gives on 8 virtual devices to the expressions of tests/sharding_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/sharding.py

It rewrites tests/data/sharding.json.
"""

import json
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import sharding_cases as cases  # noqa: E402


def main():
    explicit = cases.names(jax, jax.numpy, jax.sharding, True)
    auto = cases.names(jax, jax.numpy, jax.sharding, False)
    types, refused, parts = {}, {}, {}
    with jax.set_mesh(explicit["mesh"]):
        for text in cases.EXPLICIT:
            x = eval(text, explicit)
            total = float(np.sum(np.asarray(x), dtype=np.complex128).real)
            types[text] = [jax.typeof(x).str_short(short_dtypes=True), total]
        for text in cases.AMBIGUOUS:
            try:
                eval(text, explicit)
            except Exception as error:
                refused[text] = type(error).__name__
            else:
                raise RuntimeError(f"jax does not refuse {text}")
    for text in cases.AUTO:
        parts[text] = cases.parts_of(eval(text, auto))
    path = TESTS / "data" / "sharding.json"
    found = {"types": types, "refused": refused, "parts": parts}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
