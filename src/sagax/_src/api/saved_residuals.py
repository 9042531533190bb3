"""Implement `saved_residuals` and `print_saved_residuals`: list the residuals of a backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import config, trees
from sagax._src.argument_checks.argument_names import leaf_paths
from sagax._src.argument_checks.functions import check_function
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import spans
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.remat import name_p, remat_p
from sagax._src.transforms.linearize import linearize_jaxpr

_CONSTANT = "from a constant"


def saved_residuals(f: Callable, *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
    """List the residuals of the backward pass of `f`: a (type, origin) pair for each array.

    An array comes from an argument, from a constant, or is the output of an operation, shown with
    its source line. Arrays named by `checkpoint_name` show that name.

    >>> from sagax.ad_checkpoint import saved_residuals
    >>> saved_residuals(lambda x, y: x * y, 1.0, 2.0)
    [(ShapedArray(float32[], weak_type=True), 'from the argument x'), (ShapedArray(float32[], weak_type=True), 'from the argument y')]
    """
    check_function(f, "the first argument is the function", "saved_residuals", "f")
    leaves, tree = trees.flatten_argument("saved_residuals", "arguments", (args, kwargs))

    def flat(*xs: Any) -> list:
        some, named = tree.unflatten(xs)
        return trees.flatten(f(*some, **named))[0]

    with config.for_sub_jaxpr():
        jaxpr, consts = stage(flat, [aval_of(x) for x in leaves])
    marks = tuple(dtypes.is_inexact(aval_of(x).dtype) for x in leaves)
    closed = ClosedJaxpr(hoist_constants(jaxpr), ())
    split = linearize_jaxpr(closed, (*((False,) * len(consts)), *marks))
    known = split.known.jaxpr
    given = [f"from the argument {path}" for path in leaf_paths(f, args, kwargs)]
    origins = _origins(known, [*((_CONSTANT,) * len(consts)), *given])
    residuals = [
        known.invars[k] if where == "in" else known.outvars[k] for where, k in split.residuals
    ]
    order = {v: i for i, v in enumerate(origins)}  # inputs, then results in the order of the jaxpr
    residuals = sorted((v for v in residuals if type(v) is not Literal), key=order.__getitem__)
    return [(v.aval, origins[v]) for v in residuals]


def print_saved_residuals(f: Callable, *args: Any, **kwargs: Any) -> None:
    """Print the residuals that `saved_residuals` lists, one per line.

    >>> from sagax.ad_checkpoint import print_saved_residuals
    >>> print_saved_residuals(lambda x, y: x @ y, snp.ones((2, 3)), snp.ones(3))
    f32[2,3] from the argument x
    f32[3] from the argument y
    """
    for aval, where in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {where}")


def _origins(jaxpr: Jaxpr, given: Sequence[str]) -> dict[Any, str]:
    """Describe the origins of values of a jaxpr; `given` describes its inputs."""
    origins: dict[Any, str] = dict(zip(jaxpr.invars, given, strict=True))
    origins.update(dict.fromkeys(jaxpr.constvars, _CONSTANT))
    for eqn in jaxpr.eqns:
        if eqn.primitive in (jit_p, remat_p):  # as if inlined
            inner = eqn.params["jaxpr"].jaxpr
            within = _origins(inner, [origins.get(v, _CONSTANT) for v in eqn.invars])
            descriptions = [within.get(v, _CONSTANT) for v in inner.outvars]
        else:
            descriptions = [_describe(eqn)] * len(eqn.outvars)
        origins.update(zip(eqn.outvars, descriptions, strict=True))
    return origins


def _describe(eqn: Eqn) -> str:
    """Name the operation and its source line."""
    what = f"output of {eqn.primitive.name}"
    if eqn.primitive is name_p:
        what = f"named '{eqn.params['name']}'"
    span = spans.user_span(eqn.traceback)
    if span is None:
        return what
    column = "" if span.column is None else f":{span.column + 1}"
    return f"{what} from {spans.display_path(span.file)}:{span.line}{column} ({span.function})"
