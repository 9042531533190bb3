"""Pass the state of a compiled function in and out: attributes and globals that it reads and writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.leaks import find_leaks
from sagax._autofix.repairs.source_file import INDENT, Source, declared_names, parameters, stores
from sagax._autofix.repairs.transform_options import applications
from sagax._src.diagnostics.model import Edit


def thread_state(case: Case) -> Iterator[Candidate]:
    """Pass state to a compiled function and take it from its results, in a function of its name."""
    functions: dict[ast.FunctionDef, Source] = {}
    for source, store in find_leaks(case):
        function = source.function(store.statement)
        if isinstance(function, ast.FunctionDef):
            functions.setdefault(function, source)
    if case.source is not None and case.node is not None:
        function = case.source.function(case.node)
        if isinstance(function, ast.FunctionDef):
            functions.setdefault(function, case.source)
    for function, source in functions.items():
        applied = [a for a in applications(case, function.name) if a.function is function]
        if len(applied) != 1 or not applied[0].decorator or len(function.decorator_list) != 1:
            continue
        state = _State(source, function)
        if edits := state.edits():
            names = ", ".join(f"`{text}`" for text in state.names)
            title = f"pass {names} to the compiled function, and keep what it returns"
            yield Candidate("thread_state", title, tuple(edits), -1 if state.reads else 1)


class _State:
    """Hold the state of a function: attributes of self, and variables declared global or nonlocal.

    `names` maps the text of each to the local name that stands for it.
    """

    def __init__(self, source: Source, function: ast.FunctionDef) -> None:
        self.source, self.function = source, function
        self.names: dict[str, str] = {}
        self.reads: set[str] = set()

    def edits(self) -> list[Edit]:
        source, function = self.source, self.function
        args = function.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
            return []
        self.nodes = list(self._find())
        if not self.names:
            return []
        edits = [
            source.replace(n, self.names[ast.unparse(n)])
            for n in self.nodes
            if ast.unparse(n) != self.names[ast.unparse(n)]
        ]
        for declared in source.nodes((ast.Global, ast.Nonlocal), function):  # type: ignore[arg-type]
            kept = [n for n in declared.names if n not in self.names]
            word = "global" if isinstance(declared, ast.Global) else "nonlocal"
            edits.append(
                source.replace(declared, f"{word} {', '.join(kept)}")
                if kept
                else source.delete(declared)
            )
        returned = self._returns()
        if returned is None:
            return []
        edits += returned
        line = source.lines[function.lineno - 1]
        column = line.index(function.name, function.col_offset + len("def"))
        edits.append(source.insert(function.lineno, column, "_"))
        passed = [local for text, local in self.names.items() if text in self.reads]
        if passed:
            last = args.args[-1] if args.args else None
            if last is None:
                at = line.index("(", column) + 1
                edits.append(source.insert(function.lineno, at, ", ".join(passed)))
            else:
                edits.append(source.around(last, "", f", {', '.join(passed)}")[0])
        # above it: the function may end with a return that another edit extends
        edits.append(source.insert_above(source.first_line(function), self._wrapper()))
        return edits

    def _find(self) -> Iterator[ast.expr]:
        """Yield the expressions that read or write the state, after it is known."""
        source, function = self.source, self.function
        declared = set(declared_names(function))
        taken = {*parameters(function), *stores(function.body)}
        found: list[ast.expr] = []
        for statement in source.nodes((ast.Assign, ast.AugAssign, ast.AnnAssign), function):  # type: ignore[arg-type]
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    own = (
                        isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self"
                    )
                    if own or (isinstance(part, ast.Name) and part.id in declared):
                        found.append(part)
                        if isinstance(statement, ast.AugAssign):
                            self.reads.add(ast.unparse(part))
        for part in found:
            text = ast.unparse(part)
            name = text.removeprefix("self.")
            if text != name and name in taken:
                name = source.fresh(f"new_{name}", function.body[0])
            self.names.setdefault(text, name)
        for node in source.nodes((ast.Attribute, ast.Name), function):  # type: ignore[arg-type]
            if ast.unparse(node) in self.names:
                if isinstance(node.ctx, ast.Load):
                    self.reads.add(ast.unparse(node))
                yield node
        if any(source.function(n) is not function for n in found) or any(
            isinstance(n, ast.Delete) for n in ast.walk(function)
        ):
            self.names.clear()

    def _returns(self) -> list[Edit] | None:
        """Return the edits that add the state to what the function returns; None if none can."""
        source, function = self.source, self.function
        state = ", ".join(self.names.values())
        found = [n for n in source.nodes(ast.Return, function) if source.function(n) is function]
        self.returns = any(n.value is not None for n in found)
        if not found:
            last = function.body[-1]
            end = source.span(last)
            text = f"\n{source.indent(function.body[0])}return {state}"
            return [source.insert(end.end_line, end.end_column or 0, text)]
        edits: list[Edit] = []
        for node in found:
            if node.value is None:
                return None
            bracket = isinstance(node.value, ast.Tuple) and source.code(node.value)[0] != "("
            left, right = ("(", ")") if bracket else ("", "")
            edits += source.around(node.value, left, f"{right}, {state}")
        return edits

    def _wrapper(self) -> str:
        source, function = self.source, self.function
        indent = source.indent(function)
        inside = indent + INDENT
        method = parameters(function)[:1] == ["self"]
        given = [*parameters(function)[method:], *[t for t in self.names if t in self.reads]]
        call = f"{'self.' if method else ''}_{function.name}({', '.join(given)})"
        lines: list[str] = []
        for declared in source.nodes((ast.Global, ast.Nonlocal), function):  # type: ignore[arg-type]
            word = "global" if isinstance(declared, ast.Global) else "nonlocal"
            kept = [n for n in declared.names if n in self.names]
            lines += [f"{inside}{word} {', '.join(kept)}"] if kept else []
        if self.returns:
            result = source.fresh("result", function.body[0])
            lines.append(f"{inside}{', '.join([result, *self.names])} = {call}")
            lines.append(f"{inside}return {result}")
        else:
            lines.append(f"{inside}{', '.join(self.names)} = {call}")
        gap = "\n" if indent else "\n\n"
        signature = ast.unparse(function.args)
        return "\n".join([f"{indent}def {function.name}({signature}):", *lines, gap[1:]])
