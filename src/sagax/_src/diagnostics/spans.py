"""Map captured stacks to spans of the user's source.

A captured stack is the result of `source_stacks.stack()`: code objects and instruction offsets, which
keep no local variables alive. A Python traceback works too. All work happens on demand.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from types import CodeType, TracebackType
from typing import Any, NamedTuple

from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.syntax import find_operand
from sagax._src.source_stacks import Stack

# --- classes of files --------------------------------------------------------------------------

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_SITE_PACKAGES = re.compile(r".*[/\\](?:site|dist)-packages[/\\](\w+)", re.DOTALL)

# Libraries that take the user's values and call back into sagax: their caller is at fault.
_CALLING_LIBRARIES = {"numpy", "scipy", "opt_einsum", "ml_dtypes", "jaxlib"}

_hidden: set[str] = {_PACKAGE}


def hide(path: str) -> None:
    """Hide the code in a file, or in a folder (ending with a separator), from the user's frames.

    Libraries on top of sagax use it, so that errors point at their users' lines.
    """
    _hidden.add(path)
    is_hidden.cache_clear()
    is_user_file.cache_clear()


def unhide(path: str) -> None:
    """Undo `hide`."""
    _hidden.discard(path)
    is_hidden.cache_clear()
    is_user_file.cache_clear()


@functools.cache
def is_sagax(file: str) -> bool:
    """Return whether a file is part of sagax."""
    return file.startswith(_PACKAGE)


@functools.cache
def is_hidden(file: str) -> bool:
    """Return whether tracebacks omit a file: it is part of sagax or of a hidden library."""
    return file in _hidden or any(p.endswith(os.sep) and file.startswith(p) for p in _hidden)


@functools.cache
def is_user_file(file: str) -> bool:
    """Return whether code of a file is shown, unlike sagax, hidden libraries and Python itself."""
    if file.startswith("<frozen ") or is_hidden(file):
        return False
    if installed := _SITE_PACKAGES.match(
        file
    ):  # first: it may lie in the standard library's folder
        return installed[1] not in _CALLING_LIBRARIES
    return not file.startswith(_STANDARD_LIBRARY)


def is_installed(file: str) -> bool:
    """Return whether a file belongs to an installed package."""
    return _SITE_PACKAGES.match(file) is not None


# --- from stacks to instructions ---------------------------------------------------------------


class CodePosition(NamedTuple):
    """Identify an instruction of a code object."""

    code: CodeType
    offset: int


class Backward:
    """Wrap the stack of a forward operation, for its backward operation."""

    __slots__ = ("traceback",)

    def __init__(self, traceback: Any) -> None:
        self.traceback = traceback

    def raw_frames(self) -> Any:
        return self.traceback.raw_frames()


def is_backward(traceback: Any) -> bool:
    """Return whether a captured stack belongs to a backward operation."""
    return isinstance(traceback.inner if isinstance(traceback, Stack) else traceback, Backward)


def _stack_positions(traceback: Any) -> Iterator[CodePosition]:
    """Return the instructions on a captured stack, innermost first."""
    if not isinstance(traceback, TracebackType):
        return map(CodePosition, *traceback.raw_frames())
    found: list[CodePosition] = []
    entry: TracebackType | None = traceback
    while entry is not None:
        found.append(CodePosition(entry.tb_frame.f_code, entry.tb_lasti))
        entry = entry.tb_next
    return reversed(found)


def is_on_stack(traceback: Any, code: CodeType) -> bool:
    """Return whether a code object is on a captured stack."""
    return traceback is not None and any(at.code is code for at in _stack_positions(traceback))


def user_position(traceback: Any) -> CodePosition | None:
    """Return the user's innermost instruction on a captured stack, if any.

    Generated code without source, such as the `__init__` of a dataclass, counts only if there is no
    other user code. Interactive code (`<stdin>`, a notebook's cell) is user code.
    """
    if traceback is None:
        return None
    generated = None
    if isinstance(traceback, TracebackType):
        positions: Iterable[tuple[CodeType, int]] = _stack_positions(traceback)
    elif isinstance(traceback, Stack):  # called for each lowered operation: no object per frame
        positions = traceback.instructions()
    else:
        positions = zip(*traceback.raw_frames(), strict=False)
    known = _sagax_codes
    for code, offset in positions:
        if id(code) in known:
            continue
        if is_user_file(code.co_filename):
            position = CodePosition(code, offset)
            if not _is_generated(code):
                return position
            generated = generated or position
        elif is_sagax(code.co_filename):
            if len(known) >= _MAX_CODES:
                known.clear()
            known[id(code)] = code
    return generated


# Code objects of sagax, by id: hashing a code object reads all of it.
_sagax_codes: dict[int, CodeType] = {}
_MAX_CODES = 8192


def _is_generated(code: CodeType) -> bool:
    """Return whether code was generated: it has neither source nor a file name."""
    file = code.co_filename
    return file == "<string>" and not _defines(linecache.getlines(file), code)


def user_span(traceback: Any) -> Span | None:
    """Return the user's innermost expression on a captured stack, if any."""
    position = user_position(traceback)
    return None if position is None else span_at(position)


def user_spans(traceback: Any, limit: int = 5) -> list[Span]:
    """Return the user's innermost `limit` calls on a captured stack, outermost first."""
    return [span_at(position) for position in reversed(user_positions(traceback)[:limit])]


def transformed_frames(traceback: Any, limit: int = 5) -> list[int]:
    """Return the indices of the `user_spans` in functions that a transformation called."""
    found: list[int] = []
    count, between = 0, False
    for position in reversed(list(_stack_positions(traceback)) if traceback is not None else []):
        file = position.code.co_filename
        if is_user_file(file):
            if between:
                found.append(count)
            count, between = count + 1, False
        elif file.startswith(_TRANSFORMATIONS):
            between = True
    omitted = max(count - limit, 0)
    return [i - omitted for i in found if i >= omitted]


_TRANSFORMATIONS = tuple(
    os.path.join(_PACKAGE, "_src", part) + os.sep
    for part in """api argument_checks callbacks collectives function_analysis higher_order
    transforms""".split()
)


def user_positions(traceback: Any) -> list[CodePosition]:
    """Return the user's instructions on a captured stack, innermost first."""
    if traceback is None:
        return []
    return [at for at in _stack_positions(traceback) if is_user_file(at.code.co_filename)]


# --- from instructions to source ---------------------------------------------------------------


def span_at(position: CodePosition) -> Span:
    """Return the expression that an instruction belongs to, with its source text."""
    code, offset = position
    line, end_line, column, end_column = _positions(code)[offset // 2]
    line = line or code.co_firstlineno
    end_line = end_line or line
    file, function = code.co_filename, _function_name(code)
    lines = _source_lines(file)
    if not (_defines(lines, code) and end_line <= len(lines)):
        return Span(file, line, None, end_line, None, function)
    source = tuple(text.rstrip("\r\n") for text in lines[line - 1 : end_line])
    if column is None or end_column is None:
        return Span(file, line, None, end_line, None, function, source)
    start, end = _character_column(source[0], column), _character_column(source[-1], end_column)
    span = Span(file, line, start, end_line, end, function, source)
    if start is None or end is None or not _is_consistent(span):
        return Span(file, line, None, end_line, None, function)
    found = find_operand(code, offset, span.text, start)
    if found is None:
        return span
    source = source[found.line : found.end_line + 1]
    line, end_line = line + found.line, line + found.end_line
    return Span(file, line, found.column, end_line, found.end_column, function, source)


@functools.lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


def _function_name(code: CodeType) -> str:
    # Python 3.11 runs comprehensions in separate functions, later versions inline them
    name = re.sub(r"(\.|^)<(list|set|dict)comp>", "", code.co_qualname.replace("<locals>.", ""))
    return name or "<module>"


def _source_lines(file: str) -> list[str]:
    linecache.checkcache(file)  # reload edited files; `_defines` checks that they match the code
    lines = linecache.getlines(file)
    if not lines and not file.startswith("<"):  # a module in an archive
        for module in list(sys.modules.values()):
            if getattr(module, "__file__", None) == file:
                return linecache.getlines(file, vars(module))
    return lines


def _defines(lines: list[str], code: CodeType) -> bool:
    """Return whether lines may define `code`, which they do not after an edit of the file."""
    if not lines:
        return False
    name, first = code.co_name, code.co_firstlineno - 1
    if name == "<lambda>":
        return first < len(lines) and "lambda" in lines[first]
    if name.startswith("<"):
        return True
    definition = re.compile(rf"\s*(async\s+)?(def|class)\s+{re.escape(name)}\b")
    if first < len(lines) and not lines[first].lstrip().startswith("@"):
        return definition.match(lines[first]) is not None
    return any(definition.match(line) for line in lines[first : first + 60])


def _character_column(line: str, column: int) -> int | None:
    """Convert a column from UTF-8 bytes to characters; None if it is out of range."""
    encoded = line.encode()
    return len(encoded[:column].decode(errors="replace")) if column <= len(encoded) else None


def _is_consistent(span: Span) -> bool:
    """Return whether a span begins and ends between words, as it does unless the file was edited."""
    first, last = span.source[0], span.source[-1]
    start, end = span.column or 0, span.end_column or 0
    if len(span.source) == 1 and start >= end:
        return False

    def joined(text: str, at: int) -> bool:
        return 0 < at < len(text) and all(c.isalnum() or c == "_" for c in text[at - 1 : at + 1])

    text = span.text
    return text == text.strip() and not joined(first, start) and not joined(last, end)


# --- excerpts ----------------------------------------------------------------------------------

_WIDTH = 72  # beside the number of the line, in 79 columns
_TAB = 4


class ExcerptLine(NamedTuple):
    """Hold a line of source and the marks beneath it; `number` is None for omitted lines."""

    number: int | None
    text: str
    marks: str


def excerpt(span: Span, limit: int = 6) -> list[ExcerptLine]:
    """Return the lines of a span with its expression marked, without their common indentation.

    Marks are aligned for wide characters and tabs. At most `limit` lines are shown.
    """
    if not span.source:
        return []
    indent = min((len(s) - len(s.lstrip()) for s in span.source if s.strip()), default=0)
    shown: list[ExcerptLine] = []
    for i, text in enumerate(span.source):
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        if i == 0 and span.column is not None:
            start = span.column
        if i == len(span.source) - 1 and span.end_column is not None:
            end = span.end_column
        shown.append(ExcerptLine(span.line + i, *_mark(text, indent, start, end)))
    if len(shown) > limit:
        head, tail = (limit + 1) // 2, limit // 2
        shown = [*shown[:head], ExcerptLine(None, "...", ""), *shown[len(shown) - tail :]]
    return shown


def _mark(text: str, indent: int, start: int, end: int) -> tuple[str, str]:
    left, right = indent, len(text)
    before = after = ""
    if _width(text[left:]) > _WIDTH:
        if end - left > _WIDTH:
            left, before = max(left, start - 20), "..."
        if right - left > _WIDTH:
            right, after = left + _WIDTH, "..."
    start, end = max(start, left), min(end, right)
    pad = _width(before + text[left:start])
    marks = " " * pad + "^" * max(_width(before + text[left:end]) - pad, 0)
    return before + _expand(text[left:right].rstrip()) + after, marks


def _expand(text: str) -> str:
    out = ""
    for c in text:
        out += " " * (_TAB - _width(out) % _TAB) if c == "\t" else c
    return out


def _width(text: str) -> int:
    """Return the width of a text in terminal columns."""
    if text.isascii() and "\t" not in text:
        return len(text)
    width = 0
    for c in text:
        if c == "\t":
            width += _TAB - width % _TAB
        elif not unicodedata.combining(c):
            width += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return width


# of notebooks: the first line of each code cell in the joined text, with the number of the cell
_cells: dict[str, list[tuple[int, int]]] = {}


def know_cells(file: str, cells: list[tuple[int, int]]) -> None:
    """Set where the code cells of a notebook begin in its joined text: (first line, number)."""
    _cells[file] = cells


def line_in_cell(file: str, line: int) -> tuple[int, int] | None:
    """Return the number of the cell and the line in it of a line of a notebook's joined text."""
    found = [(number, line - first + 1) for first, number in _cells.get(file, ()) if first <= line]
    return found[-1] if found else None


def display_line(file: str, line: int) -> str:
    """Return `file.py:3` for messages, for a notebook `file.ipynb cell 2:3`."""
    cell = line_in_cell(file, line)
    if cell is None:
        return f"{display_path(file)}:{line}"
    return f"{display_path(file)} cell {cell[0]}:{cell[1]}"


def display_path(file: str) -> str:
    """Return a file's path for messages, relative to the working directory if it lies in it."""
    if os.path.basename(os.path.dirname(file)).startswith("ipykernel_"):
        return "notebook cell"
    try:
        here = os.getcwd() + os.sep
    except OSError:  # the working directory is gone
        return file
    return file.removeprefix(here)
