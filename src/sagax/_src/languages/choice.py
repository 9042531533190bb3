"""Choose the language of texts from the environment, and word a text in it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.languages import translation

Error = TypeVar("Error", bound=BaseException)

LANGUAGES = ("en", "zh")


def language_of(environ: Mapping[str, str]) -> str:
    """Return "zh" if SAGAX_LANG says so, or else the locale of messages does; "en" otherwise."""
    chosen = environ.get("SAGAX_LANG", "").strip().lower()
    if chosen:
        return chosen if chosen in LANGUAGES else "en"
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):  # as POSIX says: the first that is set
        if locale := environ.get(variable, ""):
            return "zh" if locale.lower().startswith("zh") else "en"
    return "en"


# `config` puts the language of the settings in force here
current_language: Callable[[], str] = functools.partial(language_of, os.environ)


def worded(error: Error) -> Error:
    """Return an exception of Python's own class with a note in the language in force; its text stays English.

    Python shows the note below the message. Errors of sagax's own classes need none: they word themselves.
    """
    language = current_language()
    if language == "en":
        return error
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    note = word_lines(text, language)
    if note == text:  # one template, with a value that is shown on several lines
        note = translation.translate_message(text)
    if note != text:
        error.add_note(note)
    return error


def word(text: str, language: str) -> str:
    """Return an English text in a language; unchanged where the catalogue has no template for it."""
    return text if language == "en" else translation.translate(text)


def word_lines(text: str, language: str) -> str:
    """Return an English text in a language, line by line; each line keeps its indentation."""
    if language == "en":
        return text
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + translation.translate_message(line.lstrip())
        for line in text.split("\n")
    )


def fill(template: str, language: str, /, **facts: object) -> str:
    """Return an English template in a language, with the facts in it."""
    chosen = template if language == "en" else translation.template_of(template)
    return chosen.format_map(facts)
