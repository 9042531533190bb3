"""From a captured stack to the user's own expression: which frame, columns, source text.

A captured stack is what `stacks.stack()` returns (code objects and instruction offsets, so it
keeps no local variable alive) or a Python traceback. All work is done when somebody looks.
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
from sagax._src.diagnostics.syntax import part
from sagax._src.source_stacks import Stack

__all__ = [
    "Backward",
    "ExcerptLine",
    "Place",
    "entered",
    "excerpt",
    "hide",
    "is_backward",
    "unhide",
    "is_hidden",
    "is_installed",
    "is_sagax",
    "is_users",
    "passes",
    "shown_path",
    "span_at",
    "user_place",
    "user_places",
    "user_span",
    "user_spans",
]

# --- whose code is it --------------------------------------------------------------------------

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\](\w+)", re.DOTALL)

# Libraries that are handed the user's values and call back into sagax: a mistake that shows inside
# them was made by whoever called them.
_BETWEEN = {"numpy", "scipy", "opt_einsum", "ml_dtypes", "jaxlib"}

_hidden: set[str] = {_PACKAGE}


def hide(path: str) -> None:
    """Treat the code in a file, or in a folder (end it with a separator), as not the user's.

    For libraries built on sagax whose users should see their own line instead of the library's.
    """
    _hidden.add(path)
    is_hidden.cache_clear()
    is_users.cache_clear()


def unhide(path: str) -> None:
    """Take back `hide`."""
    _hidden.discard(path)
    is_hidden.cache_clear()
    is_users.cache_clear()


@functools.cache
def is_sagax(file: str) -> bool:
    """Whether this file is a part of sagax itself."""
    return file.startswith(_PACKAGE)


@functools.cache
def is_hidden(file: str) -> bool:
    """Whether tracebacks leave this file out: it is of sagax or of a library that hid itself."""
    return file in _hidden or any(p.endswith(os.sep) and file.startswith(p) for p in _hidden)


@functools.cache
def is_users(file: str) -> bool:
    """Whether code of this file is shown: not that of sagax, a hidden library, or Python itself."""
    if file.startswith("<frozen ") or is_hidden(file):
        return False
    if installed := _INSTALLED.match(file):  # before the standard library, which may lie around it
        return installed[1] not in _BETWEEN
    return not file.startswith(_STANDARD)


def is_installed(file: str) -> bool:
    """Whether a file belongs to an installed package."""
    return _INSTALLED.match(file) is not None


# --- from stacks to places ---------------------------------------------------------------------


class Place(NamedTuple):
    """One instruction of one function."""

    code: CodeType
    offset: int


class Backward:
    """The captured stack of an operation forwards, for the one that takes its place backwards."""

    __slots__ = ("traceback",)

    def __init__(self, traceback: Any) -> None:
        self.traceback = traceback

    def raw_frames(self) -> Any:
        return self.traceback.raw_frames()


def is_backward(traceback: Any) -> bool:
    """Whether a captured stack is that of an operation backwards."""
    return isinstance(traceback.inner if isinstance(traceback, Stack) else traceback, Backward)


def _stack(traceback: Any) -> Iterator[Place]:
    """The instructions on a captured stack, innermost first."""
    if not isinstance(traceback, TracebackType):
        return map(Place, *traceback.raw_frames())
    found: list[Place] = []
    entry: TracebackType | None = traceback
    while entry is not None:
        found.append(Place(entry.tb_frame.f_code, entry.tb_lasti))
        entry = entry.tb_next
    return reversed(found)


def passes(traceback: Any, code: CodeType) -> bool:
    """Whether a piece of code is on a captured stack."""
    return traceback is not None and any(place.code is code for place in _stack(traceback))


def user_place(traceback: Any) -> Place | None:
    """The user's innermost instruction on a captured stack; None when there is none.

    Generated code without source (the `__init__` of a dataclass) counts only where there is nothing
    else of the user's. What was typed in (`<stdin>`, a notebook's cell) is the user's.
    """
    if traceback is None:
        return None
    generated = None
    if isinstance(traceback, TracebackType):
        places: Iterable[tuple[CodeType, int]] = _stack(traceback)
    elif isinstance(traceback, Stack):  # each lowered operation asks: no object a frame
        places = traceback.instructions()
    else:
        places = zip(*traceback.raw_frames(), strict=False)
    known = _sagax_codes
    for code, offset in places:
        if id(code) in known:
            continue
        if is_users(code.co_filename):
            place = Place(code, offset)
            if not _is_generated(code):
                return place
            generated = generated or place
        elif is_sagax(code.co_filename):
            if len(known) >= _MOST_CODES:
                known.clear()
            known[id(code)] = code
    return generated


# Code of sagax itself, by its identity: to hash it would be to read all of it.
_sagax_codes: dict[int, CodeType] = {}
_MOST_CODES = 8192


def _is_generated(code: CodeType) -> bool:
    """Whether a program wrote this code: it has no source, and nobody gave it a name of its own."""
    file = code.co_filename
    return file == "<string>" and not _defines(linecache.getlines(file), code)


def user_span(traceback: Any) -> Span | None:
    """The user's innermost expression on a captured stack; None when there is none."""
    place = user_place(traceback)
    return None if place is None else span_at(place)


def user_spans(traceback: Any, limit: int = 5) -> list[Span]:
    """The user's innermost `limit` calls on a captured stack, outermost first."""
    return [span_at(place) for place in reversed(user_places(traceback)[:limit])]


def entered(traceback: Any, limit: int = 5) -> list[int]:
    """Which of what `user_spans` gives are in functions that a transformation called."""
    found: list[int] = []
    count, between = 0, False
    for place in reversed(list(_stack(traceback)) if traceback is not None else []):
        file = place.code.co_filename
        if is_users(file):
            if between:
                found.append(count)
            count, between = count + 1, False
        elif file.startswith(_TRANSFORMATIONS):
            between = True
    left_out = max(count - limit, 0)
    return [i - left_out for i in found if i >= left_out]


_TRANSFORMATIONS = tuple(
    os.path.join(_PACKAGE, "_src", part) + os.sep
    for part in """api argument_checks callbacks collectives function_analysis higher_order
    transforms""".split()
)


def user_places(traceback: Any) -> list[Place]:
    """The user's instructions on a captured stack, innermost first."""
    if traceback is None:
        return []
    return [place for place in _stack(traceback) if is_users(place.code.co_filename)]


# --- from places to source ---------------------------------------------------------------------


def span_at(place: Place) -> Span:
    """The expression that an instruction belongs to, with its source text."""
    code, offset = place
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
    start, end = _characters(source[0], column), _characters(source[-1], end_column)
    span = Span(file, line, start, end_line, end, function, source)
    if start is None or end is None or not _is_whole(span):
        return Span(file, line, None, end_line, None, function)
    found = part(code, offset, span.text, start)
    if found is None:
        return span
    source = source[found.line : found.end_line + 1]
    line, end_line = line + found.line, line + found.end_line
    return Span(file, line, found.column, end_line, found.end_column, function, source)


@functools.lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


def _function_name(code: CodeType) -> str:
    # Python 3.11 runs comprehensions in functions of their own: later ones in the function around
    name = re.sub(r"(\.|^)<(list|set|dict)comp>", "", code.co_qualname.replace("<locals>.", ""))
    return name or "<module>"


def _source_lines(file: str) -> list[str]:
    linecache.checkcache(file)  # read again what was edited; whether it fits is checked below
    lines = linecache.getlines(file)
    if not lines and not file.startswith("<"):  # a module that came out of an archive
        for module in list(sys.modules.values()):
            if getattr(module, "__file__", None) == file:
                return linecache.getlines(file, vars(module))
    return lines


def _defines(lines: list[str], code: CodeType) -> bool:
    """Whether `code` can be what these lines define: not if the file was edited meanwhile."""
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


def _characters(line: str, column: int) -> int | None:
    """Python counts columns in UTF-8 bytes; the same in characters, None if out of range."""
    if line.isascii():
        return column if column <= len(line) else None
    encoded = line.encode()
    if column > len(encoded):
        return None
    return len(encoded[:column].decode(errors="replace"))


def _is_whole(span: Span) -> bool:
    """Whether a span begins and ends between words, as it does unless the file was edited."""
    first, last = span.source[0], span.source[-1]
    start, end = span.column or 0, span.end_column or 0
    if len(span.source) == 1 and start >= end:
        return False

    def joined(text: str, at: int) -> bool:
        return 0 < at < len(text) and all(c.isalnum() or c == "_" for c in text[at - 1 : at + 1])

    text = span.text
    return text == text.strip() and not joined(first, start) and not joined(last, end)


# --- how source is shown -----------------------------------------------------------------------

_WIDTH = 96
_TAB = 4


class ExcerptLine(NamedTuple):
    """A line of source and the marks beneath it. Where lines are left out, `number` is None."""

    number: int | None
    text: str
    marks: str


def excerpt(span: Span, limit: int = 6) -> list[ExcerptLine]:
    """The lines of a span with its expression marked, without their common indentation.

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
        shown.append(ExcerptLine(span.line + i, *_marked(text, indent, start, end)))
    if len(shown) > limit:
        head, tail = (limit + 1) // 2, limit // 2
        shown = [*shown[:head], ExcerptLine(None, "...", ""), *shown[len(shown) - tail :]]
    return shown


def _marked(text: str, indent: int, start: int, end: int) -> tuple[str, str]:
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
    """Columns that `text` takes on a terminal."""
    if text.isascii() and "\t" not in text:
        return len(text)
    width = 0
    for c in text:
        if c == "\t":
            width += _TAB - width % _TAB
        elif not unicodedata.combining(c):
            width += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return width


def shown_path(file: str) -> str:
    """How a file is called in messages: from the working directory if it lies in it."""
    if os.path.basename(os.path.dirname(file)).startswith("ipykernel_"):
        return "notebook cell"
    try:
        here = os.getcwd() + os.sep
    except OSError:  # the working directory is gone
        return file
    return file.removeprefix(here)
