"""Compare function objects by meaning.

A function made anew by the same `def` or `lambda`, closing over equal numbers and the same functions,
computes the same. `jit` and control flow share what they traced and compiled among such functions, so that
a lambda inside a loop or a recursion costs one compilation.
"""

from __future__ import annotations

import functools
import types
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_BY_IDENTITY = (types.ModuleType, type, types.BuiltinFunctionType)
_DEPTH = 4


class Same:
    """An object compared by identity, and kept alive so that its identity stays its own."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.thing is self.thing


def meaning(fun: types.FunctionType) -> tuple | None:
    """A key that functions of the same meaning share; None where only the function itself will do.

    Only functions made inside others have one: those of a module exist once. Values that are neither
    plain numbers and texts, nor functions, classes or modules (arrays above all) give None: keeping them
    as part of a key would keep them alive.
    """
    if fun.__closure__ is None and "<" not in fun.__qualname__:
        return None
    return _function(fun, _DEPTH, ())


def meaning_of(*things: Any) -> tuple | None:
    """A key for what is made from these functions and plain values; None where they have none.

    Functions of a module have one too here: what such a function reads from its module is part of it.
    """
    keys = [
        _function(x, _DEPTH, ()) if type(x) is types.FunctionType else _value(x, _DEPTH, ())
        for x in things
    ]
    return None if any(k is None for k in keys) else tuple(keys)


def origin(fun: Any) -> Any:
    """The code that a function was made by, as part of a key; None where it has none."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    code = getattr(fun, "__code__", None)
    return None if code is None else Same(code)


def _function(fun: types.FunctionType, depth: int, above: tuple) -> tuple | None:
    if fun in above:  # it refers to itself
        return ("above", above.index(fun))
    made = fun.__dict__.get("_transformation")
    if made is not None:  # by a transformation of ours, which does not depend on anything else
        keys = [_value(made.key, depth, above), _value(made.fun, depth - 1, (*above, fun))]
        return None if any(k is None for k in keys) else ("transformed", *keys)
    if depth == 0 or (fun.__dict__ and set(fun.__dict__) != {"__wrapped__"}):
        return None
    values = [
        fun.__defaults__,
        tuple((fun.__kwdefaults__ or {}).items()),
        fun.__dict__.get("__wrapped__"),
    ]
    for cell in fun.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not bound yet
            return None
    # what it reads from its module may have been rebound since the last function of this code was made
    read = fun.__globals__
    values.extend(read[name] for name in _names(fun.__code__) if name in read)
    keys = [_value(v, depth - 1, (*above, fun)) for v in values]
    if any(k is None for k in keys):
        return None
    return (Same(fun.__code__), Same(fun.__globals__), *keys)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that a piece of code, and the code inside it, may read from its module."""
    found = dict.fromkeys(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found.update(dict.fromkeys(_names(const)))
    return tuple(found)


def _value(value: Any, depth: int, above: tuple) -> tuple | None:
    kind = type(value)
    if kind in _PLAIN:
        return (kind, repr(value)) if kind in (float, complex) else (kind, value)  # 0.0 is not -0.0
    if kind is tuple:
        parts = [_value(v, depth, above) for v in value]
        return None if any(p is None for p in parts) else (tuple, *parts)
    if kind is types.FunctionType:
        if value.__closure__ is None and "<" not in value.__qualname__:
            return ("function", Same(value))
        return _function(value, depth, above)
    if isinstance(value, _BY_IDENTITY):
        return ("object", Same(value))
    if kind is functools.partial:
        parts = [value.func, value.args, tuple(value.keywords.items())]
        keys = [_value(v, depth, above) for v in parts]
        return None if any(k is None for k in keys) else ("partial", *keys)
    return None
