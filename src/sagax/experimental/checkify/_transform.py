"""Rewrite a jaxpr with checks into one that returns their failures.

Each jaxpr gets further results: the number of the check that failed first (0: none), and the values
that its checks report. Loops carry these, branches and calls return them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import config
from sagax._src.core import dims, dtypes, memo_keys
from sagax._src.core.families import Default, Indices
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, eval_jaxpr
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.operands import LoopOperands, LoopResults, WhileOperands
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.value import aval_of
from sagax._src.higher_order.call import bind_call, jit_p
from sagax._src.higher_order.composite import composite_p
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.custom_batching import custom_vmap_p
from sagax._src.higher_order.custom_derivative_primitives import (
    StageableFunction,
    custom_jvp_p,
    custom_vjp_p,
    remat_opt_p,
)
from sagax._src.higher_order.custom_transpose import linear_call_p
from sagax._src.higher_order.marked_calls import xla_metadata_call_p
from sagax._src.higher_order.progress import progress_p
from sagax._src.higher_order.remat import remat_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.shard_map import Region, shard_map_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.arithmetic import div_p
from sagax._src.primitives.shaping import size_as_value
from sagax._src.source_stacks import written
from sagax._src.transforms.derived import derived, derived_jaxpr
from sagax.experimental.checkify._errors import (
    CHECKS,
    DIVISION,
    INDEX,
    NAN,
    USER,
    ErrorCategory,
    OutOfBounds,
    PerExample,
    Site,
    Text,
    check_p,
    div_checks,
    index_checks,
    nan_checks,
    select_failure,
)
from sagax.numpy._base import promotes_freely

_NONE = np.int32(0)
_NO_CHECKS: frozenset[ErrorCategory] = frozenset()


class Outcome:
    """Hold the state of the checks of a jaxpr so far."""

    def __init__(self) -> None:
        self.code: Any = _NONE
        self.sites: list[Site] = []
        self.payload: list[Any] = []

    def add(self, code: Any, payload: Sequence[Any], sites: Sequence[Site]) -> None:
        """Append checks, whose numbers begin at 1."""
        if not sites:
            return
        found = snp.where(code != 0, code + np.int32(len(self.sites)), _NONE)
        self.code = snp.where(self.code != 0, self.code, found) if self.sites else found
        self.sites += sites
        self.payload += payload

    def check(
        self,
        kinds: frozenset[ErrorCategory],
        bad: Any,
        message: Callable[[list], str] | PerExample,
        payload: Sequence[Any] = (),
    ) -> None:
        """Append one check."""
        code = snp.where(bad, np.int32(1), _NONE)
        self.add(code, payload, [Site(kinds, [aval_of(x) for x in payload], message)])

    def results(self) -> list[Any]:
        return [self.code, *self.payload]


class CheckedJaxpr:
    """Hold a rewritten jaxpr, and the checks in it. Its constants are leading inputs."""

    def __init__(self, jaxpr: ClosedJaxpr, sites: list[Site], n_outs: int, drops: bool) -> None:
        self.jaxpr, self.sites, self.n_outs = jaxpr, sites, n_outs
        self.drops = drops  # whether it had user checks, without `user_checks` enabled

    @property
    def unchanged(self) -> bool:
        """Return whether the jaxpr can stay unchanged."""
        return not self.sites and not self.drops

    def __call__(self, *args: Any) -> tuple[list, Any, list]:
        return self.split(eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *args))

    def split(self, outs: Sequence[Any]) -> tuple[list, Any, list]:
        """Split results: results proper, number of the failed check, and its reported values."""
        n = self.n_outs
        return list(outs[:n]), outs[n], list(outs[n + 1 :])

    def reports(self) -> list[Any]:
        """Return the types of the reported values."""
        return [a for site in self.sites for a in site.avals]


def checked(jaxpr: Jaxpr, kinds: frozenset[ErrorCategory]) -> CheckedJaxpr:
    """Rewrite a jaxpr; its constants, if any, become leading inputs."""
    known = jaxpr.memo.get((memo_keys.CHECKED, kinds))
    if known is None:
        whole = hoist_constants(jaxpr)
        outcome = Outcome()

        def run(*args: Any) -> list:
            outs = interpret(whole, args, kinds, outcome)
            return [*outs, *outcome.results()]

        rewritten, captured = stage(run, whole.in_avals, whole.debug_info)
        known = CheckedJaxpr(
            ClosedJaxpr(rewritten, captured),
            outcome.sites,
            len(whole.outvars),
            bool(CHECKS & jaxpr.effects),
        )
        jaxpr.memo[memo_keys.CHECKED, kinds] = known
    return known


def interpret(
    jaxpr: Jaxpr, args: Sequence[Any], kinds: frozenset[ErrorCategory], outcome: Outcome
) -> list:
    """Evaluate a jaxpr, adding the checks of its operations to the outcome."""
    env: dict[Any, Any] = dict(zip(jaxpr.invars, args, strict=True))

    def read(v: Any) -> Any:
        return v.val if type(v) is Literal else env[v]

    here = written.here
    before = here.state()
    try:
        for eqn in jaxpr.eqns:
            # a check has the source position of its operation
            here.scope = "/".join(filter(None, (before[0], eqn.scope)))
            here.set_origin(eqn)
            ins = [read(v) for v in eqn.invars]
            rule = eqn.primitive.check_rule
            if type(rule) is Default:
                rule = _bind_unchecked
            env.update(zip(eqn.outvars, rule(eqn, ins, kinds, outcome), strict=True))
    finally:
        here.restore(before)
    return [read(v) for v in jaxpr.outvars]


# First-order operations
# ----------------------------------------------------------------------------------


def _apply(eqn: Eqn, ins: Sequence[Any]) -> list:
    out = eqn.primitive.bind(*ins, **eqn.params)
    return list(out) if eqn.primitive.multiple_results else [out]


def _bind_unchecked(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    indices = eqn.primitive.index_rule
    if INDEX in kinds and not isinstance(indices, Default):
        _check_indices(ins, indices([snp.shape(x) for x in ins], eqn.params), outcome)
    outs = _apply(eqn, ins)
    if NAN in kinds and eqn.primitive.creates_nan:
        bad = [snp.any(snp.isnan(x)) for x in outs if dtypes.is_inexact(aval_of(x).dtype)]
        if bad:
            outcome.check(
                nan_checks,
                functools.reduce(operator.or_, bad),
                Text(f"nan generated by primitive: {eqn.primitive.name}."),
            )
    return outs


@div_p.check
def _division(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    if DIVISION in kinds:
        outcome.check(div_checks, snp.any(ins[1] == 0), Text("division by zero"))
    return _bind_unchecked(eqn, ins, kinds, outcome)


@promotes_freely
def _check_indices(ins: Sequence[Any], indices: Indices, outcome: Outcome) -> None:
    """Check index vectors (in the last dimension), or a scalar for each axis: the starts of windows."""
    shape, (operands, axes, window) = snp.shape(ins[0]), indices
    if not axes:
        return
    first, *rest = ins[operands]
    vectors = snp.stack([snp.asarray(s) for s in (first, *rest)]) if not snp.ndim(first) else first
    if 0 in np.shape(vectors):
        return
    dtype = aval_of(vectors).dtype
    if dtype.itemsize < 4:  # may be too narrow for the sizes
        dtype = np.dtype(np.int32)
    vectors = snp.reshape(vectors, (-1, len(axes))).astype(dtype)
    most = np.iinfo(dtype).max
    greatest = [shape[a] - window[a] for a in axes]
    limits = [size_as_value(g) if dims.is_dim(g) else min(g, most) for g in greatest]
    bad = (vectors < 0) | (vectors > snp.stack([snp.asarray(g, dtype) for g in limits]))
    first = snp.argmax(snp.ravel(bad))
    index, which = snp.ravel(vectors)[first], first % len(axes)
    outcome.check(
        index_checks, snp.any(bad), OutOfBounds(tuple(shape), tuple(axes)), [index, which]
    )


@check_p.check
def _user(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    sites = eqn.params["sites"]
    selected = [USER in kinds or bool(site.kinds & kinds) for site in sites]
    if any(selected):
        code, *payload = select_failure(ins[0], ins[1:], sites)
        if not all(selected):
            code = snp.where(snp.asarray([False, *selected])[code], code, _NONE)
        outcome.add(code, payload, sites)
    return []


# Higher-order operations
# ---------------------------------------------------------------------------------


@xla_metadata_call_p.check
@progress_p.check
@jit_p.check
def _jit(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    closed, params = eqn.params["jaxpr"], dict(eqn.params)
    with params.get("under", config.unchanged):
        checked_jaxpr = checked(closed.jaxpr, kinds)
    if checked_jaxpr.unchanged:
        return _apply(eqn, ins)
    del params["jaxpr"]
    outs, code, payload = checked_jaxpr.split(
        bind_call(eqn.primitive, checked_jaxpr.jaxpr, [*closed.consts, *ins], **params)
    )
    outcome.add(code, payload, checked_jaxpr.sites)
    return outs


@remat_p.check
def _remat(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    closed = eqn.params["jaxpr"]
    checked_jaxpr = checked(closed.jaxpr, kinds)
    if checked_jaxpr.unchanged:
        return _apply(eqn, ins)
    whole = hoist_constants(checked_jaxpr.jaxpr.jaxpr)
    operands = [*checked_jaxpr.jaxpr.consts, *closed.consts, *ins]
    found = remat_p.bind(*operands, **{**eqn.params, "jaxpr": ClosedJaxpr(whole, ())})
    outs, code, payload = checked_jaxpr.split(found)
    outcome.add(code, payload, checked_jaxpr.sites)
    return outs


def _inlined(name: str) -> Callable[..., list]:
    """Evaluate the sub-jaxpr of an operation without rules of its own."""

    def rule(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
        closed = eqn.params[name]
        if checked(closed.jaxpr, kinds).unchanged:
            return _apply(eqn, ins)
        return interpret(hoist_constants(closed.jaxpr), [*closed.consts, *ins], kinds, outcome)

    return rule


def _beside(
    jaxpr_of: Callable[[dict], Any], with_jaxpr: Callable[[dict, ClosedJaxpr], dict]
) -> Callable[..., list]:
    """Keep an operation that has rules of its own, and evaluate its checks beside it.

    XLA merges duplicate computations; effects, such as prints, happen once.
    """

    def rule(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
        closed = jaxpr_of(eqn.params)
        checked_jaxpr = checked(closed.jaxpr, kinds)
        if checked_jaxpr.unchanged:
            return _apply(eqn, ins)
        params = eqn.params
        if checked_jaxpr.drops:
            without = checked(closed.jaxpr, _NO_CHECKS).jaxpr
            inner = without.jaxpr.replace(outvars=without.jaxpr.outvars[: checked_jaxpr.n_outs])
            params = with_jaxpr(params, ClosedJaxpr(inner, without.consts))
        if checked_jaxpr.sites:
            checked_jaxpr = checked(_without_effects(closed.jaxpr), kinds)
            still = [lax.stop_gradient(x) for x in (*closed.consts, *ins)]
            _, code, payload = checked_jaxpr(*still)
            outcome.add(code, payload, checked_jaxpr.sites)
        return eqn.primitive.bind(*ins, **params)

    return rule


def _without_effects(jaxpr: Jaxpr) -> Jaxpr:
    """Remove equations from the jaxpr that exist for their effect only, except checks."""

    def without_effects() -> Jaxpr:
        eqns = within(
            [e for e in jaxpr.eqns if e.outvars or not e.effects - CHECKS], _without_effects
        )
        return jaxpr.replace(eqns=eqns)

    return (
        derived(jaxpr, (memo_keys.CHECKED_SILENT,), without_effects)
        if jaxpr.effects - CHECKS
        else jaxpr
    )


def _with_inner(params: dict, closed: ClosedJaxpr) -> dict:
    inner = params["inner"]
    return {**params, "inner": StageableFunction(None, inner.name, closed, inner.n_consts)}


_of_custom_derivatives = _beside(lambda params: params["inner"].jaxpr, _with_inner)
_with_rules = _beside(
    lambda params: params["jaxpr"], lambda params, closed: {**params, "jaxpr": closed}
)
custom_jvp_p.check(_of_custom_derivatives)
custom_vjp_p.check(_of_custom_derivatives)
custom_vmap_p.check(_with_rules)
linear_call_p.check(_with_rules)
remat_opt_p.check(_inlined("fwd"))
composite_p.check(_inlined("jaxpr"))


@shard_map_p.check
def _shard_map(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    """Stack the outcomes of the devices along a leading dimension: one check of the enclosing jaxpr."""
    p = eqn.params
    inner: Jaxpr = p["jaxpr"].jaxpr
    region = Region(p["mesh"], p["manual_axes"], p["check_vma"])

    def each(*xs: Any) -> list:
        outs, code, payload = checked_jaxpr(*xs)
        return [*outs, *[lax.expand_dims(x, (0,)) for x in (code, *payload)]]

    with region.inside():
        checked_jaxpr = checked(inner, kinds)
        if not checked_jaxpr.unchanged:
            (without_effects,) = derived_jaxpr(
                inner, (memo_keys.CHECKED_SHARD_MAP, kinds), each, inner.in_avals
            )
    if checked_jaxpr.unchanged:
        return _apply(eqn, ins)
    names = tuple([n for n in region.mesh.axis_names if n in region.manual_axes])
    own = [PartitionSpec(names)] * (1 + len(checked_jaxpr.reports()))
    found = region.bind(without_effects, ins, p["in_specs"], [*p["out_specs"], *own], p["name"])
    outs, code, payload = checked_jaxpr.split(found)
    if checked_jaxpr.sites:
        found_kinds = frozenset().union(*[site.kinds for site in checked_jaxpr.sites])
        message = PerExample(tuple(checked_jaxpr.sites))
        outcome.check(found_kinds, snp.any(code != 0), message, [code, *payload])
    return outs


@cond_p.check
def _cond(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    branches = eqn.params["branches"]
    branches_checked = [checked(b.jaxpr, kinds) for b in branches]
    if all(p.unchanged for p in branches_checked):
        return _apply(eqn, ins)
    reports = [p.reports() for p in branches_checked]

    def branch(i: int, *operands: Any) -> list:
        outs, code, payload = branches_checked[i](*branches[i].consts, *operands)
        own = Outcome()
        for k, p in enumerate(branches_checked):
            if k == i:
                own.add(code, payload, p.sites)
            else:
                own.add(_NONE, [snp.zeros(a.shape, a.dtype) for a in reports[k]], p.sites)
        return [*outs, *own.results()]

    found = lax.switch(
        ins[0], [functools.partial(branch, i) for i in range(len(branches))], *ins[1:]
    )
    n = len(eqn.outvars)
    outcome.add(found[n], found[n + 1 :], [s for p in branches_checked for s in p.sites])
    return found[:n]


def _blank(checked_jaxpr: CheckedJaxpr) -> list:
    return [_NONE, *(snp.zeros(a.shape, a.dtype) for a in checked_jaxpr.reports())]


def _first_failure(before: Sequence[Any], code: Any, payload: Sequence[Any]) -> list:
    """Return the outcome of earlier iterations, or, if nothing failed in them, of this one."""
    return [snp.where(before[0] != 0, old, new) for old, new in zip(before, [code, *payload])]


@scan_p.check
def _scan(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    p = eqn.params
    closed = p["jaxpr"]
    checked_jaxpr = checked(closed.jaxpr, kinds)
    if checked_jaxpr.unchanged:
        return _apply(eqn, ins)
    constants, start, sequences = LoopOperands.of_scan(ins, p)
    consts = [*closed.consts, *constants]

    def body(carry: tuple, xs: Sequence[Any]) -> tuple:
        values, before = carry
        outs, code, payload = checked_jaxpr(*consts, *values, *xs)
        values, ys = LoopResults.split(outs, len(values))
        return (values, _first_failure(before, code, payload)), ys

    (carry, found), ys = lax.scan(
        body,
        (start, _blank(checked_jaxpr)),
        sequences,
        p["length"],
        p["reverse"],
        p["unroll"],
    )
    outcome.add(found[0], found[1:], checked_jaxpr.sites)
    return [*carry, *ys]


@while_p.check
def _while(eqn: Eqn, ins: Sequence[Any], kinds: frozenset, outcome: Outcome) -> list:
    p = eqn.params
    test, body = checked(p["cond_jaxpr"].jaxpr, kinds), checked(p["body_jaxpr"].jaxpr, kinds)
    if test.unchanged and body.unchanged:
        return _apply(eqn, ins)
    for_test, for_body, start = WhileOperands.of_while(ins, p)
    of_test = [*p["cond_jaxpr"].consts, *for_test]
    of_body = [*p["body_jaxpr"].consts, *for_body]
    (holds,), code, payload = test(*of_test, *start)
    outcome.add(code, payload, test.sites)

    def iterate(state: tuple) -> tuple:
        _, values, in_body, in_test = state
        outs, code, payload = body(*of_body, *values)
        in_body = _first_failure(in_body, code, payload)
        (holds,), code, payload = test(*of_test, *outs)
        # the first failure in the body stays the first one
        code = snp.where(in_body[0] != 0, _NONE, code)
        return holds, outs, in_body, _first_failure(in_test, code, payload)

    _, outs, in_body, in_test = lax.while_loop(
        lambda state: state[0],
        iterate,
        (holds, start, _blank(body), _blank(test)),
        max_steps=p["max_steps"],
    )
    # a failed check of the condition after some iteration, before one of the body in a later
    # iteration
    outcome.add(in_test[0], in_test[1:], test.sites)
    outcome.add(in_body[0], in_body[1:], body.sites)
    return outs
