"""Records what jax gives for the programs in tests/data/behavior.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/behavior.py [FAMILY ...]

For each file NAME.txt it rewrites NAME.json: for each program its result as data, or the builtin class of
its error (behavior_programs.py says how). Arguments name files; without, all are recorded.
"""

import json
import os
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # some programs use meshes

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
from behavior_programs import FOLDER, families, outcome, programs  # noqa: E402


def main() -> None:
    for family in sys.argv[1:] or families():
        found = {name: outcome(jax, text) for name, text in programs(family).items()}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        (FOLDER / f"{family}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
