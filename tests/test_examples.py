"""The example programs, run as a user runs them, and the programs in the README."""

from __future__ import annotations

import ast
import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
README = ROOT / "README.md"

# How to start the same program written for sagax and for jax.
DIGITS = {
    "digits.py": (EXAMPLES / "digits.py",),
    "digits_jax.py": ("-m", "sagax", "run", EXAMPLES / "digits_jax.py"),
}


@pytest.mark.parametrize("command", DIGITS.values(), ids=DIGITS)
def test_digits_has_the_losses_of_jax(command, oracle_data, run_python, tmp_path):
    expected = oracle_data("digits_losses")["losses"]
    options = ("--steps", str(len(expected)), "--losses", tmp_path / "losses.json")
    run_python(*command, *options, cwd=tmp_path)
    losses = json.loads((tmp_path / "losses.json").read_text())
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("command", DIGITS.values(), ids=DIGITS)
def test_digits_learns(command, run_python, tmp_path):
    output = run_python(*command, cwd=tmp_path).stdout
    figures = dict(re.findall(r"^([a-z ]+?)  +([\d.]+)", output, re.MULTILINE))
    assert float(figures["test accuracy"]) >= 0.96
    assert float(figures["time to first step"]) > 0
    assert float(figures["steps per second"]) > 0
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_digits_refuses_to_train_for_no_steps(run_python, tmp_path):
    done = run_python(EXAMPLES / "digits.py", "--steps", "0", cwd=tmp_path, status=2)
    assert "argument --steps: must be at least 1, got 0" in done.stderr


@pytest.mark.smoke
def test_the_two_digits_programs_differ_in_their_imports_only():
    """Without imports and the heading they are the same text but for the names of the modules."""
    ours, theirs = (ast.parse((EXAMPLES / name).read_text()) for name in DIGITS)
    for node in ast.walk(ours):
        if isinstance(node, ast.Name):
            node.id = {"sagax": "jax", "snp": "jnp"}.get(node.id, node.id)

    def program(tree: ast.Module) -> list[str]:
        kept = [n for n in tree.body[1:] if not isinstance(n, ast.Import | ast.ImportFrom)]
        return [ast.unparse(node) for node in kept]

    assert program(ours) == program(theirs)


def readme_session() -> str:
    """The interactive Python sessions of the README, one after the other as one session."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    return "\n".join(block for block in blocks if block.startswith(">>>"))


@pytest.mark.smoke
def test_the_readme_says_what_happens():
    session = readme_session()
    assert session.count(">>>") > 10
    test = doctest.DocTestParser().get_doctest(session, {}, README.name, str(README), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE, verbose=False)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
