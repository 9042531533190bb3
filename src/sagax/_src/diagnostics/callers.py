"""Find the sagax function that a user called, and the argument that a wrong operand is.

The search runs only on errors, so that calls pay nothing for it.
"""

from __future__ import annotations

import inspect
from types import FrameType
from typing import Any, cast

# The functions of this package are operations, with operands by name.
_OPERATIONS = "sagax._src.primitives."


def find_operand_argument(value: object) -> dict[str, Any]:
    """Return facts for a message: the operation that the user called, and the argument `value`.

    They are empty if the user called something else, such as a transformation.
    """
    frame = inspect.currentframe()
    if frame is None:  # an interpreter without frames
        return {}
    while frame.f_back is not None and _is_sagax_frame(frame.f_back):
        frame = frame.f_back
    code = frame.f_code
    if not frame.f_globals.get("__name__", "").startswith(_OPERATIONS) or code.co_name[0] in "_<":
        return {}
    # a nested function does not bear the public name
    facts: dict[str, Any] = {} if "<locals>" in code.co_qualname else {"function": code.co_name}
    argument = _argument_path(frame, value)
    if argument is not None:
        facts["argument"] = argument
    return facts


def _is_sagax_frame(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name == "sagax" or name.startswith("sagax.")


def _argument_path(frame: FrameType, value: object) -> str | None:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04)  # *args
    for name in code.co_varnames[:count]:
        given = frame.f_locals.get(name)
        if given is value:
            return name
        if isinstance(given, (tuple, list)):
            for i, item in enumerate(cast("list[Any]", given)):
                if item is value:
                    return f"{name}[{i}]"
    return None
