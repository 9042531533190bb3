"""Repair results that are thrown away: assign them to the variable that is meant to change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.source_file import (
    Source,
    declared_names,
    last_name,
    loads,
    parameters,
    stores,
)
from sagax._src.diagnostics.model import Edit

_TARGETS = (ast.Name, ast.Attribute, ast.Subscript)


@at_expression
def assign_result(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Assign a thrown-away result to what it updates."""
    call = node.value if isinstance(node, ast.Expr) else node
    statement = source.statement(node)
    if not isinstance(call, ast.Call) or not isinstance(statement, ast.Expr):
        return
    if source.meaning(call.func).startswith("jax.random."):
        yield from _assign_keys(source, statement, call)
        return
    yield from _assign_tuple(case, source, statement, call)
    for rank, target in enumerate(_updated(case, source, call), 1):
        text = source.code(target)
        declared = _declaration(source, statement, target)
        if declared is not None and is_live(source, statement, target):
            title = f"assign the result to `{text}`, which does not change by itself"
            edits = (source.insert(statement.lineno, _column(source, statement), f"{text} = "),)
            yield Candidate("assign_result", title, (*edits, *declared), rank)
        else:
            yield from _return_from_helper(case, source, statement, call, target, rank)


def _column(source: Source, statement: ast.stmt) -> int:
    return source.span(statement).column or 0


def _updated(case: Case, source: Source, call: ast.Call) -> list[ast.expr]:
    """Return the arguments that the result may take the place of, the likeliest first."""
    function = call.func
    if isinstance(function, ast.Attribute) and not source.meaning(function):
        owner = function.value
        if isinstance(owner, ast.Subscript) and getattr(owner.value, "attr", "") == "at":
            assert isinstance(owner.value, ast.Attribute)
            array = owner.value.value
            return [array] if isinstance(array, _TARGETS) else []
        made = list(resolve_functions(case, source, function))
        if isinstance(owner, _TARGETS) and not made:  # a method of an array
            return [owner]
    given: list[ast.expr] = [*call.args, *[k.value for k in call.keywords]]
    given = [a for a in given if isinstance(a, _TARGETS)]
    if len(given) < 2:
        return given
    is_tree_map = source.meaning(call.func) in ("jax.tree.map", "jax.tree_util.tree_map")
    if is_tree_map and isinstance(call.args[0], _TARGETS):
        given = given[1:]
    wanted = {m.structure for m in case.measure(source, call)} - {""}
    alike = [a for a in given if wanted & {m.structure for m in case.measure(source, a)}]
    if is_tree_map:  # the first tree is the one to update; its numbers become arrays
        return [given[0], *[a for a in alike if a is not given[0]]]
    return alike if wanted else given[:1]


def is_live(source: Source, statement: ast.stmt, target: ast.expr) -> bool:
    """Return whether what a variable holds after a statement is read, before it is assigned anew."""
    if not isinstance(target, ast.Name):
        return True  # the object outlives the function
    function = source.function(statement)
    if function is not None and target.id in declared_names(function):
        return True
    name = target.id
    if isinstance(function, ast.FunctionDef):
        if name not in {*parameters(function), *stores(function.body)}:
            return True  # a variable of an outer scope
    current: ast.AST = statement
    while True:
        parent = source.parents.get(current)
        if parent is None or not isinstance(current, ast.stmt):
            break
        for later in source.after(current):
            if name in loads(later):
                return True
            if isinstance(later, ast.Assign) and name in stores(later):
                return False
        if isinstance(parent, (ast.For, ast.While)):
            if name in loads(parent.iter if isinstance(parent, ast.For) else parent.test):
                return True
            for earlier in parent.body:  # the next round
                if name in loads(earlier) and earlier is not statement:
                    return True
                if isinstance(earlier, ast.Assign) and name in stores(earlier):
                    return False
                if earlier is current:
                    break
            if name in loads(statement):
                return True
        if parent is function or isinstance(parent, (ast.Module, ast.FunctionDef)):
            break
        current = parent
    if function is None:  # functions that are called later read it
        return any(name in loads(f) for f in source.tree.body if isinstance(f, ast.FunctionDef))
    return False


def _declaration(source: Source, statement: ast.stmt, target: ast.expr) -> list[Edit] | None:
    """Return the edits that let an assignment bind the variable of an outer scope; None if none do."""
    function = source.function(statement)
    if not isinstance(target, ast.Name) or function is None:
        return []
    if isinstance(function, ast.Lambda):
        return None
    known = {*parameters(function), *stores(function.body), *declared_names(function)}
    if target.id in known:
        return []
    outer = [f for f in source.above(function) if isinstance(f, ast.FunctionDef)]
    bound = any(target.id in {*parameters(f), *stores(f.body)} for f in outer)
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if documented and len(function.body) > 1:
        first = function.body[1]
    word = "nonlocal" if bound else "global"
    line = f"{source.indent(first)}{word} {target.id}"
    return [source.insert_above(source.first_line(first), line)]


def _return_from_helper(
    case: Case,
    source: Source,
    statement: ast.Expr,
    call: ast.Call,
    target: ast.expr,
    rank: int,
) -> Iterator[Candidate]:
    """Return the result from `def bump(u): u.at[0].add(1)`, and assign it where `bump(x)` is called."""
    function = source.function(statement)
    if not isinstance(function, ast.FunctionDef) or not isinstance(target, ast.Name):
        return
    returns = [n for n in source.nodes(ast.Return, function) if source.function(n) is function]
    if returns or function.body[-1] is not statement or target.id not in parameters(function):
        return
    edits = [source.insert(statement.lineno, _column(source, statement), "return ")]
    found = False
    for there, site, passed in case.calls(function):
        outer, given = there.statement(site), passed.get(target.id)
        if not isinstance(outer, ast.Expr) or outer.value is not site:
            return
        if not isinstance(given, _TARGETS) or _declaration(there, outer, given) is None:
            return
        text = f"{there.code(given)} = "
        edits.append(there.insert(outer.lineno, _column(there, outer), text))
        edits += _declaration(there, outer, given) or []
        found = True
    if found:
        title = f"return what is new from `{function.name}`, and assign it where it is called"
        yield Candidate("return_value", title, tuple(edits), rank)


@at_expression
def pass_inplace_false(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `fill_diagonal(x, v)`, which cannot change x, as `x = fill_diagonal(x, v, inplace=False)`."""
    if "inplace=False" not in case.facts.message:
        return
    call = source.enclosing(node, ast.Call)
    if call is None or not call.args or not source.meaning(call.func).startswith("jax.numpy."):
        return
    given = next((k.value for k in call.keywords if k.arg == "inplace"), None)
    if given is not None:
        edits = [source.replace(given, "False")]
    else:
        edits = [source.replace(call, source.call_with(call, "inplace=False"))]
    statement, target = source.statement(call), call.args[0]
    title = "ask for a changed copy"
    if isinstance(statement, ast.Expr) and statement.value is call:
        declared = _declaration(source, statement, target)
        if not isinstance(target, _TARGETS) or declared is None:
            return
        name = source.code(target)
        title += f", and assign it to `{name}`"
        edits += [source.insert(statement.lineno, _column(source, statement), f"{name} = ")]
        edits += declared
    yield Candidate("assign_result", title, tuple(edits), 0)


# --- several results -----------------------------------------------------------------------------


def _assign_tuple(
    case: Case, source: Source, statement: ast.Expr, call: ast.Call
) -> Iterator[Candidate]:
    """Assign the parts of a tuple to the arguments that they are new values of."""
    for defining, function in resolve_functions(case, source, call.func):
        returned = returned_expressions(defining, function)
        if len(returned) != 1 or not isinstance(returned[0], ast.Tuple):
            continue
        known = [p for p in parameters(function) if p != "self"]
        passed = dict(zip(known, call.args, strict=False))
        passed |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        targets: list[str] = []
        free: list[str] = []
        parts = returned[0].elts
        names = [_new_value_of(part, passed) for part in parts]
        for i, (part, name) in enumerate(zip(parts, names, strict=True)):
            exact = isinstance(part, ast.Name)
            taken = [j for j, other in enumerate(names) if other == name and j != i]
            if not exact and any(isinstance(parts[j], ast.Name) for j in taken):
                name = ""
            given = passed.get(name)
            live = isinstance(given, _TARGETS) and is_live(source, statement, given)
            if given is not None and live and source.code(given) not in targets:
                targets.append(source.code(given))
            else:
                wanted = part.id if exact else "updates"
                targets.append(source.fresh(wanted, statement))
                free.append(targets[-1])
        if len(free) == len(targets):
            continue
        line = f"{', '.join(targets)} = "
        edits = [source.insert(statement.lineno, _column(source, statement), line)]
        title = f"assign the results to `{', '.join(targets)}`"
        applied = _apply_updates(source, statement, call, free)
        if applied:
            more, stale = applied
            added = f"{title}, and add the updates to `{stale}`"
            yield Candidate("assign_result", added, (*edits, *more), 1)
        yield Candidate("assign_result", title, tuple(edits), 2)
        return


def _new_value_of(part: ast.expr, passed: dict[str, ast.expr]) -> str:
    """Return the parameter that an expression is the new value of, by its name; "" if none."""
    if isinstance(part, ast.Name):
        for prefix in ("", "new_", "next_", "updated_"):
            if part.id.startswith(prefix) and part.id.removeprefix(prefix) in passed:
                return part.id.removeprefix(prefix)
        for suffix in ("_new", "_next", "2", "_"):
            if part.id.endswith(suffix) and part.id.removesuffix(suffix) in passed:
                return part.id.removesuffix(suffix)
    elif isinstance(part, ast.Call):
        named = [n for n in loads(part) if n in passed]
        return named[0] if len(named) == 1 else ""
    return ""


def _apply_updates(
    source: Source, statement: ast.Expr, call: ast.Call, free: Sequence[str]
) -> tuple[list[Edit], str] | None:
    """Add the updates of an optimizer to the parameters that the gradients are of."""
    if len(free) != 1 or last_name(call.func) != "update" or not call.args:
        return None
    stale = _differentiated(source, statement, call.args[0])
    if stale is None or not is_live(source, statement, stale):
        return None
    name = source.code(stale)
    optax = next((n for n, means in source.imports.items() if means == "optax"), "")
    if optax:
        text, imports = f"{optax}.apply_updates({name}, {free[0]})", list[Edit]()
    else:
        tree_map, imports = source.spell("jax.tree.map")
        numpy, more = source.spell("jax.numpy")
        imports = [*imports, *more]
        text = f"{tree_map}({numpy}.add, {name}, {free[0]})"
    line = f"\n{source.indent(statement)}{name} = {text}"
    at = source.span(statement)
    return [source.insert(at.end_line, at.end_column or 0, line), *imports], name


def _differentiated(source: Source, statement: ast.stmt, gradient: ast.expr) -> ast.expr | None:
    """Return the variable that a gradient was taken at: `params` of `grads = grad(loss)(params, x)`."""
    function = source.function(statement) or source.tree
    values: list[ast.expr] = [gradient]
    if isinstance(gradient, ast.Name):
        for assignment in source.nodes(ast.Assign, function):
            if gradient.id in stores(assignment):
                values.append(assignment.value)
    for value in values:
        if not isinstance(value, ast.Call) or not value.args:
            continue
        made = value.func
        if isinstance(made, ast.Name):
            assigned = source.assigned(made.id, source.tree)
            made = assigned[0] if len(assigned) == 1 else made
        while isinstance(made, ast.Call) and source.meaning(made.func) == "jax.jit" and made.args:
            made = made.args[0]
        if isinstance(made, ast.Call):
            if source.meaning(made.func) in ("jax.grad", "jax.value_and_grad"):
                first = value.args[0]
                return first if isinstance(first, _TARGETS) else None
    return None


# --- keys ------------------------------------------------------------------------------------------


def _assign_keys(source: Source, statement: ast.Expr, call: ast.Call) -> Iterator[Candidate]:
    """Assign the parts of a split key: one for the draws that follow, one for later rounds."""
    key = call.args[0] if call.args else None
    function = source.meaning(call.func).rpartition(".")[2]
    if not isinstance(key, (ast.Name, ast.Attribute)):
        return
    name = source.code(key)
    column = _column(source, statement)
    if function == "fold_in":
        title = f"assign the new key to `{name}`"
        edit = source.insert(statement.lineno, column, f"{name} = ")
        yield Candidate("split_key", title, (edit,), 1)
        return
    if function == "permutation" and len(call.args) > 1 and isinstance(call.args[1], _TARGETS):
        if is_live(source, statement, call.args[1]):
            what = source.code(call.args[1])
            title = f"assign the permuted array to `{what}`, which does not change by itself"
            edit = source.insert(statement.lineno, column, f"{what} = ")
            yield Candidate("assign_result", title, (edit,), 1)
        return
    if function != "split":
        return
    given = call.args[1] if len(call.args) > 1 else None
    if given is not None and not isinstance(given, ast.Constant):
        return
    count = given.value if isinstance(given, ast.Constant) else 2
    if not isinstance(count, int):
        return
    uses: list[ast.expr] = []
    for later in source.after(statement):
        if isinstance(later, ast.Assign) and name in [source.code(t) for t in later.targets]:
            uses += _find_uses(source, name, later.value)
            break
        uses += _find_uses(source, name, later)
    parts = [
        source.fresh("subkey" if count == 2 else f"subkey_{i + 1}", call) for i in range(count - 1)
    ]
    if len(uses) > len(parts) or not uses:
        return
    targets = ", ".join([name, *parts])
    edits = [source.insert(statement.lineno, column, f"{targets} = ")]
    edits += [source.replace(use, part) for use, part in zip(uses, parts, strict=False)]
    title = f"assign both keys, and draw from the new one; `{name}` stays for the next split"
    yield Candidate("split_key", title, tuple(edits), 1)


def _find_uses(source: Source, name: str, within: ast.AST) -> list[ast.expr]:
    return [
        n
        for n in source.nodes((ast.Name, ast.Attribute), within)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load) and source.code(n) == name
    ]
