"""Parse a source file for repairs: syntax tree, positions, and scopes of names.

Positions come from the tree, text from the file: an edit replaces the text of a node and leaves
every other character as the user wrote it.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.syntax import character_column

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
NodeT = TypeVar("NodeT", bound=ast.AST)

INDENT = "    "
# expressions that stand before `.` or `[` without parentheses
PRIMARIES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)

# the names that a script may import the package under
_PACKAGES = {"sagax": "jax", "jax": "jax"}
_BUILTIN_MODULES = {"functools", "math", "numpy"}


class Source:
    """Hold one source file: text, syntax tree, parents, and the qualified names of imports."""

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
        """Return the span of a node."""
        at: Any = node
        return self._span(at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)

    def _span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        return Span(
            self.file,
            line,
            character_column(self.lines[line - 1], column),
            end_line,
            character_column(self.lines[end_line - 1], end_column),
            "",
            tuple(self.lines[line - 1 : end_line]),
        )

    def code(self, node: ast.AST) -> str:
        """Return the text of a node, as the user wrote it."""
        return self.span(node).text

    def primary(self, node: ast.expr) -> str:
        """Return the text of an expression, as it may stand before `.` or `[`."""
        return self.code(node) if isinstance(node, PRIMARIES) else f"({self.code(node)})"

    def operand(self, node: ast.expr) -> str:
        """Return the text of an expression, as it may stand beside an operator."""
        return self.code(node) if isinstance(node, ast.Constant) else self.primary(node)

    def with_method(self, node: ast.expr, call: str) -> Edit:
        """Append a call such as `.astype(int)` to an expression, behind its parentheses if it has any."""
        at = self.span(node)
        before = self.lines[at.line - 1][: at.column].rstrip()
        behind = self.lines[at.end_line - 1][at.end_column :]
        callee = re.search(r"([\w\])]+)\s*\($", before)
        opened = before.endswith("(") and (callee is None or keyword.iskeyword(callee[1]))
        if opened and behind.startswith(")") and not isinstance(node, PRIMARIES):
            return self.insert(at.end_line, (at.end_column or 0) + 1, call)
        return self.replace(node, self.primary(node) + call)

    def call_with(self, call: ast.expr, argument: str) -> str:
        """Return the text of a call with one more argument."""
        head = self.code(call)[:-1].rstrip().rstrip(",")
        return f"{head}{'' if head.endswith('(') else ', '}{argument})"

    def replace(self, node: ast.AST, text: str) -> Edit:
        return Edit(self.span(node), text)

    def replace_statements(self, statements: list[ast.stmt], text: str) -> Edit:
        """Replace whole statements of one block by indented lines."""
        first, last = self.first_line(statements[0]), statements[-1].end_lineno or 0
        source = tuple(self.lines[first - 1 : last])
        return Edit(Span(self.file, first, 0, last, len(self.lines[last - 1]), "", source), text)

    def delete(self, statement: ast.stmt) -> Edit:
        """Delete a statement with its lines."""
        first, last = self.first_line(statement), statement.end_lineno or 0
        if last == len(self.lines):
            return self.replace_statements([statement], "")
        source = tuple(self.lines[first - 1 : last + 1])
        return Edit(Span(self.file, first, 0, last + 1, 0, "", source), "")

    def delete_decorator(self, decorator: ast.expr) -> Edit:
        """Delete a decorator with its lines."""
        at = self.span(decorator)
        source = tuple(self.lines[at.line - 1 : at.end_line + 1])
        return Edit(Span(self.file, at.line, 0, at.end_line + 1, 0, "", source), "")

    def insert_above(self, line: int, text: str) -> Edit:
        """Insert whole lines above a line."""
        return self.insert(line, 0, text + "\n")

    def insert(self, line: int, column: int, text: str) -> Edit:
        """Insert a text at a position."""
        return Edit(Span(self.file, line, column, line, column, "", (self.lines[line - 1],)), text)

    def around(self, node: ast.AST, left: str, right: str) -> list[Edit]:
        """Insert texts before and behind a node; other edits may replace parts of it."""
        at = self.span(node)
        ends = ((at.line, at.column, left), (at.end_line, at.end_column, right))
        return [self.insert(line, column or 0, text) for line, column, text in ends if text]

    def first_line(self, statement: ast.stmt) -> int:
        """Return the line a statement begins on, its decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *[d.lineno for d in decorators]])

    def indent(self, statement: ast.stmt) -> str:
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def block_text(self, statements: Iterable[ast.stmt], indent: str) -> str:
        """Return statements of one block, and the comments between, with another indentation."""
        found = list(statements)
        first, last = self.first_line(found[0]), found[-1].end_lineno or 0
        old = self.indent(found[0])
        if found[0].lineno == last and self.lines[first - 1][: found[0].col_offset].strip():
            return indent + self.code(found[0])  # `if x: y = 1` on one line
        lines = self.lines[first - 1 : last]
        return "\n".join(indent + line.removeprefix(old) if line.strip() else "" for line in lines)

    # -- finding nodes --------------------------------------------------------------------------

    def at(self, span: Span) -> ast.AST | None:
        """Return the node at a span: the largest of those with exactly this position."""
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
        """Return the innermost statement on a line."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                found = node
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def enclosing(self, node: ast.AST, kind: type[NodeT] | tuple[type[NodeT], ...]) -> NodeT | None:
        """Return the innermost node of a kind among `node` and its ancestors."""
        for found in (node, *self.above(node)):
            if isinstance(found, kind):
                return found
        return None

    def function(self, node: ast.AST) -> Function | None:
        """Return the function that a node belongs to."""
        for found in self.above(node):
            if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return found
        return None

    def statement(self, node: ast.AST) -> ast.stmt:
        found = self.enclosing(node, ast.stmt)
        assert found is not None
        return found

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the list of statements that contains a statement."""
        parent = self.parents[statement]
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] | None = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def after(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements that follow in the same block."""
        block = self.block(statement)
        return block[block.index(statement) + 1 :]

    def functions(self, name: str) -> list[ast.FunctionDef]:
        """Return the functions defined under a name, which may be `Class.method` or `outer.inner`."""
        last = name.rpartition(".")[2]
        found = [n for n in self.nodes(ast.FunctionDef) if n.name == last]
        exact = [n for n in found if self.qualified(n) == name]
        return exact or found

    def qualified(self, node: ast.AST) -> str:
        names = [getattr(node, "name", "<lambda>")]
        names += [getattr(n, "name", "<lambda>") for n in self.above(node) if isinstance(n, Scope)]
        return ".".join(reversed(names))

    def nodes(
        self, kind: type[NodeT] | tuple[type[NodeT], ...], within: ast.AST | None = None
    ) -> list[NodeT]:
        """Return all nodes of a kind, in source order."""
        found = [n for n in ast.walk(within or self.tree) if isinstance(n, kind)]
        return sorted(found, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))

    def calls_of(self, *names: str, within: ast.AST | None = None) -> list[ast.Call]:
        """Return the calls of functions with these qualified names."""
        return [c for c in self.nodes(ast.Call, within) if self.meaning(c.func) in names]

    # -- names ----------------------------------------------------------------------------------

    def meaning(self, node: ast.AST) -> str:
        """Return the qualified name of an expression: "jax.numpy.where" for `jnp.where`, or ""."""
        if isinstance(node, ast.Attribute):
            base = self.meaning(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, "")
        return ""

    @property
    def package(self) -> str:
        """Return the package that the script imports, "sagax" or "jax"."""
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
        """Return the text for a qualified name in this file, and the import it needs."""
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
        """Insert an import below the last one; one of the standard library above the others."""
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
        """Return the expressions that a name is assigned in a function or module."""
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
        """Return a name like `wanted` that is unused where these nodes stand."""
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
    """Map imported names to qualified names, with `jax` as the root for sagax too."""
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
    return _PACKAGES.get(root, root) + dot + rest


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return all(name.split(".")[0] in _STANDARD for name in names)


_STANDARD = {
    "collections", "dataclasses", "functools", "itertools", "math", "operator", "os", "random",
    "sys", "time", "typing",
}  # fmt: skip


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


# --- names in code -----------------------------------------------------------------------------


def names_in(nodes: ast.AST | Iterable[ast.AST], context: type[ast.expr_context]) -> list[str]:
    """Return the names that code reads (`ast.Load`) or binds (`ast.Store`), in order."""
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
    """Return the names that code binds, except in comprehensions and inner functions."""
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


def declared_names(function: ast.AST) -> list[str]:
    """Return the names that a function declares global or nonlocal."""
    return [
        n for s in ast.walk(function) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names
    ]


def target_names(target: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def last_name(node: object) -> str:
    """Return `x` for both `x` and `a.x`; "" for any other node."""
    return getattr(node, "id", getattr(node, "attr", ""))


def keyword_value(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value that a call passes for a keyword, if any."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def parameters(function: Function) -> list[str]:
    """Return the names of a function's parameters, without `*args` and `**kwargs`."""
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def arguments(function: Function) -> list[str]:
    """Return the names of a function's parameters but for `self`."""
    known = parameters(function)
    return known[1:] if known[:1] == ["self"] else known


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """Return the value that a call passes for a parameter, if any."""
    if name_value := keyword_value(call, name):
        return name_value
    return call.args[position] if len(call.args) > position else None


def first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """Return the first statement of a function behind its docstring."""
    first, *rest = function.body
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return rest[0] if documented and rest else first


def tuple_text(items: Sequence[str]) -> str:
    """Return the text of a tuple display."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
