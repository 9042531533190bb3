"""Read the text of an optimized HLO module."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sagax._src.primitives.unsupported import UnsupportedError


class Shape(NamedTuple):
    """The type of an array: its dtype as XLA names it, and its sizes."""

    dtype: str
    sizes: tuple[int, ...]

    @property
    def elements(self) -> int:
        return math.prod(self.sizes)

    @property
    def bytes(self) -> int:
        return -(-self.elements * bits_of(self.dtype) // 8)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.sizes))}]"


def bits_of(dtype: str) -> int:
    """Return the number of bits of an element.

    >>> bits_of("bf16"), bits_of("pred"), bits_of("f8e4m3fn")
    (16, 8, 8)
    """
    if dtype in ("pred", "token", "opaque"):
        return 8 if dtype == "pred" else 0
    found = re.match(r"[a-z]+(\d+)", dtype)
    if found is None:
        raise UnsupportedError(f"an element type {dtype!r} in a compiled program")
    return int(found[1])


@dataclass(slots=True)
class Instruction:
    """An instruction: its results (several if it is a tuple), operands by name, and attributes as text."""

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    is_tuple: bool
    operands: tuple[str, ...]
    attributes: str
    literal: str  # what stands in parentheses, for parameters and constants
    is_root: bool

    @property
    def shape(self) -> Shape:
        return self.shapes[0]

    @property
    def bytes(self) -> int:
        return sum(s.bytes for s in self.shapes)

    def attribute(self, name: str) -> str | None:
        """Return the text of an attribute, without braces around it."""
        found = re.search(rf"(?:^|, ){name}=", self.attributes)
        return None if found is None else _value_text(self.attributes, found.end())

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return an attribute that is a list of numbers."""
        return tuple([int(n) for n in re.findall(r"\d+", self.attribute(name) or "")])

    def called(self) -> list[str]:
        """Return the names of the computations that it calls, apart from reductions and conditions."""
        names = []
        for attribute in ("calls", "body", "true_computation", "false_computation"):
            if (found := self.attribute(attribute)) is not None:
                names.append(found)
        if self.opcode in ("call", "async-start"):
            names += filter(None, [self.attribute("to_apply")])
        names += (self.attribute("branch_computations") or "").split(",")
        return [n.strip().lstrip("%") for n in names if n.strip()]


@dataclass(slots=True)
class Computation:
    """A computation: its instructions by name, in order of execution."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict)
    users: dict[str, list[Instruction]] = field(default_factory=dict)

    @property
    def root(self) -> Instruction:
        return next(i for i in self.instructions.values() if i.is_root)

    def parameters(self) -> list[Instruction]:
        found = [i for i in self.instructions.values() if i.opcode == "parameter"]
        return sorted(found, key=lambda i: int(i.literal))

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions.values())


class SourceLine(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "(unknown)"


NOWHERE = SourceLine("", 0)


@dataclass
class Module:
    """A compiled module: its computations by name, and where its instructions come from."""

    computations: dict[str, Computation]
    entry: Computation
    header: str
    frames: dict[int, SourceLine]

    def source_of(self, instruction: Instruction) -> SourceLine:
        """Return the line of the user's program that an instruction comes from."""
        metadata = instruction.attribute("metadata") or ""
        if (found := re.search(r"stack_frame_id=(\d+)", metadata)) is not None:
            return self.frames.get(int(found[1]), NOWHERE)
        found = re.search(r'source_file="([^"]*)" source_line=(\d+)', metadata)
        if found is not None:
            return SourceLine(found[1], int(found[2]))
        if instruction.opcode == "fusion":
            inner = self.computations[instruction.called()[0]]
            root = inner.root
            if root.attribute("metadata"):
                return self.source_of(root)
            for other in reversed(list(inner)):
                if other.attribute("metadata"):
                    return self.source_of(other)
        return NOWHERE

    def operation_of(self, instruction: Instruction) -> str:
        """Return the name of the operation of sagax that an instruction comes from."""
        found = re.search(r'op_name="([^"]*)"', instruction.attribute("metadata") or "")
        return found[1].split(";")[0].rpartition("/")[2] if found else ""

    @property
    def aliased(self) -> dict[int, int]:
        """The donated parameters: number of the result -> number of the parameter."""
        found = re.search(r"input_output_alias=\{(.*?)\}, entry_comp", self.header)
        pairs = re.findall(r"\{(\d*)\}: \((\d+),", found[1]) if found else []
        return {int(out or 0): int(parameter) for out, parameter in pairs}


_INSTRUCTION = re.compile(r"\s+(ROOT )?%?([\w.\-]+) = (.*)")
_COMPUTATION = re.compile(r"(ENTRY )?%?([\w.\-]+) \(.*\{$")
_COMMENT = re.compile(r"/\*.*?\*/")
_SHAPE = re.compile(r"([a-z]\w*)\[([^\]]*)\]")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


def parse(text: str) -> Module:
    """Read a module."""
    computations: dict[str, Computation] = {}
    entry = current = None
    lines = text.split("\n")
    for line in lines:
        if line.startswith(("  ", "\t")):
            if current is not None and (found := _INSTRUCTION.match(line)) is not None:
                one = _instruction(found[2], found[3], bool(found[1]))
                current.instructions[one.name] = one
                for name in dict.fromkeys(one.operands):
                    current.users.setdefault(name, []).append(one)
        elif line.endswith("{") and (found := _COMPUTATION.match(line)) is not None:
            current = computations[found[2]] = Computation(found[2])
            entry = current if found[1] else entry
    if entry is None:
        raise UnsupportedError("a compiled program without an entry computation")
    return Module(computations, entry, lines[0], _frames(lines))


def _instruction(name: str, text: str, is_root: bool) -> Instruction:
    text = _COMMENT.sub("", text) if "/*" in text else text
    end = _matching(text, 0) + 1 if text.startswith("(") else text.index(" ")
    kind = text[:end]
    shapes = tuple([_shape(*found) for found in _SHAPE.findall(kind)])
    if "token[]" in kind:
        shapes = tuple([s for s in shapes if s.dtype != "token"])
    start = text.index("(", end)
    opcode = text[end:start].strip()
    close = _matching(text, start)
    inside = text[start + 1 : close]
    operands: tuple[str, ...] = ()
    if opcode not in ("parameter", "constant", "iota"):
        operands = tuple(re.findall(r"%([\w.\-]+)", inside))
    rest = text[close + 1 :].removeprefix(", ")
    return Instruction(
        name, opcode, shapes, kind.startswith("("), operands, rest, inside[:80], is_root
    )


def _shape(dtype: str, sizes: str) -> Shape:
    if "<=" in sizes or "?" in sizes:
        raise UnsupportedError(
            "an array of dynamic shape in the compiled program",
            fix="plan with sizes that are known before it runs",
        )
    return Shape(dtype, tuple([int(n) for n in sizes.split(",") if n]))


def _matching(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`; text in quotes is skipped."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        character = found[0]
        if len(character) > 1:
            continue
        depth += 1 if character in _CLOSING else -1
        if depth == 0:
            return found.start()
    raise UnsupportedError(f"brackets that do not match: {text[:80]!r}")


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}\[\]]')


def _value_text(text: str, start: int) -> str:
    if text[start : start + 1] == "{":
        return text[start + 1 : _matching(text, start)]
    depth = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[(){}\[\],]', text[start:]):
        character = found[0]
        if character == "," and depth == 0:
            return text[start : start + found.start()]
        if len(character) == 1 and character != ",":
            depth += 1 if character in _CLOSING else -1
    return text[start:]


def _frames(lines: Sequence[str]) -> dict[int, SourceLine]:
    """Read the tables of files, lines and stack frames at the top of a module."""
    tables: dict[str, dict[int, str]] = {}
    current: dict[int, str] | None = None
    for line in lines:
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            current = tables[line] = {}
        elif line.startswith(("%", "ENTRY")):
            break
        elif current is not None and (found := re.match(r"(\d+) (.*)", line)) is not None:
            current[int(found[1])] = found[2]

    def number(text: str, name: str) -> int:
        found = re.search(rf"\b{name}=(\d+)", text)
        return int(found[1]) if found else 0

    places = {
        i: SourceLine(
            tables.get("FileNames", {}).get(number(text, "file_name_id"), '""')[1:-1],
            number(text, "line"),
        )
        for i, text in tables.get("FileLocations", {}).items()
    }
    return {
        i: places.get(number(text, "file_location_id"), NOWHERE)
        for i, text in tables.get("StackFrames", {}).items()
    }
