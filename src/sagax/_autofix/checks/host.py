"""Find measurements of time that do not wait, and loops that wait in each iteration."""

from __future__ import annotations

import ast
import functools
import os
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

from sagax._autofix.checks.report import Add, direct_caller, node_at, own_caller
from sagax._autofix.repairs.source_file import Source
from sagax._src import trees
from sagax._src.core.trace import evaluation, state
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import CodePosition, span_at
from sagax._src.runtime.array import ConcreteArray

__all__ = ["HostChecks"]

_CLOCKS = ("time", "perf_counter", "monotonic")
_READS = (
    "block_until_ready",
    "__array__",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "item",
    "tolist",
    "__format__",
    "__repr__",
)
_CONVERSIONS = ("__array__", "__float__", "__int__", "item", "tolist")
_ITERATIONS = 20
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _is_check(frame: Any) -> bool:
    """Return whether a check of `explain` reads an array."""
    return bool(frame.f_code.co_filename.startswith(_HERE))


class HostChecks:
    """Follow calls of compiled functions, reads of their results, and clocks."""

    def __init__(self, add: Add) -> None:
        self.add = add
        self.last: CodePosition | None = None  # the latest call of the user
        self.calls = 0  # calls of compiled functions so far
        self.waited = 0  # the results of the first so many are known to exist
        self.results: dict[int, tuple[Any, int]] = {}  # id -> array, number of its call
        self.started: dict[tuple[int, str], tuple[int, int]] = {}
        self.syncs: dict[tuple[int, int, int], list[int]] = {}
        self.verdicts: dict[tuple[int, int], Any] = {}

    def install(self, package: Any) -> None:
        for name in _CLOCKS:
            for variant in (name, f"{name}_ns"):
                setattr(time, variant, self._clock(getattr(time, variant)))
        for name in _READS:
            setattr(ConcreteArray, name, self._read(getattr(ConcreteArray, name)))
        wait_for_all = package.__dict__["block_until_ready"]

        @functools.wraps(wait_for_all)  # other checks know it by its name
        def block_all(x: Any) -> Any:
            for leaf in trees.leaves(x):
                self.wait(leaf)
            return wait_for_all(x)

        package.__dict__["block_until_ready"] = block_all

    # -- events ---------------------------------------------------------------------------------

    def called(self, result: Any) -> None:
        """Note a call of a compiled function."""
        self.calls += 1
        found = own_caller(3)
        self.last = found[1] if found is not None else None
        if len(self.results) > 10_000:
            self.results.clear()
        for leaf in trees.leaves(result):
            if isinstance(leaf, ConcreteArray):
                self.results[id(leaf)] = weakref.ref(leaf), self.calls

    def wait(self, array: Any) -> int:
        """Note that an array is waited for; return the number of the call that it is a result of."""
        known = self.results.get(id(array))
        number = known[1] if known is not None and known[0]() is array else 0
        # what was computed from results of a call, by single operations, has waited for it too
        self.waited = max(self.waited, number or self.calls)
        return number

    def _read(self, real: Callable[..., Any]) -> Callable[..., Any]:
        keeps, decides = real.__name__ in _CONVERSIONS, real.__name__ == "__bool__"

        def read(array: Any, *args: Any, **kwargs: Any) -> Any:
            if state.trace is evaluation and not _is_check(sys._getframe(1)):
                number = self.wait(array)
                if (keeps and number) or decides:
                    self._count(number or self.calls)
            return real(array, *args, **kwargs)

        read.__name__ = real.__name__
        return read

    # -- timing -----------------------------------------------------------------------------------

    def _clock(self, real: Callable[[], Any]) -> Callable[[], Any]:
        def clock() -> Any:
            if state.trace is evaluation:
                found = direct_caller()
                if found is not None:
                    self._timed(found[0], found[1])
            return real()

        clock.__name__ = real.__name__
        return clock

    def _timed(self, frame: Any, position: CodePosition) -> None:
        key = id(position.code), position.offset
        if key not in self.verdicts:
            at = node_at(position)
            self.verdicts[key] = None if at is None else _clock_use(*at)
        use = self.verdicts[key]
        if use is None:
            return
        begins, since, source, node = use
        if begins:
            self.started[_scope(frame, begins), begins] = self.calls, self.waited
        start = self.started.get((_scope(frame, since), since)) if since else None
        if start is not None and self.calls > start[0] and self.waited < self.calls:
            call = span_at(self.last) if self.last is not None else None
            text = " ".join(call.text.split()) if call is not None else ""
            work = f"`{text}`" if text and len(text) < 50 else "the work"
            self.add(
                cautions.AsyncTimingWarning,
                f"the clock is read before {work} has finished, since calls of compiled functions return at once",
                None,
                span=source.span(node),
            )

    # -- reads in loops ---------------------------------------------------------------------------

    def _count(self, number: int) -> None:
        found = own_caller(3)
        if found is None:
            return
        frame, position = found
        key = id(position.code), position.offset
        if key not in self.verdicts:
            at = node_at(position)
            self.verdicts[key] = None if at is None else _stored_in_loop(*at) or _chosen(*at)
        use = self.verdicts[key]
        if use is None:
            return
        calls = self.syncs.setdefault((*key, id(frame)), [])
        if not calls or calls[-1] != number:  # a result of a new call
            calls.append(number)
        if len(calls) == _ITERATIONS:
            source, node, text = use
            purpose = "keep it" if isinstance(node, ast.Call) else "choose between values"
            self.add(
                cautions.HostSyncWarning,
                f"each iteration waits for `{text}` only to {purpose}: the next step cannot be queued meanwhile",
                None,
                span=source.span(node),
            )


def _scope(frame: Any, name: str) -> int:
    """Return what a variable belongs to: an attribute (`self.start`) outlives the call."""
    return 0 if "." in name else id(frame)


def _clock_use(source: Source, node: ast.AST) -> tuple[str, str, Source, ast.AST] | None:
    """Return the variable that a reading of a clock begins with, and the one that it is compared to."""
    call = source.enclosing(node, ast.Call)
    if call is None:
        return None
    statement = source.statement(call)
    around: ast.AST = source.function(call) or source.tree
    target = since = ""
    if (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and len(statement.targets) == 1
    ):
        target = ast.unparse(statement.targets[0])
    for found in source.nodes(ast.BinOp, around):
        if isinstance(found.op, ast.Sub) and (
            found.left is call or (target and ast.unparse(found.left) == target)
        ):
            if not _decides_or_passes(source, found):
                since = ast.unparse(found.right)
    if since and not _spans_one_round(source, call, since, around):
        since = ""
    return (target, since, source, call) if target or since else None


def _decides_or_passes(source: Source, difference: ast.AST) -> bool:
    """Return whether a difference of times limits a loop, or is an operand of a function's call."""
    for node in source.above(difference):
        if isinstance(node, ast.Compare):
            return True
        if isinstance(node, ast.stmt):
            return isinstance(node, ast.While) and difference in ast.walk(node.test)
        if isinstance(node, ast.Call) and not _keeps_or_shows(node):
            return True
    return False


def _keeps_or_shows(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {
        "append", "print", "format", "round", "float", "int", "info", "debug", "warning", "write", "log", "str",
        "setdefault", "extend", "add", "max", "min",
    }  # fmt: skip


def _spans_one_round(source: Source, call: ast.AST, since: str, around: ast.AST) -> bool:
    """Return whether a measurement begins in the same round of the same loops as it ends."""
    if "." in since:  # an attribute, set elsewhere
        return True
    loops = {n for n in source.above(call) if isinstance(n, (ast.For, ast.While))}
    starts = [
        n for n in source.nodes(ast.Assign, around) if since in [ast.unparse(t) for t in n.targets]
    ]
    return any(loops <= set(source.above(n)) for n in starts)


def _stored_in_loop(source: Source, node: ast.AST) -> tuple[Source, ast.AST, str] | None:
    """Return the expression and the value, if a loop reads it in each iteration and only keeps it."""
    if not isinstance(node, ast.Call):
        return None
    loop = None
    for found in source.above(node):
        if isinstance(
            found, (ast.If, ast.IfExp, ast.Try, ast.Lambda, ast.FunctionDef, ast.JoinedStr)
        ):
            return None
        if isinstance(found, ast.While):
            return None if node in ast.walk(found.test) else _in_loop(source, node, found)
        if isinstance(found, (ast.For, ast.ListComp)):
            loop = found
            break
    return None if loop is None else _in_loop(source, node, loop)


def _chosen(source: Source, node: ast.AST) -> tuple[Source, ast.AST, str] | None:
    """Return the test of an `if` in a loop that does no more than to assign variables to others."""
    choice = source.enclosing(node, ast.If)
    if choice is None or node not in ast.walk(choice.test) or isinstance(node, ast.BoolOp):
        return None
    if choice.test is not node or not isinstance(node, ast.Compare) or choice.orelse:
        return None
    loop = next((n for n in source.above(choice) if isinstance(n, (ast.For, ast.While))), None)
    if not isinstance(loop, ast.For) or source.function(loop) is not source.function(choice):
        return None
    if source.parents.get(choice) is not loop or not all(map(is_choice, choice.body)):
        return None
    return source, node, " ".join(source.code(node).split())


def is_choice(statement: ast.stmt) -> bool:
    """Return whether a statement assigns variables to variables."""

    def plain(part: ast.expr) -> bool:
        if isinstance(part, ast.Tuple):
            return all(map(plain, part.elts))
        return isinstance(part, ast.Name)

    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and plain(statement.targets[0])
        and plain(statement.value)
    )


def _in_loop(source: Source, node: ast.Call, loop: ast.AST) -> tuple[Source, ast.AST, str] | None:
    is_method = isinstance(node.func, ast.Attribute) and not node.args
    value = node.func.value if is_method and isinstance(node.func, ast.Attribute) else None
    value = value or (node.args[0] if node.args else None)
    if value is None:
        return None
    text = " ".join(source.code(value).split())
    if isinstance(loop, ast.ListComp):
        return (source, node, text) if isinstance(value, ast.Call) else None
    statement = source.statement(node)
    parent = source.parents.get(node)
    if isinstance(statement, ast.Expr):
        call = statement.value
        kept = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and (node in call.args or isinstance(parent, (ast.Tuple, ast.BinOp)))
        )
        return (source, node, text) if kept else None
    if isinstance(statement, ast.AugAssign) and statement.value is node:
        name = ast.unparse(statement.target)
        return None if _decides(loop, name) else (source, node, text)
    if isinstance(statement, ast.Assign) and statement.value is node:
        target = statement.targets[0]
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            return source, node, text
        if isinstance(target, ast.Name) and _only_appended(loop, target.id):
            return source, node, text
    return None


def _decides(loop: ast.AST, name: str) -> bool:
    """Return whether a loop does more with a variable than to add to it."""
    reads = [
        n
        for n in ast.walk(loop)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    return bool(reads)


def _only_appended(loop: ast.AST, name: str) -> bool:
    kept = [
        argument
        for n in ast.walk(loop)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "append"
        for argument in n.args
    ]
    reads = [
        n
        for n in ast.walk(loop)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    return bool(reads) and all(n in kept for n in reads)
