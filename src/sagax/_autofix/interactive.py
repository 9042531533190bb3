"""Implement `sagax.explain(error)`: explain a caught exception, with suggested fixes."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from sagax._autofix.candidates import read_sources, suggest_fixes
from sagax._autofix.collect_facts import collect_facts
from sagax._src.diagnostics import render
from sagax._src.diagnostics.model import Diagnostic
from sagax._src.diagnostics.spans import is_user_file


class Explained:
    """Hold an explanation: print it, display it in a notebook, or read its `diagnostic`."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return f"{self.diagnostic.error}: {render.plain(self.diagnostic)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return HTML for a notebook."""
        return render.html(self.diagnostic)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as `python -m sagax explain --json` prints it."""
        return render.as_json(self.diagnostic)


def explain(error: BaseException) -> Explained:
    """Explain an exception: its meaning, its origin, and repairs of the source as diffs.

    The repairs are not tried. `python -m sagax explain SCRIPT.py` runs the script again to try them.

    >>> try:
    ...     sagax.jit(lambda x: 1 if x > 0 else 2)(3.0)
    ... except TypeError as error:
    ...     print(sagax.explain(error).diagnostic.error)
    TracerBoolConversionError
    """
    facts = collect_facts(error)
    files = [frame.file for frame in facts.frames]
    files += [label.span.file for label in facts.diagnostic.labels]
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if isinstance(main, str):
        files.append(main)
    known = [f for f in dict.fromkeys(files) if is_user_file(f)]
    found = suggest_fixes(facts, read_sources(known))
    diagnostic = facts.diagnostic
    if found:
        diagnostic = dataclasses.replace(diagnostic, suggestions=found)
    return Explained(diagnostic)
