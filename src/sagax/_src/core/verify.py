"""Verify the laws of jaxprs: between passes under `enable_checks`, and in tests."""

from __future__ import annotations

from typing import Any

from sagax._src.core import memo_keys
from sagax._src.core.avals import same_type
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, subjaxprs
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import errors


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Raise JaxprTypeError, naming the equation, unless `jaxpr` is well formed and well typed.

    Laws: every variable is bound once and before it is read; literals have their type; outputs have
    the type that the primitive's abstract rule gives; effects are those of the equations.
    """
    _check(jaxpr, set())


def check_after(stage: str, jaxpr: Jaxpr) -> None:
    """Check the jaxpr that a stage made. The error names the stage."""
    if memo_keys.IS_VERIFIED in jaxpr.memo:
        return
    try:
        check_jaxpr(jaxpr)
    except errors.SagaxError as error:
        raise errors.JaxprTypeError(f"after {stage}: {error}") from error
    jaxpr.memo[memo_keys.IS_VERIFIED] = True


def check_closed(closed: ClosedJaxpr) -> None:
    """Check a jaxpr, and that its constants have the types of their variables."""
    check_jaxpr(closed.jaxpr)
    if len(closed.consts) != len(closed.jaxpr.constvars):
        raise errors.JaxprTypeError(
            f"{len(closed.consts)} constants for {len(closed.jaxpr.constvars)} constant variables"
        )
    for const, var in zip(closed.consts, closed.jaxpr.constvars, strict=True):
        if not same_type(aval_of(const), var.aval):
            raise errors.JaxprTypeError(
                f"constant of type {aval_of(const)} for a variable of type {var.aval}"
            )


def _check(jaxpr: Jaxpr, checked: set[int]) -> None:
    if id(jaxpr) in checked:  # check shared jaxprs only the first time
        return
    checked.add(id(jaxpr))
    bound: set[Var] = set()

    def bind(v: Any, where: str) -> None:
        if type(v) is not Var:
            raise errors.JaxprTypeError(f"{where}: {v!r} is no variable")
        if v in bound:
            raise errors.JaxprTypeError(f"{where}: variable of type {v.aval} is bound twice")
        bound.add(v)

    def read(v: Any, where: str) -> None:
        if type(v) is Literal:
            if not same_type(aval_of(v.val), v.aval) and getattr(v.aval, "shape", ()) != ():
                raise errors.JaxprTypeError(
                    f"{where}: literal {v.val!r} does not have type {v.aval}"
                )
        elif v not in bound:
            raise errors.JaxprTypeError(
                f"{where}: variable of type {v.aval} is read before it is bound"
            )

    for v in (*jaxpr.constvars, *jaxpr.invars):
        bind(v, "inputs")
    effects: frozenset = frozenset()
    for i, eqn in enumerate(jaxpr.eqns):
        where = f"equation {i} ({eqn.primitive.name})"
        for v in eqn.invars:
            read(v, where)
        out = eqn.primitive.abstract_eval(tuple(v.aval for v in eqn.invars), eqn.params)
        expected = list(out) if eqn.primitive.multiple_results else [out]
        if len(expected) != len(eqn.outvars):
            raise errors.JaxprTypeError(
                f"{where}: {len(eqn.outvars)} outputs where the rule gives {len(expected)}"
            )
        for v, aval in zip(eqn.outvars, expected, strict=True):
            if not same_type(v.aval, aval):
                raise errors.JaxprTypeError(
                    f"{where}: output of type {v.aval} where the rule gives {aval}"
                )
            bind(v, where)
        for inner in subjaxprs(eqn.params):
            _check(inner, checked)
        effects = effects | eqn.effects
    for v in jaxpr.outvars:
        read(v, "outputs")
    if not effects <= jaxpr.effects:
        raise errors.JaxprTypeError(f"effects {set(effects - jaxpr.effects)} are not declared")
