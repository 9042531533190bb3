"""Test the types that users see: what a type checker reports, and that stubs agree with the modules."""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

STUBS = ROOT / "stubs"

# What is still reported, with the reason.
LEFT = {
    # pyright forgets the type parameters of a class that `functools.partial` gets
    "assertions/transforms.py": "assert_type(apply(square, x), Array)",
}


def _load(path: str) -> Any:
    """Import a script that is in no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_stubs = _load("scripts/make_stubs.py")


@pytest.mark.process
def test_pyright_agrees_with_assertions_and_programs_and_finds_mistakes():
    checkers = _load("tests/types/checkers.py")
    if not checkers.available("pyright"):
        pytest.skip("pyright is not installed (`make lint` installs it)")
    found = checkers.score("pyright")
    lines = {name: (checkers.HERE / name).read_text().splitlines() for name in LEFT}

    def known(report: str) -> bool:
        file, line, _ = report.split(":", 2)
        return file in LEFT and lines[file][int(line) - 1] == LEFT[file]

    assert [x for x in found.failed if not known(x)] == []
    assert len(found.failed) == len(LEFT)
    assert found.unexpected == []
    assert found.missed == []
    assert found.assertions > 400 and found.planted > 40


def _definitions(text: str) -> list[str]:
    """Return what a stub imports and defines, in an order that formatting does not change."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found += [f"from {node.module} import {ast.unparse(x)}" for x in node.names]
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            found.append(ast.unparse(node))
    return sorted(set(found))


def test_stubs_are_up_to_date():
    """After a change of names or signatures run `python scripts/make_stubs.py`."""
    # in a process of its own: modules that other tests import are names of the package here
    program = "import json, make_stubs; print(json.dumps(make_stubs.generate()))"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    made = json.loads(done.stdout)
    assert {str(x.relative_to(STUBS)) for x in STUBS.rglob("*.pyi")} == set(made)
    for name, text in made.items():
        assert _definitions((STUBS / name).read_text()) == _definitions(text), name


@pytest.mark.parametrize(
    "name", ["", ".numpy", ".numpy.linalg", ".lax", ".random", ".nn", ".scipy.linalg", ".tree"]
)
def test_stubs_export_all_public_names(name: str):
    module = importlib.import_module(f"sagax{name}")
    folder = STUBS.joinpath("sagax", *name.split(".")[1:])
    path = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    exported = set()
    for line in _definitions(path.read_text()):
        match = re.search(r"import (\w+) as \1$|^(\w+)(?: =|:)|(?:^|\n)(?:def|class) (\w+)", line)
        exported.add(next(filter(None, match.groups()), "") if match else "")
    public = {x for x in dir(module) if not x.startswith("_")} - {"annotations", "TYPE_CHECKING"}
    # modules that are there once something imported them
    public -= {x for x in public - exported if inspect.ismodule(getattr(module, x))}
    assert public - exported == set()


def _overloads() -> list[tuple[str, str]]:
    names = sorted(x.stem for x in (ROOT / "scripts" / "stub_parts").glob("*.stub"))
    return [(x, f"sagax{x.removeprefix('sagax')}") for x in names if "._src." not in x]


@pytest.mark.parametrize(("fragment", "module"), _overloads())
def test_what_is_written_by_hand_takes_what_the_function_takes(fragment: str, module: str):
    stub = make_stubs.Stub(module)
    namespace = importlib.import_module(module)
    checked = 0
    for name, blocks in stub._fragment().items():
        for block in blocks:
            node = ast.parse(block).body[0]
            if not name or not isinstance(node, ast.FunctionDef):
                continue
            checked += 1
            _check_parameters(node, getattr(namespace, name))
    assert checked or module in ("sagax.stages", "sagax.custom_derivatives")


def test_methods_of_arrays_take_what_they_are_declared_to_take():
    import sagax.numpy as snp

    tree = ast.parse((STUBS / "sagax/_src/core/value.pyi").read_text())
    classes = {x.name: x for x in tree.body if isinstance(x, ast.ClassDef)}
    x = snp.ones((2, 2))
    objects = {"Array": x, "_IndexUpdateHelper": x.at, "_IndexUpdateRef": x.at[0]}
    checked = 0
    for name, value in objects.items():
        for node in classes[name].body:
            if not isinstance(node, ast.FunctionDef):
                continue
            assert hasattr(type(value), node.name), node.name
            if node.decorator_list or node.name.startswith("__"):
                continue
            checked += 1
            node.args.args = node.args.args[1:]  # self
            _check_parameters(node, getattr(value, node.name))
    assert checked >= 60
    declared = {x.name for x in classes["Array"].body if isinstance(x, ast.FunctionDef)}
    from sagax.numpy._methods import METHODS, PROPERTIES

    assert (METHODS.keys() | PROPERTIES.keys()) - declared == {"flat"}  # which raises


def _check_parameters(node: ast.FunctionDef, function: Any) -> None:
    """Compare the parameters of one definition with those of the function: names, and which have defaults."""
    taken = inspect.signature(function).parameters
    anything = any(p.kind is p.VAR_POSITIONAL for p in taken.values())
    keywords = any(p.kind is p.VAR_KEYWORD for p in taken.values())
    declared = [*node.args.args, *node.args.kwonlyargs]
    for arg in declared:
        assert arg.arg in taken or keywords, f"{node.name} takes no {arg.arg}"
    if node.args.posonlyargs:
        assert anything or len(node.args.posonlyargs) <= len(taken), node.name
    required = [
        p.name for p in taken.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    names = {x.arg for x in declared}
    missing = [x for x in required if x not in names][len(node.args.posonlyargs) :]
    assert not missing or node.args.vararg, f"{node.name} needs {missing}"
