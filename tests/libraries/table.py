"""Run the programs of libraries written for jax, on sagax and beside it on jax, and print a table of them.

    python tests/libraries/table.py [--jax PYTHON] [NAME ...]

Expected numbers are those that jax prints; without --jax, those that were recorded in tests/data/libraries.json.
Times are CPU seconds of the whole process, with compiling: caches are cold. Exits with 1 if a program fails or prints other numbers.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import importlib.util
import json
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
PROGRAMS = {path.stem: path for path in sorted((HERE / "programs").glob("*.py"))}
RECORDED = HERE.parent / "data" / "libraries.json"

# the name of a library's package, where that of its distribution is another
DISTRIBUTIONS = {
    "e3nn_jax": "e3nn-jax", "haiku": "dm-haiku", "jax_md": "jax-md", "mujoco": "mujoco-mjx", "orbax": "orbax-checkpoint", "ott": "ott-jax",
}  # fmt: skip


def library_of(name: str) -> str:
    """Return the package that a program is about: the name of the program up to its last word."""
    return name.rpartition("_")[0]


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(library_of(name)) is not None


def difference(found: dict[str, list], expected: dict[str, list]) -> str | None:
    """Return how numbers differ by more than rounding; None if they do not."""
    if found.keys() != expected.keys():
        return f"prints {sorted(found)} in place of {sorted(expected)}"
    for key, values in expected.items():
        have, want = np.asarray(found[key], float), np.asarray(values, float)
        if have.shape != want.shape:
            return f"{key}: {have.size} numbers in place of {want.size}"
        if not np.allclose(have, want, rtol=2e-4, atol=2e-6, equal_nan=True):
            return f"{key}: differs from jax by up to {np.max(np.abs(have - want)):.2g}"
    return None


def run(command: list[str], environment: dict[str, str]) -> tuple[dict[str, list] | str, float]:
    """Return the numbers that a program prints last, or its error, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:  # for files that programs leave, and the cache
        environment = {**environment, "SAGAX_CACHE_DIR": f"{folder}/cache"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no output"])[-1], seconds
    return json.loads(done.stdout.splitlines()[-1]), seconds


def row(name: str, jax: str | None, recorded: dict[str, dict]) -> tuple[str, bool]:
    """Return a program's row, and whether it printed the numbers of jax."""
    path = str(PROGRAMS[name])
    text = ast.get_docstring(ast.parse(PROGRAMS[name].read_text())) or ""
    library = library_of(name)
    version = importlib.metadata.version(DISTRIBUTIONS.get(library, library))
    title = f"| {library} {version} | {text.partition(': ')[2].rstrip('.') or text.rstrip('.')}"
    environment = dict(os.environ)
    found, seconds = run([sys.executable, "-m", "sagax", "run", path], environment)
    expected, beside = recorded.get(name), ""
    if jax is not None:
        jax = os.path.abspath(jax)
        environment["PYTHONPATH"] = sysconfig.get_path("purelib")
        expected, jax_seconds = run([jax, path], environment)
        beside = f"{seconds / jax_seconds:.2f}"
    if isinstance(found, str):
        result = found
    elif not isinstance(expected, dict):
        result = f"runs; on jax: {expected}" if expected else "runs; jax's numbers are not recorded"
    else:
        result = difference(found, expected) or "same numbers"
    return f"{title} | {result} | {seconds:.1f} | {beside} |", result == "same numbers"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs, by default all that can run")
    parser.add_argument("--jax", help="a Python interpreter that has jax, to run beside")
    given = parser.parse_args()
    recorded = json.loads(RECORDED.read_text())
    print("| library | program | result | CPU seconds | of jax's |\n|---|---|---|---|---|")
    good = True
    for name in given.names or PROGRAMS:
        if not is_installed(name):
            print(f"| {library_of(name)} | | not installed | | |", flush=True)
            continue
        text, same = row(name, given.jax, recorded)
        print(text, flush=True)
        good &= same
    return not good


if __name__ == "__main__":
    sys.exit(main())
