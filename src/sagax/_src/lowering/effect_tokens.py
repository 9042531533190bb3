"""Order effects: thread a token through calls, loops, branches and inner functions.

XLA runs independent operations in any order, also calls with side effects. So every call takes a token and
returns one for the next. Higher-order operations carry it in and out. A call for its result only takes the
token too, so that earlier effects are visible if it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.callbacks.callbacks import (
    TOKEN,
    debug_callback_p,
    io_callback_p,
    ordered_call_params,
    ordered_callback_p,
    pure_callback_p,
)
from sagax._src.core import memo_keys
from sagax._src.core.avals import same_type
from sagax._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, subjaxprs
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.shard_map import shard_map_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.derived import derived


def in_order(jaxpr: Jaxpr) -> Jaxpr:
    """Order the Python callbacks of `jaxpr` by tokens, in equation order."""
    if not any(_calls(e) for e in jaxpr.eqns):
        return jaxpr
    eqns, _ = _threaded(jaxpr.eqns, Literal(0, TOKEN))
    return jaxpr.replace(eqns=eqns)


def _calls(eqn: Eqn) -> bool:
    """Return whether an equation calls Python functions for their effects, itself or within."""
    if not eqn.effects:
        return False
    if eqn.primitive in (io_callback_p, debug_callback_p):
        return True
    return any(_calls(e) for inner in subjaxprs(eqn.params) for e in inner.eqns)


def _with_token(jaxpr: Jaxpr, position: int, *, out: bool = True) -> Jaxpr:
    """Add a token to `jaxpr` as input number `position` and, with `out`, as first output."""

    def build() -> Jaxpr:
        token = Var(TOKEN)
        invars = [*jaxpr.invars[:position], token, *jaxpr.invars[position:]]
        eqns, last = _threaded(jaxpr.eqns, token) if out else (jaxpr.eqns, token)
        outvars = [last, *jaxpr.outvars] if out else jaxpr.outvars
        return jaxpr.replace(invars=invars, outvars=outvars, eqns=eqns)

    return derived(jaxpr, (memo_keys.WITH_TOKEN, position, out), build)


def _closed(closed: ClosedJaxpr, position: int, *, out: bool = True) -> ClosedJaxpr:
    return ClosedJaxpr(_with_token(closed.jaxpr, position, out=out), closed.consts)


def _threaded(eqns: Any, token: Atom) -> tuple[list[Eqn], Atom]:
    """Thread the token through the equations; return them and the last token."""
    out: list[Eqn] = []
    for eqn in eqns:
        if _calls(eqn):
            passed, token = _passed_on(eqn, token)
            out += passed
        elif eqn.primitive is pure_callback_p and type(token) is Var:
            out.append(_after(eqn, token))
        else:
            out.append(eqn)
    return out, token


def _after(eqn: Eqn, token: Atom) -> Eqn:
    """Make a call for its result depend on the token."""
    return eqn.replace(
        primitive=ordered_callback_p,
        params=ordered_call_params(eqn.params, eqn.effects),
        invars=[token, *eqn.invars],
        outvars=[Var(TOKEN), *eqn.outvars],
    )


def _passed_on(eqn: Eqn, token: Atom) -> tuple[list[Eqn], Atom]:
    p, params = eqn.primitive, eqn.params
    after = Var(TOKEN)
    at = 0  # the operand index of the token; it is the first of the results
    if p in (io_callback_p, debug_callback_p):
        p, params = ordered_callback_p, ordered_call_params(params, eqn.effects)
    elif p is shard_map_p:  # each device orders its own calls
        inner = params["jaxpr"]
        ordered = ClosedJaxpr(in_order(inner.jaxpr), inner.consts)
        return [eqn.replace(params={**params, "jaxpr": ordered})], token
    elif p.is_call and "jaxpr" in params:
        params = {**params, "jaxpr": _closed(params["jaxpr"], 0)}
    elif p is cond_p:
        at = 1
        params = {**params, "branches": tuple(_closed(b, 0) for b in params["branches"])}
    elif p is scan_p:
        at = params["num_consts"]
        params = {
            **params,
            "jaxpr": _closed(params["jaxpr"], at),
            "num_carry": params["num_carry"] + 1,
        }
    elif p is while_p:
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]
        if any(_calls(e) for e in condition.jaxpr.eqns):
            raise UnsupportedError(
                "a side effect in the condition of a loop",
                function="while_loop",
                fix="call it in the body, or compute the condition there and carry it",
            )
        at = params["cond_nconsts"] + params["body_nconsts"]
        params = {
            **params,
            "cond_jaxpr": _closed(condition, params["cond_nconsts"], out=False),
            "body_jaxpr": _closed(body, params["body_nconsts"]),
        }
    else:  # derivative rules are no longer needed: only the jaxpr remains
        p, params = jit_p, {"jaxpr": _closed(_sub_jaxpr(eqn), 0), "name": eqn.primitive.name}
    outvars = [after, *eqn.outvars]
    invars = [*eqn.invars[:at], token, *eqn.invars[at:]]
    return [eqn.replace(primitive=p, params=params, invars=invars, outvars=outvars)], after


def _sub_jaxpr(eqn: Eqn) -> ClosedJaxpr:
    """Return the sub-jaxpr that an equation is equivalent to."""
    closed = [ClosedJaxpr(j, ()) for j in subjaxprs(eqn.params)]
    ins, outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
    fitting = [
        c
        for c in closed
        if not c.jaxpr.constvars and _fits(c.in_avals, ins) and _fits(c.out_avals, outs)
    ]
    if len(fitting) != 1:
        raise UnsupportedError(
            f"a side effect inside of {eqn.primitive.name}",
            function=eqn.primitive.name,
            fix="move the call out of it",
        )
    return fitting[0]


def _fits(avals: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(avals) == len(others) and all(map(same_type, avals, others))
