"""Records what jax finds in programs with checks, and their results, to tests/data/checkify.json.

python tests/oracle/checkify.py     (where jax 0.12 is installed)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
from jax.experimental import checkify

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import checkify_cases  # noqa: E402


def recorded(cases: dict) -> dict:
    return {name: checkify_cases.plain(case(jax, checkify)) for name, case in cases.items()}


if __name__ == "__main__":
    found = {
        "jax": jax.__version__,
        "cases": recorded(checkify_cases.CASES),
        "device_cases": recorded(checkify_cases.DEVICE_CASES),
    }
    text = json.dumps(found, indent=1)
    (TESTS / "data" / "checkify.json").write_text(text + "\n")
