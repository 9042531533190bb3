"""Translate rendered texts by a catalogue of templates, such as "pass `{name}` as an argument".

A text is worded in English where it arises. Its template is found by matching, so that errors, fixes and JSON
are the same in each language until they are shown.
"""

from __future__ import annotations

import functools
import re
import string
from typing import NamedTuple

from sagax._src.languages.chinese import CATALOGUE, FRAMES

_LONGEST = 4000  # characters of a text that is matched
_PARTS = string.Formatter()
_OF_FUNCTION = re.compile(r"((?:\w+ of )?[\w.<>\[\]']+(?:, \w+\[[\w,]*\])?): ((?s:.+))")
_OF_JAX = re.compile(r"\bjax\.")


class _Template(NamedTuple):
    literals: tuple[str, ...]  # the longest first
    pattern: str
    names: tuple[str, ...]
    quoted: frozenset[str]  # placeholders in backquotes: source text of the user
    text: str


def placeholders(template: str) -> list[str]:
    """Return the names of the placeholders of a template, in order, each as often as it occurs."""
    return [name for _, name, _, _ in _PARTS.parse(template) if name]


@functools.cache
def _templates() -> list[_Template]:
    """Return the templates with placeholders; those that leave least open come first."""
    found: list[tuple[int, _Template]] = []
    for english, text in CATALOGUE.items():
        names: dict[str, None] = {}
        quoted: set[str] = set()
        pattern, literals = "", [""]
        for literal, name, _, _ in _PARTS.parse(english):
            pattern += re.escape(literal)
            literals.append(literal)
            if not name:
                continue
            if "".join(literals).count("`") % 2:
                quoted.add(name)
            pattern += f"(?P={name})" if name in names else f"(?P<{name}>.+?)"
            names[name] = None
        if names:
            size = sum(map(len, literals))
            longest = tuple(sorted(filter(None, literals), key=len, reverse=True))
            found.append((size, _Template(longest, pattern, tuple(names), frozenset(quoted), text)))
    return [template for _, template in sorted(found, key=lambda pair: -pair[0])]


@functools.cache
def _sentences() -> dict[str, str]:
    """Return the texts without placeholders, as they are shown."""
    return {
        english.format(): text.format()
        for english, text in CATALOGUE.items()
        if not placeholders(english)
    }


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def template_of(english: str) -> str:
    """Return the Chinese template of an English one; itself if there is none."""
    return FRAMES.get(english) or CATALOGUE.get(english, english)


def translate(text: str) -> str:
    """Return a text in Chinese; unchanged where no template fits.

    In files that import jax, advice names `jax.vmap` for `sagax.vmap`.
    """
    found = _translate(text, 4)
    if found == text and "jax." in text and "sagax." not in text:
        own = _OF_JAX.sub("sagax.", text)
        found = _translate(own, 4)
        return text if found == own else found.replace("sagax.", "jax.")
    return found


@functools.cache
def _first_words() -> frozenset[str]:
    """Return what stands before a colon in templates such as "race: {first} reads ...", and is no function."""
    return frozenset(english.partition(": ")[0] for english in CATALOGUE if ": " in english)


def translate_message(text: str) -> str:
    """Return a message such as "dot_general: the sizes differ" in Chinese, with or without the name of a function."""
    named = _OF_FUNCTION.fullmatch(text)
    if not named:
        return translate(text)
    function, rest = named.groups()
    if function in _first_words() and (whole := translate(text)) != text:
        return whole
    worded = translate(rest)
    return translate(text) if worded == rest else f"{function}{CATALOGUE[': ']}{worded}"


def _translate(text: str, depth: int) -> str:
    exact = _sentences().get(text)
    if exact is not None:
        return exact
    if len(text) > _LONGEST or not depth:
        return text
    for template in _templates():
        if not all(literal in text for literal in template.literals):
            continue
        found = _compiled(template.pattern).fullmatch(text)
        if found is not None:
            values = {
                name: value if name in template.quoted else _part(value, depth)
                for name, value in found.groupdict().items()
            }
            return _filled(template.text, values)
    return text


def _filled(template: str, values: dict[str, str]) -> str:
    """Fill in values; between Chinese and Latin letters there is a space, and none between Chinese ones."""
    text = ""
    for literal, name, _, _ in _PARTS.parse(template):
        for part in (literal, values[name] if name else ""):
            text = _joined(text, part) if text and part else text + part
    return text


def _joined(left: str, right: str) -> str:
    if _meet(left[-1], right[0]):
        return f"{left} {right}"
    if left.endswith(" ") and _is_han(left[-2:-1]) and _is_han(right[0]):
        return left[:-1] + right
    if right.startswith(" ") and _is_han(left[-1]) and _is_han(right[1:2]):
        return left + right[1:]
    return left + right


def _meet(left: str, right: str) -> bool:
    return (_is_han(left) and right.isascii() and right.isalnum()) or (
        left.isascii() and left.isalnum() and _is_han(right)
    )


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _part(text: str, depth: int) -> str:
    """Translate a part of a sentence; a single word may be a name of the user's."""
    return _translate(text, depth - 1) if " " in text else text
