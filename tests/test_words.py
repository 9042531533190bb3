"""Keep the words of the old dialect out of module names, first lines and definitions of sagax.

The terms to use instead are those of the field: `iteration` for `round`, `position` for `place`, `shard` for
`divided`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "sagax"

MODULE_NAMES = frozenset(
    """absent aside at_once bodies children clusters commits divided divisions entries flat foreign
    implicit inside kept kinds later levels live making manual meeting moving no_tangents ordering outside
    pending places plainer plainly processes products reads records room sliding values varying waiting watching
    words""".split()
)
# Public names of NumPy and SciPy, and terms of random numbers.
EXEMPT_FOLDERS = ("numpy", "random", "scipy")

INTERROGATIVE = re.compile(r"(What|Where|Whether|When|How|Which|Who|Whoever)\b")

# First words of a module that are no verbs: articles, gerunds, plurals.
NO_VERB = re.compile(r"(An?|All|The|Types|\w+ing|\w+[^s\W]s)\b")

DIALECT = frozenset(
    """afresh again alike anew ask asked asks aside divided divisions kept later made makes meant meeting mine
    nobody piece pieces place placed places plainly reads rounds said say says seen tell tells together told
    wanted whoever""".split()
)
DETOURS = re.compile(r"\b(of which|nobody|whoever|is told)\b", re.IGNORECASE)
EXEMPT_NAMES = frozenset({"place"})  # numpy.place


def words_of(name: str) -> list[str]:
    """Split a name into lowercase words, without the term `in_place`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("in_place", "").split("_")


def definitions(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    """Yield the module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield node


def dialect_module_name(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find a module name of the dialect."""
    if path.stem in MODULE_NAMES and path.parts[0] not in EXEMPT_FOLDERS:
        yield path.stem


def interrogative_first_line(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find docstrings that begin with an interrogative, not with a verb or a noun."""
    for node in definitions(tree):
        doc = ast.get_docstring(node) or ""
        if INTERROGATIVE.match(doc):
            yield f"{getattr(node, 'name', 'the module')}: {doc.splitlines()[0]}"


def module_without_verb(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find modules whose first line does not begin with what the module does."""
    doc = ast.get_docstring(tree) or ""
    if NO_VERB.match(doc):
        yield doc.splitlines()[0]


def dialect_definition(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find functions and classes whose names have a word of the dialect."""
    for node in definitions(tree):
        if isinstance(node, ast.Module) or node.name in EXEMPT_NAMES:
            continue
        if found := DIALECT.intersection(words_of(node.name)):
            yield f"{node.name} ({', '.join(sorted(found))})"


def detour(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find docstrings with phrases that a direct sentence replaces."""
    for node in definitions(tree):
        if found := DETOURS.search(ast.get_docstring(node) or ""):
            yield f"{getattr(node, 'name', 'the module')}: {found[0]}"


Rule = Callable[[Path, ast.Module], Iterator[str]]

RULES = (
    dialect_module_name,
    interrogative_first_line,
    module_without_verb,
    dialect_definition,
    detour,
)


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """Parse all modules, by path relative to the package."""
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 300
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
    }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_holds(rule: Rule, modules: dict[str, ast.Module]) -> None:
    broken = {
        path: found for path, tree in modules.items() if (found := list(rule(Path(path), tree)))
    }
    assert not broken, f"{rule.__name__}: use a standard term, and begin docstrings with a verb"


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (dialect_module_name, "_src/core/at_once.py", ""),
        (dialect_module_name, "lax/divisions.py", ""),
        (interrogative_first_line, "x.py", '"""What a call costs."""'),
        (interrogative_first_line, "x.py", 'def f():\n    """Whether it is safe."""'),
        (interrogative_first_line, "x.py", 'class C:\n    """Where it was created."""'),
        (module_without_verb, "x.py", '"""The errors of sagax."""'),
        (module_without_verb, "x.py", '"""Sharing memory with other libraries."""'),
        (module_without_verb, "x.py", '"""Meshes of devices."""'),
        (detour, "x.py", '"""Join scopes, of which one may be empty."""'),
        (dialect_definition, "x.py", "def told(x): ..."),
        (dialect_definition, "x.py", "class KeptOperands: ..."),
        (dialect_definition, "x.py", "class C:\n    def _asked_axes(self): ..."),
        (dialect_definition, "x.py", "def f():\n    def one_place(): ..."),
    ],
)
def test_rule_finds(rule: Rule, path: str, source: str) -> None:
    assert list(rule(Path(path), ast.parse(source)))


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (dialect_module_name, "numpy/products.py", ""),
        (dialect_module_name, "_src/core/avals.py", ""),
        (interrogative_first_line, "x.py", '"""Count the operations."""\ndef f(): ...'),
        (interrogative_first_line, "x.py", 'def f():\n    """Whatever."""'),
        (module_without_verb, "x.py", '"""Compress arrays."""\ndef f():\n    """The rest."""'),
        (dialect_definition, "x.py", "def place(arr, mask, vals): ..."),
        (dialect_definition, "x.py", "def replace(x): ...\nclass Placement: ..."),
        (dialect_definition, "x.py", "def update_in_place(x): ..."),
    ],
)
def test_rule_allows(rule: Rule, path: str, source: str) -> None:
    assert not list(rule(Path(path), ast.parse(source)))
