"""Name the arguments of functions, and their leaves, for messages."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.weak_tables import WeakKeyTable

# Not an lru_cache: that would keep the functions, and their free variables, alive.
_signatures: WeakKeyTable[Any, inspect.Signature | None] = WeakKeyTable()


def signature(fun: Any) -> inspect.Signature | None:
    """Return the signature of a function, or None if it has none."""
    try:
        return _signatures[fun]
    except (
        KeyError,
        TypeError,
    ):  # not cached yet; callables that are unhashable or not weakly referenceable
        pass
    try:
        found = inspect.signature(fun)
    except (ValueError, TypeError):
        found = None
    with contextlib.suppress(TypeError):
        _signatures[fun] = found
    return found


def positional_names(fun: Any, n: int) -> list[str]:
    """Return the names of the first `n` positional parameters (`args[2]` beyond the named ones)."""
    names: list[str] = []
    sig = signature(fun)
    if sig is not None:
        for p in sig.parameters.values():
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                names.append(p.name)
            elif p.kind is p.VAR_POSITIONAL:
                start = len(names)
                names.extend(f"{p.name}[{i - start}]" for i in range(start, n))
                break
    names.extend(f"args[{i}]" for i in range(len(names), n))
    return names[:n]


def body_names(fun: Any, default: Sequence[str]) -> list[str]:
    """Return the parameter names of a loop body; `default` names those without a name.

    The names come from its code object, for speed. `self` of a bound method is no argument.
    """
    code = getattr(fun, "__code__", None)
    names = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    names = names[isinstance(fun, types.MethodType) :]
    return [*names, *default[len(names) :]][: len(default)]


def flatten_named(
    function: str, tree: Any, parts: Callable[[], Iterable[tuple[str, Any]]]
) -> tuple[list, trees.PyTreeDef]:
    """Flatten `tree`, the arguments of a call.

    An error about a tree that cannot be flattened names the part at fault; `parts` gives the parts
    with the user's names of them.
    """
    try:
        return trees.flatten(tree)
    except Exception:
        for name, part in parts():
            trees.flatten_argument(function, name, part)
        raise


def named_arguments(fun: Any, args: Sequence[Any], kwargs: dict) -> list[tuple[str, Any]]:
    """Return the arguments of a call with the function's parameter names."""
    names = positional_names(fun, len(args))
    return [*zip(names, args, strict=True), *sorted(kwargs.items())]


def leaf_paths(fun: Any, args: Sequence[Any], kwargs: dict) -> list[str]:
    """Return the user's name of every leaf of (args, kwargs), in flattening order."""
    return [
        trees.argument_path(name, path)
        for name, arg in named_arguments(fun, args, kwargs)
        for path in trees.key_paths(arg)
    ]
