"""Give functions of the library the stages of jitted functions: `snp.sin.lower(x)`, `export(snp.sort)`.

Parameters that are no arrays are static: those annotated as something else, and those given a word, a dtype
or the like.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from sagax._src import trees
from sagax._src.api.jit import JitFunction, jit
from sagax._src.core.value import is_operand
from sagax._src.diagnostics.function_wrappers import MethodOfFunction

_STAGES = ("lower", "trace", "eval_shape")


@functools.cache
def _parameters(function: Callable) -> inspect.Signature:
    return inspect.signature(function)


def _is_static(parameter: inspect.Parameter, value: Any) -> bool:
    if parameter.annotation not in ("Any", Any):
        return True
    return value is not None and not all(is_operand(x) or _is_shape(x) for x in trees.leaves(value))


def _is_shape(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")


@functools.cache
def _jitted(function: Callable, static: tuple[str, ...]) -> JitFunction:
    return jit(function, static_argnames=static)


def jitted(function: Any, args: tuple = (), kwargs: Any = None) -> Any:
    """Return the jitted form of a function of the library for these arguments; others as they are."""
    if not is_stageable(function):
        return function
    signature = _parameters(function)
    try:
        bound = signature.bind(*args, **(kwargs or {}))
    except TypeError:  # tracing says what is wrong
        return _jitted(function, ())
    static = [
        name
        for name, value in bound.arguments.items()
        if signature.parameters[name].kind
        in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        and _is_static(signature.parameters[name], value)
    ]
    return _jitted(function, tuple(static))


def _stage(function: Callable, stage: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(jitted(function, args, kwargs), stage)(*args, **kwargs)


def is_stageable(function: Any) -> bool:
    """Return whether this is a function of the library that has stages."""
    return type(function) is FunctionType and type(vars(function).get("lower")) is MethodOfFunction


def stageable(functions: Iterable[Any]) -> None:
    """Give those of `functions` that are Python functions the methods `lower`, `trace`, `eval_shape`."""
    for f in functions:
        if type(f) is FunctionType and f.__module__.startswith("sagax."):
            for stage in _STAGES:
                setattr(f, stage, MethodOfFunction(_stage, f, stage))
