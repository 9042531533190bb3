"""Define sharding and index rules of operations that read or write at indices."""

from __future__ import annotations

from typing import Any

from sagax._src.core.families import Indices


def gather_indices(shapes: Any, params: dict) -> Indices:
    axes = params["dimension_numbers"].start_index_map
    return Indices(slice(1, 2), axes, params["slice_sizes"])


def scatter_indices(shapes: Any, params: dict) -> Indices:
    numbers = params["dimension_numbers"]
    window = numbers.window(len(shapes[0]), shapes[2])
    return Indices(slice(1, 2), numbers.scatter_dims_to_operand_dims, window)


def slice_indices(shapes: Any, params: dict) -> Indices:
    return Indices(slice(1, None), range(len(shapes[0])), params["slice_sizes"])


def update_indices(shapes: Any, params: dict) -> Indices:
    return Indices(slice(2, None), range(len(shapes[0])), shapes[1])


def shard_gather(call: Any) -> list:
    numbers, sizes = call.params["dimension_numbers"], call.params["slice_sizes"]
    taken = [i for i, (n, whole) in enumerate(zip(sizes, call.avals[0].shape)) if n != whole]
    batching = numbers.operand_batching_dims
    if call.is_single():
        return [((),) * call.outs[0].ndim]
    for axis in taken:
        if axis not in batching and call.cuts[0][axis]:
            raise call.wrong(
                f"Use `.at[...].get(out_sharding=)`: dimension {axis} is indexed, and it is divided "
                f"along {call.axes_text(call.cuts[0][axis])}, so that the sharding of the result is ambiguous",
                fix="x.at[index].get(out_sharding=P(...)), or reshard first: "
                f"sagax.sharding.reshard(x, {call.required_spec(0, axis, ())})",
            )
    gone = (*numbers.collapsed_slice_dims, *batching)
    retained = iter([c for i, c in enumerate(call.cuts[0]) if i not in gone])
    ahead = list(call.cuts[1][:-1])
    for own, k in zip(batching, numbers.start_indices_batching_dims, strict=True):
        ahead[k] = ahead[k] or call.cuts[0][own]
    given = iter(ahead)
    ndim = call.outs[0].ndim
    return [
        tuple([next(retained) if i in numbers.offset_dims else next(given) for i in range(ndim)])
    ]


def shard_scatter(call: Any) -> list:
    numbers = call.params["dimension_numbers"]
    x, _, updates = call.avals[:3]
    window = numbers.window(x.ndim, updates.shape)
    for axis, cut in enumerate(call.cuts[0]):
        if not cut or axis in numbers.operand_batching_dims:
            continue
        if axis in numbers.inserted_window_dims or window[axis] != x.shape[axis]:
            raise call.wrong(
                f"dimension {axis} is indexed, and it is divided along {call.axes_text(cut)}, so "
                "that the sharding of the result is ambiguous",
                fix="x.at[index].set(values, out_sharding=P(...)), or reshard first: "
                f"sagax.sharding.reshard(x, {call.required_spec(0, axis, ())})",
            )
    return call.as_first()


def shard_update(call: Any) -> list:
    x, update = call.avals[:2]
    for i, (have, given) in enumerate(zip(call.cuts[0], call.cuts[1], strict=True)):
        if given and given != have:
            raise call.wrong(
                f"the update is divided along {call.axes_text(given)} in dimension {i}, and the operand "
                f"{'is not' if not have else f'along {call.axes_text(have)}'}",
                fix=f"reshard the update: sagax.sharding.reshard(update, {call.text(0)})",
            )
        if have and x.shape[i] != update.shape[i] and update.shape[i] % call.parts(have):
            call.check_unsharded((i,), "written in part")
    return call.as_first()
