"""Records what jax does with the calls of tests/traced_argument_cases.py: a result, or the class of error.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/traced_arguments.py

It rewrites tests/data/traced_arguments.json.
"""

import json
import sys
from pathlib import Path

import jax
import jax.numpy
import jax.scipy.linalg
import jax.scipy.special

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import traced_argument_cases as cases  # noqa: E402

DATA = TESTS / "data" / "traced_arguments.json"


def main():
    found = {case: cases.outcome(jax, case).partition(" ")[0] for case in cases.CASES}
    DATA.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
