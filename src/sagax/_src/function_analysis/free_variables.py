"""Find the free variables of a function: globals, closure variables and attributes.

They are found in the bytecode of the function and of the user's functions that it refers to. `record_execution`
records which instructions a trace executes, so that a variable of an untaken branch does not count.
"""

from __future__ import annotations

import enum
import functools
import sys
import threading
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any, Final, NamedTuple

import numpy as np

from sagax._src import fork_locks
from sagax._src.core import dtypes
from sagax._src.core.trace import is_concrete
from sagax._src.diagnostics.function_wrappers import wrapped_by
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.frozen_class import record
from sagax._src.function_analysis import bytecode

MISSING: Final = type("Missing", (), {"__repr__": lambda self: "<not defined>"})()

_MAX_CODES = 64
_MAX_VARIABLES = 256
_LONGEST_TUPLE = 64
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))

# --- comparison of values ------------------------------------------------------------------------


def is_value(x: Any) -> bool:
    """Return whether `x` is a watched value: a number, a string, an array, or a tuple of these."""
    kind = type(x)
    if kind in _PLAIN or is_concrete(x) or isinstance(x, (np.dtype, enum.Enum)):
        return True
    if kind is tuple:
        return len(x) <= _LONGEST_TUPLE and all(map(is_value, x))
    return isinstance(x, (np.ndarray, np.generic)) and dtypes.is_numeric_dtype(x.dtype)


def same(a: Any, b: Any) -> bool:
    """Return whether an executable for the value `a` is valid for `b`: equal, of the same type."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)  # repr equates nan and nan, and distinguishes 0.0 and -0.0
    if type(a) is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    if is_concrete(a):
        if a.aval is not b.aval or a.is_deleted() or b.is_deleted():
            return False
        return a.host().tobytes() == b.host().tobytes()
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(a == b)


_NOTHING: Final[Mapping[str, Any]] = types.MappingProxyType({})

# --- resolution of names -------------------------------------------------------------------------


class Link(NamedTuple):
    """One step to a value: its kind, container and key, and the value at the time of the analysis."""

    kind: str  # "dict", "cell", "attribute", "item"
    holder: Any
    key: Any
    value: Any


@record(slots=True, eq=False)
class FreeVariable:
    """A free variable, and the steps from a name to its value."""

    text: str
    links: tuple[Link, ...]
    value: Any
    code: CodeType
    offset: int
    line: int

    def now(self) -> Any:
        """Return the current value, or MISSING."""
        first, *rest = self.links
        value = fetch(first.kind, first.holder, first.key)
        for link in rest:
            if value is MISSING:
                break
            value = fetch(link.kind, value, link.key)
        return value


def fetch(kind: str, holder: Any, key: Any) -> Any:
    """Return the result of one step of a load, or MISSING."""
    try:
        if kind == "dict":
            return holder.get(key, MISSING)
        if kind == "attribute":
            return getattr(holder, key, MISSING)
        return holder.cell_contents if kind == "cell" else holder[key]
    except (ValueError, LookupError, TypeError, AttributeError):
        return MISSING


class _Scope(NamedTuple):
    """The values of a code object's names."""

    globals: dict[str, Any]
    cells: Mapping[str, Any]
    bound: Mapping[str, Any]  # parameters with known values


def find_free_variables(fun: Any, bound: Mapping[str, Any]) -> list[FreeVariable]:
    """Return the captured values that `fun`, and the user's functions it refers to, may read.

    `bound` has the values of known parameters, such as a static `self`, and an `Instance` for those whose
    class alone is known.
    """
    todo: list[tuple[CodeType, _Scope]] = []
    seen: set[Any] = set()
    codes: list[CodeType] = []
    variables: dict[Any, FreeVariable] = {}

    def enter(function: Any, known: Mapping[str, Any] = _NOTHING, first: tuple = ()) -> None:
        while True:
            if isinstance(function, types.MethodType):
                function, first = function.__func__, (function.__self__, *first)
            elif isinstance(function, functools.partial):
                known = {**function.keywords, **known}
                function, first = function.func, (*function.args, *first)
            elif not isinstance(function, types.FunctionType) and wrapped_by(function) is not None:
                function = wrapped_by(function)
            else:
                break
        if not isinstance(function, types.FunctionType) or not _is_own(function.__code__):
            return
        code = function.__code__
        cells = bytecode.cells_of(function)
        here = {**known, **dict(zip(code.co_varnames[: code.co_argcount], first, strict=False))}
        todo.append((code, _Scope(function.__globals__, cells, here)))
        original = function.__dict__.get("__wrapped__")
        if original is not None:
            enter(original, known, first)

    enter(fun, bound)
    while todo and len(seen) < _MAX_CODES and len(variables) < _MAX_VARIABLES:
        code, scope = todo.pop()
        key = (id(code), *((name, id(value)) for name, value in scope.bound.items()))
        if key in seen:
            continue
        seen.add(key)
        codes.append(code)
        found = bytecode.scan(code)
        bound_here = {n: v for n, v in scope.bound.items() if n not in found.rebound}
        inside = _Scope(scope.globals, scope.cells, bound_here)
        todo.extend((c, _narrowed(c, inside)) for c in found.inner)
        for load in found.loads:
            read = _follow(load, inside, code, enter)
            if read is not None:
                variables.setdefault(
                    (id(code), load.offset, *[(id(x.holder), x.key) for x in read.links]), read
                )
    stored = frozenset[Any]().union(*(bytecode.scan(code).stored for code in codes))
    # Names that the function itself assigns are not free.
    return [read for read in variables.values() if read.links[-1].key not in stored]


def _narrowed(code: CodeType, scope: _Scope) -> _Scope:
    """Return the scope of an inner function: the variables that it closes over."""
    free = set(code.co_freevars)
    return _Scope(
        scope.globals,
        {n: c for n, c in scope.cells.items() if n in free},
        {n: v for n, v in scope.bound.items() if n in free},
    )


@functools.lru_cache(maxsize=2048)
def _is_own_file(file: str) -> bool:
    return is_user_file(file) and "site-packages" not in file and "dist-packages" not in file


def _is_own(code: CodeType) -> bool:
    return _is_own_file(code.co_filename)


def _follow(load: bytecode.Load, scope: _Scope, code: CodeType, enter: Any) -> FreeVariable | None:
    """Follow a load to its value, if it is watched, and enter functions on the path."""
    links: list[Link] = []
    text = load.name
    if load.root != "global" and load.name in scope.bound:
        value = scope.bound[load.name]
        if not load.steps:  # the object itself is compared by identity
            return None
    elif load.root == "global":
        value = scope.globals.get(load.name, MISSING)
        links.append(Link("dict", scope.globals, load.name, value))
    elif load.root == "cell" and load.name in scope.cells:
        value = fetch("cell", scope.cells[load.name], None)
        links.append(Link("cell", scope.cells[load.name], load.name, value))
    else:
        return None
    end: Any = ("end", None)
    for kind, key in (*load.steps, end):
        if value is MISSING:
            return None
        if links and is_value(value):
            return FreeVariable(text, tuple(links), value, code, load.offset, load.line)
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            enter(value)
            return None
        if kind == "end":
            _enter_callable(value, enter)
            return None
        if kind == "item":
            if type(value) not in (dict, list, tuple):
                return None
            links.append(Link("item", value, key, fetch("item", value, key)))
            text += f"[{key!r}]"
        else:
            step = _attribute(value, key, enter)
            if step is None:
                return None
            links.append(step)
            text += f".{key}"
        value = links[-1].value
    return None


def _enter_callable(value: Any, enter: Any) -> None:
    """Enter a callable object: a jitted function or an instance with `__call__`."""
    if isinstance(value, type):
        return
    if wrapped_by(value) is not None:
        enter(value)
    else:
        call = getattr(type(value), "__call__", None)  # noqa: B004  what runs, not whether
        if isinstance(call, types.FunctionType):
            enter(types.MethodType(call, value))


class Instance:
    """A traced object with a known class: its methods are known, its attributes are not."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind


def instance_of(x: Any) -> Instance | None:
    """Return the structure of a traced argument, if its class is user-defined."""
    module = sys.modules.get(type(x).__module__)
    file = getattr(module, "__file__", None) or "<typed in>"
    return Instance(type(x)) if type(x).__module__ != "builtins" and _is_own_file(file) else None


def _attribute(value: Any, name: str, enter: Any) -> Link | None:
    """Look up an attribute without running code, and enter methods and properties."""
    if isinstance(value, types.ModuleType):
        if not _is_own_file(getattr(value, "__file__", None) or "<frozen "):
            return None
        return Link("dict", vars(value), name, vars(value).get(name, MISSING))
    if isinstance(value, type):
        kind, own = value, None
    elif isinstance(value, Instance):
        kind, own = value.kind, None
    else:
        kind, own = type(value), getattr(value, "__dict__", None)
    on_class: Any = MISSING
    for base in kind.__mro__:
        if name in vars(base):
            on_class = vars(base)[name]
            break
    if isinstance(on_class, types.MemberDescriptorType):  # a slot
        if isinstance(value, Instance):
            return None
        return Link("attribute", value, name, fetch("attribute", value, name))
    if isinstance(on_class, (property, functools.cached_property)):
        function = on_class.fget if isinstance(on_class, property) else on_class.func
        if function is not None and value is not kind:
            enter(types.MethodType(function, value))
        return None
    if isinstance(own, dict) and name in own:
        return Link("attribute", value, name, own[name])
    if on_class is MISSING:
        return None
    if isinstance(on_class, staticmethod):
        enter(on_class.__func__)
        return None
    if isinstance(on_class, classmethod):
        enter(types.MethodType(on_class.__func__, kind))
        return None
    if hasattr(type(on_class), "__get__") or wrapped_by(on_class) is not None:
        if value is not kind and callable(on_class):
            enter(types.MethodType(on_class, value))
        elif callable(on_class):
            enter(on_class)
        return None
    if isinstance(value, Instance):  # an instance attribute may shadow it
        return None
    return Link("attribute", value, name, on_class)


# --- executed instructions -------------------------------------------------------------------------


class Executed:
    """The executed instructions of the observed code objects."""

    __slots__ = ("positions", "whole")

    def __init__(self) -> None:
        self.positions: set[tuple[int, int]] = set()  # id of the code, offset
        self.whole: set[int] = set()  # code whose earlier trace was reused

    def __contains__(self, read: FreeVariable) -> bool:
        return (id(read.code), read.offset) in self.positions or id(read.code) in self.whole


class _Local(threading.local):
    active: tuple[Executed, ...] = ()


_local = _Local()


def reused(functions: Iterable[Any]) -> None:
    """Report to the current traces that the trace of these functions was reused."""
    if not _local.active:
        return
    for function in functions:
        if callable(function):
            mark_reused(find_free_variables(function, _NOTHING))


def mark_reused(found: Iterable[FreeVariable]) -> None:
    """Mark free variables as reused, given the executed instructions."""
    if _local.active:
        positions = [(id(read.code), read.offset) for read in found]
        for executed in _local.active:
            executed.positions.update(positions)


@contextmanager
def record_execution(codes: Mapping[int, CodeType]) -> Iterator[Executed]:
    """Record the instructions of code objects (by id) that this thread executes in the block."""
    executed = Executed()
    before = _local.active
    _local.active = (*before, executed)
    try:
        with _watched(codes, executed):
            yield executed
    finally:
        _local.active = before


if sys.version_info >= (3, 12):
    _monitoring = sys.monitoring
    _TOOLS = (4, 3)  # ids without a conventional use
    _lock = fork_locks.lock()
    _tool: list[int] = []
    _users: Counter[int] = Counter()

    def _on_instruction(code: CodeType, offset: int) -> Any:
        active = _local.active
        for executed in active:
            executed.positions.add((id(code), offset))
        # disable the event unless another trace waits for it
        return _monitoring.DISABLE if active and _users[id(code)] == 1 else None

    def _acquire() -> bool:
        if _tool:
            return True
        for number in _TOOLS:
            if _monitoring.get_tool(number) is None:
                _monitoring.use_tool_id(number, "sagax")
                _monitoring.register_callback(
                    number, _monitoring.events.INSTRUCTION, _on_instruction
                )
                _tool.append(number)
                return True
        return False

    @contextmanager
    def _watched(codes: Mapping[int, CodeType], executed: Executed) -> Iterator[None]:
        with _lock:
            if not _acquire():  # other tools use all ids: assume that every instruction runs
                executed.whole.update(codes)
                codes = {}
            for key, code in codes.items():
                _users[key] += 1
                if _users[key] == 2:  # enable events again that were disabled
                    _monitoring.set_local_events(_tool[0], code, 0)
                _monitoring.set_local_events(_tool[0], code, _monitoring.events.INSTRUCTION)
        try:
            yield
        finally:
            with _lock:
                for key, code in codes.items():
                    _users[key] -= 1
                    if not _users[key]:
                        del _users[key]
                        _monitoring.set_local_events(_tool[0], code, 0)
                if not _users and _tool:
                    number = _tool.pop()
                    _monitoring.register_callback(number, _monitoring.events.INSTRUCTION, None)
                    _monitoring.free_tool_id(number)

else:

    @contextmanager
    def _watched(codes: Mapping[int, CodeType], executed: Executed) -> Iterator[None]:
        before = sys.gettrace()
        debugged = before is not None and not getattr(before, "of_sagax", False)
        if debugged or not any(bytecode.scan(code).branches for code in codes.values()):
            # This Python version has no cheap events, and a debugger needs the hook.
            executed.whole.update(codes)
            yield
            return

        def each(frame: Any, event: Any, arg: Any) -> Any:
            if event == "opcode":
                for active in _local.active:
                    active.positions.add((id(frame.f_code), frame.f_lasti))
            return each

        def enter(frame: Any, event: Any, arg: Any) -> Any:
            if id(frame.f_code) not in codes:
                return before(frame, event, arg) if before is not None else None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return each

        enter.of_sagax = True  # type: ignore[attr-defined]
        sys.settrace(enter)
        try:
            yield
        finally:
            sys.settrace(before)
