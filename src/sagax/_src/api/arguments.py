"""Resolve argument positions and names of transformed functions, check operands, and name them in messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.argument_names import (
    flatten_named,
    leaf_paths,
    named_arguments,
    positional_names,
    signature,
)
from sagax._src.argument_checks.functions import kind_of, unusable_leaf
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import Array, is_argument
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError, describe
from sagax._src.higher_order.float0_leaves import without_no_tangents

# Whether shapes stand for arrays in calls of jitted functions: inside of `eval_shape`.
shapes_as_arrays: ContextVar[Any] = ContextVar("sagax shapes as arrays", default=None)


def flatten_call(function: str, arguments: Any, names: Callable[[], Any]) -> tuple[list, Any]:
    """Flatten the arguments of a call of a jitted function, as `flatten_named`.

    64-bit scalars of NumPy narrow under `explicit_x64_dtypes="allow"`: there only formulas keep theirs.
    """
    leaves, tree = flatten_named(function, arguments, names)
    if config.thread.settings.x64 is config.ALLOWED:
        leaves = [np.asarray(x) if isinstance(x, np.generic) else x for x in leaves]
    fill = shapes_as_arrays.get()
    if fill is not None and state.trace is not evaluation:
        leaves = [fill(x) for x in leaves]
    return leaves, tree


__all__ = [
    "check_callable",
    "check_operands",
    "flatten_arguments",
    "flatten_call",
    "flatten_named",
    "leaf_paths",
    "named_arguments",
    "pick_all",
    "positions_in_range",
    "positional_names",
    "signature",
    "static_arguments",
]

_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def check_callable(fun: Any, transform: str) -> None:
    """Raise unless `fun` is callable. Return its result if it is a transformation without options."""
    if not callable(fun):
        hint = (
            "pass the function itself, without calling it"
            if isinstance(fun, Array) or fun is None
            else "pass a function"
        )
        raise ArgumentError(
            f"Expected a callable value, got {describe(fun)}",
            function=transform,
            argument="fun",
            expected="a function",
            got=kind_of(fun),
            fix=hint,
        )
    code = getattr(fun, "__code__", None)
    if code is not None and code.co_flags & _GENERATOR_FLAGS:
        generator = code.co_flags & inspect.CO_GENERATOR
        raise ArgumentError(
            f"Expected a function, got a {'generator' if generator else 'coroutine'} function: "
            f"{function_name(fun)}",
            function=transform,
            argument="fun",
            expected="a function that returns its result",
            got=f"a function with {'yield' if generator else 'async def'}",
            fix="return arrays, or a list of them",
        )


def _check_names(value: Any, argument: str) -> tuple[str, ...]:
    single = isinstance(value, (str, bytes)) or not isinstance(value, Iterable)
    names: Any = (value,) if single else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            function="jit",
            argument=argument,
            got=checks.shown(value),
            expected="a string or a sequence of strings: names of arguments",
        )
    return names


def static_arguments(
    fun: Any, argnums: Any, argnames: Any, kind: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return positions and names of marked parameters, each derived from the other if only one is
    given.

    `kind` is "static" or "donate", for messages.
    """
    nums = () if argnums is None else checks.positions("jit", f"{kind}_argnums", argnums)
    names = () if argnames is None else _check_names(argnames, f"{kind}_argnames")
    sig = signature(fun)
    if sig is None:
        return nums, names
    params = list(sig.parameters.values())
    positional = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in params)
    n = len(positional)
    if not variadic:
        for k in nums:
            if not -n <= k < n:
                raise ArgumentValueError(
                    function="jit",
                    argument=f"{kind}_argnums",
                    got=k,
                    expected=f"a position from {-n} to {n - 1}: {function_name(fun)} takes {_counted(n)}"
                    if n
                    else f"left out: {function_name(fun)} takes {_counted(n)}",
                )
    accepts_any = any(p.kind is p.VAR_KEYWORD for p in params)
    known = [p.name for p in params if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for name in names:
        if name not in known and not accepts_any:
            raise ArgumentValueError(
                f"jitted function has invalid argnames {{{name!r}}} in {kind}_argnames",
                function="jit",
                argument=f"{kind}_argnames",
                got=repr(name),
                expected=f"names of parameters of {function_name(fun)}: {', '.join(known) or 'it has none that can be named'}",
            )
    if nums and argnames is None:
        names = tuple(
            positional[k].name
            for k in nums
            if -n <= k < n and positional[k].kind is not inspect.Parameter.POSITIONAL_ONLY
        )
    elif names and argnums is None:
        nums = tuple(
            i
            for i, p in enumerate(positional)
            if p.name in names and p.kind is not inspect.Parameter.POSITIONAL_ONLY
        )
    return nums, names


def _counted(n: int) -> str:
    return f"{n} positional argument{'s' if n != 1 else ''}"


def _pick(value: int, n: int, transform: str, fun: Any, beyond: type[SagaxError]) -> int:
    """Return position `value`, one of `argnums`, normalized to a non-negative index below `n`.

    `beyond` is the error for a position that is too large.
    """
    if -n <= value < n:
        return value % n
    kind = beyond if value >= n else ArgumentValueError
    raise kind(
        f"argnums={value} does not fit: {function_name(fun)} was called with {_counted(n)}",
        function=transform,
        argument="argnums",
        got=value,
        expected=f"a position from {-n} to {n - 1}" if n else "arguments passed by position",
        fix="pass by position what is differentiated; keyword arguments have no position"
        if value >= n
        else None,
    )


def pick_all(
    values: Sequence[int],
    n: int,
    transform: str,
    fun: Any,
    beyond: type[SagaxError] = ArgumentValueError,
) -> list[int]:
    """Normalize `argnums` for `n` positional arguments: non-negative, without duplicates."""
    positions = [_pick(k, n, transform, fun, beyond) for k in values]
    if len(set(positions)) != len(positions):
        raise ArgumentError.about(transform, "argnums", values, "positions without repetition")
    return positions


def positions_in_range(nums: Sequence[int]) -> Callable[[int], list[int]]:
    """Return the positional arguments among `n` that `nums` refers to; numbers out of range are left out."""
    return lambda n: [k % n for k in nums if -n <= k < n]


def flatten_arguments(
    transform: str, fun: Any, args: tuple, positions: Sequence[int] | None = None
) -> tuple[list, Any]:
    """Flatten the positional arguments of a call, all or those at `positions`; float0 arrays are no leaves."""
    chosen = args if positions is None else tuple([args[k] for k in positions])

    def parts() -> list[tuple[str, Any]]:
        named = named_arguments(fun, args, {})
        return named if positions is None else [named[k] for k in positions]

    return without_no_tangents(
        *flatten_named(f"{transform} of {function_name(fun)}", chosen, parts)
    )


def check_operands(
    leaves: Sequence[Any], paths: Callable[[], Sequence[str]], transform: str, fun: Any
) -> None:
    """Raise, naming the leaf, unless every leaf is an array or a number."""
    for i, x in enumerate(leaves):
        if not is_argument(x):
            path = paths()[i]
            name = function_name(fun)
            error = unusable_leaf(
                x, f"{transform} of {name}", path, _suggest_alternative(transform, path)
            )
            raise error.attach(about=((path,), name))


def _suggest_alternative(transform: str, path: str) -> str:
    """Suggest an alternative for a leaf that is no array."""
    root = path.split("[")[0].split(".")[0]
    if path != root:
        where = "in an argument that is static" if transform == "jit" else "in another argument"
        return f"keep it out of {root}: {where}, or closed over"
    if transform == "jit":
        return f"mark the argument static: jit(..., static_argnames={root!r})"
    return (
        f"bind the argument first, {transform}(functools.partial(f, {root}=...)), or close over it"
    )
