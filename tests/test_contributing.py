"""Follow the tutorials of CONTRIBUTING.md in a copy of the project, and run what they run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r'^```(python|diff) title="([^"]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)


def patched(text: str, diff: str) -> str:
    """`text` with the lines of a diff without headers: "+" added, "-" removed, " " as they are."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if not line.startswith("+"))
    new = "".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(old) == 1, f"these lines must stand in the file once:\n{old}"
    return text.replace(old, new)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project with both tutorials done."""
    root = tmp_path_factory.mktemp("project")
    for folder in ("src", "tests"):
        shutil.copytree(
            ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "data")
        )
    (root / "tests/data").symlink_to(ROOT / "tests/data")
    shutil.copy(ROOT / "pyproject.toml", root)
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert {language for language, _, _ in blocks} == {"python", "diff"}
    for language, name, text in blocks:
        path = root / name
        if language == "python":
            assert not path.exists(), f"{name} is there already; the tutorial makes it"
            path.write_text(text, encoding="utf-8")
        else:
            path.write_text(patched(path.read_text(encoding="utf-8"), text), encoding="utf-8")
    return root


def passed(output: str) -> int:
    found = re.search(r"(\d+) passed", output)
    return int(found[1]) if found else 0


def test_the_primitive_obeys_the_laws(copy, run_python):
    paths = {"PYTHONPATH": str(copy / "src")}
    pytest_of = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    laws = run_python(
        *pytest_of, "tests/primitives/test_laws.py", "-k", "rotate", cwd=copy, env=paths
    )
    assert passed(laws.stdout) >= 18, laws.stdout
    example = run_python(
        *pytest_of, "tests/test_docstrings.py", "-k", "primitives.rotate", cwd=copy, env=paths
    )
    assert passed(example.stdout) == 1, example.stdout


def test_the_fix_is_found_and_verified(copy, run_python):
    script = "tests/autofix/programs/shape_as_arguments.py"
    done = run_python(
        "tests/autofix/batch.py", script, cwd=copy, env={"PYTHONPATH": str(copy / "src")}
    )
    report = json.loads(done.stdout)
    assert (report["error"], report["line"], report["depends"]) == ("TypeError", 13, [])
    (fix,) = report["suggestions"]
    assert fix["kind"] == "shape_as_tuple" and fix["verified"] and fix["output"] == "24.0\n"
