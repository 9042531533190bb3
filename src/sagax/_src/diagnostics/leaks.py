"""Traced values that outlive their function: what holds them, and the statement that put them there.

The holder is found among the objects that refer to the value at this moment, the statement in the
source of the functions that were running when the value was made. Frames do not count as holders:
those of running functions go when they return, and those kept by a debugger or by the traceback of
an exception hold values that nobody stored.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
import gc
import inspect
import os
import sys
import traceback as traceback_module
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast

from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.provenance import creation
from sagax._src.diagnostics.source import (
    Function,
    function_code,
    functions,
    is_of,
    lines_of,
    returned,
    span_of,
)
from sagax._src.diagnostics.spans import is_users, user_places

__all__ = ["Holder", "Leak", "find", "find_holder", "survivors"]

_DEPTH = 8
_WIDTH = 200  # objects looked at in one step
_CACHE = type(functools.lru_cache(lambda: None))
_PLAIN = (list, tuple, dict, set, frozenset, collections.deque)


class Holder(NamedTuple):
    """What keeps a value alive.

    `name` is that of a variable or attribute, "" for what has none; `path` leads from there to the
    value, such as "[0]" or "['h']"; `code` is that of a function which keeps values by itself.
    """

    kind: str  # global, closure, attribute, class, cache, default, generator, local
    name: str
    path: str
    text: str  # completes "the value is kept in"
    code: Any = None
    line: int = 0


class Leak(NamedTuple):
    """Where a value went: its holder, and the statement that stored it if that is known."""

    holder: Holder | None
    span: Span | None


def find(tracer: Any, traceback: Any = None, ignored: object = None) -> Leak:
    """Where a traced value leaked to; the frames of a traceback may hold what it was stored in."""
    holder = _reached(tracer, traceback) or find_holder(tracer, traceback, ignored)
    if holder is None:
        return Leak(None, None)
    return Leak(holder, _statement(holder, tracer))


def survivors(trace: Any) -> list[Any]:
    """The tracers of a trace that is over which something still holds, garbage excepted."""
    if not any(map(find_holder, _tracers_of(trace))):
        return []
    gc.collect()
    return [tracer for tracer in _tracers_of(trace) if find_holder(tracer) is not None]


def _tracers_of(trace: Any) -> list[Any]:
    return [x for x in gc.get_referrers(trace) if getattr(x, "_trace", None) is trace]


# --- who holds a value ---------------------------------------------------------------------------


def find_holder(value: Any, traceback: Any = None, ignored: object = None) -> Holder | None:
    """What keeps `value` alive, of what a user can name; None when only running code does."""
    level: list[tuple[Any, str]] = [(value, "")]
    containers: list[tuple[Any, str]] = []
    seen = {id(value), id(level), id(containers), id(ignored)}
    for _ in range(_DEPTH):
        found, above = _step(level, seen)
        if found is not None:
            return found
        if not above:
            break
        level = above[:_WIDTH]
        containers += [(item, path) for item, path in level if type(item) in _PLAIN]
        seen.add(id(level))
    return _in_frames(containers, traceback)


def _in_frames(containers: list[tuple[Any, str]], traceback: Any) -> Holder | None:
    """The local variable of a running function of the user's that is one of these containers."""
    paths = {id(item): path for item, path in containers}
    if not paths:
        return None
    frame = inspect.currentframe()
    frames = [found for found, _ in traceback_module.walk_stack(frame)]
    frames += [found for found, _ in traceback_module.walk_tb(traceback)]
    for found in frames:
        if is_users(found.f_code.co_filename):
            for name, value in list(found.f_locals.items()):
                if type(value) in _PLAIN and id(value) in paths:
                    path = paths[id(value)]
                    text = f"`{name}{path}`, a variable of `{_plain(found.f_code.co_qualname)}`"
                    return Holder("local", name, path, text)
    return None


def _plain(qualified: str) -> str:
    return qualified.replace("<locals>.", "")


def _step(
    level: list[tuple[Any, str]], seen: set[int]
) -> tuple[Holder | None, list[tuple[Any, str]]]:
    objects = [item for item, _ in level]
    paths = {id(item): path for item, path in level}
    seen.update(map(id, (objects, paths, *level)))
    above: list[tuple[Any, str]] = []
    seen.add(id(above))
    referrers = gc.get_referrers(*objects)
    seen.add(id(referrers))
    candidates: list[Holder] = []
    referrers.sort(key=_is_namespace, reverse=True)  # what is in one needs no further search
    for holder in referrers:
        if id(holder) in seen or _is_passing(holder):
            continue
        seen.add(id(holder))
        for item in objects:
            how = _access(holder, item)
            if how is None:
                continue
            path = how + paths[id(item)]
            if named := _named(holder, item, paths[id(item)], how):
                if named.kind == "global":
                    return named, above
                candidates.append(named)
            elif not _is_a_dead_end(holder):
                above.append((holder, path))
            break
    best = min(candidates, key=lambda h: _ORDER.index(h.kind), default=None)
    return best, above


_ORDER = ("attribute", "class", "global", "closure", "cache", "default", "generator", "local")


def _is_passing(holder: Any) -> bool:
    """Whether an object is part of running code, or of an exception."""
    if isinstance(holder, (types.FrameType, types.TracebackType, BaseException)):
        return True
    return type(holder).__name__ == "FrameLocalsProxy"


def _is_a_dead_end(holder: Any) -> bool:
    return isinstance(holder, types.ModuleType) or _is_namespace(holder)


def _is_namespace(holder: Any) -> bool:
    return type(holder) is dict and "__name__" in holder and "__builtins__" in holder


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.split(".")[0] == "sagax"


def _access(holder: Any, item: Any) -> str | None:
    """How one comes from a container to what it holds; "" where there is no way to write it."""
    if isinstance(holder, dict):
        items: list[tuple[Any, Any]] = list(cast("dict[Any, Any]", holder).items())
        return next((f"[{k!r}]" for k, v in items if v is item), None)
    if isinstance(holder, (list, tuple, collections.deque)):
        values = list(cast("list[Any]", holder))
        return next((f"[{i}]" for i, v in enumerate(values) if v is item), None)
    return "" if any(v is item for v in gc.get_referents(holder)) else None


def _named(holder: Any, item: Any, path: str, how: str) -> Holder | None:
    """The holder of `item` if a user can name it."""
    if isinstance(holder, dict):
        return _of_dict(cast("dict[Any, Any]", holder), item, path, how)
    if isinstance(holder, types.CellType):
        return _of_cell(holder, path)
    if isinstance(holder, _CACHE):
        return _of_cache(holder)
    if isinstance(holder, (types.GeneratorType, types.CoroutineType)):
        return _of_generator(holder)
    kind = cast("type[Any]", type(holder))
    if isinstance(holder, (*_PLAIN, types.FunctionType, types.MethodType, functools.partial)):
        return None
    if isinstance(holder, type):
        name = next((n for n, v in vars(holder).items() if v is item), "")
        return _of_class(holder, name, path) if name else None
    if _is_ours(kind.__module__) or kind.__module__ in ("builtins", "inspect"):
        return None
    name = _attribute(holder, item)
    return _of_instance(holder, name, path) if name else None


def _of_dict(holder: dict[Any, Any], item: Any, path: str, how: str) -> Holder | None:
    name = next((k for k, v in list(holder.items()) if v is item), None)
    if not isinstance(name, str):
        return None
    if _is_namespace(holder):
        module = holder["__name__"]
        if _is_ours(module):
            return None
        return _of_module(name, module, path)
    for owner in gc.get_referrers(holder):
        if isinstance(owner, types.FrameType) and owner.f_globals is not holder:
            return None
        if isinstance(owner, _CACHE):
            return _of_cache(owner)
        if isinstance(owner, type):
            return _of_class(owner, name, path)
        if getattr(owner, "__dict__", None) is holder and not _is_ours(type(owner).__module__):
            return _of_instance(owner, name, path)
    return None


def _of_cache(cached: Any) -> Holder | None:
    """A function that keeps its results."""
    code = function_code(cached)
    if code is None or not is_users(code.co_filename):
        return None
    name = _plain(code.co_qualname)
    return Holder("cache", name, "", f"the cache of `{name}` (lru_cache)", code)


def _of_instance(owner: Any, name: str, path: str) -> Holder:
    text = f"`.{name}{path}`, an attribute of an object of class {_plain(type(owner).__qualname__)}"
    return Holder("attribute", name, path, text)


def _of_class(owner: type, name: str, path: str) -> Holder | None:
    if _is_ours(owner.__module__):
        return None
    where = f"`{_plain(owner.__qualname__)}.{name}{path}`, an attribute of the class"
    return Holder("class", name, path, where)


def _attribute(owner: Any, item: Any) -> str:
    for name, value in list(getattr(owner, "__dict__", {}).items()):
        if value is item:
            return name
    for kind in type(owner).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if getattr(owner, name, None) is item:
                return name
    return ""


def _of_cell(cell: types.CellType, path: str) -> Holder | None:
    """The variable of an enclosing function that a cell stands for."""
    closures: list[Any] = [t for t in gc.get_referrers(cell) if type(t) is tuple]
    for function in gc.get_referrers(*closures) if closures else ():
        if isinstance(function, types.FunctionType) and function.__closure__ in closures:
            if not is_users(function.__code__.co_filename):
                continue
            at = next(i for i, c in enumerate(function.__closure__ or ()) if c is cell)
            return _of_variable(function.__code__.co_freevars[at], function.__code__, path)
    return None


def _of_variable(name: str, code: types.CodeType, path: str) -> Holder:
    text = f"`{name}{path}`, a variable around `{_plain(code.co_qualname)}`"
    return Holder("closure", name, path, text)


def _of_default(name: str, code: types.CodeType, path: str) -> Holder:
    text = f"`{name}{path}`, the default of an argument of `{_plain(code.co_qualname)}`"
    return Holder("default", name, path, text, code)


def _of_generator(generator: Any) -> Holder | None:
    frame = getattr(generator, "gi_frame", None) or getattr(generator, "cr_frame", None)
    if frame is None or not is_users(frame.f_code.co_filename):
        return None
    name = frame.f_code.co_name
    text = f"the generator `{name}`, which waits in line {frame.f_lineno}"
    return Holder("generator", name, "", text, frame.f_code, frame.f_lineno)


# --- what the user's modules lead to --------------------------------------------------------------

_MOST_VISITS = 20_000
_LONGEST = 2_000  # items of one container


class _Way(NamedTuple):
    """A value that was come to: the holder it hangs on, and the keys that lead from there to it."""

    value: Any
    holder: Callable[[str], Holder | None]
    keys: Any = None  # (keys before, key): put together when the value is the one looked for

    @property
    def path(self) -> str:
        keys, path = self.keys, ""
        while keys is not None:
            keys, key = keys
            path = f"[{key!r}]" + path
        return path


def _reached(value: Any, traceback: Any) -> Holder | None:
    """The holder of `value` among what can be reached from the modules that were running when it was made.

    Of the variables of the frames of a traceback, those that the functions of that time close over count too.

    Most values are kept where a few steps lead from there, and those are quickly made. Only the rest is
    worth a look through the whole heap, which takes as long as all that is alive is large.
    """
    places = user_places(creation(value)[0])
    info = getattr(getattr(value, "_trace", None), "debug_info", None)
    codes = [place.code for place in places]
    codes += [code for code in [getattr(info, "code", None)] if code is not None]
    files = {code.co_filename for code in codes}
    modules = [
        vars(m)
        for m in cast("list[object]", list(sys.modules.values()))
        if isinstance(m, types.ModuleType)
    ]
    level = [
        _Way(held, functools.partial(_of_module, name, names["__name__"]))
        for names in modules
        if names.get("__file__") in files or names.get("__name__") == "__main__"
        for name, held in list(names.items())
    ]
    around = {name: code for code in codes for name in code.co_freevars}
    for frame, _ in traceback_module.walk_tb(traceback):
        for name in sorted({*around} & {*frame.f_code.co_cellvars} & {*frame.f_locals}):
            how = functools.partial(_of_variable, name, around[name])
            level.append(_Way(frame.f_locals[name], how))
    seen = set(map(id, modules))
    visits = 0
    while level and visits < _MOST_VISITS:
        for way in level:
            if way.value is value and (holder := way.holder(way.path)) is not None:
                return holder
        visits += len(level)
        level = [inner for way in level for inner in _inside(way, seen)]
    return None


def _of_module(name: str, module: str, path: str) -> Holder:
    return Holder("global", name, path, f"`{name}{path}`, a global variable of {module}")


def _inside(way: _Way, seen: set[int]) -> Iterator[_Way]:
    """What an object holds, with what a user would call it."""
    held = way.value
    kind = cast("type[Any]", type(held))
    if kind in _ATOMS or id(held) in seen:
        return
    seen.add(id(held))
    if kind in _PLAIN:
        if len(held) <= _LONGEST:
            if kind in (set, frozenset):
                yield from [_Way(item, way.holder, way.keys) for item in list(held)]
                return
            keyed = held.items() if kind is dict else enumerate(held)
            for key, item in list(cast("Any", keyed)):
                yield _Way(item, way.holder, (way.keys, key))
    elif kind is types.FunctionType:
        if is_users(held.__code__.co_filename):
            for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=False):
                with contextlib.suppress(ValueError):  # nothing is in it yet
                    around = functools.partial(_of_variable, name, held.__code__)
                    yield _Way(cell.cell_contents, around)
            code, defaults = held.__code__, held.__defaults__ or ()
            known = code.co_varnames[: code.co_argcount][-len(defaults) :]
            for name, item in zip(known, defaults, strict=False):
                yield _Way(item, functools.partial(_of_default, name, code))
            yield from _attributes(held)
    elif kind is types.MethodType:
        yield _Way(held.__self__, way.holder)
        yield _Way(held.__func__, way.holder)
    elif kind is functools.partial:
        for item in (held.func, *held.args, *held.keywords.values()):
            yield _Way(item, way.holder)
    elif isinstance(held, type):
        for name, item in list(vars(held).items()) if not _is_ours(held.__module__) else ():
            yield _Way(item, functools.partial(_of_class, held, name))
    elif _is_ours(kind.__module__):
        if (wrapped := getattr(held, "__wrapped__", None)) is not None:
            yield _Way(wrapped, way.holder)
    elif kind.__module__ not in ("builtins", "numpy", "functools"):
        yield from _attributes(held)


_ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None), types.ModuleType))


def _attributes(owner: Any) -> Iterator[_Way]:
    for name, item in list(getattr(owner, "__dict__", {}).items()):
        yield _Way(item, functools.partial(_of_instance, owner, name))
    for kind in type(owner).__mro__[:-1]:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(owner, name):
                yield _Way(getattr(owner, name), functools.partial(_of_instance, owner, name))


# --- the statement that stored it ----------------------------------------------------------------

_STORING = {
    "add", "append", "appendleft", "extend", "extendleft", "insert", "put", "put_nowait", "send",
    "setdefault", "update", "__setitem__",
}  # fmt: skip


def _statement(holder: Holder, tracer: Any) -> Span | None:
    if holder.kind == "generator":
        return lines_of(holder.code.co_filename, holder.line, holder.line, holder.name)
    places = user_places(creation(tracer)[0])
    codes = [place.code for place in places]  # innermost first
    lines = {id(place.code): _line(place) for place in places}
    if holder.kind == "cache":
        return returned(holder.code, lines.get(id(holder.code), 0))
    info = getattr(getattr(tracer, "_trace", None), "debug_info", None)
    traced = getattr(info, "code", None)
    if traced is not None:
        if traced in codes:
            codes = codes[: codes.index(traced) + 1]  # what called it stored nothing
        elif is_users(traced.co_filename):
            codes.append(traced)
    files = [code.co_filename for code in codes]
    files += _files_with(holder.name) if holder.kind == "global" else []
    files = list({os.path.abspath(file): file for file in reversed(files)}.values())[::-1]
    known = [f for file in files for f in functions(file)]
    running = [
        (f._replace(name=_plain(code.co_qualname)), lines.get(id(code), 0))
        for code in codes
        for f in known
        if is_of(f, code)
    ]
    for function, after in running:
        found = _likeliest(holder, [function])
        if found:
            return span_of(next((s for s, _ in found if s.lineno >= after), found[0][0]), function)
    elsewhere = _likeliest(holder, known)
    if len(elsewhere) > 1:  # in what those that were running call
        called = {n for function, _ in running for s in function.statements for n in _called(s)}
        elsewhere = [found for found in elsewhere if found[1].name in called]
    return span_of(*elsewhere[0]) if len(elsewhere) == 1 else None


def _likeliest(holder: Holder, functions_: Iterable[Function]) -> list[tuple[ast.stmt, Function]]:
    """The statements that may have stored the value; of those that store it itself, no others."""
    found = [(_stores(holder, s, f), s, f) for f in functions_ for s in f.statements]
    most = max((how for how, _, _ in found), default=0)
    return [(s, f) for how, s, f in found if how == most > 0]


def _called(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", getattr(node.func, "attr", ""))


_MOST_FILES = 8


def _files_with(name: str) -> list[str]:
    """The files of modules that have a variable of this name: the container may be imported from one."""
    modules = cast("list[object]", list(sys.modules.values()))
    found = [
        vars(m).get("__file__")
        for m in modules
        if isinstance(m, types.ModuleType) and name in vars(m)
    ]
    return [file for file in found if isinstance(file, str) and is_users(file)][:_MOST_FILES]


def _line(place: Any) -> int:
    positions = list(place.code.co_positions())
    return positions[place.offset // 2][0] or 0


def _stores(holder: Holder, statement: ast.stmt, function: Function) -> int:
    """Whether a statement may have put the value where it was found: 2; 1 if it may have put there what
    holds the value.
    """
    name, within = holder.name, bool(holder.path)
    whole = 1 if within else 2
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr=method)) if method in _STORING:
                if within and _leads_to(base, name):
                    return 2
            case ast.Call(func=ast.Name(id="setattr"), args=[_, attr, *_]):
                if not isinstance(attr, ast.Constant):
                    return 1  # any attribute
                if attr.value == name:
                    return whole
            case ast.Subscript(value=base, ctx=ast.Store()):
                if _leads_to(base, name):
                    return 2
            case ast.Attribute(attr=attr, ctx=ast.Store()):
                if attr == name and holder.kind != "closure":
                    return whole
            case ast.Name(id=variable, ctx=ast.Store()):
                if variable == name and name in function.declared:
                    return whole
            case ast.AugAssign(target=ast.Name(id=variable)):
                if within and variable == name:
                    return 2
            case _:
                pass
    return 0


def _leads_to(node: ast.expr, name: str) -> bool:
    """Whether an expression goes through the variable or attribute `name`."""
    while True:
        match node:
            case ast.Name(id=found):
                return found == name
            case ast.Attribute(value=inner, attr=found):
                if found == name:
                    return True
                node = inner
            case ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case _:
                return False
