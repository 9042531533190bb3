"""Desugar control flow for the other repairs: `match` as `if`, `return` in a loop as a choice.

Each edit keeps the meaning. A remaining mistake is repaired in the same candidate (`match`), or found
in the next run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import sagax._autofix.repairs.control_flow as control_flow
from sagax._autofix.repairs.boolean_logic import as_array_logic
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import INDENT, Source, stores
from sagax._src.diagnostics.edits import apply, line_edits


@at_expression
def rewrite_match(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `match x: case 0: ...` on a traced value as `if x == 0: ...`, where or cond."""
    found = source.enclosing(node, ast.Match)
    text = _match_as_if(source, found) if found is not None else None
    if found is None or text is None:
        return
    desugared = Source(source.file, apply(source.text, [source.replace_statements([found], text)]))
    indent = source.indent(found)
    ifs = [n for n in desugared.nodes(ast.If) if n.lineno >= found.lineno]
    first = next((n for n in ifs if desugared.indent(n) == indent), None)
    if first is None:
        return
    yield from _rewrite_as_choice(source, desugared, first, "cases", "case")
    title = "compare with each case: `match` asks for the number itself"
    yield Candidate("where", title, line_edits(source.file, source.text, desugared.text), 4)


def _rewrite_as_choice(
    source: Source, desugared: Source, node: ast.If, several: str, one: str
) -> Iterator[Candidate]:
    """Rewrite an `if` of a desugared source as where and as cond, as edits of the source."""
    for kind, rank, title in (
        ("where", 2, f"choose with where, which computes all {several}"),
        ("cond", 3, f"choose with cond, which runs one {one}"),
    ):
        after = _rewritten_text(desugared, node, kind)
        if after is not None:
            yield Candidate(kind, title, line_edits(source.file, source.text, after), rank)


def _rewritten_text(source: Source, node: ast.If, kind: str) -> str | None:
    """Return the text of a file with an `if` rewritten as where or cond."""
    numpy, imports = source.spell("jax.numpy")
    if kind == "where":
        replacement = control_flow.as_where(source, node, numpy)
    else:
        cond, more = source.spell("jax.lax.cond")
        replacement = control_flow.as_cond(source, node, numpy, cond)
        imports = [*more, *imports]
    if replacement is None:
        return None
    return apply(source.text, [source.replace_statements(*replacement), *imports])


@at_expression
def rewrite_related_ifs(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite the `if` at fault and all that follow or are nested: their tests may be traced too."""
    function = source.function(node)
    test = source.enclosing(node, ast.If)
    if test is None or not isinstance(function, ast.FunctionDef):
        return
    while isinstance(parent := source.parents[test], ast.If) and parent.orelse == [test]:
        test = parent
    name, at, there = source.qualified(function), test.lineno, source
    for count in range(_MAX_IFS):
        found = next(
            (f for f in there.functions(function.name) if there.qualified(f) == name), None
        )
        inside = there.nodes(ast.If, found) if found is not None else []
        chain = {id(n.orelse[0]) for n in inside if len(n.orelse) == 1}
        left = [
            n for n in inside if n.lineno >= at and id(n) not in chain and _may_test_values(n.test)
        ]
        if not left:
            if count > 1:
                title = "choose with where and cond, here and in what depends on it"
                yield Candidate("cond", title, line_edits(source.file, source.text, there.text), 4)
            return
        after = _rewritten_text(there, left[0], "where") or _rewritten_text(there, left[0], "cond")
        if after is None:
            return
        there = Source(source.file, after)


_MAX_IFS = 12


def _may_test_values(test: ast.expr) -> bool:
    """Return whether a test may need a number, unlike `x is None` and `isinstance(x, dict)`."""
    if isinstance(test, ast.Compare) and all(
        isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops
    ):
        return False
    named = getattr(getattr(test, "func", None), "id", "")
    texts = any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(test))
    subscripts = any(isinstance(n, ast.Subscript) for n in ast.walk(test))
    return named not in ("isinstance", "hasattr", "callable") and (subscripts or not texts)


def _match_as_if(source: Source, node: ast.Match) -> str | None:
    """Return a `match` statement as an `if` statement; None if a pattern destructures a value."""
    indent = source.indent(node)
    rows: list[str] = []
    subject = source.code(node.subject)
    parts = (
        [source.code(e) for e in node.subject.elts] if isinstance(node.subject, ast.Tuple) else []
    )
    if not parts and not isinstance(node.subject, (ast.Name, ast.Attribute)):
        name = source.fresh("matched", node)
        rows.append(f"{indent}{name} = {subject}")
        subject = name
    word = "if"
    for choice in node.cases:
        test, names = _pattern_test(source, choice.pattern, subject, parts)
        if test is None:
            return None
        if choice.guard is not None:
            test = f"{test} and {source.code(choice.guard)}" if test else source.code(choice.guard)
        rows[0:0] = [f"{indent}{name} = {value}" for name, value in names]
        block = source.block_text(choice.body, indent + INDENT)
        if not test:
            rows.append(f"{indent}else:" if word == "elif" else "")
            rows.append(block if word == "elif" else source.block_text(choice.body, indent))
            break
        rows += [f"{indent}{word} {test}:", block]
        word = "elif"
    return "\n".join(row for row in rows if row)


def _pattern_test(
    source: Source, pattern: ast.pattern, subject: str, parts: list[str]
) -> tuple[str | None, list[tuple[str, str]]]:
    """Return the test of a pattern, "" if it always matches, and the names that it binds."""
    if isinstance(pattern, ast.MatchValue):
        return f"{subject} == {source.code(pattern.value)}", []
    if isinstance(pattern, ast.MatchSingleton):
        return f"{subject} is {pattern.value}", []
    if isinstance(pattern, ast.MatchAs):
        bound = [(pattern.name, subject)] if pattern.name else []
        if pattern.pattern is None:
            return "", bound
        test, names = _pattern_test(source, pattern.pattern, subject, parts)
        return test, [*names, *bound]
    if isinstance(pattern, ast.MatchOr):
        tests = [_pattern_test(source, p, subject, parts) for p in pattern.patterns]
        if any(test is None or names for test, names in tests):
            return None, []
        return "(" + " or ".join(test or "True" for test, _ in tests) + ")", []
    if isinstance(pattern, ast.MatchSequence):
        if any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
            return None, []
        items = parts or [f"{subject}[{i}]" for i in range(len(pattern.patterns))]
        if len(items) != len(pattern.patterns):
            return None, []
        conditions: list[str] = []
        found: list[tuple[str, str]] = []
        for item, inner in zip(items, pattern.patterns, strict=True):
            test, names = _pattern_test(source, inner, item, [])
            if test is None:
                return None, []
            conditions += [test] if test else []
            found += names
        return " and ".join(conditions), found
    return None, []


# --- return inside of a loop ----------------------------------------------------------------------


@at_expression
def rewrite_return_in_loop(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `for ...: if found: return v` as a choice of the first value found, with where."""
    test = source.enclosing(node, ast.If)
    function = source.function(node)
    if test is None or function is None or isinstance(function, ast.Lambda):
        return
    loops = [
        n for n in source.above(test) if isinstance(n, ast.For) and source.function(n) is function
    ]
    if not loops or any(
        isinstance(n, (ast.While, ast.With, ast.Try))
        for n in _nodes_between(source, test, loops[-1])
    ):
        return
    loop = loops[-1]
    following = source.after(loop)
    last = following[-1] if following else None
    if not isinstance(last, ast.Return) or last.value is None:
        return
    inside = [n for n in ast.walk(loop) if isinstance(n, ast.Return)]
    leaving = [source.parents[n] for n in inside]
    if not inside or any(n.value is None for n in inside):
        return
    if any(
        not isinstance(n, ast.If) or n.orelse or not _only_binds_new_names(source, n)
        for n in leaving
    ):
        return
    values = [_value_texts(source, n.value) for n in inside if n.value is not None]
    ends = [
        n
        for s in following
        for n in ast.walk(s)
        if isinstance(n, ast.Return) and n.value is not None
    ]
    others = [_value_texts(source, n.value) for n in ends if n.value is not None]
    size = len(values[0])
    if any(len(v) != size for v in (*values, *others)):
        return
    numpy, imports = source.spell("jax.numpy")
    found = source.fresh("found", loop)
    now = source.fresh("here", loop)
    names = [source.fresh("result" if size == 1 else f"result_{i + 1}", loop) for i in range(size)]
    begin = [
        "False" if all(v[i] in ("True", "False") for v in (*values, *others)) else "0"
        for i in range(size)
    ]
    indent = source.indent(loop)
    edits = [
        source.insert_above(
            loop.lineno, f"{indent}{', '.join([found, *names])} = {', '.join(['False', *begin])}"
        )
    ]
    for branch, parts in zip(leaving, values, strict=True):
        assert isinstance(branch, ast.If)
        deeper = source.indent(branch)
        condition = as_array_logic(source, branch.test, numpy)
        rows = [f"{deeper}{now} = {numpy}.logical_and({numpy}.logical_not({found}), {condition})"]
        if len(branch.body) > 1:
            rows.append(source.block_text(branch.body[:-1], deeper))
        rows += [
            f"{deeper}{name} = {numpy}.where({now}, {part}, {name})"
            for name, part in zip(names, parts, strict=True)
        ]
        rows.append(f"{deeper}{found} = {numpy}.logical_or({found}, {now})")
        edits.append(source.replace_statements([branch], "\n".join(rows)))
    for end, parts in zip(ends, others, strict=True):
        chosen = [
            f"{numpy}.where({found}, {name}, {part})"
            for name, part in zip(names, parts, strict=True)
        ]
        assert end.value is not None
        edits.append(source.replace(end.value, ", ".join(chosen)))
    title = "go through all rounds, and choose what the first one that ends the loop returns"
    yield Candidate("where", title, (*edits, *imports), 2)


def _only_binds_new_names(source: Source, branch: ast.If) -> bool:
    """Return whether a block only binds new names before it returns."""
    *head, last = branch.body
    if not all(isinstance(s, ast.Assign) for s in head) or not isinstance(last, ast.Return):
        return False
    plain = all(isinstance(t, (ast.Name, ast.Tuple)) for s in head for t in s.targets)  # type: ignore[attr-defined]
    return plain and not set(stores(head)) & control_flow.bound_before(source, branch)


def _nodes_between(source: Source, node: ast.AST, outer: ast.AST) -> Iterator[ast.AST]:
    for found in source.above(node):
        if found is outer:
            return
        yield found


def _value_texts(source: Source, value: ast.expr) -> list[str]:
    if isinstance(value, ast.Tuple):
        return [source.code(v) for v in value.elts]
    return [source.code(value)]


# --- early exits of loops ------------------------------------------------------------------------


@at_expression
def rewrite_continue(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `if x: continue` as `if not x: ...`, with where or cond."""
    test = source.enclosing(node, ast.If)
    if test is None or test.orelse or not isinstance(test.body[-1], ast.Continue):
        return
    rest, head = source.after(test), test.body[:-1]
    if not rest or not isinstance(source.parents[test], (ast.For, ast.While)):
        return
    indent = source.indent(test)
    condition = source.code(test.test)
    inner = source.block_text(rest, indent + INDENT)
    if head:
        head_text = source.block_text(head, indent + INDENT)
        rows = [f"{indent}if {condition}:", head_text, f"{indent}else:", inner]
    else:
        rows = [f"{indent}if not ({condition}):", inner]
    edit = source.replace_statements([test, *rest], "\n".join(rows))
    desugared = Source(source.file, apply(source.text, [edit]))
    first = next((n for n in desugared.nodes(ast.If) if n.lineno == test.lineno), None)
    if first is not None:
        yield from _rewrite_as_choice(source, desugared, first, "rounds to their end", "side")


@at_expression
def rewrite_return_in_while(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `while True: new = f(x); if done(new): return new; x = new` as while_loop."""
    test = source.enclosing(node, ast.If)
    loop = source.parents.get(test) if test is not None else None
    if test is None or test.orelse or not isinstance(loop, ast.While) or loop.orelse:
        return
    if not (
        isinstance(loop.test, ast.Constant)
        and loop.test.value
        and isinstance(test.body[-1], ast.Return)
    ):
        return
    at = loop.body.index(test)
    head, tail = loop.body[:at], loop.body[at + 1 :]
    if control_flow.has_effects([*head, *tail]):
        return
    carry = control_flow.loop_carry(source, loop, loop.body)
    if not carry or set(carry) & set(stores(head)):
        return  # what is computed before the test is computed once more behind the loop
    numpy, imports = source.spell("jax.numpy")
    function, more = source.spell("jax.lax.while_loop")
    indent = source.indent(loop)
    inside = indent + INDENT
    going, step = source.fresh("keep_going", loop), source.fresh("step", loop)
    form = control_flow.CarryForm.of(source, loop, carry)
    first = [source.block_text(head, inside)] if head else []
    condition = as_array_logic(source, test.test, numpy)
    rows = [
        f"{indent}def {going}({form.state}):",
        *form.unpack(inside),
        *first,
        f"{inside}return {numpy}.logical_not({condition})",
        "",
        f"{indent}def {step}({form.state}):",
        *form.unpack(inside),
        *first,
        source.block_text(tail, inside),
        f"{inside}return {form.names}",
        "",
        f"{indent}{form.names} = {function}({going}, {step}, {form.packed})",
        *([source.block_text(head, indent)] if head else []),
        source.block_text(test.body, indent),
    ]
    title = "loop with while_loop, which ends when the test is true"
    edit = source.replace_statements([loop], "\n".join(rows))
    yield Candidate("while_loop", title, (edit, *more, *imports), 2)


@at_expression
def rewrite_break(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `for x in xs: ... if c: break` as a loop that changes nothing after the break."""
    test = source.enclosing(node, ast.If)
    loop = source.parents.get(test) if test is not None else None
    if test is None or test.orelse or not isinstance(test.body[-1], ast.Break):
        return
    if not isinstance(loop, ast.For) or loop.orelse:
        return
    at = loop.body.index(test)
    head, tail, leaving = loop.body[:at], loop.body[at + 1 :], test.body[:-1]
    if control_flow.has_effects([*head, *leaving, *tail]):
        return
    numpy, imports = source.spell("jax.numpy")
    carry = control_flow.loop_carry(source, loop, loop.body)
    left, now = source.fresh("left", loop), source.fresh("leaves", loop)
    indent, inside = source.indent(loop), source.indent(test)
    rows: list[str] = []

    def masked(block: list[ast.stmt], mask: str, keeps: bool) -> None:
        changed = [n for n in carry if n in stores(block)]
        saved = [source.fresh(f"{n}_before", loop) for n in changed]
        if saved:
            rows.append(f"{inside}{', '.join(saved)} = {', '.join(changed)}")
        if block:
            rows.append(source.block_text(block, inside))
        for old, n in zip(saved, changed, strict=True):
            sides = f"{old}, {n}" if keeps else f"{n}, {old}"
            rows.append(f"{inside}{n} = {numpy}.where({mask}, {sides})")

    masked(head, left, True)
    condition = as_array_logic(source, test.test, numpy)
    rows.append(f"{inside}{now} = {numpy}.logical_and({numpy}.logical_not({left}), {condition})")
    masked(leaving, now, False)
    rows.append(f"{inside}{left} = {numpy}.logical_or({left}, {now})")
    masked(tail, left, True)
    edits = (
        source.insert_above(loop.lineno, f"{indent}{left} = False"),
        source.replace_statements(loop.body, "\n".join(rows)),
        *imports,
    )
    title = "go through all rounds, of which those after the last change nothing"
    yield Candidate("where", title, edits, 3)
