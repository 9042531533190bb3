"""Track which values vary along mesh axes inside `shard_map`, and sum over devices.

There a value is either replicated along an axis, or it varies; its type records it (`aval.vma`). A replicated
value may be used directly where others vary: its cotangent is then the sum of the devices' cotangents,
computed by `sum_to`. So the derivatives are those of the one global function that all devices run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import meshes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import OPAQUE
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.primitive import Primitive
from sagax._src.core.shardings import NamedSharding, ShardingTypeError
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.trace import named_axis
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import mul
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.structural import reduce_sum

# Varying values ------------------------------------------------------------------------------------------

pvary_p = Primitive(
    "pvary", family=OPAQUE, creates_nan=False, multilinear=True, is_higher_order=True
)
pvary_p.sets_vma = True


@pvary_p.abstract
def _(x: Any, *, axes: tuple) -> Any:
    return x.with_vma(x.vma | frozenset(axes))


@pvary_p.reference
def _(x: Any, *, axes: tuple) -> Any:
    return np.asarray(x)


@pvary_p.show
def _(*, axes: tuple) -> dict:
    return {"axes": repr(axes)}


@pvary_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple) -> tuple:
    out = pvary_p.bind(*primals, axes=axes)
    (t,) = tangents
    return out, Zero.like(aval_of(out)) if is_zero(t) else pvary_p.bind(t, axes=axes)


@pvary_p.transpose
def _(ct: Any, x: Any, *, axes: tuple) -> tuple:
    return (ct,)  # `add_tangents` sums it over the devices when it joins the cotangents of `x`


@pvary_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple) -> tuple:
    return pvary_p.bind(args[0], axes=axes), in_dims[0]


@pvary_p.lower
def _(b: Any, x: Any, *, axes: tuple) -> Any:
    return x


def vary(x: Any, axes: Iterable[Any]) -> Any:
    """Cast `x` to vary along those of `axes` that types track."""
    known = aval_of(x).vma
    missing = tuple([name for name in axes if name not in known and named_axis(name).checked])
    return _vary(x, missing) if missing else x


def _vary(x: Any, missing: tuple) -> Any:
    shown = aval_of(x).explicit_sharding
    if shown is None or not shown.spec.partial:
        return pvary_p.bind(x, axes=missing)
    sums = in_order(shown.spec.unreduced.intersection(missing))
    if sums:
        raise ShardingTypeError(
            f"the value is unreduced along {', '.join(map(repr, sums))}, where one that varies is needed",
            function="pcast",
            got=aval_of(x).str_short(short_dtypes=False),
            fix=f"add it up: lax.psum(x, {sums[0]!r}), or lax.psum_scatter",
        )
    marked = [name for name in missing if name in shown.spec.reduced]
    others = tuple([name for name in missing if name not in marked])
    x = _CASTS["reduced", "varying"].bind(x, axes=in_order(marked)) if marked else x
    return pvary_p.bind(x, axes=others) if others else x


def vary_like(x: Any, vma: frozenset) -> Any:
    """Cast `x` to vary at least along the axes `vma`."""
    missing = vma - aval_of(x).vma if vma else vma
    return _vary(x, in_order(missing)) if missing else x


# Casts between what differs, unreduced sums, and shared values whose cotangents are such -----------------


def _along(aval: Any, axes: tuple, to: str) -> Any:
    """Return the type that is, along these manual axes, `to`."""
    names = frozenset(axes)
    vma = aval.vma | names if to == "varying" else aval.vma - names
    shown = aval.explicit_sharding
    spec = PartitionSpec() if shown is None else shown.spec
    sets: dict[str, Any] = {"unreduced": spec.unreduced - names, "reduced": spec.reduced - names}
    if to in sets:
        sets[to] |= names
    parts = [spec.axes(i) for i in range(aval.ndim)]
    spec = PartitionSpec(*parts, **sets)
    mesh = meshes.get_abstract_mesh() if shown is None else shown.mesh
    if not (spec.partial or set(mesh.explicit_axes)):
        return aval.update(sharding=None, vma=vma)
    return aval.update(sharding=NamedSharding(mesh, spec), vma=vma)


_CASTS: dict[tuple[str, str], Primitive] = {}
_OF_COTANGENTS = {"varying": "varying", "unreduced": "reduced", "reduced": "unreduced"}


def _cast(name: str, source: str, to: str) -> None:
    """Define a cast, which leaves what each device has as it is."""
    p = Primitive(name, family=OPAQUE, creates_nan=False, multilinear=True, is_higher_order=True)
    p.sets_vma = True
    p.reference_rule = lambda x, axes: np.asarray(x)
    p.show_rule = lambda axes: {"axes": repr(axes)}
    p.lower_rule = lambda b, x, axes: x
    p.abstract_rule = lambda x, axes: _along(x, axes, to)

    @p.jvp
    def _(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple) -> tuple:
        out = p.bind(*primals, axes=axes)
        (t,) = tangents
        return out, Zero.like(aval_of(out)) if is_zero(t) else p.bind(t, axes=axes)

    @p.transpose
    def _(ct: Any, x: Any, *, axes: tuple) -> tuple:
        if source == "invarying":
            return (psum_p.bind(ct, axes=axes),)
        back = _CASTS[_OF_COTANGENTS[to], _OF_COTANGENTS[source]]
        return (back.bind(ct, axes=axes),)

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple) -> tuple:
        return p.bind(args[0], axes=axes), in_dims[0]

    _CASTS[source, to] = p


_cast("vary_unreduced_cast", "varying", "unreduced")
_cast("reduced_vary_cast", "reduced", "varying")
_cast("preduced", "invarying", "reduced")
_cast("unreduced_vary_cast", "unreduced", "varying")
_cast("vary_reduced_cast", "varying", "reduced")


def axis_state(aval: Any, name: Any) -> str:
    """Return what values of a type are along a manual axis: varying, unreduced, reduced or invarying."""
    if name in aval.vma:
        return "varying"
    if aval.explicit_sharding is not None:
        spec = aval.explicit_sharding.spec
        for word in ("unreduced", "reduced"):
            if name in getattr(spec, word):
                return word
    return "invarying"


def cast(x: Any, axes: Iterable[Any], to: str) -> Any:
    """Cast `x` along manual axes, from what it is along each of them."""
    by_source: dict[str, list] = {}
    for name in axes:
        by_source.setdefault(axis_state(aval_of(x), name), []).append(name)
    for source, names in by_source.items():
        if (source, to) == ("invarying", "varying"):
            x = vary(x, names)
        elif (source, to) in _CASTS:
            x = _CASTS[source, to].bind(x, axes=in_order(names))
    return x


def can_cast(source: str, to: str) -> bool:
    """Return whether values can be cast so without an exchange between devices, by what users write."""
    return (source, to) in {
        ("varying", "unreduced"),
        ("reduced", "varying"),
        ("invarying", "reduced"),
        ("invarying", "varying"),
    }


def cast_cotangent(ct: Any, aval: Any) -> Any:
    """Cast the cotangent of values of type `aval` along its manual axes."""
    for name in aval.explicit_sharding.mesh.manual_axes:
        state = axis_state(aval, name)
        want = _OF_COTANGENTS.get(state, state)
        if state in ("unreduced", "reduced") and axis_state(aval_of(ct), name) != want:
            ct = cast(ct, (name,), want)
    return ct


def in_order(axes: Iterable[Any]) -> tuple:
    """Sort the names in an order independent of set iteration."""
    return tuple(sorted(axes, key=str))


# Sums over devices ---------------------------------------------------------------------------------------


def _unmapped(p: Primitive) -> None:
    """Batch a reduction over devices by a vmap over another axis: add a dimension."""

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        return p.bind(args[0], **params), in_dims[0]


def device_reduction(
    name: str, combine: str, reduce: Callable, repeated: Callable, **answers: Any
) -> Primitive:
    """Define a reduction over named axes, of equal shape on all devices (or examples).

    Args:
        combine: the StableHLO operation that combines two values.
        reduce: reduces a mapped array over a dimension.
        repeated: the reduction of so many equal values.
    """
    p = Primitive(name, is_higher_order=True, family=OPAQUE, **answers)
    p.sets_vma = True

    @p.abstract
    def _(x: Any, *, axes: tuple, groups: Any = None) -> Any:
        for a in axes:
            named_axis(a)
        shared = frozenset(axes) if groups is None else frozenset()
        found = x.strip_weak_type().with_vma(x.vma - shared)
        if found.explicit_sharding is not None and found.explicit_sharding.spec.partial:
            found = _along(found, axes, "invarying")
        return found

    def collective(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple, groups: Any = None
    ) -> Any:
        if axis.name not in axes:
            return NotImplemented
        (x,), (d,) = args, in_dims
        x = repeated(x, axis.size) if d is None else reduce(x, d)
        rest = tuple(a for a in axes if a != axis.name)
        return (p.bind(x, axes=rest) if rest else x), None

    p.batch_collective = collective
    _unmapped(p)

    @p.show
    def _(*, axes: tuple, groups: Any = None) -> dict:
        shown = {"axes": repr(axes)}
        return shown if groups is None else {**shown, "axis_index_groups": groups}

    @p.lower
    def _(b: Any, x: Any, *, axes: tuple, groups: Any = None) -> Any:
        scalar = intern_aval((), x.aval.dtype)
        body = b.region([scalar, scalar], lambda u, v: [b.op(combine, [u, v], scalar)])
        attributes = b.module.manual.attributes(b, axes, groups)
        return b.op(
            "all_reduce", [x], b.out, regions=[body], use_global_device_ids="", **attributes
        )

    return p


psum_p = device_reduction(
    "psum",
    "add",
    lambda x, d: reduce_sum(x, (d,)),
    lambda x, n: mul(x, n if aval_of(x).weak_type else scalar_like(n, aval_of(x).dtype)),
)


@psum_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    out = psum_p.bind(*primals, **params)
    (t,) = tangents
    return out, Zero.like(aval_of(out)) if is_zero(t) else psum_p.bind(t, **params)


@psum_p.transpose
def _(ct: Any, x: Any, *, axes: tuple, groups: Any = None) -> tuple:
    # If types record that `x` varies, its sum is one value, and each device's share of the cotangent all of it.
    # Otherwise each device (or example) has its own sum, with its own cotangent.
    if groups is not None:
        return (psum_p.bind(ct, axes=axes, groups=groups),)
    one = tuple(a for a in axes if a in x.aval.vma)
    sums = tuple(a for a in axes if axis_state(x.aval, a) == "unreduced")
    own = tuple(a for a in axes if a not in x.aval.vma and a not in sums)
    ct = vary_like(ct, frozenset(one))
    ct = cast(ct, sums, "reduced") if sums else ct
    return (psum_p.bind(ct, axes=own) if own else ct,)


def sum_to(ct: Any, aval: Any) -> Any:
    """Sum the cotangent of a value of type `aval` over the axes along which only the cotangent varies."""
    extra = aval_of(ct).vma - aval.vma
    if extra and aval.explicit_sharding is not None:
        extra -= aval.explicit_sharding.spec.reduced
    return psum_p.bind(ct, axes=in_order(extra)) if extra else ct
