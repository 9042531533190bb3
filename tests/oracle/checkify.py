"""Records what jax finds in programs with checks, and their results, to tests/data/checkify.json.

python tests/oracle/checkify.py     (where jax 0.12 is installed)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax
from jax.experimental import checkify

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import checkify_cases  # noqa: E402

if __name__ == "__main__":
    found = {
        name: checkify_cases.plain(case(jax, checkify))
        for name, case in checkify_cases.CASES.items()
    }
    text = json.dumps({"jax": jax.__version__, "cases": found}, indent=1)
    (TESTS / "data" / "checkify.json").write_text(text + "\n")
