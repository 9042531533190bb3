"""Parse a source file for repairs: syntax tree, positions, and scopes of names.

Positions come from the tree, text from the file: an edit replaces the text of a node and leaves
every other character as the user wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from sagax._src.diagnostics.model import Edit, Span

__all__ = [
    "Function",
    "Source",
    "declared",
    "loads",
    "names_in",
    "parameters",
    "stores",
    "target_names",
]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
N = TypeVar("N", bound=ast.AST)

# what a program may call the package whose functions repairs insert
_ROOTS = {"sagax": "jax", "jax": "jax"}
_BUILTIN_MODULES = {"functools", "math", "numpy"}


class Source:
    """One file: text, tree, parents, and the meaning of its names."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.split("\n")
        self.tree = ast.parse(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.imports = _imports(self.tree)

    # -- positions ------------------------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        """Where a node lies."""
        at: Any = node
        return self._span(at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)

    def _span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        return Span(
            self.file,
            line,
            _characters(self.lines[line - 1], column),
            end_line,
            _characters(self.lines[end_line - 1], end_column),
            "",
            tuple(self.lines[line - 1 : end_line]),
        )

    def code(self, node: ast.AST) -> str:
        """The text of a node, as the user wrote it."""
        return self.span(node).text

    def replace(self, node: ast.AST, text: str) -> Edit:
        return Edit(self.span(node), text)

    def replace_statements(self, statements: list[ast.stmt], text: str) -> Edit:
        """Whole statements of one block, by lines of text that are indented already."""
        first, last = self.first_line(statements[0]), statements[-1].end_lineno or 0
        source = tuple(self.lines[first - 1 : last])
        return Edit(Span(self.file, first, 0, last, len(self.lines[last - 1]), "", source), text)

    def delete(self, statement: ast.stmt) -> Edit:
        """A statement taken out with its lines."""
        first, last = self.first_line(statement), statement.end_lineno or 0
        if last == len(self.lines):
            return self.replace_statements([statement], "")
        source = tuple(self.lines[first - 1 : last + 1])
        return Edit(Span(self.file, first, 0, last + 1, 0, "", source), "")

    def insert_above(self, line: int, text: str) -> Edit:
        """Whole lines put above a line."""
        content = self.lines[line - 1]
        return Edit(Span(self.file, line, 0, line, 0, "", (content,)), text + "\n")

    def around(self, node: ast.AST, left: str, right: str) -> list[Edit]:
        """Texts put before and behind a node, parts of which may be replaced besides."""
        at = self.span(node)
        ends = ((at.line, at.column, left), (at.end_line, at.end_column, right))
        return [
            Edit(Span(self.file, line, column, line, column, "", (self.lines[line - 1],)), text)
            for line, column, text in ends
            if text
        ]

    def first_line(self, statement: ast.stmt) -> int:
        """The line a statement begins on, its decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *[d.lineno for d in decorators]])

    def indent(self, statement: ast.stmt) -> str:
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def block_text(self, statements: Iterable[ast.stmt], indent: str) -> str:
        """Statements of one block as lines with another indentation, comments between included."""
        found = list(statements)
        first, last = self.first_line(found[0]), found[-1].end_lineno or 0
        old = self.indent(found[0])
        if found[0].lineno == last and self.lines[first - 1][: found[0].col_offset].strip():
            return indent + self.code(found[0])  # `if x: y = 1` on one line
        lines = self.lines[first - 1 : last]
        return "\n".join(indent + line.removeprefix(old) if line.strip() else "" for line in lines)

    # -- finding nodes --------------------------------------------------------------------------

    def at(self, span: Span) -> ast.AST | None:
        """The node that lies at a span: the largest of those with this very position."""
        if span.column is None or span.end_column is None:
            return self.statement_at(span.line)
        best: ast.AST | None = None
        for node in ast.walk(self.tree):
            if not isinstance(node, (ast.expr, ast.stmt)):
                continue
            at = self.span(node)
            if (at.line, at.column, at.end_line, at.end_column) == (
                span.line, span.column, span.end_line, span.end_column,
            ):  # fmt: skip
                return node
            if at.contains(span) or _covers(at, span):
                best = node
        return best

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement on a line."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                found = node
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def enclosing(self, node: ast.AST, kind: type[N] | tuple[type[N], ...]) -> N | None:
        """The innermost node of a kind that `node` is or stands in."""
        for found in (node, *self.above(node)):
            if isinstance(found, kind):
                return found
        return None

    def function(self, node: ast.AST) -> Function | None:
        """The function whose body a node is a part of."""
        for found in self.above(node):
            if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return found
        return None

    def statement(self, node: ast.AST) -> ast.stmt:
        found = self.enclosing(node, ast.stmt)
        assert found is not None
        return found

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement is one of."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] | None = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def after(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that follow in the same block."""
        block = self.block(statement)
        return block[block.index(statement) + 1 :]

    def functions(self, name: str) -> list[ast.FunctionDef]:
        """The functions defined under a name, `Class.method` and `outer.inner` included."""
        last = name.rpartition(".")[2]
        found = [n for n in self.nodes(ast.FunctionDef) if n.name == last]
        exact = [n for n in found if self.qualified(n) == name]
        return exact or found

    def qualified(self, node: ast.AST) -> str:
        names = [getattr(node, "name", "<lambda>")]
        names += [getattr(n, "name", "<lambda>") for n in self.above(node) if isinstance(n, Scope)]
        return ".".join(reversed(names))

    def nodes(self, kind: type[N] | tuple[type[N], ...], within: ast.AST | None = None) -> list[N]:
        """All nodes of a kind, in the order of the text."""
        found = [n for n in ast.walk(within or self.tree) if isinstance(n, kind)]
        return sorted(found, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))

    def calls_of(self, *names: str, within: ast.AST | None = None) -> list[ast.Call]:
        """The calls of functions with these full names."""
        return [c for c in self.nodes(ast.Call, within) if self.meaning(c.func) in names]

    # -- names ----------------------------------------------------------------------------------

    def meaning(self, node: ast.AST) -> str:
        """The full name an expression stands for: `jnp.where` is "jax.numpy.where"; "" if none."""
        if isinstance(node, ast.Attribute):
            base = self.meaning(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, "")
        return ""

    @property
    def package(self) -> str:
        """The package the program is written for: what an added import names."""
        named = {name.split(".")[0] for name in self._imported_modules()}
        return "sagax" if "sagax" in named and "jax" not in named else "jax"

    def _imported_modules(self) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
        return found

    def spell(self, full: str) -> tuple[str, list[Edit]]:
        """How to write a full name here, such as "jax.numpy.where", and the import it needs."""
        best = None
        for name, means in self.imports.items():
            if full == means:
                text = name
            elif full.startswith(means + "."):
                text = name + full[len(means) :]
            else:
                continue
            if best is None or len(text) < len(best):
                best = text
        if best is not None:
            return best, []
        module, _, last = full.rpartition(".")
        if module in ("functools", "dataclasses", "math"):
            if module != "math":
                return last, [self.import_line(f"from {module} import {last}")]
            return full, [self.import_line("import math")]
        if module == "numpy" or full == "numpy":
            return "np" + full[5:], [self.import_line("import numpy as np")]
        package = self.package
        if full == "jax.numpy" or full.startswith("jax.numpy."):
            alias = "jnp" if package == "jax" else "snp"
            return alias + full[9:], [self.import_line(f"import {package}.numpy as {alias}")]
        return package + full[3:], [self.import_line(f"import {package}")]

    def import_line(self, text: str) -> Edit:
        """An import put below the last one at the top; the standard library's above the others."""
        body = self.tree.body
        found = [n for n in body if isinstance(n, (ast.Import, ast.ImportFrom))]
        if not found:
            first = body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            line = (first.end_lineno or 0) + 1 if documented else self.first_line(first)
            if line > len(self.lines):
                line = self.first_line(first)
            return self.insert_above(line, text)
        standard = text.startswith(("from functools", "from dataclasses", "import math"))
        if standard:
            for node in found:
                future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
                if not future:
                    gap = "" if _is_standard(node) else "\n"
                    return self.insert_above(node.lineno, text + gap)
        return self.insert_above(self._below(found[-1]), text)

    def _below(self, statement: ast.stmt) -> int:
        line = (statement.end_lineno or 0) + 1
        return line if line <= len(self.lines) else statement.lineno

    def uses(self, name: str, within: ast.AST) -> list[ast.Name]:
        return [n for n in self.nodes(ast.Name, within) if n.id == name]

    def assigned(self, name: str, function: ast.AST) -> list[ast.expr]:
        """The expressions that a simple name is assigned in a function (or module)."""
        found: list[ast.expr] = []
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name) and target.id == name:
                        found.append(node.value)
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id == name
                and node.value is not None
            ):
                found.append(node.value)
        return found

    def fresh(self, wanted: str, *nodes: ast.AST) -> str:
        """A name like `wanted` that means nothing where these nodes stand."""
        scopes = {self.function(node) for node in nodes} | {None}
        for node in nodes:
            scopes |= {f for f in self.above(node) if isinstance(f, Function)}
        taken: set[str] = set()
        for node in ast.walk(self.tree):
            if self.function(node) not in scopes:
                continue
            if isinstance(node, ast.Name):
                taken.add(node.id)
            elif isinstance(node, ast.arg):
                taken.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                taken.add(node.name)
        name, i = wanted, 2
        while name in taken or name in self.imports:
            name, i = f"{wanted}_{i}", i + 1
        return name


def _imports(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for; sagax's names are given as jax's."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = _canonical(alias.name)
                else:
                    root = alias.name.split(".")[0]
                    found[root] = _canonical(root)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = _canonical(f"{node.module}.{alias.name}")
    return found


def _canonical(name: str) -> str:
    root, dot, rest = name.partition(".")
    return _ROOTS.get(root, root) + dot + rest


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return all(name.split(".")[0] in _STANDARD for name in names)


_STANDARD = {
    "collections", "dataclasses", "functools", "itertools", "math", "operator", "os", "random",
    "sys", "time", "typing",
}  # fmt: skip


def _characters(line: str, column: int) -> int:
    return column if line.isascii() else len(line.encode()[:column].decode())


def _covers(outer: Span, inner: Span) -> bool:
    start, end = (outer.line, outer.column or 0), (outer.end_line, outer.end_column or 0)
    return (
        start <= (inner.line, inner.column or 0)
        and (
            inner.end_line,
            inner.end_column or 0,
        )
        <= end
    )


# --- names in pieces of code -----------------------------------------------------------------


def names_in(nodes: ast.AST | Iterable[ast.AST], context: type[ast.expr_context]) -> list[str]:
    """The simple names read (`ast.Load`) or bound (`ast.Store`) in pieces of code, in order."""
    found: dict[str, None] = {}
    for node in [nodes] if isinstance(nodes, ast.AST) else nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, context):
                found[n.id] = None
            elif (
                isinstance(n, ast.AugAssign)
                and isinstance(n.target, ast.Name)
                and context is ast.Load
            ):
                found[n.target.id] = None
    return list(found)


def loads(nodes: ast.AST | Iterable[ast.AST]) -> list[str]:
    return names_in(nodes, ast.Load)


def stores(nodes: ast.AST | Iterable[ast.AST]) -> list[str]:
    """The names that code binds, those of comprehensions and inner functions left out."""
    found: dict[str, None] = {}
    todo: list[ast.AST] = list([nodes] if isinstance(nodes, ast.AST) else nodes)
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = None
            continue
        if isinstance(
            node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        todo[:0] = list(ast.iter_child_nodes(node))
    return list(found)


def declared(function: ast.AST) -> list[str]:
    """The names that a function declares global or nonlocal."""
    return [
        n for s in ast.walk(function) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names
    ]


def target_names(target: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, in order, without `*args` and `**kwargs`."""
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
