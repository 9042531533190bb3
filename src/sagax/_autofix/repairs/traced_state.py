"""Repair state that a traced function keeps: return the value, or update the state at the calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.arrays import return_to_callers
from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.layout import trailing_comment
from sagax._autofix.repairs.leaks import (
    ReturnValueEdits,
    Store,
    call_sites,
    is_called_traced,
    parse_store,
)
from sagax._autofix.repairs.source_file import (
    Source,
    declared_names,
    first_statement,
    loads,
    parameters,
    stores,
)
from sagax._autofix.repairs.transform_options import applications
from sagax._src.diagnostics.model import Edit

_MAX_CALLS = 5
_SIMPLE = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)


@at_expression
def update_at_calls(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Update the state where the function is called, if the update needs nothing from within."""
    statement = source.statement(node)
    function = source.function(statement)
    if not isinstance(function, ast.FunctionDef):
        return
    together = [s for s in function.body if _moves(source, s, function)]
    if statement not in together:
        return
    groups = [together, [statement]] if len(together) > 1 else [together]
    for rank, group in enumerate(groups, 1):
        moved = _MovedUpdates(case)
        if moved.move(source, function, group):
            title = f"update it where `{function.name}` is called, each time"
            yield Candidate("move_update", title, tuple(moved.made), rank)
        elif edits := _wrapped(case, source, function, group):
            title = "update it in a function that calls the compiled one"
            yield Candidate("move_update", title, tuple(edits), rank)


@at_expression
def return_changed_argument(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return the argument that a traced function changes, and assign it where it is called."""
    function = source.function(node)
    statement = source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    target = statement.target if isinstance(statement, ast.AugAssign) else target
    owner = target
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    if not isinstance(function, ast.FunctionDef) or not isinstance(owner, ast.Name):
        return
    if owner.id not in parameters(function) or source.nodes(ast.Return, function):
        return
    edits = return_to_callers(case, source, function, owner.id)
    if edits:
        title = f"return `{owner.id}`, and assign it where `{function.name}` is called"
        yield Candidate("return_value", title, tuple(edits), 0)


@at_expression
def return_stored_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return a traced value, and keep it where the function is called."""
    statement = source.statement(node)
    function = source.function(statement)
    if not isinstance(function, ast.FunctionDef):
        return
    store = parse_store(source, statement, function)
    if store is None:
        return
    edits = ReturnValueEdits(case, source, store).edits()
    if edits:
        title = "return the value, and keep it where the function is called"
        yield Candidate("return_value", title, tuple(edits), 2)


def _moves(source: Source, statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Return whether a statement stores outside what it computes from arguments and outer names."""
    store = parse_store(source, statement, function)
    if store is None or _is_read(source, store, statement, function):
        return False
    own = set(declared_names(function))
    local = set(stores(function.body)) - own - set(parameters(function))
    return not (set(loads(statement)) - own) & local


def _is_read(source: Source, store: Store, statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Return whether the function reads the state that it keeps, besides to update it."""
    target = store.text.split(" ")[0].split("(")[0]
    target = target if store.plain or "(" not in store.text else target.rpartition(".")[0]
    found = [
        n
        for s in source.nodes((ast.Name, ast.Attribute, ast.Subscript), function)  # type: ignore[arg-type]
        for n in [s]
        if isinstance(n.ctx, ast.Load) and ast.unparse(n) == target
    ]
    return any(source.statement(n) is not statement for n in found)


def _wrapped(
    case: Case, source: Source, function: ast.FunctionDef, group: list[ast.stmt]
) -> list[Edit]:
    """Rename the compiled function, and add one of its name that updates the state and calls it."""
    args = function.args
    if args.vararg or args.kwarg or args.kwonlyargs or parameters(function)[:1] == ["self"]:
        return []
    if len(group) == len(function.body) or {n for s in group for n in stores(s)}:
        return []
    applied = [a for a in applications(case, function.name) if a.function is function]
    if len(applied) != 1 or applied[0].source is not source:
        return []
    texts = [source.code(s) for s in group]
    given = ", ".join(parameters(function))
    signature = ast.unparse(args)
    node = applied[0].node
    edits = [source.delete(s) for s in group]
    if applied[0].decorator:
        name, compiled = function.name, f"_{function.name}"
        indent = source.indent(function)
        line = source.lines[function.lineno - 1]
        column = line.index(function.name, function.col_offset + len("def"))
        edits.append(source.insert(function.lineno, column, "_"))
        below: ast.stmt = function
    else:
        below = source.statement(node)
        if not isinstance(below, ast.Assign) or below.value is not node:
            return []
        target = below.targets[0]
        if not isinstance(target, ast.Name):
            return []
        name, compiled = target.id, f"_{target.id}"
        indent = source.indent(below)
        edits.append(source.replace(target, compiled))
    body = "\n".join(f"{indent}    {t}" for t in texts)
    gap = "\n\n\n" if not indent else "\n\n"
    text = f"{gap}{indent}def {name}({signature}):\n{body}\n{indent}    return {compiled}({given})"
    text += "" if applied[0].decorator else "\n"
    edits.append(source.around(below, "", text)[0])
    return edits


class _MovedUpdates:
    """Build the edits that move statements out of a function, to all of its calls."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.made: list[Edit] = []
        self.comments: list[str] = []

    def move(self, source: Source, function: ast.FunctionDef, group: list[ast.stmt]) -> bool:
        self.made += [source.delete(s) for s in group]
        if len(group) == len(function.body):
            return False
        names = {n for s in group for n in stores(s)}
        self.undeclare(source, function, names, group)
        self.comments = [trailing_comment(source, s) for s in group]
        texts = [source.code(s) for s in group]
        return self.insert(source, function, texts, names, 0)

    def undeclare(
        self, source: Source, function: ast.FunctionDef, names: set[str], group: list[ast.stmt]
    ) -> None:
        """Drop the declarations of variables that the function no longer assigns."""
        rest = {n for s in function.body if s not in group for n in stores(s)}
        for s in source.nodes((ast.Global, ast.Nonlocal), function):  # type: ignore[arg-type]
            kept = [n for n in s.names if n not in names or n in rest]
            if len(kept) < len(s.names):
                word = "global" if isinstance(s, ast.Global) else "nonlocal"
                edit = source.replace(s, f"{word} {', '.join(kept)}") if kept else source.delete(s)
                self.made.append(edit)

    def insert(
        self,
        source: Source,
        function: ast.FunctionDef,
        texts: list[str],
        names: set[str],
        depth: int,
    ) -> bool:
        """Insert the statements before each call, with its arguments for the parameters."""
        sites = call_sites(self.case, source, function)
        if not sites or depth > _MAX_CALLS:
            return False
        for site in sites:
            there, call = site.source, site.call
            if site.kinds() & {"jax.lax.scan", "jax.vmap"} or there is not source and names:
                return False
            given = self.arguments(function, call, site.receiver)
            found = [self.substituted(t, function, given) for t in texts]
            if any(t is None for t in found):
                return False
            moved = [t for t in found if t is not None]
            around = there.function(call)
            if isinstance(around, ast.FunctionDef) and self.is_traced(there, around):
                if not self.insert(there, around, moved, names, depth + 1):
                    return False
                continue
            statement = there.statement(call)
            scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
            inside = there.enclosing(call, scopes)  # type: ignore[arg-type]
            if (inside is not None and there.function(inside) is around) or isinstance(
                statement, ast.While
            ):
                return False
            indent = there.indent(statement)
            commented = [f"{t}  {c}" if c else t for t, c in zip(moved, self.comments, strict=True)]
            lines = "\n".join(f"{indent}{line}" for t in commented for line in t.split("\n"))
            self.made.append(there.insert_above(there.first_line(statement), lines))
            self.declare(there, around, names)
        return True

    def is_traced(self, source: Source, function: ast.FunctionDef) -> bool:
        return is_called_traced(self.case, source, function)

    def arguments(
        self, function: ast.FunctionDef, call: ast.Call, receiver: str
    ) -> dict[str, ast.expr | str]:
        known = parameters(function)
        given: dict[str, ast.expr | str] = {}
        if known[:1] == ["self"] and receiver:
            given["self"] = receiver
            known = known[1:]
        given |= dict(zip(known, call.args, strict=False))
        return given | {k.arg: k.value for k in call.keywords if k.arg is not None}

    def substituted(
        self, text: str, function: ast.FunctionDef, given: dict[str, ast.expr | str]
    ) -> str | None:
        """Return a statement with the arguments of a call; None if one is missing or computed."""
        parsed = Source("", text)
        texts: dict[ast.AST, str] = {}
        for name in parsed.nodes(ast.Name):
            if name.id not in parameters(function):
                continue
            value = given.get(name.id)
            if isinstance(value, str):
                texts[name] = value
            elif isinstance(value, _SIMPLE):
                texts[name] = ast.unparse(value)
            elif value is not None and _is_static_read(parsed, name):
                texts[name] = (
                    f"({ast.unparse(value)})"
                    if not isinstance(value, ast.Call)
                    else ast.unparse(value)
                )
            else:
                return None
        return substitute(parsed, parsed.tree.body[0], texts)

    def declare(self, source: Source, around: ast.AST | None, names: set[str]) -> None:
        """Declare variables that the function around a call does not own."""
        if not isinstance(around, ast.FunctionDef):
            return
        for name in sorted(names):
            if name in declared_names(around):
                continue
            module = {n for s in source.tree.body for n in stores(s)}
            if name in {*parameters(around), *stores(around.body)}:
                continue
            word = "global" if name in module else "nonlocal"
            first = first_statement(around)
            line = f"{source.indent(first)}{word} {name}"
            self.made.append(source.insert_above(source.first_line(first), line))


def _is_static_read(source: Source, name: ast.Name) -> bool:
    parent = source.parents.get(name)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "ndim", "dtype", "size")
