"""Compare function objects by meaning, for cache keys.

A `def` or `lambda` that runs repeatedly creates distinct functions. Those with equal numbers and the same
functions in their closures compute the same. `jit` and control flow share traces and executables among them, so
that a lambda inside a loop or a recursion is compiled only the first time.
"""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_BY_IDENTITY = (types.ModuleType, type, types.BuiltinFunctionType)
_DEPTH = 4


class Same:
    """An object compared by identity, and kept alive so that its id stays unique."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.value is self.value


def function_key(fun: types.FunctionType) -> tuple | None:
    """Return a key that functions of the same meaning share, or None.

    Only nested functions have one: functions of a module are unique. Values other than plain numbers and
    texts, functions, classes and modules (arrays above all) yield None, since a key would keep them alive.
    """
    if fun.__closure__ is None and "<" not in fun.__qualname__:
        return None
    return _function(fun, _DEPTH, ())


def combined_key(*objects: Any) -> tuple | None:
    """Return a key for functions and constants together, or None.

    Functions of a module have one too here, which includes the globals that they read.
    """
    keys = [
        _function(x, _DEPTH, ()) if type(x) is types.FunctionType else _value(x, _DEPTH, ())
        for x in objects
    ]
    return None if any(k is None for k in keys) else tuple(keys)


def origin(fun: Any) -> Any:
    """Return a key for the code that created a function, or None."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    code = getattr(fun, "__code__", None)
    return None if code is None else Same(code)


def _function(fun: types.FunctionType, depth: int, above: tuple) -> tuple | None:
    if fun in above:  # a recursive function
        return ("above", above.index(fun))
    transformation = fun.__dict__.get("_transformation")
    if transformation is not None:  # a sagax transformation, which has no other dependencies
        keys = [
            _value(transformation.key, depth, above),
            _value(transformation.fun, depth - 1, (*above, fun)),
        ]
        return None if any(k is None for k in keys) else ("transformed", *keys)
    if depth == 0 or (fun.__dict__ and set(fun.__dict__) != {"__wrapped__"}):
        return None
    values = [
        fun.__defaults__,
        tuple((fun.__kwdefaults__ or {}).items()),
        fun.__dict__.get("__wrapped__"),
    ]
    code = fun.__code__
    for name, cell in zip(code.co_freevars, fun.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # an empty cell
            return None
        if type(value) is not int or name not in _counters(code):
            values.append(value)
    # its globals may have been rebound since the previous function of this code
    read = fun.__globals__
    for name in _names(code):
        if name in read and (type(read[name]) is not int or name not in _counters(code)):
            values.append(read[name])
    keys = [_value(v, depth - 1, (*above, fun)) for v in values]
    if any(k is None for k in keys):
        return None
    return (Same(code), Same(fun.__globals__), *keys)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """Return the global names that code, and nested code, may read."""
    found = dict.fromkeys(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found.update(dict.fromkeys(_names(const)))
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def _counters(code: types.CodeType) -> frozenset[str]:
    """Return the outer variables that code, and nested code, only counts up, as by `calls += 1`.

    The program that a trace records does not depend on them.
    """
    counted: set[str] = set()
    other: set[str] = set()
    instructions = [
        i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "NOP")
    ]
    for k, loaded in enumerate(instructions):
        if loaded.opname not in ("LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME"):
            continue
        number, add, store = [*instructions[k + 1 : k + 4], *[loaded] * 3][:3]
        counts = (
            number.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
            and (add.opname, add.argrepr) in (("BINARY_OP", "+="), ("BINARY_OP", "-="))
            and store.opname.startswith("STORE_")
            and store.argval == loaded.argval
        )
        (counted if counts else other).add(loaded.argval)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            within = _counters(const)
            counted |= within
            other |= {*const.co_freevars, *const.co_names} - within
    return frozenset(counted - other)


def _value(value: Any, depth: int, above: tuple) -> tuple | None:
    kind = type(value)
    if kind in _PLAIN:
        return (
            (kind, repr(value)) if kind in (float, complex) else (kind, value)
        )  # distinguishes 0.0 and -0.0
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
