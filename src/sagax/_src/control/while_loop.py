"""`while_loop` and `fori_loop`: loops whose number of rounds is known when they run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees
from sagax._src.control.bodies import (
    Body,
    is_concrete,
    operand_leaves,
    trace_body,
    type_mismatch,
    weak_promote,
)
from sagax._src.control.scan import traced_scan
from sagax._src.control.words import check_function, kind_of, structure_error, unusable_leaf
from sagax._src.core import dims, dtypes, kinds
from sagax._src.core.effects import join
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.stage import hoist_constants, stage
from sagax._src.core.tangents import Zero
from sagax._src.core.value import aval_of, is_operand, sockets
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.primitives import selection
from sagax._src.primitives.arithmetic import add
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.makers import broadcast_to
from sagax._src.primitives.reductions import reduce_or
from sagax._src.primitives.structural import convert, expand_dims, instantiate, moveaxis
from sagax._src.transforms.batch import batch_jaxpr, place
from sagax._src.transforms.jvp import jvp_jaxpr

while_p = Primitive("while", multiple_results=True, holds_program=True)

# Operands: constants of the condition, constants of the body, initial carry.


def _parts(xs: Sequence, cond_nconsts: int, body_nconsts: int) -> tuple[list, list, list]:
    n = cond_nconsts + body_nconsts
    return list(xs[:cond_nconsts]), list(xs[cond_nconsts:n]), list(xs[n:])


@while_p.abstract
def _(*avals: Any, body_jaxpr: ClosedJaxpr, **_: Any) -> list:
    return body_jaxpr.out_avals


@while_p.effect
def _(*, cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, **_: Any) -> frozenset:
    return join(cond_jaxpr.effects, body_jaxpr.effects)


@while_p.reference
def _(
    *xs: Any, cond_jaxpr: ClosedJaxpr, body_jaxpr: ClosedJaxpr, cond_nconsts: int, body_nconsts: int
) -> list:
    c_consts, b_consts, carry = _parts(xs, cond_nconsts, body_nconsts)
    while bool(eval_jaxpr(cond_jaxpr.jaxpr, (), *c_consts, *carry)[0]):
        carry = eval_jaxpr(body_jaxpr.jaxpr, (), *b_consts, *carry)
    return carry


def _bind(
    cond: ClosedJaxpr, body: ClosedJaxpr, c_consts: Sequence, b_consts: Sequence, carry: Sequence
) -> list:
    c_consts, b_consts = [*cond.consts, *c_consts], [*body.consts, *b_consts]
    return while_p.bind(
        *c_consts,
        *b_consts,
        *carry,
        cond_jaxpr=ClosedJaxpr(hoist_constants(cond.jaxpr), ()),
        cond_nconsts=len(c_consts),
        body_jaxpr=ClosedJaxpr(hoist_constants(body.jaxpr), ()),
        body_nconsts=len(b_consts),
    )


@while_p.jvp
def _(
    primals: Sequence,
    tangents: Sequence,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> tuple:
    c_consts, b_consts, carry = _parts(primals, cond_nconsts, body_nconsts)
    _, t_consts, t_carry = _parts(tangents, cond_nconsts, body_nconsts)
    n, n_const = len(carry), len(b_consts)
    nz_const = [type(t) is not Zero for t in t_consts]
    nz_carry = [type(t) is not Zero for t in t_carry]
    while True:
        _, out = jvp_jaxpr(body_jaxpr, (*nz_const, *nz_carry))
        new = [a or b for a, b in zip(nz_carry, out, strict=True)]
        if new == nz_carry:
            break
        nz_carry = new
    derived, _ = jvp_jaxpr(body_jaxpr, (*nz_const, *nz_carry), tuple(nz_carry))
    n_ct = sum(nz_const)
    # derived takes constants, carry, tangents of constants, tangents of carry
    inner = derived.jaxpr
    ins = inner.invars
    order = [
        *ins[:n_const],
        *ins[n_const + n : n_const + n + n_ct],
        *ins[n_const : n_const + n],
        *ins[n_const + n + n_ct :],
    ]
    body = ClosedJaxpr(inner.replace(invars=order), derived.consts)
    extra = sum(nz_carry)
    cond_inner = cond_jaxpr.jaxpr

    def cond(*xs: Any) -> list:
        return eval_jaxpr(cond_inner, (), *xs[: len(xs) - extra])

    carry_t = [instantiate(t) for t, m in zip(t_carry, nz_carry, strict=True) if m]
    avals = [*cond_jaxpr.in_avals, *(aval_of(t) for t in carry_t)]
    cond_jaxpr_, captured = stage(cond, avals, cond_inner.debug_info)
    given = [t for t in t_consts if type(t) is not Zero]
    outs = _bind(
        ClosedJaxpr(cond_jaxpr_, captured), body, c_consts, [*b_consts, *given], [*carry, *carry_t]
    )
    rest = iter(outs[n:])
    return outs[:n], [
        next(rest) if m else Zero.like(aval_of(o)) for m, o in zip(nz_carry, outs[:n], strict=True)
    ]


@while_p.transpose
def _(cts: Sequence, *args: Any, **_: Any) -> list:
    raise ArgumentValueError(
        "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values",
        function="while_loop",
        got="a loop whose number of rounds is not known when it is traced",
        expected="a number of rounds known at trace time",
        fix="use scan, or fori_loop with Python ints as bounds; forward mode (jvp, jacfwd) works with any loop",
    )


@while_p.batch
def _(
    axis: Any,
    args: Sequence,
    in_dims: Sequence,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> tuple:
    c_consts, b_consts, carry = _parts(args, cond_nconsts, body_nconsts)
    d_c, d_b, d_carry = _parts(in_dims, cond_nconsts, body_nconsts)
    c_consts = [
        moveaxis(x, d, 0) if d is not None else x for x, d in zip(c_consts, d_c, strict=True)
    ]
    b_consts = [
        moveaxis(x, d, 0) if d is not None else x for x, d in zip(b_consts, d_b, strict=True)
    ]
    zero = [None if d is None else 0 for d in (*d_c, *d_b)]
    dims_c, dims_b = zero[:cond_nconsts], zero[cond_nconsts:]
    mapped = [d is not None for d in d_carry]
    while True:
        dims_carry = [0 if m else None for m in mapped]
        (pred_dim,) = batch_jaxpr(cond_jaxpr, axis, (*dims_c, *dims_carry))[1]
        _, out = batch_jaxpr(body_jaxpr, axis, (*dims_b, *dims_carry))
        # examples that stop at different rounds differ in every part of the carry
        new = [m or d is not None or pred_dim is not None for m, d in zip(mapped, out, strict=True)]
        if new == mapped:
            break
        mapped = new
    dims_carry = [0 if m else None for m in mapped]
    carry = [
        place(x, d, 0 if m else None, axis) for x, d, m in zip(carry, d_carry, mapped, strict=True)
    ]
    cond, (pred_dim,) = batch_jaxpr(cond_jaxpr, axis, (*dims_c, *dims_carry))
    body, _ = batch_jaxpr(body_jaxpr, axis, (*dims_b, *dims_carry), tuple(mapped))
    if pred_dim is None:
        return _bind(cond, body, c_consts, b_consts, carry), dims_carry

    # Lockstep: go on while any example does; those that are done keep their values. What the body would
    # compute for them is never used, so a NaN in it cannot reach them.
    def any_left(*xs: Any) -> list:
        (pred,) = eval_jaxpr(cond.jaxpr, cond.consts, *xs)
        return [reduce_or(moveaxis(pred, pred_dim, 0), (0,))]

    n_c = len(c_consts)

    def step(*xs: Any) -> list:
        consts_c, consts_b, state = (
            xs[:n_c],
            xs[n_c : n_c + len(b_consts)],
            xs[n_c + len(b_consts) :],
        )
        (pred,) = eval_jaxpr(cond.jaxpr, cond.consts, *consts_c, *state)
        new = eval_jaxpr(body.jaxpr, body.consts, *consts_b, *state)
        out = []
        for old, changed in zip(state, new, strict=True):
            shape = aval_of(old).shape
            mask = broadcast_to(expand_dims(pred, tuple(range(1, len(shape)))), shape)
            out.append(selection.select_n(mask, old, changed))
        return out

    avals_c = [aval_of(x) for x in c_consts]
    avals_b = [aval_of(x) for x in b_consts]
    avals = [aval_of(x) for x in carry]
    cond_new, cond_captured = stage(any_left, [*avals_c, *avals], cond.jaxpr.debug_info)
    body_new, body_captured = stage(step, [*avals_c, *avals_b, *avals], body.jaxpr.debug_info)
    outs = _bind(
        ClosedJaxpr(cond_new, cond_captured),
        ClosedJaxpr(body_new, body_captured),
        c_consts,
        [*c_consts, *b_consts],
        carry,
    )
    return outs, dims_carry


@while_p.lower
def _(
    b: Any,
    *xs: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> list:
    c_consts, b_consts, carry = _parts(xs, cond_nconsts, body_nconsts)
    avals = list(b.outs)
    regions = [
        b.region(avals, lambda *v: b.inline(cond_jaxpr.jaxpr, [*c_consts, *v])),
        b.region(avals, lambda *v: b.inline(body_jaxpr.jaxpr, [*b_consts, *v])),
    ]
    return b.op("while", carry, avals, regions=regions)


# public ------------------------------------------------------------------------------------------


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """The value after `val = body_fun(val)` for as long as `cond_fun(val)`, starting from `init_val`.

    Both functions are traced once; the value keeps its structure, shapes and dtypes. Forward mode works;
    reverse mode needs a loop of known length: `scan`, or `fori_loop` with Python ints.

    Raises:
      TypeError: the condition is no boolean scalar, or the value changes its type; names the leaf.

    >>> import sagax
    >>> int(sagax.lax.while_loop(lambda n: n < 100, lambda n: n * 2, 1))
    128
    """
    for name, f in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        check_function(
            f,
            "lax.while_loop: body_fun and cond_fun arguments should be callable.",
            "while_loop",
            name,
        )
    return _traced_while("while_loop", cond_fun, body_fun, init_val)


def _traced_while(
    function: str,
    cond_fun: Callable,
    body_fun: Callable,
    init_val: Any,
    *,
    init_paths: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """What `while_loop` does, for messages of `function`.

    Args:
      init_paths: the caller's names of the leaves of `init_val`.
      names: the body's names of them.
    """
    if config.current().disable_jit:
        value = init_val
        while bool(cond_fun(value)):
            value = body_fun(value)
        return value
    leaves, tree = operand_leaves(function, "init_val", init_val)
    of = f"{function} of {function_name(body_fun)}"
    if init_paths is None:
        init_paths = [trees.argument_path("init_val", p) for p in trees.key_paths(init_val)]
    whole = trees.treedef_tuple((tree,))
    if names is None:
        names = _names(body_fun, init_val)
    while True:
        avals = [aval_of(x) for x in leaves]
        body = trace_body(body_fun, whole, avals, transform=function, paths=names)
        if body.out_tree != tree:
            found = trees.structure_mismatch(
                tree, body.out_tree, "the carry input", "the carry output"
            )
            raise structure_error(
                of,
                "body_fun output and input must have the same pytree structure, but they differ",
                found,
                "return the value in the containers that it comes in, the first time as init_val",
            )
        promoted = weak_promote(leaves, body.jaxpr.out_avals)
        if promoted is None:
            break
        leaves = promoted
    error = type_mismatch(
        of,
        "body_fun output and input must have equal types, but they differ",
        avals,
        body.jaxpr.out_avals,
        init_paths,
        ("the carry input", "the carry output"),
        "make body_fun return the value with the type it got",
    )
    if error is not None:
        raise error
    cond = trace_body(cond_fun, whole, avals, transform=function, paths=_names(cond_fun, init_val))
    _check_condition(cond, function, cond_fun)
    found = while_p.bind(
        *cond.consts,
        *body.consts,
        *leaves,
        cond_jaxpr=cond.jaxpr,
        cond_nconsts=len(cond.consts),
        body_jaxpr=body.jaxpr,
        body_nconsts=len(body.consts),
    )
    return tree.unflatten(found)


def _check_condition(cond: Body, function: str, cond_fun: Callable) -> None:
    outs = cond.jaxpr.out_avals
    single = trees.treedef_is_leaf(cond.out_tree) and len(outs) == 1
    if single and outs[0].shape == () and outs[0].dtype == np.bool_:
        return
    types = [a.str_short(short_dtypes=False) for a in outs]
    raise ArgumentError(
        f"cond_fun must return a boolean scalar, but got output type(s) {types}."
        if single
        else f"cond_fun must return a boolean scalar, but got pytree {cond.out_tree}.",
        function=f"{function} of {function_name(cond_fun)}",
        argument="cond_fun",
        expected="a boolean of shape ()",
        got=outs[0] if single else kind_of(cond.out_tree.unflatten(outs)),
        fix="compare, as in x > 0; reduce arrays with .any() or .all()"
        if single
        else "return the comparison itself",
    )


def _names(fun: Callable, init: Any) -> list[str]:
    code = getattr(fun, "__code__", None)
    name = code.co_varnames[0] if code is not None and code.co_argcount else "val"
    return [trees.argument_path(name, p) for p in trees.key_paths(init)]


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable, init_val: Any, *, unroll: int | bool | None = None
) -> Any:
    """The value after `val = body_fun(i, val)` for i in range(lower, upper), starting from `init_val`.

    With bounds that are known when it is traced the loop is a `scan` and has reverse-mode derivatives;
    with traced bounds it is a `while_loop`.

    >>> import sagax
    >>> int(sagax.lax.fori_loop(0, 5, lambda i, total: total + i, 0))
    10
    """
    check_function(
        body_fun,
        "lax.fori_loop: body_fun argument should be callable.",
        "fori_loop",
        "body_fun",
    )
    _check_bounds(lower, upper)
    static = all(is_concrete(b) and not dims.is_dim(b) for b in (lower, upper))
    if config.current().disable_jit and static:
        value = init_val
        for i in range(int(lower), int(upper)):
            value = body_fun(i, value)
        return value
    _, tree = operand_leaves("fori_loop", "init_val", init_val)
    of_value = [trees.argument_path("init_val", p) for p in trees.key_paths(init_val)]
    i_name, value_name = _two_names(body_fun)
    of_body = [trees.argument_path(value_name, p) for p in trees.key_paths(init_val)]

    @functools.wraps(body_fun, updated=())
    def body(i: Any, value: Any) -> Any:
        new = body_fun(i, value)
        if trees.flatten_argument("fori_loop", "result", new)[1] != tree:
            found = trees.structure_mismatch(
                tree, trees.structure(new), "the carry input", "the carry output"
            )
            raise structure_error(
                f"fori_loop of {function_name(body_fun)}",
                "body_fun output and input must have the same pytree structure, but they differ",
                found,
                "return the value in the containers that it comes in, the first time as init_val",
            )
        return new

    if static:
        start, count = _first_and_count(lower, upper)

        @functools.wraps(body_fun, updated=())
        def round_(carry: tuple, _: Any) -> tuple:
            i, value = carry
            return (add(i, 1), body(i, value)), None

        (_, value), _ = traced_scan(
            "fori_loop",
            round_,
            (start, init_val),
            None,
            count,
            unroll=1 if unroll is None else unroll,
            init_paths=["lower", *of_value],
            names=[i_name, *of_body],
        )
        return value
    if unroll not in (None, False, 1):
        raise ArgumentValueError(
            "Can only use `unroll` in `fori_loop` if the loop bounds are statically known.",
            function="fori_loop",
            argument="unroll",
            got=unroll,
            expected="None, False or 1 where a bound is traced",
        )
    lower, upper = _same_dtype(lower, upper)

    def go_on(state: tuple) -> Any:
        i, end, _ = state
        return lt(i, end)

    @functools.wraps(body_fun, updated=())
    def step(state: tuple) -> tuple:
        i, end, value = state
        return add(i, 1), end, body(i, value)

    return _traced_while(
        "fori_loop",
        go_on,
        step,
        (lower, upper, init_val),
        init_paths=["lower", "upper", *of_value],
        names=[i_name, "upper", *of_body],
    )[2]


def _check_bounds(lower: Any, upper: Any) -> None:
    for name, bound in (("lower", lower), ("upper", upper)):
        if dims.is_dim(bound):
            continue
        if not is_operand(bound):
            raise unusable_leaf(bound, "fori_loop", name, "pass an int")
        aval = aval_of(bound)
        if aval.shape != () or not (kinds.is_integer(aval.dtype) or aval.dtype == np.bool_):
            raise ArgumentError(
                "lower and upper arguments to fori_loop must be integers of shape ()",
                function="fori_loop",
                argument=name,
                got=bound,
                expected="an int",
                fix="convert it, with int(...) or .astype('int32')" if aval.shape == () else None,
            )
        if type(bound) is int:
            try:
                dtypes.check_python_int(bound, aval.dtype)
            except SagaxError as error:
                raise error.attach(function="fori_loop", argument=name) from None
    if dims.is_dim(lower) or dims.is_dim(upper):
        return
    a, b = aval_of(lower), aval_of(upper)
    if a.dtype != b.dtype and not (a.weak_type or b.weak_type):
        raise ArgumentError(
            "lower and upper arguments to fori_loop must have equal types",
            function="fori_loop",
            argument="lower and upper",
            got=f"{a.str_short(short_dtypes=False)} and {b.str_short(short_dtypes=False)}",
            expected="two integers of one dtype",
            fix=f"convert one of them, with .astype({dtypes.name(b.dtype)!r})",
        )


def _first_and_count(lower: Any, upper: Any) -> tuple[Any, int]:
    """The first index, in the dtype of the bounds, and the number of rounds."""
    first, last = int(lower), int(upper)
    given = [b for b in (lower, upper) if hasattr(b, "dtype") and aval_of(b).dtype != np.bool_]
    if not given:
        return first, max(last - first, 0)
    dtype = dtypes.canonicalize(aval_of(given[0]).dtype, config.current().x64)
    return np.asarray(first, dtype)[()], max(last - first, 0)


def _two_names(fun: Callable) -> tuple[str, str]:
    """What a body calls its two arguments."""
    code = getattr(fun, "__code__", None)
    names = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return (names[0], names[1]) if len(names) == 2 else ("i", "val")


def _same_dtype(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Bounds as values of one dtype: a Python number takes that of the other."""
    lower, upper = (x if hasattr(x, "aval") else sockets.concrete(x) for x in (lower, upper))
    lower, upper = (
        convert(x, dtypes.int32) if aval_of(x).dtype == np.bool_ else x for x in (lower, upper)
    )
    a, b = aval_of(lower), aval_of(upper)
    if a.dtype != b.dtype:
        if a.weak_type:
            return convert(lower, b.dtype), upper
        return lower, convert(upper, a.dtype)
    return lower, upper
