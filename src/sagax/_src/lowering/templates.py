"""Reuse the text of operations with the same signature.

The output of a lowering rule depends on the parameters and the operand types. A long jaxpr often repeats a
signature, as one layer after the other does. On the second use, the text is stored as a template; later
uses only fill in names and the location.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from operator import itemgetter
from typing import Any

import numpy as np

__all__ = ["Template", "signature", "template"]

# a value; or text that `%` formatting would confuse, or that stands for the location
_NAME = re.compile(r"%([A-Za-z]*)(\d+)(#\d+)?|[%\0]")
_PLAIN = (int, str, type(None), np.dtype, Enum)


def signature(
    eqn: Any, operands: Sequence[Any], names: list[str], outs: Sequence[Any], depth: int
) -> tuple:
    """Compute a key that is equal if only names and the location of the text differ."""
    # rules may depend on which operands are one value, and on constants
    count = len(names)
    same: Any = False
    if count == 2:  # the common case
        same = names[0] == names[1]
    elif count > 2:
        same = tuple(map(names.index, names))
    operand_keys = [x.aval if x.splat is None else (x.aval, x.bits) for x in operands]
    return (eqn.primitive, depth, same, *operand_keys, *outs, *eqn.params.items())


class Template:
    """Store the output of a rule: its text with `%s` for names and the location."""

    __slots__ = ("constants", "count", "pick", "results", "text")

    def __init__(
        self, text: str, slots: list[int], count: int, constants: list, results: list
    ) -> None:
        self.text = text
        self.pick = itemgetter(*slots)
        self.count = count  # the count of names that it defines
        self.constants = constants  # the keys of the constants that it uses
        self.results = results  # number, suffix of the name, MLIR type

    def write(self, b: Any, names: list[str]) -> int:
        """Write it for operands of these names; return the number of its first value, or 0 if a constant is
        missing.
        """
        first = b.counter + 1
        inside: list = [*names, *range(first, first + self.count)]
        for key in self.constants:
            found = b.constants.get(key)
            if found is None:
                return 0
            inside.append(found.name)
        inside.append(b.location)
        b.counter += self.count
        b.lines.append(self.text % self.pick(inside))
        return first


def template(
    b: Any, lines: int, counter: int, names: list[str], results: Sequence[Any], params: Mapping
) -> Template | None:
    """Return a template of the last output: the lines from `lines` on, with numbers above `counter`.

    None if the rule had further effects, or if the text uses a value that is neither operand nor constant.
    """
    if not all(map(_comparable, params.values())) or len(b.lines) == lines:
        return None
    text = "\n".join(b.lines[lines:]).replace(b.location, "\0")
    count = b.counter - counter
    constants: list = []
    slots: list[int] = []
    strange = False

    def slot(found: re.Match) -> str:
        nonlocal strange
        name, (kind, digits, more) = found[0], found.groups()
        if name == "%":
            return "%%"
        if name == "\0":
            slots.append(-1)
        elif name in names:
            slots.append(names.index(name))
        elif kind in ("", "a") and int(digits) > counter:
            slots.append(len(names) + int(digits) - counter - 1)
            return f"%%{kind}%s{more or ''}"
        elif name in b.constant_keys:
            if b.constant_keys[name] not in constants:
                constants.append(b.constant_keys[name])
            slots.append(len(names) + count + constants.index(b.constant_keys[name]))
        else:
            strange = True
        return "%s"

    text = _NAME.sub(slot, text)
    definitions = []
    for value in results:
        name = _NAME.fullmatch(value.name)
        if name is None or name[1] or int(name[2]) <= counter or value.splat is not None:
            return None
        definitions.append((int(name[2]) - counter - 1, name[3] or "", value.type))
    if strange or len(slots) < 2:
        return None
    return Template(text, slots, count, constants, definitions)


def _comparable(value: Any) -> bool:
    """Return whether equal parameters are interchangeable: 0.0 and -0.0 are equal."""
    if isinstance(value, tuple):
        return all(map(_comparable, value))
    return isinstance(value, _PLAIN)
