"""Apply a stack of layers as a pipeline along a mesh axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.api.shard_map import shard_map
from sagax._src.core.meshes import PartitionSpec
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.sharding import get_abstract_mesh

AXIS = "pipeline"


def pipeline(
    layer: Callable[[Any, Any], Any],
    x: Any,
    params: Any,
    microbatches: int,
    axis: str,
    batch: Sequence[str],
) -> Any:
    """Apply layers one after the other, as a pipeline if the mesh has the axis; see `sagax.plan.pipeline`."""
    sizes = dict(get_abstract_mesh().shape)
    stages = sizes.get(axis, 1)
    rows = tuple([a for a in batch if sizes.get(a, 1) > 1])
    layers = {leaf.shape[0] for leaf in trees.leaves(params)}
    _check(x, layers, stages, microbatches, axis)
    if stages == 1:
        return _through(layer, x, params)
    # a microbatch takes every n-th row, so that the cut of the batch along other axes stays where it is
    split = x.reshape(x.shape[0] // microbatches, microbatches, *x.shape[1:]).swapaxes(0, 1)
    moves = [(i, i + 1) for i in range(stages - 1)]

    def stage(params: Any, split: Any) -> Any:
        number = lax.axis_index(axis)
        if rows:  # else checkpointed layers would sum their gradients along `rows` in each step
            params = trees.map(lambda p: lax.pcast(p, rows, to="varying"), params)

        def step(received: Any, time: Any) -> tuple[Any, Any]:
            first = lax.dynamic_index_in_dim(split, snp.minimum(time, microbatches - 1), 0, False)
            out = _through(layer, snp.where(number == 0, first, received), params)
            return lax.ppermute(out, axis, moves), out

        times = snp.arange(microbatches + stages - 1)
        start = lax.pcast(snp.zeros_like(split[0]), axis, to="varying")
        _, outs = lax.scan(step, start, times)
        outs = outs[stages - 1 :]  # those of the last stage are the results
        outs = snp.where(number == stages - 1, outs, snp.zeros_like(outs))
        # each stage takes its part of a sum: compilers for accelerators make it a reduce-scatter. XLA would not
        # keep the cut of the batch in psum_scatter here.
        share = microbatches // stages
        return lax.dynamic_slice_in_dim(lax.psum(outs, axis), number * share, share)

    mapped = shard_map(
        stage,
        in_specs=(PartitionSpec(axis), PartitionSpec(None, rows)),
        out_specs=PartitionSpec(axis, rows),
        axis_names=frozenset((axis, *rows)),
    )
    return mapped(params, split).swapaxes(0, 1).reshape(x.shape)


def _through(layer: Callable, x: Any, params: Any) -> Any:
    return lax.scan(lambda x, p: (layer(x, p), None), x, params)[0]


def _check(x: Any, layers: set[int], stages: int, microbatches: int, axis: str) -> None:
    if len(layers) != 1:
        raise ArgumentValueError(
            function="plan.pipeline",
            argument="params",
            got=f"leading dimensions {sorted(layers)}",
            expected="arrays that all have one entry for each layer in their first dimension",
            fix="stack the parameters of the layers: sagax.tree.map(lambda *p: snp.stack(p), *layers)",
        )
    (count,) = layers
    for name, size, parts, what in (
        ("params", count, stages, f"{stages} stages along {axis!r}"),
        ("microbatches", microbatches, stages, f"{stages} stages along {axis!r}"),
        ("x", x.shape[0], microbatches, f"{microbatches} microbatches"),
    ):
        if parts < 1 or size % parts:
            raise ArgumentValueError(
                function="plan.pipeline",
                argument=name,
                got=size,
                expected=f"a number that is divisible by {what}",
                fix=f"use {-(-size // max(parts, 1)) * max(parts, 1)}, or another number of stages or microbatches",
            )
