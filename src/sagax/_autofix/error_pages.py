"""Load the documentation pages of error codes."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from sagax._src import config
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.wording import localized

_PACKAGE = Path(__file__).resolve().parents[1]
# in an installed package, and in a checkout
_FOLDERS = (_PACKAGE / "_pages", _PACKAGE.parents[1] / "docs" / "errors")
_FOLDERS_OF = {
    "en": _FOLDERS,
    "zh": (_PACKAGE / "_pages" / "zh", _PACKAGE.parents[1] / "docs" / "zh" / "errors", *_FOLDERS),
}


def print_page(code: str) -> int:
    """Print the page of a code; return the exit status, 2 if there is none."""
    text = read_page(code)
    if text is None:
        print(localized(f"there is no page for {code}"), file=sys.stderr)
        return 2
    print(text.rstrip())
    return 0


def read_page(code: str) -> str | None:
    """Return the page of a code in the user's language; None if the code does not exist."""
    for folder in _FOLDERS_OF[config.current().lang]:
        file = folder / f"{code}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    for kind in _coded_classes():
        if kind.__dict__.get("code") == code:
            head, _, rest = (kind.__doc__ or "").partition("\n")
            text = f"# {code}: {kind.__name__}\n\n{head}\n{textwrap.dedent(rest)}"
            advice = getattr(kind, "advice", "")
            return text + (f"\nWhat to do: {advice}\n" if advice else "")
    return None


def _coded_classes() -> list[type[Exception]]:
    found: list[type[Exception]] = [getattr(cautions, name) for name in cautions.__all__]
    todo: list[type[SagaxError]] = [SagaxError]
    while todo:
        kind = todo.pop()
        found.append(kind)
        todo += kind.__subclasses__()
    return found
