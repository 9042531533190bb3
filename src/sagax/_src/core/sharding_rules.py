"""Define sharding rules: how the shardings of results follow over Explicit axes of a mesh.

A rule gets, for each operand, the axes along which each of its dimensions is cut, and says the same of
each result. It raises where the result would depend on a choice: then the user says what is meant.
Operations without a rule take operands that are whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core import dims, dtypes
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.shardings import NamedSharding, ShardingTypeError

Cuts = tuple[tuple, ...]  # for each dimension the axes along which it is cut


class Call:
    """An operation on operands of which some have shardings in their types."""

    __slots__ = ("avals", "cuts", "mesh", "name", "outs", "params")

    def __init__(
        self, name: str, avals: Sequence[Any], mesh: Any, outs: Sequence[Any], params: dict
    ) -> None:
        self.name = name
        self.avals = avals
        self.mesh = mesh
        self.outs = outs
        self.params = params
        self.cuts: list[Cuts] = [
            tuple([a.sharding.spec.axes(i) for i in range(a.ndim)])
            if getattr(a, "sharding", None) is not None
            else ((),) * len(a.shape)
            for a in avals
        ]

    def wrong(self, message: str, fix: str | None = None, **facts: Any) -> ShardingTypeError:
        """The error for operands that do not go together."""
        types = ", ".join([a.str_short(short_dtypes=False) for a in self.avals])
        return ShardingTypeError(
            message,
            function=self.name,
            **{"got": types, "fix": fix, "mesh": self.mesh, "avals": self.avals, **facts},
        )

    def with_cut(self, operand: int, dimension: int, axes: tuple) -> str:
        """How to write that an operand is divided so: `P('x', None)`."""
        cuts = list(self.cuts[operand])
        cuts[dimension] = axes
        return spec_text(cuts)


def spec_text(cuts: Sequence[tuple]) -> str:
    """`P('x', None)`."""
    return repr(PartitionSpec(*cuts))


def infer(primitive: Any, avals: Sequence[Any], out: Any, params: dict) -> Any:
    """The aval(s) of an operation's result(s), with the shardings that follow from its operands."""
    several = primitive.multiple_results
    outs = list(out) if several else [out]
    call = Call(primitive.name, avals, common_mesh(primitive.name, avals), outs, params)
    rule = _RULES.get(primitive.name)
    if rule is None:
        rule = _elementwise if primitive.elementwise else _whole
    found = rule(call)
    typed = [_typed(call, aval, cuts) for aval, cuts in zip(outs, found, strict=True)]
    return typed if several else typed[0]


def common_mesh(name: str, avals: Sequence[Any]) -> Any:
    """The mesh of all operands that have one in their types."""
    found, first = None, 0
    for i, a in enumerate(avals):
        sharding = getattr(a, "sharding", None)
        if sharding is None or sharding.mesh is found:
            continue
        if found is not None:
            raise ShardingTypeError(
                "the operands are divided along different meshes",
                function=name,
                expected=f"all on {found}, as operand {first} of type {avals[first].str_short()}",
                got=f"{sharding.mesh} for operand {i} of type {a.str_short()}",
                fix="put them on the same mesh with sagax.sharding.reshard",
            )
        found, first = sharding.mesh, i
    return found


def _typed(call: Call, aval: Any, cuts: Cuts) -> Any:
    seen: dict[Any, int] = {}
    sizes = call.mesh.shape
    for i, axes in enumerate(cuts):
        for name in axes:
            if name in seen:
                raise call.wrong(
                    f"the result would be divided along axis {name!r} of the mesh twice: dimensions "
                    f"{seen[name]} and {i} of {spec_text(cuts)}",
                    fix=f"reshard an operand so that {name!r} cuts one of these dimensions only",
                )
            seen[name] = i
        parts = math.prod([sizes[n] for n in axes])
        if parts > 1 and not dims.is_dim(aval.shape[i]) and aval.shape[i] % parts:
            raise call.wrong(
                f"the result of shape {aval.shape} cannot be divided as {spec_text(cuts)}: its "
                f"dimension {i} of size {aval.shape[i]} does not divide into {parts} parts",
                fix="reshard the operand first, so that this dimension is whole",
            )
    return aval.update(sharding=NamedSharding(call.mesh, PartitionSpec(*cuts)))


# --- rules: operands are merged -------------------------------------------------------------------


def _whole(call: Call) -> list[Cuts]:
    """For operations that need all of each operand."""
    for i, cuts in enumerate(call.cuts):
        for axis, axes in enumerate(cuts):
            if axes:
                raise call.wrong(
                    f"there is no rule for operands that are divided, and dimension {axis} of operand "
                    f"{i} is divided along {_axes_text(axes)}",
                    fix=f"use sagax.sharding.auto_axes around the operation, or reshard the operand to "
                    f"{call.with_cut(i, axis, ())}",
                )
    return [((),) * len(a.shape) for a in call.outs]


def _axes_text(axes: tuple) -> str:
    return " and ".join([repr(n) for n in axes])


def _merged(call: Call, cuts: Sequence[Cuts], shapes: Sequence[tuple], shape: tuple) -> Cuts:
    """What operands of one shape, or of sizes 1 where they are stretched, have in common."""
    found: list[tuple] = []
    for axis in range(len(shape)):
        agreed: tuple = ()
        at = 0
        for i, (cut, own) in enumerate(zip(cuts, shapes, strict=True)):
            if len(own) != len(shape):
                continue  # a scalar that stands for all
            axes = cut[axis]
            if not axes or axes == agreed:
                continue
            if agreed:
                raise call.wrong(
                    f"operands have incompatible shardings: dimension {axis} is divided along "
                    f"{_axes_text(agreed)} in operand {at} and along {_axes_text(axes)} in operand {i}",
                    fix=f"reshard one of them, such as operand {i}: "
                    f"sagax.sharding.reshard(x, {spec_text(cuts[at])})",
                )
            agreed, at = axes, i
        found.append(agreed)
    _check_merged(call, found, cuts)
    return tuple(found)


def _check_merged(call: Call, found: Sequence[tuple], cuts: Sequence[Cuts]) -> None:
    for k, axes in enumerate(found):
        for name in axes:
            others = [i for i in range(k) if name in found[i]]
            if others:
                raise call.wrong(
                    f"operands have incompatible shardings: {name!r} divides dimension {others[0]} of "
                    f"one and dimension {k} of another ({' and '.join(map(spec_text, cuts))})",
                    fix=f"reshard one of them: sagax.sharding.reshard(x, {spec_text(cuts[0])})",
                )


def _elementwise(call: Call) -> list[Cuts]:
    out = call.outs[0]
    shapes = [a.shape for a in call.avals]
    found = _merged(call, call.cuts, shapes, out.shape)
    return [found] * len(call.outs)


def _first(call: Call) -> list[Cuts]:
    return [call.cuts[0]] * len(call.outs)


def _each(call: Call) -> list[Cuts]:
    return list(call.cuts)


# --- rules: dimensions come and go ------------------------------------------------------------------


def _reduction(call: Call) -> list[Cuts]:
    axes = call.params["axes"]
    return [tuple([c for i, c in enumerate(call.cuts[0]) if i not in axes])]


def _transpose(call: Call) -> list[Cuts]:
    return [tuple([call.cuts[0][p] for p in call.params["permutation"]])]


def _broadcast(call: Call) -> list[Cuts]:
    shape = call.params["shape"]
    found: list[tuple] = [()] * len(shape)
    for i, k in enumerate(call.params["broadcast_dimensions"]):
        found[k] = call.cuts[0][i]
    return [tuple(found)]


def _squeeze(call: Call) -> list[Cuts]:
    gone = call.params["dimensions"]
    return [tuple([c for i, c in enumerate(call.cuts[0]) if i not in gone])]


def _reshape(call: Call) -> list[Cuts]:
    """Dimensions are merged or split in groups of equal size; what is cut must be the first of its
    group, so that the parts stay in order."""
    old, new = call.avals[0].shape, call.outs[0].shape
    cuts = call.cuts[0]
    found: list[tuple] = [()] * len(new)
    sizes = call.mesh.shape
    for before, after in _groups(old, new):
        cut = [i for i in before if cuts[i]]
        if not cut:
            continue
        small = [k for k in after if new[k] != 1]
        wide = [i for i in before if old[i] != 1]
        if len(wide) == 1 and len(small) == 1:
            found[small[0]] = cuts[wide[0]]
            continue
        axes = tuple([name for i in cut for name in cuts[i]])
        parts = math.prod([sizes[n] for n in axes])
        # all before the last cut dimension must be cut wholly: then parts lie one after the other
        in_order = all(
            math.prod([sizes[n] for n in cuts[i]]) == old[i] for i in wide[: wide.index(cut[-1])]
        )
        if len(small) == 1 and _mergeable(wide, cut, cuts, old, sizes):
            found[small[0]] = axes
        elif small and in_order and new[small[0]] % parts == 0:
            found[small[0]] = axes
        else:
            raise call.wrong(
                f"this reshape to {new} is not supported for an operand that is divided along "
                f"{_axes_text(axes)}: the parts of the result would not be parts of the operand",
                fix="say how the result is divided, with out_sharding=P(...), or reshard the operand "
                f"to {call.with_cut(0, cut[0], ())}",
            )
    return [tuple(found)]


def _mergeable(wide: list[int], cut: list[int], cuts: Cuts, old: tuple, sizes: Any) -> bool:
    """Whether merged dimensions are cut from the first one on without a gap."""
    return cut == wide[: len(cut)]


def _groups(old: tuple, new: tuple) -> list[tuple[list[int], list[int]]]:
    """The smallest groups of dimensions, in order, that have equal sizes before and after."""
    groups = []
    i = k = 0
    while i < len(old) or k < len(new):
        before, after = [], []
        p = q = 1
        if i < len(old):
            before.append(i)
            p, i = old[i], i + 1
        if k < len(new):
            after.append(k)
            q, k = new[k], k + 1
        while not dims.same_shape((p,), (q,)):
            if dims.is_dim(p) or dims.is_dim(q):
                before += range(i, len(old))
                after += range(k, len(new))
                return [*groups, (before, after)]
            if p < q:
                if i == len(old):
                    break
                before.append(i)
                p, i = p * old[i], i + 1
            else:
                if k == len(new):
                    break
                after.append(k)
                q, k = q * new[k], k + 1
        groups.append((before, after))
    return groups


def _concatenate(call: Call) -> list[Cuts]:
    shapes = [call.outs[0].shape] * len(call.avals)
    return [_merged(call, call.cuts, shapes, call.outs[0].shape)]


def _stack(call: Call) -> list[Cuts]:
    axis = call.params["axis"]
    merged = _merged(call, call.cuts, [a.shape for a in call.avals], call.avals[0].shape)
    return [(*merged[:axis], (), *merged[axis:])]


def _unstack(call: Call) -> list[Cuts]:
    axis = call.params["axis"]
    _uncut(call, (axis,), "taken apart")
    cuts = call.cuts[0]
    return [(*cuts[:axis], *cuts[axis + 1 :])] * len(call.outs)


def _uncut(call: Call, axes: Sequence[int], what: str, operand: int = 0) -> None:
    for axis in axes:
        cut = call.cuts[operand][axis]
        if cut:
            raise call.wrong(
                f"dimension {axis} is {what}, and it is divided along {_axes_text(cut)}",
                fix=f"reshard first: sagax.sharding.reshard(x, {call.with_cut(operand, axis, ())})",
            )


def _along(*names: str, what: str) -> Callable[[Call], list[Cuts]]:
    """Operations along dimensions that must be whole; results are divided as the first operand."""

    def rule(call: Call) -> list[Cuts]:
        for name in names:
            axes = call.params[name]
            axes = axes if isinstance(axes, tuple) else (axes,)
            for i in range(len(call.avals)):
                _uncut(call, axes, what, i)
        if len(call.avals) == 1:
            return [call.cuts[0]] * len(call.outs)
        shapes = [a.shape for a in call.avals]
        return [_merged(call, call.cuts, shapes, shapes[0])] * len(call.outs)

    return rule


def _tile(call: Call) -> list[Cuts]:
    repeated = [i for i, n in enumerate(call.params["reps"]) if n != 1]
    _uncut(call, repeated, "repeated")
    return [call.cuts[0]]


def _resized(call: Call) -> list[Cuts]:
    """Dimensions may change their sizes: those that are cut stay so while the sizes divide."""
    sizes = call.mesh.shape
    before, after = call.avals[0].shape, call.outs[0].shape
    if dtypes.is_extended(call.avals[0].dtype):  # a few keys are taken from many
        same = [n == m for n, m in zip(before, after, strict=True)]
        return [tuple([c if s else () for c, s in zip(call.cuts[0], same, strict=True)])]
    for i, axes in enumerate(call.cuts[0]):
        parts = math.prod([sizes[n] for n in axes])
        if parts > 1 and before[i] != after[i] and after[i] % parts:
            _uncut(call, (i,), f"cut from size {before[i]} to {after[i]}")
    return [call.cuts[0]]


def _update_slice(call: Call) -> list[Cuts]:
    x, update = call.avals[:2]
    for i, (have, given) in enumerate(zip(call.cuts[0], call.cuts[1], strict=True)):
        if given and given != have:
            raise call.wrong(
                f"the update is divided along {_axes_text(given)} in dimension {i}, and the operand "
                f"{'is not' if not have else f'along {_axes_text(have)}'}",
                fix=f"reshard the update: sagax.sharding.reshard(update, {spec_text(call.cuts[0])})",
            )
        if (
            have
            and x.shape[i] != update.shape[i]
            and update.shape[i] % math.prod([call.mesh.shape[n] for n in have])
        ):
            _uncut(call, (i,), "written in part")
    return [call.cuts[0]]


def _split(call: Call) -> list[Cuts]:
    axis = call.params["axis"]
    sizes = call.mesh.shape
    parts = math.prod([sizes[n] for n in call.cuts[0][axis]])
    if any(n % parts for n in call.params["sizes"]):
        _uncut(call, (axis,), "split")
    return [call.cuts[0]] * len(call.outs)


# --- rules: products, gathers -------------------------------------------------------------------------


def _dot_general(call: Call) -> list[Cuts]:
    (lc, rc), (lb, rb) = call.params["dimension_numbers"]
    left, right = call.cuts[:2]
    for i, k in zip(lc, rc, strict=True):
        if left[i] and right[k]:
            same = "both" if left[i] == right[k] else "differently"
            raise call.wrong(
                f"Contracting dimensions are sharded and it is ambiguous how the output should be "
                f"sharded: dimension {i} of lhs and {k} of rhs are {same} divided, along "
                f"{_axes_text(left[i])} and {_axes_text(right[k])}",
                fix="say how the result is divided with out_sharding=P(...) (the sums are then "
                "reduced over the axis), or reshard an operand so that the dimension is whole",
            )
    batch = []
    for i, k in zip(lb, rb, strict=True):
        if left[i] and right[k] and left[i] != right[k]:
            raise call.wrong(
                f"lhs and rhs batch dimensions must have the same sharding: dimension {i} of lhs is "
                f"divided along {_axes_text(left[i])}, dimension {k} of rhs along {_axes_text(right[k])}",
                fix=f"reshard rhs: sagax.sharding.reshard(rhs, {call.with_cut(1, k, left[i])})",
            )
        batch.append(left[i] or right[k])
    rest = [c for i, c in enumerate(left) if i not in (*lc, *lb)]
    rest += [c for i, c in enumerate(right) if i not in (*rc, *rb)]
    return [(*batch, *rest)]


def _conv(call: Call) -> list[Cuts]:
    numbers = call.params["dimension_numbers"]
    lhs, rhs, out = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    _uncut(call, lhs[1:2], "summed over")
    _uncut(call, rhs[1:], "convolved over", 1)
    found: list[tuple] = [()] * len(out)
    found[out[0]] = call.cuts[0][lhs[0]]
    found[out[1]] = call.cuts[1][rhs[0]]
    for here, there in zip(lhs[2:], out[2:], strict=True):
        found[there] = call.cuts[0][here]  # what crosses a border comes from the neighbour
    return [tuple(found)]


def _gather(call: Call) -> list[Cuts]:
    numbers, sizes = call.params["dimension_numbers"], call.params["slice_sizes"]
    x, indices = call.avals[:2]
    taken = [i for i, (n, whole) in enumerate(zip(sizes, x.shape, strict=True)) if n != whole]
    batching = numbers.operand_batching_dims
    for axis in taken:
        if axis not in batching and call.cuts[0][axis]:
            raise call.wrong(
                f"Use `.at[...].get(out_sharding=)`: dimension {axis} is indexed, and it is divided "
                f"along {_axes_text(call.cuts[0][axis])}, so that the sharding of the result is ambiguous",
                fix="x.at[index].get(out_sharding=P(...)), or reshard first: "
                f"sagax.sharding.reshard(x, {call.with_cut(0, axis, ())})",
            )
    gone = (*numbers.collapsed_slice_dims, *batching)
    kept = iter([c for i, c in enumerate(call.cuts[0]) if i not in gone])
    ahead = list(call.cuts[1][:-1])
    pairs = zip(batching, numbers.start_indices_batching_dims, strict=True)
    for own, k in pairs:
        ahead[k] = ahead[k] or call.cuts[0][own]
    given = iter(ahead)
    ndim = call.outs[0].ndim
    return [tuple([next(kept) if i in numbers.offset_dims else next(given) for i in range(ndim)])]


def _scatter(call: Call) -> list[Cuts]:
    numbers = call.params["dimension_numbers"]
    x, _, updates = call.avals[:3]
    inserted = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    window = iter(numbers.update_window_dims)
    for axis in range(x.ndim):
        cut = call.cuts[0][axis]
        if axis in numbers.operand_batching_dims:
            continue
        if axis in inserted:
            if cut:
                raise _scatter_error(call, axis)
            continue
        k = next(window)
        if cut and updates.shape[k] != x.shape[axis]:
            raise _scatter_error(call, axis)
    return [call.cuts[0]]


def _scatter_error(call: Call, axis: int) -> ShardingTypeError:
    return call.wrong(
        f"dimension {axis} is indexed, and it is divided along {_axes_text(call.cuts[0][axis])}, so "
        "that the sharding of the result is ambiguous",
        fix="x.at[index].set(values, out_sharding=P(...)), or reshard first: "
        f"sagax.sharding.reshard(x, {call.with_cut(0, axis, ())})",
    )


def _last_whole(*counts: int) -> Callable[[Call], list[Cuts]]:
    """Linear algebra: so many last dimensions of each operand are whole, those before are a batch.

    The last number stands for all further operands.
    """

    def rule(call: Call) -> list[Cuts]:
        own = [counts[min(i, len(counts) - 1)] for i in range(len(call.avals))]
        for i, (a, n) in enumerate(zip(call.avals, own, strict=True)):
            _uncut(call, range(max(a.ndim - n, 0), a.ndim), "part of each matrix", i)
        batches = [c[: len(c) - n] for c, n in zip(call.cuts, own, strict=True)]
        shapes = [a.shape[: a.ndim - n] for a, n in zip(call.avals, own, strict=True)]
        merged = _merged(call, batches, shapes, shapes[0])
        return [(*merged, *((),) * (o.ndim - len(merged))) for o in call.outs]

    return rule


def _selected(call: Call) -> list[Cuts]:
    """What a maximum over windows passes on: tangents to results, or cotangents back to operands."""
    if call.outs[0].shape == call.avals[1].shape:
        return [call.cuts[1]]
    shapes = [a.shape for a in call.avals]
    call.cuts[0] = _merged(call, call.cuts, shapes, shapes[0])
    return _resized(call)


def _wrapped_keys(call: Call) -> list[Cuts]:
    ndim = call.outs[0].ndim
    _uncut(call, range(ndim, call.avals[0].ndim), "part of each key")
    return [call.cuts[0][:ndim]]


def _top_k(call: Call) -> list[Cuts]:
    _uncut(call, (call.params["axis"],), "searched")
    return [call.cuts[0]] * len(call.outs)


def _keys(call: Call) -> list[Cuts]:
    cuts = call.cuts[0]
    return [(*cuts, *((),) * (o.ndim - len(cuts))) for o in call.outs]


def _bitcast(call: Call) -> list[Cuts]:
    have, ndim = call.cuts[0], call.outs[0].ndim
    if ndim < len(have):
        _uncut(call, (len(have) - 1,), "joined")
    return [(*have, ())[:ndim] if ndim > len(have) else have[:ndim]]


_RULES: dict[str, Callable[[Call], list[Cuts]]] = {
    "approx_top_k": _along("reduction_dimension", what="searched"),
    "bitcast_convert_type": _bitcast,
    "broadcast_in_dim": _broadcast,
    "cholesky": _last_whole(2),
    "concatenate": _concatenate,
    "conv_general_dilated": _conv,
    "convert_element_type": _first,
    "dot_general": _dot_general,
    "dynamic_slice": _resized,
    "dynamic_update_slice": _update_slice,
    "fft": _resized,
    "gather": _gather,
    "lu_pivots_to_permutation": _last_whole(1),
    "name": _first,
    "optimization_barrier": _each,
    "pad": _resized,
    "pvary": _first,
    "random_bits": _keys,
    "random_clone": _first,
    "random_seed": _first,
    "random_split": _keys,
    "random_unwrap": _keys,
    "random_wrap": _wrapped_keys,
    "real": _first,
    "reshape": _reshape,
    "tridiagonal_solve": _last_whole(1, 1, 1, 2),
    "rev": _first,
    "slice": _resized,
    "sort": _along("dimension", what="sorted"),
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "stop_gradient": _first,
    "tile": _tile,
    "top_k": _top_k,
    "transpose": _transpose,
    "unstack": _unstack,
    **dict.fromkeys(("argmax", "argmin"), _reduction),
    **{f"reduce_{n}": _reduction for n in ("and", "max", "min", "or", "prod", "sum", "xor")},
    **{
        f"cum{n}": _along("axis", what="accumulated")
        for n in ("sum", "prod", "max", "min", "logsumexp")
    },
    **{
        n: _last_whole(2)
        for n in (
            *("eig", "eigh", "geqrf", "hessenberg", "lu", "qr", "schur", "svd"),
            *("symmetric_product", "triangular_solve", "tridiagonal"),
        )
    },
    **dict.fromkeys(("geqp3", "householder_product"), _last_whole(2, 1)),
    "ormqr": _last_whole(2, 1, 2),
    **{f"reduce_window_{n}": _resized for n in ("max", "min", "sum")},
    **dict.fromkeys(("select_and_gather_add", "select_and_scatter_add"), _selected),
    **{f"scatter{n}": _scatter for n in ("", "-add", "-apply", "-max", "-min", "-mul", "-sub")},
    **dict.fromkeys(("threefry2x32", "threefry4x32", "philox2x32", "philox4x32"), _elementwise),
}
