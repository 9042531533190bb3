"""Wrap texts by the columns that they take on a terminal, where Chinese characters take two."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator

_CLOSING = "，。；：、！？）》」”’…%,.;:!?)]}"  # never at the beginning of a line
_OPENING = "（《「“‘([{"  # never at its end


def columns(text: str) -> int:
    """Return the number of columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def cut(text: str, width: int) -> str:
    """Return the beginning of a text that takes at most `width` columns."""
    if text.isascii():
        return text[:width]
    taken = 0
    for i, character in enumerate(text):
        taken += _width(character)
        if taken > width:
            return text[:i]
    return text


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with spaces behind it, or before it for `right`, that takes at least `width` columns."""
    spaces = " " * (width - columns(text))
    return spaces + text if right else text + spaces


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _segments(text: str) -> Iterator[str]:
    """Yield the parts of a text that stay together: words, and single wide characters."""
    segment = ""
    for character in text:
        wide = _width(character) == 2
        before = segment[-1:]
        breaks = before and (wide or _width(before) == 2 or before == " ")
        if breaks and character not in _CLOSING and before not in _OPENING and character != " ":
            yield segment
            segment = ""
        segment += character
    if segment:
        yield segment


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text into lines of at most `width` columns; all but the first begin with `indent`.

    Words of Latin letters stay whole, as do the marks of punctuation with what they follow.
    """
    if columns(text) == len(text):
        return textwrap.wrap(
            text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    lines: list[str] = []
    line = ""
    for segment in _segments(" ".join(text.split())):
        if line.strip() and columns(line + segment.rstrip()) > width:
            lines.append(line.rstrip())
            line = indent
        line += segment.lstrip() if not line.strip() else segment
    if line.strip():
        lines.append(line.rstrip())
    return lines
