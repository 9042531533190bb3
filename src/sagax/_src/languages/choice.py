"""Choose the language of texts from the environment, and word a text in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.languages import translation

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
