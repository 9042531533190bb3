"""Install into this interpreter's environment with pip, and say each few seconds how far it is.

    .venv/bin/python scripts/install.py '.[examples]'

Modules are compiled when they are first imported, not all at the installation: 100 MB less.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence

EVERY = 8.0  # seconds between two lines


def size(folder: str) -> int:
    """Add up the bytes of the files below a folder; files that vanish meanwhile do not count."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def run(command: Sequence[str], doing: Callable[[], str], every: float = EVERY) -> int:
    """Run a command; print a line about it each `every` seconds. Return its exit status."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait(every)
        except subprocess.TimeoutExpired:
            print(f"  {time.monotonic() - start:.0f} s: {doing()}", flush=True)


def main(wanted: str) -> int:
    packages = sysconfig.get_paths()["purelib"]
    print(
        f"installing {wanted.replace('.[', 'sagax[')} (with XLA 330 MB: a minute or two)",
        flush=True,
    )
    pip = [sys.executable, "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
    command = [*pip, "--no-compile", "--editable", wanted]
    return run(command, lambda: f"{size(packages) / 1e6:.0f} MB in {os.path.relpath(packages)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
