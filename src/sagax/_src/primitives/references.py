"""Create, read, write and free references, also through views of a part.

A reference with a value (see core/references.py) is read and written at once, by operations on that
value. Otherwise the operation becomes an equation, as in `a[0] <- b`. Before a jaxpr is lowered,
`higher_order/discharge.py` runs it with references that have values, so that none of these primitives
is left. Their rules are therefore only those for references outside of a transformed function.
"""

from __future__ import annotations

import abc
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, dtype_predicates, dtypes, references
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import WHOLE, Default
from sagax._src.core.primitive import Primitive
from sagax._src.core.references import NO_GRAD, AbstractRef, Ref
from sagax._src.core.staging import stage
from sagax._src.core.trace import Trace, Tracer, evaluation, leaked, state
from sagax._src.core.value import Array, aval_of, is_operand, not_an_array, sockets
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    NonConcreteBooleanIndexError,
)
from sagax._src.diagnostics.provenance import input_paths
from sagax._src.frozen_class import record
from sagax._src.primitives.identities import stop_gradient
from sagax._src.primitives.slicing import dynamic_slice, dynamic_update_slice
from sagax._src.primitives.slicing import slice as slice_static
from sagax._src.primitives.structural import convert, reshape, transpose, zeros_of

# Views ---------------------------------------------------------------------------------------------

# Views are described by transforms, applied in order: a static part, and operands for what is traced.
# Each reads its part of a value, and writes it back.


class _Operand:
    """The mark of an operand within a static description."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "operand"


OPERAND = _Operand()


@record
class Window:
    """A slice whose start is an operand."""

    size: int
    stride: int


@record
class Index:
    """Select elements; each entry is an int, (start, stop, step), a `Window`, or an operand."""

    entries: tuple

    def _index(self, operands: Iterator[Any]) -> tuple:
        return tuple([_entry(e, operands) for e in self.entries])

    def read(self, value: Any, operands: Iterator[Any]) -> Any:
        return as_array(value)[self._index(operands)]

    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return as_array(value).at[self._index(operands)].set(part)

    def add(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return as_array(value).at[self._index(operands)].add(part)

    def text(self, operands: Iterator[str], sizes: Sequence[Any]) -> str:
        return ",".join(
            [_entry_text(e, operands, n) for e, n in zip(self.entries, sizes, strict=True)]
        )


@record
class BlockIndex(Index):
    """Select elements of a kernel's block: windows out of bounds are moved inside, also when written."""

    def shape(self, operands: Sequence[Any]) -> tuple | None:
        """Return the shape of the selected part; None where arrays of indices select elements."""
        given = iter(operands)
        sizes: list[Any] = []
        for e in self.entries:
            if type(e) is tuple:
                sizes.append(len(range(*e)))
            elif type(e) is Window:
                next(given)
                sizes.append(e.size)
            elif e is OPERAND and getattr(next(given), "shape", ()) != ():
                return None
        return tuple(sizes)

    def _window(self, value: Any, operands: Iterator[Any]) -> tuple[list, list, list] | None:
        """Return starts, sizes and strides of a window; None if arrays of indices select elements."""
        starts, sizes, strides = [], [], []
        for e, n in zip(self.entries, aval_of(value).shape, strict=True):
            start, size, stride = e, 1, 1
            if type(e) is tuple:
                start, size, stride = e[0], len(range(*e)), e[2]
                if stride < 0 or (dims.is_dim(n) and e != (0, n, 1)):
                    return None
            elif type(e) is Window:
                start, size, stride = next(operands), e.size, e.stride
            elif e is OPERAND:
                start = next(operands)
                if aval_of(start).shape != ():
                    return None
            starts.append(start)
            sizes.append(size)
            strides.append(stride)
        return starts, sizes, strides

    def _own(self, operands: Iterator[Any]) -> list:
        """Take the operands of the entries; others belong to what is applied after."""
        return list(itertools.islice(operands, sum(map(_count, self.entries))))

    def read(self, value: Any, operands: Iterator[Any]) -> Any:
        value, given = as_array(value), self._own(operands)
        found = self._window(value, iter(given))
        if found is None:
            return value.at[self._index(iter(given))].get(mode="clip")
        starts, sizes, strides = found
        spans = [(n - 1) * step + 1 if n else 0 for n, step in zip(sizes, strides, strict=True)]
        part = _sliced(value, starts, spans)
        if any(step != 1 for step in strides):
            part = slice_static(part, [0] * len(spans), spans, strides)
        kept = [n for n, e in zip(sizes, self.entries, strict=True) if type(e) in (tuple, Window)]
        return reshape(part, tuple(kept))

    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        value, given = as_array(value), self._own(operands)
        found = self._window(value, iter(given))
        if found is None or any(step != 1 for step in found[2]):
            return value.at[self._index(iter(given))].set(part)
        starts, sizes, _ = found
        part = reshape(part, tuple(sizes))
        if tuple(sizes) == tuple(aval_of(value).shape):
            return part
        starts = [convert(s, np.dtype(np.int32)) for s in starts]
        return dynamic_update_slice(value, part, starts, allow_negative_indices=False)

    def add(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        given = self._own(operands)
        if self._window(value, iter(given)) is None:
            return as_array(value).at[self._index(iter(given))].add(part)
        before = self.read(value, iter(given))
        return self.write(value, before + part, iter(given))


def _sliced(value: Any, starts: list, sizes: list) -> Any:
    """Return a window of `value`, moved inside of it if it lies outside."""
    shape = aval_of(value).shape
    if tuple(sizes) == tuple(shape):
        return value
    if all(
        type(s) is int and 0 <= s and s + n <= size
        for s, n, size in zip(starts, sizes, shape, strict=True)
    ):
        return slice_static(value, starts, [s + n for s, n in zip(starts, sizes, strict=True)])
    starts = [convert(s, np.dtype(np.int32)) for s in starts]
    return dynamic_slice(value, starts, sizes, allow_negative_indices=False)


def _entry(entry: Any, operands: Iterator[Any]) -> Any:
    if type(entry) is tuple:
        start, stop, step = entry
        return slice(start, None if stop < 0 else stop, step)
    if type(entry) is Window:
        return sockets.window(next(operands), entry.size, entry.stride)
    return next(operands) if entry is OPERAND else entry


def _entry_text(entry: Any, operands: Iterator[str], size: Any) -> str:
    if type(entry) is tuple:
        start, stop, step = entry
        ends = f"{start or ''}:{'' if stop == size or stop < 0 else stop}"
        return ends if step == 1 else f"{ends}:{step}"
    if type(entry) is Window:
        start = next(operands)
        return f"{start}:{start}+{entry.size}" + (f":{entry.stride}" if entry.stride != 1 else "")
    return next(operands) if entry is OPERAND else str(entry)


class _Whole(abc.ABC):
    """Base of the transforms that keep all elements."""

    __slots__ = ()

    def add(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return as_array(value) + self.write(value, part, operands)

    @abc.abstractmethod
    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any: ...


@record
class Reshape(_Whole):
    """See the elements in another shape."""

    shape: tuple

    def read(self, value: Any, operands: Iterator[Any]) -> Any:
        return reshape(as_array(value), self.shape)

    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return reshape(part, aval_of(value).shape)

    def text(self, operands: Iterator[str], sizes: Sequence[Any]) -> str:
        return f"reshape({','.join(map(str, self.shape))})"


@record
class Transpose(_Whole):
    """See the dimensions in another order."""

    permutation: tuple

    def read(self, value: Any, operands: Iterator[Any]) -> Any:
        return transpose(as_array(value), self.permutation)

    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return transpose(part, tuple(np.argsort(self.permutation).tolist()))

    def text(self, operands: Iterator[str], sizes: Sequence[Any]) -> str:
        return f"transpose({','.join(map(str, self.permutation))})"


@record
class Bitcast:
    """See the bytes as another dtype of the same width."""

    dtype: Any

    def read(self, value: Any, operands: Iterator[Any]) -> Any:
        return as_array(value).view(self.dtype)

    def write(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return part.view(aval_of(value).dtype)

    def add(self, value: Any, part: Any, operands: Iterator[Any]) -> Any:
        return self.write(value, self.read(value, operands) + part, operands)

    def text(self, operands: Iterator[str], sizes: Sequence[Any]) -> str:
        return f"bitcast({dtypes.short_name(self.dtype)})"


def as_array(x: Any) -> Any:
    """Convert contents, which may be a scalar of NumPy, to an array."""
    return x if isinstance(x, Array) else convert(x, aval_of(x).dtype)


def read_part(value: Any, transforms: Sequence[Any], operands: Sequence[Any]) -> Any:
    """Return the part of `value` that the transforms describe."""
    given = iter(operands)
    for t in transforms:
        value = t.read(value, given)
    return value


def write_part(
    value: Any, part: Any, transforms: Sequence[Any], operands: Sequence[Any], *, add: bool = False
) -> Any:
    """Return `value` with the part that the transforms describe replaced by `part`, or added to."""
    if not transforms:
        return as_array(value) + part if add else part
    first, *rest = transforms
    n = sum(map(_count, first.entries)) if isinstance(first, Index) else 0
    own, others = operands[:n], operands[n:]
    if not rest:
        return (first.add if add else first.write)(value, part, iter(own))
    inner = write_part(first.read(value, iter(own)), part, rest, others, add=add)
    return first.write(value, inner, iter(own))


def _count(entry: Any) -> int:
    return entry is OPERAND or type(entry) is Window


class RefView:
    """A part of a reference, `ref.at[index]`: reads and writes select the elements of that part."""

    __slots__ = ("_operands", "_ref", "_transforms", "aval")

    def __init__(self, ref: Ref, transforms: tuple, operands: tuple) -> None:
        self._ref, self._transforms, self._operands = ref, transforms, operands
        part = _part_aval(ref.aval, transforms, operands)
        self.aval = AbstractRef(part, ref.aval.memory_space, ref.aval.kind)

    ref = property(lambda self: self._ref)
    transforms = property(lambda self: self._transforms)
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)

    def __repr__(self) -> str:
        given = iter(["?"] * len(self._operands))
        return f"{self._ref!r}{_transforms_text(self._transforms, given, self._ref.shape)}"

    def __len__(self) -> int:
        return len(self.aval.inner_aval)


def _part_aval(aval: AbstractRef, transforms: tuple, operands: Sequence[Any]) -> Any:
    """Return the type of the part of a reference that the transforms describe."""
    if not transforms:
        return aval.inner_aval
    if len(transforms) == 1 and type(transforms[0]) is BlockIndex:
        shape = transforms[0].shape(operands)
        if shape is not None:
            return ShapedArray(shape, aval.dtype)
    ins = [aval.inner_aval, *map(aval_of, operands)]
    jaxpr, _ = stage(lambda value, *given: [read_part(value, transforms, given)], ins)
    return jaxpr.out_avals[0].strip_weak_type()


def _transforms_text(transforms: tuple, operands: Iterator[str], sizes: Sequence[Any]) -> str:
    if not transforms:
        return "[...]"
    texts = []
    for t in transforms:
        inner = t.text(operands, sizes)
        texts.append(f"[{inner}]" if isinstance(t, Index) else f"{{{inner}}}")
        sizes = [-1] * 64  # of parts, which are not printed
    return "".join(texts)


class _At:
    """The property `at` of references: `ref.at[index]` is a view."""

    __slots__ = ("_view",)

    def __init__(self, view: Any) -> None:
        self._view = view

    def __getitem__(self, index: Any) -> RefView:
        return RefView(*_located(self._view, index, "ref.at"))


# Indices ------------------------------------------------------------------------------------------


def _located(ref: Any, index: Any, function: str) -> tuple[Ref, tuple, tuple]:
    """Return the reference behind a view, and the transforms and operands that select `index` of it."""
    if type(ref) is RefView:
        base, transforms, operands = ref._ref, ref._transforms, ref._operands
    elif type(ref) is Ref:
        base, transforms, operands = ref, (), ()
    else:
        raise _no_reference(ref, function)
    found = _parsed(index, ref.shape, function)
    if found is not None:
        part, more = found
        if getattr(base.aval.memory_space, "holds_blocks", False):
            part = BlockIndex(part.entries)
        transforms, operands = (*transforms, part), (*operands, *more)
    return base, transforms, operands


def _no_reference(x: Any, function: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"{function} takes a reference",
        function=function,
        argument="ref",
        got=x if is_operand(x) else f"a value of type {type(x).__name__}",
        expected="a reference, made by sagax.new_ref",
    )


def _parsed(index: Any, shape: tuple, function: str) -> tuple[Index, list] | None:
    """Return the static part of an index and its operands; None: all elements."""
    if index is None or index is Ellipsis:
        return None
    index = index if isinstance(index, tuple) else (index,)
    if all(i is Ellipsis for i in index):
        return None
    parts = [i for one in index for i in _without_masks(one)]
    dots = [k for k, i in enumerate(parts) if i is Ellipsis]
    missing = len(shape) - len(parts) + len(dots)
    if len(dots) > 1 or missing < 0:
        raise ArgumentValueError(
            f"too many indices for a reference of {len(shape)} dimensions",
            function=function,
            argument="index",
            got=f"{len(parts)} entries",
            expected=f"at most {len(shape)}, and at most one `...`",
        )
    at = dots[0] if dots else len(parts)
    full = [*parts[:at], *[slice(None)] * missing, *parts[at + bool(dots) :]]
    entries, operands = [], []
    for axis, (i, size) in enumerate(zip(full, shape, strict=True)):
        entries.append(_parsed_entry(i, size, axis, operands, function))
    return Index(tuple(entries)), operands


def _without_masks(i: Any) -> Sequence[Any]:
    """Replace a boolean mask by the indices that it selects."""
    if isinstance(i, list):
        i = np.asarray(i)
    if not hasattr(i, "dtype") or i.dtype != np.bool_:
        return (i,)
    if isinstance(i, Tracer) and i.concrete() is None:
        raise NonConcreteBooleanIndexError(i)
    return np.nonzero(np.asarray(i))


def _parsed_entry(i: Any, size: Any, axis: int, operands: list, function: str) -> Any:
    where = f"the index along dimension {axis}"
    if isinstance(i, slice):
        if dims.is_dim(size):
            if i == slice(None):
                return (0, size, 1)
            raise ArgumentValueError(
                function=function, argument=where, got=i, expected="`:` along a symbolic size"
            )
        return i.indices(size)
    if sockets.is_window(i):
        # a view may be read with a mask
        if function != "ref.at" and type(i.start) is type(size) is type(i.size) is int and i.size:
            last = i.start + (i.size - 1) * i.stride
            if not 0 <= i.start <= last < size:
                raise ArgumentValueError(
                    f"Out of bound slice: start={i.start}, size={i.size}, stride={i.stride}, dim={size}",
                    function=function,
                    argument=where,
                    expected=f"elements from 0 to {size - 1}",
                )
        operands.append(i.start)
        return Window(i.size, i.stride)
    if isinstance(i, (Array, np.ndarray)) or hasattr(i, "__jax_array__"):
        if not dtype_predicates.is_integer(aval_of(i).dtype):
            raise ArgumentError(function=function, argument=where, got=i, expected="integers")
        operands.append(i)
        return OPERAND
    try:
        n = operator.index(i)
    except TypeError:
        raise ArgumentError(
            function=function,
            argument=where,
            got=i if is_operand(i) else f"a value of type {type(i).__name__}",
            expected="an int, a slice, an array of integers, or `...`",
        ) from None
    if not dims.is_dim(size) and not -size <= n < size:
        raise ArgumentValueError(
            f"Out of bound indexer: idx={n}, dim={size}",
            function=function,
            argument=where,
            got=n,
            expected=f"an index from {-size} to {size - 1}",
        )
    return n + size if n < 0 else n


# Operations --------------------------------------------------------------------------------------


class ReferencePrimitive(Primitive):
    """An operation on a reference, its first operand."""

    __slots__ = ("apply_rule", "text")

    @property
    def takes_references(self) -> bool:
        return True

    def bind(self, ref: Any, *args: Any, **params: Any) -> Any:
        """Apply the operation to the contents, or record an equation."""
        if type(ref) is not Ref:
            raise _no_reference(ref, self.name)
        if ref._frozen is not None and (ref._frozen == "free_ref" or self in _WRITES):
            raise ArgumentValueError(
                f"a reference is used after {ref._frozen} ended its use",
                function=self.name,
                got=repr(ref.aval),
                fix=f"do it before {ref._frozen}, or create another with sagax.new_ref",
            )
        recorded = is_recorded(ref)
        if recorded or ref._var is not None:
            return super().bind(ref, *args, **params)
        return self.apply_rule(ref, *args, **params)


class NewReferencePrimitive(Primitive):
    """The creation of a reference, which belongs to the current trace."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        """Create a reference with a value, or record an equation."""
        trace: Any = state.trace
        if trace.records:
            return super().bind(*args, **params)
        (value,) = args
        aval = self.abstract_eval((aval_of(value),), params)
        ref = Ref(aval, None if trace is evaluation else trace)
        _put(ref, stop_gradient(value) if aval.kind == NO_GRAD else value)
        return ref


def is_recorded(ref: Ref) -> bool:
    """Return whether operations on `ref` become equations here: a trace inside of its own records."""
    owner = ref._trace or evaluation
    trace: Any = state.trace
    recorded = False
    while trace is not owner:
        if trace is None:
            raise leaked(ref)
        recorded = recorded or trace.records
        trace = trace.parent
    return recorded


REFERENCES = WHOLE.but(
    "creates, reads or writes a reference",
    shard_rule=Default("the type of the reference holds the sharding of its contents"),
    check_rule=Default("the values that it moves are checked where they are computed"),
    key_rule=Default("keys are followed through values, not through references"),
    discharge_rule=Default("it is applied to the contents"),
)


def _primitive(name: str, effect: Any, **options: Any) -> ReferencePrimitive:
    p = ReferencePrimitive(name, family=REFERENCES, is_higher_order=True, **options)
    p.effects_rule = lambda **_: frozenset({effect})
    return p


new_ref_p = NewReferencePrimitive("new_ref", family=REFERENCES, is_higher_order=True)
new_ref_p.effects_rule = lambda **_: frozenset({references.CREATE})
get_p = _primitive("get", references.READ)
swap_p = _primitive("swap", references.WRITE)
addupdate_p = _primitive("addupdate", references.ACCUMULATE, multiple_results=True)
freeze_p = _primitive("freeze", references.CREATE)
free_ref_p = _primitive("free_ref", references.CREATE, multiple_results=True)


_WRITES = (swap_p, addupdate_p)


@new_ref_p.abstract
def _(value: Any, *, kind: Any, memory_space: Any, pin: bool) -> AbstractRef:
    return AbstractRef(value.strip_weak_type(), memory_space, kind)


@new_ref_p.stage
def _(trace: Any, args: Sequence[Any], params: dict) -> Ref:
    made = trace.record(new_ref_p, args, params)
    return Ref(made.aval, trace, var=made._var)


@get_p.abstract
def _(ref: Any, *operands: Any, transforms: tuple) -> Any:
    if len(transforms) == 1 and type(transforms[0]) is BlockIndex:
        shape = transforms[0].shape(operands)
        if shape is not None:
            return ShapedArray(shape, ref.dtype)
    ins = [ref.inner_aval, *operands]
    return stage(lambda value, *given: [read_part(value, transforms, given)], ins)[0].out_avals[0]


@swap_p.abstract
def _(ref: Any, value: Any, *operands: Any, transforms: tuple) -> Any:
    return get_p.abstract_eval((ref, *operands), {"transforms": transforms})


@addupdate_p.abstract
def _(ref: Any, value: Any, *operands: Any, transforms: tuple) -> list:
    return []


@freeze_p.abstract
def _(ref: Any) -> Any:
    return ref.inner_aval


@free_ref_p.abstract
def _(ref: Any) -> list:
    return []


# The contents are those of the trace that the reference belongs to. An operation runs under the current
# trace, which may be inside of it: a write of a value that only exists there is refused.


def _put(ref: Ref, value: Any) -> None:
    """Let `value` be the contents of `ref`."""
    owner = ref._trace or evaluation
    if isinstance(value, Tracer) and not value._trace.encloses(owner):
        raise _beyond(ref.aval, value._trace)
    if aval_of(value).weak_type:
        value = convert(value, ref.dtype)
    ref._value = value if ref._trace is not None else as_array(value)
    ref._shared = True


def _beyond(aval: Any, trace: Trace) -> ArgumentError:
    """Return the error for a write of a value that exists within `trace` only."""
    adjective, transform = trace.described_as or ("traced", "transformed")
    return ArgumentError(
        f"a value that is {adjective} cannot be written to a reference from outside of the {transform} "
        f"function, of type {aval!r}",
        function="ref[...] = x",
        fix=f"pass the reference as an argument of the {transform} function"
        if transform == "mapped"
        else "write sagax.lax.stop_gradient(x), or create the reference inside of the function",
    )


def refuse_differing_writes(written: Sequence[bool], avals: Sequence[Any], function: str) -> None:
    """Raise if references from outside of a mapped function are written where examples run differently."""
    for mine, aval in zip(written, avals, strict=True):
        if mine:
            raise ArgumentError(
                f"a reference from outside of the mapped function, of type {aval!r}, cannot be written where "
                "examples run different branches, or different numbers of iterations",
                function=function,
                fix="pass the reference as an argument of the mapped function",
            )


def apply_get(ref: Ref, *operands: Any, transforms: tuple) -> Any:
    if not transforms and ref._trace is None:
        ref._shared = True
    return read_part(ref._value, transforms, operands)


def _in_place(ref: Ref, value: Any) -> bool:
    """Return whether a write to a part takes over the memory of the contents, instead of copying all of them."""
    if ref._trace is not None or state.trace is not evaluation:
        return False
    return ref.aval.size >= max(tuning.IN_PLACE_MIN_ELEMENTS, aval_of(value).size + 1)


def apply_swap(ref: Ref, value: Any, *operands: Any, transforms: tuple) -> Any:
    if _in_place(ref, value):
        return sockets.write_in_place(ref, value, operands, transforms, False)
    before = ref._value
    _put(ref, write_part(before, value, transforms, operands))
    return read_part(before, transforms, operands)


def apply_addupdate(ref: Ref, value: Any, *operands: Any, transforms: tuple) -> list:
    if _in_place(ref, value):
        sockets.write_in_place(ref, value, operands, transforms, True)
        return []
    _put(ref, write_part(ref._value, value, transforms, operands, add=True))
    return []


def apply_freeze(ref: Ref) -> Any:
    ref._shared = True
    return ref._value


def apply_free(ref: Ref) -> list:
    return []


get_p.apply_rule = apply_get
swap_p.apply_rule = apply_swap
addupdate_p.apply_rule = apply_addupdate
freeze_p.apply_rule = apply_freeze
free_ref_p.apply_rule = apply_free


# Rules for references that are variables of an outer jaxpr: a transformation in between may map an index,
# and must not write a value of its own.


@get_p.composite
def _(ref: Any, *operands: Any, transforms: tuple) -> Any:
    return read_part(get_p.bind(ref, transforms=()), transforms, operands)


def _refuse_write(ref: Any, *operands: Any, **_: Any) -> Any:
    inner = next(x._trace for x in operands if isinstance(x, Tracer) and x._trace is state.trace)
    raise _beyond(ref.aval, inner)


swap_p.composite_rule = addupdate_p.composite_rule = _refuse_write


# Printing, as jax prints them ----------------------------------------------------------------------


def _target(eqn: Any, names: Any, first: int) -> str:
    ref, *_ = eqn.invars
    operands = iter([names.var(v) for v in eqn.invars[first:]])
    return names.var(ref) + _transforms_text(eqn.params["transforms"], operands, ref.aval.shape)


def _get_text(eqn: Any, outs: str, used: bool, names: Any) -> str:
    return f"{outs} <- {_target(eqn, names, 1)}"


def _swap_text(eqn: Any, outs: str, used: bool, names: Any) -> str:
    target, value = _target(eqn, names, 2), names.var(eqn.invars[1])
    return f"{outs}, {target} <- {target}, {value}" if used else f"{target} <- {value}"


def _add_text(eqn: Any, outs: str, used: bool, names: Any) -> str:
    return f"{_target(eqn, names, 2)} += {names.var(eqn.invars[1])}"


get_p.text, swap_p.text, addupdate_p.text = _get_text, _swap_text, _add_text


# Public -------------------------------------------------------------------------------------------


def new_ref(
    init_val: Any, *, memory_space: Any = None, kind: str | None = None, pin: bool = False
) -> Ref:
    """Create a mutable array with the contents `init_val`.

    Read it with `ref[...]` or `ref[index]`, and write `ref[...] = x`. Inside of `jit` and control flow,
    reads and writes keep the order in which the function runs them.

    Args:
      init_val: an array or number; it is not changed by writes.
      kind: None, or "no_grad_no_remat": written values lose their derivatives.
      memory_space, pin: accepted as in jax, and without effect on results.

    Raises:
      TypeError: `init_val` is no array.

    >>> ref = sagax.new_ref(snp.arange(3))
    >>> ref[0] = 10
    >>> ref
    Ref([10,  1,  2], dtype=int32)
    """
    if type(init_val) in (Ref, RefView):
        raise ArgumentError(
            "a reference cannot hold another reference",
            function="new_ref",
            argument="init_val",
            got=repr(init_val.aval),
            fix="read it first: new_ref(ref[...])",
        )
    if not is_operand(init_val):
        raise not_an_array(init_val).attach(function="new_ref", argument="init_val")
    if kind not in (None, NO_GRAD):
        raise ArgumentValueError(
            function="new_ref", argument="kind", got=repr(kind), expected=f"None or {NO_GRAD!r}"
        )
    return new_ref_p.bind(init_val, kind=kind, memory_space=memory_space, pin=bool(pin))


def empty_ref(ty: Any, *, memory_space: Any = None, pin: bool = False) -> Ref:
    """Create a reference whose contents do not matter before they are written: zeros.

    Args:
      ty: shape and dtype, such as a `ShapeDtypeStruct`.

    >>> sagax.ref.empty_ref(sagax.ShapeDtypeStruct((2,), snp.float32)).shape
    (2,)
    """
    aval = ty if isinstance(ty, ShapedArray) else ShapedArray(ty.shape, ty.dtype)
    return new_ref(zeros_of(aval), memory_space=memory_space, pin=pin)


def freeze(ref: Ref) -> Any:
    """Return the contents of `ref`, which must not be written any more.

    >>> ref = sagax.new_ref(snp.arange(3))
    >>> sagax.freeze(ref)
    Array([0, 1, 2], dtype=int32)
    """
    value = freeze_p.bind(ref)
    ref._frozen = "freeze"
    return value


def free_ref(ref: Ref) -> None:
    """End the use of `ref`, and drop its contents.

    >>> sagax.ref.free_ref(sagax.new_ref(1.0))
    """
    free_ref_p.bind(ref)
    ref._frozen = "free_ref"


def ref_get(ref: Any, idx: Any = None) -> Any:
    """Read elements of a reference: `ref[idx]`; all of them without `idx`.

    >>> ref = sagax.new_ref(snp.arange(5))
    >>> sagax.ref.get(ref, slice(1, 3))
    Array([1, 2], dtype=int32)
    """
    base, transforms, operands = _located(ref, idx, "ref.get")
    return get_p.bind(base, *operands, transforms=transforms)


def ref_swap(ref: Any, idx: Any, value: Any) -> Any:
    """Write elements of a reference, and return what they were before.

    `value` has exactly the shape and dtype of the elements; Python numbers take the dtype.

    >>> ref = sagax.new_ref(snp.arange(5))
    >>> int(sagax.ref.swap(ref, 3, 10)), int(ref[3])
    (3, 10)
    """
    base, transforms, operands = _located(ref, idx, "ref.swap")
    value = _fitting("swap", base, transforms, operands, value)
    return swap_p.bind(base, value, *operands, transforms=transforms)


def ref_set(ref: Any, idx: Any, value: Any) -> None:
    """Write elements of a reference: `ref[idx] = value`.

    `value` has exactly the shape and dtype of the elements; Python numbers take the dtype.

    >>> ref = sagax.new_ref(snp.zeros(3))
    >>> sagax.ref.set(ref, 1, 10.0)
    >>> ref
    Ref([ 0., 10.,  0.], dtype=float32)
    """
    ref_swap(ref, idx, value)


def ref_addupdate(ref: Any, idx: Any, x: Any) -> None:
    """Add to elements of a reference, without reading them first.

    Elements that an index selects several times get several summands.

    >>> ref = sagax.new_ref(snp.arange(3))
    >>> sagax.ref.addupdate(ref, 2, 10)
    >>> ref
    Ref([ 0,  1, 12], dtype=int32)
    """
    base, transforms, operands = _located(ref, idx, "ref.addupdate")
    x = _fitting("addupdate", base, transforms, operands, x)
    addupdate_p.bind(base, x, *operands, transforms=transforms)


def _fitting(function: str, ref: Ref, transforms: tuple, operands: tuple, value: Any) -> Any:
    """Return a value to be written, converted if it is a number of the same kind; check its type."""
    if type(value) in (Ref, RefView):
        raise ArgumentValueError(
            "a reference cannot be stored in another one",
            function=function,
            argument="value",
            got=repr(value.aval),
            fix="read it first: value[...]",
        )
    if not is_operand(value):
        raise not_an_array(value).attach(function=function, argument="value")
    want = _part_aval(ref.aval, transforms, operands)
    have = aval_of(value)
    if have.dtype != want.dtype and (
        (have.weak_type and _both(dtype_predicates.is_floating, have, want))
        or _both(dtype_predicates.is_integer, have, want)
    ):
        value = convert(value, want.dtype)
        have = aval_of(value)
    if not dims.same_shape(have.shape, want.shape):
        sizes = zip(reversed(have.shape), reversed(want.shape), strict=False)
        repeats = have.ndim <= want.ndim and all(n == 1 or dims.same(n, m) for n, m in sizes)
        raise ArgumentValueError(
            f"Invalid shape for `{function}`: the selected elements {_of(ref)}have shape {want.shape}, and the "
            f"value has shape {have.shape}",
            function=function,
            argument="value",
            got=value,
            expected=want,
            fix=f"write sagax.numpy.broadcast_to(value, {want.shape})"
            if repeats
            else "give the value the shape of the elements that it replaces, or select as many: ref[:n] = value",
        )
    if have.dtype != want.dtype:
        raise ArgumentValueError(
            f"Invalid dtype for `{function}`: the reference {_of(ref)}holds {dtypes.name(want.dtype)}, and the "
            f"value is {dtypes.name(have.dtype)}",
            function=function,
            argument="value",
            got=value,
            expected=want,
            fix=f"convert it: value.astype({dtypes.name(want.dtype)!r})"
            if hasattr(value, "aval")
            else f"write a number of dtype {dtypes.name(want.dtype)}",
        )
    return stop_gradient(value) if ref.aval.kind == NO_GRAD else value


def _of(ref: Ref) -> str:
    """Name the argument that a reference is, in a message."""
    known = {} if ref._var is None else input_paths(ref._trace, ref._trace.debug_info)
    return f"of {known[ref._var]} " if ref._var in known else ""


def _both(predicate: Any, a: Any, b: Any) -> bool:
    return predicate(a.dtype) and predicate(b.dtype)


def _iterate(ref: Any) -> Iterator[Any]:
    if not ref.shape:
        raise ArgumentError(
            "a reference to a scalar cannot be iterated over", function="iter", got=repr(ref.aval)
        )
    return (ref_get(ref, i) for i in range(len(ref)))


def _view(ref: Any, transform: Any) -> RefView:
    base, transforms, operands = _located(ref, None, "a view")
    return RefView(base, (*transforms, transform), operands)


def _reshape(self: Any, *shape: Any) -> RefView:
    """Return a view in another shape."""
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return _view(self, Reshape(tuple(aval_reshaped(self.aval, sizes))))


def aval_reshaped(aval: Any, sizes: Sequence[int]) -> tuple:
    """Return the shape that `sizes` asks for; one of them may be -1."""
    return np.empty(aval.shape, bool).reshape(sizes).shape


def _transposed(self: Any, *axes: int) -> RefView:
    """Return a view with the dimensions in another order: reversed, by default."""
    given = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    order = given or tuple(range(self.ndim))[::-1]
    return _view(self, Transpose(tuple([operator.index(a) % self.ndim for a in order])))


def _bitcast(self: Any, dtype: Any) -> RefView:
    """Return a view of the bytes as another dtype of the same width."""
    return _view(self, Bitcast(dtypes.as_dtype(dtype)))


def _as_numpy(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
    found = np.asarray(ref_get(self))
    return found if dtype is None else found.astype(dtype)


def _block(self: Any) -> Any:
    """Wait until the contents are computed."""
    if getattr(self, "_trace", None) is None and type(self) is Ref:
        self._value.block_until_ready()
    return self


def _refuse_arithmetic(self: Any, *_: Any) -> Any:
    fix = "read the reference first: ref[...]; to change it, ref[...] += x"
    raise ArgumentError("arithmetic takes arrays, not references", got=repr(self.aval), fix=fix)


_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul".split()
_OPERATORS = [*_ARITHMETIC, *["r" + n for n in _ARITHMETIC], "neg", "abs", "lt", "le", "gt", "ge"]
_METHODS: dict[str, Any] = {
    **{f"__{n}__": _refuse_arithmetic for n in _OPERATORS},
    "__getitem__": ref_get,
    "__setitem__": ref_set,
    "__iter__": _iterate,
    "__array__": _as_numpy,
    "get": lambda self, *, idx=None: ref_get(self, idx),
    "set": lambda self, value, *, idx=None: ref_set(self, idx, value),
    "swap": lambda self, value, *, idx=None: ref_swap(self, idx, value),
    "addupdate": lambda self, value, *, idx=None: ref_addupdate(self, idx, value),
    "at": property(_At, doc="`ref.at[index]` is a view of a part."),
    "reshape": _reshape,
    "transpose": _transposed,
    "T": property(_transposed, doc="A view with the dimensions reversed."),
    "bitcast": _bitcast,
    "block_until_ready": _block,
}
for _kind in (Ref, RefView):
    for _name, _method in _METHODS.items():
        setattr(_kind, _name, _method)


__all__ = [
    "RefView",
    "empty_ref",
    "free_ref",
    "freeze",
    "new_ref",
    "ref_addupdate",
    "ref_get",
    "ref_set",
    "ref_swap",
]
