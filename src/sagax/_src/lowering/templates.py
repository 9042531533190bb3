"""The text of an operation, written once for each signature.

What a lower rule writes follows from the parameters and the types of the operands, and a long program
applies the same operation to the same types again and again, as one layer after the other does. The second
time, what was written is kept as a template; from then on only names and the location are put in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from operator import itemgetter
from typing import Any

import numpy as np

__all__ = ["Template", "signature", "template"]

# a value; or what must not be mixed up with what `%` formatting replaces, or stands for the location
_NAME = re.compile(r"%([A-Za-z]*)(\d+)(#\d+)?|[%\0]")
_PLAIN = (int, str, type(None), np.dtype, Enum)


def signature(
    eqn: Any, operands: Sequence[Any], names: list[str], outs: Sequence[Any], depth: int
) -> tuple:
    """Equal where an operation is written in the same way, but for names and the location."""
    # rules may look at which operands are one value, and at numbers that are known
    count = len(names)
    same: Any = False
    if count == 2:  # most of them
        same = names[0] == names[1]
    elif count > 2:
        same = tuple(map(names.index, names))
    seen = [x.aval if x.splat is None else (x.aval, x.bits) for x in operands]
    return (eqn.primitive, depth, same, *seen, *outs, *eqn.params.items())


class Template:
    """What a rule wrote: its text with `%s` in the place of names and the location."""

    __slots__ = ("constants", "count", "pick", "results", "text")

    def __init__(
        self, text: str, places: list[int], count: int, constants: list, results: list
    ) -> None:
        self.text = text
        self.pick = itemgetter(*places)
        self.count = count  # of the numbers that it takes for names
        self.constants = constants  # the keys of those that it uses
        self.results = results  # number, what follows it in the name, type as it is spelled

    def write(self, b: Any, names: list[str]) -> int:
        """Write it for operands of these names: the number of its first value; 0 if a constant is missing."""
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
    """The template of what was written last: the lines from `lines` on, with numbers above `counter`.

    None where there is more to it than the text, or where it reads what is no operand and no constant.
    """
    if not all(map(_comparable, params.values())) or len(b.lines) == lines:
        return None
    text = "\n".join(b.lines[lines:]).replace(b.location, "\0")
    count = b.counter - counter
    constants: list = []
    places: list[int] = []
    strange = False

    def place(found: re.Match) -> str:
        nonlocal strange
        name, (kind, digits, more) = found[0], found.groups()
        if name == "%":
            return "%%"
        if name == "\0":
            places.append(-1)
        elif name in names:
            places.append(names.index(name))
        elif kind in ("", "a") and int(digits) > counter:
            places.append(len(names) + int(digits) - counter - 1)
            return f"%%{kind}%s{more or ''}"
        elif name in b.constant_keys:
            if b.constant_keys[name] not in constants:
                constants.append(b.constant_keys[name])
            places.append(len(names) + count + constants.index(b.constant_keys[name]))
        else:
            strange = True
        return "%s"

    text = _NAME.sub(place, text)
    made = []
    for value in results:
        name = _NAME.fullmatch(value.name)
        if name is None or name[1] or int(name[2]) <= counter or value.splat is not None:
            return None
        made.append((int(name[2]) - counter - 1, name[3] or "", value.type))
    if strange or len(places) < 2:
        return None
    return Template(text, places, count, constants, made)


def _comparable(value: Any) -> bool:
    """Whether a parameter that is equal to this one means the same: 0.0 and -0.0 are equal."""
    if isinstance(value, tuple):
        return all(map(_comparable, value))
    return isinstance(value, _PLAIN)
