"""Repair calls of derivatives: arguments by keyword, modes that a rule or a loop lacks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

import sagax._autofix.repairs.transform_options as transform_options
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, argument, last_name
from sagax._src.diagnostics.model import Edit


@at_expression
def pass_by_position(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass by position what is differentiated, and let the function take it so."""
    said = re.search(r"(\w+) was called with 0 positional", case.facts.message)
    if said is None or not isinstance(node, ast.Call) or not node.keywords:
        return
    for there, function in case.definition(said[1]):
        args = function.args
        positional = [a.arg for a in (*args.posonlyargs, *args.args)]
        first = (positional or [a.arg for a in args.kwonlyargs])[:1]
        value = next((k for k in node.keywords if k.arg in first), None)
        if value is None:
            return
        rest = [source.code(k) for k in node.keywords if k is not value]
        given = ", ".join([source.code(value.value), *rest])
        edits = [source.replace(node, f"{source.code(node.func)}({given})")]
        if not positional:
            edits += _move_star(there, function)
        title = f"pass `{first[0]}` by position: it is what is differentiated"
        yield Candidate("positional_argument", title, tuple(edits), 1)


def _move_star(source: Source, function: ast.FunctionDef) -> list[Edit]:
    """Let the first keyword-only parameter be positional: `*, a, b` becomes `a, *, b`."""
    first, *rest = function.args.kwonlyargs
    start = source.span(first)
    head = source.lines[start.line - 1][: start.column]
    star = head.rfind("*")
    if star < 0 or head[star + 1 :].strip() not in (",", ""):
        return []
    text = f"{source.code(first)}, *" if rest else source.code(first)
    line = source.lines[start.line - 1]
    whole = replace(start, column=star, source=(line,))
    return [Edit(whole, text)]


def use_reverse_mode(case: Case) -> Iterator[Candidate]:
    """Replace forward mode, which a custom_vjp function lacks, by reverse mode."""
    if "can't apply forward-mode" not in case.facts.message:
        return
    for source in case.sources.values():
        for call in source.calls_of("jax.jacfwd", "jax.hessian"):
            reverse, imports = source.spell("jax.jacrev")
            if source.meaning(call.func) == "jax.hessian" and call.args:
                rest = "".join(f", {source.code(k)}" for k in call.keywords)
                inner = f"{reverse}({source.code(call.args[0])}{rest})"
                edits = [source.replace(call, f"{reverse}({inner}{rest})")]
            else:
                edits = [source.replace(call.func, reverse)]
            title = "use reverse mode, whose rule the function has"
            yield Candidate("reverse_mode", title, (*edits, *imports), 1)


@at_expression
def use_jacobian(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace `grad` of a function that returns an array by `jacobian`: one row for each output."""
    if "Gradient only defined for scalar-output functions" not in case.facts.message:
        return
    found = transform_options.find_transform_call(case, source, node, ("jax.grad",))
    if found is None or any(k.arg == "has_aux" for k in found[1].keywords):
        return
    there, call = found
    jacobian, imports = there.spell("jax.jacobian")
    title = "differentiate each output: `jacobian` has one row for each of them"
    edits = (there.replace(call.func, jacobian), *imports)
    yield Candidate("jacobian", title, edits, 3, assumes=True)


_OF_ALL_TERMS = ("loss", "total", "total_loss", "objective", "cost", "value")


@at_expression
def differentiate_entry(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Differentiate one entry of the dict that a loss returns: that of all terms, if there is one."""
    said = re.search(r"a dict with keys? (.*)", case.facts.data.get("got", ""))
    if said is None or "Gradient only defined for scalar-output" not in case.facts.message:
        return
    keys = re.findall(r"'(\w+)'", said[1])
    found = transform_options.find_transform_call(case, source, node, ("jax.grad",))
    if found is None or not found[1].args or not keys:
        return
    there, call = found
    loss = there.primary(call.args[0])
    for key in sorted(keys, key=lambda k: k not in _OF_ALL_TERMS):
        text = f'lambda *args: {loss}(*args)["{key}"]'
        title = f"differentiate the entry '{key}': a gradient is that of one number"
        rank = 0 if key in _OF_ALL_TERMS else 3
        yield Candidate(
            "scalar_output", title, (there.replace(call.args[0], text),), rank, assumes=True
        )


def use_forward_mode(case: Case) -> Iterator[Candidate]:
    """Replace `grad` by `jacfwd`, which goes through loops of any number of rounds."""
    if "Reverse-mode differentiation does not work" not in case.facts.message:
        return
    for source in case.sources.values():
        for call in source.calls_of("jax.grad", "jax.jacrev", "jax.jacobian"):
            if any(k.arg not in ("argnums", None) for k in call.keywords):
                continue
            forward, imports = source.spell("jax.jacfwd")
            title = (
                "use forward mode, which goes through any loop: one pass for each number that is "
                "differentiated by"
            )
            edits = (source.replace(call.func, forward), *imports)
            yield Candidate("forward_mode", title, edits, 3)


_ROUNDS = 2  # times the rounds that were seen


def mark_bound_static(case: Case) -> Iterator[Candidate]:
    """Mark the bound of a loop as static: reverse mode needs the number of its rounds."""
    if "Reverse-mode differentiation does not work" in case.facts.message:
        yield from transform_options.mark_static(case)


@at_expression
def bound_loop(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Bound the rounds of a `while_loop`; rounds after its end change nothing."""
    if "Reverse-mode differentiation does not work" not in case.facts.message:
        return
    loops = source.calls_of("jax.lax.while_loop", within=source.statement(node))
    if len(loops) != 1:
        return
    call = loops[0]
    parts = [argument(call, i, n) for i, n in enumerate(("cond_fun", "body_fun", "init_val"))]
    if any(part is None for part in parts):
        return
    goes_on, body, start = [source.code(part) for part in parts if part is not None]
    rounds = _round_count(case, source, parts[1])
    if rounds is None:
        return
    bound = 1
    while bound < _ROUNDS * rounds:
        bound *= 2
    lax, imports = source.spell("jax.lax")
    names = [source.fresh(n, node) for n in ("state",)]
    callee = [f"({t})" if t.startswith("lambda") else t for t in (goes_on, body)]
    text = (
        f"{lax}.fori_loop(0, {bound}, lambda _, {names[0]}: {lax}.cond({callee[0]}({names[0]}), "
        f"{body}, lambda {names[0]}: {names[0]}, {names[0]}), {start})"
    )
    title = (
        f"run {bound} rounds, of which those after the end change nothing: reverse mode needs a "
        f"number known while tracing (this run needs {rounds})"
    )
    yield Candidate("bounded_loop", title, (source.replace(call, text), *imports), 2)
    if source.package == "sagax":
        text = source.call_with(call, f"max_steps={bound}")
        title = f"bound the rounds: max_steps={bound} (only sagax has it; this run needs {rounds})"
        yield Candidate("bounded_loop", title, (source.replace(call, text),), 1)


def _round_count(case: Case, source: Source, body: ast.expr | None) -> int | None:
    """Return how often the body of a loop ran."""
    if isinstance(body, ast.Lambda):
        return len(case.measure(source, body.body)) or None
    for there, function in case.definition(last_name(body)):
        values = [n.value for n in there.nodes(ast.Return, function) if n.value is not None]
        own = [v for v in values if there.function(v) is function]
        return sum(len(case.measure(there, v)) for v in own) or None
    return None
