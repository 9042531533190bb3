"""Control flow on traced values: `if`, `while`, `for` and `assert` as functions of lax."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sagax._src.diagnostics.fixes.case import Candidate, Case
from sagax._src.diagnostics.fixes.logic import in_arrays, truth_of
from sagax._src.diagnostics.fixes.source import (
    Source,
    loads,
    parameters,
    stores,
    target_names,
)
from sagax._src.diagnostics.model import Edit

__all__ = ["assertion", "before", "branches", "tuple_text", "while_loops"]

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
    top = tested
    while (parent := source.parents[top]) and isinstance(parent, ast.If) and parent.orelse == [top]:
        top = parent
    if text := _where(source, top, numpy):
        statements, new = text
        title = "choose with where, which computes both sides"
        edit = source.replace_statements(statements, new)
        yield Candidate("where", title, (edit, *imports), 2)
    cond, more = source.spell("jax.lax.cond")
    if made := _cond(source, top, numpy, cond):
        statements, new = made
        title = "choose with cond, which runs one side"
        edit = source.replace_statements(statements, new)
        yield Candidate("cond", title, (edit, *more, *imports), 3)


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


def _where(source: Source, node: ast.If, numpy: str) -> tuple[list[ast.stmt], str] | None:
    """The statements that the text with `where` replaces."""
    chain, final = _chain(node)
    indent = source.indent(node)
    statements: list[ast.stmt] = [node]
    if not final and all(_single_return(block) is not None for _, block in chain):
        following = source.after(node)
        # several `if`s in a row that each return
        while following and isinstance(following[0], ast.If):
            more, last = _chain(following[0])
            if last or not all(_single_return(block) is not None for _, block in more):
                break
            chain += more
            statements.append(following.pop(0))
        if not following or not isinstance(following[0], ast.Return):
            return None
        final = list[ast.stmt]([following[0]])
        statements.append(following[0])
    values = [_single_return(block) for _, block in chain]
    default = _single_return(final)
    if default is not None and all(v is not None for v in values):
        text = _nested(
            source, [(t, v) for (t, _), v in zip(chain, values, strict=True) if v], default, numpy
        )
        return statements, f"{indent}return {text}"
    return _where_assigned(source, chain, final, numpy, indent, node)


def _nested(
    source: Source, tests: list[tuple[ast.expr, ast.expr]], default: ast.expr, numpy: str
) -> str:
    """`where` calls, or a tuple of them where tuples are chosen."""
    shapes = [*[v for _, v in tests], default]
    if all(isinstance(v, ast.Tuple) for v in shapes):
        tuples = [v for v in shapes if isinstance(v, ast.Tuple)]
        if len({len(v.elts) for v in tuples}) == 1:
            parts = [
                _nested(
                    source,
                    [(t, v.elts[i]) for (t, _), v in zip(tests, tuples, strict=False)],
                    tuples[-1].elts[i],
                    numpy,
                )
                for i in range(len(tuples[0].elts))
            ]
            return ", ".join(parts)
    text = source.code(default)
    for test, value in reversed(tests):
        text = f"{numpy}.where({in_arrays(source, test, numpy)}, {source.code(value)}, {text})"
    return text


_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%",
          ast.FloorDiv: "//", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|"}  # fmt: skip


def _assignments(source: Source, block: Sequence[ast.stmt]) -> dict[str, str] | None:
    """What a block assigns: target -> text; None if it does anything else."""
    found: dict[str, str] = {}
    for statement in block:
        if isinstance(statement, ast.Pass):
            continue
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
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, text = statement.targets[0], source.code(statement.value)
            if isinstance(target, ast.Tuple):
                pairs = statement.value
                if not isinstance(pairs, ast.Tuple) or len(pairs.elts) != len(target.elts):
                    return None
                for name, value in zip(target.elts, pairs.elts, strict=True):
                    found[source.code(name)] = source.code(value)
                continue
        else:
            return None
        if set(found) & set(loads(statement)) or source.code(target) in found:
            return None  # it reads what the block has assigned before
        if isinstance(target, ast.Subscript) and not _is_static_item(target):
            return None
        found[source.code(target)] = text
    return found or ({} if block else None)


def _is_static_item(target: ast.Subscript) -> bool:
    return isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)


def _where_assigned(
    source: Source,
    chain: list[tuple[ast.expr, list[ast.stmt]]],
    final: list[ast.stmt],
    numpy: str,
    indent: str,
    node: ast.If,
) -> tuple[list[ast.stmt], str] | None:
    maps = [_assignments(source, block) for _, block in chain]
    last = _assignments(source, final) if final else {}
    if last is None or any(m is None for m in maps):
        return None
    known = [m for m in maps if m is not None]
    targets = list(dict.fromkeys(t for m in [*known, last] for t in m))
    defined = before(source, node)
    for target in targets:
        everywhere = all(target in m for m in [*known, last])
        if not everywhere and target.isidentifier() and target not in defined:
            return None
    tests = [in_arrays(source, test, numpy) for test, _ in chain]
    lines: list[str] = []
    if len(targets) > 1:
        for i, (test, _) in enumerate(chain):
            if not isinstance(test, ast.Name):
                name = source.fresh("condition" if len(chain) == 1 else f"condition_{i + 1}", node)
                lines.append(f"{indent}{name} = {tests[i]}")
                tests[i] = name
    values: list[str] = []
    for target in targets:
        text = last.get(target, target)
        for test, m in zip(reversed(tests), reversed(known), strict=True):
            if m.get(target, target) != text:
                text = f"{numpy}.where({test}, {m.get(target, target)}, {text})"
        values.append(text)
    lines.append(f"{indent}{', '.join(targets)} = {', '.join(values)}")
    return [node], "\n".join(lines)


# --- cond ------------------------------------------------------------------------------------


def _ends_in_return(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Return)


def _jumps(block: Sequence[ast.stmt], allow_last_return: bool) -> bool:
    """Whether a block leaves in a way that a function of its own could not."""
    todo: list[ast.AST] = list(block)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            continue
        if isinstance(node, (*_JUMPS, ast.Global, ast.Nonlocal)):
            if allow_last_return and block and node is block[-1]:
                continue
            return True
        todo += ast.iter_child_nodes(node)
    return False


def _cond(source: Source, node: ast.If, numpy: str, cond: str) -> tuple[list[ast.stmt], str] | None:
    statements: list[ast.stmt] = [node]
    body, other = node.body, node.orelse
    returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
    indent = source.indent(node)
    test = in_arrays(source, node.test, numpy)
    if returns:
        rest = source.after(node)
        if not _ends_in_return(body):
            return None
        if not _ends_in_return(other):
            if not _ends_in_return(rest):
                return None
            other = [*other, *rest]
            statements += rest
        if _jumps(body, True) or _jumps(other, True):
            return None
        results: list[str] = []
    else:
        if _jumps(body, False) or _jumps(other, False):
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
        if block:
            pieces.append(source.block_text(block, indent + _STEP))
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
    """`assert x > 0` -> a check that runs with the compiled program."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None or not isinstance(tested, ast.Assert):
        return
    function = source.function(tested)
    local = before(source, tested) if function is not None else set[str]()
    names = [n for n in loads(tested) if n in local]
    indent = source.indent(tested)
    name = source.fresh("check_" + (names[0] if names else "value"), tested)
    callback, imports = source.spell("jax.debug.callback")
    text = "\n".join(
        [
            f"{indent}def {name}({', '.join(names)}):",
            source.block_text([tested], indent + _STEP),
            "",
            f"{indent}{callback}({', '.join([name, *names])})",
        ]
    )
    title = "check when the compiled program runs, in a callback"
    yield Candidate("callback", title, (source.replace_statements([tested], text), *imports), 1)
    numpy, imports = source.spell("jax.numpy")
    following = source.after(tested)
    returned = following[-1] if following and isinstance(following[-1], ast.Return) else None
    if returned is not None and returned.value is not None:
        test = in_arrays(source, tested.test, numpy)
        text = f"{numpy}.where({test}, {source.code(returned.value)}, {numpy}.nan)"
        title = "return nan where the check fails"
        edits = (source.delete(tested), source.replace(returned.value, text), *imports)
        yield Candidate("where", title, edits, 4)


# --- while -----------------------------------------------------------------------------------


def while_loops(case: Case) -> Iterator[Candidate]:
    """`while` on a traced value -> while_loop."""
    source = case.source
    whole, tested = truth_of(case)
    if source is None or whole is None or not isinstance(tested, ast.While):
        return
    if tested.orelse or _jumps(tested.body, False) or _writes_elsewhere(tested.body):
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
