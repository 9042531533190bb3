"""Define the types of options: the values that each takes, and how they are written in the environment."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any, Final

from sagax._src.frozen_class import record


@record
class Kind:
    """Define the type of an option: the values that it takes.

    `check` returns the value in its one normal form, or raises ValueError: settings are interned by
    value, so `1` and `True` must not both get in. `parse` does the same for environment text.
    """

    words: str  # completes "must be ..."
    check: Callable[[Any], Any]
    parse: Callable[[str], Any]


_TRUE: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE: Final = frozenset({"0", "false", "f", "no", "n", "off"})


def _check_flag(value: Any) -> bool:
    # numpy.bool and 0/1 are bools in all but type; `in` would let through arrays and 1.0.
    if isinstance(value, int) or type(value).__name__ in ("bool", "bool_"):
        if value == 0 or value == 1:
            return bool(value)
    raise ValueError


def _parse_flag(text: str) -> bool:
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError


def _check_int(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError
    return value.__index__()


def _check_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return float(value)


def _check_text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ValueError
    return value


_PLATFORMS: Final = frozenset({"cpu", "gpu", "cuda", "rocm", "tpu"})


def _check_device(value: Any) -> Any:
    # This module may not import the runtime's devices, so duck typing recognizes them.
    if isinstance(value, str) and value.lower() in _PLATFORMS:
        return value.lower()
    if not isinstance(value, type) and (hasattr(value, "platform") or hasattr(value, "device_set")):
        return value
    raise ValueError


def choice(*values: str) -> Kind:
    """Define an option that takes one of a few words (case does not matter)."""
    normal = {value.lower(): value for value in values}

    def check(value: Any) -> str:
        if isinstance(value, enum.Enum):
            value = value.name
        if isinstance(value, str) and value.lower() in normal:
            return normal[value.lower()]
        raise ValueError

    return Kind("one of " + ", ".join(repr(value) for value in values), check, check)


def optional(kind: Kind) -> Kind:
    """Extend an option type by None (in the environment: the word `none`)."""

    def check(value: Any) -> Any:
        return None if value is None else kind.check(value)

    def parse(text: str) -> Any:
        return None if text.lower() == "none" else kind.parse(text)

    return Kind(f"{kind.words}, or None", check, parse)


flag = Kind("True or False", _check_flag, _parse_flag)
integer = Kind("an int", _check_int, lambda text: int(text))
number = Kind("a number", _check_number, lambda text: float(text))
text = Kind("a str", _check_text, lambda text: text)
device = Kind("a device, a sharding or a platform name such as 'cpu'", _check_device, _check_device)


def _check_axes(value: Any) -> frozenset:
    if not isinstance(value, (set, frozenset)):
        raise ValueError
    return frozenset(value)


axes = Kind(
    "a set of names of mesh axes", _check_axes, lambda text: frozenset(text.split(",")) - {""}
)


class _Width(str):
    """A value of x64 besides True and False. It is false: Python numbers have 32-bit types."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return self.upper()


# 64-bit types stay where they are asked for. NumPy arrays keep theirs under EXPLICIT only: ALLOWED is what
# False means while explicit_x64_dtypes is "allow".
EXPLICIT: Final = _Width("explicit")
ALLOWED: Final = _Width("allowed")


def _check_width(value: Any) -> Any:
    if isinstance(value, str) and value.lower() == EXPLICIT:
        return EXPLICIT
    return _check_flag(value)


def _parse_width(text: str) -> Any:
    return EXPLICIT if text.lower() == EXPLICIT else _parse_flag(text)


width = Kind("True or False, or 'explicit'", _check_width, _parse_width)

# fmt: off
precision = choice(
    "default", "high", "highest", "bfloat16", "tensorfloat32", "float32",
    "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY",
    "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16",
    "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
    "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
)
# fmt: on
prng = choice("threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32")
guard = optional(choice("allow", "log", "disallow", "log_explicit", "disallow_explicit"))
level = choice("UNKNOWN", "O0", "O1", "O2", "O3")
reaction = choice("ignore", "raise")
auto, when = choice("auto", "off"), choice("auto", "always", "never")
