"""Repair differences that cancel: exp(x) - 1, log(1 + x), difference quotients, sums of equal steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.carries import initial_values
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    last_name,
    loads,
    parameters,
    stores,
)

# --- exp(x) - 1 and log(1 + x) ----------------------------------------------------------------------


@at_expression
def use_small_argument_function(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `1 - exp(x)`, `exp(x) - 1` and `log(1 + x)` with expm1 and log1p."""
    title = "keeps the digits of results that are small beside 1"
    for part in ast.walk(source.statement(node)):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            for one, other, sign in ((part.left, part.right, "-"), (part.right, part.left, "")):
                if _is_one(one) and (x := _argument(source, other, "exp")) is not None:
                    function, imports = source.spell("jax.numpy.expm1")
                    text = f"{sign}{function}({source.code(x)})"
                    edits = (source.replace(part, text), *imports)
                    yield Candidate("stable_function", f"expm1 {title}", edits, 1)
        elif isinstance(part, ast.Call) and (x := _argument(source, part, "log")) is not None:
            if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Add):
                for one, other in ((x.left, x.right), (x.right, x.left)):
                    if _is_one(one):
                        function, imports = source.spell("jax.numpy.log1p")
                        edit = source.replace(part, f"{function}({source.code(other)})")
                        yield Candidate("stable_function", f"log1p {title}", (edit, *imports), 1)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (1, 1.0) and node.value is not True


def _argument(source: Source, node: ast.expr, name: str) -> ast.expr | None:
    """Return x of `jnp.exp(x)`, also through a variable."""
    if isinstance(node, ast.Name):
        values = source.assigned(node.id, source.function(node) or source.tree)
        node = values[0] if len(values) == 1 else node
    is_call = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Call) and is_call:
        if source.meaning(node.func) in (f"jax.numpy.{name}", f"jax.lax.{name}"):
            return node.args[0]
    return None


# --- difference quotients -----------------------------------------------------------------------------


@at_expression
def use_gradient(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `(f(x + h) - f(x)) / h` as `grad(f)(x)`."""
    division = next(
        (
            n
            for n in (node, *source.above(node), *ast.walk(source.statement(node)))
            if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)
        ),
        None,
    )
    if division is None:
        return
    difference, sign = division.left, ""
    while isinstance(difference, ast.UnaryOp) and isinstance(difference.op, ast.USub):
        difference, sign = difference.operand, "-" if not sign else ""
    if isinstance(difference, ast.Name):
        values = source.assigned(difference.id, source.function(node) or source.tree)
        difference = values[0] if len(values) == 1 else difference
    if not isinstance(difference, ast.BinOp) or not isinstance(difference.op, ast.Sub):
        return
    sides = [_definition(source, s) for s in (difference.left, difference.right)]
    calls = [s for s in sides if isinstance(s, ast.Call)]
    if len(calls) != 2 or ast.unparse(calls[0].func) != ast.unparse(calls[1].func):
        return
    upper, lower = calls
    if len(upper.args) != len(lower.args) or ast.dump(
        ast.Tuple([k.value for k in upper.keywords])
    ) != ast.dump(ast.Tuple([k.value for k in lower.keywords])):
        return
    moved = [
        i
        for i, (a, b) in enumerate(zip(upper.args, lower.args, strict=True))
        if ast.unparse(a) != ast.unparse(b)
    ]
    if len(moved) != 1:
        return
    at = moved[0]
    x = _common_point(upper.args[at], lower.args[at])
    if x is None:
        return
    shapes = {m.shape for m in case.measure(source, x) if m.shape is not None}
    if shapes - {()}:
        return  # a difference quotient of an array is no gradient
    grad, imports = source.spell("jax.grad")
    function = source.code(upper.func)
    which = "" if at == 0 else f", argnums={at}"
    arguments = [source.code(x) if i == at else source.code(a) for i, a in enumerate(upper.args)]
    arguments += [f"{k.arg}={source.code(k.value)}" for k in upper.keywords if k.arg]
    text = f"{sign}{grad}({function}{which})({', '.join(arguments)})"
    title = f"differentiate `{function}` with grad, which has no step"
    yield Candidate("grad", title, (source.replace(division, text), *imports), 1)


def _definition(source: Source, node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        values = source.assigned(node.id, source.function(node) or source.tree)
        return values[0] if len(values) == 1 else node
    return node


def _common_point(upper: ast.expr, lower: ast.expr) -> ast.expr | None:
    """Return x of x + h and x, of x + h and x - h, or of x and x - h."""

    def point(node: ast.expr, op: type[ast.operator]) -> ast.expr | None:
        moved = isinstance(node, ast.BinOp) and isinstance(node.op, op)
        return node.left if isinstance(node, ast.BinOp) and moved else None

    above, below = point(upper, ast.Add), point(lower, ast.Sub)
    for a, b in ((above, lower), (above, below), (upper, below)):
        if a is not None and b is not None and ast.unparse(a) == ast.unparse(b):
            return a
    return None


# --- sums of equal steps ------------------------------------------------------------------------------


@at_expression
def multiply_steps(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `t + dt` in the body of a fori_loop as `t0 + (k + 1) * dt`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return
    function = source.function(node)
    if function is None or not isinstance(node.left, ast.Name):
        return
    loop = _counted_loop(source, function)
    if loop is None or not parameters(function):
        return
    counter = parameters(function)[0]
    lower = loop.args[0]
    starts = {
        source.code(found.node)
        for found in initial_values(case, source, node.left)
        if isinstance(found.node, ast.Constant)
    }
    if len(starts) != 1:
        return
    start = starts.pop()
    zero = isinstance(lower, ast.Constant) and lower.value == 0
    done = f"({counter} + 1)" if zero else f"({counter} + 1 - {source.operand(lower)})"
    sign = "+" if isinstance(node.op, ast.Add) else "-"
    steps = f"{done} * {source.operand(node.right)}"
    text = steps if float(start) == 0 and sign == "+" else f"{start} {sign} {steps}"
    title = "multiply the step by the number of iterations, which rounds once"
    yield Candidate("sum_at_once", title, (source.replace(node, text),), 1)


def _counted_loop(source: Source, function: Function) -> ast.Call | None:
    """Return the fori_loop whose body a function is."""
    called = getattr(function, "name", "")
    for call in source.calls_of("jax.lax.fori_loop"):
        if len(call.args) > 2 and (
            call.args[2] is function or (called and last_name(call.args[2]) == called)
        ):
            return call
    return None


# --- differences of arguments -------------------------------------------------------------------------


@at_expression
def subtract_before_call(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `f(x)`, which computes `x - x0` first, as `f(x - x0)`."""
    function = source.function(node)
    if "subtract before the call" not in case.facts.message or function is None:
        return
    differences = [
        n
        for n in ast.walk(source.statement(node))
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)
    ]
    for difference in differences:
        name, offset = difference.left, difference.right
        if not isinstance(name, ast.Name) or name.id not in parameters(function):
            continue
        reads = [u for u in source.uses(name.id, function) if isinstance(u.ctx, ast.Load)]
        body = function.body if isinstance(function.body, list) else [function.body]
        local = {*parameters(function), *stores(body)}
        if reads != [name] or set(loads(offset)) & local:
            continue  # the argument itself, or a value of the function, is needed too
        edits = [source.replace(difference, name.id)]
        for there, _, passed in case.calls(function):
            given = passed.get(name.id)
            if given is None:
                break
            text = f"{there.operand(given)} - {source.operand(offset)}"
            edits.append(there.replace(given, text))
        else:
            if len(edits) > 1:
                title = f"subtract `{source.code(offset)}` before the call, in 64 bits"
                yield Candidate("subtract_before", title, tuple(edits), 1)
