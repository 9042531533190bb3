"""Describe which block of each operand a program sees: block shapes, index maps, grids."""

from __future__ import annotations

import enum
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dims
from sagax._src.core.avals import ShapedArray
from sagax._src.core.references import AbstractRef
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, TreeError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.frozen_class import record
from sagax._src.higher_order.trace_bodies import trace_body
from sagax._src.languages.choice import worded
from sagax.experimental.pallas._memory import MemorySpace
from sagax.numpy._indexing.windows import Slice

_INDEX = ShapedArray((), np.dtype(np.int32))


# Dimensions of blocks ------------------------------------------------------------------------------


@record
class Blocked:
    """Cut a dimension into blocks; the index map returns the number of a block.

    >>> BlockSpec((Blocked(4),), lambda i: (i,)).block_shape
    (Blocked(block_size=4),)
    """

    block_size: int


@record
class Squeezed:
    """Select one element of a dimension, which the kernel's reference does not have; `None` means it."""


@record
class Element:
    """Let the index map return the first element of a block, so that blocks may overlap.

    `padding`: how many elements that are never written lie before and after the array.
    """

    block_size: int
    padding: tuple = (0, 0)


@record
class BoundedSlice:
    """Let the index map return a slice, `pl.ds(start, size)`, of at most `block_size` elements."""

    block_size: int


squeezed = Squeezed()
BlockDim = Blocked | Squeezed | Element | BoundedSlice


class _NoBlockSpec:
    def __repr__(self) -> str:
        return "NoBlockSpec"


no_block_spec: Any = _NoBlockSpec()


class RevisitMode(enum.Enum):
    """Name what happens to buffers of blocks that are visited again; without effect here."""

    ANY = "any"
    IMMEDIATE = "immediate"


@record
class Buffered:
    """Ask for several buffers for a block; accepted, without effect on the results.

    >>> Buffered(2).buffer_count
    2
    """

    buffer_count: Any
    use_lookahead: bool = False
    revisit: Any = None
    prefetched_count: int = 0


@record
class Indirect:
    """Mark a dimension whose blocks are selected by an index vector; needs a TPU."""

    block_size: int


class BlockSpec:
    """Say which block of an array a program of the grid sees.

    Args:
      block_shape: an int, None (one element, without a dimension), `Element` or `BoundedSlice` for each
        dimension of the array; None for the whole array.
      index_map: a function from the indices of the program, one for each axis of the grid, to the index of the
        block, one for each dimension. By default all are 0.
      memory_space, pipeline_mode: for accelerators; without effect on CPUs.

    >>> BlockSpec((8, 128), lambda i, j: (i, j)).block_shape
    (8, 128)
    """

    __slots__ = ("block_shape", "index_map", "memory_space", "pipeline_mode")

    def __init__(
        self,
        block_shape: Sequence[Any] | None = None,
        index_map: Callable[..., Any] | None = None,
        pipeline_mode: Any = None,
        *,
        memory_space: Any = None,
    ) -> None:
        if callable(block_shape) and not isinstance(block_shape, (list, tuple)):
            raise ArgumentError(
                "block_shape is a function: the shape comes before the index map",
                function="BlockSpec",
                argument="block_shape",
                got=function_name(block_shape),
                expected="a tuple of ints",
                fix="swap the two arguments: pl.BlockSpec(block_shape, index_map)",
            )
        self.block_shape = None if block_shape is None else tuple(block_shape)
        self.index_map = index_map
        self.memory_space = memory_space
        self.pipeline_mode = pipeline_mode

    def replace(self, **changes: Any) -> BlockSpec:
        """Return the same specification with some fields replaced."""
        fields = {name: getattr(self, name) for name in BlockSpec.__slots__} | changes
        return BlockSpec(**fields)

    def _key(self) -> tuple:
        return self.block_shape, self.index_map, self.memory_space, self.pipeline_mode

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"BlockSpec(block_shape={self.block_shape}, index_map={self.index_map}, "
            f"memory_space={self.memory_space!r}, pipeline_mode={self.pipeline_mode})"
        )


class GridSpec:
    """A grid of programs, and the blocks of operands that each of them sees.

    >>> GridSpec(grid=2).grid
    (2,)
    """

    num_scalar_prefetch = 0

    def __init__(
        self,
        grid: Any = (),
        in_specs: Any = no_block_spec,
        out_specs: Any = no_block_spec,
        scratch_shapes: Any = (),
    ) -> None:
        self.grid, self.grid_names = _normalized_grid(grid)
        self.in_specs = tuple(in_specs) if isinstance(in_specs, list) else in_specs
        self.out_specs = tuple(out_specs) if isinstance(out_specs, list) else out_specs
        self.scratch_shapes = scratch_shapes

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(grid={self.grid}, grid_names={self.grid_names}, in_specs={self.in_specs}, "
            f"out_specs={self.out_specs}, scratch_shapes={self.scratch_shapes})"
        )


class PrefetchScalarGridSpec(GridSpec):
    """A grid whose index maps also get the first `num_scalar_prefetch` operands, as references.

    >>> PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(2,)).num_scalar_prefetch
    1
    """

    def __init__(
        self,
        num_scalar_prefetch: int,
        grid: Any = (),
        in_specs: Any = no_block_spec,
        out_specs: Any = no_block_spec,
        scratch_shapes: Any = (),
    ) -> None:
        super().__init__(grid, in_specs, out_specs, scratch_shapes)
        self.num_scalar_prefetch = operator.index(num_scalar_prefetch)


def _normalized_grid(grid: Any) -> tuple[tuple, tuple | None]:
    if isinstance(grid, np.ndarray) and grid.ndim == 1:
        grid = tuple(grid)
    entries = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    names = None
    if entries and all(isinstance(e, tuple) for e in entries):
        names, entries = tuple(e[0] for e in entries), tuple(e[1] for e in entries)
    sizes = []
    for k, size in enumerate(entries):
        if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
            size = int(size)
            if size < 0 or size == 0:
                raise ArgumentValueError(
                    f"axis {k} of the grid has size {size}, so that no program runs and no output is written",
                    function="pallas_call",
                    argument="grid",
                    got=tuple(entries),
                    expected="sizes of at least 1",
                    fix="round up where a size is divided: pl.cdiv(n, block)",
                )
        elif not dims.is_dim(size) and not (
            is_operand(size) and np.issubdtype(aval_of(size).dtype, np.integer)
        ):
            raise ArgumentError(
                f"axis {k} of the grid is no size",
                function="pallas_call",
                argument="grid",
                got=size if is_operand(size) else f"a value of type {type(size).__name__}",
                expected="ints",
            )
        sizes.append(size)
    return tuple(sizes), names


# Index maps ----------------------------------------------------------------------------------------


class Form:
    """An index that is linear in the indices of the program: `start + sum(factor * index)`."""

    __slots__ = ("factors", "start")

    def __init__(self, start: int, factors: tuple) -> None:
        self.start = start
        self.factors = factors  # pairs (axis, factor), ordered, no factor is 0

    def _combined(self, other: Any, sign: int) -> Any:
        if isinstance(other, (int, np.integer)) and not isinstance(other, bool):
            return Form(self.start + sign * int(other), self.factors)
        if type(other) is not Form:
            return NotImplemented
        total = dict(self.factors)
        for axis, factor in other.factors:
            total[axis] = total.get(axis, 0) + sign * factor
        return Form(
            self.start + sign * other.start, tuple(sorted((a, f) for a, f in total.items() if f))
        )

    def __add__(self, other: Any) -> Any:
        return self._combined(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combined(other, -1)

    def __neg__(self) -> Form:
        return self * -1

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, bool) or not isinstance(other, (int, np.integer)):
            return NotImplemented
        n = int(other)
        return Form(self.start * n, tuple((a, f * n) for a, f in self.factors) if n else ())

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        raise worded(
            TypeError("an index of the program is not known while the index map is traced")
        )

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: bool(self)  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def key(self) -> tuple:
        """Return what identifies the form."""
        return self.start, self.factors

    def __repr__(self) -> str:
        parts = [f"{f}*i{a}" if f != 1 else f"i{a}" for a, f in self.factors]
        return " + ".join([*parts, str(self.start)] if self.start or not parts else parts)

    def at(self, indices: Sequence[Any]) -> Any:
        """Return the index of the program at `indices`."""
        total: Any = self.start
        for axis, factor in self.factors:
            term = indices[axis] * factor if factor != 1 else indices[axis]
            total = term + total if type(total) is not int or total else term
        return total


@record
class BlockMapping:
    """The blocks of one operand: its type, the dimensions of a block, and where the block lies.

    `forms` holds (start, factors) of a linear index for each dimension; None: `index_jaxpr` computes the
    indices from those of the program and the contents of the prefetched operands, then the sizes of slices.
    """

    array_aval: Any
    dims: tuple
    forms: tuple | None
    index_jaxpr: Any
    origin: str
    memory_space: Any

    @property
    def block_shape(self) -> tuple:
        """The dimensions of a block, as jax spells them."""
        return self.dims

    @property
    def sizes(self) -> tuple:
        """The sizes of a block, squeezed dimensions included."""
        return tuple([1 if type(d) is Squeezed else d.block_size for d in self.dims])

    @property
    def ref_shape(self) -> tuple:
        """The shape of the reference that the kernel sees."""
        return tuple([d.block_size for d in self.dims if type(d) is not Squeezed])

    @property
    def ref_aval(self) -> AbstractRef:
        """The type of the reference that the kernel sees."""
        space = self.memory_space if hasattr(self.memory_space, "holds_blocks") else None
        aval = ShapedArray(self.ref_shape, self.array_aval.dtype)
        return AbstractRef(aval, space or MemorySpace.DEFAULT)

    @property
    def has_trivial_window(self) -> bool:
        """True if a block is the whole array."""
        return all(map(dims.same, self.sizes, self.array_aval.shape))

    def form(self, j: int) -> Form | None:
        """Return the linear index of dimension `j`, if it is known."""
        return None if self.forms is None else Form(*self.forms[j])

    def __repr__(self) -> str:
        return f"BlockMapping(block_shape={self.dims})"


def block_mapping(
    spec: Any, aval: Any, origin: str, grid: tuple, prefetched: Sequence[Any]
) -> BlockMapping:
    """Check a block specification against the operand that it cuts, and trace its index map."""
    n = len(aval.shape)
    whole = tuple([Blocked(s) for s in aval.shape])
    if spec is None or spec is no_block_spec:
        return BlockMapping(aval, whole, ((0, ()),) * n, None, origin, None)
    if isinstance(spec, MemorySpace) or (not isinstance(spec, BlockSpec) and hasattr(spec, "name")):
        spec = BlockSpec(memory_space=spec)
    if not isinstance(spec, BlockSpec):
        raise ArgumentError(
            f"the specification of {origin} is no BlockSpec",
            function="pallas_call",
            argument=origin,
            got=f"a value of type {type(spec).__name__}",
            expected="pl.BlockSpec(block_shape, index_map)",
        )
    if spec.block_shape is None:
        shape = whole
    else:
        shape = tuple([block_dim(d, origin, spec) for d in spec.block_shape])
        if len(shape) != n:
            raise ArgumentValueError(
                f"Block shape for {origin} (= {spec.block_shape}) must have the same number of dimensions as the "
                f"array shape {aval.shape}",
                function="pallas_call",
                argument=f"the block shape of {origin}",
                got=spec.block_shape,
                expected=f"{n} entries",
                fix="write None for a dimension of which a block has one element and the kernel's reference none"
                if len(shape) < n
                else "drop an entry of block_shape",
            )
    if spec.index_map is None:
        return BlockMapping(aval, shape, ((0, ()),) * n, None, origin, spec.memory_space)
    forms = _linear(spec.index_map, shape, len(grid), len(prefetched))
    jaxpr = None
    if forms is None:
        jaxpr = _traced_index_map(spec.index_map, shape, origin, grid, prefetched)
    return BlockMapping(aval, shape, forms, jaxpr, origin, spec.memory_space)


def block_dim(d: Any, origin: str, spec: BlockSpec) -> Any:
    """Return the description of one dimension of a block."""
    if d is None:
        return squeezed
    if isinstance(d, (Blocked, Squeezed, Element, BoundedSlice)):
        return d
    if dims.is_dim(d):
        return Blocked(d)
    if isinstance(d, (int, np.integer)) and not isinstance(d, bool) and d > 0:
        return Blocked(int(d))
    raise ArgumentValueError(
        f"the block shape of {origin} has an entry that is no size",
        function="pallas_call",
        argument=f"the block shape of {origin}",
        got=spec.block_shape,
        expected="positive ints, None, pl.Element or pl.BoundedSlice",
    )


def _linear(index_map: Callable, shape: tuple, n_axes: int, n_prefetched: int) -> tuple | None:
    """Run an index map on linear forms; None where it computes anything else, or reads a prefetched operand."""
    if any(type(d) is BoundedSlice for d in shape):
        return None
    try:
        found = index_map(*[Form(0, ((k, 1),)) for k in range(n_axes)], *[None] * n_prefetched)
    except Exception:  # not linear, or wrong: tracing it tells
        return None
    found = found if isinstance(found, (tuple, list)) else (found,)
    if len(found) != len(shape):
        return None
    forms = []
    for index in found:
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            index = Form(int(index), ())
        if type(index) is not Form:
            return None
        forms.append(index.key())
    return tuple(forms)


def _traced_index_map(
    index_map: Callable, shape: tuple, origin: str, grid: tuple, prefetched: Sequence[Any]
) -> Any:
    """Trace an index map to a jaxpr from program indices and prefetched references to indices and sizes."""
    name = function_name(index_map)
    given = len(grid) + len(prefetched)
    try:
        inspect.signature(index_map).bind(*range(given))
    except TypeError:
        extra = f" and {len(prefetched)} prefetched operands" if prefetched else ""
        raise ArgumentError(
            f"the index map of {origin} is called with {given} arguments, one for each axis of the grid{extra}, "
            "and does not take that many",
            function="pallas_call",
            argument=f"the index map of {origin}",
            got=f"{name}{_signature(index_map)}",
            expected=f"a function of {given} arguments: the grid is {grid}",
            fix=f"write lambda {', '.join('ijklmn'[:given])}: ...",
        ) from None
    except ValueError:
        pass  # a function without a signature
    avals: list[Any] = [_INDEX] * len(grid)
    tree = trees.flatten(tuple(range(given)))[1]

    @wraps(index_map)
    def mapped(*indices: Any) -> list:
        found = index_map(*indices)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if any(x is None for x in found):
            raise ArgumentValueError(
                f"the index map of {origin} returns None",
                function="pallas_call",
                argument=f"the index map of {origin}",
                expected=f"{len(shape)} values, one for each dimension",
                fix=f"return the index of the block: lambda {', '.join('ijklmn'[:given])}: ({'0, ' * len(shape)})",
            )
        if len(found) != len(shape):
            raise ArgumentValueError(
                f"the index map of {origin} must return {len(shape)} values to match the block shape, and "
                f"returns {len(found)}",
                function="pallas_call",
                argument=f"the index map of {origin}",
                got=f"{len(found)} values",
                expected=f"{len(shape)} values, one for each dimension",
            )
        for x, d in zip(found, shape, strict=True):
            if (type(x) is Slice) != (type(d) is BoundedSlice):
                raise ArgumentValueError(
                    f"the index map of {origin} returns {'a slice' if type(x) is Slice else 'an index'} for a "
                    f"dimension of a block that is {d!r}",
                    function="pallas_call",
                    argument=f"the index map of {origin}",
                    expected="pl.ds(start, size) where the block shape has pl.BoundedSlice, and indices elsewhere",
                )
        starts = [x.start if type(x) is Slice else x for x in found]
        return starts + [x.size for x in found if type(x) is Slice]

    same = ("pallas index map", index_map, len(shape), origin)
    body = trace_body(mapped, tree, [*avals, *prefetched], transform="pallas_call", same=same)
    for aval in body.jaxpr.out_avals:
        if aval.shape or not np.issubdtype(aval.dtype, np.integer):
            raise ArgumentValueError(
                f"the index map of {origin} returns something that is no index",
                function="pallas_call",
                argument=f"the index map of {origin}",
                got=aval,
                expected="integers",
            )
    if body.consts:
        raise ArgumentValueError(
            f"the index map of {origin} captures arrays of the program around it",
            function="pallas_call",
            argument=f"the index map of {origin}",
            got=f"{len(body.consts)} captured arrays",
            fix="pass them as prefetched operands: PrefetchScalarGridSpec(num_scalar_prefetch=...)",
        )
    return body.jaxpr


def _signature(fun: Callable) -> str:
    try:
        return str(inspect.signature(fun))
    except (TypeError, ValueError):
        return ""


# Trees of specifications ---------------------------------------------------------------------------


def _is_spec(x: Any) -> bool:
    return x is None or x is no_block_spec or isinstance(x, (BlockSpec, enum.Enum))


def flat_specs(specs: Any, tree: Any, what: str, operands: str) -> list:
    """Return the specification of each leaf of a tree of operands; those of a prefix hold for all below."""
    if specs is no_block_spec:
        return [no_block_spec] * tree.num_leaves
    if isinstance(specs, list):
        specs = tuple(specs)
    leaves, have = trees.flatten(specs, _is_spec)
    if have == tree:
        return leaves
    try:
        dummy = trees.of_objects(tree)
        return trees.broadcast_prefix(specs, dummy, is_leaf=_is_spec)
    except (ValueError, TypeError):
        raise TreeError(
            f"Pytree for `{what}` and `{operands}` do not match",
            function="pallas_call",
            argument=what,
            got=str(have),
            expected=str(tree),
            fix=f"give {what} one BlockSpec for each of the {tree.num_leaves} arrays",
        ) from None
