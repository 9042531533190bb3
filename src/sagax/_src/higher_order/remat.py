"""Implement `checkpoint`: trade time for memory, by recomputing residuals in the backward pass.

The linear part of a checkpointed function is one equation with both steps: from the function's inputs (and the
values that its policy saves) it recomputes the residuals, then applies the linear jaxpr to them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import leaf_paths, positional_names, signature
from sagax._src.argument_checks.functions import check_function, kind_of, unusable_leaf
from sagax._src.core import memo_keys
from sagax._src.core.families import HIGHER_ORDER, IDENTITY
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr, subjaxprs
from sagax._src.core.memory_spaces import space_of_kind
from sagax._src.core.primitive import HigherOrderPrimitive, Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.staging import hoist_constants
from sagax._src.core.tangents import (
    linear_marks,
    nonzero_marks,
    nonzero_tangents,
    spread_cotangents,
    spread_tangents,
    transposed_operands,
)
from sagax._src.core.value import NUMBERS, aval_of, is_argument
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, describe
from sagax._src.diagnostics.function_wrappers import copy_attributes, wraps
from sagax._src.higher_order import progress
from sagax._src.higher_order.call import call
from sagax._src.higher_order.custom_derivative_primitives import values_only
from sagax._src.higher_order.float0_leaves import hidden_in_arguments, without_no_tangents
from sagax._src.higher_order.saved_residuals import differentiating_checkpoint, saved_p
from sagax._src.higher_order.trace_bodies import trace_body
from sagax._src.primitives.resharding import device_put_p
from sagax._src.primitives.structural import linear_rules
from sagax._src.transforms.batch import batch_jaxpr
from sagax._src.transforms.derived import derived
from sagax._src.transforms.discharge import discharge_call
from sagax._src.transforms.jvp import jvp_jaxpr
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.prune import prune_call, prune_jaxpr
from sagax._src.transforms.transpose import transpose_jaxpr

Policy = Callable[..., Any]

remat_p = HigherOrderPrimitive(
    "checkpoint", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
remat_p.is_call = True


remat_p.sets_vma = True


@remat_p.abstract
def _(*avals: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return jaxpr.out_avals


@remat_p.effect
def _(*, jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return jaxpr.effects


@remat_p.reference
def _(*xs: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return eval_jaxpr(jaxpr.jaxpr, (), *xs)


class _Recomputing(threading.local):
    """A flag: this thread recomputes residuals, with the same random keys, in a backward pass."""

    active = False


recomputing = _Recomputing()


def _has_lowering(jaxpr: Jaxpr) -> bool:
    """Return whether all primitives of a jaxpr can be lowered, for some platform."""
    known = jaxpr.memo.get(memo_keys.HAS_LOWERING)
    if known is None:
        known = jaxpr.memo[memo_keys.HAS_LOWERING] = all(
            (e.primitive.lower_rule or e.primitive.lower_on or e.primitive.composite_rule)
            and all(map(_has_lowering, subjaxprs(e.params)))
            for e in jaxpr.eqns
        )
    return known


def _evaluate(*xs: Any, jaxpr: ClosedJaxpr, name: str, differentiated: bool, **_: Any) -> list:
    before, recomputing.active = recomputing.active, recomputing.active or differentiated
    try:
        if _has_lowering(jaxpr.jaxpr):
            return call(jaxpr, xs, name=name)
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *xs)  # operation by operation, by their `impl`
    finally:
        recomputing.active = before


remat_p.impl = _evaluate


def _bind(closed: ClosedJaxpr, args: Sequence[Any], **params: Any) -> list:
    if closed.consts:
        args = [*closed.consts, *args]
        closed = ClosedJaxpr(hoist_constants(closed.jaxpr), ())
    return remat_p.bind(*args, jaxpr=closed, **params)


@remat_p.discharge
def _(args: Sequence, owned: Sequence[bool], *, jaxpr: ClosedJaxpr, **params: Any) -> list:
    return discharge_call(remat_p, args, owned, jaxpr, **params)


remat_p.prune_rule = prune_call


@remat_p.lower
def _(
    b: Any,
    *xs: Any,
    jaxpr: ClosedJaxpr,
    prevent_cse: bool,
    differentiated: bool,
    name: str,
    **_: Any,
) -> list:
    if differentiated and prevent_cse and xs:
        # a barrier: else XLA would merge it with the forward pass and keep the values
        xs = tuple(b.op("optimization_barrier", list(xs), [x.aval for x in xs]))
    return b.call(jaxpr.jaxpr, xs, name)


@remat_p.jvp
def _(primals: Sequence, tangents: Sequence, *, jaxpr: ClosedJaxpr, **params: Any) -> tuple:
    derived, marks = jvp_jaxpr(jaxpr, nonzero_marks(tangents))
    outs = _bind(derived, [*primals, *nonzero_tangents(tangents)], **params)
    n = len(jaxpr.out_avals)
    return outs[:n], spread_tangents(outs[n:], marks, jaxpr.out_avals)


@remat_p.linearize
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    jaxpr: ClosedJaxpr,
    policy: Policy | None,
    differentiated: bool,
    **params: Any,
) -> tuple:
    with differentiating_checkpoint():
        split = linearize_jaxpr(jaxpr, nonzero_marks(tangents))
    known = split.known.jaxpr
    n_out = len(jaxpr.out_avals)
    saved = _saved(known, policy)
    forward = derived(
        known,
        (memo_keys.REMAT_FORWARD, *saved.items()),
        lambda: values_only(prune_jaxpr(_saving(known, n_out, saved))),
    )
    outs = _bind(
        ClosedJaxpr(forward, split.known.consts),
        primals,
        policy=policy,
        differentiated=False,
        **params,
    )
    pushed_jaxpr = derived(
        known,
        (memo_keys.REMAT_BACKWARD, split, *saved.items()),
        lambda: _recompute(split, saved),
    )
    pushed: list[Any] = []
    if any(split.nonzero_out):
        operands = [*primals, *outs[n_out:], *nonzero_tangents(tangents)]
        pushed = _bind(pushed_jaxpr, operands, policy=policy, differentiated=True, **params)
    return outs[:n_out], spread_tangents(pushed, split.nonzero_out, jaxpr.out_avals)


def _saved(known: Jaxpr, policy: Policy | None) -> dict[Var, str | None]:
    """Return the variables of the forward jaxpr that the policy saves, with the memory it moves them to."""
    saved: dict[Var, str | None] = dict.fromkeys(
        [v for eqn in known.eqns if eqn.primitive is saved_p for v in eqn.outvars]
    )
    if policy is None:
        return saved
    for eqn in known.eqns:
        if eqn.primitive is saved_p:
            continue
        answer = policy(eqn.primitive, *[v.aval for v in eqn.invars], **eqn.params)
        if not isinstance(answer, (bool, Offload, _Answer)):
            raise ArgumentError(
                "Value returned by a remat policy should be a bool",
                function="checkpoint",
                argument="policy",
                got=f"{kind_of(answer)}, for {eqn.primitive.name}",
                expected="True or False: whether to keep the result of an operation",
            )
        if answer:
            saved |= dict.fromkeys(eqn.outvars, answer.dst if isinstance(answer, Offload) else None)
    return saved


def _moved(v: Var, source: Var, kind: str) -> Eqn:
    """Return an equation that puts `source` into a kind of memory, as `v`."""
    return Eqn(device_put_p, [source], [v], {"kind": kind})


def _elsewhere(v: Var, kind: str | None) -> Var:
    """Return a new variable for a value in a kind of memory."""
    space = v.aval.memory_space if kind is None else space_of_kind(kind)
    return Var(v.aval.with_memory_space(space))


def _saving(known: Jaxpr, n_out: int, saved: dict[Var, str | None]) -> Jaxpr:
    """Return the forward jaxpr with saved values as further results, where they are kept."""
    moved = {v: _elsewhere(v, kind) for v, kind in saved.items() if kind is not None}
    eqns = [_moved(new, v, saved[v]) for v, new in moved.items()]  # type: ignore[arg-type]
    outvars = [*known.outvars[:n_out], *[moved.get(v, v) for v in saved]]
    return known.replace(eqns=[*known.eqns, *eqns], outvars=outvars)


def _recompute(split: Any, saved: dict[Var, str | None]) -> ClosedJaxpr:
    """(inputs, saved values, tangents) -> tangents out, recomputing unsaved values."""
    known, linear = split.known.jaxpr, split.linear.jaxpr
    fresh = {v: Var(v.aval) for v in saved}

    def sub(v: Any) -> Any:
        return fresh.get(v, v) if type(v) is Var else v

    residuals = [
        known.invars[k] if where == "in" else known.outvars[k] for where, k in split.residuals
    ]
    given = {v: v if kind is None else _elsewhere(v, kind) for v, kind in saved.items()}
    given = {v: fresh[v] if new is v else new for v, new in given.items()}
    eqns = [_moved(fresh[v], new, "device") for v, new in given.items() if new is not fresh[v]]
    for eqn in known.eqns:
        if not all(v in fresh for v in eqn.outvars):
            marked = progress.mark_recomputed(eqn)
            eqns.append(marked.replace(invars=[sub(v) for v in eqn.invars]))
    n = len(residuals)
    renamed = dict(zip(linear.invars[:n], [sub(v) for v in residuals], strict=True))
    # apply the linear jaxpr to the recomputed residuals: its other inputs are the tangents
    for eqn in linear.eqns:
        eqns.append(
            eqn.replace(invars=[renamed.get(v, v) if type(v) is Var else v for v in eqn.invars])
        )
    outvars = [renamed.get(v, v) if type(v) is Var else v for v in linear.outvars]
    whole = Jaxpr(
        known.constvars,
        [*known.invars, *given.values(), *linear.invars[n:]],
        outvars,
        eqns,
        None,
        known.debug_info,
    )
    return ClosedJaxpr(prune_jaxpr(whole), split.known.consts)


@remat_p.transpose
def _(cts: Sequence, *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list:
    transposed, marks = transpose_jaxpr(jaxpr, linear_marks(args), nonzero_marks(cts))
    found = _bind(transposed, transposed_operands(args, cts), **params)
    return spread_cotangents(found, marks, args)


@remat_p.batch
def _(axis: Any, args: Sequence, in_dims: Sequence, *, jaxpr: ClosedJaxpr, **params: Any) -> tuple:
    batched, out_dims = batch_jaxpr(jaxpr, axis, tuple(in_dims))
    return _bind(batched, args, **params), list(out_dims)


# names for policies ----------------------------------------------------------------------------------

name_p = Primitive(
    "name",
    family=IDENTITY,
    cost=1,
    rounds=True,
    key_rule=None,
    multilinear=True,
    exact=True,
    samples=[Sample(f32(3), name="x")],
)
name_p.abstract_rule = lambda x, *, name: x
name_p.reference_rule = lambda x, *, name: x
name_p.lower_rule = lambda b, x, *, name: x
linear_rules(name_p)


@name_p.transpose
def _(ct: Any, x: Any, *, name: str) -> tuple:
    return (ct,)


@name_p.batch
def _(axis: Any, args: Sequence, in_dims: Sequence, *, name: str) -> tuple:
    return name_p.bind(args[0], name=name), in_dims[0]


def checkpoint_name(x: Any, name: str) -> Any:
    """Name `x` (a pytree) `name`, for the policies that save by name.

    >>> from sagax.ad_checkpoint import checkpoint_name
    >>> float(checkpoint_name(2.0, "activation"))
    2.0
    """
    checks.instance("checkpoint_name", "name", name, str, "a string")
    return trees.map(lambda leaf: name_p.bind(leaf, name=name), x)


# policies --------------------------------------------------------------------------------------------


class Offload:
    """A policy's answer: save the value in another kind of memory."""

    def __init__(self, src: str = "device", dst: str = "pinned_host") -> None:
        self.src, self.dst = src, dst


class _Answer:
    """A named answer of a policy."""

    def __init__(self, name: str, keep: bool) -> None:
        self.name, self.keep = name, keep

    def __bool__(self) -> bool:
        return self.keep

    def __repr__(self) -> str:
        return self.name


Saveable = _Answer("Saveable", True)
Recompute = _Answer("Recompute", False)


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Save everything, as without checkpoint."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Save nothing but the inputs (the default)."""
    return False


def dots_saveable(primitive: Any, *_: Any, **__: Any) -> bool:
    """Save the results of matrix products and convolutions."""
    return primitive.name in ("dot_general", "conv_general_dilated")


def dots_with_no_batch_dims_saveable(primitive: Any, *_: Any, **params: Any) -> bool:
    """Save the results of matrix products without batch dimensions."""
    return primitive.name == "dot_general" and not params["dimension_numbers"][1][0]


def save_anything_except_these_names(*names: str) -> Policy:
    """Save everything but values of these names."""
    return lambda primitive, *_, **params: not (primitive is name_p and params["name"] in names)


def save_any_names_but_these(*names: str) -> Policy:
    """Save every named value except those of these names, and nothing else."""
    return lambda primitive, *_, **params: primitive is name_p and params["name"] not in names


def save_only_these_names(*names: str) -> Policy:
    """Save the values of these names, and nothing else."""
    return lambda primitive, *_, **params: primitive is name_p and params["name"] in names


def save_from_both_policies(first: Policy, second: Policy) -> Policy:
    """Save what either policy saves."""
    return lambda *args, **params: first(*args, **params) or second(*args, **params)


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Save values of the first names on their device, move those of the second to the host."""

    def policy(primitive: Any, *_: Any, **params: Any) -> Any:
        if primitive is not name_p:
            return False
        if params["name"] in names_which_can_be_offloaded:
            return Offload(offload_src, offload_dst)
        return params["name"] in names_which_can_be_saved

    return policy


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Move the results of matrix products without batch dimensions to the host."""
    return lambda primitive, *a, **p: (
        Offload(offload_src, offload_dst)
        if dots_with_no_batch_dims_saveable(primitive, *a, **p)
        else False
    )


class checkpoint_policies:
    """Policies: select the residuals that a checkpointed function saves for its backward pass."""

    everything_saveable = staticmethod(everything_saveable)
    nothing_saveable = staticmethod(nothing_saveable)
    dots_saveable = staticmethod(dots_saveable)
    checkpoint_dots = staticmethod(dots_saveable)
    dots_with_no_batch_dims_saveable = staticmethod(dots_with_no_batch_dims_saveable)
    checkpoint_dots_with_no_batch_dims = staticmethod(dots_with_no_batch_dims_saveable)
    offload_dot_with_no_batch_dims = staticmethod(offload_dot_with_no_batch_dims)
    save_anything_except_these_names = staticmethod(save_anything_except_these_names)
    save_any_names_but_these = staticmethod(save_any_names_but_these)
    save_only_these_names = staticmethod(save_only_these_names)
    save_from_both_policies = staticmethod(save_from_both_policies)
    save_and_offload_only_these_names = staticmethod(save_and_offload_only_these_names)


# public ------------------------------------------------------------------------------------------------


def checkpoint(
    fun: Callable | None = None,
    *,
    prevent_cse: Any = True,
    policy: Policy | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable:
    """Make `fun` save only its inputs in reverse mode, and recompute the rest.

    Args:
      policy: selects intermediate results to save anyway (`sagax.checkpoint_policies`).
      prevent_cse: keep the compiler from undoing it; False where a loop does so anyway. A pytree of bools, a prefix
          of the arguments, counts as True if any leaf is.
      static_argnums, static_argnames: arguments that are Python constants.

    >>> f = sagax.checkpoint(lambda x: snp.sin(snp.sin(x)))
    >>> round(float(sagax.grad(f)(1.0)), 4)
    0.36
    """
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            concrete=concrete,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    check_function(fun, f"Expected a callable value, got {describe(fun)}", "checkpoint", "fun")
    if policy is not None:
        check_function(
            policy, "the policy is a function that says what to keep", "checkpoint", "policy"
        )
    if concrete:
        raise ArgumentError(
            "The 'concrete' option to checkpoint is no longer supported",
            function="checkpoint",
            argument="concrete",
            got=True,
            fix="use static_argnums for values that Python code looks at",
        )
    statics = checks.positions("checkpoint", "static_argnums", static_argnums, repr)
    named_statics = _static_names(fun, static_argnames)
    prevents = any(trees.leaves(prevent_cse))
    name = function_name(fun)

    @wraps(fun)
    def rematerialised(*args: Any, **kwargs: Any) -> Any:
        # cloudpickle sends this function with what it refers to, but sends functions of modules by name
        return _rematerialized(fun, statics, named_statics, prevents, policy, name, args, kwargs)

    return rematerialised


def _rematerialized(
    fun: Callable,
    statics: Sequence[int],
    named_statics: frozenset[str],
    prevents: bool,
    policy: Policy | None,
    name: str,
    args: tuple,
    kwargs: dict,
) -> Any:
    """Call a function whose residuals are computed again."""
    fixed = _fixed_positions(statics, len(args), name)
    if named_statics:
        known = positional_names(fun, len(args))
        fixed |= {i for i, parameter in enumerate(known) if parameter in named_statics}
    dynamic = tuple(a for i, a in enumerate(args) if i not in fixed)
    constants = {k: v for k, v in kwargs.items() if k in named_statics}
    kwargs = {k: v for k, v in kwargs.items() if k not in named_statics}
    leaves, tree = without_no_tangents(
        *trees.flatten_argument("checkpoint", "arguments", (dynamic, kwargs))
    )

    def paths() -> list[str]:
        # a static argument has no leaves
        some = [None if i in fixed else a for i, a in enumerate(args)]
        return leaf_paths(fun, *hidden_in_arguments(tuple(some), kwargs))

    for k, x in enumerate(leaves):
        if not is_argument(x):
            path = paths()[k]
            root = path.split("[")[0].split(".")[0]
            raise unusable_leaf(
                x, f"checkpoint of {name}", path, f"mark {root} as static: static_argnums"
            )

    def whole(dyn: tuple, named: dict) -> Any:
        rest = iter(dyn)
        given = [args[i] if i in fixed else next(rest) for i in range(len(args))]
        return fun(*given, **named, **constants)

    copy_attributes(whole, fun)
    avals = [aval_of(x) for x in leaves]
    static = ("checkpoint", fun, len(args), *((i, args[i]) for i in sorted(fixed)))
    static = (*static, *sorted(constants.items()))
    body = trace_body(whole, tree, avals, transform="checkpoint", paths=paths, same=static)
    checks.distinct_references(f"checkpoint of {name}", body.consts, leaves, "it")
    outs = remat_p.bind(
        *body.consts,
        *leaves,
        jaxpr=body.jaxpr,
        prevent_cse=prevents,
        differentiated=False,
        policy=policy,
        name=name,
    )
    given = dict(zip(body.jaxpr.jaxpr.invars[len(body.consts) :], leaves, strict=True))
    passed_on = [
        given.get(v) if type(v) is Var else None for v in body.jaxpr.jaxpr.outvars
    ]  # numbers stay numbers
    return body.out_tree.unflatten(
        [x if type(x) in NUMBERS else out for x, out in zip(passed_on, outs, strict=True)]
    )


def _static_names(fun: Callable, names: Any) -> frozenset[str]:
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        checks.instance("checkpoint", "static_argnames", name, str, "names of arguments", show=repr)
    known = signature(fun)
    if known is not None and not any(p.kind is p.VAR_KEYWORD for p in known.parameters.values()):
        for name in names:
            checks.one_of(
                "checkpoint",
                "static_argnames",
                name,
                known.parameters,
                f"names of parameters of {function_name(fun)}: {', '.join(known.parameters)}",
                show=repr,
            )
    return frozenset(names)


def _fixed_positions(statics: Sequence[int], n: int, name: str) -> set[int]:
    for k in statics:
        if not -n <= k < n:
            raise ArgumentValueError(
                "the `static_argnums` argument of checkpoint does not fit the call",
                function=f"checkpoint of {name}",
                argument="static_argnums",
                got=k,
                expected=f"a position of the {n} positional arguments that {name} was called with",
                fix="pass static arguments by position",
            )
    return {k % n for k in statics}
