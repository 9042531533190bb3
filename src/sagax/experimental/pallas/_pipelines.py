"""Implement `emit_pipeline`: run a body for each block of references, within a kernel.

On CPUs there is nothing to overlap: blocks are copied in, the body runs, and blocks are copied out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.pallas._frames as _frames
from sagax._src import trees
from sagax._src.argument_checks.functions import check_function
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.primitives.references import Ref, RefView, new_ref, ref_get, ref_set
from sagax._src.primitives.structural import convert
from sagax.experimental.pallas._accesses import load, store
from sagax.experimental.pallas._blocks import (
    BlockSpec,
    BoundedSlice,
    Squeezed,
    block_dim,
    no_block_spec,
)
from sagax.experimental.pallas._memory import MemorySpace
from sagax.experimental.pallas._operations import ds
from sagax.numpy._indexing.windows import Slice


def _is_ref(x: Any) -> bool:
    return isinstance(x, (Ref, RefView))


def _is_spec(x: Any) -> bool:
    return x is None or x is no_block_spec or isinstance(x, BlockSpec)


class _Window:
    """The block of one reference at an index of the pipeline."""

    def __init__(self, spec: Any, ref: Any, indices: Sequence[Any]) -> None:
        self.ref = ref
        self.whole = spec is None or spec is no_block_spec or spec.block_shape is None
        self.mask: Any = None
        if self.whole:
            self.view = ref
            return
        assert spec is not None
        sizes = [block_dim(d, "the reference of a pipeline", spec) for d in spec.block_shape or ()]
        found: Any = [0] * len(sizes) if spec.index_map is None else spec.index_map(*indices)
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(sizes) or len(sizes) != ref.ndim:
            raise ArgumentValueError(
                "a block of a pipeline has another number of dimensions than its reference",
                function="emit_pipeline",
                argument="in_specs, out_specs",
                got=f"block shape {spec.block_shape}, {len(found)} indices, and shape {ref.shape}",
            )
        at: list[Any] = []
        masks = []
        for i, d, n in zip(found, sizes, ref.shape, strict=True):
            if type(d) is Squeezed:
                at.append(i)
                continue
            size = d.block_size
            if type(i) is Slice:
                start = i.start
            else:
                start = i * size if not hasattr(d, "padding") else i
            if type(d) is BoundedSlice or n % size:
                offsets = np.arange(size, dtype=np.int32)
                masks.append((len([a for a in at if type(a) is Slice]), start + offsets < n))
            at.append(ds(start, size))
        self.view = ref.at[tuple(at)]
        ndim = self.view.ndim
        for axis, inside in masks:
            shaped = inside.reshape([-1 if k == axis else 1 for k in range(ndim)])
            self.mask = shaped if self.mask is None else self.mask & shaped

    def read(self) -> Any:
        return ref_get(self.view) if self.mask is None else load(self.view, mask=self.mask)

    def write(self, value: Any) -> None:
        if self.mask is None:
            ref_set(self.view, None, value)
        else:
            store(self.view, value, mask=self.mask)


def pipeline(
    body: Callable,
    grid: Any,
    in_specs: Any,
    out_specs: Any,
    *,
    function: str,
    explicit: bool = False,
    init_carry: Any = None,
) -> Callable[..., Any]:
    """Return a function of references that runs `body` on each of their blocks, in the order of the grid."""
    check_function(body, f"{function}: body should be a callable.", function, "body")
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    ins = tuple(in_specs) if isinstance(in_specs, (tuple, list)) else (in_specs,)
    outs = tuple(out_specs) if isinstance(out_specs, (tuple, list)) else (out_specs,)

    def run(*refs: Any, scratches: Sequence[Any] = (), **_: Any) -> Any:
        if len(refs) != len(ins) + len(outs):
            raise ArgumentValueError(
                "the pipeline gets another number of references than it has specifications",
                function=function,
                argument="refs",
                got=len(refs),
                expected=f"{len(ins)} for in_specs, and {len(outs)} for out_specs",
            )

        def step(i: Any, carry: Any) -> Any:
            indices: list[Any] = []
            for n in reversed(sizes):
                indices.append(convert(i % n, np.dtype(np.int32)))
                i = i // n
            indices.reverse()
            windows: list[_Window] = []
            written: list[tuple[_Window, Any]] = []

            def block(ref: Any, spec: Any, is_output: bool) -> Any:
                window = _Window(spec, ref, indices)
                if window.whole:
                    return ref
                windows.append(window)
                inner = new_ref(window.read(), memory_space=MemorySpace.DEFAULT)
                if is_output:
                    written.append((window, inner))
                return inner

            blocks = []
            for k, (spec, ref) in enumerate(zip((*ins, *outs), refs, strict=True)):
                leaves, tree = trees.flatten(ref, _is_ref)
                specs = trees.flatten(spec, _is_spec)[0]
                specs = specs * len(leaves) if len(specs) == 1 else specs
                made = [block(r, s, k >= len(ins)) for r, s in zip(leaves, specs, strict=True)]
                blocks.append(tree.unflatten(made))
            frame = _frames.Frame(function, sizes, indices)
            first = (tuple(indices),) if explicit else ()
            last = () if init_carry is None else (carry,)
            with _frames.entered(frame):
                found = body(*first, *blocks, *scratches, *last)
            for window, inner in written:
                window.write(ref_get(inner))
            return carry if init_carry is None else found

        total: Any = 1
        for n in sizes:
            total = total * n
        if all(isinstance(n, int) for n in sizes):
            total = math.prod(sizes)
        carry = fori_loop(0, total, step, () if init_carry is None else init_carry)
        return None if init_carry is None else carry

    return run
