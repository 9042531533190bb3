"""Begin functions that restore state without running signal handlers.

Python runs the handlers of signals where a Python function begins, where it jumps back, and behind a call of a C function. A
handler that raises at the first line of an `__exit__` leaves the block entered for good. A function that begins without this
check, and changes attributes before it calls anything, is done or not begun.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from opcode import opmap
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# where the operand of RESUME says that a function goes on behind `yield from`, Python does not look for signals
_WITHOUT_CHECK = 2
_KNOWN = ((3, 11), (3, 12), (3, 13))


def uninterrupted(function: F) -> F:
    """Let a function begin without running signal handlers; on other versions of Python it is as it was."""
    code = function.__code__
    changed = bytearray(code.co_code)
    if sys.version_info[:2] in _KNOWN:
        operand = 2 * changed[::2].index(opmap["RESUME"]) + 1
        assert changed[operand] == 0
        changed[operand] = _WITHOUT_CHECK
        function.__code__ = code.replace(co_code=bytes(changed))
    return function
