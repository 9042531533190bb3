"""Records what jax.random gives for the calls in tests/random_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/random_values.py

It rewrites tests/data/random.npz: the expressions, and for each its result as bytes, with dtype and
shape.
"""

import json
import sys
import warnings
from pathlib import Path

import jax
import jaxlib.version
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
DATA = TESTS / "data" / "random.npz"
sys.path.insert(0, str(TESTS))

import random_cases  # noqa: E402


def main() -> None:
    records, chunks = [], []
    for table in random_cases.TABLES:
        for expression, mode in random_cases.cases(table):
            with (
                jax.enable_x64(mode == "x64"),
                jax.threefry_partitionable(mode != "legacy"),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                value = random_cases.evaluate(expression, jax.random, jax.vmap, jax.random.key_data)
                weak = bool(value.aval.weak_type)
                value = np.asarray(value)
            records.append(
                {
                    "expression": expression,
                    "mode": mode,
                    "dtype": str(value.dtype),
                    "shape": value.shape,
                    "weak": weak,
                }
            )
            chunks.append(value.tobytes())
    about = {"jaxlib": jaxlib.version.__version__, "records": records}
    np.savez_compressed(
        DATA,
        about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        values=np.frombuffer(b"".join(chunks), np.uint8),
    )
    print(len(records), "records,", DATA.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
