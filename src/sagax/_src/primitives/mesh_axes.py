"""Track which values vary along mesh axes inside `shard_map`, and sum over devices.

There a value is either replicated along an axis, or it varies; its type records it (`aval.vma`). A replicated
value may be used directly where others vary: its cotangent is then the sum of the devices' cotangents,
computed by `sum_to`. So the derivatives are those of the one global function that all devices run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sagax._src.core.avals import intern_aval
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
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
    return pvary_p.bind(x, axes=missing) if missing else x


def vary_like(x: Any, vma: frozenset) -> Any:
    """Cast `x` to vary at least along the axes `vma`."""
    missing = vma - aval_of(x).vma if vma else vma
    return pvary_p.bind(x, axes=in_order(missing)) if missing else x


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
        return x.strip_weak_type().with_vma(x.vma - shared)

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
    own = tuple(a for a in axes if a not in x.aval.vma)
    ct = vary_like(ct, frozenset(one))
    return (psum_p.bind(ct, axes=own) if own else ct,)


def sum_to(ct: Any, aval: Any) -> Any:
    """Sum the cotangent of a value of type `aval` over the axes along which only the cotangent varies."""
    extra = aval_of(ct).vma - aval.vma
    return psum_p.bind(ct, axes=in_order(extra)) if extra else ct
