"""Add calls to the user's source that show its effects: thrown-away results and stored values.

The added calls stand where the original expressions stand, so that positions stay the same.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sagax._autofix.repairs.source_file import Source

__all__ = ["Hooks", "Site", "compile_source"]

_STATEMENT = "__sagax_statement__"
_STORE = "__sagax_store__"
_PAIR = "__sagax_pair__"


@dataclass(frozen=True)
class Site:
    """Hold an instrumented statement or expression, with its source."""

    source: Source
    node: Any


@dataclass
class Hooks:
    """Hold the functions that instrumented code calls.

    Attributes:
      statement: (site, function) -> the function to call, where its result is thrown away.
      store: (site, object, name or None, value) after a store to an attribute, item or outer variable.
      paired: (site, arguments) before a call of zip or enumerate that pairs leaves with a dict.
    """

    statement: Callable[[Site, Any], Any]
    store: Callable[[Site, Any, str | None, Any], None]
    paired: Callable[[Site, tuple[Any, ...]], None]


_sites: list[Site] = []


def install(hooks: Hooks) -> None:
    """Make the hooks known to instrumented code."""

    def statement(i: int, function: Any) -> Any:
        return hooks.statement(_sites[i], function)

    def store(i: int, owner: Any, name: str | None, value: Any = None) -> None:
        hooks.store(_sites[i], owner, name, value)

    def paired(i: int, function: Any, *args: Any) -> Any:
        hooks.paired(_sites[i], args)
        return function

    for name, hook in {_STATEMENT: statement, _STORE: store, _PAIR: paired}.items():
        setattr(builtins, name, hook)


def compile_source(text: str, file: str) -> Any:
    """Compile a file with the calls added."""
    tree = ast.parse(text, file)  # first: a syntax error names the file
    tree = _Instrument(Source(file, text)).visit(tree)
    return compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)


class _Instrument(ast.NodeTransformer):
    def __init__(self, source: Source) -> None:
        self.source = source
        # of the tree that stays as it is
        self.originals = {
            (type(n), n.lineno, n.col_offset, n.end_lineno, n.end_col_offset): n
            for n in ast.walk(source.tree)
            if isinstance(n, (ast.stmt, ast.Call, ast.DictComp))
        }
        self.outer: list[set[str]] = []

    def site(self, node: Any) -> ast.expr:
        key = (type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        _sites.append(Site(self.source, self.originals[key]))
        return ast.copy_location(ast.Constant(len(_sites) - 1), node)

    def call(self, name: str, at: Any, *args: ast.expr) -> ast.Call:
        function = ast.copy_location(ast.Name(name, ast.Load()), at)
        return ast.copy_location(ast.Call(function, list(args), []), at)

    # -- results --------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        site = self.site(node) if isinstance(node.value, ast.Call) else None
        self.generic_visit(node)
        if site is not None and isinstance(node.value, ast.Call):
            function = node.value.func
            if not (isinstance(function, ast.Name) and function.id == "super"):
                node.value.func = self.call(_STATEMENT, function, site, function)
        return node

    # -- zip --------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (
            isinstance(node.func, ast.Name)
            and node.func.id == "zip"
            and len(node.args) == 2
            and all(isinstance(a, (ast.Name, ast.Attribute, ast.Call)) for a in node.args)
            and any(_mentions_leaves(a) for a in node.args)
        ):
            site = self.site(node)
            self.generic_visit(node)
            parts = [
                # reading a name twice is harmless; a call is not
                a if not isinstance(a, ast.Call) else ast.copy_location(ast.Constant(None), a)
                for a in map(_dict_of, node.args)
            ]
            node.func = self.call(_PAIR, node.func, site, node.func, *parts)
            return node
        self.generic_visit(node)
        return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """`{name: vector[i] for i, name in enumerate(like)}`."""
        site = self.site(node)
        self.generic_visit(node)
        call = node.generators[0].iter
        if (
            isinstance(node.value, ast.Subscript)
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "enumerate"
            and call.args
            and _is_path(call.args[0])
        ):
            call.func = self.call(_PAIR, call.func, site, call.func, _copy(call.args[0]))
        return node

    # -- stores ---------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        names = {
            name
            for n in ast.walk(node)
            if isinstance(n, (ast.Nonlocal, ast.Global)) and self._own(node, n)
            for name in n.names
        }
        self.outer.append(names)
        self.generic_visit(node)
        self.outer.pop()
        return node

    def _own(self, function: ast.FunctionDef, node: ast.AST) -> bool:
        todo: list[ast.AST] = list(function.body)
        while todo:
            found = todo.pop()
            if found is node:
                return True
            if not isinstance(found, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                todo.extend(ast.iter_child_nodes(found))
        return False

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._stored(node, [node.target])

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._stored(node, node.targets)

    def _stored(self, node: Any, targets: list[Any]) -> Any:
        if not self.outer:  # at the level of a module
            self.generic_visit(node)
            return node
        added: list[ast.stmt] = []
        flat = [
            e for t in targets for e in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])
        ]
        for target in flat:
            owner: ast.expr | None = None
            name: str | None = None
            if isinstance(target, ast.Attribute) and _is_path(target.value):
                owner, name = target.value, target.attr
            elif isinstance(target, ast.Subscript) and _is_path(target.value):
                owner = target.value
            elif isinstance(target, ast.Name) and target.id in self.outer[-1]:
                name = target.id
            else:
                continue
            arguments: list[ast.expr] = [self.site(node)]
            arguments.append(_copy(owner) if owner is not None else ast.Constant(None))
            arguments.append(ast.Constant(name))
            if owner is None and name is not None:
                arguments.append(ast.Name(name, ast.Load()))
            for argument in arguments:
                ast.copy_location(argument, node)
            call = self.call(_STORE, node, *arguments)
            added.append(ast.copy_location(ast.Expr(call), node))
        self.generic_visit(node)
        return [node, *added] if added else node


def _mentions_leaves(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and "leaves" in ast.unparse(node.func)


def _dict_of(node: ast.expr) -> ast.expr:
    """Return `d` of `d.values()`, `d.keys()` and `d.items()`."""
    if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("values", "keys", "items") and _is_path(node.func.value):
            return _copy(node.func.value)
    if isinstance(node, ast.Call) and _mentions_leaves(node) and len(node.args) == 1:
        if _is_path(node.args[0]):
            return _copy(node.args[0])
    return _copy(node) if _is_path(node) else node


def _is_path(node: ast.expr) -> bool:
    """Return whether an expression is a name, or attributes of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _copy(node: ast.expr) -> ast.expr:
    """Return a copy of a path that reads it."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    assert isinstance(node, ast.Attribute)
    return ast.copy_location(ast.Attribute(_copy(node.value), node.attr, ast.Load()), node)
