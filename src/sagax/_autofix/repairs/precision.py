"""Repair formulas that lose their digits: sums of exponentials, variances, counters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.carries import initial_values
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, keyword_value, last_name
from sagax._src.diagnostics.model import Edit


def _definition(source: Source, node: ast.expr) -> ast.expr:
    """Return what a variable is assigned, if only once; other expressions as they are."""
    for _ in range(4):
        if not isinstance(node, ast.Name):
            break
        values = source.assigned(node.id, source.function(node) or source.tree)
        if len(values) != 1:
            break
        node = values[0]
    return node


def _reduction(source: Source, node: ast.expr, name: str) -> tuple[ast.expr, dict[str, str]] | None:
    """Return the operand and the options of `jnp.sum(x, axis=0)` or `x.sum(0)`."""
    node = _definition(source, node)
    if not isinstance(node, ast.Call) or last_name(node.func) != name:
        return None
    args = list(node.args)
    if not source.meaning(node.func):
        if not isinstance(node.func, ast.Attribute):
            return None
        args.insert(0, node.func.value)
    options = {k.arg: source.code(k.value) for k in node.keywords if k.arg is not None}
    for key, value in zip(("axis",), args[1:], strict=False):
        options[key] = source.code(value)
    return (args[0], options) if args and set(options) <= {"axis", "keepdims"} else None


def _passed(options: dict[str, str]) -> str:
    return "".join(f", {k}={v}" for k, v in options.items())


# --- log(sum(exp(x))) -----------------------------------------------------------------------------


@at_expression
def use_logsumexp(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `log(sum(w * exp(x)))` with logsumexp, which subtracts the maximum first."""
    for call in source.nodes(ast.Call, source.statement(node)):
        if source.meaning(call.func) != "jax.numpy.log" or len(call.args) != 1:
            continue
        text, imports = _log_of(source, call.args[0])
        if text:
            title = "logsumexp subtracts the maximum first: nothing overflows or becomes 0"
            yield Candidate("stable_function", title, (source.replace(call, text), *imports), 1)


def _log_of(source: Source, total: ast.expr) -> tuple[str, list[Edit]]:
    value = _definition(source, total)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = [_exponent(source, s) for s in (value.left, value.right)]
        if all(s is not None for s in sides):
            function, imports = source.spell("jax.numpy.logaddexp")
            texts = [source.code(s) for s in sides if s is not None]
            return f"{function}({', '.join(texts)})", imports
    for name in ("sum", "mean"):
        found = _reduction(source, value, name)
        if found is None:
            continue
        operand, options = found
        weighted = _weighted_exponent(source, operand)
        if weighted is None:
            continue
        exponent, weights = weighted
        function, imports = source.spell("jax.nn.logsumexp")
        x = source.code(exponent)
        b = f", b={source.code(weights)}" if weights is not None else ""
        text = f"{function}({x}{_passed(options)}{b})"
        if name == "mean":
            log, more = source.spell("jax.numpy.log")
            size, axis = source.primary(exponent), options.get("axis")
            count = f"{size}.shape[{axis}]" if axis is not None else f"{size}.size"
            if axis is not None and not re.fullmatch(r"-?\d+", axis):
                return "", []
            return f"({text} - {log}({count}))", [*imports, *more]
        return text, imports
    return "", []


def _exponent(source: Source, node: ast.expr) -> ast.expr | None:
    value = _definition(source, node)
    if isinstance(value, ast.Call) and source.meaning(value.func) == "jax.numpy.exp" and value.args:
        return value.args[0]
    return None


def _weighted_exponent(source: Source, node: ast.expr) -> tuple[ast.expr, ast.expr | None] | None:
    exponent = _exponent(source, node)
    if exponent is not None:
        return exponent, None
    value = _definition(source, node)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            exponent = _exponent(source, one)
            if exponent is not None:
                return exponent, other
    return None


# --- variances --------------------------------------------------------------------------------------


@at_expression
def use_variance(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `mean(x**2) - mean(x)**2` as `var(x)`, which subtracts the mean first."""
    for difference in source.nodes(ast.BinOp, source.statement(node)):
        if not isinstance(difference.op, ast.Sub):
            continue
        first = _reduction(source, difference.left, "mean")
        mean = _squared(source, difference.right)
        second = _reduction(source, mean, "mean") if mean is not None else None
        x = _squared(source, first[0]) if first is not None else None
        if first is None or second is None or x is None or first[1] != second[1]:
            continue
        if ast.unparse(x) != ast.unparse(second[0]):
            continue
        function, imports = source.spell("jax.numpy.var")
        text = f"{function}({source.code(x)}{_passed(first[1])})"
        title = "var subtracts the mean before it squares: no digits cancel"
        yield Candidate("stable_function", title, (source.replace(difference, text), *imports), 1)


def _squared(source: Source, node: ast.expr) -> ast.expr | None:
    """Return x of `x**2`, `x * x` or `square(x)`."""
    value = _definition(source, node)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Pow) and getattr(value.right, "value", None) == 2:
            return value.left
        if isinstance(value.op, ast.Mult) and ast.unparse(value.left) == ast.unparse(value.right):
            return value.left
    if isinstance(value, ast.Call) and source.meaning(value.func) == "jax.numpy.square":
        return value.args[0]
    return None


# --- counters ---------------------------------------------------------------------------------------


@at_expression
def count_in_integers(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Count in integers: the step, and the value that the counter begins with."""
    if (
        not isinstance(node, (ast.BinOp, ast.AugAssign))
        or "count in integers" not in case.facts.message
    ):
        return
    if isinstance(node, ast.AugAssign):
        sides: list[ast.expr] = [node.target, node.value]
    else:
        sides = [node.left, node.right]
    edits: list[Edit] = []
    for number in sides:
        if isinstance(number, ast.Constant):
            whole = _whole(number)
            if whole is None:
                return
            edits.append(source.replace(number, whole))
    counters = [s for s in sides if not isinstance(s, ast.Constant)]
    done: set[tuple[str, int, int]] = set()
    for counter in counters:
        for definition in _first_values(case, source, counter):
            there, value = definition
            at = there.span(value)
            key = (at.file, at.line, at.column or 0)
            if key in done:
                continue
            done.add(key)
            edit = _as_integer(there, value)
            if edit is None:
                continue
            edits += edit
    if not done:
        return
    title = "count in integers, which are exact up to 2**31"
    yield Candidate("integer_counter", title, tuple(edits), 1)


def _first_values(
    case: Case, source: Source, counter: ast.expr
) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the values that a counter begins with, through loops that carry it."""
    for found in initial_values(case, source, counter):
        if not found.rest:
            yield found.source, found.node


def _whole(number: ast.Constant) -> str | None:
    value = number.value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        return None
    return str(int(value))


_FLOATING = {"float32", "float16", "bfloat16", "float64", "float", "float_"}


def _as_integer(source: Source, value: ast.expr) -> list[Edit] | None:
    """Return the edits that make a first value an integer; None if it is not a number."""
    if isinstance(value, ast.Constant):
        whole = _whole(value)
        return [source.replace(value, whole)] if whole is not None else None
    if not isinstance(value, ast.Call):
        return None
    name = last_name(value.func)
    int32, imports = source.spell("jax.numpy.int32")
    if name in ("array", "asarray", "full", "full_like") and value.args:
        at = -1 if name == "full" and len(value.args) == 2 else 0
        number = value.args[at]
        edits: list[Edit] = []
        for part in source.nodes(ast.Constant, number):
            if isinstance(part.value, float) and _whole(part) is not None:
                edits.append(source.replace(part, _whole(part) or ""))
        dtype = keyword_value(value, "dtype") or (
            value.args[-1] if len(value.args) > (name == "full") + 1 else None
        )
        if dtype is not None and last_name(dtype) in _FLOATING:
            edits += [source.replace(dtype, int32), *imports]
        return edits or None
    if name in ("zeros", "ones", "zeros_like", "ones_like") and value.args:
        dtype = keyword_value(value, "dtype") or (value.args[1] if len(value.args) > 1 else None)
        if dtype is not None:
            return [source.replace(dtype, int32), *imports]
        return [source.replace(value, source.call_with(value, f"dtype={int32}")), *imports]
    if name in _FLOATING and len(value.args) == 1:
        number = value.args[0]
        whole = _whole(number) if isinstance(number, ast.Constant) else None
        if source.meaning(value.func) and whole is not None:
            return [source.replace(value, f"{int32}({whole})"), *imports]
    return None
