"""Count the operations, the memory traffic and the collectives of the program of one device."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sagax._plan.groups import Groups, axes_of, groups_of
from sagax._plan.hlo import Computation, Instruction, Module, SourceLine, bits_of

# Opcodes of HLO. One FLOP for each element of the result:
_ARITHMETIC = frozenset(
    "abs add and atan2 ceil clamp compare divide floor maximum minimum multiply negate not or remainder "
    "round-nearest-afz round-nearest-even select shift-left shift-right-arithmetic shift-right-logical "
    "sign subtract xor".split()
)
_TRANSCENDENTAL = frozenset(
    "cbrt cosine erf exponential exponential-minus-one log log-plus-one logistic power rsqrt sine sqrt "
    "tan tanh".split()
)
# They move no data: names for parts of other buffers, or numbers known beforehand.
_FREE = frozenset(
    "add-dependency after-all bitcast constant get-tuple-element opt-barrier parameter partition-id "
    "replica-id tuple".split()
)
_COLLECTIVES = frozenset(
    "all-gather all-reduce all-to-all collective-broadcast collective-permute ragged-all-to-all "
    "reduce-scatter".split()
)
_LAYOUT_ONLY = frozenset(("bitcast", "copy", "reshape", "transpose"))
_NARROW = frozenset(("bf16", "f16"))


@dataclass(frozen=True)
class Collective:
    """A collective of the program, for one device.

    `bytes` is the size of what one run exchanges: the whole result of an all-gather, the operands of
    all others. It runs `times` times in a step, along the mesh axes `axes`, in groups of `size` devices.
    `scattered`: of an all-reduce only a part is used on each device, which compilers for accelerators turn
    into a reduce-scatter.
    """

    kind: str
    bytes: int
    axes: tuple[str, ...]
    size: int
    times: int
    source: SourceLine
    operation: str
    types: tuple[str, ...]
    name: str
    of_argument: bool
    scattered: bool
    dimensions: tuple[int, ...]  # along which an all-gather joins
    groups: Groups = field(repr=False, compare=False)

    @property
    def axis(self) -> str:
        """The mesh axes, as text."""
        return ", ".join(self.axes)

    @property
    def total_bytes(self) -> int:
        """The bytes of all runs in a step."""
        return self.bytes * self.times


@dataclass
class Event:
    """An instruction that takes time, with what one of its `times` runs costs."""

    name: str
    kind: str
    source: SourceLine
    operation: str
    times: int
    dots: Counter = field(default_factory=Counter)  # FLOPs of products and convolutions by dtype
    elementwise: int = 0
    transcendental: int = 0
    bytes: int = 0
    collective: Collective | None = None


@dataclass(frozen=True)
class Flops:
    """The floating point operations of one device in a step."""

    dot: int
    convolution: int
    elementwise: int
    transcendental: int

    @property
    def total(self) -> int:
        return self.dot + self.convolution + self.elementwise + self.transcendental

    def __float__(self) -> float:
        return float(self.total)


@dataclass
class Counts:
    """Hold the work of one device in a step."""

    events: list[Event]
    flops: Flops
    bytes: int
    collectives: list[Collective]
    unknown_loops: list[SourceLine]  # loops whose number of runs is not known; they count once
    uncounted: list[str]  # calls of libraries, whose operations are not counted


class _Walk:
    """Collect the events of a module."""

    def __init__(self, module: Module, axes: tuple[str, ...], sizes: tuple[int, ...]) -> None:
        self.module, self.axes, self.sizes = module, axes, sizes
        self.devices = 1
        for n in sizes:
            self.devices *= n
        self.events: list[Event] = []
        self.convolution = 0
        self.unknown_loops: list[SourceLine] = []
        self.uncounted: list[str] = []

    def run(self, computation: Computation, times: int) -> None:
        for one in computation:
            opcode = one.opcode
            if opcode in _FREE or opcode.endswith("-done"):
                continue
            if opcode == "while":
                trips = trip_count(one)
                if trips is None:
                    self.unknown_loops.append(self.module.source_of(one))
                body = self.module.computations[one.called()[0]]
                self.run(body, times * (1 if trips is None else trips))
            elif opcode == "conditional":
                self.run(self._costliest(one), times)
            elif opcode == "call":
                self.run(self.module.computations[one.called()[0]], times)
            elif (kind := opcode.removesuffix("-start")) in _COLLECTIVES:
                self.events.append(self._exchange(one, kind, computation, times))
            else:
                self.events.append(self._work(one, computation, times))

    def _costliest(self, one: Instruction) -> Computation:
        found = [self.module.computations[name] for name in one.called()]

        def cost(branch: Computation) -> tuple[int, int]:
            walk = _Walk(self.module, self.axes, self.sizes)
            walk.run(branch, 1)
            flops = sum(e.times * (sum(e.dots.values()) + e.elementwise) for e in walk.events)
            return flops, sum(e.times * e.bytes for e in walk.events)

        return max(found, key=cost)

    def _event(self, one: Instruction, kind: str, times: int) -> Event:
        module = self.module
        return Event(one.name, kind, module.source_of(one), module.operation_of(one), times)

    def _work(self, one: Instruction, computation: Computation, times: int) -> Event:
        event = self._event(one, one.opcode, times)
        if one.opcode == "fusion":
            inner = self.module.computations[one.called()[0]]
            for part in inner:
                self._operations(part, inner, event)
            if event.dots:
                event.dots = Counter(
                    {self._product_type(one, computation, d): n for d, n in event.dots.items()}
                )
            event.bytes = _fusion_bytes(self.module, one, inner, computation)
        else:
            self._operations(one, computation, event)
            if event.dots:
                event.dots = Counter(
                    {self._product_type(one, computation, d): n for d, n in event.dots.items()}
                )
            event.bytes = _instruction_bytes(self.module, one, computation)
        if one.opcode == "custom-call":
            self.uncounted.append(one.attribute("custom_call_target") or one.name)
        return event

    def _operations(self, one: Instruction, computation: Computation, event: Event) -> None:
        opcode = one.opcode
        if opcode in _ARITHMETIC:
            event.elementwise += one.shape.elements
        elif opcode in _TRANSCENDENTAL:
            event.transcendental += one.shape.elements
        elif opcode == "dot":
            left = computation.instructions[one.operands[0]].shape
            contracted = 1
            for i in one.numbers("lhs_contracting_dims"):
                contracted *= left.sizes[i]
            event.dots[left.dtype] += 2 * one.shape.elements * contracted
        elif opcode == "convolution":
            flops = _convolution_flops(one, computation)
            self.convolution += flops * event.times
            event.dots[computation.instructions[one.operands[0]].shape.dtype] += flops
        elif opcode in ("reduce", "reduce-window", "select-and-scatter"):
            source = computation.instructions[one.operands[0]].shape.elements
            if opcode != "reduce":
                window = re.search(r"size=([\dx]+)", one.attribute("window") or "")
                source = one.shape.elements
                for n in window[1].split("x") if window else ():
                    source *= int(n)
            event.elementwise += source * max(1, len(one.operands) // 2)
        elif opcode == "scatter":
            event.elementwise += computation.instructions[one.operands[-1]].shape.elements

    def _product_type(self, one: Instruction, computation: Computation, dtype: str) -> str:
        """Return the dtype of a product's operands, before XLA widened them for the CPU."""
        if dtype != "f32":
            return dtype
        found = {
            narrow_type(self.module, computation, name)
            for name in one.operands
            if computation.instructions[name].shape.dtype == "f32"
        }
        return found.pop() or dtype if len(found) == 1 else dtype

    def _exchange(self, one: Instruction, kind: str, computation: Computation, times: int) -> Event:
        event = self._event(one, kind, times)
        groups = groups_of(one, self.devices)
        sent = [computation.instructions[name] for name in one.operands]
        shapes = [x.shape for x in sent]
        if kind == "all-gather":
            shapes = list(one.shapes[-len(sent) :])
        elements = [
            _exchanged_type(self.module, computation, one, i, x.shape.dtype)
            for i, x in enumerate(sent)
        ]
        types = tuple([str(s._replace(dtype=d)) for s, d in zip(shapes, elements, strict=True)])
        size = sum(s.elements * bits_of(d) // 8 for s, d in zip(shapes, elements, strict=True))
        group_size = 2 if groups.pairs else groups.rows.shape[1]
        event.bytes = 2 * size
        event.collective = Collective(
            kind,
            size,
            axes_of(groups, self.axes, self.sizes),
            group_size,
            times,
            event.source,
            event.operation,
            types,
            one.name,
            all(_is_argument(self.module, computation, x) for x in sent),
            kind == "all-reduce" and _only_sliced(self.module, computation, one.name),
            one.numbers("dimensions"),
            groups,
        )
        return event


def count(module: Module, axes: tuple[str, ...], sizes: tuple[int, ...]) -> Counts:
    """Count what one device does in a step, on a mesh of these axes."""
    walk = _Walk(module, axes, sizes)
    walk.run(module.entry, 1)
    events = walk.events
    products = sum(e.times * sum(e.dots.values()) for e in events)
    flops = Flops(
        products - walk.convolution,
        walk.convolution,
        sum(e.times * e.elementwise for e in events),
        sum(e.times * e.transcendental for e in events),
    )
    traffic = sum(e.times * e.bytes for e in events)
    collectives = [e.collective for e in events if e.collective is not None]
    return Counts(events, flops, traffic, collectives, walk.unknown_loops, walk.uncounted)


def trip_count(loop: Instruction) -> int | None:
    """Return how often the body of a loop runs, if XLA knows it."""
    found = re.search(r'"known_trip_count":\{"n":"?(\d+)', loop.attributes)
    return int(found[1]) if found else None


def _convolution_flops(one: Instruction, computation: Computation) -> int:
    kernel = computation.instructions[one.operands[1]].shape
    labels = re.search(r"_([\w?]+)->", one.attribute("dim_labels") or "")
    outputs = kernel.sizes[labels[1].index("o")] if labels else 1
    return 2 * one.shape.elements * kernel.elements // max(outputs, 1)


# --- memory traffic ------------------------------------------------------------------------------


def _size(module: Module, computation: Computation, name: str) -> int:
    """Return the bytes of a value; one that is only widened counts as the narrower one."""
    one = computation.instructions[name]
    narrow = narrow_type(module, computation, name)
    if narrow is not None:
        return one.shape.elements * bits_of(narrow) // 8
    return one.bytes


def _instruction_bytes(module: Module, one: Instruction, computation: Computation) -> int:
    result = _size(module, computation, one.name)
    if one.opcode in ("dynamic-slice", "slice", "gather"):
        return 2 * result
    if one.opcode in ("dynamic-update-slice", "scatter"):
        update = one.operands[1 if one.opcode == "dynamic-update-slice" else -1]
        return (2 if one.opcode == "dynamic-update-slice" else 3) * _size(
            module, computation, update
        )
    if one.opcode in ("iota", "broadcast"):
        return result
    if one.opcode == "convert" and narrow_type(module, computation, one.name):
        return 0
    operands = dict.fromkeys(one.operands)
    return result + sum(_size(module, computation, name) for name in operands)


def _fusion_bytes(
    module: Module, one: Instruction, inner: Computation, computation: Computation
) -> int:
    """Return the bytes that a fusion reads and writes; of what it slices or updates in place, the part."""
    if narrow_type(module, computation, one.name) and len(inner.instructions) <= 3:
        return 0  # the widening itself
    total = 0
    updated: set[str] = set()
    roots = [inner.root]
    if inner.root.opcode == "tuple":
        roots = [inner.instructions[name] for name in inner.root.operands]
    for root in roots:
        source = _through_layouts(inner, root)
        if source.opcode in ("dynamic-update-slice", "scatter"):
            at = 1 if source.opcode == "dynamic-update-slice" else -1
            total += 2 * inner.instructions[source.operands[at]].bytes
            updated.add(_through_layouts(inner, inner.instructions[source.operands[0]]).name)
        elif root is inner.root:
            total += _size(module, computation, one.name)
        else:
            total += root.bytes
    for parameter, name in zip(inner.parameters(), one.operands, strict=True):
        if parameter.name in updated:
            continue
        users = inner.users.get(parameter.name, [])
        whole = _size(module, computation, name)
        if users and all(
            u.opcode in ("dynamic-slice", "slice", "gather") and u.operands[0] == parameter.name
            for u in users
        ):
            whole = min(whole, sum(u.bytes for u in users))
        total += whole
    return total


def _through_layouts(computation: Computation, one: Instruction) -> Instruction:
    while one.opcode in _LAYOUT_ONLY or one.opcode == "convert":
        one = computation.instructions[one.operands[0]]
    return one


# --- types before the CPU's compiler widened them --------------------------------------------------


def narrow_type(module: Module, computation: Computation, name: str) -> str | None:
    """Return bf16 or f16 if a value of type f32 is only a widened one of that type."""
    one: Instruction = computation.instructions[name]
    for _ in range(64):
        if not one.shapes or one.is_tuple or one.shape.dtype != "f32":
            return None
        if one.opcode in _LAYOUT_ONLY:
            one = computation.instructions[one.operands[0]]
        elif one.opcode == "convert":
            source = computation.instructions[one.operands[0]].shape.dtype
            return source if source in _NARROW else None
        elif one.opcode == "fusion":
            computation = module.computations[one.called()[0]]
            one = computation.root
        else:
            return None
    return None


def _exchanged_type(
    module: Module, computation: Computation, one: Instruction, index: int, dtype: str
) -> str:
    """Return the element type that a collective has before XLA's compiler for CPUs widens it."""
    if dtype != "f32":
        return dtype
    promoted = "promoted" in (one.attribute("to_apply") or "")
    narrowed = _narrowed_by_users(module, computation, one, index)
    widened = narrow_type(module, computation, one.operands[index])
    if promoted and (narrowed or widened or len(one.operands) == 1):
        return narrowed or widened or "bf16"
    return narrowed or dtype if widened else dtype


def _narrowed_by_users(
    module: Module, computation: Computation, one: Instruction, index: int
) -> str | None:
    """Return bf16 or f16 if everything that uses a result converts it to that type first."""
    name = one.name
    if one.is_tuple:
        parts = [
            u
            for u in computation.users.get(one.name, [])
            if u.opcode == "get-tuple-element" and u.attribute("index") == str(index)
        ]
        if len(parts) != 1:
            return None
        name = parts[0].name
    found = set(_uses_as(module, computation, name))
    return found.pop() if len(found) == 1 and found <= _NARROW else None


def _uses_as(module: Module, computation: Computation, name: str) -> Iterator[str]:
    for user in computation.users.get(name, []):
        if user.opcode == "convert":
            yield user.shape.dtype
        elif user.opcode in _LAYOUT_ONLY:
            yield from _uses_as(module, computation, user.name)
        elif user.opcode == "fusion":
            inner = module.computations[user.called()[0]]
            for parameter, operand in zip(inner.parameters(), user.operands, strict=True):
                if operand == name:
                    yield from _uses_as(module, inner, parameter.name)
        else:
            yield "f32"


def _only_sliced(module: Module, computation: Computation, name: str) -> bool:
    """Return whether all that uses a value takes a slice at a position that differs between devices."""
    users = computation.users.get(name, [])
    for user in users:
        if user.opcode == "dynamic-slice":
            if user.operands[0] != name:
                return False
        elif user.opcode in _LAYOUT_ONLY or user.opcode in ("convert", "get-tuple-element"):
            if not _only_sliced(module, computation, user.name):
                return False
        elif user.opcode == "fusion":
            inner = module.computations[user.called()[0]]
            if _through_layouts(inner, inner.root).opcode == "parameter":  # only converted
                if not _only_sliced(module, computation, user.name):
                    return False
                continue
            for parameter, operand in zip(inner.parameters(), user.operands, strict=True):
                if operand == name and not _only_sliced(module, inner, parameter.name):
                    return False
        else:
            return False
    return bool(users)


def _is_argument(module: Module, computation: Computation, one: Instruction) -> bool:
    """Return whether a value is an argument of the step, or a part of one: the slice of a layer's parameters."""
    for _ in range(64):
        if one.opcode == "parameter":
            return True
        if one.opcode in _LAYOUT_ONLY or one.opcode in (
            "convert",
            "dynamic-slice",
            "slice",
            "get-tuple-element",
        ):
            one = computation.instructions[one.operands[0]]
        elif one.opcode == "fusion":
            inner = module.computations[one.called()[0]]
            root = inner.root
            while root.opcode in _LAYOUT_ONLY or root.opcode in (
                "convert",
                "dynamic-slice",
                "slice",
                "get-tuple-element",
            ):
                root = inner.instructions[root.operands[0]]
            if root.opcode != "parameter":
                return False
            one = computation.instructions[one.operands[int(root.literal)]]
        else:
            return False
    return False
