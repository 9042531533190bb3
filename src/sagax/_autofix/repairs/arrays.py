"""Repair array code: NumPy on traced values, masks, indices, slices, sizes, assignment in place."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import PRIMARIES, Source, last_name, parameters, stores
from sagax._src.diagnostics.model import Edit

_MATH_NAMES = {
    "fabs": "abs", "pow": "power", "fsum": "sum", "remainder": "remainder", "dist": "linalg.norm",
    **{f"a{name}": f"arc{name}" for name in ("cos", "sin", "tan", "tan2", "cosh", "sinh", "tanh")},
}  # fmt: skip
_SPECIAL_NAMES = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "gamma": "gamma"}


# --- NumPy and math --------------------------------------------------------------------------


@at_expression
def use_jax_numpy(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `np.f(x)` and `math.f(x)` as functions of jax.numpy."""
    # all of the statement: where one operand is traced, its neighbors are likely to be
    found = _numpy_calls(source, _enclosing_code(source, node))
    if not found:
        return
    yield from _assign_out_argument(source, found)
    edits, names = _rename_calls(source, found)
    title = f"use {', '.join(dict.fromkeys(names))} of jax.numpy"
    if edits:
        yield Candidate("jnp_instead_of_np", title, tuple(edits), 1)
    function = source.function(node)
    if function is not None:
        all_edits, _ = _rename_calls(source, [*found, *_numpy_calls(source, function)])
        if len(all_edits) > len(edits):
            title = "use jax.numpy throughout the function"
            yield Candidate("jnp_instead_of_np", title, tuple(all_edits), 2)


def _assign_out_argument(source: Source, calls: list[ast.Call]) -> Iterator[Candidate]:
    """Rewrite `np.add(a, b, out=c)` as `c = jnp.add(a, b)`."""
    for call in calls:
        out = next((k for k in call.keywords if k.arg == "out"), None)
        statement = source.statement(call)
        if out is None or not isinstance(statement, ast.Expr) or statement.value is not call:
            continue
        others = [f"{k.arg}={source.code(k.value)}" for k in call.keywords if k is not out]
        function, imports = source.spell("jax.numpy." + source.meaning(call.func).partition(".")[2])
        text = f"{function}({', '.join([*map(source.code, call.args), *others])})"
        target = source.code(out.value)
        if isinstance(out.value, ast.Subscript):
            base = source.code(out.value.value)
            text, target = f"{base}.at[{source.code(out.value.slice)}].set({text})", base
        title = f"arrays do not change: `{target}` becomes the result"
        edits = (source.replace(statement, f"{target} = {text}"), *imports)
        yield Candidate("jnp_instead_of_np", title, edits, 1)


def _enclosing_code(source: Source, node: ast.AST) -> ast.AST:
    """Return the statement around an expression, or its lambda."""
    statement = source.statement(node)
    function = source.function(node)
    inside = isinstance(function, ast.Lambda) and function in list(ast.walk(statement))
    return function if inside and function is not None else statement


def _numpy_calls(source: Source, within: ast.AST) -> list[ast.Call]:
    found: list[ast.Call] = []
    for call in source.nodes(ast.Call, within):
        full = source.meaning(call.func)
        if full.startswith(("numpy.", "math.", "cmath.")) or _has_counterpart(full):
            found.append(call)
    return found


def _has_counterpart(full: str) -> bool:
    """Return whether a function of SciPy has a counterpart in jax.scipy."""
    module, _, name = full.rpartition(".")
    if not module.startswith("scipy."):
        return False
    try:
        return hasattr(importlib.import_module(f"sagax.{module}"), name)
    except ImportError:
        return False


def _rename_calls(source: Source, calls: list[ast.Call]) -> tuple[list[Edit], list[str]]:
    edits: list[Edit] = []
    imports: dict[str, Edit] = {}
    names: list[str] = []
    for call in dict.fromkeys(calls):
        root, _, name = source.meaning(call.func).partition(".")
        if root == "scipy":
            target = "jax.scipy." + name
        elif root == "math" and name in _SPECIAL_NAMES:
            target = "jax.scipy.special." + _SPECIAL_NAMES[name]
        else:
            target = "jax.numpy." + (_MATH_NAMES.get(name, name) if root == "math" else name)
        text, more = source.spell(target)
        edits.append(source.replace(call.func, text))
        imports.update({e.text: e for e in more})
        names.append(text)
    return [*edits, *imports.values()], names


@at_expression
def index_array(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `list[i]` as the item of an array."""
    item = source.enclosing(node, ast.Subscript)
    if item is None:
        return
    numpy, imports = source.spell("jax.numpy")
    base = source.code(item.value)
    asarray = f"{numpy}.asarray({base})"
    if not source.meaning(item.value).startswith("jax."):
        title = f"index an array: {asarray}"
        edits = (source.replace(item.value, asarray), *imports)
        yield Candidate("asarray_index", title, edits, 1)
        if isinstance(item.value, PRIMARIES):
            tree, more = source.spell("jax.tree.map")
            leaves = source.fresh("leaves", item)
            text = f"{tree}(lambda *{leaves}: {numpy}.stack({leaves})[{source.code(item.slice)}], *{base})"
            title = "stack the items, which have one structure, and index each array"
            stacked = (source.replace(item, text), *imports, *more)
            yield Candidate("asarray_index", title, stacked, 2)
    yield from _definition_as_array(case, source, item, numpy, imports)


def _definition_as_array(
    case: Case, source: Source, item: ast.Subscript, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Rewrite `TABLE = [1, 2]` at module level as `TABLE = jnp.array([1, 2])`."""
    if not isinstance(item.value, ast.Name):
        return
    for value in source.assigned(item.value.id, source.tree):
        if isinstance(value, (ast.List, ast.Tuple)) and all(
            isinstance(e, (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple)) for e in value.elts
        ):
            title = f"make `{item.value.id}` an array"
            edits = (source.replace(value, f"{numpy}.array({source.code(value)})"), *imports)
            yield Candidate("asarray_index", title, edits, 3)


@at_expression
def use_switch(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite a list of functions indexed by a traced number as `switch`."""
    item = source.enclosing(node, ast.Subscript)
    if item is None:
        return
    switch, imports = source.spell("jax.lax.switch")
    index, table = source.code(item.slice), source.code(item.value)
    parent = source.parents.get(item)
    calls: list[ast.Call] = []
    if isinstance(parent, ast.Call) and parent.func is item:
        calls = [parent]
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        function = source.function(item)
        name = parent.targets[0].id
        if function is not None:
            calls = [
                c
                for c in source.nodes(ast.Call, function)
                if isinstance(c.func, ast.Name) and c.func.id == name
            ]
    if not calls or any(c.keywords for c in calls):
        return
    if keys := _integer_keys(source, item):
        table = f"list({table}.values())"
        if keys != list(range(len(keys))):
            numpy, more = source.spell("jax.numpy")
            index = f"{numpy}.argmax({numpy}.array({keys}) == {index})"
            imports = [*imports, *more]
    edits = [
        source.replace(c, f"{switch}({', '.join([index, table, *map(source.code, c.args)])})")
        for c in calls
    ]
    if isinstance(parent, ast.Assign):
        edits.append(source.delete(parent))
    title = f"choose the function with switch: all of `{table}` are compiled, one is run"
    yield Candidate("cond", title, (*edits, *imports), 1)


def _integer_keys(source: Source, item: ast.Subscript) -> list[int]:
    """Return the keys of a dict of functions, if all are integers."""
    name = last_name(item.value)
    for assignment in source.nodes(ast.Assign):
        named = any(last_name(t) == name for t in assignment.targets)
        if named and isinstance(assignment.value, ast.Dict):
            keys = [getattr(k, "value", None) for k in assignment.value.keys]
            integers = [k for k in keys if isinstance(k, int)]
            return integers if len(integers) == len(keys) else []
    return []


@at_expression
def compute_shape_statically(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compute with NumPy, while tracing, what depends on shapes only."""
    if case.facts.depends:
        return
    call = source.enclosing(node, ast.Call) or node
    function = source.function(node)
    expressions = [call]
    names = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
    if function is not None:
        for name in names:
            expressions += source.assigned(name, function)
    edits: list[Edit] = []
    imports: dict[str, Edit] = {}
    numpy, more = source.spell("numpy")
    for expression in expressions:
        for found in source.nodes(ast.Call, expression):
            full = source.meaning(found.func)
            if full.startswith("jax.numpy."):
                edits.append(source.replace(found.func, numpy + full[len("jax.numpy") :]))
                imports.update({e.text: e for e in more})
    product = _product_of_shape(source, call)
    if product is not None:
        math, extra = source.spell("math.prod")
        title = "multiply the sizes in Python: shapes are known while tracing"
        edits_prod = (source.replace(call, f"{math}({product})"), *extra)
        yield Candidate("shape_not_value", title, edits_prod, 1)
    if edits:
        title = "compute with NumPy what depends on shapes only: it is known while tracing"
        yield Candidate("shape_not_value", title, (*edits, *imports.values()), 2)


def _product_of_shape(source: Source, call: ast.AST) -> str | None:
    """Return `x.shape` where the call is int(jnp.prod(jnp.array(x.shape)))."""
    while isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        full = source.meaning(call.func) or getattr(call.func, "id", "")
        inner = call.args[0]
        if full not in ("int", "jax.numpy.prod", "jax.numpy.array", "jax.numpy.asarray"):
            return None
        call = inner
    text = source.code(call) if isinstance(call, (ast.Attribute, ast.Subscript)) else ""
    return text if ".shape" in text else None


@at_expression
def drop_conversion(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Drop `float(x)` and `x.item()` inside a computation."""
    call = source.enclosing(node, ast.Call)
    if call is None:
        return
    numpy, imports = source.spell("jax.numpy")
    if isinstance(call.func, ast.Name) and call.func.id in ("float", "int", "complex", "bool"):
        if call.func.id == "complex" and len(call.args) == 2:
            real, imaginary = map(source.operand, call.args)
            edit = source.replace(call, f"({real} + 1j * {imaginary})")
            yield Candidate("no_conversion", "add up real and imaginary part", (edit,), 2)
        if len(call.args) != 1:
            return
        if call.func.id == "int":
            cast = f"{numpy}.trunc({source.code(call.args[0])}).astype(int)"
            edits = (source.replace(call, cast), *imports)
            yield Candidate("no_conversion", "convert with astype, which may be traced", edits, 2)
        title = f"leave out {call.func.id}(): an array takes part in arithmetic as it is"
        edit = source.replace(call, source.primary(call.args[0]))
        yield Candidate("no_conversion", title, (edit,), 3)
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "tolist"):
        if call.args:
            return
        text = source.code(call.func.value)
        title = f"leave out .{call.func.attr}(): an array takes part in arithmetic as it is"
        yield Candidate("no_conversion", title, (source.replace(call, text),), 3)


# --- masks -----------------------------------------------------------------------------------

_REDUCTIONS = {
    "sum": "", "prod": "", "mean": "", "any": "", "all": "", "var": "", "std": "",
    "max": "-{np}.inf", "min": "{np}.inf", "nansum": "", "nanmean": "",
}  # fmt: skip


def masked_reduction(
    source: Source, use: ast.AST, mask: str, numpy: str
) -> tuple[ast.AST, str] | None:
    """Return the reduction of a value and its text with `where=`, or None.

    The text has "{}" in place of the array.
    """
    parent = source.parents.get(use)
    if isinstance(parent, ast.Attribute):
        call = source.parents.get(parent)
        if parent.attr == "size":
            return parent, f"{numpy}.sum({mask})"
        if parent.attr == "shape":
            item = source.parents.get(parent)
            return (item, f"{numpy}.sum({mask})") if isinstance(item, ast.Subscript) else None
        if isinstance(call, ast.Call) and call.func is parent and parent.attr in _REDUCTIONS:
            return call, _reduction_text(source, parent.attr, call.args, call.keywords, mask, numpy)
        return None
    if isinstance(parent, ast.Call) and parent.args[:1] == [use]:
        full = source.meaning(parent.func)
        name = full.removeprefix("jax.numpy.")
        if full.startswith(("jax.numpy.", "numpy.")) and name in _REDUCTIONS:
            return parent, _reduction_text(
                source, name, parent.args[1:], parent.keywords, mask, numpy
            )
        if isinstance(parent.func, ast.Name) and parent.func.id == "len":
            return parent, f"{numpy}.sum({mask})"
        if isinstance(parent.func, ast.Name) and parent.func.id in ("sum", "max", "min"):
            return parent, _reduction_text(source, parent.func.id, [], [], mask, numpy)
    return None


def _reduction_text(
    source: Source,
    name: str,
    args: list[ast.expr],
    keywords: list[ast.keyword],
    mask: str,
    numpy: str,
) -> str:
    parts = ["{}", *map(source.code, args)]
    parts += [f"{k.arg}={source.code(k.value)}" for k in keywords]
    parts.append(f"where={mask}")
    given = {k.arg for k in keywords}
    if (initial := _REDUCTIONS[name].format(np=numpy)) and "initial" not in given:
        parts.append(f"initial={initial}")
    return f"{numpy}.{name}({', '.join(parts)})"


def _constant_arithmetic(source: Source, item: ast.expr) -> ast.expr:
    """Return the arithmetic with constants around a value, as in `2 * x[m] ** 2`."""
    parent = source.parents.get(item)
    while (isinstance(parent, ast.UnaryOp) and not isinstance(parent.op, ast.Not)) or (
        isinstance(parent, ast.BinOp)
        and isinstance(parent.left if parent.right is item else parent.right, ast.Constant)
    ):
        item, parent = parent, source.parents.get(parent)
    return item


@at_expression
def reduce_with_mask(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x[m].sum()` as `jnp.sum(x, where=m)`, and `x[m]` as `where`."""
    item = source.enclosing(node, ast.Subscript)
    if item is None or isinstance(item.slice, (ast.Slice, ast.Tuple)):
        return
    if isinstance(item.value, ast.Attribute) and item.value.attr == "at":
        return
    numpy, imports = source.spell("jax.numpy")
    array, mask = source.code(item.value), source.code(item.slice)
    whole = _constant_arithmetic(source, item)
    if found := masked_reduction(source, whole, mask, numpy):
        reduction, text = found
        title = "reduce with where=: elements outside of the mask do not count"
        value = array
        if whole is not item:
            value = substitute(source, whole, {item: source.operand(item.value)})
        edit = source.replace(reduction, text.format(value))
        yield Candidate("where_mask_sum", title, (edit, *imports), 1)
    parent = source.parents.get(item)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        yield from reduce_variable(
            source, parent, parent.targets[0].id, array, mask, numpy, imports
        )
    yield from _reduce_throughout(case, source, item, mask, numpy, imports)
    yield from _reduce_by_nan(source, item, mask, numpy, imports)
    for fill in ("0", f"{numpy}.nan"):
        text = f"{numpy}.where({mask}, {array}, {fill})"
        title = f"keep the shape: {fill} outside of the mask"
        yield Candidate("where", title, (source.replace(item, text), *imports), 5)


def reduce_variable(
    source: Source,
    assignment: ast.Assign,
    name: str,
    array: str,
    mask: str,
    numpy: str,
    imports: list[Edit],
) -> Iterator[Candidate]:
    function = source.function(assignment)
    if function is None:
        return
    uses = [
        u
        for u in source.uses(name, function)
        if isinstance(u.ctx, ast.Load) and u.lineno > assignment.lineno
    ]
    found = [masked_reduction(source, use, mask, numpy) for use in uses]
    if not uses or any(f is None for f in found):
        return
    edits = [source.replace(f[0], f[1].format(array)) for f in found if f is not None]
    title = "reduce with where=: elements outside of the mask do not count"
    yield Candidate("where_mask_sum", title, (source.delete(assignment), *edits, *imports), 1)


def _reduce_throughout(
    case: Case, source: Source, item: ast.Subscript, mask: str, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Keep all of the array, and pass the mask to each reduction of its masked elements."""
    function = source.function(item)
    scope = function.body if isinstance(function, ast.FunctionDef) else [source.statement(item)]
    same = [
        n
        for s in scope
        for n in source.nodes(ast.Subscript, s)
        if isinstance(n.ctx, ast.Load) and source.code(n.slice) == mask
    ]
    spread = _broadcast_mask(case, source, item, mask)
    edits = [source.replace(n, source.code(n.value)) for n in same]
    derived: set[str] = set()
    reduced = 0
    for statement in [n for s in scope for n in source.nodes(ast.stmt, s)]:
        values = [v for v in (getattr(statement, "value", None),) if isinstance(v, ast.expr)]
        for value in values:
            found = list(_masked_reductions(source, value, same, derived))
            reduced += len(found)
            for call, name in found:
                if name == "count":
                    edits.append(source.replace(call, f"{numpy}.sum({mask})"))
                    continue
                more = f", where={spread}" + (
                    f", initial={initial}"
                    if (initial := _REDUCTIONS[name].format(np=numpy))
                    else ""
                )
                if not call.args and not call.keywords:  # type: ignore[attr-defined]
                    more = more[2:]
                end = source.span(call)
                edits.append(source.insert(end.end_line, (end.end_column or 0) - 1, more))
            if _has_masked_elements(source, value, same, derived) and isinstance(
                statement, (ast.Assign, ast.AnnAssign)
            ):
                derived |= set(stores(statement))
    if reduced:
        title = "keep all elements, and leave those outside of the mask out of each reduction"
        yield Candidate("where_mask_sum", title, (*edits, *imports), 2)


_NAN_REDUCTIONS = {
    "sum", "mean", "max", "min", "std", "var", "prod", "median", "percentile", "quantile", "argmax",
    "argmin",
}  # fmt: skip


def _reduce_by_nan(
    source: Source, item: ast.Subscript, mask: str, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Mark what a mask leaves out by nan, which nanmedian and its like skip."""
    function = source.function(item)
    scope = function.body if isinstance(function, ast.FunctionDef) else [source.statement(item)]
    edits = [source.replace(item, f"{numpy}.where({mask}, {source.code(item.value)}, {numpy}.nan)")]
    derived: set[str] = set()
    reduced = 0
    for statement in [n for s in scope for n in source.nodes(ast.stmt, s)]:
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.expr):
            continue
        for node in ast.walk(value):
            full = source.meaning(node.func) if isinstance(node, ast.Call) else ""
            module, _, name = full.rpartition(".")
            if (
                not isinstance(node, ast.Call)
                or module != "jax.numpy"
                or name not in _NAN_REDUCTIONS
            ):
                continue
            if node.args and _has_masked_part(source, node.args[0], item, derived):
                edits.append(source.replace(node.func, f"{numpy}.nan{name}"))
                reduced += 1
        if isinstance(statement, ast.Assign) and _has_masked_part(source, value, item, derived):
            derived |= set(stores(statement))
    if reduced:
        title = "mark by nan what the mask leaves out, and skip it in each reduction"
        yield Candidate("where_nan", title, (*edits, *imports), 3)


def _has_masked_part(
    source: Source, value: ast.AST, item: ast.Subscript, derived: set[str]
) -> bool:
    """Return whether an expression has an element for each element of the masked array."""
    if value is item or (isinstance(value, ast.Name) and value.id in derived):
        return True
    if isinstance(value, ast.Call):
        name = source.meaning(value.func).rpartition(".")[2]
        if name in _NAN_REDUCTIONS:
            return False
    return any(_has_masked_part(source, n, item, derived) for n in ast.iter_child_nodes(value))


def _broadcast_mask(case: Case, source: Source, item: ast.Subscript, mask: str) -> str:
    """Return the mask with the trailing axes that the array has and it lacks."""
    arrays = [m.shape for m in case.measure(source, item.value) if m.shape is not None]
    masks = [m.shape for m in case.measure(source, item.slice) if m.shape is not None]
    more = len(arrays[0]) - len(masks[0]) if arrays and masks else 0
    if more <= 0:
        return mask
    text = mask if isinstance(item.slice, (ast.Name, ast.Call, ast.Attribute)) else f"({mask})"
    return f"{text}[{', '.join(['...', *['None'] * more])}]"


def _masked_reductions(
    source: Source, value: ast.expr, same: list[ast.Subscript], derived: set[str]
) -> Iterator[tuple[ast.AST, str]]:
    """Yield the reductions and the counts of masked elements in an expression."""
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr in ("size", "shape"):
            item = source.parents.get(node)
            whole = node if node.attr == "size" else item
            if _has_masked_elements(source, node.value, same, derived) and isinstance(
                whole, (ast.Attribute, ast.Subscript)
            ):
                yield whole, "count"
        if not isinstance(node, ast.Call):
            continue
        full = source.meaning(node.func)
        name = full.rpartition(".")[2] or getattr(node.func, "attr", getattr(node.func, "id", ""))
        operand = node.args[0] if node.args else None
        if isinstance(node.func, ast.Attribute) and not full:
            operand = node.func.value
        if operand is None or not _has_masked_elements(source, operand, same, derived):
            continue
        if isinstance(node.func, ast.Name) and name == "len":
            yield node, "count"
        elif name in _REDUCTIONS and not isinstance(node.func, ast.Name):
            yield node, name


def _has_masked_elements(
    source: Source, value: ast.AST, same: list[ast.Subscript], derived: set[str]
) -> bool:
    """Return whether an expression has one element for each masked element."""
    if value in same or (isinstance(value, ast.Name) and value.id in derived):
        return True
    if isinstance(value, ast.Attribute) and value.attr in ("size", "shape"):
        return False
    if isinstance(value, ast.Call):
        full = source.meaning(value.func)
        name = full.rpartition(".")[2] or getattr(value.func, "attr", getattr(value.func, "id", ""))
        if name in _REDUCTIONS or name == "len":
            return False
    return any(
        _has_masked_elements(source, child, same, derived) for child in ast.iter_child_nodes(value)
    )


_UPDATE_FORMS = {
    "add": "{x} + {v}", "subtract": "{x} - {v}", "multiply": "{x} * {v}", "mul": "{x} * {v}",
    "divide": "{x} / {v}", "power": "{x} ** {v}", "min": "{np}.minimum({x}, {v})",
    "max": "{np}.maximum({x}, {v})", "set": "{v}",
}  # fmt: skip


@at_expression
def update_with_where(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x.at[m].set(v)` as `jnp.where(m, v, x)`."""
    statement = source.statement(node)
    yield from _assign_with_where(source, statement)
    for call in source.nodes(ast.Call, statement):
        parts = _parse_update(call)
        if parts is None:
            continue
        array, index, update, value = parts
        numpy, imports = source.spell("jax.numpy")
        x, m = source.code(array), source.code(index)
        v = source.code(value) if update == "set" else source.operand(value)
        if isinstance(value, ast.Subscript) and source.code(value.slice) == m:
            v = source.code(value.value)  # x.at[m].set(y[m])
        new = _UPDATE_FORMS[update].format(x=x, v=v, np=numpy)
        text = f"{numpy}.where({m}, {new}, {x})"
        title = "choose with where: the shape stays"
        yield Candidate("where", title, (source.replace(call, text), *imports), 1)


def _assign_with_where(source: Source, statement: ast.stmt) -> Iterator[Candidate]:
    """Rewrite `x[m] = v` and `x[m] *= v` as `x = jnp.where(m, v, x)`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return
    numpy, imports = source.spell("jax.numpy")
    x, m, v = source.code(target.value), source.code(target.slice), source.code(statement.value)
    if isinstance(statement, ast.AugAssign):
        operator = ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[2:-2]
        v = f"{x} {operator} {source.operand(statement.value)}"
    elif isinstance(statement.value, ast.Subscript) and source.code(statement.value.slice) == m:
        v = source.code(statement.value.value)  # x[m] = y[m]
    text = f"{x} = {numpy}.where({m}, {v}, {x})"
    edits = (source.replace(statement, text), *imports)
    yield Candidate("where", "choose with where: the shape stays", edits, 1)


def _parse_update(call: ast.Call) -> tuple[ast.expr, ast.expr, str, ast.expr] | None:
    """Return array, index, name of the update and value of `x.at[i].set(v)`."""
    if (
        not isinstance(call.func, ast.Attribute)
        or call.func.attr not in _UPDATE_FORMS
        or not call.args
    ):
        return None
    item = call.func.value
    if not isinstance(item, ast.Subscript) or not isinstance(item.value, ast.Attribute):
        return None
    if item.value.attr != "at":
        return None
    return item.value.value, item.slice, call.func.attr, call.args[0]


# --- sizes -----------------------------------------------------------------------------------

_DATA_DEPENDENT = {"unique", "nonzero", "argwhere", "flatnonzero", "where", "union1d", "intersect1d", "setdiff1d",
          "unique_values", "unique_counts", "unique_inverse", "unique_all", "setxor1d", "extract",
          "bincount", "repeat", "compress", "trim_zeros"}  # fmt: skip
_SIZE_OPTIONS = {"bincount": "length", "repeat": "total_repeat_length"}


@at_expression
def give_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `jnp.unique(x)` as `jnp.unique(x, size=n)`, with the size of these data."""
    statement = source.statement(node)
    calls = [node] if isinstance(node, ast.Call) else []
    calls += [c for c in source.nodes(ast.Call, statement) if c not in calls]
    for call in calls:
        name = source.meaning(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
        full = source.meaning(call.func)
        method = not full and name in ("nonzero", "repeat")
        if name not in _DATA_DEPENDENT or not (full.startswith("jax.numpy.") or method):
            continue
        if name == "where" and len(call.args) != 1:
            continue
        option = _SIZE_OPTIONS.get(name, "size")
        if any(k.arg == option for k in call.keywords):
            continue
        found = case.measure(source, call)
        sizes = [m.shape[0] for m in found if m.shape]
        if sizes:
            size = max(sizes)
            title = f"give the size of the result: {size} for these data"
            if min(sizes) != size:
                title += f" (as few as {min(sizes)} also occur)"
            edit = source.replace(call, source.call_with(call, f"{option}={size}"))
            yield Candidate("size_arg", title, (edit,), 1)
        if name in ("bincount", "repeat") or not call.args:
            return
        operand = source.code(call.args[0]) if not method else source.code(call.func.value)  # type: ignore[attr-defined]
        simple = isinstance(
            call.args[0] if call.args else None, (ast.Name, ast.Attribute, ast.Subscript)
        )
        bound = f"{operand}.size" if simple else f"({operand}).size"
        title = "give the largest size that the result can have"
        edit = source.replace(call, source.call_with(call, f"{option}={bound}"))
        yield Candidate("size_arg", title, (edit,), 4)
        return


# --- assignment in place ---------------------------------------------------------------------

_AUGMENTED_UPDATES: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("add", ""), ast.Sub: ("add", "-"), ast.Mult: ("multiply", ""),
              ast.Div: ("divide", ""), ast.Pow: ("power", "")}  # fmt: skip
# without a method of `.at` of their own
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Mod: "%",
    ast.FloorDiv: "//",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


@at_expression
def use_at_set(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x[i] = v` as `x = x.at[i].set(v)`, for all assignments to that array."""
    statement = source.statement(node)
    base = _updated_array(source, statement)
    if base is None:
        return
    scope = source.function(statement) or source.tree
    edits: list[Edit] = []
    changed: list[ast.stmt] = []
    for found in source.nodes(ast.stmt, scope):
        if _updated_array(source, found) == base and (text := _update_text(source, found)):
            edits.append(source.replace(found, text))
            changed.append(found)
    if not edits:
        return
    title = f"arrays do not change: `{base}` becomes an updated copy"
    if isinstance(scope, ast.FunctionDef):
        if (stored := _store_back(source, scope, base, changed)) is not None:
            edits.append(stored)
            title += ", which is stored where it came from"
        elif base in parameters(scope) and not source.nodes(ast.Return, scope):
            given = return_to_callers(case, source, scope, base)
            if not given:
                return  # the update would be lost
            edits += given
            title += ", which is returned"
    yield Candidate("at_set", title, tuple(edits), 1)


def _store_back(
    source: Source, function: ast.FunctionDef, base: str, changed: list[ast.stmt]
) -> Edit | None:
    """Store an updated copy in the attribute or item that a local name stood for."""
    values = source.assigned(base, function)
    if len(values) != 1 or not isinstance(values[0], (ast.Attribute, ast.Subscript)):
        return None
    if source.meaning(values[0]):
        return None
    last = changed[-1]
    while source.parents.get(last) is not function:  # behind the loop or branch that updates
        outer = source.parents.get(last)
        if not isinstance(outer, ast.stmt):
            return None
        last = outer
    text = f"\n{source.indent(last)}{source.code(values[0])} = {base}"
    end = source.span(last)
    return source.insert(end.end_line, end.end_column or 0, text)


def return_to_callers(
    case: Case, source: Source, function: ast.FunctionDef, base: str
) -> list[Edit]:
    """Return an updated parameter, and assign it to what each caller passed."""
    last = function.body[-1]
    end = source.span(last)
    text = f"\n{source.indent(function.body[0])}return {base}"
    edits = [source.insert(end.end_line, end.end_column or 0, text)]
    for there, call, passed in case.calls(function):
        statement = there.statement(call)
        value = passed.get(base)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return []
        if not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        head = f"{there.code(value)} = "
        edits.append(there.insert(statement.lineno, statement.col_offset, head))
    return edits if len(edits) > 1 else []


def _updated_array(source: Source, statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Tuple):
            bases = {
                source.code(t.value) if isinstance(t, ast.Subscript) else "" for t in target.elts
            }
            return bases.pop() if len(bases) == 1 else None
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    return source.code(target.value) if isinstance(target, ast.Subscript) else None


def _update_text(source: Source, statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and isinstance(whole := statement.targets[0], ast.Tuple):
        values = statement.value
        if not isinstance(values, ast.Tuple) or len(values.elts) != len(whole.elts):
            return None
        parts = [
            (t, v)
            for t, v in zip(whole.elts, values.elts, strict=True)
            if isinstance(t, ast.Subscript)
        ]
        text = base = source.code(parts[0][0].value)
        for part, v in parts:  # all values are read before the first update
            text += f".at[{source.code(part.slice)}].set({source.code(v)})"
        return f"{base} = {text}"
    if isinstance(statement, ast.Assign):
        target, update, value = statement.targets[0], "set", source.code(statement.value)
        if isinstance(statement.value, ast.Tuple):
            value = value if value.startswith("(") else f"({value})"
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in _AUGMENTED_UPDATES:
        target, value = statement.target, source.code(statement.value)
        update, sign = _AUGMENTED_UPDATES[type(statement.op)]
        if sign:
            value = sign + source.operand(statement.value)
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in _OPERATORS:
        target, update = statement.target, "set"
        sign = _OPERATORS[type(statement.op)]
        value = f"{source.code(target)} {sign} {source.operand(statement.value)}"
    else:
        return None
    if not isinstance(target, ast.Subscript):
        return None
    base = source.code(target.value)
    return f"{base} = {base}.at[{source.code(target.slice)}].{update}({value})"


_UPDATE_MODES = (
    ('mode="drop"', "drop updates out of bounds, and say so"),
    ('mode="clip"', "update the nearest element, and say so"),
)


@at_expression
def set_index_mode(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Set the mode of an index that is out of bounds."""
    item = node if isinstance(node, ast.Subscript) else None
    if item is None:
        inside = source.nodes(ast.Subscript, node)
        item = inside[0] if inside else source.enclosing(node, ast.Subscript)
    if item is None:
        return
    base, index = source.code(item.value), source.code(item.slice)
    if isinstance(item.value, ast.Attribute) and item.value.attr == "at":
        call = source.parents.get(source.parents[item])
        if isinstance(call, ast.Call):
            for rank, (mode, title) in enumerate(_UPDATE_MODES, 1):
                edit = source.replace(call, source.call_with(call, mode))
                yield Candidate("index_mode", title, (edit,), rank, allows=True)
        return
    for mode, title in (
        ('mode="clip"', "take the nearest element, and say so"),
        ('mode="fill", fill_value=0', "take 0 where the index is out of bounds"),
    ):
        edit = source.replace(item, f"{base}.at[{index}].get({mode})")
        rank = 1 if "clip" in mode else 2
        yield Candidate("index_mode", title, (edit,), rank, allows=True)
