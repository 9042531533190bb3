"""Add up the rooflines of the equations of a jaxpr."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.api.derivatives import vjp as _vjp
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.api.shard_map import shard_map
from sagax._src.api.tracing_utils import make_jaxpr
from sagax._src.core.dtypes import bfloat16
from sagax._src.core.families import UNKNOWN
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var, subjaxprs
from sagax._src.core.meshes import AbstractMesh, Mesh
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.shard_map import shard_map_p
from sagax._src.transforms.prune import prune_jaxpr
from sagax.experimental.roofline._results import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    rules,
)
from sagax.experimental.roofline._rules import by_traits
from sagax.extend.source_info_util import NameStack

_logger = logging.getLogger(__name__)


def roofline(
    f: Callable[..., Any],
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any = None,
    out_specs: Any = None,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    vjp: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult]]:
    """Return a function that gives the shapes of the results of `f`, and its work as a `RooflineResult`.

    The arguments may be arrays or `ShapeDtypeStruct`s: nothing is computed. With a mesh and specs `f` becomes the
    body of a `shard_map`, and the work is that of one device, with what it sends. Of loops one iteration of
    `scan` counts, and `while_loop` and `cond` count nothing, as in jax.

    Args:
      mesh, in_specs, out_specs: as of `shard_map`; all three or none.
      pin_lhs_in_vmem, pin_rhs_in_vmem: do not count reads of the first (with writes of the result) or second
        operand of matrix products.
      vjp: count the forward and the backward pass, for a cotangent like the results.
      print_jaxpr: print the jaxpr that is counted.

    >>> x = snp.ones((2, 3))
    >>> roofline.roofline(lambda x: snp.sin(x) + 1)(x)[1].unfused_flops
    12
    """
    arguments.check_callable(f, "roofline")
    given = [x is not None for x in (mesh, in_specs, out_specs)]

    @wraps(f)
    def count(*args: Any) -> tuple[Any, RooflineResult]:
        fun = f
        if mesh is not None and all(given):
            fun = shard_map(fun, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
        if vjp:
            fun = _with_backward_pass(fun)
        closed, shapes = make_jaxpr(fun, return_shape=True)(*args)
        if mesh is not None and out_specs is not None and not vjp:
            specs = trees.broadcast_prefix(out_specs, shapes)
            leaves, tree = trees.flatten(shapes)
            shapes = tree.unflatten(
                [
                    ShapeDtypeStruct(s.shape, s.dtype, sharding=NamedSharding(mesh, spec))
                    for s, spec in zip(leaves, specs, strict=True)
                ]
            )
        jaxpr = prune_jaxpr(closed.jaxpr)
        mapped = [e for e in jaxpr.eqns if e.primitive is shard_map_p]
        if mapped:  # the work of one device: what is left around is a move between devices
            jaxpr = mapped[-1].params["jaxpr"].jaxpr
        if print_jaxpr:
            print(jaxpr)
        name = getattr(f, "__qualname__", type(f).__name__)
        walk = _Walk(mesh, pin_lhs_in_vmem, pin_rhs_in_vmem)
        return shapes, walk.total(jaxpr, NameStack(f"roofline({name})"))

    return count


def roofline_and_grad(
    f: Callable[..., Any],
    mesh: Mesh | AbstractMesh,
    in_specs: Any,
    out_specs: Any,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[Any, RooflineResult, RooflineResult]]:
    """Return a function that gives the shapes of the results of `f`, its work, and the work with the backward pass.

    The backward pass counts for arguments of type bfloat16; those of type int32 keep it.

    >>> from sagax.sharding import AbstractMesh, PartitionSpec as P
    >>> x = sagax.ShapeDtypeStruct((8, 8), snp.bfloat16)
    >>> count = roofline.roofline_and_grad(lambda x: x @ x, AbstractMesh((1,), ("i",)), P(), P())
    >>> _, forward, both = count(x)
    >>> forward.flops, both.flops
    (1024, 2048)
    """
    options: dict[str, Any] = {
        "pin_lhs_in_vmem": pin_lhs_in_vmem,
        "pin_rhs_in_vmem": pin_rhs_in_vmem,
        "print_jaxpr": print_jaxpr,
    }
    forward = roofline(f, mesh, in_specs, out_specs, **options)
    both = roofline(f, mesh, in_specs, out_specs, vjp=True, **options)

    def narrow(x: Any) -> ShapeDtypeStruct:
        dtype = np.int32 if x.dtype == np.int32 else bfloat16
        return ShapeDtypeStruct(x.shape, dtype, sharding=getattr(x, "sharding", None))

    @wraps(f)
    def count(*args: Any) -> tuple[Any, RooflineResult, RooflineResult]:
        shapes, found = forward(*args)
        return shapes, found, both(*trees.map(narrow, args))[1]

    return count


def _with_backward_pass(f: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(f)
    def run(*args: Any) -> Any:
        primals, pullback = _vjp(f, *args)
        return pullback(primals)

    return run


class _Walk:
    """Add up equations, for a mesh and a choice of what stays in fast memory."""

    def __init__(self, mesh: Any, pin_lhs: bool, pin_rhs: bool) -> None:
        self.mesh, self.pin_lhs, self.pin_rhs = mesh, pin_lhs, pin_rhs

    def total(self, jaxpr: Jaxpr, names: NameStack) -> RooflineResult:
        """Return the work of a jaxpr."""
        total = RooflineResult()
        inputs = dict.fromkeys([*jaxpr.constvars, *jaxpr.invars])
        alive = RooflineShape.total_bytes([v.aval for v in inputs])
        peak = alive
        last = _last_equations(jaxpr)
        for eqn in jaxpr.eqns:
            total += self.equation(eqn, names + eqn.scope)
            alive += RooflineShape.total_bytes([v.aval for v in eqn.outvars])
            ended = {v for v in eqn.invars if isinstance(v, Var) and last.get(v) is eqn}
            alive -= RooflineShape.total_bytes([v.aval for v in ended])
            peak = max(peak, alive)
        return total + RooflineResult(peak_hbm_bytes=peak)

    def equation(self, eqn: Eqn, names: NameStack) -> RooflineResult:
        primitive = eqn.primitive
        rule = rules.get(primitive)
        if rule is None and primitive.is_higher_order:
            inner = _applied(eqn)
            if inner:
                within = names.extend(primitive.name)
                return sum([self.total(j, within) for j in inner], RooflineResult())
        if rule is None and primitive.family is UNKNOWN:
            _logger.warning(
                "%s has no roofline rule and counts nothing: set one by register_roofline",
                primitive.name,
            )
        ins, outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
        ctx = RooflineRuleContext(
            name_stack=names,
            primitive=primitive,
            avals_in=ins,
            avals_out=outs,
            jaxpr_eqn_ctx=None,
            mesh=self.mesh,
            pin_lhs_in_vmem=self.pin_lhs,
            pin_rhs_in_vmem=self.pin_rhs,
        )
        return (rule or by_traits)(ctx, *map(RooflineShape.from_aval, ins), **eqn.params)


def _last_equations(jaxpr: Jaxpr) -> dict[Var, Eqn | None]:
    """Return the equation after which each variable is not used any more; results of the jaxpr have none."""
    last: dict[Var, Eqn | None] = {
        v: eqn for eqn in jaxpr.eqns for v in eqn.invars if isinstance(v, Var)
    }
    for v in jaxpr.outvars:
        if isinstance(v, Var):
            last[v] = None
    return last


def _applied(eqn: Eqn) -> Sequence[Jaxpr]:
    """Return the jaxprs that an equation applies once: calls, bodies of `scan`, functions with own derivatives."""
    return subjaxprs({k: v for k, v in eqn.params.items() if k in ("jaxpr", "inner")})
