"""Early exits removed: `return`, `break` and `continue` in the middle become nested choices.

What follows an `if` that may leave moves into its branches, so that a `return` ends each of them, and
a round of a loop ends at the end of its body. `break`, and `return` from a loop, set a variable that
the loop looks at.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from sagax._autojit.errors import AutojitError

_MOST_STATEMENTS = 4000
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_EXITS = (ast.Return, ast.Break, ast.Continue)


def without_exits(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements of a function body in which each `return` ends its block, and loops have no exits."""
    return _Exits(name).function(body)


def ends(block: Sequence[ast.stmt]) -> bool:
    """Whether a block never goes on to what follows it."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (*_EXITS, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.With) and ends(last.body)


def returns(block: Sequence[ast.stmt]) -> bool:
    """Whether there is a `return` in a block."""
    return any(_has(s, (ast.Return,), loops=True) for s in block)


def _has(node: ast.AST, kinds: tuple[type, ...], *, loops: bool = False) -> bool:
    """Whether a statement holds one of these, of its own: not in inner functions, nor of inner loops."""
    if isinstance(node, kinds):
        return True
    if isinstance(node, (*_INNER, ast.expr)):
        return False
    if isinstance(node, _LOOPS) and not loops:
        # its own break and continue are not ours, its returns and those of its `else` are
        inside = any(_has(s, (ast.Return,), loops=True) for s in node.body) and ast.Return in kinds
        return inside or any(_has(s, kinds) for s in node.orelse)
    return any(_has(child, kinds, loops=loops) for child in ast.iter_child_nodes(node))


class _Loop:
    """The variables by which a loop is left: each is made when it is needed."""

    def __init__(self, number: int) -> None:
        self.broken = f"_sx_broken_{number}"
        self.returned = f"_sx_returned_{number}"
        self.value = f"_sx_value_{number}"
        self.breaks = self.does_return = self.goes_on = False


class _Exits:
    def __init__(self, name: str) -> None:
        self.name = name
        self.loops = 0
        self.made = 0

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return self._block(body, None)

    def _block(self, body: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        todo = list(body)
        while todo:
            s = todo.pop(0)
            self.made += 1
            if self.made > _MOST_STATEMENTS:
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
            if isinstance(s, ast.If) and _has(s, _EXITS):
                return [*done, self._choice(s, todo, loop)]
            if isinstance(s, ast.If):
                s = _with(s, body=self._block(s.body, loop), orelse=self._block(s.orelse, loop))
            elif isinstance(s, ast.With):
                if _has(s, _EXITS) and todo and not ends(s.body):
                    raise self._refused(
                        s, "a `with` that may be left early, followed by more statements"
                    )
                s = _with(s, body=self._block(s.body, loop))
                if ends(s.body):
                    return [*done, s]
            elif isinstance(s, (ast.Try, ast.Match)) or type(s).__name__ == "TryStar":
                s = self._kept(s, loop)
            done.append(s)
        return done

    def _kept(self, s: Any, loop: _Loop | None) -> ast.stmt:
        """A `try` or `match`: Python runs it while the function is traced."""
        word = "match" if isinstance(s, ast.Match) else "try"
        if loop is not None and _has(s, _EXITS):
            raise self._refused(s, f"a `{word}` with {_named(s)} in it, inside of a loop")
        changes: dict[str, Any] = {
            name: self._block(getattr(s, name), loop)
            for name in ("body", "orelse", "finalbody")
            if getattr(s, name, None)
        }
        for name in ("handlers", "cases"):
            if getattr(s, name, None):
                changes[name] = [_with(p, body=self._block(p.body, loop)) for p in getattr(s, name)]
        return _with(s, **changes)

    def _choice(self, s: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> ast.stmt:
        blocks = []
        for block in (s.body, s.orelse):
            after = [] if ends(block) else copy.deepcopy(rest)
            new = self._block([*block, *after], loop)
            if loop is None and not ends(new):
                new.append(_at(ast.Return(value=ast.Constant(None)), block[-1] if block else s))
            blocks.append(new)
        return _with(s, body=blocks[0] or [_at(ast.Pass(), s)], orelse=blocks[1])

    def _exit(self, s: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        if loop is None:
            return [s]
        if isinstance(s, ast.Continue):
            return [_at(ast.Pass(), s)]
        loop.breaks = True
        leave = _assign(loop.broken, ast.Constant(True), s)
        if isinstance(s, ast.Break):
            loop.goes_on = True
            return [leave]
        loop.does_return = True
        value = s.value if isinstance(s, ast.Return) and s.value is not None else ast.Constant(None)
        return [
            _assign(loop.value, value, s),
            _assign(loop.returned, ast.Constant(True), s),
            leave,
        ]

    def _loop(self, s: Any, outer: _Loop | None) -> tuple[list[ast.stmt], ast.stmt, list[ast.stmt]]:
        """What goes before a loop, the loop without exits, and what goes after it."""
        self.loops += 1
        loop = _Loop(self.loops)
        first: list[ast.stmt] = []
        test = getattr(s, "test", None)
        if test is not None and any(isinstance(n, ast.NamedExpr) for n in ast.walk(test)):
            # what the test assigns is seen in the body
            first = [_if(ast.UnaryOp(ast.Not(), test), [_at(ast.Break(), s)], s)]
            s = _with(s, test=ast.copy_location(ast.Constant(True), test))
        body = self._block([*first, *s.body], loop) or [_at(ast.Pass(), s)]
        made: Any = _with(s, body=body, orelse=[])
        made.leaves_by = loop.broken if loop.breaks else None
        before, after = [], []
        if loop.breaks:
            before.append(_assign(loop.broken, ast.Constant(False), s))
        if loop.does_return:
            before.append(_assign(loop.returned, ast.Constant(False), s))
            value = _at(ast.Return(value=ast.Name(loop.value, ast.Load())), s)
            test = getattr(made, "test", None)
            if isinstance(test, ast.Constant) and test.value and not loop.goes_on:
                return before, made, [value]  # it is left by `return` alone
            after.append(_if(ast.Name(loop.returned, ast.Load()), [value], s))
        if s.orelse:
            if loop.breaks:
                whole = ast.UnaryOp(ast.Not(), ast.Name(loop.broken, ast.Load()))
                after.append(_if(whole, s.orelse, s))
            else:
                after += s.orelse
        return before, made, after

    def _refused(self, s: ast.stmt, what: str) -> AutojitError:
        return AutojitError(
            f"{self.name}, line {s.lineno}: {what}, cannot be converted",
            function="autojit",
            fix="leave it at its end only: set a variable inside, and return it afterwards",
        )


def _named(s: ast.stmt) -> str:
    kinds = {ast.Return: "`return`", ast.Break: "`break`", ast.Continue: "`continue`"}
    return next(word for kind, word in kinds.items() if _has(s, (kind,)))


def _with(node: Any, **fields: Any) -> Any:
    """A copy of a node with other fields."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _at(node: Any, where: ast.AST) -> Any:
    ast.copy_location(node, where)
    test = getattr(where, "test", None)
    if test is not None:  # an `if` or `while`: its head, not its body
        node.end_lineno, node.end_col_offset = test.end_lineno, test.end_col_offset
    return ast.fix_missing_locations(node)


def _assign(name: str, value: Any, where: ast.stmt) -> ast.stmt:
    return _at(ast.Assign(targets=[ast.Name(name, ast.Store())], value=value), where)


def _if(test: Any, body: list[ast.stmt], where: ast.stmt) -> ast.stmt:
    return _at(ast.If(test=test, body=body, orelse=[]), where)


__all__ = ["ends", "returns", "without_exits"]
