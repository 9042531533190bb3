"""Define primitives on values of types that libraries add, and replace such values by arrays.

A `HiPrim` is an operation with its rules as methods. Jaxprs hold its applications as single equations, on
variables of any type. Where they are evaluated, `expand` computes with the values themselves. So lowering a
jaxpr is evaluating it on values that consist of tracers of arrays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.core import memo_keys
from sagax._src.core.families import OPAQUE
from sagax._src.core.high_types import (
    MissingMethodError,
    interned,
    lower_values,
    lowered_avals,
    raise_values,
    value_types,
)
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr, subjaxprs
from sagax._src.core.primitive import Primitive
from sagax._src.core.references import AbstractRef
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Linear, Zero, is_linear, nonzero_marks, spread_cotangents
from sagax._src.core.trace import AxisTrace, entered, state
from sagax._src.core.value import aval_of, pytype_aval_mappings, sockets
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.higher_order.accumulators import GradAccum, NullAccum, ValAccum
from sagax._src.higher_order.call import call
from sagax._src.languages.choice import worded
from sagax._src.primitives.structural import instantiate
from sagax._src.transforms.derived import derived
from sagax._src.transforms.transpose import backward

# Operations --------------------------------------------------------------------------------------------


class HiPrim:
    """An operation of a library: a subclass sets its types and parameters, and defines its rules.

    `__init__` sets `in_avals` (a tuple), `out_aval` (a pytree) and `params`, and then calls `super().__init__()`.
    Call the object to apply the operation. Equal objects must be the same operation: class, parameters and
    effects are compared.
    """

    in_avals: tuple[Any, ...]
    out_aval: Any
    params: dict[str, Hashable]
    effects: frozenset = frozenset()
    skip_linearization_on_zero_tangents = False

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise worded(AttributeError(f"subclass __init__ should set `self.{name}`"))
        avals, self.in_tree = trees.flatten(self.in_avals)
        outs, self.out_tree = trees.flatten(self.out_aval)
        self.in_avals_flat, self.out_avals_flat = (list(map(interned, a)) for a in (avals, outs))
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def _missing(self, method: str, needed_for: str) -> MissingMethodError:
        return MissingMethodError(self, method, needed_for)

    def check(self, *arg_tys: Any) -> None:
        """Raise if the operation does not take operands of these types."""

    def expand(self, *args: Any) -> Any:
        """Compute the results from the operands, by operations on arrays."""
        raise self._missing("expand", "evaluation")

    # derivatives

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple:
        """Return the results and the residuals; `nzs_in` marks operands with tangents."""
        raise self._missing("vjp_fwd", "reverse-mode differentiation")

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: GradAccum) -> Any:
        """Add the cotangents of the operands to `arg_accums`; by default those that `vjp_bwd_retval` returns."""
        found = self.vjp_bwd_retval(res, outgrad)
        leaves, tree = trees.flatten(arg_accums)
        cotangents = trees.broadcast_prefix(found, arg_accums, is_leaf=lambda x: x is None)
        for accum, ct in zip(leaves, cotangents, strict=True):
            accum.accum(ct)

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> tuple:
        """Return the cotangents of the operands, a tuple."""
        raise self._missing("vjp_bwd_retval", "reverse-mode differentiation")

    def jvp(self, primals: tuple, tangents: tuple) -> tuple:
        """Return the results and their tangents; tangents may be symbolic zeros."""
        raise self._missing("jvp", "forward-mode differentiation")

    def lin(self, nzs_in: Any, *primals: Any) -> tuple:
        """Return the results and the residuals of the linear map of tangents."""
        raise self._missing("lin", "linearize")

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """Return the tangents of the results."""
        raise self._missing("linearized", "linearize")

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
        """Add the cotangents of linear operands, which are `GradAccum`s here; the others are values."""
        raise self._missing("transpose", "transposition")

    # batches

    def batch(self, axis_data: Any, args: tuple, dims: tuple) -> tuple:
        """Return the results for all examples, and how they are mapped; `axis_data` has `size` and `name`."""
        raise self._missing("batch", "vmap")

    def dce(self, used_outs: Any, live_ins: Any) -> tuple:
        """Return the used operands, the produced results and the operation, given marks of the used results."""
        return True, True, self

    def pp_params(self) -> dict[str, Any]:
        """Return the parameters to print."""
        return {k: v for k, v in self.params.items() if not k.startswith("_")}

    def __call__(self, *args: Any) -> Any:
        leaves = _leaves(self, self.in_tree, args, "operands")
        return self.out_tree.unflatten(hi_p.bind(*leaves, _prim=self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in self.pp_params().items())
        return f"{type(self).__name__}[{shown}]" if shown else type(self).__name__

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self.params.items()), self.effects))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HiPrim) or type(other) is not type(self):
            return False
        same = self.params == other.params and self.effects == other.effects
        return (
            same
            and self.in_avals_flat == other.in_avals_flat
            and self.out_avals_flat == other.out_avals_flat
        )


def _leaves(prim: HiPrim, tree: Any, value: Any, what: str) -> list[Any]:
    leaves, found = trees.flatten(value)
    if found != tree:
        raise ArgumentError(
            f"the {what} of {type(prim).__name__} have another structure than was declared",
            function=type(prim).__name__,
            expected=str(tree),
            got=str(found),
        )
    return leaves


def _defines(prim: HiPrim, method: str) -> bool:
    return getattr(type(prim), method) is not getattr(HiPrim, method)


def _flags(value: Any, tree: Any, like: Any) -> list[bool]:
    """Spread a bool, or a prefix tree of bools, to the leaves of a structure."""
    return trees.broadcast_prefix(value, tree.unflatten(list(like)))


def _is_none(x: Any) -> bool:
    return x is None


hi_p = Primitive("call_hi_primitive", family=OPAQUE, multiple_results=True, is_higher_order=True)
hi_p.sets_sharding = True


@hi_p.abstract
def _(*avals: Any, _prim: HiPrim) -> list:
    for i, (given, declared) in enumerate(zip(avals, _prim.in_avals_flat, strict=True)):
        same = (
            given is declared if given.is_high or declared.is_high else _same_array(given, declared)
        )
        if not same:
            raise ArgumentError(
                f"operand {i} of {_prim!r} has another type than was declared",
                function=type(_prim).__name__,
                expected=str(declared),
                got=str(given),
            )
    return list(_prim.out_avals_flat)


def _same_array(a: Any, b: Any) -> bool:
    return type(a) is AbstractRef or (a.shape == b.shape and a.dtype == b.dtype)


hi_p.effects_rule = lambda _prim: frozenset(_prim.effects)


def _expanded(*args: Any, _prim: HiPrim) -> list:
    out = _prim.expand(*_prim.in_tree.unflatten(args))
    return _leaves(_prim, _prim.out_tree, out, "results of `expand`")


hi_p.impl = _expanded


@hi_p.lower
def _(b: Any, *args: Any, _prim: HiPrim) -> list:
    jaxpr, consts = stage(lambda *xs: _expanded(*xs, _prim=_prim), [x.aval for x in args])
    return b.inline(jaxpr, args, [b.constant(c) for c in consts])


@hi_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, _prim: HiPrim) -> tuple:
    given = _prim.in_tree.unflatten(primals), _prim.in_tree.unflatten(tangents)
    out, out_tangents = _prim.jvp(*given)
    outs = _leaves(_prim, _prim.out_tree, out, "results of `jvp`")
    return outs, _leaves(_prim, _prim.out_tree, out_tangents, "tangents of `jvp`")


@hi_p.linearize
def _(primals: Sequence[Any], tangents: Sequence[Any], *, _prim: HiPrim) -> tuple:
    marks = nonzero_marks(tangents)
    args = _prim.in_tree.unflatten(primals)
    nonzero = _prim.in_tree.unflatten(marks)
    if not _defines(_prim, "vjp_fwd"):
        if _defines(_prim, "lin"):
            ans, residuals, *_ = _prim.lin(nonzero, *args)
            pushed = _prim.linearized(residuals, *_prim.in_tree.unflatten(tangents))
            outs = _leaves(_prim, _prim.out_tree, ans, "results of `lin`")
            return outs, _leaves(_prim, _prim.out_tree, pushed, "tangents of `linearized`")
        if _defines(_prim, "jvp"):
            return hi_p.rule("jvp")(primals, tangents, _prim=_prim)
    ans, residuals, *rest = _prim.vjp_fwd(nonzero, *args)
    outs = _leaves(_prim, _prim.out_tree, ans, "results of `vjp_fwd`")
    nonzero_out = _flags(rest[0] if rest else True, _prim.out_tree, outs)
    if len(rest) > 1 and rest[1] is not None:
        residuals = (residuals, rest[1])
    if not any(nonzero_out):
        return outs, [Zero.like(a) for a in _prim.out_avals_flat]
    kept, tree = trees.flatten(residuals)
    # forward mode by `lin` needs the operands
    again = list(primals) if _defines(_prim, "lin") else []
    found = iter(
        hi_linearized_p.bind(
            *kept,
            *again,
            *[t for t in tangents if type(t) is not Zero],
            _prim=_prim,
            residuals=tree,
            nonzero=marks,
            nonzero_out=tuple(nonzero_out),
            structured=len(rest) > 1 and rest[1] is not None,
        )
    )
    return outs, [
        next(found) if m else Zero.like(a)
        for a, m in zip(_prim.out_avals_flat, nonzero_out, strict=True)
    ]


@hi_p.transpose
def _(cts: Sequence[Any], *args: Any, _prim: HiPrim) -> list:
    accums = [ValAccum(x.aval) if is_linear(x) else None for x in args]
    given = [x if a is None else a for x, a in zip(args, accums, strict=True)]
    _prim.transpose(_prim.out_tree.unflatten(cts), *_prim.in_tree.unflatten(given))
    return [None if a is None else a.freeze() for a in accums]


@hi_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, _prim: HiPrim) -> tuple:
    values, dims = _prim.in_tree.unflatten(args), _prim.in_tree.unflatten(in_dims)
    out, out_dims = _prim.batch(axis, values, dims)
    outs = _leaves(_prim, _prim.out_tree, out, "results of `batch`")
    return outs, trees.broadcast_prefix(out_dims, out, is_leaf=_is_none)


@hi_p.prune
def _(used: Sequence[bool], *, _prim: HiPrim) -> tuple | None:
    marks = _prim.out_tree.unflatten(used)
    ins, outs, smaller = _prim.dce(
        marks, _prim.in_tree.unflatten([True] * len(_prim.in_avals_flat))
    )
    if smaller is None or smaller is _prim:
        return None
    operands = _flags(ins, _prim.in_tree, _prim.in_avals_flat)
    return {"_prim": smaller}, operands, _flags(outs, _prim.out_tree, _prim.out_avals_flat)


hi_p.name_rule = lambda _prim: type(_prim).__name__
hi_p.show_rule = lambda _prim: _prim.pp_params()
hi_p.discharge_rule = lambda args, owned, **params: _expanded(*args, **params)

# The linear map of tangents, whose transpose is `vjp_bwd`.
hi_linearized_p = Primitive(
    "call_hi_primitive_linearized", family=OPAQUE, multiple_results=True, is_higher_order=True
)
hi_linearized_p.sets_sharding = True


@hi_linearized_p.abstract
def _(*avals: Any, _prim: HiPrim, nonzero_out: tuple, **_: Any) -> list:
    pairs = zip(_prim.out_avals_flat, nonzero_out, strict=True)
    return [a.to_tangent_aval() for a, m in pairs if m]


def _pushed(
    *args: Any, _prim: HiPrim, residuals: Any, nonzero: tuple, nonzero_out: tuple, **_: Any
) -> list:
    """Push tangents forward, by `lin` and `linearized`."""
    if not _defines(_prim, "lin"):
        raise MissingMethodError(_prim, "lin", "forward-mode differentiation")
    n = residuals.num_leaves
    primals, given = args[n : n + len(nonzero)], iter(args[n + len(nonzero) :])
    tangents = [
        next(given) if m else Zero.like(a)
        for m, a in zip(nonzero, _prim.in_avals_flat, strict=True)
    ]
    kept = _prim.lin(_prim.in_tree.unflatten(nonzero), *_prim.in_tree.unflatten(primals))[1]
    out = _prim.linearized(kept, *_prim.in_tree.unflatten(tangents))
    outs = _leaves(_prim, _prim.out_tree, out, "tangents of `linearized`")
    return [instantiate(t) for t, m in zip(outs, nonzero_out, strict=True) if m]


hi_linearized_p.composite_rule = _pushed
hi_linearized_p.impl = _pushed
hi_linearized_p.name_rule = lambda _prim, **_: f"{type(_prim).__name__}.linearized"
hi_linearized_p.show_rule = lambda nonzero, nonzero_out, **_: {
    "nz_in_flat": nonzero,
    "nz_out_flat": nonzero_out,
}


@hi_linearized_p.transpose
def _(
    cts: Sequence[Any],
    *args: Any,
    _prim: HiPrim,
    residuals: Any,
    nonzero: tuple,
    nonzero_out: tuple,
    structured: bool,
) -> list:
    given = iter(cts)
    outgrad = _prim.out_tree.unflatten(
        [
            next(given) if m else Zero(a.to_cotangent_aval())
            for a, m in zip(_prim.out_avals_flat, nonzero_out, strict=True)
        ]
    )
    accums = [
        (ValAccum if m else NullAccum)(a.to_cotangent_aval())
        for a, m in zip(_prim.in_avals_flat, nonzero, strict=True)
    ]
    kept = residuals.unflatten(args[: residuals.num_leaves])
    arguments = kept if structured else (kept,)
    _prim.vjp_bwd(*arguments, outgrad, *_prim.in_tree.unflatten(accums))
    found = [a.freeze() for a, m in zip(accums, nonzero, strict=True) if m]
    return spread_cotangents(found, [True] * len(found), args)


# Rules that follow from others ----------------------------------------------------------------------------


def _lin_by_jvp(self: HiPrim, nzs_in: Any, *primals: Any) -> tuple:
    return self(*primals), primals


def _linearized_by_jvp(self: HiPrim, residuals: Any, *tangents: Any) -> Any:
    return self.jvp(residuals, tangents)[1]


def _jvp_by_lin(self: HiPrim, primals: tuple, tangents: tuple) -> tuple:
    nonzero = trees.map(lambda t: type(t) is not Zero, tangents)
    out, residuals, *_ = self.lin(nonzero, *primals)
    return out, self.linearized(residuals, *tangents)


def _fwd_by_operands(self: HiPrim, nzs_in: Any, /, *args: Any) -> tuple:
    return self(*args), (args, nzs_in)


def _transposed_push(
    self: HiPrim, push: Callable[..., Any], args: tuple, nonzero: Any, outgrad: Any
) -> tuple:
    """Pull cotangents back through a linear function of the tangents of marked operands."""
    avals = [a.to_tangent_aval() for a in self.in_avals_flat]
    marks = trees.leaves(nonzero)

    def flat(*given: Any) -> list:
        values = iter(given)
        tangents = [next(values) if m else Zero(a) for a, m in zip(avals, marks, strict=True)]
        out = push(self.in_tree.unflatten(tangents))
        return [instantiate(t) for t in _leaves(self, self.out_tree, out, "tangents")]

    chosen = [a for a, m in zip(avals, marks, strict=True) if m]
    jaxpr, consts = stage(flat, chosen)
    cts = _leaves(self, self.out_tree, outgrad, "cotangents")
    found = iter(backward(jaxpr, consts, [Linear(a) for a in chosen], cts))
    pulled = [next(found) if m else Zero(a) for a, m in zip(avals, marks, strict=True)]
    return self.in_tree.unflatten(pulled)


def _bwd_by_jvp(self: HiPrim, res: Any, outgrad: Any, /) -> tuple:
    args, nonzero = res
    return _transposed_push(self, lambda ts: self.jvp(args, ts)[1], args, nonzero, outgrad)


def _bwd_by_lin(self: HiPrim, res: Any, outgrad: Any, /) -> tuple:
    args, nonzero = res
    _, residuals, *_ = self.lin(nonzero, *args)
    return _transposed_push(
        self, lambda ts: self.linearized(residuals, *ts), args, nonzero, outgrad
    )


linearize_from_jvp = _lin_by_jvp, _linearized_by_jvp
jvp_from_lin = _jvp_by_lin
vjp_from_jvp = _fwd_by_operands, _bwd_by_jvp
vjp_from_lin = _fwd_by_operands, _bwd_by_lin


# Lowering ----------------------------------------------------------------------------------------------


def has_high(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr holds operations or values of libraries' types, at any depth."""
    found = jaxpr.memo.get(memo_keys.HAS_HIGH)
    if found is None:
        variables = (*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars)
        found = jaxpr.memo[memo_keys.HAS_HIGH] = any(v.aval.is_high for v in variables) or any(
            e.primitive in (hi_p, hi_linearized_p) or any(map(has_high, subjaxprs(e.params)))
            for e in jaxpr.eqns
        )
    return found


class ExpandTrace(AxisTrace):
    """Expand operations of libraries; forward all others, with arrays in place of other values."""

    __slots__ = ()

    evaluates_high = True

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        if primitive in (hi_p, hi_linearized_p):
            return primitive.impl(*args, **params)
        return super().process(primitive, args, params)


def lowered(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Replace the values of libraries' types in a jaxpr by arrays. Its constants become operands."""
    inner = closed.jaxpr

    def build() -> Jaxpr:
        avals = [v.aval for v in (*inner.constvars, *inner.invars)]
        n = len(inner.constvars)

        def fun(*arrays: Any) -> list:
            with entered(ExpandTrace(state.trace, ())):
                values = raise_values(avals, arrays)
                outs = eval_jaxpr(inner, values[:n], *values[n:])
                return lower_values([v.aval for v in inner.outvars], outs)

        jaxpr, consts = stage(fun, lowered_avals(avals), inner.debug_info)
        count = len(lowered_avals(avals[:n]))
        found = jaxpr.replace(
            constvars=[*jaxpr.constvars, *jaxpr.invars[:count]], invars=jaxpr.invars[count:]
        )
        found.memo[memo_keys.CONSTANTS_OF_EXPANSION] = consts
        return found

    jaxpr = derived(inner, (memo_keys.EXPANDED,), build)
    own = lower_values([v.aval for v in inner.constvars], closed.consts)
    return ClosedJaxpr(jaxpr, [*jaxpr.memo[memo_keys.CONSTANTS_OF_EXPANSION], *own])


def _lower_param(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return lowered(value) if has_high(value.jaxpr) else value
    if isinstance(value, tuple):
        return tuple(map(_lower_param, value))
    return value


def evaluate(primitive: Any, args: Sequence[Any], params: dict) -> Any:
    """Apply a higher-order primitive to arrays in place of values of libraries' types."""
    avals: list[Any] = list(map(aval_of, args))
    if not (any(a.is_high for a in avals) or any(map(has_high, subjaxprs(params)))):
        return NotImplemented
    custom = getattr(params.get("inner"), "jaxpr", None)
    if custom is not None:  # nothing is differentiated here: its rules are not needed
        return call(custom, args, name=primitive.name)
    outs = primitive.abstract_eval(tuple(avals), params)
    inside = getattr(primitive, "entered", None)
    with contextlib.nullcontext() if inside is None else inside(params):
        smaller = {k: _lower_param(v) for k, v in params.items()}
    if any(c.consts for v in smaller.values() for c in _closed(v)):
        raise AssertionError(f"constants in a jaxpr of {primitive.name}")
    if primitive.regroup_rule is not None:
        sizes = [len(a.lo_ty()) if a.is_high else 1 for a in avals]
        smaller = primitive.regroup_rule(sizes, **smaller)
    found = primitive.bind(*lower_values(avals, args), **smaller)
    return raise_values(outs, found)


def _closed(value: Any) -> list[ClosedJaxpr]:
    if isinstance(value, ClosedJaxpr):
        return [value]
    return [c for v in value for c in _closed(v)] if isinstance(value, tuple) else []


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], Any]) -> None:
    """Make the objects of a class values of a type that a library adds.

    Args:
      val_cls: the class of the values.
      typeof_fn: a function that returns the type of such an object, a `HiType`.

    >>> from sagax.experimental import hijax
    >>> callable(hijax.register_hitype)
    True
    """
    pytype_aval_mappings[val_cls] = typeof_fn
    value_types[val_cls] = typeof_fn
    sockets.evaluate_high = evaluate
