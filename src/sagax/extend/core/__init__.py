"""Provide the parts of jaxprs: variables, equations, types, effects, primitives.

>>> import sagax
>>> from sagax.extend import core
>>> program = sagax.make_jaxpr(lambda x: x * 2.0)(1.0)
>>> [eqn.primitive is core.primitives.mul_p for eqn in program.eqns]
[True]
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import sagax.extend.core.primitives as primitives
from sagax._src.core import jaxpr as _jaxpr
from sagax._src.core import trace as _trace
from sagax._src.core.avals import AbstractToken, ShapedArray
from sagax._src.core.dtypes import tangent_dtype
from sagax._src.core.effects import Effect, no_effects
from sagax._src.core.jaxpr import DebugInfo, Eqn, Literal, Var
from sagax._src.core.jaxpr_class import ClosedJaxpr, Jaxpr
from sagax._src.core.staging import StageTrace as _StageTrace
from sagax._src.core.value import is_operand
from sagax._src.core.verify import check_jaxpr
from sagax._src.diagnostics.errors import (
    ConcretizationTypeError,
    InconclusiveDimensionOperation,
    JaxprTypeError,
)
from sagax._src.primitives.tokens import Token
from sagax._src.transforms.batch import BatchTrace as _BatchTrace
from sagax.extend.core._primitive import Primitive

__all__ = [
    "AbstractToken",
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "Primitive",
    "Token",
    "TraceTag",
    "Var",
    "array_types",
    "check_jaxpr",
    "concrete_or_error",
    "find_top_trace",
    "gensym",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "new_jaxpr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype",
    "primitives",
    "set_current_trace",
    "subjaxprs",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]

JaxprEqn = Eqn
Effects = frozenset[Effect]
array_types: set[type] = {np.ndarray, np.generic}


class DropVar(Var):
    """A variable that stands for an unused result. (sagax itself uses plain variables there.)"""

    __slots__ = ()


class TraceTag:
    """An identity that a library's own traces may share."""


def gensym(suffix: str = "") -> Callable[[Any], Var]:
    """Return a function that creates a new variable of a type.

    >>> from sagax.core import ShapedArray
    >>> core.gensym()(ShapedArray((3,), "float32"))
    Var(f32[3])
    """
    return Var


def new_jaxpr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Any],
    primitive: Any,
    params: dict[str, Any],
    effects: Any = no_effects,
    source_info: Any = None,
    ctx: Any = None,
) -> Eqn:
    """Create an equation of a `Jaxpr`: one application of a primitive.

    >>> eqn = sagax.make_jaxpr(lambda x: -x)(1.0).eqns[0]
    >>> core.new_jaxpr_eqn(eqn.invars, eqn.outvars, eqn.primitive, eqn.params).primitive
    neg
    """
    return Eqn(
        primitive, list(invars), list(outvars), dict(params), frozenset(effects), source_info
    )


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Callable[..., list[Any]]:
    """Make a function of a closed jaxpr: it takes its inputs, and returns the list of its outputs.

    Further arguments are its first inputs.

    >>> program = sagax.make_jaxpr(lambda x, y: x + y)(1, 2)
    >>> core.jaxpr_as_fun(program)(3, 4)
    [Array(7, dtype=int32, weak_type=True)]
    >>> core.jaxpr_as_fun(program, 5)(6)
    [Array(11, dtype=int32, weak_type=True)]
    """
    return functools.partial(_jaxpr.eval_jaxpr, closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """Yield the jaxprs in the parameters of an equation.

    >>> program = sagax.make_jaxpr(sagax.jit(lambda x: x + 1))(1)
    >>> len(list(core.jaxprs_in_params(program.eqns[0].params)))
    1
    """
    yield from _jaxpr.subjaxprs(params)


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """Yield the jaxprs in the equations of a jaxpr.

    >>> program = sagax.make_jaxpr(sagax.jit(lambda x: x + 1))(1)
    >>> len(list(core.subjaxprs(program.jaxpr)))
    1
    """
    for eqn in jaxpr.eqns:
        yield from _jaxpr.subjaxprs(eqn.params)


def mapped_aval(size: Any, axis: int | None, aval: Any) -> Any:
    """Return the type of one example of a batch of that type, mapped along `axis`.

    >>> from sagax.core import ShapedArray
    >>> core.mapped_aval(3, 0, ShapedArray((3, 2), "float32"))
    ShapedArray(float32[2])
    """
    if axis is None:
        return aval
    shape = tuple(n for i, n in enumerate(aval.shape) if i != axis % len(aval.shape))
    return aval.update(shape=shape)


def unmapped_aval(size: Any, axis: int | None, aval: Any, explicit_mesh_axis: Any = None) -> Any:
    """Return the type of a batch of `size` examples of that type, along `axis`.

    >>> from sagax.core import ShapedArray
    >>> core.unmapped_aval(3, 0, ShapedArray((2,), "float32"))
    ShapedArray(float32[3,2])
    """
    if axis is None:
        return aval
    shape = list(aval.shape)
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, size)
    return aval.update(shape=tuple(shape))


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> Any:
    """Return the dtype of tangents of a dtype: itself, or float0 for integers.

    >>> core.primal_dtype_to_tangent_dtype(np.dtype("float32"))
    dtype('float32')
    """
    return tangent_dtype(primal_dtype)


def valid_jaxtype(x: Any) -> bool:
    """Return whether `x` is an array, a tracer or a number.

    >>> core.valid_jaxtype(1.5), core.valid_jaxtype("text")
    (True, False)
    """
    return is_operand(x)


def concrete_or_error(force: Any, val: Any, context: str = "") -> Any:
    """Return `force(val)` of a concrete value. Raises ConcretizationTypeError, with `context`, for a tracer.

    >>> core.concrete_or_error(int, 3.0)
    3
    """
    if isinstance(val, _trace.Tracer):
        known = val.concrete() if val._trace.alive else None
        if known is None:
            raise ConcretizationTypeError(val, context)
        val = known
    return val if force is None else force(val)


class _OpaqueTraceState:
    """A token of the current trace, equal to others of the same trace."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OpaqueTraceState) and other._trace is self._trace

    def __hash__(self) -> int:
        return id(self._trace)


def get_opaque_trace_state(convention: str | None = None) -> Any:
    """Return a value that is equal while the trace state is.

    >>> core.get_opaque_trace_state() == core.get_opaque_trace_state()
    True
    """
    return _OpaqueTraceState(_trace.state.trace)


def find_top_trace(xs: Any = None) -> Any:
    """Return the current trace.

    >>> type(core.find_top_trace()).__name__
    'EvalTrace'
    """
    return _trace.state.trace


def set_current_trace(trace: Any, check_leaks: bool = False) -> Any:
    """Context manager: operations are handled by `trace` inside.

    >>> with core.set_current_trace(core.find_top_trace()):
    ...     pass
    """
    return _trace.current(trace)


@contextlib.contextmanager
def take_current_trace() -> Iterator[Any]:
    """Context manager that gives the current trace, while operations are handled by none.

    >>> with core.take_current_trace() as trace:
    ...     pass
    """
    trace = _trace.state.trace
    with _trace.current(_trace.evaluation):
        yield trace


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Return whether a named axis is in scope.

    >>> core.nonempty_axis_env_DO_NOT_USE()
    False
    """
    return bool(_trace.axis_environment())


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """Return the named axes in scope.

    >>> core.unsafe_get_axis_names_DO_NOT_USE()
    []
    """
    return [axis.name for axis in _trace.axis_environment()]


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Return whether a jaxpr is being staged.

    >>> core.unsafe_am_i_under_a_jit_DO_NOT_USE()
    False
    """
    return _under(_StageTrace)


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Return whether a vmap is in progress.

    >>> core.unsafe_am_i_under_a_vmap_DO_NOT_USE()
    False
    """
    return _under(_BatchTrace)


def _under(kind: type) -> bool:
    trace = _trace.state.trace
    while trace is not None:
        if isinstance(trace, kind):
            return True
        trace = trace.parent
    return False
