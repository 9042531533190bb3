"""Records what jax.nn gives for the calls in tests/nn_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/nn.py

It rewrites tests/data/nn.npz: for each call its results as bytes, with dtypes, shapes and weakness.
"""

import json
import sys
import warnings
from pathlib import Path

import jax
import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import nn_cases  # noqa: E402


def main() -> None:
    records, chunks = [], []
    for call, dtype in nn_cases.cases():
        record = {"call": call, "dtype": dtype, "results": []}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = nn_cases.evaluate(
                    call, dtype, jax.nn, jax.random.key(3), jax.numpy.asarray
                )
            except Exception as error:
                record["error"] = type(error).__name__
                print(call, dtype, "raises", repr(error)[:200])
                results = []
        for value in results:
            array = np.asarray(value)
            record["results"].append(
                {"dtype": str(array.dtype), "shape": array.shape, "weak": bool(value.weak_type)}
            )
            chunks.append(array.tobytes())
        records.append(record)
    text = np.frombuffer(json.dumps(records).encode(), np.uint8)
    values = np.frombuffer(b"".join(chunks), np.uint8)
    np.savez_compressed(TESTS / "data" / "nn.npz", records=text, values=values)
    print(len(records), "records,", (TESTS / "data" / "nn.npz").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
