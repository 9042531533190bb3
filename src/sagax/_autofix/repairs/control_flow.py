"""Rewrite `if`, `while`, `for` and `assert` on traced values as functions of lax."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.boolean_logic import in_arrays, logic, truth_of
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Source, loads, parameters, stores, target_names
from sagax._src.diagnostics.model import Edit

__all__ = [
    "as_cond",
    "as_where",
    "assertion",
    "before",
    "branches",
    "filtered",
    "tuple_text",
    "while_loops",
]

_STEP = "    "
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Raise)


def tuple_text(names: Sequence[str]) -> str:
    """Names as they stand left of `=` and after `return`: `a` or `a, b`."""
    return ", ".join(names)


def before(source: Source, statement: ast.stmt) -> set[str]:
    """The local names that are bound when a statement is reached."""
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
        if isinstance(node, (ast.For,)) and (earlier or around):
            names.update(target_names(node.target))
        elif earlier and not any(node is n for n in source.above(statement)):
            names.update(stores(node))
    return names


def used_later(source: Source, statement: ast.stmt) -> set[str]:
    """The names that are read after a statement, or by the next round of a loop around it."""
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


def branches(case: Case) -> Iterator[Candidate]:
    """`if`, `elif` and `a if c else b` -> where, cond."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None:
        return
    numpy, imports = source.spell("jax.numpy")
    if isinstance(tested, ast.IfExp):
        yield from _ternary(source, tested, numpy, imports)
    if not isinstance(tested, ast.If):
        return
    yield from _broken_loop(source, tested, numpy, imports)
    top = tested
    while (parent := source.parents[top]) and isinstance(parent, ast.If) and parent.orelse == [top]:
        top = parent
    if text := as_where(source, top, numpy):
        statements, new = text
        title = "choose with where, which computes both sides"
        edit = source.replace_statements(statements, new)
        yield Candidate("where", title, (edit, *imports), 2)
    cond, more = source.spell("jax.lax.cond")
    if made := as_cond(source, top, numpy, cond):
        statements, new = made
        title = "choose with cond, which runs one side"
        edit = source.replace_statements(statements, new)
        yield Candidate("cond", title, (edit, *more, *imports), 3)


def looked_up(case: Case) -> Iterator[Candidate]:
    """`x in {1, 2}`, which asks for the hash of x -> isin, in a test or as a value."""
    if "hashed" in case.facts.message:
        yield from logic(case)
        yield from branches(case)


def filtered(case: Case) -> Iterator[Candidate]:
    """`[x for x in xs if x > 0]` -> all items, those that are left out as 0: for sums and their like."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    over = source.enclosing(node, ast.comprehension)
    whole = source.parents.get(over) if over is not None else None
    if over is None or not isinstance(whole, (ast.ListComp, ast.GeneratorExp)):
        return
    if len(whole.generators) != 1 or len(over.ifs) != 1 or node not in ast.walk(over.ifs[0]):
        return
    numpy, imports = source.spell("jax.numpy")
    code = source.code(whole)
    chosen = f"{numpy}.where({in_arrays(source, over.ifs[0], numpy)}, {source.code(whole.elt)}, 0)"
    text = f"{code[0]}{chosen} for {source.code(over.target)} in {source.code(over.iter)}{code[-1]}"
    title = "keep all items, with 0 in place of those that are left out"
    yield Candidate("where", title, (source.replace(whole, text), *imports), 3, False)


def _ternary(
    source: Source, node: ast.IfExp, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    test = in_arrays(source, node.test, numpy)

    def chosen(part: ast.expr) -> str:
        if isinstance(part, ast.IfExp):
            inner = in_arrays(source, part.test, numpy)
            return f"{numpy}.where({inner}, {chosen(part.body)}, {chosen(part.orelse)})"
        return source.code(part)

    text = f"{numpy}.where({test}, {chosen(node.body)}, {chosen(node.orelse)})"
    title = "choose with where, which computes both sides"
    yield Candidate("where", title, (source.replace(node, text), *imports), 1)
    cond, more = source.spell("jax.lax.cond")
    text = f"{cond}({test}, lambda: {source.code(node.body)}, lambda: {source.code(node.orelse)})"
    title = "choose with cond, which runs one side"
    yield Candidate("cond", title, (source.replace(node, text), *more, *imports), 3)


def _chain(node: ast.If) -> tuple[list[tuple[ast.expr, list[ast.stmt]]], list[ast.stmt]]:
    """The tests with their blocks, and the block of the last `else`."""
    found = [(node.test, node.body)]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        found.append((node.test, node.body))
    return found, node.orelse


def _single_return(block: Sequence[ast.stmt]) -> ast.expr | None:
    if len(block) == 1 and isinstance(block[0], ast.Return):
        return block[0].value
    return None


def as_where(source: Source, node: ast.If, numpy: str) -> tuple[list[ast.stmt], str] | None:
    """The statements that the text with `where` replaces."""
    indent = source.indent(node)
    following = source.after(node)
    parts = _returned(source, [node, *following], numpy)
    if parts is not None:
        chain, final = _chain(node)
        alone = _ends_in_return(final) and all(_ends_in_return(block) for _, block in chain)
        return [node] if alone else [node, *following], f"{indent}return {', '.join(parts)}"
    return _where_assigned(source, node, numpy, indent)


def _returned(source: Source, block: Sequence[ast.stmt], numpy: str) -> list[str] | None:
    """What a block returns that only chooses what to return, the parts of tuples one by one."""
    if not block:
        return None
    first, *rest = block
    if isinstance(first, ast.Return) and first.value is not None:
        if isinstance(first.value, ast.Tuple):
            return [source.code(v) for v in first.value.elts]
        return [source.code(first.value)]
    if not isinstance(first, ast.If):
        return None
    chain, final = _chain(first)
    found = _returned(source, final or rest, numpy)
    for test, inner in reversed(chain):
        parts = _returned(source, inner, numpy)
        if parts is None or found is None or len(parts) != len(found):
            return None
        asked = in_arrays(source, test, numpy)
        found = [_chosen(numpy, asked, x, y) for x, y in zip(parts, found, strict=True)]
    return found


def _chosen(numpy: str, test: str, x: str, y: str) -> str:
    return x if x == y else f"{numpy}.where({test}, {x}, {y})"


_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%",
          ast.FloorDiv: "//", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|"}  # fmt: skip


def _assignments(
    source: Source, block: Sequence[ast.stmt], numpy: str, defined: set[str]
) -> dict[str, str] | None:
    """What a block assigns: target -> text; None if it does anything else."""
    found: dict[str, str] = {}
    for statement in block:
        if isinstance(statement, ast.Pass):
            continue
        if set(found) & set(loads(statement)):
            return None  # it reads what the block has assigned before
        if isinstance(statement, ast.If):
            new = _chosen_in(source, statement, numpy, defined)
        else:
            new = _assigned(source, statement)
        if new is None or set(new) & set(found):
            return None
        found.update(new)
    return found or ({} if block else None)


def _assigned(source: Source, statement: ast.stmt) -> dict[str, str] | None:
    """What one statement assigns."""
    if isinstance(statement, ast.AugAssign):
        target, sign = statement.target, _SIGNS.get(type(statement.op))
        value = source.code(statement.value)
        if sign is None:
            return None
        if not isinstance(
            statement.value, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
        ):
            value = f"({value})"
        text = f"{source.code(target)} {sign} {value}"
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
    if isinstance(target, ast.Subscript) and not _is_static_item(target):
        return None
    return {source.code(target): text}


def _chosen_in(
    source: Source, node: ast.If, numpy: str, defined: set[str], named: Sequence[str] = ()
) -> dict[str, str] | None:
    """What an `if` assigns, each value chosen with `where`; `named` gives the tests by other texts."""
    chain, final = _chain(node)
    maps = [_assignments(source, block, numpy, defined) for _, block in chain]
    last = _assignments(source, final, numpy, defined) if final else {}
    if last is None or any(m is None for m in maps):
        return None
    known = [m for m in maps if m is not None]
    tests = named or [in_arrays(source, test, numpy) for test, _ in chain]
    found: dict[str, str] = {}
    for target in dict.fromkeys(t for m in [*known, last] for t in m):
        everywhere = all(target in m for m in [*known, last])
        if not everywhere and (
            target.endswith("()") or (target.isidentifier() and target not in defined)
        ):
            return None
        text = last.get(target, target)
        for test, m in zip(reversed(tests), reversed(known), strict=True):
            text = _chosen(numpy, test, m.get(target, target), text)
        found[target] = text
    return found


def _is_static_item(target: ast.Subscript) -> bool:
    return isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)


def _where_assigned(
    source: Source, node: ast.If, numpy: str, indent: str
) -> tuple[list[ast.stmt], str] | None:
    chain, _ = _chain(node)
    defined = before(source, node)
    found = _chosen_in(source, node, numpy, defined)
    if not found:
        return None
    tests = [in_arrays(source, test, numpy) for test, _ in chain]
    lines: list[str] = []
    if len(found) > 1:  # tests that are asked for each target get names
        for i, (test, _) in enumerate(chain):
            if not isinstance(test, ast.Name):
                name = source.fresh("condition" if len(chain) == 1 else f"condition_{i + 1}", node)
                lines.append(f"{indent}{name} = {tests[i]}")
                tests[i] = name
        found = _chosen_in(source, node, numpy, defined, tests) or found
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
    """Whether a block returns, whichever of its branches is taken."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _contiguous(source: Source, block: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """The statements of a block in runs that stand in the same block of the source."""
    runs: list[list[ast.stmt]] = []
    for statement in block:
        if runs and source.block(runs[-1][-1]) is source.block(statement):
            runs[-1].append(statement)
        else:
            runs.append([statement])
    return runs


def _leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether a block whose returns are those of a function of its own leaves in another way."""
    return _jumps(block, (ast.Return,))


def _jumps(block: Sequence[ast.stmt], allowed: tuple[type[ast.stmt], ...] = ()) -> bool:
    """Whether a block leaves in a way that a function of its own could not."""
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
    test = in_arrays(source, node.test, numpy)
    if returns:
        rest = source.after(node)
        if not (_always_returns(body) and _always_returns(other)):
            if not _always_returns(rest):
                return None
            # what follows belongs to each side that comes to its end
            body = body if _always_returns(body) else [*body, *rest]
            other = other if _always_returns(other) else [*other, *rest]
            statements += rest
        if _leaves(body) or _leaves(other):
            return None
        results: list[str] = []
    else:
        if _jumps(body) or _jumps(other):
            return None
        later, defined = used_later(source, node), before(source, node)
        bound = list(dict.fromkeys([*stores(body), *stores(other)]))
        results = [
            n
            for n in bound
            if n in defined or (n in later and n in stores(body) and n in stores(other))
        ]
        results = [n for n in results if n in later or n in defined]
        if not results or _writes_elsewhere([*body, *other]):
            return None
    operands = _operands(source, node, body, other, results)
    simple = [_single_return(body), _single_return(other)]
    if returns and not operands and all(v is not None for v in simple):
        sides = [source.code(v) for v in simple if v is not None]
        text = f"{indent}return {cond}({test}, lambda: {sides[0]}, lambda: {sides[1]})"
        return statements, text
    names = [source.fresh("when_true", node), source.fresh("when_false", node)]
    pieces: list[str] = []
    for name, block in zip(names, (body, other), strict=True):
        pieces.append(f"{indent}def {name}({', '.join(operands)}):")
        pieces += [source.block_text(part, indent + _STEP) for part in _contiguous(source, block)]
        if not returns:
            pieces.append(f"{indent}{_STEP}return {tuple_text(results)}")
        pieces.append("")
    call = f"{cond}({', '.join([test, *names, *operands])})"
    left = "return" if returns else f"{tuple_text(results)} ="
    pieces.append(f"{indent}{left} {call}")
    return statements, "\n".join(pieces)


def _writes_elsewhere(block: Sequence[ast.stmt]) -> bool:
    """Whether a block stores into attributes or items."""
    return any(
        isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store)
        for statement in block
        for n in ast.walk(statement)
    )


def does_more(block: Sequence[ast.stmt]) -> bool:
    """Whether a block does more than to bind names: it leaves, stores into objects, or calls for an effect."""
    calls = any(
        isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
        for s in block
        for n in ast.walk(s)
    )
    return _jumps(block) or _writes_elsewhere(block) or calls


def _operands(
    source: Source,
    node: ast.stmt,
    body: Sequence[ast.stmt],
    other: Sequence[ast.stmt],
    results: Sequence[str],
) -> list[str]:
    """Names that a branch binds and that have a value before: they become parameters."""
    defined = before(source, node)
    bound = {*stores(body), *stores(other)}
    read = {*loads(body), *loads(other), *results}
    return sorted(
        (n for n in bound if n in defined and n in read),
        key=lambda n: (n not in results, n),
    )


# --- assert ----------------------------------------------------------------------------------


def assertion(case: Case) -> Iterator[Candidate]:
    """`assert x > 0`, `if x <= 0: raise ...` -> a check that runs with the compiled program."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None or not isinstance(tested, (ast.Assert, ast.If)):
        return
    if isinstance(tested, ast.If) and (tested.orelse or not isinstance(tested.body[-1], ast.Raise)):
        return
    function = source.function(tested)
    local = before(source, tested) if function is not None else set[str]()
    names = [n for n in loads(tested) if n in local]
    given = dict(zip(names, names, strict=True))
    text = source.block_text([tested], "")
    parts = _parts_of(source, tested, "self") if "self" in names else {}
    if parts:  # the object itself is no array: what is read of it goes to the callback
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
            textwrap.indent(text, indent + _STEP),
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
        test = in_arrays(source, tested.test, numpy)
        sides = [source.code(returned.value), f"{numpy}.nan"]
        if isinstance(tested, ast.If):
            sides.reverse()
        text = f"{numpy}.where({test}, {', '.join(sides)})"
        title = "return nan where the check fails"
        edits = (source.delete(tested), source.replace(returned.value, text), *imports)
        yield Candidate("where", title, edits, 4)


def _parts_of(source: Source, within: ast.AST, name: str) -> dict[str, str]:
    """The attributes that are read of an object, "self.rates", and what they are called, "rates"; none
    where the object is used in another way too.
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


def while_loops(case: Case) -> Iterator[Candidate]:
    """`while` on a traced value -> while_loop."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None or not isinstance(tested, ast.While):
        return
    if tested.orelse or _jumps(tested.body) or _writes_elsewhere(tested.body):
        return
    numpy, imports = source.spell("jax.numpy")
    loop, more = source.spell("jax.lax.while_loop")
    indent = source.indent(tested)
    carry = loop_carry(source, tested, tested.body, loads(tested.test))
    if not carry:
        return
    names = tuple_text(carry)
    test, body = source.fresh("keep_going", tested), source.fresh("step", tested)
    state = carry[0] if len(carry) == 1 else source.fresh("carry", tested)
    unpack = "" if len(carry) == 1 else f"{indent}{_STEP}{names} = {state}\n"
    packed = names if len(carry) == 1 else f"({names})"
    text = (
        f"{indent}def {test}({state}):\n{unpack}"
        f"{indent}{_STEP}return {in_arrays(source, tested.test, numpy)}\n\n"
        f"{indent}def {body}({state}):\n{unpack}"
        f"{source.block_text(tested.body, indent + _STEP)}\n"
        f"{indent}{_STEP}return {names}\n\n"
        f"{indent}{names} = {loop}({test}, {body}, {packed})"
    )
    title = "loop with while_loop, whose test may be traced"
    edit = source.replace_statements([tested], text)
    yield Candidate("while_loop", title, (edit, *more, *imports), 2)


def _broken_loop(
    source: Source, test: ast.If, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """A loop that is left by `if found: break` -> while_loop, which carries whether it was found."""
    loop = source.parents.get(test)
    if not isinstance(loop, (ast.While, ast.For)) or test not in loop.body or loop.orelse:
        return
    if test.orelse or not (test.body and isinstance(test.body[-1], ast.Break)):
        return
    at = loop.body.index(test)
    head, tail, leaving = loop.body[:at], loop.body[at + 1 :], test.body[:-1]
    if _jumps([*head, *leaving, *tail]) or _writes_elsewhere(loop.body):
        return
    indent = source.indent(loop)
    inside = indent + _STEP
    carry = loop_carry(
        source, loop, loop.body, loads(loop.test) if isinstance(loop, ast.While) else ()
    )
    left = source.fresh("done", loop)
    counter, rows, start = "", list[str](), list[str]()
    if isinstance(loop, ast.For):
        bounds = range_of(source, loop.iter)
        if bounds is None or not isinstance(loop.target, ast.Name) or bounds[2] != "1":
            return
        if loop.target.id in used_later_than(source, loop):
            return  # it would be one more than the loop has come to
        counter = source.fresh("k", loop) if loop.target.id == "_" else loop.target.id
        going = f"{counter} < {bounds[1]}"
        start = [bounds[0]]
    else:
        always = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
        going = "" if always else in_arrays(source, loop.test, numpy)
    going_on = f"{numpy}.logical_not({left})"
    going = f"{numpy}.logical_and({going}, {going_on})" if going else going_on
    names = [*([counter] if counter else []), *carry, left]
    state, listed = source.fresh("carry", loop), tuple_text(names)
    rows += [f"{inside}{', '.join([*names[:-1], '_'])} = {state}"]
    rows += [source.block_text(head, inside)] if head else []
    rows.append(f"{inside}{left} = {in_arrays(source, test.test, numpy)}")
    for block, taken in ((leaving, True), (tail, False)):
        changed = [n for n in carry if n in stores(block)]
        if not block:
            continue
        kept = {n: source.fresh(f"{n}_before", loop) for n in changed}
        rows += (
            [f"{inside}{tuple_text(list(kept.values()))} = {tuple_text(changed)}"] if kept else []
        )
        rows.append(source.block_text(block, inside))
        for n in changed:
            sides = f"{n}, {kept[n]}" if taken else f"{kept[n]}, {n}"
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


def range_of(source: Source, iterated: ast.expr) -> tuple[str, str, str] | None:
    """Start, stop and step of a call of `range`, as texts."""
    call = iterated
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    if call.func.id != "range" or call.keywords or not 1 <= len(call.args) <= 3:
        return None
    texts = [source.code(a) for a in call.args]
    if len(texts) == 1:
        return "0", texts[0], "1"
    return texts[0], texts[1], texts[2] if len(texts) == 3 else "1"


def loop_carry(
    source: Source, loop: ast.stmt, body: Sequence[ast.stmt], tested: Sequence[str] = ()
) -> list[str]:
    """The names that a loop changes from round to round, or whose last value is used later."""
    defined, later = before(source, loop), used_later_than(source, loop)
    bound = stores(body)
    read_first = _read_before_bound(body)
    return [n for n in bound if n in defined and (n in later or n in tested or n in read_first)]


def used_later_than(source: Source, loop: ast.stmt) -> set[str]:
    """As `used_later`, not counting the loop itself."""
    function = source.function(loop)
    scope: ast.AST = function if function is not None else source.tree
    end = loop.end_lineno or 0
    names = {n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and n.lineno > end}
    for around in source.above(loop):
        if isinstance(around, (ast.For, ast.While)):
            names.update(loads(around))
    return names


def _read_before_bound(body: Sequence[ast.stmt]) -> set[str]:
    """The names that a block may read before it binds them."""
    bound: set[str] = set()
    found: set[str] = set()
    for statement in body:
        found.update(n for n in loads(statement) if n not in bound)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bound.update(stores(statement))
    return found
