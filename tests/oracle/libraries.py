"""Records what the programs in tests/libraries print on jax, to tests/data/libraries.json.

python tests/oracle/libraries.py [NAME ...]     (where jax 0.12 and tests/libraries/requirements.txt are installed)

Arguments name programs; without, all are recorded.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def printed(program):
    with tempfile.TemporaryDirectory() as folder:  # for files that programs leave
        command = [sys.executable, program]
        run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(run.stdout.splitlines()[-1])


if __name__ == "__main__":
    programs = {p.stem: p for p in sorted((TESTS / "libraries" / "programs").glob("*.py"))}
    recorded = TESTS / "data" / "libraries.json"
    found = json.loads(recorded.read_text())
    found |= {name: printed(programs[name]) for name in sys.argv[1:] or programs}
    found = {name: found[name] for name in programs}
    recorded.write_text(json.dumps(found, indent=1) + "\n")
