"""Analyze which variables a block assigns, and which are live after it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a block, including inner functions but not the nodes inside them."""
    todo: list[ast.AST] = [node]
    while todo:
        found = todo.pop()
        yield found
        if found is node or not isinstance(found, _SCOPES):
            todo.extend(ast.iter_child_nodes(found))
        elif isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo.extend(found.decorator_list)


def assigned_variables(*nodes: ast.AST) -> list[str]:
    """Return the variables that code assigns, in order of appearance."""
    found: dict[str, None] = {}
    for node in nodes:
        inner = {
            id(n)
            for c in ast.walk(node)
            if isinstance(c, _COMPREHENSIONS)
            for g in c.generators
            for n in ast.walk(g.target)
        }
        for n in _in_order(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                if id(n) not in inner:
                    found[n.id] = None
            elif isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found[n.name] = None
            elif isinstance(n, (ast.Import, ast.ImportFrom)):
                for alias in n.names:
                    found[alias.asname or alias.name.partition(".")[0]] = None
            elif isinstance(n, ast.ExceptHandler) and n.name:
                found[n.name] = None
            elif isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
                found[n.name] = None
    return list(found)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, _SCOPES):
        return
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def read_variables(node: ast.AST) -> set[str]:
    """Return the variables that code reads, inner functions included."""
    found = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    for n in ast.walk(node):
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
    return found


def captured_variables(function: ast.AST) -> set[str]:
    """Return the variables that inner functions capture, which are live as long as those."""
    found: set[str] = set()
    for n in ast.walk(function):
        if n is not function and isinstance(n, (*_SCOPES, ast.GeneratorExp)):
            found |= read_variables(n)
            found |= {x for m in ast.walk(n) if isinstance(m, ast.Nonlocal) for x in m.names}
    return found


class LiveVariables:
    """Compute the live variables after each `if` and loop of a function (`after`).

    For loops, compute also those at the head: read by the test or the next iteration (`head`).
    """

    def __init__(self, body: Sequence[ast.stmt], always: set[str]) -> None:
        self.after: dict[ast.stmt, set[str]] = {}
        self.head: dict[ast.stmt, set[str]] = {}
        self._always = always
        self._block(body, set(always))

    def _block(self, body: Iterable[ast.stmt], live: set[str]) -> set[str]:
        for statement in reversed(list(body)):
            live = self._statement(statement, live) | self._always
        return live

    def _statement(self, s: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(s, ast.If):
            self.after[s] = live
            return self._block(s.body, live) | self._block(s.orelse, live) | read_variables(s.test)
        if isinstance(s, ast.While):
            self.after[s] = live
            return self._loop(s, live, read_variables(s.test), set())
        if isinstance(s, (ast.For, ast.AsyncFor)):
            self.after[s] = live
            return self._loop(s, live, set(), set(assigned_variables(s.target))) | read_variables(
                s.iter
            )
        if isinstance(s, (ast.Return, ast.Raise)):
            return read_variables(s)
        blocks = [getattr(s, name, None) or [] for name in ("body", "orelse", "finalbody")]
        blocks += [p.body for n in ("handlers", "cases") for p in getattr(s, n, None) or ()]
        if any(blocks) and not isinstance(s, _SCOPES):
            whole = live | read_variables(s)  # an exception may leave it anywhere
            for block in blocks:
                whole |= self._block(block, set(whole))
            return whole
        simple = isinstance(
            s, (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import)
        )
        return (live - set(assigned_variables(s)) if simple else live) | read_variables(s)

    def _loop(
        self,
        s: ast.For | ast.AsyncFor | ast.While,
        live: set[str],
        test: set[str],
        target: set[str],
    ) -> set[str]:
        head = live | test
        if (exit_flag := getattr(s, "exit_flag", None)) is not None:
            head.add(exit_flag)  # each iteration tests it
        while True:
            again = head | (self._block(s.body, set(head)) - target)
            if again == head:
                break
            head = again
        self.head[s] = head
        return head | self._block(s.orelse, live)
