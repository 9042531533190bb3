"""Run a check of shared examples and fail when less holds than has been reached.

    python scripts/gate.py seeds     every example of the pages behaves as the page says
    python scripts/gate.py diagnose  broken programs are explained and repaired

The examples and the tools that run them lie beside the project; where they do not, there is nothing to check.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[2] / "shared"
SECONDS = 1800

# Examples that are not as on the page, and why; they may be, but no others.
DEPARTURES = {
    "seed2:L51": "export of a size a*a is refused on the page; it is supported here",
    "seed3:L424": "a fragment: uses a name that the page does not define",
    "seed3:L445": "a fragment: uses a name that the page does not define",
    "seed3:L577": "prints the path of a class of jax's own",
    "seed3:L83": "log(exp(100.0)) compiled: today's engine gives inf, in jax too",
}

# Least shares of the broken programs: class and line right, ..., repaired by a suggestion that was verified.
LEAST = {
    "class": 1.0,
    "line": 0.97,
    "depends": 0.95,
    "suggests": 0.95,
    "claims": 0.85,
    "fixed": 0.85,
}


def seeds(found: dict[str, Any]) -> list[str]:
    """What is wrong with the examples of the pages."""
    cases = [c for c in found["cases"] if c["status"] == "fail" and c["kind"] != "trivial"]
    return [f"{c['id']}: {c.get('why')}" for c in cases if c["id"] not in DEPARTURES]


def diagnose(found: dict[str, Any]) -> list[str]:
    """What is wrong with the explanations of the broken programs."""
    total = found["table"]["TOTAL"]
    wrong = [
        f"{what}: {total[what][0]} of {total[what][1]}, at least {least:.0%} are wanted"
        for what, least in LEAST.items()
        if total[what][0] < least * total[what][1]
    ]
    if found["false_verified"]:
        wrong.append(f"{found['false_verified']} suggestions marked as verified do not repair")
    return wrong


CHECKS = {
    "seeds": (["tools/seed_examples.py", "--seeds", str(SHARED / "seeds")], seeds),
    "diagnose": (["broken/score.py", "--dir", str(SHARED / "broken")], diagnose),
}


def main(name: str, *options: str) -> int:
    """Run a check, with further options of its tool; the exit status."""
    (tool, *arguments), judge = CHECKS[name]
    if not (SHARED / tool).is_file():
        print(f"{name}: nothing to check here")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = [sys.executable, str(SHARED / tool), *arguments, "--python", sys.executable]
        subprocess.run([*command, "--json", str(out), *options], check=False, timeout=SECONDS)
        if not out.is_file():
            print(f"{name}: the check itself failed")
            return 1
        wrong = judge(json.loads(out.read_text(encoding="utf-8")))
    for line in wrong:
        print(f"{name}: {line}")
    print(f"{name}: {'fails' if wrong else 'holds'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
