"""Record what jax gives for the programs of tests/newer_cases.py.

Run with an interpreter that has jax 0.12: `python tests/oracle/newer.py`. It rewrites tests/data/newer.json.
"""

import json
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

import newer_cases as cases  # noqa: E402


def main():
    found = {}
    for program in cases.PROGRAMS:
        for name in cases.SETTINGS.get(program, ()):
            jax.config.update(name, True)
        found[program.__name__] = cases.readable(jax, program(jax))
        for name in cases.SETTINGS.get(program, ()):
            jax.config.update(name, False)
    path = TESTS / "data" / "newer.json"
    path.write_text(json.dumps(found, indent=1) + "\n")


main()
