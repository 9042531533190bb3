"""Rewrite `if`, `while`, `for` and `assert` on traced values as functions of lax."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sagax._autofix.repairs.boolean_logic import (
    as_array_logic,
    find_truth_test,
    substitute,
    use_logical_functions,
)
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import (
    INDENT,
    Source,
    last_name,
    loads,
    parameters,
    stores,
    target_names,
)
from sagax._src.diagnostics.model import Edit

_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Raise)


def bound_before(source: Source, statement: ast.stmt) -> set[str]:
    """Return the local names that are bound when a statement is reached."""
    function = source.function(statement)
    scope: ast.AST = function if function is not None else source.tree
    names = set(parameters(function)) if function is not None else set[str]()
    if function is not None:
        args = function.args
        names |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
    loops = [n for n in source.above(statement) if isinstance(n, (ast.For, ast.While))]
    for node in ast.walk(scope):
        if not isinstance(node, ast.stmt) or source.function(node) is not function:
            continue
        earlier = node.lineno < statement.lineno
        around = any(node is loop for loop in loops)
        if isinstance(node, ast.For) and (earlier or around):
            names.update(target_names(node.target))
        elif earlier and not any(node is n for n in source.above(statement)):
            names.update(stores(node))
    return names


def read_after(source: Source, statement: ast.stmt) -> set[str]:
    """Return the names that are read after a statement, or by the next iteration around it."""
    function = source.function(statement)
    scope: ast.AST = function if function is not None else source.tree
    end = statement.end_lineno or 0
    names = {
        n.id
        for n in ast.walk(scope)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.lineno > end
    }
    for loop in source.above(statement):
        if isinstance(loop, (ast.For, ast.While)):
            names.update(loads(loop))
    names |= {
        n.target.id
        for n in ast.walk(scope)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.lineno > end
    }
    return names


# --- if --------------------------------------------------------------------------------------


def rewrite_if(case: Case) -> Iterator[Candidate]:
    """Rewrite `if`, `elif` and `a if c else b` as `where` and `cond`."""
    source = case.source
    whole, tested = find_truth_test(case)
    if source is None or whole is None:
        return
    numpy, imports = source.spell("jax.numpy")
    if isinstance(tested, ast.IfExp):
        yield from _rewrite_conditional_expression(source, tested, numpy, imports)
    if not isinstance(tested, ast.If):
        return
    yield from _rewrite_loop_with_break(source, tested, numpy, imports)
    top = tested
    while (parent := source.parents[top]) and isinstance(parent, ast.If) and parent.orelse == [top]:
        top = parent
    if found := as_where(source, top, numpy):
        title = "choose with where, which computes both sides"
        yield Candidate("where", title, (source.replace_statements(*found), *imports), 2)
    cond, more = source.spell("jax.lax.cond")
    if found := as_cond(source, top, numpy, cond):
        title = "choose with cond, which runs one side"
        yield Candidate("cond", title, (source.replace_statements(*found), *more, *imports), 3)


def rewrite_membership(case: Case) -> Iterator[Candidate]:
    """Rewrite `x in {1, 2}`, which needs the hash of x, as `isin`."""
    if case.facts.hashed == "tracer":
        yield from use_logical_functions(case)
        yield from rewrite_if(case)


@at_expression
def rewrite_search(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `next(i for i in range(n) if xs[i] > t)`, a search, as `argmax(xs > t)`."""
    over = source.enclosing(node, ast.GeneratorExp)
    call = source.parents.get(over) if over is not None else None
    if over is None or not isinstance(call, ast.Call) or last_name(call.func) != "next":
        return
    (first, *others) = over.generators
    index, test = first.target, first.ifs[0] if first.ifs else None
    if others or len(first.ifs) != 1 or test is None or not isinstance(index, ast.Name):
        return
    counts = isinstance(first.iter, ast.Call) and last_name(first.iter.func) == "range"
    if not counts or len(getattr(first.iter, "args", ())) != 1 or last_name(over.elt) != index.id:
        return
    items = {
        n: source.code(n.value)
        for n in ast.walk(test)
        if isinstance(n, ast.Subscript) and last_name(n.slice) == index.id
    }
    uses = [n for n in ast.walk(test) if isinstance(n, ast.Name) and n.id == index.id]
    if not items or len(uses) != len(items):
        return
    numpy, imports = source.spell("jax.numpy")
    text = f"{numpy}.argmax({substitute(source, test, items)})"
    title = "argmax finds the first position where the condition holds"
    yield Candidate("argmax", title, (source.replace(call, text), *imports), 1)


@at_expression
def rewrite_filter(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace the items that `[x for x in xs if x > 0]` filters out by 0."""
    over = source.enclosing(node, ast.comprehension)
    whole = source.parents.get(over) if over is not None else None
    if over is None or not isinstance(whole, (ast.ListComp, ast.GeneratorExp)):
        return
    if len(whole.generators) != 1 or len(over.ifs) != 1 or node not in ast.walk(over.ifs[0]):
        return
    numpy, imports = source.spell("jax.numpy")
    code = source.code(whole)
    chosen = (
        f"{numpy}.where({as_array_logic(source, over.ifs[0], numpy)}, {source.code(whole.elt)}, 0)"
    )
    text = f"{code[0]}{chosen} for {source.code(over.target)} in {source.code(over.iter)}{code[-1]}"
    title = "keep all items, with 0 in place of those that are left out"
    yield Candidate("where", title, (source.replace(whole, text), *imports), 3)


def _rewrite_conditional_expression(
    source: Source, node: ast.IfExp, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    test = as_array_logic(source, node.test, numpy)

    def chosen(part: ast.expr) -> str:
        if isinstance(part, ast.IfExp):
            inner = as_array_logic(source, part.test, numpy)
            return f"{numpy}.where({inner}, {chosen(part.body)}, {chosen(part.orelse)})"
        return source.code(part)

    text = f"{numpy}.where({test}, {chosen(node.body)}, {chosen(node.orelse)})"
    title = "choose with where, which computes both sides"
    yield Candidate("where", title, (source.replace(node, text), *imports), 1)
    cond, more = source.spell("jax.lax.cond")
    text = f"{cond}({test}, lambda: {source.code(node.body)}, lambda: {source.code(node.orelse)})"
    title = "choose with cond, which runs one side"
    yield Candidate("cond", title, (source.replace(node, text), *more, *imports), 3)


def _if_chain(node: ast.If) -> tuple[list[tuple[ast.expr, list[ast.stmt]]], list[ast.stmt]]:
    """Return the tests with their blocks, and the block of the last `else`."""
    found = [(node.test, node.body)]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        found.append((node.test, node.body))
    return found, node.orelse


def _only_returned_value(block: Sequence[ast.stmt]) -> ast.expr | None:
    if len(block) == 1 and isinstance(block[0], ast.Return):
        return block[0].value
    return None


def as_where(source: Source, node: ast.If, numpy: str) -> tuple[list[ast.stmt], str] | None:
    """Return an `if` rewritten with `where`, and the statements that the text replaces."""
    indent = source.indent(node)
    following = source.after(node)
    parts = _returned_texts(source, [node, *following], numpy)
    if parts is not None:
        chain, final = _if_chain(node)
        alone = _ends_in_return(final) and all(_ends_in_return(block) for _, block in chain)
        return [node] if alone else [node, *following], f"{indent}return {', '.join(parts)}"
    return _where_statement(source, node, numpy, indent)


def _returned_texts(source: Source, block: Sequence[ast.stmt], numpy: str) -> list[str] | None:
    """Return the texts of the returned items, for a block that only chooses what to return."""
    if not block:
        return None
    first, *rest = block
    if isinstance(first, ast.Return) and first.value is not None:
        if isinstance(first.value, ast.Tuple):
            return [source.code(v) for v in first.value.elts]
        return [source.code(first.value)]
    if not isinstance(first, ast.If):
        return None
    chain, final = _if_chain(first)
    found = _returned_texts(source, final or rest, numpy)
    for test, inner in reversed(chain):
        parts = _returned_texts(source, inner, numpy)
        if parts is None or found is None or len(parts) != len(found):
            return None
        condition = as_array_logic(source, test, numpy)
        found = [_where_text(numpy, condition, x, y) for x, y in zip(parts, found, strict=True)]
    return found


def _where_text(numpy: str, test: str, x: str, y: str) -> str:
    return x if x == y else f"{numpy}.where({test}, {x}, {y})"


_OPERATOR_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%",
          ast.FloorDiv: "//", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|"}  # fmt: skip


def _block_assignments(
    source: Source, block: Sequence[ast.stmt], numpy: str, defined: set[str]
) -> dict[str, str] | None:
    """Map the targets that a block assigns to the texts; None if it does anything else."""
    found: dict[str, str] = {}
    for statement in block:
        if isinstance(statement, ast.Pass):
            continue
        if set(found) & set(loads(statement)):
            return None  # it reads what the block has assigned before
        if isinstance(statement, ast.If):
            new = _if_assignments(source, statement, numpy, defined)
        else:
            new = _statement_assignments(source, statement)
        if new is None or set(new) & set(found):
            return None
        found.update(new)
    return found or ({} if block else None)


def _statement_assignments(source: Source, statement: ast.stmt) -> dict[str, str] | None:
    """Map the targets that a statement assigns to the texts."""
    if isinstance(statement, ast.AugAssign):
        target, sign = statement.target, _OPERATOR_SIGNS.get(type(statement.op))
        if sign is None:
            return None
        text = f"{source.code(target)} {sign} {source.operand(statement.value)}"
    elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr != "append"
            or len(call.args) != 1
        ):
            return None
        return {f"{source.code(call.func)}()": source.code(call.args[0])}
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, text = statement.targets[0], source.code(statement.value)
        if isinstance(target, ast.Tuple):
            pairs = statement.value
            if not isinstance(pairs, ast.Tuple) or len(pairs.elts) != len(target.elts):
                return None
            both = zip(target.elts, pairs.elts, strict=True)
            return {source.code(name): source.code(value) for name, value in both}
    else:
        return None
    if isinstance(target, ast.Subscript) and not _is_string_item(target):
        return None
    return {source.code(target): text}


def _if_assignments(
    source: Source, node: ast.If, numpy: str, defined: set[str], named: Sequence[str] = ()
) -> dict[str, str] | None:
    """Map the targets that an `if` assigns to `where` texts; `named` replaces the tests."""
    chain, final = _if_chain(node)
    maps = [_block_assignments(source, block, numpy, defined) for _, block in chain]
    last = _block_assignments(source, final, numpy, defined) if final else {}
    if last is None or any(m is None for m in maps):
        return None
    known = [m for m in maps if m is not None]
    tests = named or [as_array_logic(source, test, numpy) for test, _ in chain]
    found: dict[str, str] = {}
    for target in dict.fromkeys(t for m in [*known, last] for t in m):
        everywhere = all(target in m for m in [*known, last])
        if not everywhere and (
            target.endswith("()") or (target.isidentifier() and target not in defined)
        ):
            return None
        text = last.get(target, target)
        for test, m in zip(reversed(tests), reversed(known), strict=True):
            text = _where_text(numpy, test, m.get(target, target), text)
        found[target] = text
    return found


def _is_string_item(target: ast.Subscript) -> bool:
    return isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)


def _where_statement(
    source: Source, node: ast.If, numpy: str, indent: str
) -> tuple[list[ast.stmt], str] | None:
    chain, _ = _if_chain(node)
    defined = bound_before(source, node)
    found = _if_assignments(source, node, numpy, defined)
    if not found:
        return None
    tests = [as_array_logic(source, test, numpy) for test, _ in chain]
    lines: list[str] = []
    if len(found) > 1:  # tests that several targets need get names
        for i, (test, _) in enumerate(chain):
            if not isinstance(test, ast.Name):
                name = source.fresh("condition" if len(chain) == 1 else f"condition_{i + 1}", node)
                lines.append(f"{indent}{name} = {tests[i]}")
                tests[i] = name
        found = _if_assignments(source, node, numpy, defined, tests) or found
    bound = {target: text for target, text in found.items() if not target.endswith("()")}
    if bound:
        lines.append(f"{indent}{', '.join(bound)} = {', '.join(bound.values())}")
    lines += [
        f"{indent}{target[:-1]}{text})" for target, text in found.items() if target not in bound
    ]
    return [node], "\n".join(lines)


# --- cond ------------------------------------------------------------------------------------


def _ends_in_return(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Return)


def _always_returns(block: Sequence[ast.stmt]) -> bool:
    """Return whether all branches of a block return."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _contiguous_runs(source: Source, block: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Split statements into runs that belong to the same block of the source."""
    runs: list[list[ast.stmt]] = []
    for statement in block:
        if runs and source.block(runs[-1][-1]) is source.block(statement):
            runs[-1].append(statement)
        else:
            runs.append([statement])
    return runs


def _jumps(block: Sequence[ast.stmt], allowed: tuple[type[ast.stmt], ...] = ()) -> bool:
    """Return whether a block has a jump or declaration that a function body could not contain."""
    todo: list[ast.AST] = list(block)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            continue
        if isinstance(node, (*_JUMPS, ast.Global, ast.Nonlocal)) and not isinstance(node, allowed):
            return True
        todo += ast.iter_child_nodes(node)
    return False


def as_cond(
    source: Source, node: ast.If, numpy: str, cond: str
) -> tuple[list[ast.stmt], str] | None:
    statements: list[ast.stmt] = [node]
    body, other = node.body, node.orelse
    returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
    indent = source.indent(node)
    test = as_array_logic(source, node.test, numpy)
    if returns:
        rest = source.after(node)
        if not (_always_returns(body) and _always_returns(other)):
            if not _always_returns(rest):
                return None
            # what follows belongs to each branch that does not return
            body = body if _always_returns(body) else [*body, *rest]
            other = other if _always_returns(other) else [*other, *rest]
            statements += rest
        if _jumps([*body, *other], (ast.Return,)):
            return None
        results: list[str] = []
    else:
        if _jumps([*body, *other]):
            return None
        later, defined = read_after(source, node), bound_before(source, node)
        bound = list(dict.fromkeys([*stores(body), *stores(other)]))
        results = [
            n
            for n in bound
            if n in defined or (n in later and n in stores(body) and n in stores(other))
        ]
        results = [n for n in results if n in later or n in defined]
        if not results or mutates_objects([*body, *other]):
            return None
    operands = _operands(source, node, body, other, results)
    simple = [_only_returned_value(body), _only_returned_value(other)]
    if returns and not operands and all(v is not None for v in simple):
        sides = [_in_lambda(source, v) for v in simple if v is not None]
        text = f"{indent}return {cond}({test}, lambda: {sides[0]}, lambda: {sides[1]})"
        return statements, text
    names = [source.fresh("when_true", node), source.fresh("when_false", node)]
    pieces: list[str] = []
    for name, block in zip(names, (body, other), strict=True):
        pieces.append(f"{indent}def {name}({', '.join(operands)}):")
        pieces += [
            source.block_text(part, indent + INDENT) for part in _contiguous_runs(source, block)
        ]
        if not returns:
            pieces.append(f"{indent}{INDENT}return {', '.join(results)}")
        pieces.append("")
    call = f"{cond}({', '.join([test, *names, *operands])})"
    left = "return" if returns else f"{', '.join(results)} ="
    pieces.append(f"{indent}{left} {call}")
    return statements, "\n".join(pieces)


def _in_lambda(source: Source, value: ast.expr) -> str:
    """Return the text of a value as the body of a lambda: a tuple needs parentheses there."""
    text = source.code(value)
    return f"({text})" if isinstance(value, ast.Tuple) and text[:1] != "(" else text


def mutates_objects(block: Sequence[ast.stmt]) -> bool:
    """Return whether a block assigns attributes or items."""
    return any(
        isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store)
        for statement in block
        for n in ast.walk(statement)
    )


def has_effects(block: Sequence[ast.stmt]) -> bool:
    """Return whether a block jumps, mutates objects, or calls functions for their effects."""
    calls = any(
        isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
        for s in block
        for n in ast.walk(s)
    )
    return _jumps(block) or mutates_objects(block) or calls


def _operands(
    source: Source,
    node: ast.stmt,
    body: Sequence[ast.stmt],
    other: Sequence[ast.stmt],
    results: Sequence[str],
) -> list[str]:
    """Return the names that become parameters: bound before, and rebound by a branch."""
    defined = bound_before(source, node)
    bound = {*stores(body), *stores(other)}
    read = {*loads(body), *loads(other), *results}
    return sorted(
        (n for n in bound if n in defined and n in read),
        key=lambda n: (n not in results, n),
    )


# --- assert ----------------------------------------------------------------------------------


def check_in_callback(case: Case) -> Iterator[Candidate]:
    """Check `assert x > 0` or `if x <= 0: raise ...` in a callback."""
    source = case.source
    whole, tested = find_truth_test(case)
    if source is None or whole is None or not isinstance(tested, (ast.Assert, ast.If)):
        return
    if isinstance(tested, ast.If) and (tested.orelse or not isinstance(tested.body[-1], ast.Raise)):
        return
    function = source.function(tested)
    local = bound_before(source, tested) if function is not None else set[str]()
    names = [n for n in loads(tested) if n in local]
    given = dict(zip(names, names, strict=True))
    text = source.block_text([tested], "")
    parts = _read_attributes(source, tested, "self") if "self" in names else {}
    if parts:  # `self` is no array: its attributes become operands of the callback
        del given["self"]
        for part, of in parts.items():
            named = source.fresh(of, tested)
            given[named] = part
            text = re.sub(rf"{re.escape(part)}\b", named, text)
    indent = source.indent(tested)
    name = source.fresh("check_" + next(iter(given), "value"), tested)
    callback, imports = source.spell("jax.debug.callback")
    text = "\n".join(
        [
            f"{indent}def {name}({', '.join(given)}):",
            textwrap.indent(text, indent + INDENT),
            "",
            f"{indent}{callback}({', '.join([name, *given.values()])})",
        ]
    )
    title = "check when the compiled program runs, in a callback"
    yield Candidate("callback", title, (source.replace_statements([tested], text), *imports), 1)
    numpy, imports = source.spell("jax.numpy")
    following = source.after(tested)
    returned = following[-1] if following and isinstance(following[-1], ast.Return) else None
    if returned is not None and returned.value is not None:
        test = as_array_logic(source, tested.test, numpy)
        sides = [source.code(returned.value), f"{numpy}.nan"]
        if isinstance(tested, ast.If):
            sides.reverse()
        text = f"{numpy}.where({test}, {', '.join(sides)})"
        title = "return nan where the check fails"
        edits = (source.delete(tested), source.replace(returned.value, text), *imports)
        yield Candidate("where", title, edits, 4)


def _read_attributes(source: Source, within: ast.AST, name: str) -> dict[str, str]:
    """Map the attributes that code reads, "self.rates", to their names, "rates".

    The map is empty if the object is used in another way too.
    """
    found: dict[str, str] = {}
    for use in source.uses(name, within):
        part = source.parents.get(use)
        called = isinstance(of := source.parents.get(part), ast.Call) and of.func is part  # type: ignore[arg-type]
        if not isinstance(part, ast.Attribute) or called:
            return {}
        found[source.code(part)] = part.attr
    return found


# --- while -----------------------------------------------------------------------------------


def use_while_loop(case: Case) -> Iterator[Candidate]:
    """Rewrite `while` on a traced value as `while_loop`."""
    source = case.source
    whole, tested = find_truth_test(case)
    if source is None or whole is None or not isinstance(tested, ast.While):
        return
    if tested.orelse or _jumps(tested.body) or mutates_objects(tested.body):
        return
    numpy, imports = source.spell("jax.numpy")
    loop, more = source.spell("jax.lax.while_loop")
    indent = source.indent(tested)
    carry = loop_carry(source, tested, tested.body, loads(tested.test))
    if not carry:
        return
    inside = indent + INDENT
    test, body = source.fresh("keep_going", tested), source.fresh("step", tested)
    form = CarryForm.of(source, tested, carry)
    rows = [
        f"{indent}def {test}({form.state}):",
        *form.unpack(inside),
        f"{inside}return {as_array_logic(source, tested.test, numpy)}",
        "",
        f"{indent}def {body}({form.state}):",
        *form.unpack(inside),
        source.block_text(tested.body, inside),
        f"{inside}return {form.names}",
        "",
        f"{indent}{form.names} = {loop}({test}, {body}, {form.packed})",
    ]
    title = "loop with while_loop, whose test may be traced"
    edit = source.replace_statements([tested], "\n".join(rows))
    yield Candidate("while_loop", title, (edit, *more, *imports), 2)


class CarryForm(NamedTuple):
    """Spell the carry of a loop: one name, or a tuple that the body unpacks."""

    names: str
    state: str
    packed: str

    @classmethod
    def of(cls, source: Source, loop: ast.stmt, carry: Sequence[str]) -> CarryForm:
        if len(carry) == 1:
            return cls(carry[0], carry[0], carry[0])
        names = ", ".join(carry)
        return cls(names, source.fresh("carry", loop), f"({names})")

    def unpack(self, indent: str) -> list[str]:
        """Return the line that unpacks the state, if it needs one."""
        return [] if self.state == self.names else [f"{indent}{self.names} = {self.state}"]


def _rewrite_loop_with_break(
    source: Source, test: ast.If, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Rewrite a loop with `if found: break` as `while_loop`, which carries the test."""
    loop = source.parents.get(test)
    if not isinstance(loop, (ast.While, ast.For)) or test not in loop.body or loop.orelse:
        return
    if test.orelse or not (test.body and isinstance(test.body[-1], ast.Break)):
        return
    at = loop.body.index(test)
    head, tail, leaving = loop.body[:at], loop.body[at + 1 :], test.body[:-1]
    if _jumps([*head, *leaving, *tail]) or mutates_objects(loop.body):
        return
    indent = source.indent(loop)
    inside = indent + INDENT
    tested = loads(loop.test) if isinstance(loop, ast.While) else ()
    carry = loop_carry(source, loop, loop.body, tested)
    left = source.fresh("done", loop)
    counter, rows, start = "", list[str](), list[str]()
    if isinstance(loop, ast.For):
        bounds = range_bounds(source, loop.iter)
        if bounds is None or not isinstance(loop.target, ast.Name) or bounds[2] != "1":
            return
        if loop.target.id in used_after(source, loop):
            return  # it would be one more than the last value in the loop
        counter = source.fresh("k", loop) if loop.target.id == "_" else loop.target.id
        going = f"{counter} < {bounds[1]}"
        start = [bounds[0]]
    else:
        always = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        going = "" if always else as_array_logic(source, loop.test, numpy)
    not_left = f"{numpy}.logical_not({left})"
    going = f"{numpy}.logical_and({going}, {not_left})" if going else not_left
    names = [*([counter] if counter else []), *carry, left]
    state, listed = source.fresh("carry", loop), ", ".join(names)
    rows += [f"{inside}{', '.join([*names[:-1], '_'])} = {state}"]
    rows += [source.block_text(head, inside)] if head else []
    rows.append(f"{inside}{left} = {as_array_logic(source, test.test, numpy)}")
    for block, taken in ((leaving, True), (tail, False)):
        changed = [n for n in carry if n in stores(block)]
        if not block:
            continue
        saved = {n: source.fresh(f"{n}_before", loop) for n in changed}
        if saved:
            rows.append(f"{inside}{', '.join(saved.values())} = {', '.join(changed)}")
        rows.append(source.block_text(block, inside))
        for n in changed:
            sides = f"{n}, {saved[n]}" if taken else f"{saved[n]}, {n}"
            rows.append(f"{inside}{n} = {numpy}.where({left}, {sides})")
    last = [f"{counter} + 1", *names[1:]] if counter else names
    rows.append(f"{inside}return {', '.join(last)}")
    loop_name, more = source.spell("jax.lax.while_loop")
    keep, step = source.fresh("keep_going", loop), source.fresh("step", loop)
    begin = ", ".join([*start, *carry, "False"])
    after = listed.split(", ")
    after[-1] = "_"
    text = "\n".join(
        [
            f"{indent}def {keep}({state}):",
            f"{inside}{listed} = {state}",
            f"{inside}return {going}",
            "",
            f"{indent}def {step}({state}):",
            *rows,
            "",
            f"{indent}{', '.join(after)} = {loop_name}({keep}, {step}, ({begin}))",
        ]
    )
    title = "loop with while_loop, which ends when the test is true"
    edit = source.replace_statements([loop], text)
    yield Candidate("while_loop", title, (edit, *more, *imports), 2)


def range_bounds(source: Source, iterated: ast.expr) -> tuple[str, str, str] | None:
    """Return start, stop and step of a call of `range`, as texts."""
    call = iterated
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    if call.func.id != "range" or call.keywords or not 1 <= len(call.args) <= 3:
        return None
    texts = [source.code(a) for a in call.args]
    if len(texts) == 1:
        return "0", texts[0], "1"
    return texts[0], texts[1], texts[2] if len(texts) == 3 else "1"


def arange_text(numpy: str, bounds: tuple[str, str, str]) -> str:
    """Return the text of `arange` for the bounds of a `range`."""
    start, stop, step = bounds
    parts = [stop] if (start, step) == ("0", "1") else [start, stop]
    parts += [step] if step != "1" else []
    return f"{numpy}.arange({', '.join(parts)})"


def loop_carry(
    source: Source, loop: ast.stmt, body: Sequence[ast.stmt], tested: Sequence[str] = ()
) -> list[str]:
    """Return the names that a loop carries between iterations, or whose last value is used."""
    defined, later = bound_before(source, loop), used_after(source, loop)
    bound = stores(body)
    read_first = _read_before_bound(body)
    return [n for n in bound if n in defined and (n in later or n in tested or n in read_first)]


def used_after(source: Source, loop: ast.stmt) -> set[str]:
    """Return the names that occur after a loop, or are read by a loop around it."""
    function = source.function(loop)
    scope: ast.AST = function if function is not None else source.tree
    end = loop.end_lineno or 0
    names = {n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and n.lineno > end}
    for around in source.above(loop):
        if isinstance(around, (ast.For, ast.While)):
            names.update(loads(around))
    return names


def _read_before_bound(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that a block may read before it binds them."""
    bound: set[str] = set()
    found: set[str] = set()
    for statement in body:
        found.update(n for n in loads(statement) if n not in bound)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bound.update(stores(statement))
    return found
