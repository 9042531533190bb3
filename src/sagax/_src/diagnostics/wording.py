"""Word the first lines of errors, in the language of the option `lang` (SAGAX_LANG, or the locale).

`languages/chinese` has the Chinese of each English text. Texts of the user's source stand in backquotes in both
languages: `explain` finds expressions by them.
"""

from __future__ import annotations

from sagax._src import config
from sagax._src.languages.choice import fill, word, word_lines

ENGLISH = {
    "unknown_in": "not known while `{function}` is traced",
    "unknown": "not known while it is traced",
    "truth_if": "`{text}` is {unknown}, so `if` cannot choose",
    "truth_while": "`{text}` is {unknown}, so `while` cannot know when to stop",
    "truth_assert": "`{text}` is {unknown}, so `assert` cannot check it",
    "truth_operator": "`{text}` is {unknown}, so `{word}` cannot choose",
    "truth_not": "`{text}` is {unknown}, so `not` cannot negate it",
    "truth_items": "`{text}` is {unknown}, so `if` cannot choose the items",
    "truth_match": "`{text}` is {unknown}, so `match` cannot choose",
    "truth_chain": "`{text}` compares twice, with `and` between, and the first answer is {unknown}",
    "truth_in": "`{text}` is {unknown}, so `in` cannot answer",
    "truth_builtin": "`{text}` asks about values that are {unknown}, so `{name}` cannot choose",
    "truth_call": "`{text}` asks whether a value is true that is {unknown}",
    "truth": "whether `{text}` is true is {unknown}",
    "index": "`{text}` needs an index that is {unknown}: a list or a tuple cannot be traced",
    "needs_number": "`{text}` needs a number that is {unknown}",
    "needs_value": "`{text}` needs a value that is {unknown}",
    "needs_integer": "`{text}` needs an integer that is {unknown}",
    "numbers": "`{text}` needs numbers that are {unknown}",
    "mask": "the size of `{text}` depends on a mask whose values are {unknown}",
    "key_in_loop": "`{key}` is used in each round of the loop: all rounds draw the same numbers",
    "key_same": "`{key}` is used twice by the same expression, which draws the same numbers again",
    "key_lines": "`{key}` is used twice, in line {first} and in line {second}",
    "key_places": "`{key}` is used twice, at {first} and at {second}",
    "function_as_array": "`{name}` is a function, `{value}`, where an array is needed",
    "text_as_array": "`{name}` is the text {value}, where an array is needed",
    "no_array": "`{name}` is of class {value}, which is neither an array nor a registered pytree",
    "length": "`{text}` has {size}",
    "lengths": "the sequences of the scan differ in length: {shown}",
}


def text_of(name: str, /, **facts: object) -> str:
    """Return the text of this name in the language of the settings, with the facts in it."""
    return in_users_language(ENGLISH[name], **facts)


def in_users_language(template: str, /, **facts: object) -> str:
    """Return an English template in the language of the settings, with the facts in it."""
    return fill(template, config.current().lang, **facts)


def localized(text: str) -> str:
    """Return a finished English text in the language of the settings, or as it is."""
    return word(text, config.current().lang)


class _Bilingual(str):
    """A text in English, and in the user's language below; `english` is the first alone."""

    english: str


def bilingual(text: str) -> str:
    """Return the text of a warning, and below it that in the language of the settings.

    The English comes first: filters of warnings compare the beginning.
    """
    worded = word_lines(text, config.current().lang)
    if worded == text:
        return text
    both = _Bilingual(f"{text}\n{worded}")
    both.english = text
    return both


def english_of(warning: Warning | str) -> str:
    """Return the text of a warning in English alone."""
    text = warning if isinstance(warning, str) else next(iter(warning.args), "")
    return getattr(text, "english", str(warning))
