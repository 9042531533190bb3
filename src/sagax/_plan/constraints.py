"""Keep the batch cut inside of loops: insert sharding constraints into a traced step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from sagax._plan.hlo import SourceLine
from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.spans import user_span
from sagax._src.higher_order.scan import scan_p
from sagax._src.lowering import map_subjaxprs
from sagax._src.primitives.resharding import sharding_constraint_p


class BatchCut(NamedTuple):
    """The spec that values along the batch shall keep, and the sizes that a batch may have."""

    spec: PartitionSpec
    sizes: frozenset[int]


class BatchConstraints:
    """Constrain what scans carry along the batch: at the start of each iteration, and as a result.

    `places` are the lines of the scans.
    """

    def __init__(self, mesh: Mesh, cut: BatchCut) -> None:
        self.sharding = NamedSharding(mesh, cut.spec)
        self.batches = cut.sizes
        self.places: list[SourceLine] = []

    def apply(self, closed: ClosedJaxpr, out_tree: Any) -> Callable:
        """Return the traced step as a function, with constraints."""
        jaxpr = self._within(closed.jaxpr)

        def constrained(*args: Any) -> Any:
            return out_tree.unflatten(eval_jaxpr(jaxpr, closed.consts, *trees.leaves(args)))

        return constrained

    def _within(self, jaxpr: Jaxpr) -> Jaxpr:
        eqns: list[Eqn] = []
        for eqn in jaxpr.eqns:
            if eqn.primitive is scan_p:
                eqns += self._in_scan(eqn)
            elif eqn.primitive.name == "shard_map":
                eqns.append(eqn)  # what it maps over cannot be constrained in it
            else:
                eqns += map_subjaxprs.within([eqn], self._within)
        return jaxpr.replace(eqns=eqns)

    def _in_scan(self, eqn: Eqn) -> list[Eqn]:
        first, count = eqn.params["num_consts"], eqn.params["num_carry"]
        body: Jaxpr = eqn.params["jaxpr"].jaxpr
        carried = [i for i in range(count) if self._is_batch(body.invars[first + i].aval)]
        inner = self._within(body)
        if carried:
            invars, added = list(inner.invars), []
            for i in carried:
                old = invars[first + i]
                invars[first + i] = new = Var(old.aval)
                added.append(self._constraint(new, old, eqn))
            inner = inner.replace(invars=invars, eqns=[*added, *inner.eqns])
            span = user_span(eqn.traceback)
            place = SourceLine(span.file, span.line) if span is not None else SourceLine("", 0)
            if place not in self.places:
                self.places.append(place)
        outvars, after = list(eqn.outvars), []
        for i in carried:
            old = outvars[i]
            outvars[i] = new = Var(old.aval)
            after.append(self._constraint(new, old, eqn))
        params = {**eqn.params, "jaxpr": ClosedJaxpr(inner, eqn.params["jaxpr"].consts)}
        return [eqn.replace(params=params, outvars=outvars), *after]

    def _is_batch(self, aval: Any) -> bool:
        shape: tuple[int, ...] = getattr(aval, "shape", ())
        mesh, spec = self.sharding.mesh, self.sharding.spec
        if not shape or len(shape) <= len(spec) or shape[0] not in self.batches:
            return False
        parts = [math.prod([mesh.shape[a] for a in spec.axes(i)]) for i in range(len(spec))]
        whole = all(n % k == 0 for n, k in zip(shape, parts, strict=False))
        return whole and dtypes.is_inexact(aval.dtype)

    def _constraint(self, x: Var, out: Var, beside: Eqn) -> Eqn:
        params = {"sharding": self.sharding}
        return Eqn(
            sharding_constraint_p, [x], [out], params, traceback=beside.inner, outer=beside.outer
        )
