"""Register derivative rules of primitives: JVPs and transposes.

>>> import sagax
>>> from sagax.extend.core import Primitive
>>> from sagax.interpreters import ad, mlir
>>> cube_p = Primitive("cube")
>>> rule = cube_p.def_abstract_eval(lambda x: x)
>>> mlir.register_lowering(cube_p, mlir.lower_fun(lambda x: x * x * x, multiple_results=False))
>>> ad.defjvp(cube_p, lambda t, x: 3.0 * x * x * t)
>>> sagax.grad(cube_p.bind)(2.0)
Array(12., dtype=float32, weak_type=True)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import sagax.numpy as snp
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Linear as UndefinedPrimal
from sagax._src.core.tangents import Zero, is_linear
from sagax._src.core.value import aval_of
from sagax._src.primitives.makers import add_any_p as add_jaxvals_p
from sagax._src.transforms import jvp as _forward
from sagax._src.transforms import linearize as _linearize
from sagax._src.transforms import transpose as _reverse
from sagax._src.transforms.jvp import JVPTrace, JVPTracer
from sagax.interpreters._rules import Rules

__all__ = [
    "JVPTrace",
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_jaxvals_p",
    "add_tangents",
    "backward_pass",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp",
    "jvp_jaxpr",
    "linearize",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]


def _same(rule: Callable[..., Any]) -> Callable[..., Any]:
    return rule


def _jvp(primitive: Primitive, rule: Callable[..., Any]) -> Callable[..., Any]:
    def adapted(primals: Any, tangents: Any, **params: Any) -> Any:
        out, tangent = rule(list(primals), list(tangents), **params)
        return (list(out), list(tangent)) if primitive.multiple_results else (out, tangent)

    return adapted


primitive_jvps = Rules("jvp_rule", _jvp, _same)
primitive_transposes = Rules("transpose_rule", lambda primitive, rule: rule, _same)


def is_undefined_primal(x: Any) -> bool:
    """Return whether `x`, an operand of a transpose rule, is a linear one, without primal value.

    >>> from sagax.core import ShapedArray
    >>> ad.is_undefined_primal(ad.UndefinedPrimal(ShapedArray((), "float32"))), ad.is_undefined_primal(1.0)
    (True, False)
    """
    return is_linear(x)


def zeros_like_aval(aval: Any) -> Any:
    """Create an array of zeros of a type.

    >>> from sagax.core import ShapedArray
    >>> ad.zeros_like_aval(ShapedArray((2,), "float32"))
    Array([0., 0.], dtype=float32)
    """
    return snp.zeros(aval.shape, aval.dtype)


def instantiate_zeros(tangent: Any) -> Any:
    """Convert a tangent to an array, zeros for a `Zero`.

    >>> from sagax.core import ShapedArray
    >>> ad.instantiate_zeros(ad.Zero(ShapedArray((2,), "float32")))
    Array([0., 0.], dtype=float32)
    """
    return zeros_like_aval(tangent.aval) if type(tangent) is Zero else tangent


def add_jaxvals(x: Any, y: Any) -> Any:
    """Add two cotangents.

    >>> ad.add_jaxvals(1.0, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return snp.add(x, y)


def add_tangents(x: Any, y: Any) -> Any:
    """Add two tangents; either may be a `Zero`.

    >>> from sagax.core import ShapedArray
    >>> ad.add_tangents(ad.Zero(ShapedArray((), "float32")), 2.0)
    2.0
    """
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else add_jaxvals(x, y)


def get_primitive_transpose(primitive: Primitive) -> Callable[..., Any]:
    """Return the transpose rule of a primitive. Raises NotImplementedError if it has none.

    >>> from sagax.extend.core.primitives import neg_p
    >>> callable(ad.get_primitive_transpose(neg_p))
    True
    """
    return primitive.rule("transpose")


def defjvp(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Register the JVP of a primitive with one result: a rule `(tangent, *operands)` for each operand.

    A rule of None says that the result does not depend on the operand smoothly.

    >>> from sagax.extend.core import Primitive
    >>> ad.defjvp(Primitive("f"), lambda t, x, y: t * y, None)
    """
    rules = [r and (lambda t, out, *xs, _r=r, **params: _r(t, *xs, **params)) for r in jvprules]
    defjvp2(primitive, *rules)


def defjvp2(primitive: Primitive, *jvprules: Callable[..., Any] | None) -> None:
    """Define the JVP by rules `(tangent, result, *operands)`, one for each operand.

    >>> from sagax.extend.core import Primitive
    >>> ad.defjvp2(Primitive("my_exp"), lambda t, out, x: t * out)
    """

    def rule(primals: Any, tangents: Any, **params: Any) -> tuple:
        out = primitive.bind(*primals, **params)
        parts = [
            r(t, out, *primals, **params)
            for r, t in zip(jvprules, tangents, strict=True)
            if r is not None and type(t) is not Zero
        ]
        if not parts:
            return out, Zero.like(aval_of(out))
        return out, functools.reduce(add_tangents, parts)

    primitive_jvps[primitive] = rule


def deflinear(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Define a linear primitive by a transpose rule `(ct)`, which returns the operands' cotangents.

    >>> from sagax.extend.core import Primitive
    >>> ad.deflinear(Primitive("my_neg"), lambda ct: [-ct])
    """
    _linear(primitive)
    primitive_transposes[primitive] = lambda ct, *operands, **params: (
        [None] * len(operands) if type(ct) is Zero else transpose_rule(ct, **params)
    )


def deflinear2(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Define a linear primitive by a transpose rule `(ct, *operands)`.

    >>> from sagax.extend.core import Primitive
    >>> ad.deflinear2(Primitive("my_neg"), lambda ct, x: [-ct])
    """
    _linear(primitive)
    primitive_transposes[primitive] = lambda ct, *operands, **params: (
        [None] * len(operands) if type(ct) is Zero else transpose_rule(ct, *operands, **params)
    )


def _linear(primitive: Primitive) -> None:
    def rule(primals: Any, tangents: Any, **params: Any) -> tuple:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            zero = [Zero.like(aval_of(o)) for o in out] if primitive.multiple_results else None
            return out, zero if zero is not None else Zero.like(aval_of(out))
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    primitive_jvps[primitive] = rule


def defbilinear(
    primitive: Primitive, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]
) -> None:
    """Define a bilinear primitive by its two transpose rules.

    `lhs_rule(ct, lhs, rhs)` is the cotangent of lhs (which is then unknown), `rhs_rule` that of rhs.

    >>> from sagax.extend.core import Primitive
    >>> ad.defbilinear(Primitive("my_mul"), lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
    """
    defjvp(
        primitive,
        lambda t, x, y, **params: primitive.bind(t, y, **params),
        lambda t, x, y, **params: primitive.bind(x, t, **params),
    )

    def transposed(ct: Any, x: Any, y: Any, **params: Any) -> list:
        if is_linear(x):
            return [None if type(ct) is Zero else lhs_rule(ct, x, y, **params), None]
        return [None, None if type(ct) is Zero else rhs_rule(ct, x, y, **params)]

    primitive_transposes[primitive] = transposed


def backward_pass(
    jaxpr: Any,
    transform_stack: Any,
    consts: Sequence[Any],
    primals_in: Sequence[Any],
    cotangents_in: Sequence[Any],
) -> list[Any]:
    """Pull cotangents back through a jaxpr that is linear in the inputs marked by `UndefinedPrimal`.

    Returns a cotangent, or a `Zero`, for each of these inputs, and None for the others.

    >>> program = sagax.make_jaxpr(lambda x: 3.0 * x)(1.0).jaxpr
    >>> ad.backward_pass(program, False, [], [ad.UndefinedPrimal(program.in_avals[0])], [1.0])
    [Array(3., dtype=float32, weak_type=True)]
    """
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    return _reverse.backward(inner, consts, primals_in, cotangents_in)


def jvp_jaxpr(
    jaxpr: Any, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool]
) -> tuple[Any, list[bool]]:
    """Differentiate a closed jaxpr in forward mode, for tangents of the marked inputs.

    Returns a jaxpr that maps inputs and tangents to outputs and tangents, and marks of outputs with tangents;
    all, or the marked ones, have one with `instantiate`.

    >>> program = sagax.make_jaxpr(lambda x: x * x)(1.0)
    >>> ad.jvp_jaxpr(program, [True], False)[1]
    [True]
    """
    wanted = instantiate if isinstance(instantiate, bool) else tuple(instantiate)
    found, marks = _forward.jvp_jaxpr(jaxpr, tuple(nonzeros), wanted)
    return found, list(marks)


def jvp(
    fun: Any,
    primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None,
    has_aux: bool = False,
    instantiate: bool = True,
    transform_stack: bool = True,
) -> Any:
    """Run a flat function, or one wrapped by `linear_util`, on primals and tangents.

    Returns the lists of outputs and of their tangents. Without primals: a wrapped function of both.

    >>> ad.jvp(lambda x: [x * x], [3.0], [1.0])
    ([Array(9., dtype=float32, weak_type=True)], [Array(6., dtype=float32, weak_type=True)])
    """

    def run(call: Any, xs: Sequence[Any], ts: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outs, found = _forward.jvp_flat(lambda *ins: list(call(*ins)), list(xs), list(ts))
        return outs, [instantiate_zeros(t) if instantiate else t for t in found]

    call = getattr(fun, "call_wrapped", fun)
    if primals is not None and tangents is not None:
        return run(call, primals, tangents)
    return fun.wrapped(run, (jvp, instantiate))


def linearize(traceable: Any, *primals: Any, **_: Any) -> tuple[list[Any], Any]:
    """Return the outputs of a flat function, and its linear map from tangents to lists of tangents.

    >>> outs, push = ad.linearize(lambda x: [x * x], 3.0)
    >>> push(1.0)
    [Array(6., dtype=float32, weak_type=True)]
    """
    call = getattr(traceable, "call_wrapped", traceable)
    outs, linear = _linearize.linearize_flat(lambda *xs: list(call(*xs)), list(primals))
    return outs, lambda *tangents: [instantiate_zeros(t) for t in linear.apply(tangents)]
