"""Find thrown-away results of pure functions, and side effects of traced functions."""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sagax._autofix.checks.instrument import Hooks, Site
from sagax._autofix.checks.report import (
    Add,
    caller,
    is_own_file,
    is_staging,
    is_written_in_each_iteration,
    source_of,
)
from sagax._autofix.checks.structure import check_order
from sagax._autofix.repairs.source_file import Function, Source
from sagax._src import trees
from sagax._src.api.jit import JitFunction
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.spans import is_sagax

__all__ = ["Effects"]

# functions of sagax that are called for what they do
_EFFECTS = {
    "block_until_ready", "copy_to_host_async", "delete", "device_put", "effects_barrier", "eval_shape",
    "clear_caches", "io_callback", "pure_callback", "callback", "print",
}  # fmt: skip
_CLOCKS = ("perf_counter", "time.time", "monotonic", "timeit", "process_time")
# methods that change their object, by whether another call changes it again
_APPENDING = {"append", "extend", "insert", "appendleft", "extendleft"}
_STORING = {"add", "setdefault", "update"}
# functions of sagax that begin a trace whose body runs later: of jit, and of the outermost loop without it
_TRACES, _STAGES = "_trace_now", "stage"
_LOOPS = ("scan", "while_loop", "fori_loop", "cond", "switch", "map")
_MAX_OBJECTS = 30_000
# names of what counts traces on purpose: these updates belong into a traced function
_TRACE_COUNTER = re.compile(r"trac(?:e|ing)|compil", re.IGNORECASE)


class Effects:
    """Observe statements and stores of the user's code."""

    def __init__(self, add: Add) -> None:
        self.add = add
        self.pure: dict[Any, bool] = {}
        self.pending: list[tuple[Site, Any, str | None, Span]] = []
        self.reported: set[tuple[str, int]] = set()
        # a frame, the ids of what is outside of it, and what keeps these ids from being used again
        self.outside: tuple[Any, set[int], list[Any]] | None = None

    def hooks(self) -> Hooks:
        return Hooks(
            self.statement, self.store, lambda site, args: check_order(self.add, site, args)
        )

    # -- thrown-away results --------------------------------------------------------------------

    def statement(self, site: Site, function: Any) -> Any:
        """Return the function to call where a result is thrown away."""
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        if isinstance(owner, (list, dict, set)) or type(owner).__name__ == "deque":
            if is_staging() and name in _APPENDING | _STORING:
                return _call_then(function, lambda args: self.mutated(site, owner, name, args))
            return function
        if isinstance(owner, io.IOBase) and name in ("write", "writelines"):
            if owner in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
                return function
            return _call_then(function, lambda args: self.written(site, owner, args))
        if self._is_pure(site, function, owner, name):

            def call(*args: Any, **kwargs: Any) -> Any:
                result = function(*args, **kwargs)
                self._unused(site, args, kwargs, result)
                return result

            return call
        return function

    def _is_pure(self, site: Site, function: Any, owner: Any, name: str) -> bool:
        if isinstance(function, JitFunction):
            return False
        if any(isinstance(n, ast.Try) and n.body for n in _blocks(site)):
            return False
        if isinstance(owner, Array):
            return name not in _EFFECTS
        if function is dataclasses.replace or (name == "_replace" and hasattr(owner, "_fields")):
            return True
        code = getattr(function, "__code__", None)
        if type(owner).__module__.startswith("sagax.") and code is not None:
            return is_sagax(code.co_filename) and name not in _EFFECTS
        if code is None:
            return str(getattr(function, "__module__", "")).startswith("sagax.numpy")
        if is_sagax(code.co_filename):
            return name not in _EFFECTS and not _is_timed(site)
        if isinstance(owner, types.ModuleType) or not is_own_file(code.co_filename):
            return False
        inner = getattr(function, "__func__", function)
        if not isinstance(inner, types.FunctionType) or hasattr(inner, "__wrapped__"):
            return False
        if any(isinstance(n, ast.With) for n in _blocks(site)) or _is_timed(site):
            return False
        if inner.__code__ not in self.pure:
            self.pure[inner.__code__] = _Purity().of(inner)
        return self.pure[inner.__code__]

    def _unused(self, site: Site, args: Any, kwargs: Any, result: Any) -> None:
        functions = [f for f in trees.leaves((args, kwargs)) if _has_function(f)]
        if result is None or not all(map(self._has_no_effect, functions)):
            return
        leaves = [x for x in trees.leaves(result) if x is not None]
        if not leaves or not any(isinstance(x, Array) for x in leaves):
            return
        call = site.node.value
        text = " ".join(site.source.code(call).split())
        text = text if len(text) <= 50 else f"{' '.join(site.source.code(call.func).split())}(...)"
        self.add(
            cautions.UnusedResultWarning,
            f"the result of `{text}` is thrown away: it returns what is new, and changes nothing",
            None,
            span=site.source.span(call),
            data={"called": site.source.meaning(call.func)},
        )

    def _has_no_effect(self, function: Any) -> bool:
        """Return whether a function that is passed to another does nothing but return a result."""
        code = getattr(function, "__code__", None)
        if code is None or not isinstance(function, types.FunctionType):
            return False
        if is_sagax(code.co_filename):
            return function.__name__ not in _EFFECTS
        if code not in self.pure:
            self.pure[code] = is_own_file(code.co_filename) and _Purity().of(function)
        return self.pure[code]

    # -- side effects ---------------------------------------------------------------------------

    def written(self, site: Site, owner: Any, args: tuple[Any, ...]) -> None:
        """Note that a traced function writes to a file that was open before."""
        if not is_staging() or not self.is_outside(id(owner)):
            return
        if "Tracer(" in str(args) or is_written_in_each_iteration(*args):
            self._add(site, site.source.span(site.node.value))

    def mutated(self, site: Site, owner: Any, name: str, args: tuple[Any, ...]) -> None:
        """Note a call of a method that changes its object, in a traced function."""
        traced = any(isinstance(x, Tracer) for x in trees.leaves(args))
        # what is appended and not traced, such as a shape, is often meant to count traces
        if traced and self.is_outside(id(owner)):
            self._report(site, owner, None, traced, site.source.span(site.node.value))

    def store(self, site: Site, owner: Any, name: str | None, value: Any) -> None:
        """Note a store to an attribute, an item, or a variable of an outer scope."""
        if not is_staging():
            return
        counted = isinstance(site.node, ast.AugAssign) or _updates_from_itself(site.node)
        if owner is None:
            assert name is not None
            if (counted or isinstance(value, Tracer)) and self._variable_is_outside(name):
                self._report(site, None, name, isinstance(value, Tracer), None)
            return
        if isinstance(owner, (Array, Tracer)):
            return
        if not self.is_outside(id(owner)):
            if counted and name is not None and _is_unreturned_argument(owner, name):
                text = " ".join(site.source.code(site.node).split())
                self.add(
                    cautions.SideEffectWarning,
                    f"`{text}` changes a copy: a traced function gets copies of the objects that it is "
                    "passed, and this one is not returned",
                    None,
                    span=site.source.span(site.node),
                )
            return
        found = vars(owner).get(name) if name and hasattr(owner, "__dict__") else None
        if name is None and isinstance(owner, dict):
            traced = any(isinstance(x, Tracer) for x in trees.leaves(list(owner.values())))
        else:
            traced = isinstance(found, Tracer)
        if counted or traced:
            self._report(site, owner, name, traced, None)

    def _report(self, site: Site, owner: Any, name: str | None, traced: bool, span: Any) -> None:
        if not traced and _counts_traces(site):
            return
        span = span or site.source.span(site.node)
        if traced and not isinstance(site.node, ast.AugAssign) and name is not None:
            self.pending.append((site, owner, name, span))  # it may be restored
            return
        self._add(site, span)

    def _add(self, site: Site, span: Span) -> None:
        text = " ".join(site.source.code(site.node).split())
        text = text if len(text) <= 60 else text[:57] + "..."
        self.add(
            cautions.SideEffectWarning,
            f"`{text}` happens once, while the function is traced, and not when it is called again",
            None,
            span=span,
        )

    def settle(self) -> None:
        """Report traced values that are still stored after the trace."""
        pending, self.pending = self.pending, []
        for site, owner, name, span in pending:
            if owner is None or name is None:
                self._add(site, span)
            elif isinstance(getattr(owner, "__dict__", {}).get(name), Tracer):
                self._add(site, span)

    # -- what was there before the trace ----------------------------------------------------------

    def is_outside(self, identity: int) -> bool:
        """Return whether an object can be reached from outside of the current trace."""
        frames = list(_frames())
        start = _start_of_trace(frames)
        if start is None:
            return False
        if self.outside is None or self.outside[0] is not frames[start]:
            roots: list[Any] = [
                vars(m)
                for m in list(sys.modules.values())
                if is_own_file(getattr(m, "__file__", None) or "<")
            ]
            for frame in frames[start + 1 :]:
                if is_own_file(frame.f_code.co_filename):
                    roots.append(dict(frame.f_locals))
            self.outside = frames[start], _reachable(roots), roots
        return identity in self.outside[1]

    def _variable_is_outside(self, name: str) -> bool:
        """Return whether an outer variable belongs to a function outside of the trace."""
        frames = list(_frames())
        own = caller(frames[0])
        if own is None or name not in own.f_code.co_freevars:
            return True  # a global
        start = _start_of_trace(frames)
        inside = [f for f in frames[:start] if f is not own]
        return start is not None and not any(name in f.f_code.co_cellvars for f in inside)


def _counts_traces(site: Site) -> bool:
    """Return whether a statement adds a constant to what is called after traces or compilations."""
    node = site.node
    if not isinstance(node, ast.AugAssign) or not isinstance(node.value, ast.Constant):
        return False
    return _TRACE_COUNTER.search(site.source.code(node.target)) is not None


def _is_unreturned_argument(owner: Any, attribute: str) -> bool:
    """Return whether an object is an argument of the traced function, which does not return it.

    Its attributes are new values, made from the leaves that were passed: what is written to them is lost.
    """
    frames = list(_frames())
    start = _start_of_trace(frames)
    inside = [f for f in frames[:start] if is_own_file(f.f_code.co_filename)]
    if start is None or not inside:
        return False
    frame = inside[-1]
    code = frame.f_code
    holders = {
        name
        for name in code.co_varnames[: code.co_argcount]
        if id(owner) in _reachable([frame.f_locals.get(name)])
    }
    source = source_of(code.co_filename)
    functions = source.functions(code.co_name) if source is not None else []
    found = [f for f in functions if source.first_line(f) == code.co_firstlineno]  # type: ignore[union-attr]
    if source is None or not holders or len(found) != 1:
        return False
    for returned in source.nodes((ast.Return, ast.Yield), found[0]):
        for name in source.nodes(ast.Name, returned):
            read = source.parents.get(name)
            if name.id not in holders:
                continue
            if not isinstance(read, ast.Attribute) or read.attr == attribute:
                return False
            if isinstance(source.parents.get(read), ast.Call):  # of a method, which may return it
                return False
    return not any(  # under another name
        isinstance(s.value, ast.Name) and s.value.id in holders
        for s in source.nodes(ast.Assign, found[0])
    )


def _call_then(function: Any, after: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        after(args)
        return result

    return call


def _frames() -> Iterator[types.FrameType]:
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _start_of_trace(frames: Sequence[types.FrameType]) -> int | None:
    """Return the index of the frame that begins the trace, of frames from the innermost on."""
    own = [(i, f.f_code.co_name) for i, f in enumerate(frames) if is_sagax(f.f_code.co_filename)]
    traces = [i for i, name in own if name == _TRACES]
    stages = [i for i, name in own if name == _STAGES]
    return traces[0] if traces else stages[-1] if stages else None


def _reachable(roots: Iterable[Any]) -> set[int]:
    """Return the ids of objects that hold state, from some roots."""
    seen: set[int] = set()
    todo = list(roots)
    while todo and len(seen) < _MAX_OBJECTS:
        value = todo.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type, types.ModuleType)):
            continue
        if isinstance(value, (Array, Tracer)):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            todo.extend(value)
        elif isinstance(value, JitFunction):
            todo.append(value._fun)
        elif isinstance(value, types.MethodType):
            todo += [value.__self__, value.__func__]
        elif isinstance(value, types.FunctionType):
            if is_own_file(value.__code__.co_filename) or value.__closure__:
                for cell in value.__closure__ or ():
                    try:
                        todo.append(cell.cell_contents)
                    except ValueError:  # an empty cell
                        continue
        elif hasattr(value, "__dict__") and not type(value).__module__.startswith("numpy"):
            todo.append(vars(value))
    return seen


# --- syntax ------------------------------------------------------------------------------------


def _blocks(site: Site) -> Iterator[ast.AST]:
    """Yield the statements around a statement, within its function."""
    for node in site.source.above(site.node):
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return
        yield node


_timed: dict[int, bool] = {}  # by the id of the node, which its site keeps alive


def _is_timed(site: Site) -> bool:
    """Return whether the function around a statement reads a clock: it measures calls."""
    found = _timed.get(id(site.node))
    if found is None:
        found = _timed[id(site.node)] = _has_clock(site)
    return found


def _has_clock(site: Site) -> bool:
    around = site.source.function(site.node) or site.source.tree
    if isinstance(around, ast.Module):
        block = site.source.tree.body
        code = "\n".join(ast.unparse(s) for s in block if not isinstance(s, ast.FunctionDef))
    else:
        code = ast.unparse(around)
    return any(clock in code for clock in _CLOCKS)


def _updates_from_itself(node: ast.AST) -> bool:
    """Return whether an assignment computes the new value from the old: `d[k] = d[k] + 1`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = ast.unparse(node.targets[0])
    if isinstance(node.targets[0], ast.Subscript):
        owner = ast.unparse(node.targets[0].value)
        if any(
            isinstance(n, ast.Call) and ast.unparse(n.func) == f"{owner}.get"
            for n in ast.walk(node.value)
        ):
            return True
    return any(isinstance(n, ast.expr) and ast.unparse(n) == target for n in ast.walk(node.value))


def _has_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, (Array, Tracer))


class _Purity:
    """Decide whether a function of the user does nothing besides returning a result."""

    _BUILTINS = {
        "abs", "all", "any", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "range",
        "reversed", "round", "set", "sorted", "sum", "tuple", "zip", "bool", "str",
    }  # fmt: skip
    _MODULES = ("jax.", "jax", "math.", "functools.partial")
    _EFFECT_WORDS = (
        "debug",
        "callback",
        "print",
        "effects",
        "host_",
        "profiler",
        "config",
        "block_until",
    )

    def of(self, function: types.FunctionType) -> bool:
        source = source_of(function.__code__.co_filename)
        if source is None:
            return False
        if function.__name__ == "<lambda>":
            line = function.__code__.co_firstlineno
            lambdas = [n for n in source.nodes(ast.Lambda) if n.lineno == line]
            return bool(lambdas) and all(self.node(source, n, 3) for n in lambdas)
        found = [
            f
            for f in source.functions(function.__name__)
            if f.lineno == function.__code__.co_firstlineno
            or source.first_line(f) == function.__code__.co_firstlineno
        ]
        return len(found) == 1 and self.node(source, found[0], 3)

    def node(self, source: Source, function: Function, depth: int) -> bool:
        body: list[Any] = (
            list(function.body) if isinstance(function.body, list) else [function.body]
        )
        if isinstance(function, ast.FunctionDef) and function.decorator_list:
            return False
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        locals_ = {
            n.id
            for s in body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(
                    node,
                    (
                        ast.Expr, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom,
                        ast.Await, ast.With, ast.Try, ast.Delete, ast.Import, ast.ImportFrom,
                    ),
                ):  # fmt: skip
                    return False
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    return False
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    if not (isinstance(node.value, ast.Name) and node.value.id in locals_):
                        return False
                if isinstance(node, ast.Call) and not self.call(source, node, depth):
                    return False
        return True

    def call(self, source: Source, call: ast.Call, depth: int) -> bool:
        means = source.meaning(call.func)
        if means:
            return means.startswith(self._MODULES) and not any(
                w in means for w in self._EFFECT_WORDS
            )
        if isinstance(call.func, ast.Name):
            found = source.functions(call.func.id)
            if found:
                return len(found) == 1 and depth > 0 and self.node(source, found[0], depth - 1)
            return call.func.id in self._BUILTINS
        if isinstance(call.func, ast.Attribute):  # a method of an array, or of a dict
            return call.func.attr in _ARRAY_METHODS
        if isinstance(call.func, ast.Call):  # jax.grad(f)(x)
            return self.call(source, call.func, depth)
        return False


_ARRAY_METHODS = {
    "all", "any", "argmax", "argmin", "astype", "clip", "copy", "cumsum", "dot", "flatten", "get", "items", "keys",
    "max", "mean", "min", "prod", "ravel", "reshape", "round", "set", "sort", "squeeze", "std", "sum", "transpose",
    "values", "var", "add", "multiply", "divide",
}  # fmt: skip
