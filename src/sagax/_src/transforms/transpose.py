"""Transpose linear jaxprs: map cotangents of outputs to cotangents of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.config import thread
from sagax._src.core import memo_keys
from sagax._src.core.avals import Space
from sagax._src.core.families import CotangentMask, Sums
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var
from sagax._src.core.references import EFFECTS, AbstractRef
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.trace import Trace, belongs_to_trace, current, evaluation, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.diagnostics.spans import Backward
from sagax._src.primitives.makers import add_any_p
from sagax._src.primitives.mesh_axes import cast_cotangent, sum_to
from sagax._src.primitives.resharding import in_memory_space, left_to_compiler, reshard_p
from sagax._src.primitives.structural import instantiate
from sagax._src.source_stacks import joined_scopes, stack, written
from sagax._src.transforms import masked_cotangents
from sagax._src.transforms.derived import derived_jaxpr
from sagax._src.transforms.discharge import discharge_all

_STAGED_LIMIT = 1024
_staged_composites: dict[tuple, tuple[Jaxpr, list]] = {}


class NotLinearError(ArgumentError, AssertionError):
    """A jaxpr that was to be transposed is not linear. jax raises an AssertionError."""


class LinearityTrace(Trace):
    """Refuse operations on linear operands, whose values a transpose rule cannot use."""

    __slots__ = ()

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        for a in args:
            if type(a) is Linear:
                raise NotLinearError(
                    f"the value of an unknown of type {a.aval.str_short(short_dtypes=True)} would be needed to go back through an "
                    "operation that is not linear in it",
                    unknown=a.aval,
                )
        with current(self.parent):
            return primitive.bind(*args, **params)


def checked_backward(
    jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]
) -> list:
    """Run `backward` on a jaxpr that may not be linear; raise NotLinearError if it is not."""
    with current(LinearityTrace(state.trace)):
        return backward(jaxpr, consts, inputs, cotangents)


def backward(
    jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]
) -> list:
    """Pull cotangents back through `jaxpr`, under the current trace.

    `inputs` holds `Linear` for linear inputs and a value elsewhere; `cotangents` one entry an output, maybe
    `Zero`. Returns a cotangent (or `Zero`) for each linear input, None for the others.
    """
    if jaxpr.effects & EFFECTS and not any(type(v.aval) is AbstractRef for v in jaxpr.constvars):
        jaxpr = discharge_all(jaxpr)
    here = written.here
    before = here.state()
    masks = None
    if masked_cotangents.is_enabled():
        masks = [None] * len(cotangents)
    try:
        return _backward(jaxpr, consts, inputs, cotangents, masks)[0]
    finally:
        here.restore(before)


def _backward(
    jaxpr: Jaxpr,
    consts: Sequence[Any],
    inputs: Sequence[Any],
    cotangents: Sequence[Any],
    out_masks: Sequence[Any] | None = None,
) -> tuple[list, list]:
    """Run `backward`; with `out_masks`, where cotangents can be nonzero, return masks of the results too."""
    here = written.here
    scope = here.scope
    known: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    linear: dict[Var, Linear] = {}
    for v, x in zip(jaxpr.invars, inputs, strict=True):
        if type(x) is Linear:
            linear[v] = x  # of another weak type than the variable: that of its cotangent
        else:
            known[v] = x
    # Nonlinear equations are evaluated; linear ones are transposed in reverse order.
    work = []
    for eqn in jaxpr.eqns:
        if any(type(v) is Var and v in linear for v in eqn.invars):
            linear.update((v, Linear(v.aval)) for v in eqn.outvars)
            work.append(eqn)
        else:
            here.set_origin(eqn)
            here.scope = joined_scopes(scope, eqn.scope)
            out = eqn.primitive.bind(*[_read(known, v) for v in eqn.invars], **eqn.params)
            here.scope = scope
            if eqn.primitive.multiple_results:
                known.update(zip(eqn.outvars, out, strict=True))
            else:
                known[eqn.outvars[0]] = out
    cts: dict[Var, Any] = {}

    def add(v: Any, ct: Any) -> None:
        if ct is None or type(ct) is Zero or type(v) is not Var:
            return
        if aval_of(ct).vma:  # of a value that several devices share
            ct = sum_to(ct, v.aval)
        if v.aval.explicit_sharding is not None and v.aval.explicit_sharding.mesh.manual_axes:
            ct = cast_cotangent(ct, v.aval)
        shown = v.aval.explicit_sharding
        if shown is not None:
            shown = _of_cotangents(v.aval).explicit_sharding
            if aval_of(ct).explicit_sharding is not shown:
                ct = reshard_p.bind(ct, sharding=shown)
        elif (own := aval_of(ct).explicit_sharding) is not None and own.spec.partial:
            ct = left_to_compiler(ct)
        if v.aval.memory_space is Space.Host:  # a cotangent of the caller may be elsewhere
            ct = in_memory_space(ct, Space.Host)
        have = cts.get(v)
        if have is None:
            cts[v] = ct
        elif v.aval.is_high:
            cts[v] = v.aval.vspace_add(have, ct)
        else:
            cts[v] = add_any_p.bind(have, ct)

    masks = None if out_masks is None else masked_cotangents.Masks(work, linear, transpose_rule)
    for i, (v, ct) in enumerate(zip(jaxpr.outvars, cotangents, strict=True)):
        if type(v) is Var and v in linear:
            add(v, ct)
            if masks is not None and ct is not None and type(ct) is not Zero:
                masks.add(v, out_masks[i])  # type: ignore[index]
    for eqn in reversed(work):
        ct_outs = [cts.pop(v, None) for v in eqn.outvars]
        if all(ct is None for ct in ct_outs):
            continue
        args = [
            linear[v] if type(v) is Var and v in linear else _read(known, v) for v in eqn.invars
        ]
        primitive = eqn.primitive
        if primitive.multiple_results:
            ct_outs = [
                Zero(v.aval) if ct is None else ct
                for v, ct in zip(eqn.outvars, ct_outs, strict=True)
            ]
            ct: Any = ct_outs
        else:
            ct = ct_outs[0]
        if eqn.inner is not None:
            here.origin, here.around = Backward(eqn.inner), eqn.outer
        if eqn.scope:  # the names of inner jaxprs do not begin with a transformation
            around = joined_scopes(scope, "transpose()") if eqn.scope[:4] == "jvp(" else scope
            here.scope = joined_scopes(around, eqn.scope)
        mask = None if masks is None else masks.take(eqn)
        if not primitive.is_higher_order and any(
            v.aval.explicit_sharding is not None for v in eqn.invars
        ):
            # cotangents get the sharding of their variables when they are summed; what arranges unreduced
            # sums does not add them up
            if primitive.multiple_results or not (
                (primitive.sums == Sums.FIRST or primitive.sets_sharding) and _is_partial(ct)
            ):
                ct = [_auto(c) for c in ct] if primitive.multiple_results else _auto(ct)
            args = [a if type(a) is Linear else left_to_compiler(a) for a in args]
        try:
            if mask is None:
                found = transpose_rule(primitive)(ct, *args, **eqn.params)
            elif primitive.cotangent_mask == CotangentMask.INSIDE and any(
                m is not None for m in mask
            ):
                # masks continue inside of the callee, so its equations are transposed here
                inner = eqn.params["jaxpr"]
                found, passed = _backward(inner.jaxpr, inner.consts, args, ct, mask)
                for v, a, c, m in zip(eqn.invars, args, found, passed, strict=True):
                    if type(a) is Linear and type(c) is not Zero:
                        masks.add(v, m)  # type: ignore[union-attr]
            else:
                args = masks.operands(eqn, args, mask)  # type: ignore[union-attr]
                found = transpose_rule(primitive)(ct, *args, **eqn.params)
                masks.pass_on(eqn, args, mask, ct_outs)  # type: ignore[union-attr]
        except NotLinearError as error:
            error.attach(primitive=primitive.name, traceback=eqn.traceback)
            raise
        except SagaxError as error:
            if error.raised_at_user_position(stack()):  # not in a rule that the user wrote
                error.attach(traceback=eqn.traceback)
            raise
        for v, a, ct in zip(eqn.invars, args, found, strict=True):
            if type(a) is Linear:
                add(v, ct)
        here.scope = scope
    found = [
        (cts.get(v) if cts.get(v) is not None else Zero(_of_cotangents(v.aval)))
        if type(x) is Linear
        else None
        for v, x in zip(jaxpr.invars, inputs, strict=True)
    ]
    return found, [None if masks is None else masks.of(v) for v in jaxpr.invars]


def _of_cotangents(aval: Any) -> Any:
    """Return the type of the cotangents of tangents of a type: reduced where these are unreduced, and the reverse."""
    shown = aval.explicit_sharding
    if shown is None or not shown.spec.partial:
        return aval
    return aval.update(sharding=shown.with_spec(shown.spec.cotangent()))


def _is_partial(ct: Any) -> bool:
    shown = None if type(ct) is Zero else aval_of(ct).explicit_sharding
    return shown is not None and shown.spec.partial


def _auto(ct: Any) -> Any:
    return ct if type(ct) is Zero else left_to_compiler(ct)


def _read(env: dict, atom: Any) -> Any:
    return atom.val if type(atom) is Literal else env[atom]


def transpose_rule(primitive: Any) -> Any:
    """Return the transpose rule of a primitive, or the one that its composite implies."""
    rule = primitive.transpose_rule
    if rule is not None:
        return rule
    composite = primitive.composite_rule
    if composite is None:
        return primitive.rule("transpose")

    def by_composite(ct: Any, *args: Any, **params: Any) -> list:
        positions = [i for i, a in enumerate(args) if type(a) is Linear]
        known = [a for a in args if type(a) is not Linear]

        def fun(*xs: Any) -> list:
            given, rest = iter(xs[: len(positions)]), iter(xs[len(positions) :])
            full = [next(given) if type(a) is Linear else next(rest) for a in args]
            out = composite(*full, **params)
            return out if primitive.multiple_results else [out]

        avals = [args[i].aval for i in positions] + [aval_of(x) for x in known]
        if state.trace is evaluation:  # whose equations need no lines of their own
            jaxpr, consts = _staged(fun, (composite, *positions, *avals), params, avals)
        else:
            jaxpr, consts = stage(fun, avals)
        cts = ct if primitive.multiple_results else [ct]
        inputs = [Linear(args[i].aval) for i in positions] + known
        found = backward(jaxpr, consts, inputs, cts)
        out: list[Any] = [None] * len(args)
        for i, c in zip(positions, found, strict=False):
            out[i] = c
        return out

    return by_composite


def _staged(fun: Any, key: tuple, params: dict, avals: list) -> tuple[Jaxpr, list]:
    """Stage a composite outside of tracing, once for equal operands, parameters and settings."""
    try:
        found = _staged_composites.get(key := (*key, *params.items(), thread.settings))
    except TypeError:  # an unhashable parameter, of a primitive from another library
        return stage(fun, avals)
    if found is None:
        found = stage(fun, avals)
        if len(_staged_composites) >= _STAGED_LIMIT:
            _staged_composites.clear()
        if not any(map(belongs_to_trace, found[1])):
            _staged_composites[key] = found
    return found


def clear() -> None:
    """Forget the composites that were staged."""
    _staged_composites.clear()


def transposed_from(closed: ClosedJaxpr, n: int) -> ClosedJaxpr:
    """Transpose a jaxpr, without constants, that is linear in all inputs from the `n`th on.

    The result takes the first `n` inputs and cotangents of all outputs, and returns cotangents of all those inputs.
    Cached.
    """
    inner = closed.jaxpr

    def fun(*xs: Any) -> list:
        inputs = [*xs[:n], *(Linear(v.aval) for v in inner.invars[n:])]
        return [instantiate(c) for c in checked_backward(inner, (), inputs, list(xs[n:]))[n:]]

    avals = [*inner.in_avals[:n], *map(_of_cotangents, inner.out_avals)]
    key = (memo_keys.TRANSPOSE_FROM, n, masked_cotangents.is_enabled())
    return derived_jaxpr(inner, key, fun, avals)[0]


def transpose_jaxpr(
    jaxpr: ClosedJaxpr, linear: tuple[bool, ...], nonzero: tuple[bool, ...]
) -> tuple:
    """Transpose a jaxpr without constants, to a jaxpr. Cached.

    `linear` marks the linear inputs, `nonzero` the outputs with given cotangents. The result takes the other
    inputs, then those cotangents, and returns cotangents of linear inputs. Also returns the marks of the linear
    inputs that have one.
    """
    inner = jaxpr.jaxpr
    key = (memo_keys.TRANSPOSE, linear, nonzero, masked_cotangents.is_enabled())
    found = inner.memo.get(key)
    if found is None:
        n_known = linear.count(False)
        marks: list[bool] = []

        def fun(*args: Any) -> list:
            values, given = iter(args[:n_known]), iter(args[n_known:])
            inputs = [
                Linear(v.aval) if lin else next(values)
                for v, lin in zip(inner.invars, linear, strict=True)
            ]
            cts = [
                next(given) if nz else Zero(v.aval)
                for v, nz in zip(inner.outvars, nonzero, strict=True)
            ]
            found = [c for c in backward(inner, jaxpr.consts, inputs, cts) if c is not None]
            marks[:] = [type(c) is not Zero for c in found]
            return [c for c in found if type(c) is not Zero]

        avals = [v.aval for v, lin in zip(inner.invars, linear, strict=True) if not lin]
        avals += [
            _of_cotangents(v.aval) for v, nz in zip(inner.outvars, nonzero, strict=True) if nz
        ]
        found = derived_jaxpr(inner, key, fun, avals, marks)
    return found
