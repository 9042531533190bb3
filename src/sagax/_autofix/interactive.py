"""Implement `sagax.explain(error)`: explain a caught exception, with suggested fixes."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from sagax._autofix.candidates import suggestions_for
from sagax._autofix.collect_facts import facts_of
from sagax._src.diagnostics import render
from sagax._src.diagnostics.model import Diagnostic
from sagax._src.diagnostics.spans import is_users

__all__ = ["Explained", "explain"]


class Explained:
    """An explanation: `print` it, look at it in a notebook, or take its `diagnostic` as data."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return f"{self.diagnostic.error}: {render.plain(self.diagnostic)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return render.html(self.diagnostic)

    def as_json(self) -> dict[str, Any]:
        """The explanation as `python -m sagax explain --json` prints it."""
        return render.as_json(self.diagnostic)


def explain(error: BaseException) -> Explained:
    """What an exception means, where it comes from, and repairs of the source as diffs.

    The repairs have not been tried, which would run the program again: that is what `python -m
    sagax explain SCRIPT.py` does.

    >>> import sagax
    >>> try:
    ...     sagax.jit(lambda x: 1 if x > 0 else 2)(3.0)
    ... except TypeError as error:
    ...     print(sagax.explain(error).diagnostic.error)
    TracerBoolConversionError
    """
    facts = facts_of(error)
    files = [frame.file for frame in facts.frames]
    files += [label.span.file for label in facts.diagnostic.labels]
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if isinstance(main, str):
        files.append(main)
    known = [f for f in dict.fromkeys(files) if is_users(f)]
    found = suggestions_for(facts, known)
    diagnostic = facts.diagnostic
    if found:
        diagnostic = dataclasses.replace(diagnostic, suggestions=found)
    return Explained(diagnostic)
