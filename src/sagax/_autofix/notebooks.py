"""Read a notebook as the script of its code cells."""

from __future__ import annotations

import linecache
import os

from sagax._check.files import read
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.spans import know_cells


def notebook_text(path: str) -> dict[str, str]:
    """Return the text of a notebook's code cells by its path; nothing for other files.

    Spans of the text then name the cell. `ArgumentValueError` is raised for what is no notebook, or has
    a cell that does not parse.
    """
    if not path.endswith(".ipynb"):
        return {}
    source = read(path, True)
    assert source is not None
    for problem, cell in source.problems:
        place = "" if cell is None else f" cell {cell}, line {problem.line}"
        raise ArgumentValueError(f"{path}{place}: {problem.message}")
    file = os.path.abspath(path)
    lines = source.text.splitlines(keepends=True)
    linecache.cache[file] = (len(source.text), None, lines, file)
    know_cells(file, [(cell.start, cell.number) for cell in source.cells])
    return {file: source.text}
