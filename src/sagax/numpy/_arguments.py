"""Check the arguments that functions along axes share: axes, `out`, sizes."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    ConcretizationTypeError,
    SagaxError,
    StaticArgumentError,
)
from sagax.numpy._base import as_operand


class UnsupportedArgumentError(SagaxError, NotImplementedError, TypeError):
    """An argument that NumPy's function has and that cannot be honored here."""

    code = "SX0125"


def renamed(error: SagaxError, function: str) -> SagaxError:
    """Rename the function in an error: from an internal one to `function`, which the user called."""
    error.facts["function"] = function
    return error.attach()


def refuse_out(function: str, out: Any) -> None:
    """Raise if a place for the result is given: arrays never change."""
    if out is not None:
        raise UnsupportedArgumentError(
            f"The 'out' argument to numpy.{function} is not supported.",
            fix=f"arrays are immutable: use the result, as in x = {function}(...)",
        )


def refuse_sharding(function: str, out_sharding: Any) -> None:
    """Raise if a sharding of the result is asked for."""
    if out_sharding is not None:
        raise UnsupportedArgumentError(
            f"The 'out_sharding' argument to numpy.{function} is not supported.",
            fix="place the result with sagax.device_put(x, sharding), "
            "or inside jit with lax.with_sharding_constraint",
        )


def check_choice(
    function: str, argument: str, value: Any, choices: Collection[Any], expected: str | None = None
) -> None:
    """Raise unless `value` is one of `choices`; `expected` words them, by default as a list."""
    if value not in choices:
        raise ArgumentValueError.about(
            function, argument, repr(value), expected or f"one of {', '.join(map(repr, choices))}"
        )


def checked_shape(function: str, argument: str, value: Any) -> tuple:
    """Check a user's shape and return it as a tuple of ints and symbolic sizes; an int is one size."""
    try:
        return dims.canonical_shape(value, argument)
    except SagaxError as error:
        raise error.attach(function=function) from None


def with_aval(function: str, x: Any, position: int = 0) -> tuple[Any, Any]:
    """Convert `x` to an operand of primitives and return it with its aval; errors name `function`."""
    if isinstance(x, Array):
        return x, x.aval
    x = as_operand(function, x, position)
    return x, aval_of(x)


def has_names(axis: Any) -> bool:
    """Return whether `axis` is or holds a named axis of vmap, pmap or shard_map."""
    if isinstance(axis, (tuple, list)):
        return any(isinstance(a, str) for a in axis)
    return isinstance(axis, str)


def axis_tuple(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Normalize `axis` (an int, several, or None for all) to sorted dimensions without duplicates."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int:
        if -ndim <= axis < ndim:
            return (axis if axis >= 0 else axis + ndim,)
        return (canonical_axis(axis, ndim, function),)
    if isinstance(axis, Tracer):
        concrete = axis.concrete()
        if concrete is None:
            raise StaticArgumentError(axis, f"axis argument to jnp.{function}().")
        axis = concrete
    if isinstance(axis, (np.ndarray, Array)) and axis.ndim == 1:
        axis = np.asarray(axis).tolist()
    if isinstance(axis, Sequence) and not isinstance(axis, str):
        found = sorted([canonical_axis(a, ndim, function) for a in axis])
        if len(set(found)) != len(found):
            raise ArgumentValueError(
                f"duplicate value in 'axis': {tuple(axis)}",
                function=function,
                argument="axis",
                got=tuple(axis),
                expected="each axis once",
            )
        return tuple(found)
    return (canonical_axis(axis, ndim, function),)


def one_axis(function: str, axis: Any, ndim: int, argument: str = "axis") -> int:
    """Normalize `axis` to a nonnegative dimension."""
    if type(axis) is int and -ndim <= axis < ndim:
        return axis if axis >= 0 else axis + ndim
    if isinstance(axis, Tracer) and axis.concrete() is None:
        raise StaticArgumentError(axis, f"{argument} argument to numpy.{function}().")
    return canonical_axis(axis, ndim, function, argument)


def axes_in_order(function: str, axes: Any, ndim: int, argument: str = "axes") -> tuple[int, ...]:
    """Normalize each of `axes` (an int or several) to a dimension, in this order; no duplicates."""
    several = isinstance(axes, Sequence) or (
        isinstance(axes, (np.ndarray, Array)) and axes.ndim > 0
    )
    given: Any = axes if several else (axes,)
    found = tuple([one_axis(function, a, ndim, argument) for a in given])
    if len(set(found)) != len(found):
        raise ArgumentValueError(
            f"repeated axis in {argument}",
            function=function,
            argument=argument,
            got=tuple(given),
            expected="each axis once",
        )
    return found


def static_int(function: str, argument: str, value: Any, why: str = "") -> Any:
    """Convert `value` to an int (or symbolic size) that is known while tracing."""
    if type(value) is int or dims.is_dim(value):
        return value
    if isinstance(value, Tracer) and value.concrete() is None:
        raise StaticArgumentError(value, f"{argument} argument to numpy.{function}(). {why}")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError.about(function, argument, value, "an int") from None


def concrete_or_raise(function: str, x: Any, fix: str) -> np.ndarray:
    """Return the contents of `x`, which determine the shape of the result, as a NumPy array."""
    if isinstance(x, Tracer):
        value = x.concrete()
        if value is None:
            error = ConcretizationTypeError(
                x,
                f"The error arose in jnp.{function}. The shape of its result depends on the values of its argument.",
            )
            raise error.attach(fix=fix)
        x = value
    return np.asarray(x)
