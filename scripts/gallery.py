"""Run the programs of the gallery, here and with jax, and write pictures and figures into docs/gallery.

    .venv/bin/python scripts/gallery.py --jax .venv-jax/bin/python hmc

`make gallery` runs all of them.

The run with jax gets the same text, with the names of the modules exchanged. What a program prints as `name  number`
is a figure; the page docs/gallery/index.md shows both columns, and tests/test_gallery.py compares them.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PAGES = ROOT / "docs" / "gallery"


def for_jax(text: str) -> str:
    """Write a program with jax's names in place of sagax's."""
    return re.sub(r"\bsnp\b", "jnp", re.sub(r"\bsagax\b", "jax", text))


def figures(output: str) -> dict[str, str]:
    """Read the figures that a program prints: a name, at least two spaces, one number or several."""
    return dict(re.findall(r"^(\S.*?)  +(-?[\d.]+(?:, -?[\d.]+)*)(?: dB)?$", output, re.MULTILINE))


def run(python: str, program: Path, folder: Path) -> dict[str, str]:
    """Run a program in a folder; return its figures, and the CPU time of the whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {"SAGAX_ENABLE_COMPILATION_CACHE": "0"}  # jax keeps nothing on disk either
    done = subprocess.run([python, program], cwd=folder, capture_output=True, text=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{program.name} failed:\n{done.stderr}")
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return figures(done.stdout) | {"CPU seconds": f"{spent:.1f}"}


def shrink(picture: Path, target: Path) -> None:
    """Keep a picture in 128 colors: photographs take a third of the space."""
    from PIL import Image

    Image.open(picture).convert("RGB").quantize(128, kmeans=2).save(target, optimize=True)


def rows(name: str, ours: dict[str, str], theirs: dict[str, str]) -> str:
    """Write the lines of a program in the table."""
    link = f"[{name.replace('_', ' ')}]({name}.md)"
    lines = [
        f"| {link} | {figure} | {ours[figure]} | {theirs.get(figure, '')} |" for figure in ours
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jax", required=True, help="an interpreter that has jax")
    parser.add_argument("names", nargs="*", help="programs; all if none is named")
    args = parser.parse_args()
    index = PAGES / "index.md"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in PROGRAMS:
            if args.names and program.stem not in args.names:
                continue
            other = folder / program.name
            other.write_text(for_jax(program.read_text(encoding="utf-8")), encoding="utf-8")
            theirs = run(os.path.abspath(args.jax), other, folder)
            ours = run(sys.executable, program, folder)
            shrink(folder / f"{program.stem}.png", PAGES / f"{program.stem}.png")
            new = rows(program.stem, ours, theirs)
            print(new, end="")
            text = index.read_text(encoding="utf-8")
            old = rf"(^\| \[[^]]*\]\({program.stem}\.md\) \|.*\n)+"
            index.write_text(
                re.sub(old, lambda _, new=new: new, text, flags=re.M), encoding="utf-8"
            )


if __name__ == "__main__":
    main()
