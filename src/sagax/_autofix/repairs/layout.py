"""Keep the comments of statements that repairs move or delete."""

from __future__ import annotations

import ast
import io
import tokenize

from sagax._autofix.repairs.source_file import Source

__all__ = ["trailing_comment"]


def trailing_comment(source: Source, statement: ast.stmt) -> str:
    """Return the comment behind a statement, on its last line; "" if there is none."""
    at = source.span(statement)
    rest = source.lines[at.end_line - 1][at.end_column or 0 :]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(rest.strip()).readline))
    except (tokenize.TokenError, SyntaxError):
        return ""
    return next((t.string for t in tokens if t.type == tokenize.COMMENT), "")
