"""Attack sagax for minutes, from a seed: interrupts, forks, threads, strangers at a port, damaged files.

    python scripts/attack.py                    all attacks of tests/attacks.py, 5 minutes together
    python scripts/attack.py --minutes 30 --seed 7 --only interrupts forks

Each runs in a process of its own, so that an abort or a hang is seen. Prints a table, and under it where the threads of
a process stood that hung; the exit status is 1 if anything broke.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
PATIENCE = 300  # seconds that a try may take


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tries", type=int, help="end each attack after so many tries")
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    from attacks import ATTACKS

    if options.one:
        return _attack(ATTACKS[options.one], options.seed, options.minutes * 60, options.tries)
    names = options.only or list(ATTACKS)
    if unknown := sorted({*names} - ATTACKS.keys()):
        parser.error(f"no attacks {', '.join(unknown)}; there are {', '.join(ATTACKS)}")
    broken = 0
    print(f"{'attack':12} {'tries':>7} {'seconds':>8}  outcome", flush=True)
    for name in names:
        start = time.monotonic()
        tries, outcome = run(name, options.seed, options.minutes / len(names), options.tries)
        broken += outcome != "nothing broke"
        print(f"{name:12} {tries:7} {time.monotonic() - start:8.0f}  {outcome}", flush=True)
    return broken > 0


def run(name: str, seed: int, minutes: float, most: int | None = None) -> tuple[int, str]:
    """Run an attack in a process, at most so many tries; return the number of tries, and what happened."""
    arguments = ["--one", name, "--seed", str(seed), "--minutes", str(minutes)]
    if most is not None:
        arguments += ["--tries", str(most)]
    try:
        done = subprocess.run(
            [sys.executable, __file__, *arguments],
            capture_output=True,
            timeout=minutes * 60 + 2 * PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").count(b"\n"), "hangs, and does not say where"
    last = (done.stdout.splitlines() or [b""])[-1]
    if last.startswith(b"{"):
        found = json.loads(last)
        return found["tries"], found["outcome"]
    return done.stdout.count(
        b"\n"
    ), f"exit status {done.returncode}:\n{done.stderr.decode()[-6000:]}"


def _attack(attack, seed: int, seconds: float, most: int | None) -> int:
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    end, tries, outcome = time.monotonic() + seconds, 0, "nothing broke"
    try:
        for _ in attack(random.Random(seed)):
            tries += 1
            print(tries, flush=True)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            if tries == most or time.monotonic() > end:
                break
    except Exception as error:
        outcome = f"try {tries + 1}: {type(error).__name__}: {error}"
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"tries": tries, "outcome": outcome}))
    return outcome != "nothing broke"


if __name__ == "__main__":
    sys.exit(main())
