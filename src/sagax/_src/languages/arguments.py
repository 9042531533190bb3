"""Parse command lines; word their help in the user's language, by the columns of a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from sagax._src.languages.choice import language_of, word
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():  # for help in other languages alone
    from sagax._src.languages import widths


def localize(text: str) -> str:
    """Return an English text in the language of the environment."""
    return word(text, language_of(os.environ))


class _Formatter(argparse.HelpFormatter):
    def _split_lines(self, text: str, width: int) -> list[str]:
        return widths.wrap(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in widths.wrap(" ".join(text.split()), width))

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, localize("usage: ") if prefix is None else prefix)


class _RawFormatter(_Formatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "".join(indent + line for line in text.splitlines(keepends=True))


class Parser(argparse.ArgumentParser):
    """Parse arguments as argparse does. In other languages than English, all texts of the help are worded.

    `raw_epilog` is printed with its line breaks.
    """

    def __init__(self, *args: Any, raw_epilog: str | None = None, **kwargs: Any) -> None:
        raw = raw_epilog is not None
        if raw:
            kwargs["epilog"] = localize(raw_epilog or "")
            kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        if language_of(os.environ) == "en":
            super().__init__(*args, **kwargs)
            return
        kwargs["formatter_class"] = _RawFormatter if raw else _Formatter
        if kwargs.get("description"):
            kwargs["description"] = localize(kwargs["description"])
        super().__init__(*args, **kwargs, add_help=False)
        self._positionals.title = localize("positional arguments")
        self._optionals.title = localize("options")
        self.add_argument(
            "-h", "--help", action="help", help=localize("show this help message and exit")
        )

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Add an argument, its help in the user's language."""
        if kwargs.get("action") == "version":
            kwargs.setdefault("help", localize("show program's version number and exit"))
        if isinstance(kwargs.get("help"), str):
            kwargs["help"] = localize(kwargs["help"])
        return super().add_argument(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Print the usage and a message in the user's language; exit with status 2."""
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}{localize(': ')}{localize('error: ')}{localize(message)}\n")
