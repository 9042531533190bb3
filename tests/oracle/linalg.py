"""Records what jax computes for the programs of tests/linalg_cases.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/linalg.py

It rewrites tests/data/linalg.npz, in the form of tests/oracle/slicing.py.
"""

import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
sys.path.insert(0, str(TESTS / "oracle"))

from slicing import record  # noqa: E402

from linalg_cases import CASES  # noqa: E402

DATA = TESTS / "data" / "linalg.npz"


def main():
    found = {}
    for name, case in CASES.items():
        try:
            record(found, name, case)
        except Exception as error:
            raise RuntimeError(f"case {name!r}") from error
    np.savez_compressed(DATA, **found)
    print(f"{len(CASES)} cases, {len(found)} arrays, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
