"""Count the work of sagax's primitives.

What has no rule here counts by its traits. The formulas are those of jax's roofline, so that numbers can be compared:
cumulative operations count one row, `select_n` reads its condition only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.callbacks.callbacks import (
    debug_callback_p,
    io_callback_p,
    ordered_callback_p,
    pure_callback_p,
)
from sagax._src.collectives.collectives import (
    all_gather_invariant_p,
    all_gather_p,
    all_to_all_p,
    pmax_p,
    pmin_p,
    ppermute_p,
    psum_p,
    psum_scatter_p,
)
from sagax._src.core.families import Fusion
from sagax._src.primitives.convolution import conv_general_dilated_p
from sagax._src.primitives.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.gathering import GatherScatterMode, gather_p
from sagax._src.primitives.mesh_axes import pvary_p
from sagax._src.primitives.scattering import (
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import real_p
from sagax.experimental.roofline._results import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
)

register_standard_roofline(pvary_p)


def by_traits(ctx: RooflineRuleContext, *shapes: RooflineShape, **params: Any) -> RooflineResult:
    """Count elementwise operations and reductions; the others move elements, or count nothing."""
    primitive, results = ctx.primitive, _results(ctx)
    if primitive.fusion == Fusion.REDUCES and "axes" in params:
        kept = sum([r.size for r in results])
        # a sum of n numbers is n - 1 additions
        return _unfused(shapes[0].size - kept, [*shapes[:1], *results])
    if primitive.elementwise and primitive.cost:
        return _unfused(sum([r.size for r in results]), [*shapes, *results])
    return RooflineResult()


def _results(ctx: RooflineRuleContext) -> list[RooflineShape]:
    return [RooflineShape.from_aval(a) for a in ctx.avals_out]


def _unfused(flops: int, moved: Sequence[RooflineShape]) -> RooflineResult:
    """Return the work of an operation that reads and writes these arrays."""
    return RooflineResult(unfused_flops=flops, unfused_hbm_bytes=sum([s.bytes for s in moved]))


@register_roofline(real_p)
def _(ctx: RooflineRuleContext, x: RooflineShape, **_: Any) -> RooflineResult:
    return _unfused(x.size, [x, *_results(ctx)])


@register_roofline(select_n_p)
def _(ctx: RooflineRuleContext, which: RooflineShape, *cases: Any, **_: Any) -> RooflineResult:
    (out,) = _results(ctx)
    return _unfused(out.size, [which, out])


@register_roofline(cumsum_p)
@register_roofline(cumprod_p)
@register_roofline(cummax_p)
@register_roofline(cummin_p)
def _(ctx: RooflineRuleContext, x: RooflineShape, *, axis: int, **_: Any) -> RooflineResult:
    return _unfused(x.shape[axis], [x, *_results(ctx)])


@register_roofline(cumlogsumexp_p)
def _(ctx: RooflineRuleContext, x: RooflineShape, *, axis: int, **_: Any) -> RooflineResult:
    # an exponential for each element, as many additions less one, a logarithm
    return _unfused(2 * x.shape[axis], [x, *_results(ctx)])


# Products ------------------------------------------------------------------------------------------


@register_roofline(dot_general_p)
def _(
    ctx: RooflineRuleContext, lhs: RooflineShape, rhs: RooflineShape, **params: Any
) -> RooflineResult:
    flops = int(ctx.primitive.cost([lhs, rhs], _results(ctx), params))  # type: ignore[operator]
    moved = 0 if ctx.pin_lhs_in_vmem else lhs.bytes + sum([r.bytes for r in _results(ctx)])
    moved += 0 if ctx.pin_rhs_in_vmem else rhs.bytes
    return RooflineResult(
        flops=flops, unfused_flops=flops, hbm_bytes=moved, unfused_hbm_bytes=moved
    )


@register_roofline(conv_general_dilated_p)
def _(
    ctx: RooflineRuleContext,
    lhs: RooflineShape,
    rhs: RooflineShape,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Any,
    batch_group_count: int,
    **_: Any,
) -> RooflineResult:
    (out,), numbers = _results(ctx), dimension_numbers
    products = rhs.shape[numbers.rhs_spec[1]] * out.shape[numbers.out_spec[1]]
    products = products * lhs.shape[numbers.lhs_spec[0]] // batch_group_count
    dims = zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    for i, (a, b, c) in enumerate(dims):
        # positions of the kernel and of the result whose product is not with padding
        at = np.arange(out.shape[c])[:, None] * window_strides[i] - padding[i][0]
        at = at + np.arange(rhs.shape[b]) * rhs_dilation[i]
        inside = (at >= 0) & (at < lhs.shape[a] * lhs_dilation[i]) & (at % lhs_dilation[i] == 0)
        products *= int(inside.sum())
    return _unfused(2 * products, [lhs, rhs, out])


# Reads and writes at indices -----------------------------------------------------------------------


@register_roofline(gather_p)
def _(
    ctx: RooflineRuleContext, x: RooflineShape, indices: RooflineShape, *, mode: Any, **_: Any
) -> RooflineResult:
    (out,) = _results(ctx)
    # filling: two comparisons, `and` and a reduction for each index, and a selection for each element
    fills = mode == GatherScatterMode.FILL_OR_DROP
    return _unfused(4 * indices.size + out.size if fills else 0, [out, out, indices])


@register_roofline(scatter_p)
@register_roofline(scatter_add_p)
@register_roofline(scatter_sub_p)
@register_roofline(scatter_mul_p)
@register_roofline(scatter_min_p)
@register_roofline(scatter_max_p)
@register_roofline(scatter_apply_p)
def _(
    ctx: RooflineRuleContext,
    x: RooflineShape,
    indices: RooflineShape,
    updates: RooflineShape,
    *,
    update_jaxpr: Any = None,
    **_: Any,
) -> RooflineResult:
    moved = [updates, updates, updates, indices]  # updates, and the elements read and written
    if ctx.primitive is scatter_p:
        return _unfused(0, moved)
    if ctx.primitive is not scatter_apply_p:
        return _unfused(updates.size, moved)
    each = sum(1 for eqn in update_jaxpr.eqns if eqn.primitive.elementwise and eqn.primitive.cost)
    return _unfused(each * updates.size, moved)


# Calls of the host ---------------------------------------------------------------------------------


@register_roofline(pure_callback_p)
@register_roofline(io_callback_p)
@register_roofline(ordered_callback_p)
@register_roofline(debug_callback_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, **_: Any) -> RooflineResult:
    return _unfused(0, [*shapes, *_results(ctx)])  # what travels; the function itself is not known


# Collectives ---------------------------------------------------------------------------------------


def _sizes(ctx: RooflineRuleContext, axes: Any) -> dict[str, int]:
    """Return the sizes of the mesh axes that a collective runs along."""
    names = axes if isinstance(axes, tuple) else (axes,)
    shape = ctx.mesh.shape if ctx.mesh is not None else {}
    return {name: shape.get(name, 1) for name in names}


def _exchanged(sizes: dict[str, int], sent: float, hops: float) -> RooflineResult:
    if math.prod(sizes.values()) == 1:
        sent = hops = 0
    return RooflineResult(
        ici_bytes=dict.fromkeys(sizes, int(sent)), ici_latency=dict.fromkeys(sizes, int(hops))
    )


def _rings(sizes: dict[str, int], shard: float, phases: int = 1) -> RooflineResult:
    """Count rings along each axis in turn; several axes are busy at once, each with its part of the data.

    A ring over n devices sends each shard n - 1 times, after which shards are n times as long. So rings along all
    axes send the first shard once less than there are devices.
    """
    part = shard // len(sizes)
    sent = part * (math.prod(sizes.values()) - 1)
    hops = max(sizes.values()) * len(sizes)
    return _exchanged(sizes, phases * int(sent), phases * hops)


@register_roofline(all_gather_p)
@register_roofline(all_gather_invariant_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, axis_name: Any, **_: Any) -> RooflineResult:
    return _rings(_sizes(ctx, axis_name), sum([s.bytes for s in shapes]))


@register_roofline(psum_scatter_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, axis_name: Any, **_: Any) -> RooflineResult:
    sizes = _sizes(ctx, axis_name)
    return _rings(sizes, sum([s.bytes for s in shapes]) / math.prod(sizes.values()))


@register_roofline(psum_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, axes: tuple, **_: Any) -> RooflineResult:
    # the shards are summed, and then gathered
    sizes = _sizes(ctx, axes)
    return _rings(sizes, sum([s.bytes for s in shapes]) / math.prod(sizes.values()), phases=2)


@register_roofline(pmax_p)
@register_roofline(pmin_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, axes: tuple, **_: Any) -> RooflineResult:
    return _rings(_sizes(ctx, axes), sum([s.dtype.itemsize for s in shapes]))


@register_roofline(all_to_all_p)
def _(ctx: RooflineRuleContext, *shapes: RooflineShape, axis_name: Any, **_: Any) -> RooflineResult:
    sizes = _sizes(ctx, axis_name)
    total = sum([s.bytes for s in shapes]) * math.prod(sizes.values())
    shortest = min(sizes.values())
    # links that cut the devices into halves; a ring of more than two is cut twice
    links = shortest ** (len(sizes) - 1) * (2 if shortest > 2 else 1)
    return _exchanged(sizes, total / 2 / links, sum([n / 2 for n in sizes.values()]))


@register_roofline(ppermute_p)
def _(
    ctx: RooflineRuleContext, *shapes: RooflineShape, axis_name: Any, perm: Any, **_: Any
) -> RooflineResult:
    sizes = _sizes(ctx, axis_name)
    mesh, loads, hops = tuple(sizes.values()), Counter(), 0
    for source, target in perm:
        here, there = [tuple(map(int, np.unravel_index(k, mesh))) for k in (source, target)]
        path = [here]
        for i, n in enumerate(mesh):
            forward = (there[i] - here[i]) % n
            step = 1 if forward <= n - forward else -1  # the shorter way around the ring
            for _step in range(min(forward, n - forward)):
                at = path[-1]
                path.append((*at[:i], (at[i] + step) % n, *at[i + 1 :]))
        # one way around a ring of two devices is the other one, too
        loads.update([frozenset(link) for link in zip(path, path[1:])])
        hops = max(hops, len(path) - 1)
    sent = sum([s.bytes for s in shapes]) * max(loads.values(), default=0)
    return _exchanged(sizes, sent, hops)
