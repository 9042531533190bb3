"""Replace operations without slope by smooth ones, or give them the slope of the identity.

What the program means to compute cannot be told from its source, so these repairs are choices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, argument, keyword_value, last_name
from sagax._src.diagnostics.model import Edit

_ROUNDING = {"round", "rint", "floor", "ceil", "trunc", "fix", "sign"}
_SHARPNESS = "20.0"


@at_expression
def use_smooth_function(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give an operation without slope a slope, as its kind suggests."""
    call = node if isinstance(node, ast.Call) else None
    name = last_name(call.func) if call is not None else ""
    if call is not None and name in _ROUNDING:
        yield from _straight_through(source, call)
    elif call is not None and name in ("argmax", "argmin"):
        yield from _soft_argmax(case, source, call, name)
    elif call is not None and source.meaning(call.func) in _DRAWS:
        yield from _score_function(source, call)
    elif isinstance(node, ast.Compare):
        yield from _sigmoid(source, node)
    else:
        for cast in source.nodes(ast.Call, node):
            if last_name(cast.func) in ("astype", "int32", "asarray", "array"):
                yield from _interpolate(case, source, cast)
                yield from _straight_through(source, cast)


def _operand(source: Source, call: ast.Call) -> ast.expr | None:
    """Return the array that a function or a method is applied to."""
    if source.meaning(call.func) and call.args:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) else None


# --- rounding ------------------------------------------------------------------------------------


def _straight_through(source: Source, call: ast.Call) -> Iterator[Candidate]:
    """Rewrite `round(x)` as `x + stop_gradient(round(x) - x)`."""
    operand = _operand(source, call)
    if operand is None:
        return
    stop, imports = source.spell("jax.lax.stop_gradient")
    x, edits = source.operand(operand), list[Edit]()
    rounded = source.code(call)
    statement = source.statement(call)
    plain = isinstance(operand, ast.Name)
    if not plain and not isinstance(source.function(call), ast.Lambda):
        if not isinstance(statement, (ast.While, ast.FunctionDef)):
            x = source.fresh("exact", call)
            line = f"{source.indent(statement)}{x} = {source.code(operand)}"
            edits.append(source.insert_above(source.first_line(statement), line))
            rounded = substitute(source, call, {operand: x})
    text = f"({x} + {stop}({rounded} - {x}))"
    parent = source.parents.get(call)
    if isinstance(parent, (ast.Assign, ast.Return, ast.keyword, ast.AnnAssign)) or (
        isinstance(parent, ast.Call) and call in parent.args
    ):
        text = text[1:-1]
    title = "straight-through, a choice: the value stays, the gradient passes as if nothing were rounded"
    yield Candidate("smooth", title, (source.replace(call, text), *edits, *imports), 2)


# --- comparisons -----------------------------------------------------------------------------------


def _sigmoid(source: Source, compare: ast.Compare) -> Iterator[Candidate]:
    """Rewrite `a > b` as `sigmoid(20 * (a - b))`, with the `where` or the cast around it."""
    if len(compare.ops) != 1:
        return
    yield from _expected_error(source, compare)
    greater = isinstance(compare.ops[0], (ast.Gt, ast.GtE))
    if not greater and not isinstance(compare.ops[0], (ast.Lt, ast.LtE)):
        return
    a, b = compare.left, compare.comparators[0]
    high, low = (a, b) if greater else (b, a)
    sigmoid, imports = source.spell("jax.nn.sigmoid")
    low_text = source.code(low) if not isinstance(low, ast.BinOp) else f"({source.code(low)})"
    zero = isinstance(low, ast.Constant) and low.value == 0
    difference = source.operand(high) if zero else f"({source.code(high)} - {low_text})"
    smooth = f"{sigmoid}({_SHARPNESS} * {difference})"
    replaced, text = _around_test(source, compare, smooth)
    title = "a sigmoid in place of the step, a choice: its sharpness is yours to set"
    yield Candidate("smooth", title, (source.replace(replaced, text), *imports), 1)


def _around_test(source: Source, test: ast.expr, smooth: str) -> tuple[ast.expr, str]:
    """Return the expression that a smooth test replaces: the test, or the `where` or cast around it."""
    parent = source.parents.get(test)
    if isinstance(parent, ast.Call) and parent.args[:1] == [test] and len(parent.args) == 3:
        if source.meaning(parent.func) == "jax.numpy.where":
            yes, no = parent.args[1], parent.args[2]
            values = [p.value if isinstance(p, ast.Constant) else None for p in (yes, no)]
            if values[0] == 1 and values[1] == 0:
                return parent, smooth
            if values[0] == 0 and values[1] == 1:
                return parent, f"(1.0 - {smooth})"
            low, high = source.code(no), source.code(yes)
            if values[1] == 0:
                return parent, f"({source.operand(yes)} * {smooth})"
            return parent, f"({low} + ({high} - {source.operand(no)}) * {smooth})"
    if isinstance(parent, ast.Call) and parent.args[:1] == [test]:
        if source.meaning(parent.func) == "jax.numpy.count_nonzero":  # a sum of truth values
            name = source.code(parent.func).replace("count_nonzero", "sum")
            return parent, substitute(source, parent, {parent.func: name, test: smooth})
    if isinstance(parent, ast.Attribute) and parent.attr == "astype":
        cast = source.parents.get(parent)
        if isinstance(cast, ast.Call) and cast.func is parent:
            return cast, smooth
    return test, smooth


def _expected_error(source: Source, compare: ast.Compare) -> Iterator[Candidate]:
    """Rewrite `argmax(s, axis=1) != labels` as the probability of another label."""
    if not isinstance(compare.ops[0], (ast.Eq, ast.NotEq)):
        return
    function = source.function(compare) or source.tree
    sides = [compare.left, compare.comparators[0]]
    for found, other in (sides, sides[::-1]):
        value = found
        if isinstance(found, ast.Name):
            values = source.assigned(found.id, function)
            value = values[0] if len(values) == 1 else found
        if not isinstance(value, ast.Call) or last_name(value.func) != "argmax":
            continue
        scores = _operand(source, value)
        if scores is None:
            continue
        axis = keyword_value(value, "axis")
        method = not source.meaning(value.func)
        position = value.args[0 if method else 1 :]
        axis = axis or (position[0] if position else None)
        at = source.code(axis) if axis is not None else "-1"
        softmax, imports = source.spell("jax.nn.softmax")
        numpy, more = source.spell("jax.numpy")
        labels = f"{numpy}.expand_dims({source.code(other)}, {at})"
        chosen = f"{numpy}.take_along_axis({softmax}({source.code(scores)}, axis={at}), {labels}, axis={at})"
        bare = source.span(compare)
        line = source.lines[bare.line - 1]
        bracketed = line[: bare.column or 0].endswith("(") and bare.line == bare.end_line
        bracketed = bracketed and line[bare.end_column or 0 :].startswith(")")
        text = f"1.0 - {chosen}" if isinstance(compare.ops[0], ast.NotEq) else chosen
        text = text if bracketed else f"({text})"
        title = "the probability by softmax in place of the label by argmax, a choice: a cross entropy is usual"
        yield Candidate("smooth", title, (source.replace(compare, text), *imports, *more), 1)


# --- draws -----------------------------------------------------------------------------------------

# the distribution of a draw by its parameter, whose logarithm the score function differentiates
_DRAWS = {"jax.random.bernoulli": ("p", "0.5"), "jax.random.categorical": ("logits", "")}


def _score_function(source: Source, draw: ast.Call) -> Iterator[Candidate]:
    """Weigh what a function returns by the chance of its draw over the chance held fixed.

    The weight is 1. The slope of the weighted mean is that of the expectation: REINFORCE, R. J.
    Williams, Machine Learning 8, 1992, without a baseline.
    """
    function, statement = source.function(draw), source.statement(draw)
    name, default = _DRAWS[source.meaning(draw.func)]
    chance = argument(draw, 1, name)
    if (
        not isinstance(function, ast.FunctionDef)
        or chance is None
        or default == source.code(chance)
    ):
        return
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    returned = [n for n in source.nodes(ast.Return, function) if source.function(n) is function]
    if not isinstance(target, ast.Name) or source.block(statement) is not function.body:
        return
    if len(returned) != 1 or returned[0].value is None or isinstance(returned[0].value, ast.Tuple):
        return
    stop, imports = source.spell("jax.lax.stop_gradient")
    numpy, more = source.spell("jax.numpy")
    weight = source.fresh("log_chance", draw)
    parameter = source.operand(chance)
    if name == "p":
        log = f"{numpy}.log({numpy}.where({target.id}, {source.code(chance)}, 1.0 - {parameter}))"
    else:
        softmax, others = source.spell("jax.nn.log_softmax")
        logs, picked = f"{softmax}({source.code(chance)})", f"{target.id}[..., None]"
        log, more = f"{numpy}.take_along_axis({logs}, {picked}, axis=-1)", [*more, *others]
    at = statement.end_lineno or 0
    line = f"\n{source.indent(statement)}{weight} = {numpy}.sum({log})"
    value = returned[0].value
    text = f"{numpy}.exp({weight} - {stop}({weight})) * {source.operand(value)}"
    edits = (
        source.replace(chance, f"{stop}({source.code(chance)})"),
        source.insert(at, len(source.lines[at - 1]), line),
        source.replace(value, text),
    )
    title = "weigh the result by the chance of the draw, a choice: the value stays, and the slope is that of the mean over many draws"
    yield Candidate("smooth", title, (*edits, *imports, *more), 1)


# --- argmax and integer casts ------------------------------------------------------------------------


def _soft_argmax(case: Case, source: Source, call: ast.Call, name: str) -> Iterator[Candidate]:
    """Replace argmax by softmax: in a comparison, an index, or as a number."""
    scores = _operand(source, call)
    if scores is None:
        return
    function = source.function(call) or source.tree
    statement = source.statement(call)
    target = ""
    if isinstance(statement, ast.Assign) and statement.value is call:
        target = last_name(statement.targets[0])
    uses = [call] if not target else [n for n in source.uses(target, function) if _is_load(n)]
    for use in uses:
        parent = source.parents.get(use)
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
            for candidate in _expected_error(source, parent):
                edits = list(candidate.edits)
                if target and len(uses) == 1:
                    edits.append(source.delete(statement))
                yield Candidate("smooth", candidate.title, tuple(edits), 1)
            return
    softmax, imports = source.spell("jax.nn.softmax")
    numpy, more = source.spell("jax.numpy")
    sign = "-" if name == "argmin" else ""
    inner = f"{sign}{source.operand(scores)}" if sign else source.code(scores)
    axis = keyword_value(call, "axis")
    position = call.args[bool(source.meaning(call.func)) :]
    axis = axis if axis is not None or not position else position[0]
    if axis is not None:
        yield from _mean_position(case, source, call, scores, inner, axis)
        return
    weights = f"{softmax}({inner})"
    for use in uses:
        item = source.parents.get(use)
        if isinstance(item, ast.Subscript) and item.slice is use and len(uses) == 1:
            edits = [source.replace(item, f"({weights} @ {source.code(item.value)})")]
            if target:
                edits.append(source.delete(statement))
            title = "an average with weights by softmax in place of the one by argmax, a choice"
            yield Candidate("smooth", title, (*edits, *imports, *more), 1)
            return
    positions = f"{numpy}.arange({source.primary(scores)}.shape[0])"
    text = f"{numpy}.sum({weights} * {positions})"
    title = "the mean position by softmax in place of argmax, a choice"
    yield Candidate("smooth", title, (source.replace(call, text), *imports, *more), 2)


def _mean_position(
    case: Case, source: Source, call: ast.Call, scores: ast.expr, inner: str, axis: ast.expr
) -> Iterator[Candidate]:
    """Rewrite `argmax(s, axis=-1)` as the mean position with weights by softmax, for the last axis."""
    ranks = {len(m.shape) for m in case.measure(source, scores) if m.shape is not None}
    at = axis.operand if isinstance(axis, ast.UnaryOp) else axis
    number = at.value if isinstance(at, ast.Constant) else None
    last = number == 1 if isinstance(axis, ast.UnaryOp) else {number} == {r - 1 for r in ranks}
    if not last:
        return
    softmax, imports = source.spell("jax.nn.softmax")
    numpy, more = source.spell("jax.numpy")
    replaced: ast.expr = call
    cast = source.parents.get(source.parents.get(call, call))
    attribute = source.parents.get(call)
    if isinstance(attribute, ast.Attribute) and attribute.attr == "astype":
        if isinstance(cast, ast.Call) and cast.func is attribute:
            replaced = cast
    positions = f"{numpy}.arange({source.primary(scores)}.shape[-1])"
    text = f"{softmax}({inner}, axis=-1) @ {positions}"
    if not isinstance(source.parents.get(replaced), (ast.Return, ast.Assign)):
        text = f"({text})"
    title = "the mean position by softmax in place of argmax, a choice"
    yield Candidate("smooth", title, (source.replace(replaced, text), *imports, *more), 2)


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _interpolate(case: Case, source: Source, cast: ast.Call) -> Iterator[Candidate]:
    """Rewrite `table[x.astype(int)]` as `interp(x, arange(n), table)`."""
    position = _operand(source, cast)
    if position is None:
        return
    function = source.function(cast) or source.tree
    statement = source.statement(cast)
    uses: list[ast.expr] = [cast]
    target = ""
    if isinstance(statement, ast.Assign) and statement.value is cast:
        target = last_name(statement.targets[0])
        uses = [n for n in source.uses(target, function) if _is_load(n)]
    numpy, imports = source.spell("jax.numpy")
    for use in uses:
        item = source.parents.get(use)
        if not isinstance(item, ast.Subscript) or item.slice is not use:
            continue
        if any(m.shape is not None and len(m.shape) != 1 for m in case.measure(source, item.value)):
            continue
        table = source.code(item.value)
        size = f"{numpy}.arange({source.primary(item.value)}.shape[0])"
        text = f"{numpy}.interp({source.code(position)}, {size}, {table})"
        edits = [source.replace(item, text)]
        if target and len(uses) == 1:
            edits.append(source.delete(statement))
        title = "interpolate between the elements, a choice: a whole position has no slope"
        yield Candidate("smooth", title, (*edits, *imports), 1)
