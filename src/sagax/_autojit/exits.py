"""Remove early exits: rewrite `return`, `break` and `continue` in the middle as nested `if`s.

Statements after an `if` with an exit move into its branches, so that a `return` ends each of them, and an
iteration ends with its body. `break`, and `return` from a loop, set a flag that the loop tests.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from sagax._autojit.errors import AutojitError

_MAX_STATEMENTS = 4000
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_EXITS = (ast.Return, ast.Break, ast.Continue)


def remove_early_exits(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Rewrite a function body so that each `return` ends its block, and loops have no exits."""
    return _ExitRewriter(name).block(body, None)


def never_falls_through(block: Sequence[ast.stmt]) -> bool:
    """Return whether control never reaches what follows a block."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (*_EXITS, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return never_falls_through(last.body) and never_falls_through(last.orelse)
    return isinstance(last, ast.With) and never_falls_through(last.body)


def contains_return(block: Sequence[ast.stmt]) -> bool:
    """Return whether there is a `return` in a block."""
    return any(_contains(s, (ast.Return,), loops=True) for s in block)


def _contains(node: ast.AST, kinds: tuple[type, ...], *, loops: bool = False) -> bool:
    """Return whether a statement contains such a node, outside of inner functions and loops."""
    if isinstance(node, kinds):
        return True
    if isinstance(node, (*_INNER, ast.expr)):
        return False
    if isinstance(node, _LOOPS) and not loops:
        # break and continue belong to the inner loop, except in its `else`; returns do not
        inside = (
            any(_contains(s, (ast.Return,), loops=True) for s in node.body) and ast.Return in kinds
        )
        return inside or any(_contains(s, kinds) for s in node.orelse)
    return any(_contains(child, kinds, loops=loops) for child in ast.iter_child_nodes(node))


class _LoopFlags:
    """Name the flags of a loop: they are created when needed."""

    def __init__(self, number: int) -> None:
        self.broken = f"_sx_broken_{number}"
        self.returned = f"_sx_returned_{number}"
        self.value = f"_sx_value_{number}"
        self.has_flag = self.has_return = self.has_break = False


class _ExitRewriter:
    def __init__(self, name: str) -> None:
        self.name = name
        self.loops = 0
        self.statements = 0

    def block(self, body: list[ast.stmt], loop: _LoopFlags | None) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        todo = list(body)
        while todo:
            s = todo.pop(0)
            self.statements += 1
            if self.statements > _MAX_STATEMENTS:
                raise AutojitError(
                    f"{self.name} has too many ways out: what follows each of them would have to be repeated",
                    function="autojit",
                    fix="set a variable in the branches, and return it once at the end",
                )
            if isinstance(s, _EXITS):
                return [*done, *self._exit(s, loop)]
            if isinstance(s, _LOOPS):
                before, s, after = self._loop(s, loop)
                done += before
                done.append(s)
                todo = after + todo
                continue
            if isinstance(s, ast.If) and _contains(s, _EXITS):
                return [*done, self._if(s, todo, loop)]
            if isinstance(s, ast.If):
                s = _replace(s, body=self.block(s.body, loop), orelse=self.block(s.orelse, loop))
            elif isinstance(s, ast.With):
                if _contains(s, _EXITS) and todo and not never_falls_through(s.body):
                    raise self._unsupported(
                        s, "a `with` that may be left early, followed by more statements"
                    )
                s = _replace(s, body=self.block(s.body, loop))
                if never_falls_through(s.body):
                    return [*done, s]
            elif isinstance(s, (ast.Try, ast.Match)) or type(s).__name__ == "TryStar":
                s = self._rewrite_try_or_match(s, loop)
            done.append(s)
        return done

    def _rewrite_try_or_match(self, s: Any, loop: _LoopFlags | None) -> ast.stmt:
        """Rewrite the blocks of a `try` or `match`, which Python runs while tracing."""
        keyword = "match" if isinstance(s, ast.Match) else "try"
        if loop is not None and _contains(s, _EXITS):
            raise self._unsupported(
                s, f"a `{keyword}` with {_exit_name(s)} in it, inside of a loop"
            )
        changes: dict[str, Any] = {
            name: self.block(getattr(s, name), loop)
            for name in ("body", "orelse", "finalbody")
            if getattr(s, name, None)
        }
        for name in ("handlers", "cases"):
            if getattr(s, name, None):
                changes[name] = [
                    _replace(p, body=self.block(p.body, loop)) for p in getattr(s, name)
                ]
        return _replace(s, **changes)

    def _if(self, s: ast.If, rest: list[ast.stmt], loop: _LoopFlags | None) -> ast.stmt:
        """Move the statements after an `if` into its branches."""
        blocks = []
        for block in (s.body, s.orelse):
            after = [] if never_falls_through(block) else copy.deepcopy(rest)
            new = self.block([*block, *after], loop)
            if loop is None and not never_falls_through(new):
                new.append(_locate(ast.Return(value=ast.Constant(None)), block[-1] if block else s))
            blocks.append(new)
        return _replace(s, body=blocks[0] or [_locate(ast.Pass(), s)], orelse=blocks[1])

    def _exit(self, s: ast.stmt, loop: _LoopFlags | None) -> list[ast.stmt]:
        if loop is None:
            return [s]
        if isinstance(s, ast.Continue):
            return [_locate(ast.Pass(), s)]
        loop.has_flag = True
        leave = _assign(loop.broken, ast.Constant(True), s)
        if isinstance(s, ast.Break):
            loop.has_break = True
            return [leave]
        loop.has_return = True
        value = s.value if isinstance(s, ast.Return) and s.value is not None else ast.Constant(None)
        return [
            _assign(loop.value, value, s),
            _assign(loop.returned, ast.Constant(True), s),
            leave,
        ]

    def _loop(
        self, s: Any, outer: _LoopFlags | None
    ) -> tuple[list[ast.stmt], ast.stmt, list[ast.stmt]]:
        """Return the statements before a loop, the loop without exits, and those after it."""
        self.loops += 1
        loop = _LoopFlags(self.loops)
        first: list[ast.stmt] = []
        test = getattr(s, "test", None)
        if test is not None and any(isinstance(n, ast.NamedExpr) for n in ast.walk(test)):
            # the body sees variables that the test assigns
            first = [_if(ast.UnaryOp(ast.Not(), test), [_locate(ast.Break(), s)], s)]
            s = _replace(s, test=ast.copy_location(ast.Constant(True), test))
        body = self.block([*first, *s.body], loop) or [_locate(ast.Pass(), s)]
        rewritten: Any = _replace(s, body=body, orelse=[])
        rewritten.exit_flag = loop.broken if loop.has_flag else None
        before, after = [], []
        if loop.has_flag:
            before.append(_assign(loop.broken, ast.Constant(False), s))
        if loop.has_return:
            before.append(_assign(loop.returned, ast.Constant(False), s))
            value = _locate(ast.Return(value=ast.Name(loop.value, ast.Load())), s)
            test = getattr(rewritten, "test", None)
            if isinstance(test, ast.Constant) and test.value and not loop.has_break:
                return before, rewritten, [value]  # `return` is the only exit
            after.append(_if(ast.Name(loop.returned, ast.Load()), [value], s))
        if s.orelse:
            if loop.has_flag:
                completed = ast.UnaryOp(ast.Not(), ast.Name(loop.broken, ast.Load()))
                after.append(_if(completed, s.orelse, s))
            else:
                after += s.orelse
        return before, rewritten, after

    def _unsupported(self, s: ast.stmt, statement: str) -> AutojitError:
        return AutojitError(
            f"{self.name}, line {s.lineno}: {statement}, cannot be converted",
            function="autojit",
            fix="leave it at its end only: set a variable inside, and return it afterwards",
        )


def _exit_name(s: ast.stmt) -> str:
    kinds = {ast.Return: "`return`", ast.Break: "`break`", ast.Continue: "`continue`"}
    return next(word for kind, word in kinds.items() if _contains(s, (kind,)))


def _replace(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields."""
    copied = copy.copy(node)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied


def _locate(node: Any, origin: ast.AST) -> Any:
    return ast.fix_missing_locations(with_location(node, origin))


def with_location(node: Any, origin: Any) -> Any:
    """Give a node the location of another, or of its head if that one has a body."""
    ast.copy_location(node, origin)
    head = getattr(origin, "test", None) or getattr(origin, "iter", None)
    if head is not None:
        node.end_lineno, node.end_col_offset = head.end_lineno, head.end_col_offset
    return node


def _assign(name: str, value: Any, origin: ast.stmt) -> ast.stmt:
    return _locate(ast.Assign(targets=[ast.Name(name, ast.Store())], value=value), origin)


def _if(test: Any, body: list[ast.stmt], origin: ast.stmt) -> ast.stmt:
    return _locate(ast.If(test=test, body=body, orelse=[]), origin)
