"""Compute a number before the traced call, and pass it as a static argument."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, last_name, loads, parameters
from sagax._autofix.repairs.transform_options import Application, applications, set_option
from sagax._src.diagnostics.model import Edit

_CONVERSIONS = {"int", "float", "bool"}
_SIZED = {"range", "arange", "zeros", "ones", "full", "eye", "linspace", "empty", "one_hot"}


@at_expression
def pass_number(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compute `int(x.max())` where the jitted function is called, and pass it as static."""
    function = source.function(node)
    if not isinstance(function, ast.FunctionDef):
        return
    for number, text, assigned in _numbers(source, node, function):
        for name in [n for n, reason in reversed(case.facts.transforms) if reason == "jit"]:
            for applied in applications(case, name):
                edits = _Hoist(case, source, function, number, text, assigned, applied).edits()
                if edits:
                    yield Candidate(
                        "static_args",
                        "compute the number before the call, and pass it as a static argument: the "
                        "program is compiled once for each value",
                        tuple(edits),
                        5,
                    )
                    return


@at_expression
def pass_segment_count(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Count the segments where the jitted function is called, and pass their number as static."""
    function = source.function(node)
    if "num_segments" not in case.facts.message or not isinstance(function, ast.FunctionDef):
        return
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return
    ids = node.args[1]
    text = f"int({source.primary(ids)}.max()) + 1"
    calls = [
        c
        for c in source.nodes(ast.Call, function)
        if source.meaning(c.func).startswith("jax.ops.segment_")
        and len(c.args) == 2
        and source.code(c.args[1]) == source.code(ids)
        and all(k.arg != "num_segments" for k in c.keywords)
    ]
    for name in [n for n, reason in reversed(case.facts.transforms) if reason == "jit"]:
        for applied in applications(case, name):
            hoist = _Hoist(case, source, function, ids, text, "", applied)
            hoist.name = source.fresh("num_segments", node)
            given = f"num_segments={hoist.name}"
            edits = hoist.edits([source.replace(c, source.call_with(c, given)) for c in calls])
            if edits:
                title = (
                    "count the segments before the call, and pass their number as a static argument"
                )
                yield Candidate("static_args", title, tuple(edits), 2)
                return


def _numbers(
    source: Source, node: ast.AST, function: ast.FunctionDef
) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield the expression of the number that is needed, its text as a number, and the variable that holds it."""
    if not isinstance(node, ast.Call):
        return
    name = last_name(node.func)
    if name in _CONVERSIONS and isinstance(node.func, ast.Name):
        yield node, source.code(node), ""
    elif name == "item":
        yield node, source.code(node), ""
    elif name in _SIZED:
        for part in (*node.args, *(k.value for k in node.keywords)):
            held = part.id if isinstance(part, ast.Name) else ""
            values = source.assigned(held, function) if held else [part]
            if len(values) == 1 and any(isinstance(n, ast.Call) for n in ast.walk(values[0])):
                yield values[0], f"int({source.code(values[0])})", held


class _Hoist:
    """Collect the edits that move a number from a function to the calls of the jitted one."""

    def __init__(
        self,
        case: Case,
        source: Source,
        function: ast.FunctionDef,
        number: ast.expr,
        text: str,
        assigned: str,
        applied: Application,
    ) -> None:
        self.case, self.source, self.function, self.applied = case, source, function, applied
        self.number, self.text = number, text
        statement = source.statement(number)
        self.assigned = assigned
        if (
            not assigned
            and isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and text == source.code(number)
        ):
            rest = set(loads(statement.value)) - set(loads(number))
            if not rest - set(parameters(function)) - set(dir(builtins)):
                self.number, self.text = statement.value, source.code(statement.value)
                self.assigned = statement.targets[0].id
        self.name = self.assigned or source.fresh("size", number)

    def edits(self, uses: Sequence[Edit] = ()) -> list[Edit]:
        """Return the edits; `uses` are those that use the number, if it is not at hand in the function."""
        if self.applied.function is None or isinstance(self.applied.function, ast.Lambda):
            return []
        needed = self._needed(self.number, self.function)
        if needed is None:
            return []
        statement = self.source.statement(self.number)
        if uses:
            edits = list(uses)
        elif self.assigned:
            edits = [self.source.delete(statement)]
        else:
            edits = [self.source.replace(self.number, self.name)]
        found = self._lift(self.source, self.function, self.text, needed, 0)
        return [*edits, *found] if found else []

    @staticmethod
    def _needed(number: ast.expr, function: ast.FunctionDef) -> set[str] | None:
        """Return the parameters that the number is computed from; None if it needs more."""
        if _bound(function) & set(loads(number)):
            return None
        return set(parameters(function)) & set(loads(number))

    def _lift(
        self, source: Source, function: ast.FunctionDef, text: str, needed: set[str], depth: int
    ) -> list[Edit]:
        """Add the parameter to a function, and the number to its calls."""
        args = function.args
        if depth > 4 or not args.args or args.defaults or args.vararg or args.kwarg:
            return []
        last = (args.kwonlyargs or args.args)[-1]
        edits = [source.replace(last, f"{source.code(last)}, {self.name}")]
        jitted = function is self.applied.function
        calls = [c for c in self.case.calls(function) if c[0].function(c[1]) is not function]
        if not calls:
            return []
        if jitted:
            edits += set_option(self.applied, "static_argnames", f'("{self.name}",)')
        for there, call, passed in calls:
            if not needed <= set(passed):
                return []
            value = self._number_at(text, source.file, there, passed)
            around = there.function(call)
            if jitted or not isinstance(around, ast.FunctionDef):
                edits.append(there.replace(call, there.call_with(call, f"{self.name}={value}")))
                continue
            edits.append(there.replace(call, there.call_with(call, f"{self.name}={self.name}")))
            parsed = ast.parse(value, mode="eval").body
            known = set(parameters(around))
            reads = {n.id for n in ast.walk(parsed) if isinstance(n, ast.Name)}
            if reads & _bound(around):
                return []
            outer = self._lift(there, around, value, reads & known, depth + 1)
            if not outer:
                return []
            edits += outer
        return edits

    def _number_at(
        self, text: str, file: str, there: Source, passed: Mapping[str, ast.expr]
    ) -> str:
        """Return the text of the number in the names of a caller."""
        own = Source(file, text)
        texts: dict[ast.AST, str] = {
            n: there.primary(passed[n.id])
            for n in ast.walk(own.tree)
            if isinstance(n, ast.Name) and n.id in passed
        }
        return substitute(own, own.tree.body[0], texts)


def _bound(function: ast.FunctionDef) -> set[str]:
    return {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
