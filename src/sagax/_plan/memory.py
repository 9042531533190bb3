"""Find what is in the memory of one device when most is: by category, with source lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sagax._plan.counts import narrow_type
from sagax._plan.hlo import NOWHERE, Computation, Instruction, Module, Shape, SourceLine, bits_of
from sagax._plan.partition import Leaf, Partitioned
from sagax._src.core.jaxpr import Jaxpr, Literal, subjaxprs

PARAMETERS = "parameters"
STATE = "optimizer state"
OTHER = "other arguments"
OUTPUTS = "outputs"
KEPT = "activations"
WORK = "temporaries"

# Operations of HLO whose results are other values' buffers.
_SAME_BUFFER = frozenset(("bitcast", "opt-barrier", "add-dependency"))


class Buffer(NamedTuple):
    """Something in memory: its name (a leaf of the arguments, or an operation) and the line it comes from."""

    category: str
    bytes: int
    type: str
    name: str
    source: SourceLine


@dataclass(frozen=True)
class Memory:
    """The memory of one device at the peak, in bytes.

    `peak` is the sum of the categories as the compiled program needs it. Compilers for CPUs widen bf16 and
    f16 to f32; `without_widening` counts such values in their own type. `xla` is XLA's own figure.
    """

    categories: dict[str, int]
    buffers: list[Buffer]
    peak: int
    without_widening: int
    xla: int

    @property
    def parameters(self) -> int:
        return self.categories.get(PARAMETERS, 0)

    @property
    def optimizer_state(self) -> int:
        return self.categories.get(STATE, 0)

    @property
    def activations(self) -> int:
        return self.categories.get(KEPT, 0)

    @property
    def temporaries(self) -> int:
        return self.categories.get(WORK, 0)

    def largest(self, count: int = 10) -> list[Buffer]:
        """Return the largest entries."""
        return sorted(self.buffers, key=lambda b: (-b.bytes, b.name))[:count]


def measure(program: Partitioned) -> Memory:
    """Find the memory of one device at the peak."""
    module = program.module
    buffers = list(_arguments(program))
    live = _Liveness(module).peak()
    stats = program.memory
    widened = 0
    for one in live:
        category = OUTPUTS if one.is_result else WORK if one.used_now else KEPT
        buffers.append(Buffer(category, one.shape.bytes, str(one.shape), one.operation, one.source))
        widened += one.shape.bytes - one.narrow_bytes
    categories: Counter[str] = Counter()
    for b in buffers:
        categories[b.category] += b.bytes
    peak = sum(categories.values())
    xla = (
        stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        - stats.alias_size_in_bytes
        + stats.temp_size_in_bytes
    )
    order = (PARAMETERS, STATE, OTHER, OUTPUTS, KEPT, WORK)
    shown = {name: categories[name] for name in order if categories[name]}
    return Memory(shown, buffers, peak, peak - widened, xla)


def _arguments(program: Partitioned) -> Iterator[Buffer]:
    parameters = program.module.entry.parameters()
    roles = argument_roles(program.jaxpr, program.leaves)
    for leaf, role, parameter in zip(program.leaves, roles, parameters, strict=False):
        yield Buffer(role, parameter.bytes, str(parameter.shape), leaf.name, NOWHERE)


# --- the roles of arguments --------------------------------------------------------------------------


def argument_roles(jaxpr: Jaxpr, leaves: Sequence[Leaf]) -> list[str]:
    """Tell parameters, state of the optimizer and other arguments apart.

    Both of the first are arguments for which the step returns new values: results of the same type. Those
    that go into matrix products, convolutions and look-ups are parameters.
    """
    results = Counter([(tuple(v.aval.shape), str(v.aval.dtype)) for v in jaxpr.outvars])
    variables = [*jaxpr.constvars, *jaxpr.invars]
    masks = {v: 1 << i for i, v in enumerate(variables)}
    multiplied = _multiplied(jaxpr, masks)[0]
    roles = []
    for i, leaf in enumerate(leaves):
        kind = (leaf.shape, leaf.dtype)
        if not leaf.shape or results[kind] <= 0:
            roles.append(OTHER)
            continue
        results[kind] -= 1
        roles.append(PARAMETERS if multiplied >> i & 1 else STATE)
    return roles


def _multiplied(jaxpr: Jaxpr, masks: dict) -> tuple[int, list[int]]:
    """Return, as bits, which inputs go into products, and for each result the inputs it depends on."""
    known = dict(masks)
    used = 0

    def mask(v: object) -> int:
        return 0 if isinstance(v, Literal) else known.get(v, 0)

    for eqn in jaxpr.eqns:
        ins = [mask(v) for v in eqn.invars]
        everything = 0
        for m in ins:
            everything |= m
        outs = [everything] * len(eqn.outvars)
        inner = subjaxprs(eqn.params)
        if len(inner) == 1 and len(inner[0].invars) == len(ins):
            body = inner[0]
            found, outs = _multiplied(body, dict(zip(body.invars, ins, strict=True)))
            used |= found
            if len(outs) != len(eqn.outvars):
                outs = [everything] * len(eqn.outvars)
        elif inner:
            used |= everything
        elif eqn.primitive.name in ("dot_general", "conv_general_dilated", "gather"):
            used |= everything
        known.update(zip(eqn.outvars, outs, strict=True))
    return used, [mask(v) for v in jaxpr.outvars]


# --- liveness ----------------------------------------------------------------------------------------


class _Live(NamedTuple):
    """A buffer that is alive at the peak."""

    shape: Shape
    narrow_bytes: int
    operation: str
    source: SourceLine
    used_now: bool
    is_result: bool


class _Buffer:
    """A buffer of a computation: of its parameters, or of one of its instructions."""

    __slots__ = ("last", "leaf", "owner", "shape")

    def __init__(self, owner: Instruction, leaf: int) -> None:
        self.owner, self.leaf, self.shape = owner, leaf, owner.shapes[leaf]
        self.last = -1


class _Liveness:
    """Follow the buffers of a module in order of execution."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.known: dict[str, list[_Live]] = {}

    def peak(self) -> list[_Live]:
        """Return what is alive at the peak, apart from arguments."""
        return self._peak(self.module.entry)

    def _peak(self, computation: Computation) -> list[_Live]:
        known = self.known.get(computation.name)
        if known is None:
            known = self.known[computation.name] = self._find_peak(computation)
        return known

    def _find_peak(self, computation: Computation) -> list[_Live]:
        values: dict[str, list[_Buffer]] = {}
        order = list(computation)
        for i, one in enumerate(order):
            values[one.name] = self._buffers(one, values)
            for name in one.operands:
                for buffer in values.get(name, ()):
                    buffer.last = max(buffer.last, i)
        # what loops carry on is in the memory of the caller, and results for donated arguments in theirs
        last = values[computation.root.name]
        results: set[int] = set()
        outside = {id(b) for b in last}
        if computation is self.module.entry:
            outside = {id(b) for i, b in enumerate(last) if i in self.module.aliased}
            results = {id(b) for b in last} - outside
            for b in last:
                b.last = len(order)
        alive: dict[int, _Buffer] = {}
        size = most = 0
        found: list[_Live] = []
        for i, one in enumerate(order):
            own = [b for b in values[one.name] if b.owner is one and one.opcode != "parameter"]
            own = [b for b in own if id(b) not in outside]
            shared = self._reused(one, own, values, alive, i)
            for b in own:
                alive[id(b)] = b
                size += b.shape.bytes
            for b in shared:
                size -= alive.pop(id(b)).shape.bytes
            inner = self._inner_peak(one)
            total = size + sum(x.shape.bytes for x in inner)
            if total > most:
                most = total
                now = {id(b) for name in one.operands for b in values[name]} | set(map(id, own))
                if one.opcode in ("while", "call", "conditional"):
                    now = set()  # what its body works on is in `inner`
                found = [
                    self._live(computation, b, id(b) in now, id(b) in results)
                    for b in alive.values()
                ] + inner
            for name in one.operands:
                for b in values[name]:
                    if b.last == i and alive.pop(id(b), None) is not None:
                        size -= b.shape.bytes
            for b in own:
                if b.last < 0 and alive.pop(id(b), None) is not None:
                    size -= b.shape.bytes
        return found

    def _buffers(self, one: Instruction, values: dict[str, list[_Buffer]]) -> list[_Buffer]:
        opcode = one.opcode
        if opcode == "tuple":
            return [b for name in one.operands for b in values[name]]
        if opcode == "get-tuple-element":
            source = values[one.operands[0]]
            index = int(one.attribute("index") or 0)
            return [source[index]] if len(one.shapes) == 1 and index < len(source) else source
        if opcode in _SAME_BUFFER or opcode == "while" or opcode.endswith("-done"):
            source = values[one.operands[0]]
            if len(source) == len(one.shapes):
                return source
        if opcode == "dynamic-update-slice":
            return values[one.operands[0]]
        if opcode == "fusion":
            inner = self.module.computations[one.called()[0]]
            root = inner.root
            while root.opcode in ("bitcast", "convert"):
                root = inner.instructions[root.operands[0]]
            if root.opcode in ("dynamic-update-slice", "scatter"):
                target = inner.instructions[root.operands[0]]
                while target.opcode in ("bitcast", "convert"):
                    target = inner.instructions[target.operands[0]]
                if target.opcode == "parameter":
                    source = values[one.operands[int(target.literal)]]
                    if len(source) == 1 and source[0].shape.bytes == one.bytes:
                        return source
        if opcode == "constant":
            return []
        return [_Buffer(one, leaf) for leaf in range(len(one.shapes))]

    def _reused(
        self, one: Instruction, own: list[_Buffer], values: dict, alive: dict, now: int
    ) -> list[_Buffer]:
        """Return the operands' buffers that the results of an elementwise operation take over."""
        elementwise = one.opcode == "fusion" and "kind=kLoop" in one.attributes
        if not elementwise and one.opcode not in ("convert", "add", "multiply", "select"):
            return []
        free = [
            b
            for name in dict.fromkeys(one.operands)
            for b in values[name]
            if b.last == now and id(b) in alive
        ]
        found = []
        for b in own:
            match = next((f for f in free if f.shape.bytes == b.shape.bytes), None)
            if match is not None:
                free.remove(match)
                found.append(match)
        return found

    def _inner_peak(self, one: Instruction) -> list[_Live]:
        if one.opcode in ("while", "call"):
            return self._peak(self.module.computations[one.called()[0]])
        if one.opcode == "conditional":
            found = [self._peak(self.module.computations[name]) for name in one.called()]
            return max(found, key=lambda live: sum(x.shape.bytes for x in live))
        return []

    def _live(self, computation: Computation, b: _Buffer, used_now: bool, is_result: bool) -> _Live:
        one = b.owner
        narrow = None
        if not one.is_tuple:
            narrow = narrow_type(self.module, computation, one.name)
        size = b.shape.elements * bits_of(narrow) // 8 if narrow else b.shape.bytes
        operation = self.module.operation_of(one) or one.opcode
        source = self.module.source_of(one)
        if source == NOWHERE:  # what the compiler added: the line of what it was made for
            users = computation.users.get(one.name, [])
            found = [x for x in map(self.module.source_of, users) if x != NOWHERE]
            source = found[0] if found else NOWHERE
        return _Live(b.shape, size, operation, source, used_now, is_result)
