"""Let `autojit` convert the control flow of a jitted function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import LAST_RESORT_RANK, Candidate, Case
from sagax._autofix.repairs.transform_options import applications


def use_autojit(case: Case) -> Iterator[Candidate]:
    """Replace jit by autojit, which converts `if`, `while` and `for` on traced values."""
    names = [name for name, reason in case.facts.transforms if reason == "jit"]
    for name in dict.fromkeys(reversed(names)):
        for applied in applications(case, name):
            source, node = applied.source, applied.node
            bare = not isinstance(node, ast.Call)
            function = node if bare else node.func
            if not (bare or (len(node.args) == 1 and not node.keywords)):
                continue
            if source.meaning(function) != "jax.jit":
                continue
            own = source.package == "sagax"
            text, imports = ("sagax.autojit", [source.import_line("import sagax")])
            if own:
                text, imports = source.spell("jax.autojit")
            elif any(name == "sagax" for name in source.imports):
                imports = []
            title = "let autojit convert the `if` and the loops of the function"
            if not own:
                title += " (only sagax has it)"
            edits = (source.replace(function, text), *imports)
            yield Candidate("autojit", title, edits, LAST_RESORT_RANK)
            return
