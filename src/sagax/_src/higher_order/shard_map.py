"""Define the primitive of `shard_map`: run a jaxpr on each device's own shards.

Operands are global arrays; `in_specs` define their shards, and `out_specs` how the shards of results are
concatenated. With `check_vma` the types inside record which values may vary between devices. Without it every
value may vary, and a result that is not sharded along an axis is assumed to be replicated along it.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

from sagax._src.collectives.replica_groups import DeviceGroups
from sagax._src.core import dtypes, memo_keys, meshes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import HIGHER_ORDER
from sagax._src.core.high_types import HiPspec
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from sagax._src.core.meshes import AxisType, Mesh, PartitionSpec
from sagax._src.core.operands import partition
from sagax._src.core.primitive import HigherOrderPrimitive
from sagax._src.core.references import AbstractRef
from sagax._src.core.shardings import NamedSharding, sdy_sharding
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import (
    Linear,
    Zero,
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_cotangents,
    spread_tangents,
    transposed_operands,
)
from sagax._src.core.trace import AxisTrace, NamedAxis, current, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.higher_order.call import call
from sagax._src.primitives.arithmetic import mul
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.mesh_axes import in_order, psum_p, vary_like
from sagax._src.primitives.structural import reshape
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.batch import BatchAxis, batch_jaxpr
from sagax._src.transforms.derived import derived_jaxpr
from sagax._src.transforms.discharge import contents, discharge_jaxpr, write_back
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.transpose import backward, transpose_jaxpr

shard_map_p = HigherOrderPrimitive(
    "shard_map", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
shard_map_p.sets_vma = True
shard_map_p.entered = lambda params: _region(params).inside()

Specs = tuple[PartitionSpec, ...]


@record
class Region:
    """The manual axes of a mesh for which a body is traced."""

    mesh: Any
    manual_axes: frozenset
    check_vma: bool

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Enter the body of one device."""
        mesh = self.mesh
        axes = [
            NamedAxis(name, size, True, self.check_vma)
            for name, size in mesh.shape_tuple
            if name in self.manual_axes
        ]
        seen = self._mesh_inside(mesh)
        concrete = mesh if isinstance(mesh, Mesh) else meshes.concrete_mesh()
        with (
            current(AxisTrace(state.trace, axes)),
            meshes.entered(mesh=concrete, abstract_mesh=seen),
        ):
            yield

    def _mesh_inside(self, mesh: Any) -> Any:
        """Return the mesh that types inside of the body are over."""
        manual = dict.fromkeys(self.manual_axes, AxisType.Manual)
        return mesh.abstract_mesh.update_axis_types(manual)

    def _sharding_inside(self, aval: Any) -> Any:
        """Return the sharding along the Explicit axes that are not manual here, None if types show none."""
        if aval.explicit_sharding is None or self.manual_axes.issuperset(
            aval.explicit_sharding.mesh.explicit_axes
        ):
            return None
        spec = aval.explicit_sharding.spec
        parts = [
            tuple([n for n in spec.axes(i) if n not in self.manual_axes]) for i in range(aval.ndim)
        ]
        spec = PartitionSpec(
            *parts,
            unreduced=spec.unreduced - self.manual_axes,
            reduced=spec.reduced - self.manual_axes,
        )
        return NamedSharding(self._mesh_inside(aval.explicit_sharding.mesh), spec)

    def partial(self, aval: Any) -> dict[str, Any]:
        """Return the manual axes along which a value of a type is an unreduced sum, or its cotangent is."""
        shown = aval.explicit_sharding
        spec = PartitionSpec() if shown is None else shown.spec
        return {
            "unreduced": spec.unreduced & self.manual_axes,
            "reduced": spec.reduced & self.manual_axes,
        }

    def size(self, axes: Sequence[Any]) -> int:
        """Return the number of devices along the axes."""
        return math.prod([self.mesh.shape[name] for name in axes])

    def not_in(self, spec: PartitionSpec) -> tuple:
        """Return the manual axes along which an array is not sharded."""
        used = {*spec.used_axes(), *spec.unreduced}
        return tuple([n for n in self.mesh.axis_names if n in self.manual_axes and n not in used])

    def residual_spec(self, aval: Any, axes: tuple) -> Any:
        """Return the spec of a residual, which has a leading dimension for the axes along which it varies."""
        if aval.is_high:
            names = tuple([n for n in self.mesh.axis_names if n in self.manual_axes])
            return aval.nospec(self.mesh, self.check_vma, names)
        return PartitionSpec(*([axes] if axes else []), **self.partial(aval))

    def own_axes(self, aval: Any) -> tuple:
        """Return the manual axes along which a value inside of this type varies."""
        own = aval.vma if self.check_vma or aval.is_high else self.manual_axes
        return tuple([n for n in self.mesh.axis_names if n in self.manual_axes and n in own])

    def part(self, aval: Any, spec: PartitionSpec) -> Any:
        """Return the type of one shard of an array."""
        if type(aval) is AbstractRef:
            return aval.update(self.part(aval.inner_aval, spec))
        if aval.is_high:
            return aval.shard(self.mesh, self.manual_axes, self.check_vma, spec)
        shape = list(aval.shape)
        for i in range(len(spec)):
            shape[i] = shape[i] // self.size(spec.axes(i))
        vma = aval.vma | frozenset(spec.used_axes()) if self.check_vma else aval.vma
        sharding = self._sharding_inside(aval)
        if spec.partial and self.check_vma:
            mesh = self._mesh_inside(self.mesh) if sharding is None else sharding.mesh
            own = PartitionSpec(*[None] * aval.ndim) if sharding is None else sharding.spec
            own = own.update(
                unreduced=own.unreduced | spec.unreduced, reduced=own.reduced | spec.reduced
            )
            sharding = NamedSharding(mesh, own)
        return intern_aval(
            tuple(shape), aval.dtype, aval.weak_type, sharding, vma, aval.memory_space
        )

    def whole(self, aval: Any, spec: PartitionSpec) -> Any:
        """Return the type of the global array with shards of type `aval`."""
        if aval.is_high:
            return aval.unshard(self.mesh, self.check_vma, spec)
        shape = list(aval.shape)
        for i in range(len(spec)):
            shape[i] = shape[i] * self.size(spec.axes(i))
        vma = aval.vma - self.manual_axes
        return intern_aval(tuple(shape), aval.dtype, aval.weak_type, None, vma, aval.memory_space)

    def bind(
        self,
        closed: ClosedJaxpr,
        args: Sequence[Any],
        in_specs: Sequence[PartitionSpec],
        out_specs: Sequence[PartitionSpec],
        name: str,
    ) -> list:
        """Apply a jaxpr to shards of global arrays. Its constants become unsharded operands."""
        if closed.consts:
            args = [*closed.consts, *args]
            in_specs = [*[PartitionSpec()] * len(closed.consts), *in_specs]
            closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
        if self.check_vma:
            closed = self._varied(closed, tuple(out_specs))
        return shard_map_p.bind(
            *args,
            jaxpr=closed,
            mesh=self.mesh,
            manual_axes=self.manual_axes,
            in_specs=tuple(in_specs),
            out_specs=tuple(out_specs),
            check_vma=self.check_vma,
            name=name,
        )

    def _varied(self, closed: ClosedJaxpr, out_specs: Specs) -> ClosedJaxpr:
        """Return the jaxpr whose results vary along the axes along which they are concatenated."""
        varying = tuple([_used_axes(spec) for spec in out_specs])
        if all(map(frozenset.issubset, varying, [a.vma for a in closed.out_avals])):
            return closed

        def fun(*xs: Any) -> list:
            return list(map(vary_like, eval_jaxpr(closed.jaxpr, (), *xs), varying))

        with self.inside():
            return derived_jaxpr(
                closed.jaxpr, (memo_keys.VARYING_OUTPUTS, varying), fun, closed.in_avals
            )[0]


def _used_axes(spec: Any) -> frozenset:
    """Return the axes along which a result is concatenated; those of library types appear when it is lowered."""
    return frozenset() if isinstance(spec, HiPspec) else frozenset(spec.used_axes())


def _tangent_spec(spec: Any) -> Any:
    return spec.to_tangent_spec() if isinstance(spec, HiPspec) else spec


def _cotangent_spec(spec: Any) -> Any:
    return spec.to_ct_spec() if isinstance(spec, HiPspec) else spec.cotangent()


def _region(params: dict) -> Region:
    return Region(params["mesh"], params["manual_axes"], params["check_vma"])


@shard_map_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, out_specs: Specs, **params: Any) -> list:
    region = _region(params)
    outs = list(map(region.whole, jaxpr.out_avals, out_specs))
    mesh = next((a.explicit_sharding.mesh for a in avals if a.explicit_sharding is not None), None)
    if mesh is None and any(spec.partial for spec in out_specs):
        mesh = region.mesh.abstract_mesh
    if mesh is None:
        return outs
    inside = [part.explicit_sharding for part in jaxpr.out_avals]  # types record shardings
    return [_with_sharding(o, s, mesh, i) for o, s, i in zip(outs, out_specs, inside, strict=True)]


def _with_sharding(aval: Any, spec: PartitionSpec, mesh: Any, inside: Any) -> Any:
    """Return the type of a global result: cut along the manual axes of `spec`, and as its parts are."""
    if aval.is_high:
        return aval
    parts = []
    for i in range(aval.ndim):
        rest = () if inside is None else inside.spec.axes(i)
        parts.append((*[n for n in spec.axes(i) if n in mesh.explicit_axes], *rest))
    shown, own = frozenset(mesh.explicit_axes), PartitionSpec() if inside is None else inside.spec
    sets: dict[str, Any] = {
        "unreduced": (spec.unreduced | own.unreduced) & shown,
        "reduced": (spec.reduced | own.reduced) & shown,
    }
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*parts, **sets)))


@shard_map_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@shard_map_p.show
def _(
    *,
    jaxpr: ClosedJaxpr,
    mesh: Any,
    manual_axes: frozenset,
    in_specs: Specs,
    out_specs: Specs,
    check_vma: bool,
    name: str,
) -> dict:
    return {
        "jaxpr": jaxpr,
        "mesh": mesh,
        "manual_axes": repr(in_order(manual_axes)),
        "in_specs": in_specs,
        "out_specs": out_specs,
        "check_vma": check_vma,
    }


def inner_values(args: Sequence[Any], params: dict) -> dict[Any, Any]:
    """Return the results of each inner operation: by variable, those of all devices along a leading dimension.

    Only differentiable results, to find the operation at fault.
    """
    region, inner = _region(params), params["jaxpr"].jaxpr
    outputs = [v for e in inner.eqns for v in e.outvars if dtypes.is_inexact(v.aval.dtype)]
    names = tuple([n for n in region.mesh.axis_names if n in region.manual_axes])
    full = inner.replace(outvars=outputs)

    def fun(*xs: Any) -> list:
        return [reshape(x, (1, *aval_of(x).shape)) for x in eval_jaxpr(full, (), *xs)]

    with region.inside():
        closed = derived_jaxpr(inner, (memo_keys.INTERMEDIATE_VALUES, region), fun, inner.in_avals)[
            0
        ]
    specs = [PartitionSpec(names)] * len(outputs)
    outs = region.bind(closed, args, params["in_specs"], specs, params["name"])
    return dict(zip(outputs, outs, strict=True))


def _evaluate(*args: Any, name: str, **params: Any) -> list:
    found = call(_application(tuple(map(aval_of, args)), name, params), args, name=name)
    if params["manual_axes"] != frozenset(params["mesh"].axis_names):
        return found
    return [_as_written(x, s) for x, s in zip(found, params["out_specs"], strict=True)]


def _as_written(x: Any, spec: Any) -> Any:
    """Return the array with the sharding of `out_specs` as a user wrote it, where the engine says it otherwise."""
    have = x._device
    if type(have) is not NamedSharding or type(spec) is not PartitionSpec or have.spec == spec:
        return x
    written = _equivalent(have, spec, x.ndim)
    return x if written is None else type(x)(x.aval, x._host, x._buffer, written)


@functools.lru_cache(maxsize=1024)
def _equivalent(have: NamedSharding, spec: PartitionSpec, ndim: int) -> NamedSharding | None:
    """Return the sharding by `spec` where it splits an array as `have` does."""
    written = NamedSharding(have.mesh, spec, memory_kind=have._memory_kind)
    return written if written.is_equivalent_to(have, ndim) else None


shard_map_p.impl = _evaluate


def _application(avals: tuple, name: str, params: dict) -> ClosedJaxpr:
    """Return the jaxpr of one application, cached in the memo of the applied jaxpr."""
    inner: Jaxpr = params["jaxpr"].jaxpr
    key = (memo_keys.SHARD_MAP_CALL, avals, *[v for k, v in params.items() if k != "jaxpr"])
    return derived_jaxpr(inner, key, lambda *xs: shard_map_p.bind(*xs, name=name, **params), avals)[
        0
    ]


@shard_map_p.discharge
def _(
    args: Sequence[Any],
    owned: Sequence[bool],
    *,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> list:
    region = _region(params)
    with region.inside():
        found = discharge_jaxpr(jaxpr, owned)
    specs = [*out_specs, *compress(in_specs, found.written)]
    outs = region.bind(found.jaxpr, contents(args, owned), in_specs, specs, name)
    return write_back(args, found.written, outs)


# Values of types that libraries add -----------------------------------------------------------------------


@shard_map_p.regroup
def _(
    sizes: Sequence[int], *, jaxpr: ClosedJaxpr, in_specs: Specs, out_specs: Specs, **params: Any
) -> dict:
    region = _region(params)
    ins, outs = _low_specs(in_specs), _low_specs(out_specs)
    if region.check_vma:
        avals = list(map(region.part, map(region.whole, jaxpr.in_avals, ins), ins))
        with region.inside():
            jaxpr = derived_jaxpr(
                jaxpr.jaxpr,
                (memo_keys.VARYING_INPUTS, ins),
                lambda *xs: eval_jaxpr(jaxpr.jaxpr, (), *xs),
                avals,
            )[0]
        jaxpr = region._varied(jaxpr, outs)
    return {"jaxpr": jaxpr, "in_specs": ins, "out_specs": outs, **params}


def _low_specs(specs: Specs) -> Specs:
    """Replace the specs of values of library types by those of the arrays that they stand for."""
    return tuple([low for s in specs for low in (s.to_lo() if isinstance(s, HiPspec) else (s,))])


# Derivatives ---------------------------------------------------------------------------------------------


@shard_map_p.jvp
def _(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> tuple:
    region = _region(params)
    nonzero = nonzero_marks(tangents)
    with region.inside():
        pushed, marks = jvp_jaxpr(jaxpr, nonzero)
    args = [*primals, *nonzero_tangents(tangents)]
    specs = [*in_specs, *map(_tangent_spec, compress(in_specs, nonzero))]
    result_specs = [*out_specs, *map(_tangent_spec, compress(out_specs, marks))]
    out = region.bind(pushed, args, specs, result_specs, name)
    n = len(out_specs)
    return out[:n], spread_tangents(out[n:], marks, list(map(aval_of, out[:n])))


@shard_map_p.linearize
def _(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> tuple:
    region = _region(params)
    nonzero = nonzero_marks(tangents)
    with region.inside():
        split = linearize_jaxpr(jaxpr, nonzero)
        n = len(out_specs)
        # A residual that differs between devices gets one more dimension, along which it is sharded.
        axes = [region.own_axes(a) for a in split.known.out_avals[n:]]
        known = _expand_residuals(split.known, n, axes)
    own_specs = [
        region.residual_spec(aval, a)
        for a, aval in zip(axes, split.known.out_avals[n:], strict=True)
    ]
    specs = [*out_specs, *own_specs]
    outs = region.bind(known, primals, in_specs, specs, name)
    out_avals = list(map(aval_of, outs[:n]))
    if not any(split.nonzero_out):
        return outs[:n], spread_tangents((), split.nonzero_out, out_avals)
    residuals, residual_specs, opened = [], [], []
    for where, k in split.residuals:
        residuals.append((primals if where == "in" else outs)[k])
        residual_specs.append((in_specs if where == "in" else specs)[k])
        opened.append(where == "out" and k >= n and bool(axes[k - n]))
    operands = [*residuals, *nonzero_tangents(tangents)]
    operand_specs = [*residual_specs, *map(_tangent_spec, compress(in_specs, nonzero))]
    with region.inside():
        avals = list(map(region.part, map(aval_of, operands), operand_specs))
        linear = _squeeze_residuals(split.linear, opened, avals)
    specs_of_tangents = list(map(_tangent_spec, compress(out_specs, split.nonzero_out)))
    pushed = region.bind(linear, operands, operand_specs, specs_of_tangents, name)
    return outs[:n], spread_tangents(pushed, split.nonzero_out, out_avals)


def _expand_residuals(known: ClosedJaxpr, n: int, axes: Sequence[tuple]) -> ClosedJaxpr:
    """Return the jaxpr with a leading dimension of size 1 on its nth and later results that vary."""
    if not any(axes):
        return known
    inner = known.jaxpr

    def fun(*xs: Any) -> list:
        outs = eval_jaxpr(inner, xs[: len(known.consts)], *xs[len(known.consts) :])
        rest = [
            reshape(x, (1, *aval_of(x).shape)) if a else x
            for x, a in zip(outs[n:], axes, strict=True)
        ]
        return [*outs[:n], *rest]

    hoisted = hoist_constants(inner)
    expanded = derived_jaxpr(
        inner, (memo_keys.RESIDUALS_EXPANDED, n, *axes), fun, hoisted.in_avals
    )[0]
    return _with_constants(expanded, known.consts)


def _with_constants(expanded: ClosedJaxpr, consts: Sequence[Any]) -> ClosedJaxpr:
    """Return the jaxpr with its first inputs as constants."""
    if not consts:
        return expanded
    inner, n = expanded.jaxpr, len(consts)
    jaxpr = inner.replace(constvars=[*inner.constvars, *inner.invars[:n]], invars=inner.invars[n:])
    return ClosedJaxpr(jaxpr, [*expanded.consts, *consts])


def _squeeze_residuals(
    linear: ClosedJaxpr, opened: Sequence[bool], avals: Sequence[Any]
) -> ClosedJaxpr:
    """Return the jaxpr for marked inputs with a leading dimension of size 1."""
    inner, n = linear.jaxpr, len(opened)

    def fun(*xs: Any) -> list:
        given = [
            reshape(x, aval_of(x).shape[1:]) if o else x for x, o in zip(xs, opened, strict=False)
        ]
        return eval_jaxpr(inner, linear.consts, *given, *xs[n:])

    return derived_jaxpr(inner, (memo_keys.RESIDUALS_SQUEEZED, *opened, *avals), fun, avals)[0]


@shard_map_p.transpose
def _(
    cts: Sequence[Any],
    *args: Any,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> list:
    region = _region(params)
    linear, nonzero = linear_marks(args), nonzero_marks(cts)
    with region.inside():
        if region.check_vma:
            transposed, marks = transpose_jaxpr(jaxpr, linear, nonzero)
        else:
            transposed, marks = _transposed_unchecked(
                region, jaxpr, linear, nonzero, in_specs, out_specs
            )
    of_linear, of_known = partition(in_specs, linear)
    specs = [*of_known, *map(_cotangent_spec, compress(out_specs, nonzero))]
    linear_specs = list(map(_cotangent_spec, compress(of_linear, marks)))
    found = region.bind(transposed, transposed_operands(args, cts), specs, linear_specs, name)
    return spread_cotangents(found, marks, args)


def _transposed_unchecked(
    region: Region,
    jaxpr: ClosedJaxpr,
    linear: tuple[bool, ...],
    nonzero: tuple[bool, ...],
    in_specs: Specs,
    out_specs: Specs,
) -> tuple:
    """Transpose a body without types that record which values are replicated.

    Devices with the same result get equal shares of its cotangent; the cotangent of an operand that several
    devices have is the sum of theirs.
    """
    inner = jaxpr.jaxpr
    if any(isinstance(s, HiPspec) for s in (*in_specs, *out_specs)):
        raise UnsupportedError(
            "derivatives of values of library types in shard_map need types that tell which values vary",
            function="shard_map",
            argument="check_vma",
            got=False,
            fix="leave out check_vma=False",
        )
    n_known = linear.count(False)
    marks: list[bool] = []

    def shared(ct: Any, spec: PartitionSpec) -> Any:
        n = region.size(region.not_in(spec))
        return mul(ct, scalar_like(1 / n, aval_of(ct).dtype)) if n > 1 else ct

    def summed(ct: Any, spec: PartitionSpec) -> Any:
        axes = tuple([a for a in region.not_in(spec) if region.size((a,)) > 1])
        return psum_p.bind(ct, axes=axes) if axes else ct

    def fun(*xs: Any) -> list:
        values, given = iter(xs[:n_known]), iter(xs[n_known:])
        inputs = [
            Linear(v.aval) if lin else next(values)
            for v, lin in zip(inner.invars, linear, strict=True)
        ]
        cts = [
            shared(next(given), spec) if nz else Zero(v.aval)
            for v, spec, nz in zip(inner.outvars, out_specs, nonzero, strict=True)
        ]
        found = backward(inner, jaxpr.consts, inputs, cts)
        pairs = [(c, s) for c, s, lin in zip(found, in_specs, linear, strict=True) if lin]
        marks[:] = nonzero_marks([c for c, _ in pairs])
        return [summed(c, s) for c, s in compress(pairs, marks)]

    avals = [*partition(inner.in_avals, linear)[1], *compress(inner.out_avals, nonzero)]
    key = (memo_keys.SHARD_MAP_TRANSPOSE, region, linear, nonzero, in_specs, out_specs)
    return derived_jaxpr(inner, key, fun, avals, marks)


# Batching ------------------------------------------------------------------------------------------------


@shard_map_p.batch
def _(
    axis: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> tuple:
    region = _region(params)
    along = axis.spmd_name if axis.spmd_name is not None else ()
    along = along if isinstance(along, tuple) else (along,)
    along = tuple([n for n in along if n in region.manual_axes])
    local = BatchAxis(axis.size // region.size(along), axis.name) if along else axis
    with region.inside():
        if along and region.check_vma:
            jaxpr = _varied_inputs(jaxpr, in_dims, along)
        batched, out_dims = batch_jaxpr(jaxpr, local, tuple(in_dims))
    specs = [_with_dimension(s, d, along) for s, d in zip(in_specs, in_dims, strict=True)]
    outs = [_with_dimension(s, d, along) for s, d in zip(out_specs, out_dims, strict=True)]
    return region.bind(batched, args, specs, outs, name), list(out_dims)


def _varied_inputs(closed: ClosedJaxpr, in_dims: Sequence[Any], axes: tuple) -> ClosedJaxpr:
    """Return the jaxpr for inputs that vary along their mapped axes."""
    marks = tuple([d is not None for d in in_dims])
    avals = [
        a.with_vma(a.vma | frozenset(axes)) if m else a
        for a, m in zip(closed.in_avals, marks, strict=True)
    ]

    def fun(*xs: Any) -> list:
        return eval_jaxpr(closed.jaxpr, (), *xs)

    return derived_jaxpr(closed.jaxpr, (memo_keys.VARYING_INPUTS, marks, axes), fun, avals)[0]


def _with_dimension(spec: PartitionSpec, d: int | None, axes: tuple) -> PartitionSpec:
    """Return the spec with an entry for one more dimension."""
    if d is None or (d >= len(spec) and not axes):
        return spec
    parts = [*tuple(spec), *[None] * (d - len(spec))]
    parts.insert(d, axes or None)
    return spec.update(partitions=tuple(parts))


# Lowering ------------------------------------------------------------------------------------------------


@shard_map_p.lower
def _(
    b: Any,
    *xs: Any,
    jaxpr: ClosedJaxpr,
    in_specs: Specs,
    out_specs: Specs,
    name: str,
    **params: Any,
) -> list:
    region = _region(params)
    mesh, module = region.mesh, b.module
    if any(e.ordered for e in jaxpr.effects):
        raise UnsupportedError(
            "effects cannot have an order among several devices",
            function=f"shard_map of {name}",
            fix="pass ordered=False to the callback",
        )
    outer = module.manual
    manual = region.manual_axes | (outer.manual if outer is not None else frozenset())
    symbol = module.mesh_name(mesh) if module.devices else ""
    positions = _positions(mesh, module.devices)
    groups = DeviceGroups(mesh.shape, manual, positions, module.channels, symbol)
    if not module.devices:
        if mesh.size > 1:
            raise ArgumentValueError(
                "the program has no devices: neither the mesh nor an argument tells them",
                function=f"shard_map of {name}",
                argument="mesh",
                got=mesh,
                expected="a Mesh of devices, or arguments that lie on such",
            )
        return _inlined(b, groups, jaxpr, xs)
    partial = len(manual) < len(mesh.axis_names)
    names = ", ".join([f'"{n}"' for n in mesh.axis_names if n in region.manual_axes])

    def shardings(values: Sequence[Any], specs: Specs) -> str:
        texts = []
        for aval, spec in zip(values, specs, strict=True):
            ndim = b.physical(aval).ndim
            text = sdy_sharding(symbol, spec, ndim, open=partial)
            rest = region.not_in(spec)
            if rest:
                text = f"{text[:-1]}, replicated={{{', '.join([f'{chr(34)}{n}{chr(34)}' for n in rest])}}}>"
            texts.append(text)
        return f"#sdy.sharding_per_value<[{', '.join(texts)}]>"

    saved = b.constants, b.dim_values
    module.manual, b.constants, b.dim_values = groups, {}, {}
    outs = list(map(region.whole, jaxpr.out_avals, out_specs))
    try:
        with region.inside():
            body = b.region(
                jaxpr.in_avals, lambda *ys: b.inline(jaxpr.jaxpr, ys), terminator="sdy.return"
            )
    finally:
        module.manual = outer
        b.constants, b.dim_values = saved
    return b.op(
        "sdy.manual_computation",
        xs,
        outs,
        regions=[body],
        in_shardings=shardings([x.aval for x in xs], in_specs),
        out_shardings=shardings(outs, out_specs),
        manual_axes=f"#sdy<manual_axes{{{names}}}>",
    )


def _inlined(b: Any, groups: DeviceGroups, jaxpr: ClosedJaxpr, xs: Sequence[Any]) -> list:
    module, outer = b.module, b.module.manual
    module.manual = groups
    try:
        return b.inline(jaxpr.jaxpr, xs)
    finally:
        module.manual = outer


def _positions(mesh: Any, devices: tuple) -> tuple[int, ...]:
    """Return the position of each device of the mesh among the devices of the executable."""
    if not isinstance(mesh, Mesh) or not devices or mesh._flat == tuple(devices):
        return tuple(range(mesh.size))
    where = {d: i for i, d in enumerate(devices)}
    return tuple([where[d] for d in mesh._flat])
