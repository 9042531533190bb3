"""Records what jax.random gives for the calls in tests/random_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/random_values.py

It rewrites tests/data/random.npz: the expressions, and for each its result as bytes, with dtype and
shape. Processors differ: those without arithmetic in float16 compute it in float32 and round less often.

    python tests/oracle/random_values.py --other

on such a machine keeps the file and adds what jax gives there wherever that is something else.
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


def evaluated() -> tuple[list[dict], list[bytes]]:
    """What is said of each case, and its result."""
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
    return records, chunks


def write(about: dict, values: bytes, others: bytes) -> None:
    np.savez_compressed(
        DATA,
        about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        values=np.frombuffer(values, np.uint8),
        others=np.frombuffer(others, np.uint8),
    )
    print(
        len(about["records"]),
        "records,",
        len(about["others"]),
        "others,",
        DATA.stat().st_size,
        "bytes",
    )


def main() -> None:
    records, chunks = evaluated()
    jaxlib_version = jaxlib.version.__version__
    if "--other" not in sys.argv[1:]:
        about = {"jaxlib": jaxlib_version, "records": records, "others": []}
        write(about, b"".join(chunks), b"")
        return
    file = np.load(DATA)
    about, values = json.loads(file["about"].tobytes()), file["values"].tobytes()
    if about["records"] != json.loads(json.dumps(records)) or about["jaxlib"] != jaxlib_version:
        raise SystemExit("the record is of other cases, or of another engine: make it anew first")
    about["others"], others, start = [], [], 0
    for i, chunk in enumerate(chunks):
        if values[start : start + len(chunk)] != chunk:
            about["others"].append(i)
            others.append(chunk)
        start += len(chunk)
    write(about, values, b"".join(others))


if __name__ == "__main__":
    main()
