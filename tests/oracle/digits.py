"""Records what examples/digits_jax.py computes on JAX: the losses of its first 20 steps.

Run with an interpreter that has jax and the example's other libraries, from any folder:

    python tests/oracle/digits.py

It rewrites tests/data/digits_losses.json, which tests/test_examples.py compares sagax with.
"""

import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 20
TESTS = Path(__file__).resolve().parents[1]
PROGRAM = TESTS.parent / "examples" / "digits_jax.py"
DATA = TESTS / "data" / "digits_losses.json"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        losses = Path(folder) / "losses.json"
        options = ["--steps", str(STEPS), "--losses", losses, "--plot", Path(folder) / "loss.png"]
        subprocess.run([sys.executable, PROGRAM, *options], check=True)
        record = {
            "program": "examples/digits_jax.py",
            "jax": importlib.metadata.version("jax"),
            "losses": json.loads(losses.read_text()),
        }
    DATA.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
