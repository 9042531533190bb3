"""Records what jax gives for the random programs of tests/random_programs.py, and minimises those that differ.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/random_programs.py COUNT              record seeds up to COUNT; known ones are kept
    PYTHONPATH=src python tests/oracle/random_programs.py --minimise SEED ...

It rewrites tests/data/random_programs.json.gz every hundred seeds, so that it can be stopped at any time.
"""

import gzip
import json
import os
import re
import sys
from pathlib import Path

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # what matters is the time of compiling

import jax
import jax.scipy.special

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import random_programs as r  # noqa: E402


def record(count: int) -> None:
    known = r.recorded() if r.DATA.exists() else {}
    for seed in range(count):
        if seed not in known:
            known[seed] = r.outcome(jax, r.source(seed), r.stack(seed))
            if seed % 100 == 99:
                write(known)
    write(known)


def write(known: dict) -> None:
    rows = json.dumps(sorted(known.items()), separators=(",", ":"))
    with gzip.GzipFile(r.DATA, "wb", 9, mtime=0) as file:
        file.write(rows.encode())
    print(len(known), "programs", flush=True)


def minimise(seed: int) -> list[str]:
    """The shortest program that still differs, by leaving out results, lines and operations."""
    import sagax
    import sagax.scipy.special

    stack = r.stack(seed)

    def differs(lines: list[str]) -> bool:
        found, expected = r.outcome(sagax, lines, stack), r.outcome(jax, lines, stack)
        return not r.same(seed, found, expected)

    lines = r.source(seed)
    if not differs(lines):
        return []
    for name in lines[-1].removeprefix("return ").split(", "):
        if differs([*lines[:-1], f"return {name}"]):
            lines = [*lines[:-1], f"return {name}"]
            break
    for i in reversed(range(len(lines) - 1)):
        name, expression = lines[i].split(" = ", 1)
        for shorter in dict.fromkeys(re.findall(r"\b(?:a\d+|[xvsn])\b", expression)):
            changed = [*lines[:i], f"{name} = {shorter}", *lines[i + 1 :]]
            if differs(changed):
                lines = changed
                break
    for i in reversed(range(len(lines) - 1)):
        name = lines[i].split(" = ")[0]
        used = any(re.search(rf"\b{name}\b", line) for line in lines[i + 1 :])
        if not used and differs([*lines[:i], *lines[i + 1 :]]):  # an unused line may raise
            del lines[i]
    return lines


if __name__ == "__main__":
    if sys.argv[1] == "--minimise":
        for text in sys.argv[2:]:
            print(f"# {text}: {r.stack(int(text))}", *minimise(int(text)), sep="\n")
    else:
        record(int(sys.argv[1]))
