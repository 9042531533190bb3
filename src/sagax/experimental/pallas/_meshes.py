"""Run a kernel on the cores of a mesh: on CPUs one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import sagax.experimental.pallas._frames as _frames
from sagax._src.argument_checks.functions import check_function
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.frozen_class import record
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.primitives.structural import convert
from sagax.experimental.pallas._blocks import GridSpec
from sagax.experimental.pallas._call import pallas_call
from sagax.experimental.pallas._operations import run_scoped

_MISSING: Any = object()


@record
class TensorCoreMesh:
    """The tensor cores of a TPU; on a CPU they run one after the other.

    >>> TensorCoreMesh(axis_name="core", num_cores=2).shape
    {'core': 2}
    """

    axis_name: str
    num_cores: int = 1

    shape = property(lambda self: {self.axis_name: self.num_cores})


@record
class GPUMesh:
    """The blocks and threads of a GPU; on a CPU blocks run one after the other."""

    grid: Sequence[int] = ()
    grid_names: Sequence[str] = ()
    cluster: Sequence[int] = ()
    cluster_names: Sequence[str] = ()
    num_threads: int | None = None
    thread_name: str | None = None
    kernel_name: str | None = None

    @property
    def shape(self) -> dict[str, int]:
        """Return the size of each named axis."""
        names = [*self.grid_names, *self.cluster_names]
        sizes = [*self.grid, *self.cluster]
        if self.num_threads is not None:
            names.append(self.thread_name or "thread")
            sizes.append(self.num_threads)
        return dict(zip(names, sizes, strict=True))


def _shape_of(mesh: Any, function: str) -> dict[str, int]:
    shape = getattr(mesh, "shape", None)
    if not isinstance(shape, Mapping):
        raise ArgumentError(
            "mesh has no named axes",
            function=function,
            argument="mesh",
            got=f"a value of type {type(mesh).__name__}",
            expected="a mesh, such as pl.tpu.TensorCoreMesh(axis_name='core')",
        )
    return dict(shape)


def kernel(
    body: Any = _MISSING,
    out_type: Any = (),
    *,
    mesh: Any,
    scratch_types: Any = (),
    compiler_params: Any = None,
    interpret: Any = False,
    cost_estimate: Any = None,
    debug: bool = False,
    name: str | None = None,
    metadata: Any = None,
) -> Any:
    """Return a function that runs `body` on each core of a mesh, on references to whole operands.

    `lax.axis_index(name)` tells the core. On a CPU the cores run one after the other.

    Args:
      body: a function of references: inputs, outputs, scratch; left out, the result is a decorator.
      out_type: a pytree of shapes and dtypes.
      scratch_types: memory of each core, such as `pl.ANY((8,), sagax.numpy.float32)`.

    >>> mesh = sagax.experimental.pallas.tpu.TensorCoreMesh(axis_name="core", num_cores=2)
    >>> def body(x_ref, o_ref):
    ...     core = lax.axis_index("core")
    ...     o_ref[core] = x_ref[core] + 10
    >>> kernel(body, sagax.ShapeDtypeStruct((2,), snp.float32), mesh=mesh)(snp.arange(2.0))
    Array([10., 11.], dtype=float32)
    """
    shape = _shape_of(mesh, "kernel")

    def decorate(fun: Callable) -> Callable:
        check_function(fun, "kernel: body should be a callable.", "kernel", "body")
        spec = GridSpec(grid=tuple(shape.items()), scratch_shapes=scratch_types)
        return pallas_call(
            fun, out_type, grid_spec=spec, interpret=interpret, name=name, debug=debug,
            compiler_params=compiler_params, cost_estimate=cost_estimate, metadata=metadata,
        )  # fmt: skip

    return decorate if body is _MISSING else decorate(body)


def core_map(
    mesh: Any,
    *,
    compiler_params: Any = None,
    interpret: Any = False,
    debug: bool = False,
    cost_estimate: Any = None,
    name: str | None = None,
    metadata: Any = None,
    scratch_shapes: Any = (),
) -> Callable[[Callable], None]:
    """Decorate a function without arguments: run it on each core of a mesh, on references that it captures.

    >>> mesh = sagax.experimental.pallas.tpu.TensorCoreMesh(axis_name="core", num_cores=2)
    >>> ref = sagax.new_ref(snp.zeros(2))
    >>> @core_map(mesh)
    ... def _():
    ...     ref[lax.axis_index("core")] = 5.0
    >>> ref[...].tolist()
    [5.0, 5.0]
    """
    shape = _shape_of(mesh, "core_map")

    def decorate(fun: Callable) -> None:
        check_function(fun, "core_map decorates a function", "core_map", "fun")
        sizes, names = tuple(shape.values()), tuple(shape)

        def one(i: Any, carry: tuple) -> tuple:
            indices = []
            for n in reversed(sizes):
                indices.append(convert(i % n, np.dtype(np.int32)))
                i = i // n
            frame = _frames.Frame(name or "core_map", sizes, indices[::-1], names)
            with _frames.entered(frame):
                if scratch_shapes:
                    run_scoped(fun, *scratch_shapes)
                else:
                    fun()
            return carry

        fori_loop(0, math.prod(sizes), one, ())

    return decorate
