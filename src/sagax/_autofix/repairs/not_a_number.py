"""Repair operations that have no value: matrices without a factor, odd roots, softmax of nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, keyword_value, last_name, loads, parameters
from sagax._src.diagnostics.model import Edit

# --- factors of matrices ------------------------------------------------------------------------------

_JITTERS = ("1e-6", "1e-5", "1e-4", "1e-3")


@at_expression
def add_jitter(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Add a small number to the diagonal of a matrix that has no Cholesky factor."""
    for call in source.nodes(ast.Call, source.statement(node)):
        if last_name(call.func) not in ("cholesky", "cho_factor") or not call.args:
            continue
        if not source.meaning(call.func).startswith("jax."):
            continue
        matrix = call.args[0]
        eye, imports = source.spell("jax.numpy.eye")
        x = source.primary(matrix)
        for rank, jitter in enumerate(_JITTERS, 1):
            text = f"{source.code(matrix)} + {jitter} * {eye}({x}.shape[-1])"
            title = f"add {jitter} to the diagonal, which makes the matrix positive definite"
            edits = (source.replace(matrix, text), *imports)
            yield Candidate("jitter", title, edits, rank)


# --- odd roots ------------------------------------------------------------------------------------------


@at_expression
def use_cube_root(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x ** (1 / 3)` as `cbrt(x)`, which keeps the sign."""
    for part in ast.walk(source.statement(node)):
        base: ast.expr | None = None
        exponent: ast.expr | None = None
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow):
            base, exponent = part.left, part.right
        elif isinstance(part, ast.Call) and len(part.args) == 2:
            if source.meaning(part.func) in ("jax.numpy.power", "jax.numpy.float_power"):
                base, exponent = part.args
        if base is None or exponent is None or not _is_third(exponent):
            continue
        function, imports = source.spell("jax.numpy.cbrt")
        title = "cbrt has a value for negative numbers too, with their sign"
        edits = (source.replace(part, f"{function}({source.code(base)})"), *imports)
        yield Candidate("cbrt", title, edits, 1)


def _is_third(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and abs(node.value - 1 / 3) < 1e-3
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and [getattr(n, "value", 0) for n in (node.left, node.right)] == [1, 3]
    )


# --- softmax of a row that is masked as a whole ---------------------------------------------------------


@at_expression
def mask_softmax(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `softmax(where(mask, x, -inf))` with a mask, or with a finite number."""
    function = source.function(node) or source.tree
    for call in source.nodes(ast.Call, function):
        if source.meaning(call.func) != "jax.numpy.where" or len(call.args) != 3:
            continue
        if not _is_negative_infinity(source, call.args[2]):
            continue
        mask, x, infinity = call.args
        for softmax in source.nodes(ast.Call, function):
            name = last_name(softmax.func)
            if name not in ("softmax", "log_softmax") or not softmax.args:
                continue
            given = softmax.args[0]
            if given is not call and not _is_only(source, function, given, call):
                continue
            if name == "softmax" and keyword_value(softmax, "where") is None:
                edits = [source.replace(given, source.code(x))]
                last = [*softmax.args, *[k.value for k in softmax.keywords]][-1]
                edits.append(source.around(last, "", f", where={source.code(mask)}")[0])
                if given is last:
                    text = f"{source.code(x)}, where={source.code(mask)}"
                    edits = [source.replace(given, text)]
                if given is not call:
                    edits.append(source.delete(source.statement(call)))
                title = "give softmax the mask: a row without elements has the weights 0"
                yield Candidate("guard_softmax", title, tuple(edits), 1)
            numpy, imports = source.spell("jax.numpy")
            text = f"{numpy}.finfo({source.primary(x)}.dtype).min"
            title = "mask with the least number: a row without elements has equal weights"
            edit = source.replace(infinity, text)
            yield Candidate("guard_softmax", title, (edit, *imports), 2)


def _is_negative_infinity(source: Source, node: ast.expr) -> bool:
    text = source.code(node).replace(" ", "")
    return text in ('-float("inf")', "-float('inf')", 'float("-inf")', "float('-inf')") or (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and source.meaning(node.operand) in ("jax.numpy.inf", "numpy.inf", "math.inf")
    )


def _is_only(source: Source, function: ast.AST, given: ast.expr, call: ast.Call) -> bool:
    """Return whether a variable holds the value of a call, and is read nowhere else."""
    if not isinstance(given, ast.Name) or source.assigned(given.id, function) != [call]:
        return False
    own = set(ast.walk(call))  # x = where(mask, x, -inf)
    reads = [
        u for u in source.uses(given.id, function) if isinstance(u.ctx, ast.Load) and u not in own
    ]
    return reads == [given]


# --- exp(a * log(x)) ------------------------------------------------------------------------------------


@at_expression
def use_guarded_power(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `exp(a * log(x))` as a power of x that is 0 at 0, with finite derivatives."""
    for call in source.nodes(ast.Call, source.statement(node)):
        if source.meaning(call.func) != "jax.numpy.exp" or len(call.args) != 1:
            continue
        product = call.args[0]
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for exponent, log in ((product.left, product.right), (product.right, product.left)):
            if not isinstance(log, ast.Call) or source.meaning(log.func) != "jax.numpy.log":
                continue
            if len(log.args) != 1:
                continue
            where, imports = source.spell("jax.numpy.where")
            x = source.operand(log.args[0])
            safe = f"{where}({x} > 0, {x}, 1.0)"
            text = f"{where}({x} > 0, {safe} ** {source.operand(exponent)}, 0.0)"
            title = "take a power that is 0 at 0, and has a finite derivative there"
            yield Candidate("double_where", title, (source.replace(call, text), *imports), 0)


# --- updates that are undefined for some elements -------------------------------------------------------


@at_expression
def keep_old_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Keep the old value where `state = update(state)` divides 0 by 0."""
    function = source.function(node)
    statement = source.statement(node)
    if not isinstance(function, ast.FunctionDef) or not isinstance(statement, ast.Return):
        return
    division = statement.value
    if not isinstance(division, ast.BinOp) or not isinstance(division.op, ast.Div):
        return
    known = parameters(function)
    for there, call, passed in case.calls(function):
        assignment = there.statement(call)
        if not isinstance(assignment, ast.Assign) or assignment.value is not call:
            continue
        target = there.code(assignment.targets[0])
        names = [n for n, value in passed.items() if there.code(value) == target and n in known]
        if len(names) != 1 or names[0] in loads(division.right):
            continue
        where, imports = source.spell("jax.numpy.where")
        name = source.fresh("divisor", division)
        indent = source.indent(statement)
        line = f"{indent}{name} = {source.code(division.right)}"
        guarded = f"{source.operand(division.left)} / {where}({name} == 0, 1.0, {name})"
        if isinstance(division.left, ast.BinOp):
            guarded = f"({source.code(division.left)}) / {where}({name} == 0, 1.0, {name})"
        text = f"{where}({name} == 0, {names[0]}, {guarded})"
        edits: list[Edit] = [
            source.insert_above(source.first_line(statement), line),
            source.replace(division, text),
            *imports,
        ]
        title = f"keep `{names[0]}` where the divisor is 0"
        yield Candidate("guard_division", title, tuple(edits), 0)
        return


@at_expression
def use_log_softmax(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `log(softmax(x)[i])` as `log_softmax(x)[i]`, also where variables are between."""
    function = source.function(node) or source.tree
    for log in source.calls_of("jax.numpy.log", within=function):
        value: ast.AST = log.args[0] if log.args else log
        while not isinstance(value, ast.Call):
            if isinstance(value, ast.Subscript):
                value = value.value
            elif isinstance(value, ast.Name):
                values = source.assigned(value.id, function)
                reads = [u for u in source.uses(value.id, function) if isinstance(u.ctx, ast.Load)]
                if len(values) != 1 or len(reads) != 1:
                    break
                value = values[0]
            else:
                break
        if not isinstance(value, ast.Call) or source.meaning(value.func) != "jax.nn.softmax":
            continue
        name, imports = source.spell("jax.nn.log_softmax")
        title = "log_softmax has no logarithm of 0: it subtracts that of the sum"
        argument = log.args[0]
        if value in ast.walk(log):
            text = substitute(source, argument, {value.func: name})
            edits = (source.replace(log, text), *imports)
        else:
            edits = (
                source.replace(value.func, name),
                source.replace(log, source.code(argument)),
                *imports,
            )
        yield Candidate("stable_function", title, edits, 0)
