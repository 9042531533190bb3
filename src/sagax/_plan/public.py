"""Define the public object `sagax.plan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._plan.failures import HOURS_BETWEEN_FAILURES_OF_A_CHIP, FailurePlan, plan_failures
from sagax._plan.hardware import Hardware
from sagax._plan.pipeline import AXIS, pipeline
from sagax._plan.planner import Plan, make_plan
from sagax._plan.search import AXES, Search, search


class Planner:
    """The class of `sagax.plan`."""

    Hardware = Hardware

    def __call__(
        self,
        step: Callable,
        *args: Any,
        mesh: Any,
        hardware: Any,
        in_shardings: Any = None,
        out_shardings: Any = None,
    ) -> Plan:
        """Plan a training step on many devices, which need not be there.

        The step is traced, partitioned by XLA for all devices of the mesh, and counted; nothing runs.

        Args:
          step: the function, jitted or not; what it donates counts as reused.
          args: its arguments, or `ShapeDtypeStruct`s of their types.
          mesh: a mesh, an `AbstractMesh`, or a dict of axis names and sizes, such as
            `{"data": 64, "tensor": 8}`. Devices of a node follow each other along the last axes.
          hardware: a name such as "h200-8x32" (32 nodes of 8), or a `sagax.plan.Hardware`.
          in_shardings, out_shardings: as in `jit`; default: those of the arguments, else chosen by XLA.

        Returns a `Plan` with `flops`, `bytes`, `seconds`, `memory`, `collectives` and `warnings`, all for one device.

        >>> struct = sagax.ShapeDtypeStruct((512, 512), "float32")
        >>> P = sagax.P
        >>> found = sagax.plan(lambda x, y: x @ y, struct, struct, mesh={"x": 8}, hardware="h100-8",
        ...                    in_shardings=(P(None, "x"), P("x")))
        >>> [(c.kind, c.bytes, c.axis) for c in found.collectives]
        [('all-reduce', 1048576, 'x')]
        """
        return make_plan(step, args, mesh, in_shardings, out_shardings, hardware)

    def search(
        self,
        step: Callable,
        *args: Any,
        hardware: Any,
        axes: Sequence[str] = AXES[:3],
        limit: int = 12,
    ) -> Search:
        """Plan a step for several meshes and shardings, and rank them.

        The first dimension of arguments without new values is the batch, cut along "data" and "fsdp", and
        the second one the sequence. Parameters and the state of the optimizer are cut along "fsdp", and
        along "tensor" so that two products in a row take one exchange. Where XLA would give up the cut of
        the batch, values that scans carry along it are constrained; `code()` has these constraints.

        Args:
          step, args, hardware: as for `sagax.plan`.
          axes: which axes may have more than one device: "data", "fsdp", "tensor", "sequence", and
            "pipeline" for a step that uses `sagax.plan.pipeline`.
          limit: how many meshes are partitioned.

        Returns a `Search`: `best` is a plan, `code()` its specs, `str` a table that says why others lose.

        >>> x = sagax.ShapeDtypeStruct((64, 512), "float32")
        >>> w = sagax.ShapeDtypeStruct((512, 512), "float32")
        >>> found = sagax.plan.search(lambda w, x: (w, x @ w), w, x, hardware="h100-2")
        >>> found.best.devices
        2
        """
        return search(step, args, hardware, axes, limit)

    def pipeline(
        self,
        layer: Callable[[Any, Any], Any],
        x: Any,
        params: Any,
        *,
        microbatches: int,
        axis: str = AXIS,
        batch: Sequence[str] = ("data",),
    ) -> Any:
        """Apply a stack of layers, `x = layer(x, p)` for each entry `p` of `params`, as a pipeline.

        If the current mesh (`sagax.set_mesh`) has the axis, each device along it has some of the layers, and sends its
        results to the next by `ppermute`, a part of the batch at a time (GPipe, arXiv:1811.06965). Without the axis this
        is a `scan`. It runs, has derivatives, and can be planned: steps in which a stage waits count as the work they are.

        Args:
          layer: a function of an array and of the parameters of one layer; the result has the type of `x`.
          x: the batch; microbatches are its rows at the same distance.
          params: a pytree of arrays whose first dimension is the layer.
          microbatches: into how many parts to cut the batch; stages must divide it.
          axis: the mesh axis of the stages.
          batch: mesh axes that cut the batch and not the parameters; `layer` cannot name them.

        Returns the array after all layers, its rows cut along `batch` and `axis`.

        >>> w = snp.stack([2 * snp.eye(3)] * 4)
        >>> sagax.plan.pipeline(lambda x, w: x @ w, snp.ones((2, 3)), w, microbatches=1).tolist()
        [[16.0, 16.0, 16.0], [16.0, 16.0, 16.0]]
        """
        return pipeline(layer, x, params, microbatches, axis, batch)

    def failures(
        self,
        plan: Plan | int,
        *,
        save_seconds: float | None = None,
        storage_bandwidth: float = 2e9,
        restart_seconds: float = 600.0,
        chip_hours: float = HOURS_BETWEEN_FAILURES_OF_A_CHIP,
    ) -> FailurePlan:
        """Plan the checkpoints of a long run, by Young's and Daly's formulas.

        Args:
          plan: a `Plan`, or a number of devices.
          save_seconds: how long steps wait for a checkpoint; default: the parameters and the state of the
            optimizer of all devices, at `storage_bandwidth` bytes/s for each device.
          restart_seconds: from a failure to the next step.
          chip_hours: the mean time between failures of one chip; default: that of a published run.

        >>> found = sagax.plan.failures(4096, save_seconds=30.0)
        >>> 0.9 < found.efficiency < 1
        True
        """
        size = step = None
        count = plan
        if isinstance(plan, Plan):
            count, step = plan.devices, plan.seconds
            size = plan.memory.parameters + plan.memory.optimizer_state
        assert isinstance(count, int)
        return plan_failures(
            count,
            save_seconds=save_seconds,
            checkpoint_bytes=size,
            storage_bandwidth=storage_bandwidth,
            restart_seconds=restart_seconds,
            step_seconds=step,
            chip_hours=chip_hours,
        )

    def __repr__(self) -> str:
        return "sagax.plan"


plan = Planner()
