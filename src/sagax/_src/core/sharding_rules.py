"""Propagate shardings over Explicit axes of a mesh from operands to results.

The `shard` rule of a primitive gets a `Call`: for each operand, the axes along which each of its
dimensions is sharded. It returns the same for each result, and raises if the result is ambiguous: then
the user specifies it. Operations without a rule require unsharded operands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.families import Default, Sums
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.shardings import NamedSharding, ShardingError, ShardingTypeError

Cuts = tuple[tuple, ...]  # for each dimension the axes along which it is sharded


class Call:
    """Describe an operation on operands, some with shardings in their types."""

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
            tuple([a.explicit_sharding.spec.axes(i) for i in range(a.ndim)])
            if getattr(a, "explicit_sharding", None) is not None
            else ((),) * len(a.shape)
            for a in avals
        ]

    def wrong(self, message: str, fix: str | None = None, **facts: Any) -> ShardingTypeError:
        """Return the error for operands with conflicting shardings."""
        types = ", ".join([a.str_short(short_dtypes=False) for a in self.avals])
        return ShardingTypeError(
            message,
            function=self.name,
            **{"got": types, "fix": fix, "mesh": self.mesh, "avals": self.avals, **facts},
        )

    # Building blocks of rules: each returns the cuts of the results, or raises.

    def whole(self) -> list[Cuts]:
        """Require all operands to be unsharded."""
        for i, cuts in enumerate(self.cuts):
            for axis, axes in enumerate(cuts):
                if axes:
                    raise self.wrong(
                        f"there is no rule for operands that are divided, and dimension {axis} of operand "
                        f"{i} is divided along {self.axes_text(axes)}",
                        fix=f"use sagax.sharding.auto_axes around the operation, or reshard the operand to "
                        f"{self.required_spec(i, axis, ())}",
                    )
        return [((),) * len(a.shape) for a in self.outs]

    def elementwise(self) -> list[Cuts]:
        """Merge the shardings of operands of one shape, or broadcast to it, for the results."""
        shapes = [a.shape for a in self.avals]
        return [self.merged(self.cuts, shapes, self.outs[0].shape)] * len(self.outs)

    def as_first(self) -> list[Cuts]:
        """Shard results as the first operand."""
        return [self.cuts[0]] * len(self.outs)

    def is_single(self, result: int = 0) -> bool:
        """Tell whether a result has one element: each device has it, whatever is divided."""
        return all(type(n) is int and n == 1 for n in self.outs[result].shape)

    def resized(self) -> list[Cuts]:
        """Keep the shardings of dimensions whose new sizes are divisible."""
        before, after = self.avals[0].shape, self.outs[0].shape
        if self.is_single() and before != after:
            return [((),) * len(after)]
        if dtypes.is_extended(self.avals[0].dtype):  # a subset of keys is selected
            same = [n == m for n, m in zip(before, after, strict=True)]
            return [tuple([c if s else () for c, s in zip(self.cuts[0], same, strict=True)])]
        for i, axes in enumerate(self.cuts[0]):
            parts = self.parts(axes)
            if parts > 1 and before[i] != after[i] and after[i] % parts:
                self.check_unsharded((i,), f"cut from size {before[i]} to {after[i]}")
        return [self.cuts[0]]

    def along(self, name: str, what: str) -> list[Cuts]:
        """Require the dimension of this parameter to be unsharded; shard results as the operands."""
        for i in range(len(self.avals)):
            self.check_unsharded((self.params[name],), what, i)
        if len(self.avals) == 1:
            return [self.cuts[0]] * len(self.outs)
        shapes = [a.shape for a in self.avals]
        return [self.merged(self.cuts, shapes, shapes[0])] * len(self.outs)

    def batched(self, counts: Sequence[int]) -> list[Cuts]:
        """Require the last `n` dimensions of each operand to be unsharded; the others are batch dimensions.

        The last number applies to all further operands.
        """
        own = [counts[min(i, len(counts) - 1)] for i in range(len(self.avals))]
        for i, (a, n) in enumerate(zip(self.avals, own, strict=True)):
            self.check_unsharded(range(max(a.ndim - n, 0), a.ndim), "part of each matrix", i)
        batches = [c[: len(c) - n] for c, n in zip(self.cuts, own, strict=True)]
        shapes = [a.shape[: a.ndim - n] for a, n in zip(self.avals, own, strict=True)]
        merged = self.merged(batches, shapes, shapes[0])
        return [(*merged, *((),) * (o.ndim - len(merged))) for o in self.outs]

    def check_unsharded(self, axes: Sequence[int], what: str, operand: int = 0) -> None:
        """Raise if one of these dimensions of an operand is sharded."""
        for axis in axes:
            cut = self.cuts[operand][axis]
            if cut:
                raise self.wrong(
                    f"dimension {axis} is {what}, and it is divided along {self.axes_text(cut)}",
                    fix="reshard first: "
                    f"sagax.sharding.reshard(x, {self.required_spec(operand, axis, ())})",
                )

    def merged(self, cuts: Sequence[Cuts], shapes: Sequence[tuple], shape: tuple) -> Cuts:
        """Merge the cuts of operands of one shape, or of sizes 1 where they are broadcast."""
        found: list[tuple] = []
        for axis in range(len(shape)):
            agreed: tuple = ()
            at = 0
            for i, (cut, own) in enumerate(zip(cuts, shapes, strict=True)):
                if len(own) != len(shape):
                    continue  # a broadcast scalar
                axes = cut[axis]
                if not axes or axes == agreed:
                    continue
                if agreed:
                    raise self.wrong(
                        f"operands have incompatible shardings: dimension {axis} is divided along "
                        f"{self.axes_text(agreed)} in operand {at} and along {self.axes_text(axes)} in operand {i}",
                        fix=f"reshard one of them, such as operand {i}: "
                        f"sagax.sharding.reshard(x, {spec_text(cuts[at])})",
                    )
                agreed, at = axes, i
            found.append(agreed)
        for k, axes in enumerate(found):
            for name in axes:
                others = [i for i in range(k) if name in found[i]]
                if others:
                    raise self.wrong(
                        f"operands have incompatible shardings: {name!r} divides dimension {others[0]} of "
                        f"one and dimension {k} of another ({' and '.join(map(spec_text, cuts))})",
                        fix=f"reshard one of them: sagax.sharding.reshard(x, {spec_text(cuts[0])})",
                    )
        return tuple(found)

    def parts(self, axes: Sequence[str]) -> int:
        """Return the number of shards of a dimension that is sharded along these axes."""
        return math.prod([self.mesh.shape[n] for n in axes])

    @staticmethod
    def axes_text(axes: tuple) -> str:
        """Format axes for messages: `'x' and 'y'`."""
        return " and ".join([repr(n) for n in axes])

    def text(self, operand: int) -> str:
        """Format the sharding of an operand: `P('x', None)`."""
        return spec_text(self.cuts[operand])

    def required_spec(self, operand: int, dimension: int, axes: tuple) -> str:
        """Format the spec that an operand needs: `P('x', None)`."""
        cuts = list(self.cuts[operand])
        cuts[dimension] = axes
        return spec_text(cuts)


def spec_text(cuts: Sequence[tuple]) -> str:
    """Format a spec: `P('x', None)`."""
    return repr(PartitionSpec(*cuts))


def infer(primitive: Any, avals: Sequence[Any], out: Any, params: dict) -> Any:
    """Infer the aval(s) of the result(s), with the shardings that follow from the operands."""
    several = primitive.multiple_results
    outs = list(out) if several else [out]
    call = Call(primitive.name, avals, common_mesh(primitive.name, avals), outs, params)
    rule = primitive.shard_rule
    found = call.whole() if type(rule) is Default else rule(call)
    partial = any(
        a.explicit_sharding is not None and a.explicit_sharding.spec.partial for a in avals
    )
    typed = []
    for aval, cuts in zip(outs, found, strict=True):
        axes = partial_axes(primitive, call, aval, cuts) if partial else {}
        typed.append(_typed(call, aval, cuts, axes))
    return typed if several else typed[0]


def partial_axes(primitive: Any, call: Call, out: Any, cuts: Cuts) -> dict[str, frozenset]:
    """Return along which axes a result is an unreduced sum, and along which its cotangent is.

    Raises if the operation would need the sum itself.
    """
    specs = [
        a.explicit_sharding.spec if a.explicit_sharding is not None else PartitionSpec()
        for a in call.avals
    ]
    unreduced = _unreduced_axes(primitive, call, [s.unreduced for s in specs])
    reduced = frozenset().union(*[s.reduced for s in specs])
    if primitive.sums in (Sums.PRODUCT, Sums.QUOTIENT):
        reduced -= unreduced
    if primitive.sums == Sums.CONTRACTED:
        reduced &= frozenset(call.mesh.manual_axes)
    different = {name for axes in cuts for name in axes} | out.vma
    for i, (a, own) in enumerate(zip(call.avals, call.cuts, strict=True)):
        used = frozenset([n for axes in own for n in axes]) | a.vma
        shared = reduced - specs[i].reduced - used
        if shared and a.ndim and primitive.sums != Sums.FIRST:
            raise call.wrong(
                f"operand {i} is the same on all devices along {call.axes_text(_sorted(shared))}, along which another "
                "operand is reduced: Inputs cannot be replicated on the same axes that another input is reduced on",
                fix=f"reshard it: sagax.sharding.reshard(x, P(..., reduced={set(shared)!r}))",
            )
    return {"unreduced": unreduced, "reduced": reduced - different}


def _sorted(axes: frozenset) -> tuple:
    return tuple(sorted(axes, key=str))


def _unreduced_axes(primitive: Any, call: Call, given: Sequence[frozenset]) -> frozenset:
    found = frozenset().union(*given)
    if not found:
        return found
    sums, text = primitive.sums, call.axes_text(_sorted(found))
    numbers = [dtypes.is_inexact(a.dtype) for a in call.avals]
    at = next(i for i, axes in enumerate(given) if axes)
    first = f"operand {at} is unreduced along {text}"
    fix = f"add it up first: sagax.sharding.reshard(x, {spec_text(call.cuts[at])})"
    if sums in (Sums.REFUSED, Sums.CONTRACTED) or (sums == Sums.FIRST and at):
        raise call.wrong(
            f"{call.name} is a non-linear operation and cannot accept input that is unreduced: {first}"
            if sums != Sums.CONTRACTED
            else f"lhs or rhs passed to {call.name} cannot be unreduced: {first}",
            fix=fix,
        )
    if sums == Sums.FIRST and any(numbers[1:]):
        raise call.wrong(
            f"{call.name} of several arrays takes none that is unreduced: {first}", fix=fix
        )
    if sums == Sums.EACH:
        for i, axes in enumerate(given):
            if axes != found and (numbers[i] or not numbers[at]):
                raise call.wrong(
                    f"{first}, while operand {i} is not: `{call.name}` does not allow this because there would be "
                    "implicit communication",
                    fix=fix,
                )
    if sums in (Sums.PRODUCT, Sums.QUOTIENT):
        for i, axes in enumerate(given):
            if i != at and axes:
                raise call.wrong(
                    f"{call.name} is bilinear: operands {at} and {i} cannot both be unreduced",
                    fix=fix,
                )
            shown = call.avals[i].explicit_sharding
            if i != at and not found <= (shown.spec.reduced if shown is not None else frozenset()):
                raise call.wrong(
                    f"{first}, so operand {i} should be reduced along the same axes",
                    fix=f"mark it: sagax.sharding.reshard(x, P(..., reduced={set(found)!r}))",
                )
        if sums == Sums.QUOTIENT and at:
            raise call.wrong(f"the denominator of {call.name} cannot be unreduced", fix=fix)
    return found


def common_mesh(name: str, avals: Sequence[Any]) -> Any:
    """Return the mesh of all operands that have one in their types."""
    found, first = None, 0
    for i, a in enumerate(avals):
        sharding = getattr(a, "explicit_sharding", None)
        if sharding is None or sharding.mesh is found:
            continue
        if found is not None:
            raise ShardingError(
                "Mesh for all inputs should be equal: the operands are divided along different meshes",
                function=name,
                expected=f"all on {found}, as operand {first} of type {avals[first].str_short(short_dtypes=True)}",
                got=f"{sharding.mesh} for operand {i} of type {a.str_short(short_dtypes=True)}",
                fix="put them on the same mesh with sagax.sharding.reshard",
            )
        found, first = sharding.mesh, i
    return found


def _typed(call: Call, aval: Any, cuts: Cuts, partial: dict) -> Any:
    seen: dict[Any, int] = {}
    for i, axes in enumerate(cuts):
        for name in axes:
            if name in seen:
                raise call.wrong(
                    f"the result would be divided along axis {name!r} of the mesh twice: dimensions "
                    f"{seen[name]} and {i} of {spec_text(cuts)}",
                    fix=f"reshard an operand so that {name!r} cuts one of these dimensions only",
                )
            seen[name] = i
        parts = call.parts(axes)
        if parts > 1 and not dims.is_dim(aval.shape[i]) and aval.shape[i] % parts:
            raise call.wrong(
                f"the result of shape {aval.shape} cannot be divided as {spec_text(cuts)}: its "
                f"dimension {i} of size {aval.shape[i]} does not divide into {parts} parts",
                fix="reshard the operand first, so that this dimension is whole",
            )
    return aval.update(sharding=NamedSharding(call.mesh, PartitionSpec(*cuts, **partial)))


def check_varying(name: str, avals: Sequence[Any]) -> None:
    """Raise unless all operands vary along the same axes: without `auto_pcast` none is cast."""
    sets = [a.vma for a in avals]
    if any(vma != sets[0] for vma in sets):
        least = min(range(len(sets)), key=lambda i: len(sets[i]))
        missing = _sorted(frozenset().union(*sets) - sets[least])
        raise ShardingError(
            f"Primitive {name} requires varying manual axes to match, while auto_pcast is off",
            function=name,
            got=", ".join(a.str_short(short_dtypes=False) for a in avals),
            expected="operands that vary along the same axes",
            fix=f"cast operand {least}: lax.pcast(x, {missing!r}, to='varying')",
        )


def check_no_collectives(name: str, in_avals: Sequence[Any], outs: Sequence[Any]) -> None:
    """Raise if results are not sharded along an axis that `no_collectives` names, and operands are."""
    for axis in sorted(config.thread.settings.no_collectives, key=str):
        before = [d for a in in_avals if (d := _dimension_of(a, axis)) is not None]
        if not before:
            continue
        what = "loses sharding axis" if name != "dot_general" else "contracts over or loses axis"
        for out in outs:
            after = _dimension_of(out, axis)
            if after is None and axis not in _unreduced(out):
                raise ShardingTypeError(
                    f"Collective across axis {axis!r} is forbidden by `no_collectives`, but `{name}` {what} "
                    f"{axis!r} in the output without marking it unreduced",
                    function=name,
                    got=" and ".join(a.str_short(short_dtypes=True) for a in in_avals),
                    fix="do it outside of the block, or leave the axis out of no_collectives",
                )
            if name == "reshard" and after != before[0]:
                raise ShardingTypeError(
                    f"Collective across axis {axis!r} is forbidden by `no_collectives`, but `{name}` changes "
                    f"the sharded dimension of axis {axis!r}",
                    function=name,
                    got=f"dimension {before[0]}, and then {after}",
                    fix="do it outside of the block, or leave the axis out of no_collectives",
                )


def _dimension_of(aval: Any, axis: Any) -> int | None:
    """Return the dimension that a mesh axis shards, or None."""
    sharding = aval.explicit_sharding
    if sharding is None:
        return None
    return next((d for d in range(aval.ndim) if axis in sharding.spec.axes(d)), None)


def _unreduced(aval: Any) -> Any:
    return aval.explicit_sharding.spec.unreduced if aval.explicit_sharding is not None else ()
