"""Find what holds a leaked tracer, and the statement that stored it.

The holder is one of the objects that refer to the value now. The statement is in the source of the
functions that were running when the value was created. Frames are no holders: those of running functions
end, and those in a traceback or debugger hold values without any store.
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

from sagax._src.diagnostics.function_wrappers import wrapped_by
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.provenance import find_creation
from sagax._src.diagnostics.source import (
    Function,
    defines_code,
    function_code,
    functions,
    line_span,
    return_span,
    span_of,
)
from sagax._src.diagnostics.spans import is_user_file, user_positions

_MAX_DEPTH = 8
_MAX_OBJECTS = 200  # objects searched in one step
_LRU_CACHE = type(functools.lru_cache(lambda: None))
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


class Holder(NamedTuple):
    """Describe what keeps a value alive.

    `name` is the variable or attribute, "" without one. `path` leads from there to the value, such as
    "[0]" or "['h']". `code` belongs to a function that stores values itself.
    """

    kind: str  # global, closure, attribute, class, cache, default, generator, local
    name: str
    path: str
    text: str  # completes "the value is kept in"
    code: Any = None
    line: int = 0


class Leak(NamedTuple):
    """Hold the holder of a leaked value, and the statement that stored it, if known."""

    holder: Holder | None
    span: Span | None


def find_leak(tracer: Any, traceback: Any = None, ignored: object = None) -> Leak:
    """Find the holder of a tracer; the frames of a traceback may refer to the holder."""
    holder = _search_modules(tracer, traceback) or find_holder(tracer, traceback, ignored)
    if holder is None:
        return Leak(None, None)
    return Leak(holder, _storing_statement(holder, tracer))


def leaked_tracers(trace: Any) -> list[Any]:
    """Return the tracers of a finished trace that are still referenced, except garbage."""
    gc.collect()  # quicker than one search for a holder
    return [tracer for tracer in _tracers_of(trace) if find_holder(tracer) is not None]


def _tracers_of(trace: Any) -> list[Any]:
    return [x for x in gc.get_referrers(trace) if getattr(x, "_trace", None) is trace]


# --- search from the value -----------------------------------------------------------------------


def find_holder(value: Any, traceback: Any = None, ignored: object = None) -> Holder | None:
    """Return what keeps `value` alive, if the user can name it and it is not running code."""
    level: list[tuple[Any, str]] = [(value, "")]
    containers: list[tuple[Any, str]] = []
    seen = {id(value), id(level), id(containers), id(ignored)}
    for _ in range(_MAX_DEPTH):
        found, above = _search_referrers(level, seen)
        if found is not None:
            return found
        if not above:
            break
        level = above[:_MAX_OBJECTS]
        containers += [(item, path) for item, path in level if type(item) in _CONTAINERS]
        seen.add(id(level))
    return _search_frames(containers, traceback)


def _search_frames(containers: list[tuple[Any, str]], traceback: Any) -> Holder | None:
    """Return the local variable of a running user function that is one of these containers."""
    paths = {id(item): path for item, path in containers}
    if not paths:
        return None
    frame = inspect.currentframe()
    frames = [found for found, _ in traceback_module.walk_stack(frame)]
    frames += [found for found, _ in traceback_module.walk_tb(traceback)]
    for found in frames:
        if is_user_file(found.f_code.co_filename):
            for name, value in list(found.f_locals.items()):
                if type(value) in _CONTAINERS and id(value) in paths:
                    path = paths[id(value)]
                    text = (
                        f"`{name}{path}`, a variable of `{_display_name(found.f_code.co_qualname)}`"
                    )
                    return Holder("local", name, path, text)
    return None


def _display_name(qualified: str) -> str:
    return qualified.replace("<locals>.", "")


def _search_referrers(
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
        if id(holder) in seen or _is_running_code(holder):
            continue
        seen.add(id(holder))
        for item in objects:
            access = _access_path(holder, item)
            if access is None:
                continue
            path = access + paths[id(item)]
            if named := _named_holder(holder, item, paths[id(item)]):
                if named.kind == "global":
                    return named, above
                candidates.append(named)
            elif not _ends_search(holder):
                above.append((holder, path))
            break
    best = min(candidates, key=lambda h: _HOLDER_PREFERENCE.index(h.kind), default=None)
    return best, above


_HOLDER_PREFERENCE = (
    "attribute",
    "class",
    "global",
    "closure",
    "cache",
    "default",
    "generator",
    "local",
)


def _is_running_code(holder: Any) -> bool:
    """Return whether an object is part of running code or of an exception."""
    if isinstance(holder, (types.FrameType, types.TracebackType, BaseException)):
        return True
    return type(holder).__name__ == "FrameLocalsProxy"


def _ends_search(holder: Any) -> bool:
    return isinstance(holder, types.ModuleType) or _is_namespace(holder)


def _is_namespace(holder: Any) -> bool:
    return type(holder) is dict and "__name__" in holder and "__builtins__" in holder


def _is_sagax_module(module: object) -> bool:
    return isinstance(module, str) and module.split(".")[0] == "sagax"


def _access_path(holder: Any, item: Any) -> str | None:
    """Return the path from a container to an item, "" if it has no notation; None if it has no item."""
    if isinstance(holder, dict):
        items: list[tuple[Any, Any]] = list(cast("dict[Any, Any]", holder).items())
        return next((f"[{k!r}]" for k, v in items if v is item), None)
    if isinstance(holder, (list, tuple, collections.deque)):
        values = list(cast("list[Any]", holder))
        return next((f"[{i}]" for i, v in enumerate(values) if v is item), None)
    return "" if any(v is item for v in gc.get_referents(holder)) else None


def _named_holder(holder: Any, item: Any, path: str) -> Holder | None:
    """Return the holder of `item`, if a user can name it."""
    if isinstance(holder, dict):
        return _dict_holder(cast("dict[Any, Any]", holder), item, path)
    if isinstance(holder, types.CellType):
        return _cell_holder(holder, path)
    if isinstance(holder, _LRU_CACHE):
        return _cache_holder(holder)
    if isinstance(holder, (types.GeneratorType, types.CoroutineType)):
        return _generator_holder(holder)
    kind = cast("type[Any]", type(holder))
    if isinstance(holder, (*_CONTAINERS, types.FunctionType, types.MethodType, functools.partial)):
        return None
    if isinstance(holder, type):
        name = next((n for n, v in vars(holder).items() if v is item), "")
        return _class_holder(holder, name, path) if name else None
    if _is_sagax_module(kind.__module__) or kind.__module__ in ("builtins", "inspect"):
        return None
    name = _attribute_name(holder, item)
    return _instance_holder(holder, name, path) if name else None


def _dict_holder(holder: dict[Any, Any], item: Any, path: str) -> Holder | None:
    name = next((k for k, v in list(holder.items()) if v is item), None)
    if not isinstance(name, str):
        return None
    if _is_namespace(holder):
        module = holder["__name__"]
        if _is_sagax_module(module):
            return None
        return _global_holder(name, module, path)
    for owner in gc.get_referrers(holder):
        if isinstance(owner, types.FrameType) and owner.f_globals is not holder:
            return None
        if isinstance(owner, _LRU_CACHE):
            return _cache_holder(owner)
        if isinstance(owner, type):
            return _class_holder(owner, name, path)
        if getattr(owner, "__dict__", None) is holder and not _is_sagax_module(
            type(owner).__module__
        ):
            return _instance_holder(owner, name, path)
    return None


def _cache_holder(cached: Any) -> Holder | None:
    """Return the holder for a function that caches its results."""
    code = function_code(cached)
    if code is None or not is_user_file(code.co_filename):
        return None
    name = _display_name(code.co_qualname)
    return Holder("cache", name, "", f"the cache of `{name}` (lru_cache)", code)


def _instance_holder(owner: Any, name: str, path: str) -> Holder:
    text = f"`.{name}{path}`, an attribute of an object of class {_display_name(type(owner).__qualname__)}"
    return Holder("attribute", name, path, text)


def _class_holder(owner: type, name: str, path: str) -> Holder | None:
    if _is_sagax_module(owner.__module__):
        return None
    text = f"`{_display_name(owner.__qualname__)}.{name}{path}`, an attribute of the class"
    return Holder("class", name, path, text)


def _attribute_name(owner: Any, item: Any) -> str:
    for name, value in list(getattr(owner, "__dict__", {}).items()):
        if value is item:
            return name
    for kind in type(owner).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if getattr(owner, name, None) is item:
                return name
    return ""


def _cell_holder(cell: types.CellType, path: str) -> Holder | None:
    """Return the holder for the variable of an enclosing function, by its cell."""
    closures: list[Any] = [t for t in gc.get_referrers(cell) if type(t) is tuple]
    for function in gc.get_referrers(*closures) if closures else ():
        if isinstance(function, types.FunctionType) and function.__closure__ in closures:
            if not is_user_file(function.__code__.co_filename):
                continue
            at = next(i for i, c in enumerate(function.__closure__ or ()) if c is cell)
            return _closure_holder(function.__code__.co_freevars[at], function.__code__, path)
    return None


def _closure_holder(name: str, code: types.CodeType, path: str) -> Holder:
    text = f"`{name}{path}`, a variable around `{_display_name(code.co_qualname)}`"
    return Holder("closure", name, path, text)


def _default_holder(name: str, code: types.CodeType, path: str) -> Holder:
    text = f"`{name}{path}`, the default of an argument of `{_display_name(code.co_qualname)}`"
    return Holder("default", name, path, text, code)


def _generator_holder(generator: Any) -> Holder | None:
    frame = getattr(generator, "gi_frame", None) or getattr(generator, "cr_frame", None)
    if frame is None or not is_user_file(frame.f_code.co_filename):
        return None
    name = frame.f_code.co_name
    text = f"the generator `{name}`, which waits in line {frame.f_lineno}"
    return Holder("generator", name, "", text, frame.f_code, frame.f_lineno)


# --- search from the modules ----------------------------------------------------------------------

_MAX_VISITS = 20_000
_MAX_ITEMS = 2_000  # items of one container


class _Reference(NamedTuple):
    """Hold a reached value, its holder, and the keys from the holder to the value."""

    value: Any
    holder: Callable[[str], Holder | None]
    keys: Any = None  # (keys before, key), a linked list

    @property
    def path(self) -> str:
        keys, path = self.keys, ""
        while keys is not None:
            keys, key = keys
            path = f"[{key!r}]" + path
        return path


def _search_modules(value: Any, traceback: Any) -> Holder | None:
    """Return the holder of `value` that is reachable from the modules that were running at its creation.

    Closure variables of these functions in the frames of a traceback count too. Most leaks are a few
    references away, and this search is quick. A search of the whole heap takes time in its size.
    """
    positions = user_positions(find_creation(value)[0])
    info = getattr(getattr(value, "_trace", None), "debug_info", None)
    codes = [position.code for position in positions]
    codes += [code for code in [getattr(info, "code", None)] if code is not None]
    files = {code.co_filename for code in codes}
    modules = [
        vars(m)
        for m in cast("list[object]", list(sys.modules.values()))
        if isinstance(m, types.ModuleType)
    ]
    level = [
        _Reference(held, functools.partial(_global_holder, name, names["__name__"]))
        for names in modules
        if names.get("__file__") in files or names.get("__name__") == "__main__"
        for name, held in list(names.items())
    ]
    around = {name: code for code in codes for name in code.co_freevars}
    for frame, _ in traceback_module.walk_tb(traceback):
        for name in sorted({*around} & {*frame.f_code.co_cellvars} & {*frame.f_locals}):
            holder_of = functools.partial(_closure_holder, name, around[name])
            level.append(_Reference(frame.f_locals[name], holder_of))
    seen = set(map(id, modules))
    visits = 0
    while level and visits < _MAX_VISITS:
        for reference in level:
            if reference.value is value and (holder := reference.holder(reference.path)):
                return holder
        visits += len(level)
        level = [inner for reference in level for inner in _referents(reference, seen)]
    return None


def _global_holder(name: str, module: str, path: str) -> Holder:
    return Holder("global", name, path, f"`{name}{path}`, a global variable of {module}")


def _referents(reference: _Reference, seen: set[int]) -> Iterator[_Reference]:
    """Yield what an object refers to, with the names that a user would give it."""
    held, holder, keys = reference
    kind = cast("type[Any]", type(held))
    if kind in _LEAF_TYPES or id(held) in seen:
        return
    seen.add(id(held))
    if kind in _CONTAINERS:
        if len(held) <= _MAX_ITEMS:
            if kind in (set, frozenset):
                yield from [_Reference(item, holder, keys) for item in list(held)]
                return
            keyed = held.items() if kind is dict else enumerate(held)
            for key, item in list(cast("Any", keyed)):
                yield _Reference(item, holder, (keys, key))
    elif kind is types.FunctionType:
        if is_user_file(held.__code__.co_filename):
            for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=False):
                with contextlib.suppress(ValueError):  # the cell is empty
                    around = functools.partial(_closure_holder, name, held.__code__)
                    yield _Reference(cell.cell_contents, around)
            code, defaults = held.__code__, held.__defaults__ or ()
            known = code.co_varnames[: code.co_argcount][-len(defaults) :]
            for name, item in zip(known, defaults, strict=False):
                yield _Reference(item, functools.partial(_default_holder, name, code))
            yield from _attribute_references(held)
    elif kind is types.MethodType:
        yield _Reference(held.__self__, holder)
        yield _Reference(held.__func__, holder)
    elif kind is functools.partial:
        for item in (held.func, *held.args, *held.keywords.values()):
            yield _Reference(item, holder)
    elif isinstance(held, type):
        for name, item in list(vars(held).items()) if not _is_sagax_module(held.__module__) else ():
            yield _Reference(item, functools.partial(_class_holder, held, name))
    elif _is_sagax_module(kind.__module__):
        if (wrapped := wrapped_by(held)) is not None:
            yield _Reference(wrapped, holder)
    elif kind.__module__ not in ("builtins", "numpy", "functools"):
        yield from _attribute_references(held)


_LEAF_TYPES = frozenset((int, float, complex, bool, str, bytes, type(None), types.ModuleType))


def _attribute_references(owner: Any) -> Iterator[_Reference]:
    for name, item in list(getattr(owner, "__dict__", {}).items()):
        yield _Reference(item, functools.partial(_instance_holder, owner, name))
    for kind in type(owner).__mro__[:-1]:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(owner, name):
                yield _Reference(
                    getattr(owner, name), functools.partial(_instance_holder, owner, name)
                )


# --- the storing statement -----------------------------------------------------------------------

_STORING_METHODS = {
    "add", "append", "appendleft", "extend", "extendleft", "insert", "put", "put_nowait", "send",
    "setdefault", "update", "__setitem__",
}  # fmt: skip


def _storing_statement(holder: Holder, tracer: Any) -> Span | None:
    if holder.kind == "generator":
        return line_span(holder.code.co_filename, holder.line, holder.line, holder.name)
    positions = user_positions(find_creation(tracer)[0])
    codes = [position.code for position in positions]  # innermost first
    lines = {id(position.code): _source_line(position) for position in positions}
    if holder.kind == "cache":
        return return_span(holder.code, lines.get(id(holder.code), 0))
    info = getattr(getattr(tracer, "_trace", None), "debug_info", None)
    traced = getattr(info, "code", None)
    if traced is not None:
        if traced in codes:
            codes = codes[: codes.index(traced) + 1]  # its callers stored nothing
        elif is_user_file(traced.co_filename):
            codes.append(traced)
    files = [code.co_filename for code in codes]
    files += _files_defining(holder.name) if holder.kind == "global" else []
    files = list({os.path.abspath(file): file for file in reversed(files)}.values())[::-1]
    known = [f for file in files for f in functions(file)]
    running = [
        (f._replace(name=_display_name(code.co_qualname)), lines.get(id(code), 0))
        for code in codes
        for f in known
        if defines_code(f, code)
    ]
    for function, after in running:
        found = _best_statements(holder, [function])
        if found:
            return span_of(next((s for s, _ in found if s.lineno >= after), found[0][0]), function)
    elsewhere = _best_statements(holder, known)
    if len(elsewhere) > 1:  # keep functions that the running ones call
        called = {
            n for function, _ in running for s in function.statements for n in _called_names(s)
        }
        elsewhere = [found for found in elsewhere if found[1].name in called]
    return span_of(*elsewhere[0]) if len(elsewhere) == 1 else None


def _best_statements(
    holder: Holder, functions_: Iterable[Function]
) -> list[tuple[ast.stmt, Function]]:
    """Return the statements with the highest score for having stored the value."""
    found = [(_storing_score(holder, s, f), s, f) for f in functions_ for s in f.statements]
    best = max((score for score, _, _ in found), default=0)
    return [(s, f) for score, s, f in found if score == best > 0]


def _called_names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", getattr(node.func, "attr", ""))


_MAX_FILES = 8


def _files_defining(name: str) -> list[str]:
    """Return the files of modules with a variable of this name, which may define the container."""
    modules = cast("list[object]", list(sys.modules.values()))
    found = [
        vars(m).get("__file__")
        for m in modules
        if isinstance(m, types.ModuleType) and name in vars(m)
    ]
    return [file for file in found if isinstance(file, str) and is_user_file(file)][:_MAX_FILES]


def _source_line(position: Any) -> int:
    positions = list(position.code.co_positions())
    return positions[position.offset // 2][0] or 0


def _storing_score(holder: Holder, statement: ast.stmt, function: Function) -> int:
    """Return 2 if a statement may have stored the value, 1 if it may have stored its container."""
    name, within = holder.name, bool(holder.path)
    whole = 1 if within else 2
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr=method)) if (
                method in _STORING_METHODS
            ):
                if within and _goes_through(base, name):
                    return 2
            case ast.Call(func=ast.Name(id="setattr"), args=[_, attr, *_]):
                if not isinstance(attr, ast.Constant):
                    return 1  # any attribute
                if attr.value == name:
                    return whole
            case ast.Subscript(value=base, ctx=ast.Store()):
                if _goes_through(base, name):
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


def _goes_through(node: ast.expr, name: str) -> bool:
    """Return whether an expression goes through the variable or attribute `name`."""
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
