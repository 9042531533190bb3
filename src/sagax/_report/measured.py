"""Measure what the operations of executables take, and find the source lines that they come from.

The profiler names operations of the optimized module. Its text says which source lines each operation, or each
part of a fusion, comes from. A fusion's time is split among its parts by their estimated work.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sagax._src import xla
from sagax._src.api.compile_log import Counter

_RUNS = 3  # of an executable that are profiled
_EVERY = 0.05  # seconds between two readings of the memory
_MAX_SAMPLES = 2000
_SLOW = frozenset(  # operations of many instructions, as cost per element
    "tanh sine cosine exponential exponential-minus-one log log-plus-one power logistic erf cbrt tan atan2 divide "
    "sqrt rsqrt sort fft rng-bit-generator".split()
)
_RUN_OTHERS = frozenset(("while", "conditional", "call", "async-start", "async-done"))
_NO_WORK = frozenset(("parameter", "constant", "tuple", "get-tuple-element", "bitcast"))


class Location(NamedTuple):
    """Locate an operation: file, line and primitive; an empty file if unknown."""

    file: str
    line: int
    primitive: str


UNKNOWN = Location("", 0, "")


class Instruction(NamedTuple):
    """An instruction of an optimized module, and the computations that it calls."""

    opcode: str
    shape: tuple[int, ...]  # of its largest result
    location: Location
    called: tuple[str, ...]
    rest: str  # its text from the operands on


class Module:
    """The instructions of an optimized module, by name, and those of each computation."""

    def __init__(self, text: str) -> None:
        head = text.partition("HloModule ")[2]
        self.name = re.split(r"[,\s]", head, maxsplit=1)[0]
        self._locations = _locations(text)
        self.instructions: dict[str, Instruction] = {}
        self.computations: dict[str, list[str]] = defaultdict(list)
        computation = ""
        for line in text.splitlines():
            if line.endswith("{") and (found := _COMPUTATION.match(line)):
                computation = found[1]
            elif found := _INSTRUCTION.match(line):
                name, shape, opcode, rest = found.groups()
                called = tuple(_CALLED.findall(rest))
                location = self._location(rest)
                if opcode == "dot":  # which has the name of a transposition that was merged into it
                    location = location._replace(primitive="dot_general")
                self.instructions[name] = Instruction(
                    opcode, _largest(shape), location, called, rest
                )
                self.computations[computation].append(name)

    def _location(self, rest: str) -> Location:
        op_name, frame = _OP_NAME.search(rest), _FRAME.search(rest)
        file, line = self._locations.get(frame[1] if frame else "", ("", 0))
        return Location(file, line, op_name[1].rpartition("/")[2] if op_name else "")

    def work(self, one: Instruction) -> float:
        """Estimate the work of one run of an instruction."""
        if one.opcode in _NO_WORK:
            return 0.0
        each = 16.0 if one.opcode in _SLOW else 1.0
        if one.opcode == "dot" and (summed := _SUMMED.search(one.rest)):
            operand = _OPERAND.search(one.rest)
            shape = self.instructions[operand[1]].shape if operand else ()
            each = 2.0 * math.prod([shape[int(i)] for i in summed[1].split(",") if i])
        return each * math.prod(one.shape)

    def shares(self, name: str, visited: frozenset[str] = frozenset()) -> dict[Location, float]:
        """Return the shares of an operation's time by the locations of its parts; they add up to 1."""
        one = self.instructions.get(name)
        if one is None:
            return {UNKNOWN: 1.0}
        found: dict[Location, float] = defaultdict(float)
        for computation in one.called:
            if computation in visited:
                continue
            for inner in self.computations.get(computation, ()):
                part = self.instructions[inner]
                work = self.work(part)
                for location, share in self.shares(inner, visited | {computation}).items():
                    if location.file:
                        found[location] += share * work
        whole = sum(found.values())
        if one.opcode in ("fusion", "call", "while") and whole:
            return {location: w / whole for location, w in found.items()}
        return {one.location: 1.0}


_COMPUTATION = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
_CALLED = re.compile(r"(?:calls|to_apply|body|condition)=%?([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_SUMMED = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")
_OPERAND = re.compile(r"%([\w.\-]+)")
_SHAPE = re.compile(r"\w+\[([\d,]*)\]")


def _largest(shapes: str) -> tuple[int, ...]:
    found = [tuple(map(int, filter(None, s.split(",")))) for s in _SHAPE.findall(shapes)]
    return max(found, key=math.prod, default=())


def _locations(text: str) -> dict[str, tuple[str, int]]:
    """Read the tables before the computations: file and line of each stack frame."""
    tables: dict[str, dict[str, str]] = defaultdict(dict)
    title = ""
    for line in text.splitlines():
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            title = line
        elif title and line[:1].isdigit():
            number, _, rest = line.partition(" ")
            tables[title][number] = rest
        elif line.startswith(("%", "ENTRY")):
            break
    locations = {}
    for number, rest in tables["FileLocations"].items():
        facts = dict(re.findall(r"(\w+)=(\d+)", rest))
        file = tables["FileNames"].get(facts.get("file_name_id", ""), '""')
        locations[number] = (file.strip('"'), int(facts.get("line", 0)))
    return {
        number: locations.get(
            dict(re.findall(r"(\w+)=(\d+)", rest)).get("file_location_id", ""), ("", 0)
        )
        for number, rest in tables["StackFrames"].items()
    }


class Profile:
    """Seconds of the operations of one executable, over some of its runs."""

    def __init__(self, executable: Any) -> None:
        self.executable = executable
        self.runs = 0
        self.seconds: dict[str, float] = defaultdict(float)

    def by_location(self) -> dict[Location, float]:
        """Return the seconds of one run by the locations that the operations come from."""
        module = Module(self.executable.hlo_text())
        found: dict[Location, float] = defaultdict(float)
        for name, seconds in self.seconds.items():
            for location, share in module.shares(name).items():
                found[location] += share * seconds / max(self.runs, 1)
        return found


def own_seconds(
    events: Sequence[tuple[int, str, str, float, float]], module: Module
) -> dict[str, float]:
    """Return the seconds of each operation of a module, without those of operations within it.

    Loops and calls whose operations were recorded have no time of their own.
    """
    found: dict[str, float] = defaultdict(float)
    around: list[tuple[float, str, int]] = []  # end, operation, thread
    for thread, where, name, start, duration in sorted(events, key=lambda e: (e[0], e[3], -e[4])):
        if where != module.name:
            continue
        while around and (around[-1][0] <= start or around[-1][2] != thread):
            around.pop()
        if around:
            found[around[-1][1]] -= duration
        found[name] += duration
        around.append((start + duration, name, thread))
    inner = {
        name
        for name in found
        if (one := module.instructions.get(name)) is not None
        and one.opcode in _RUN_OTHERS
        and any(_holds(module, c, found) for c in one.called)
    }
    return {n: s / 1e9 for n, s in found.items() if s > 0 and n not in inner}


def _holds(module: Module, computation: str, recorded: Any) -> bool:
    return any(name in recorded for name in module.computations.get(computation, ()))


class Recorder:
    """Profile the first runs of each executable, and read the memory of the process in between."""

    def __init__(self) -> None:
        self.profiles: dict[int, Profile] = {}  # of the last executable of each counter, by its id
        self.memory: list[tuple[float, float]] = []  # seconds since the start, bytes
        self._busy = threading.Lock()
        self._start = time.perf_counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_memory, name="sagax report", daemon=True)

    @contextlib.contextmanager
    def run(self, counter: Counter, executable: Any) -> Iterator[None]:
        """Profile a run of an executable, if it is one of its first ones and no other profile is recorded."""
        profile = self.profiles.get(id(counter))
        if profile is None or profile.executable is not executable:
            profile = self.profiles[id(counter)] = Profile(executable)
        if profile.runs >= _RUNS or not self._busy.acquire(blocking=False):
            yield
            return
        try:
            session = _session()
            try:
                yield
            finally:
                recorded = session.stop() if session is not None else None
            if recorded is not None:
                module = Module(executable.hlo_text())
                for name, s in own_seconds(xla.profiler.operation_events(recorded), module).items():
                    profile.seconds[name] += s
                profile.runs += 1
        finally:
            self._busy.release()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _read_memory(self) -> None:
        every = _EVERY
        while True:
            size = resident_bytes()
            if size is None:
                return
            self.memory.append((time.perf_counter() - self._start, size))
            if len(self.memory) > _MAX_SAMPLES:  # half as many, half as often
                self.memory[:] = self.memory[::2]
                every *= 2
            if self._ended.wait(every):
                return


def _session() -> Any:
    """Start a profile of operations only; None if the script records one itself."""
    options = xla.profiler.ProfileOptions()
    options.python_tracer_level = 0
    try:
        return xla.profiler.start_session(options)
    except xla.EngineError:
        return None


def resident_bytes() -> float | None:
    """Return the memory of this process, or None where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
