"""Records what the programs in tests/libraries print on jax, to tests/data/libraries.json.

python tests/oracle/libraries.py     (where jax 0.12 and tests/libraries/requirements.txt are installed)
"""

import json
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def printed(program):
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


if __name__ == "__main__":
    found = {p.stem: printed(p) for p in sorted((TESTS / "libraries" / "programs").glob("*.py"))}
    (TESTS / "data" / "libraries.json").write_text(json.dumps(found, indent=1) + "\n")
