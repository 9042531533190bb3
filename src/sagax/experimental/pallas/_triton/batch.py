"""Give a kernel a further axis of its grid, over the examples of vmap."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core.avals import ShapedArray
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.staging import stage
from sagax.experimental.pallas._blocks import BlockMapping, squeezed

_ID = ShapedArray((), np.dtype(np.int32))


def with_axis(kernel: Any, size: Any, in_dims: Sequence[Any]) -> Any:
    """Return the kernel with a first axis of its grid over examples, which are dimension 0 of operands and results.

    None if captured arrays, prefetched operands or traced sizes differ between examples: index maps and the kernel
    itself see all of these.
    """
    shared = len(in_dims) - len(kernel.inputs)
    if any(d is not None for d in in_dims[:shared]) or type(size) is not int or None in kernel.grid:
        return None
    mapped = [d is not None for d in in_dims[shared:]]
    if any(not mapped[i] for i, _ in kernel.aliases):
        return None
    n, n_ids = kernel.n_captured, len(kernel.grid)

    def wider(*xs: Any) -> list:
        captured, ids, sizes, refs = (
            xs[:n],
            xs[n + 1 : n + 1 + n_ids],
            xs[n + 2 + n_ids : n + 2 + 2 * n_ids],
            (xs[n + 2 + 2 * n_ids :]),
        )
        return eval_jaxpr(kernel.jaxpr.jaxpr, kernel.jaxpr.consts, *captured, *ids, *sizes, *refs)

    avals = kernel.jaxpr.in_avals
    ids = [_ID] * (n_ids + 1)
    jaxpr, consts = stage(wider, [*avals[:n], *ids, *ids, *avals[n + 2 * n_ids :]])
    return dataclasses.replace(
        kernel,
        jaxpr=ClosedJaxpr(jaxpr, consts),
        grid=(size, *kernel.grid),
        inputs=tuple(
            [_mapping(m, size, b, kernel) for m, b in zip(kernel.inputs, mapped, strict=True)]
        ),
        outputs=tuple([_mapping(m, size, True, kernel) for m in kernel.outputs]),
        semantics=("parallel", *kernel.semantics),
        n_batched=kernel.n_batched + 1,
    )


def _mapping(mapping: BlockMapping, size: int, is_mapped: bool, kernel: Any) -> BlockMapping:
    """Return the blocks of an operand with a leading dimension of examples, if it is mapped."""
    forms, index_jaxpr = mapping.forms, mapping.index_jaxpr
    if forms is not None:
        forms = tuple(
            [(start, tuple([(k + 1, f) for k, f in factors])) for start, factors in forms]
        )
        forms = ((0, ((0, 1),)), *forms) if is_mapped else forms
    else:

        def wider(example: Any, *xs: Any) -> list:
            outs = eval_jaxpr(index_jaxpr.jaxpr, index_jaxpr.consts, *xs)
            return [example, *outs] if is_mapped else outs

        jaxpr, consts = stage(wider, [_ID, *index_jaxpr.in_avals])
        index_jaxpr = ClosedJaxpr(jaxpr, consts)
    if not is_mapped:
        return dataclasses.replace(mapping, forms=forms, index_jaxpr=index_jaxpr)
    aval = mapping.array_aval
    return dataclasses.replace(
        mapping,
        array_aval=aval.update(shape=(size, *aval.shape)),
        dims=(squeezed, *mapping.dims),
        forms=forms,
        index_jaxpr=index_jaxpr,
    )
