"""Hide the lines of a library built on sagax from tracebacks and messages.

>>> from sagax.extend import source_info_util
>>> source_info_util.register_exclusion("/opt/library/layers.py")
"""

from __future__ import annotations

from sagax._src.diagnostics import spans

__all__ = ["register_exclusion"]


def register_exclusion(path: str) -> None:
    """Hide a file: tracebacks and messages show the line that called into it.

    Args:
      path: a file; or a folder, ending with a separator.

    >>> source_info_util.register_exclusion("/opt/library/")
    """
    spans.hide(path)
