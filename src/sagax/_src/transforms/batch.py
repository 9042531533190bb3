"""Implement batching: vectorize a function or jaxpr over a new axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src.core import memo_keys
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, Eqn, Jaxpr, Var, eval_jaxpr, subjaxprs
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.shardings import NamedSharding, with_dimension, without_dimension
from sagax._src.core.trace import (
    NamedAxis,
    Trace,
    Tracer,
    UnboundAxisError,
    current_trace,
    entered,
    no_leaks,
    state,
)
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.resharding import reshard_p
from sagax._src.primitives.structural import broadcast, moveaxis
from sagax._src.source_stacks import transformation
from sagax._src.transforms.derived import derived_jaxpr, run_composite

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import random_bits


@record(slots=True)
class BatchAxis:
    """The mapped axis: its size, and its name for collectives (None: nameless).

    `spmd_name`: the mesh axis, or axes, along which the examples are sharded.
    `cut`: the mesh and its Explicit axes that shard the examples in the types of operands.
    """

    size: Any
    name: Any = None
    spmd_name: Any = None
    cut: Any = None


def unmapped(aval: Any, dim: Any, size: Any = None) -> Any:
    """Return the type of one example, for an array of type `aval` mapped along `dim`, which has this size."""
    if aval.is_high:
        return aval.dec_rank(size, _mapping_spec(aval, dim))
    shape = aval.shape[:dim] + aval.shape[dim + 1 :]
    sharding = without_dimension(aval.explicit_sharding, dim)
    return intern_aval(shape, aval.dtype, aval.weak_type, sharding, aval.vma, aval.memory_space)


def _mapping_spec(aval: Any, dim: Any) -> Any:
    """Return how a value of a library's type is mapped: along its leading axis where `dim` is 0."""
    if not isinstance(dim, int):
        return dim
    if dim != 0:
        raise ArgumentValueError(
            f"a value of type {aval!r} has no axis {dim}",
            function="vmap",
            got=dim,
            expected="0, or a MappingSpec of its type",
        )
    return aval.leading_axis_spec()


def example_sharding(avals: Sequence[Any], in_dims: Sequence[Any]) -> Any:
    """Return the mesh and axes that shard the examples of operands, if their types show it."""
    for aval, d in zip(avals, in_dims, strict=True):
        if (
            d is not None
            and aval.explicit_sharding is not None
            and aval.explicit_sharding.spec.axes(d)
        ):
            return aval.explicit_sharding.mesh, aval.explicit_sharding.spec.axes(d)
    return None


def mapped(aval: Any, size: Any, dim: int, cut: Any = None) -> Any:
    """Return the type of `size` examples stacked along `dim`."""
    if aval.is_high:
        return aval.inc_rank(size, _mapping_spec(aval, dim))
    shape = (*aval.shape[:dim], size, *aval.shape[dim:])
    if cut is None:
        sharding = with_dimension(aval.explicit_sharding, dim)
    else:
        mesh, axes = cut
        own = aval.explicit_sharding or NamedSharding(mesh, PartitionSpec())
        sharding = with_dimension(own, dim, axes)
    return intern_aval(shape, aval.dtype, aval.weak_type, sharding, aval.vma, aval.memory_space)


class BatchTracer(Tracer):
    """Represent one example; `val` holds all examples along dimension `dim`."""

    __slots__ = ("dim", "sources", "val")

    def __init__(self, trace: BatchTrace, val: Any, dim: int, sources: int = 0) -> None:
        self._trace = trace
        self.sources = sources  # bit i: depends on argument i of the mapped function
        self.val = val
        self.dim = dim
        self.aval = unmapped(aval_of(val), dim, trace.batch_axis.size)

    @property
    def inner(self) -> Any:
        return self.val

    def concrete(self) -> Any:
        return None  # an example has no single concrete value

    def __repr__(self) -> str:
        return f"VmapTracer(aval={self._parts()}, batched={aval_of(self.val).str_short(short_dtypes=False)})"


class BatchTrace(Trace):
    """Apply batching rules; forward unmapped operations to the outer trace."""

    __slots__ = ("arguments", "batch_axis")

    described_as = "mapped by vmap", "mapped"

    def __init__(self, parent: Trace, axis: BatchAxis) -> None:
        super().__init__(parent)
        self.batch_axis = axis
        self.arguments: Sequence[Any] = ()  # mapped or not; for messages
        if axis.name is not None:
            self.axis = (NamedAxis(axis.name, axis.size),)

    def wrap(self, x: Any, dim: int | None, sources: int = 0) -> Any:
        return x if dim is None else BatchTracer(self, x, dim, sources)

    def unwrap(self, x: Any) -> tuple[Any, int | None]:
        if type(x) is BatchTracer and x._trace is self:
            return x.val, x.dim
        return x, None

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        values, in_dims, active, sources = [], [], False, 0
        for a in args:
            if type(a) is BatchTracer and a._trace is self:
                values.append(a.val)
                in_dims.append(a.dim)
                sources |= a.sources
                active = True
            else:
                values.append(a)
                in_dims.append(None)
        entry: Any = current_trace()
        if not active and self._exchanges_inside(primitive, params):
            active = True
        collective = primitive.batch_collective
        if collective is not None and self.batch_axis.name is not None:
            entry.trace = self.parent
            try:
                handled = collective(self.batch_axis, values, in_dims, **params)
            finally:
                entry.trace = self
            if handled is not NotImplemented:
                out, out_dim = handled
                return self._wrap_all(primitive, out, out_dim, sources)
        rule = primitive.batch_rule
        if rule is None and active and primitive.composite_rule is not None:
            return run_composite(self, primitive, args, params)
        entry.trace = self.parent
        try:
            if not active:
                if events.unmapped_operation.function is not None:
                    events.unmapped_operation.function(self, primitive, args, params)
                try:
                    return primitive.bind(*args, **params)
                except UnboundAxisError:
                    if self.batch_axis.name is None or "inner" not in params:
                        raise
                    # a custom rule, run just now, which needs this axis
            out, out_dim = primitive.rule("batch")(self.batch_axis, values, in_dims, **params)
        finally:
            entry.trace = self
        return self._wrap_all(primitive, out, out_dim, sources)

    def _exchanges_inside(self, primitive: Any, params: dict) -> bool:
        """Return whether a jaxpr without mapped inputs contains axis_index or psum over an axis."""
        if self.batch_axis.name is None or not primitive.is_higher_order:
            return False
        return any(map(has_collectives, subjaxprs(params)))

    def _wrap_all(self, primitive: Any, out: Any, out_dim: Any, sources: int) -> Any:
        if primitive.multiple_results:
            return [self.wrap(x, d, sources) for x, d in zip(out, out_dim, strict=True)]
        return self.wrap(out, out_dim, sources)


def has_collectives(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr, at any depth, contains collectives over named axes."""
    found = jaxpr.memo.get(memo_keys.HAS_COLLECTIVES)
    if found is None:
        found = jaxpr.memo[memo_keys.HAS_COLLECTIVES] = any(map(_is_collective, jaxpr.eqns))
    return found


def _is_collective(eqn: Eqn) -> bool:
    own = eqn.primitive.batch_collective is not None
    return own or any(map(has_collectives, subjaxprs(eqn.params)))


def batch_flat(
    fun: Callable[..., Sequence[Any]],
    axis: BatchAxis,
    args: Sequence[Any],
    in_dims: Sequence[int | None],
    info: DebugInfo | None = None,
) -> tuple[list, list]:
    """Run the flat function `fun` on all examples; return outputs and their batch dimensions (None: unmapped)."""
    trace = BatchTrace(state.trace, axis)
    trace.debug_info = info
    if info is not None:
        trace.arguments = args
    with transformation(None if info is None else "vmap"):
        pairs = _run(trace, fun, args, in_dims)
    no_leaks(trace)
    return [x for x, _ in pairs], [d for _, d in pairs]


def _run(trace: BatchTrace, fun: Callable, args: Sequence[Any], in_dims: Sequence[Any]) -> list:
    with entered(trace):
        ins = zip(args, in_dims, strict=True)
        outs = fun(*[trace.wrap(x, d, 1 << i) for i, (x, d) in enumerate(ins)])
        return [trace.unwrap(out) for out in outs]


def move_batch_dim(x: Any, dim: Any, destination: Any, axis: BatchAxis) -> Any:
    """Move the batch dimension of `x` from `dim` (None: broadcast) to `destination`."""
    if destination is None or dim == destination:
        return x
    if aval_of(x).is_high:
        spec = _mapping_spec(aval_of(x), destination) if isinstance(destination, int) else None
        if dim is not None and dim == spec:
            return x
        raise ArgumentValueError(
            f"values of type {aval_of(x)!r} are mapped by {dim!r}, and {destination!r} is asked for",
            function="vmap",
            expected=f"{dim!r}",
            fix="name in out_axes how the primitive's `batch` rule maps its result",
        )
    if dim is None:
        x, dim = _shard_examples(random_bits.shared(broadcast(x, (axis.size,))), axis.cut), 0
    return moveaxis(x, dim, destination)


def move_batch_dims(args: Sequence[Any], in_dims: Sequence[Any], dim: int = 0) -> list:
    """Move the batch dimensions of mapped operands to `dim`."""
    return [x if d is None else moveaxis(x, d, dim) for x, d in zip(args, in_dims, strict=True)]


def _shard_examples(x: Any, cut: Any) -> Any:
    """Broadcast along dimension 0, sharded as the examples of the operands."""
    if cut is None:
        return x
    mesh, axes = cut
    own = aval_of(x).explicit_sharding
    rest = () if own is None else own.spec[1:]
    if own is not None and set(axes) & set(own.spec.used_axes()):
        return x
    return reshard_p.bind(x, sharding=NamedSharding(mesh, PartitionSpec(axes, *rest)))


def batch_jaxpr(
    jaxpr: ClosedJaxpr, axis: BatchAxis, in_dims: tuple, force_out: bool | tuple[bool, ...] = False
) -> tuple[ClosedJaxpr, tuple]:
    """Return the batched form of a jaxpr without constants, and the batch dimensions of outputs. Cached.

    Outputs marked in `force_out` are mapped along 0 whether or not they vary.
    """
    inner = jaxpr.jaxpr
    key = (memo_keys.BATCH, axis, in_dims, force_out)
    found = inner.memo.get(key)
    if found is None and force_out is not False:
        # the form without forced outputs may have them all
        free = inner.memo.get((memo_keys.BATCH, axis, in_dims, False))
        marks = (force_out,) * len(inner.outvars) if force_out is True else force_out
        if free is not None and all(d == 0 or not f for d, f in zip(free[1], marks, strict=True)):
            found = inner.memo[key] = free
    if found is None:
        out_dims: list = []

        def fun(*args: Any) -> list:
            outs, found_dims = batch_flat(
                lambda *xs: eval_jaxpr(inner, jaxpr.consts, *xs), axis, args, in_dims
            )
            forced = (force_out,) * len(outs) if isinstance(force_out, bool) else force_out
            outs = [
                move_batch_dim(x, d, 0, axis) if f else x
                for x, d, f in zip(outs, found_dims, forced, strict=True)
            ]
            out_dims[:] = [0 if f else d for d, f in zip(found_dims, forced, strict=True)]
            return outs

        avals = [
            v.aval if d is None else mapped(v.aval, axis.size, d, axis.cut)
            for v, d in zip(inner.invars, in_dims, strict=True)
        ]
        found = derived_jaxpr(inner, key, fun, avals, out_dims)
    return found


def mapped_outputs(jaxpr: Jaxpr, mapped: Sequence[bool]) -> list[bool] | None:
    """Return which outputs depend on mapped inputs; None if some equation may have others than that.

    Such are collectives along the mapped axis, and what holds jaxprs.
    """
    seen = {v for v, m in zip(jaxpr.invars, mapped, strict=True) if m}
    for eqn in jaxpr.eqns:
        p = eqn.primitive
        if p.is_higher_order or p.batch_collective is not None or eqn.effects:
            return None
        if not seen.isdisjoint(eqn.invars):
            seen.update(eqn.outvars)
    return [type(v) is Var and v in seen for v in jaxpr.outvars]
