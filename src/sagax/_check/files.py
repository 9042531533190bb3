"""Find and read source files: modules, scripts, notebooks."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

__all__ = ["Cell", "Problem", "Source", "find", "read", "read_text"]

_SKIPPED_FOLDERS = frozenset(
    (
        "__pycache__",
        "node_modules",
        "venv",
        "env",
        "site-packages",
        "build",
        "dist",
        "__pypackages__",
    )
)
_SUFFIXES = (".py", ".pyi", ".ipynb")


@dataclass(frozen=True, slots=True)
class Problem:
    """Describe why a file, or a cell of it, cannot be checked."""

    message: str
    line: int = 1
    column: int = 0
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Describe a cell of a notebook: its number from 1, and the line of the text it begins at."""

    number: int
    start: int


@dataclass(slots=True)
class Source:
    """Hold the text of a file. That of a notebook is all its code cells, one after the other."""

    path: str
    text: str = ""
    cells: list[Cell] = field(default_factory=list[Cell])
    problems: list[tuple[Problem, int | None]] = field(
        default_factory=list[tuple[Problem, int | None]]
    )
    displayed: frozenset[int] = frozenset()

    def cell_of(self, line: int) -> Cell | None:
        """Return the cell of a line of the text, None outside of notebooks."""
        found = None
        for cell in self.cells:
            if cell.start > line:
                break
            found = cell
        return found


def find(paths: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files below some paths, and whether each was named itself.

    Hidden folders, virtual environments, caches and installed packages are left out below a folder.
    """
    for path in paths:
        if os.path.isdir(path):
            yield from ((file, False) for file in _walk(path))
        else:
            yield path, True


def _walk(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED_FOLDERS
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            if name.endswith(_SUFFIXES) and not name.startswith("."):
                yield os.path.normpath(os.path.join(folder, name))


def read(path: str, named: bool) -> Source | None:
    """Read a file; None if it was not named itself, and does not mention jax or sagax."""
    with open(path, "rb") as handle:
        data = handle.read()
    if not named and b"jax" not in data and b"sagax" not in data:
        return None
    return read_text(path, data)


def read_text(path: str, data: bytes) -> Source:
    """Decode the contents of a file."""
    source = Source(path)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        source.problems.append(
            (Problem(f"the file cannot be decoded: {error}", unreadable=True), None)
        )
        return source
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if path.endswith(".ipynb"):
        _read_notebook(source, text)
    else:
        source.text = text
    return source


# --- notebooks -----------------------------------------------------------------------------------

_MAGIC_LINE = re.compile(r"^(\s*)[%!].*$|^(\s*)\S.*\?\??\s*$", re.MULTILINE)
_MAGIC_VALUE = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$", re.MULTILINE)
_PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")


def _read_notebook(source: Source, text: str) -> None:
    try:
        notebook: Any = json.loads(text)
        cells: list[Any] = list(notebook["cells"])
    except (ValueError, KeyError, TypeError) as error:
        source.problems.append((Problem(f"this is no notebook: {error}", unreadable=True), None))
        return
    parts: list[str] = []
    displayed: set[int] = set()
    start = 1
    for number, content in enumerate(cells, 1):
        code = _code_of(content)
        if code is None:
            continue
        try:
            body = ast.parse(code).body
        except (SyntaxError, ValueError) as error:
            line, column = getattr(error, "lineno", 1) or 1, (getattr(error, "offset", 1) or 1) - 1
            message = getattr(error, "msg", str(error))
            source.problems.append((Problem(message, line, max(column, 0)), number))
            continue
        if body and isinstance(body[-1], ast.Expr):
            displayed.add(start + body[-1].lineno - 1)
        source.cells.append(Cell(number, start))
        parts.append(code)
        start += code.count("\n") + 1
    source.text = "\n".join(parts)
    source.displayed = frozenset(displayed)


def _code_of(content: Any) -> str | None:
    """Return the Python of a code cell with as many lines, None of any other cell."""
    if not isinstance(content, dict) or cast("dict[str, Any]", content).get("cell_type") != "code":
        return None
    lines: Any = cast("dict[str, Any]", content).get("source", "")
    code = "".join(cast("list[str]", lines)) if isinstance(lines, list) else str(lines)
    if code.lstrip().startswith("%%"):
        head, _, rest = code.lstrip().partition("\n")
        if not head.startswith(_PYTHON_MAGICS):
            return None
        code = "\n" * (len(code) - len(code.lstrip())) + "\n" + rest
    code = _MAGIC_VALUE.sub(r"\1None", code)
    return _MAGIC_LINE.sub(lambda m: f"{m.group(1) or m.group(2) or ''}pass", code)
