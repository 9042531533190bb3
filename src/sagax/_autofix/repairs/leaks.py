"""Return leaked tracers from their function, and store them in the caller."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.control_flow import bound_before
from sagax._autofix.repairs.source_file import (
    Source,
    declared_names,
    first_statement,
    last_name,
    loads,
    parameters,
    stores,
)
from sagax._autofix.repairs.transform_options import JIT_FUNCTIONS, Application, set_option
from sagax._src.diagnostics.model import Edit

_GRADS = ("jax.grad", "jax.value_and_grad")
_TRANSFORMS = (
    *JIT_FUNCTIONS,
    *_GRADS,
    "jax.vmap",
    "jax.checkpoint",
    "jax.remat",
    "functools.partial",
)
_INNER_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


def return_leaked_value(case: Case) -> Iterator[Candidate]:
    """Return a traced value that is stored in a list, dict, attribute or global."""
    if "UnexpectedTracerError" not in case.facts.classes and not any(
        label.primary and "leaks" in label.text for label in case.facts.diagnostic.labels
    ):
        return
    found = list(find_leaks(case))
    found += [outer for source, store in found for outer in _storing_calls(case, source, store)]
    for source, store in found:
        if edits := ReturnValueEdits(case, source, store).edits():
            title = "return the value, and keep it where the function is called"
            yield Candidate("return_value", title, tuple(edits), 0)
    yield from _return_filled_dict(case, found)


def _return_filled_dict(case: Case, found: list[tuple[Source, Store]]) -> Iterator[Candidate]:
    """Return a global dict that is filled while tracing, and fill it again in the caller."""
    traced = {case.facts.diagnostic.function, *[n for n, _ in case.facts.transforms]} - {""}
    for source, store in found:
        values = [d for v in case.sources.values() for d in v.assigned(store.base, v.tree)]
        if "[" not in store.text or not any(_creates_dict(d) for d in values):
            continue
        for name in sorted(traced):
            for there, function in case.definition(name):
                if there is not source and store.base not in there.imports:
                    continue
                whole = store._replace(text=f"{store.base}.update({{}})", each="")
                edits = ReturnValueEdits(case, source, whole)
                edits.wanted = there.fresh("filled", function, *there.nodes(ast.stmt))
                if edits.propagate(there, function, f"dict({store.base})"):
                    title = (
                        f"return what `{store.base}` holds, and fill it where `{name}` is called"
                    )
                    yield Candidate("return_value", title, tuple(edits.made), 1)


def _creates_dict(value: ast.expr) -> bool:
    called = getattr(getattr(value, "func", None), "id", "")
    return isinstance(value, ast.Dict) or called in ("dict", "defaultdict", "OrderedDict")


def _storing_calls(case: Case, source: Source, store: Store) -> Iterator[tuple[Source, Store]]:
    """Yield the calls of a function that stores its argument, such as `remember("h", h)`."""
    storing = source.function(store.statement)
    if not isinstance(storing, ast.FunctionDef) or is_called_traced(case, source, storing):
        return
    for there in case.sources.values():
        for statement in there.nodes(ast.Expr):
            call = statement.value
            if not isinstance(call, ast.Call) or there.function(statement) is None:
                continue
            if last_name(call.func) != storing.name:
                continue
            given = [*call.args, *[k.value for k in call.keywords]]
            given = [a for a in given if not isinstance(a, (ast.Constant, ast.Starred))]
            if not given:
                continue
            text = substitute(there, call, {given[-1]: "{}"})
            yield there, Store(statement, given[-1], text, "", _root_name(call.func) or "")


def is_called_traced(case: Case, source: Source, function: ast.FunctionDef) -> bool:
    return any(s.kinds() - {"functools.partial"} for s in call_sites(case, source, function))


# --- statements that store values ----------------------------------------------------------------


class Store(NamedTuple):
    """Describe a statement that stores a value outside of its function.

    `text` is the code that stores a value, "history.append({})"; `each` stores each of several.
    """

    statement: ast.stmt
    value: ast.expr
    text: str
    each: str
    base: str  # the name that the container is reached from
    plain: bool = False  # a variable itself, declared global or nonlocal


def find_leaks(case: Case) -> Iterator[tuple[Source, Store]]:
    """Yield the statements that store a traced value outside of its function, the likeliest first."""
    diagnostic = case.facts.diagnostic
    spans = [label.span for label in diagnostic.labels] + [s.span for s in diagnostic.chain]
    seen: set[int] = set()
    functions: list[tuple[Source, ast.AST]] = []

    def add(source: Source, function: ast.AST) -> None:
        if id(function) not in seen:
            seen.add(id(function))
            functions.append((source, function))

    for source, node in case.located(spans):
        if (function := source.function(node)) is not None:
            add(source, function)
    for name in re.findall(r" in ([\w.]+):", " ".join(diagnostic.notes)):
        for source, function in case.definition(name.rpartition(".")[2]):
            add(source, function)
    for source, function in functions:
        for statement in source.nodes(ast.stmt, function):
            if source.function(statement) is function and (
                store := parse_store(source, statement, function)
            ):
                yield source, store


def parse_store(source: Source, statement: ast.stmt, function: ast.AST) -> Store | None:
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    own = declared_names(function)
    local = bound_before(source, statement) - set(own)

    def outside(root: str | None) -> bool:
        return root is not None and (root == "self" or root not in local)

    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and not call.keywords and call.args:
            root, method = _root_name(call.func.value), source.code(call.func)
            head = "".join(f"{source.code(a)}, " for a in call.args[:-1])
            if call.func.attr in _STORING_METHODS and outside(root):
                text = f"{method}({head}{{}})"
                several = method.rpartition(".")[0] + "." + _STORING_METHODS[call.func.attr]
                each = f"{several}({{}})" if _STORING_METHODS[call.func.attr] else ""
                return Store(statement, call.args[-1], text, each, root or "")
        if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3:
            root = _root_name(call.args[0])
            if outside(root):
                text = f"setattr({source.code(call.args[0])}, {source.code(call.args[1])}, {{}})"
                return Store(
                    statement, call.args[2], text, text.replace("{}", "{}[-1]"), root or ""
                )
    if isinstance(statement, ast.AugAssign):
        target, sign = statement.target, _OPERATOR_SIGNS.get(type(statement.op))
        each = f"{source.code(target)} += sum({{}})" if sign == "+" else ""
        text = f"{source.code(target)} {sign}= {{}}"
        value = statement.value
        if sign is None:
            return None
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        text = f"{source.code(target)} = {{}}"
        each = text + "[-1]"
    else:
        return None
    if isinstance(target, ast.Name) and target.id in own:
        return Store(statement, value, text, each, target.id, True)
    root = _root_name(target) if isinstance(target, (ast.Attribute, ast.Subscript)) else None
    return Store(statement, value, text, each, root or "") if outside(root) else None


# methods that store one value, with those that store several
_STORING_METHODS = {"append": "extend", "appendleft": "extendleft", "add": "update", "put": "", "insert": "",
           "extend": "", "update": "", "setdefault": ""}  # fmt: skip
_OPERATOR_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


def _root_name(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _using_functions(case: Case) -> Iterator[ast.AST]:
    """Yield the functions that use a leaked value."""
    for text, source, node in case.label_nodes:
        if "used" in text and (function := source.function(node)) is not None:
            yield function
    for name, _ in case.facts.transforms[-1:]:  # it was being traced when the value was used
        yield from [function for _, function in case.definition(name)]


# --- calls of a function -------------------------------------------------------------------------


_Through = tuple[tuple[str, Source, ast.expr], ...]


class CallSite(NamedTuple):
    """Describe a call of a function, or of what transformations made of it.

    `through` holds the transformations from the inside out, a scan as the last one. `receiver` is the
    object whose method the function is.
    """

    source: Source
    call: ast.Call
    through: _Through
    receiver: str

    def kinds(self) -> set[str]:
        return {kind for kind, _, _ in self.through}


def call_sites(case: Case, source: Source, function: ast.FunctionDef) -> list[CallSite]:
    """Return the calls of a function, by its name or through transformations of it."""
    through: list[tuple[str, Source, ast.expr]] = []
    for decorator in reversed(function.decorator_list):
        kind = _transform_name(source, decorator)
        if kind:
            through.append((kind, source, decorator))
    found: list[CallSite] = []
    seen: set[str] = set()
    todo = [(function.name, tuple(through), "")]
    owner = source.parents.get(function)
    if function.name == "__call__" and isinstance(owner, ast.ClassDef):
        todo += [(name, tuple(through), name) for name in _instance_names(case, owner.name)]
    while todo:
        name, so_far, receiver = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for there, use in case.uses(name):
            if there.function(use) is function:
                continue
            owner = there.code(use.value) if isinstance(use, ast.Attribute) else receiver
            call, more, names = _follow_to_call(there, use, so_far)
            if call is not None:
                found.append(CallSite(there, call, more, owner))
            todo += [(n, more, owner) for n in names]
    return found


def _instance_names(case: Case, class_name: str) -> list[str]:
    """Return the variables that objects of a class are assigned to."""
    return [
        target.id
        for _, assignment, _ in case.assignments()
        if isinstance(assignment.value, ast.Call)
        and getattr(assignment.value.func, "id", "") == class_name
        for target in assignment.targets
        if isinstance(target, ast.Name)
    ]


def _transform_name(source: Source, decorator: ast.expr) -> str:
    call = decorator if isinstance(decorator, ast.Call) else None
    kind = source.meaning(call.func if call is not None else decorator)
    if kind == "functools.partial" and call is not None and call.args:
        kind = source.meaning(call.args[0])
    return kind if kind in _TRANSFORMS else ""


def _follow_to_call(
    source: Source, use: ast.expr, through: _Through
) -> tuple[ast.Call | None, _Through, list[str]]:
    """Follow a use of a function to its call, or to the names that it is assigned to."""
    while True:
        parent = source.parents.get(use)
        if isinstance(parent, ast.Call) and parent.func is use:
            around = source.parents.get(parent)
            if isinstance(around, ast.Lambda) and around.body is parent:
                use = around  # it forwards its arguments
                continue
            return parent, through, []
        if isinstance(parent, ast.Call) and parent.args[:1] == [use]:
            kind = source.meaning(parent.func)
            if kind == "jax.lax.scan":
                return parent, (*through, (kind, source, parent)), []
            if kind not in _TRANSFORMS:
                return None, through, []
            through = (*through, (kind, source, parent))
            use = parent
            continue
        if isinstance(parent, ast.Assign) and parent.value is use:
            names = [last_name(t) for t in parent.targets]
            return None, through, [n for n in names if n]
        return None, through, []


# --- edits ---------------------------------------------------------------------------------------


class ReturnValueEdits:
    """Build the edits that return a value through all callers up to an untraced one."""

    def __init__(self, case: Case, source: Source, store: Store) -> None:
        self.case, self.source, self.store = case, source, store
        self.made: list[Edit] = []
        self.wanted = ""
        self.several = False  # the value arrives stacked, or as a list
        self.users = {
            f for f in _using_functions(case) if f is not source.function(store.statement)
        }

    def edits(self) -> list[Edit]:
        function = self.source.function(self.store.statement)
        if not isinstance(function, ast.FunctionDef):
            return []
        value = self.make_local(function)
        if not value or not self.propagate(self.source, function, value):
            return []
        return self.made

    def make_local(self, function: ast.FunctionDef) -> str:
        """Keep the value in a local variable; return its name, or "" if that cannot be done."""
        source, store = self.source, self.store
        self.wanted = _result_name(store)
        for there in self.case.sources.values():
            sites = [s.call for s in call_sites(self.case, source, function) if s.source is there]
            self.wanted = there.fresh(self.wanted, *sites) if sites else self.wanted
        if store.plain:
            return self.make_variable_local(function)
        block = source.parents[store.statement]
        while isinstance(block, (ast.If, ast.With)):
            block = source.parents[block]
        if isinstance(block, _LOOPS):  # several values: collect them in a local list
            if not store.each or store.text == store.each:
                return ""
            name = source.fresh("kept", store.statement)
            first = first_statement(function)
            line = f"{source.indent(first)}{name} = []"
            top = source.insert_above(source.first_line(first), line)
            self.made += [top, source.replace(store.statement, f"{name}.append({self.text()})")]
            self.several, self.wanted = True, name
            return name
        later = [n for s in _after(source, function, store.statement) for n in stores(s)]
        whole = source.parents[store.statement] is function
        if whole and not set(loads(store.value)) & set(later):
            self.made.append(source.delete(store.statement))
            return self.text()
        name = source.fresh("kept", store.statement)
        self.made.append(source.replace(store.statement, f"{name} = {self.text()}"))
        return name if whole else ""

    def text(self) -> str:
        return self.source.code(self.store.value)

    def make_variable_local(self, function: ast.FunctionDef) -> str:
        """Make a global or nonlocal variable local; return its name, or ""."""
        source, store = self.source, self.store
        name = self.wanted = store.base
        for s in source.nodes((ast.Global, ast.Nonlocal), function):  # type: ignore[arg-type]
            if name in s.names:
                rest = ", ".join(n for n in s.names if n != name)
                word = "global" if isinstance(s, ast.Global) else "nonlocal"
                self.made.append(source.replace(s, f"{word} {rest}") if rest else source.delete(s))
        assigned = [
            s for s in source.nodes((ast.Assign, ast.AugAssign), function) if name in stores(s)
        ]  # type: ignore[arg-type]
        if assigned != [store.statement] or not isinstance(
            source.parents[store.statement], ast.FunctionDef
        ):
            return ""
        reads = [u for u in source.uses(name, function) if isinstance(u.ctx, ast.Load)]
        if isinstance(store.statement, ast.Assign) and not reads:
            return name
        new = source.fresh(f"new_{name}", store.statement)
        self.made.append(source.replace(store.statement, f"{new} = {self.text()}"))
        end = store.statement.end_lineno or 0
        if any(u.lineno > end for u in reads) and isinstance(store.statement, ast.AugAssign):
            return ""
        self.made += [source.replace(u, new) for u in reads if u.lineno > end]
        if isinstance(store.statement, ast.AugAssign):
            self.wanted = source.fresh(f"new_{name}", store.statement)
        return new

    def propagate(self, source: Source, function: ast.FunctionDef, value: str) -> bool:
        """Return the value, and unpack it from the results of all calls, up to an untraced caller."""
        traced = self.traced_names()
        for _ in range(6):
            sites = call_sites(self.case, source, function)
            scanned = any("jax.lax.scan" in site.kinds() for site in sites)
            is_traced = bool(traced & {function.name, source.qualified(function)}) or any(
                site.kinds() - {"functools.partial"} for site in sites
            )
            bare = _extend_returns(source, function, value, self.made, scanned)
            if bare is None or not sites:
                return False
            done = False
            for site in sites:
                kinds = site.kinds()
                self.several = self.several or bool(kinds & {"jax.lax.scan", "jax.vmap"})
                for kind, there, applied in site.through:
                    if kind in _GRADS:
                        self.made += set_option(
                            Application(there, applied, function, True), "has_aux", "True"
                        )
                around = site.source.function(site.call)
                used = is_traced and around is not None and around in self.users
                if used or (is_traced and not self.still_traced(site.source, around, traced)):
                    done = self.store_result(site, bare) or done
                    continue
                if len(sites) != 1 or not isinstance(around, ast.FunctionDef):
                    return False
                if not self.unpack_result(site, bare):
                    return False
                source, function, value = site.source, around, self.wanted
            if done:
                return True
        return False

    def traced_names(self) -> set[str]:
        facts = self.case.facts
        names = {name for name, _ in facts.transforms} | {facts.diagnostic.function}
        return (names | set(re.findall(r"while tracing `([^`]*)`", facts.message))) - {""}

    def still_traced(self, source: Source, around: ast.AST | None, traced: set[str]) -> bool:
        """Return whether a call stands in a function that is itself traced."""
        if not isinstance(around, ast.FunctionDef):
            return False
        if traced & {around.name, source.qualified(around)}:
            return True
        return is_called_traced(self.case, source, around)

    def pattern(self, site: CallSite, bare: bool) -> tuple[str, str, str]:
        """Return what to assign a result to: given its target, without a target, and its old value."""
        source = site.source
        if "jax.lax.scan" in site.kinds():
            names = [source.fresh(n, site.call) for n in ("carry", "outputs")]
            if bare:
                return "{0}, " + self.wanted, f"{names[0]}, {self.wanted}", f"({names[0]}, None)"
            target = f"{names[0]}, ({names[1]}, {self.wanted})"
            return "{0}, ({1}, " + self.wanted + ")", target, f"({names[0]}, {names[1]})"
        if "jax.value_and_grad" in site.kinds():
            names = [source.fresh(n, site.call) for n in ("value", "gradient")]
            target = f"({names[0]}, {self.wanted}), {names[1]}"
            return "({0}, " + self.wanted + "), {1}", target, f"({names[0]}, {names[1]})"
        name = source.fresh("result", site.call)
        return "{}, " + self.wanted, f"{name}, {self.wanted}", name

    def unpack_result(self, site: CallSite, bare: bool) -> bool:
        """Rewrite `y = f(x)` as `y, wanted = f(x)`; hoist a call inside an expression."""
        source, call = site.source, site.call
        statement = source.statement(call)
        target_pattern, line_pattern, old_result = self.pattern(site, bare)
        if isinstance(statement, ast.Assign) and statement.value is call:
            if len(statement.targets) != 1:
                return False
            target = statement.targets[0]
            if target_pattern.startswith("{}"):
                text = source.code(target)
                if isinstance(target, ast.Tuple) and not text.startswith("("):
                    text = f"({text})"
                self.made.append(source.replace(target, target_pattern.format(text)))
                return True
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                parts = [source.code(e) for e in target.elts]
                self.made.append(source.replace(target, target_pattern.format(*parts)))
                return True
        if source.enclosing(call, _INNER_SCOPES):  # type: ignore[arg-type]
            return False
        if isinstance(statement, ast.Expr) and statement.value is call:
            left = f"_, {self.wanted}" if target_pattern.startswith("{}") else line_pattern
            self.made.append(source.replace(call, f"{left} = {source.code(call)}"))
            return True
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
            return False
        line = f"{source.indent(statement)}{line_pattern} = {source.code(call)}"
        self.made += [
            source.insert_above(source.first_line(statement), line),
            source.replace(call, old_result),
        ]
        return True

    def store_result(self, site: CallSite, bare: bool) -> bool:
        """Unpack the value at a call and store it after the call, as the function did."""
        source, call, store = site.source, site.call, self.store
        text = store.each if self.several else store.text
        if not text:
            return False
        if store.base == "self" and site.receiver:
            text = re.sub(r"^((?:setattr\()?)self\b", rf"\g<1>{site.receiver}", text)
        count = len(self.made)
        if not self.unpack_result(site, bare):
            return False
        if store.plain:
            self.declare_outer(source, call)
        if text == f"{self.wanted} = {{}}":
            return True  # the variable itself takes the result
        statement = source.statement(call)
        keep = f"{source.indent(statement)}{text.format(self.wanted)}"
        if isinstance(statement, (ast.Assign, ast.Expr)) and statement.value is call:
            row = statement.end_lineno or 1
            self.made.append(source.insert(row, len(source.lines[row - 1]), f"\n{keep}"))
        else:  # after the line that calls, before the statement that uses the result
            last = self.made[count]
            self.made[count] = Edit(last.span, f"{last.text.rstrip(chr(10))}\n{keep}\n")
        return True

    def declare_outer(self, source: Source, call: ast.Call) -> None:
        """Declare the variable global or nonlocal in the function around a call, if it is not local."""
        around, name = source.function(call), self.store.base
        if not isinstance(around, ast.FunctionDef) or name in declared_names(around):
            return
        word = "nonlocal"
        if name in [n for s in self.source.tree.body for n in stores(s)]:
            word = "global"
        elif name in parameters(around) or name in stores(around.body):
            return
        first = first_statement(around)
        line = f"{source.indent(first)}{word} {name}"
        self.made.append(source.insert_above(source.first_line(first), line))


def _after(source: Source, function: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    end = statement.end_lineno or 0
    return [s for s in source.nodes(ast.stmt, function) if s.lineno > end]


def _result_name(store: Store) -> str:
    if isinstance(store.value, ast.Name):
        return store.value.id
    keys = re.findall(r"['\"](\w+)['\"]", store.text)
    if keys and keys[-1].isidentifier():
        return keys[-1]
    found = re.match(r"self\.(\w+)", store.text)
    return f"new_{found[1]}" if found else "kept"


def _extend_returns(
    source: Source, function: ast.FunctionDef, value: str, edits: list[Edit], scanned: bool
) -> bool | None:
    """Add a value to all returns of a function; None if that cannot be done.

    The body of a scan returns it with the stacked outputs; the result is True if there are no others.
    """
    found = [n for n in source.nodes(ast.Return, function) if source.function(n) is function]
    if not found:
        return None
    bare = False
    for node in found:
        if scanned:
            if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != 2:
                return None
            stacked = node.value.elts[1]
            bare = isinstance(stacked, ast.Constant) and stacked.value is None
            if bare:
                edits.append(source.replace(stacked, value))
            else:
                edits += source.around(stacked, "(", f", {value})")
        elif node.value is None:
            edits.append(source.replace(node, f"return None, {value}"))
        else:
            bracket = isinstance(node.value, ast.Tuple) and source.code(node.value)[0] != "("
            left, right = ("(", ")") if bracket else ("", "")
            edits += source.around(node.value, left, f"{right}, {value}")
    return bare
