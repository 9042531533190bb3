"""Records what jax does with the programs of tests/bad_input: the class of error, or what it gives.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/bad_input.py

It rewrites tests/data/bad_input.json, which tests/test_bad_input.py compares sagax with.
"""

import json
import sys
from pathlib import Path

import jax
import jax.errors
import jax.numpy

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import bad_input  # noqa: E402

DATA = TESTS / "data" / "bad_input.json"


def main():
    cases = bad_input.load()
    outcomes = {name: bad_input.outcome(jax, case.program)[0] for name, case in cases.items()}
    record = {"jax": jax.__version__, "outcomes": dict(sorted(outcomes.items()))}
    DATA.write_text(json.dumps(record, indent=0) + "\n")


if __name__ == "__main__":
    main()
