"""Repair slices with traced bounds: slices of a static size, masks of positions, lengths as arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.arrays import masked_reduction, reduce_variable
from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, last_name, parameters
from sagax._src.diagnostics.model import Edit


@at_expression
def use_dynamic_slice(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x[i:i + n]` as dynamic_slice_in_dim, and prefixes as masks."""
    statement = source.statement(node)
    inside = [n for n in source.nodes(ast.Subscript, statement) if _bounded_slices(n)]
    item = node if isinstance(node, ast.Subscript) and _bounded_slices(node) else None
    if item is None:
        covering = [
            n for n in inside if n is node or node in list(ast.walk(n)) or n in list(ast.walk(node))
        ]
        item = covering[0] if covering else None
    if item is None:
        return
    bounded = _bounded_slices(item)
    axis, found = next(
        (part for part in bounded if _slice_size(*_ends(source, item, *part), part[1])), bounded[0]
    )
    if found.step is not None:
        return
    base = source.code(item.value)
    start, stop = _ends(source, item, axis, found)
    update = isinstance(item.ctx, ast.Store) or (
        isinstance(item.value, ast.Attribute) and item.value.attr == "at"
    )
    size = _slice_size(start, stop, found)
    rank = 1 if size is not None else 3  # other data may have another size
    if size is None and not update and (values := case.measure(source, item)):
        sizes = {m.shape[axis] for m in values if m.shape is not None and axis < len(m.shape)}
        size = str(sizes.pop()) if len(sizes) == 1 else None
    if size is not None and not update:
        yield from _slice_each_axis(source, item, axis, size, rank)
    if size is not None and update and axis == 0 and isinstance(item.slice, ast.Slice):
        numpy, imports = source.spell("jax.numpy")
        text = f"{base}[{start} + {numpy}.arange({size})]"
        title = f"update {size} elements from `{start}` on by their positions"
        yield Candidate("dynamic_slice", title, (source.replace(item, text), *imports), 1)
    if not update:
        yield from _reduce_slice(source, item, axis, start, stop, found)


def _slice_each_axis(
    source: Source, item: ast.Subscript, known_axis: int, known_size: str, rank: int
) -> Iterator[Candidate]:
    """Rewrite `x[i : i + n, j : j + m]` as slices of one axis after the other; others stay, as in `x[i : i + n, :3]`."""
    function, imports = source.spell("jax.lax.dynamic_slice_in_dim")
    base = source.code(item.value)
    parts = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
    kept = [source.code(part) for part in parts]
    text = ""
    starts: list[str] = []
    sizes: list[str] = []
    for axis, found in _bounded_slices(item):
        start, stop = _ends(source, item, axis, found)
        size = known_size if axis == known_axis else _slice_size(start, stop, found)
        if size is None or found.step is not None:
            continue
        kept[axis] = ":"
        text += f", {start}, {size}{f', axis={axis}' if axis else ''})"
        starts.append(start)
        sizes.append(size)
    first = base if set(kept) == {":"} else f"{base}[{', '.join(kept)}]"
    text = f"{function}(" * len(starts) + first + text
    title = (
        f"take {' x '.join(sizes)} elements from `{', '.join(starts)}` on with dynamic_slice_in_dim"
    )
    yield Candidate("dynamic_slice", title, (source.replace(item, text), *imports), rank)


def _ends(source: Source, item: ast.Subscript, axis: int, found: ast.Slice) -> tuple[str, str]:
    """Return the texts of the bounds of a slice."""
    start = "0" if found.lower is None else source.code(found.lower)
    if found.upper is None:
        return start, f"{source.code(item.value)}.shape[{axis}]"
    return start, source.code(found.upper)


def _bounded_slices(item: ast.Subscript) -> list[tuple[int, ast.Slice]]:
    """Return the slices with bounds in an index, with their axes."""
    parts = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
    if any(not isinstance(p, ast.Slice) for p in parts):
        return []
    return [
        (i, p)
        for i, p in enumerate(parts)
        if isinstance(p, ast.Slice) and (p.lower is not None or p.upper is not None)
    ]


def _slice_size(start: str, stop: str, found: ast.Slice) -> str | None:
    """Return the size of `a : a + n` or `a - n : a`, as text."""
    upper, lower = found.upper, found.lower
    if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        if ast.unparse(upper.left) == start:
            return ast.unparse(upper.right)
        if ast.unparse(upper.right) == start:
            return ast.unparse(upper.left)
    if (
        isinstance(lower, ast.BinOp)
        and isinstance(lower.op, ast.Sub)
        and ast.unparse(lower.left) == stop
    ):
        return ast.unparse(lower.right)
    if (
        isinstance(upper, ast.BinOp)
        and isinstance(lower, ast.BinOp)
        and isinstance(upper.op, ast.Add)
        and isinstance(lower.op, (ast.Add, ast.Sub))
        and ast.unparse(upper.left) == ast.unparse(lower.left)
    ):
        sign = "-" if isinstance(lower.op, ast.Add) else "+"
        return f"{ast.unparse(upper.right)} {sign} {ast.unparse(lower.right)}"
    return None


def _reduce_slice(
    source: Source, item: ast.Subscript, axis: int, start: str, stop: str, found: ast.Slice
) -> Iterator[Candidate]:
    """Rewrite the reduction of a slice as a reduction with a mask of positions."""
    numpy, imports = source.spell("jax.numpy")
    base = source.code(item.value)
    if axis != 0:
        return
    positions = f"{numpy}.arange({base}.shape[0])"
    tests: list[str] = []
    if found.lower is not None:
        tests.append(f"{positions} >= {start}")
    if found.upper is not None:
        tests.append(f"{positions} < {stop}")
    mask = tests[0] if len(tests) == 1 else f"{numpy}.logical_and({', '.join(tests)})"
    parent = source.parents.get(item)
    for each in (mask, f"({mask})[:, None]"):  # of vectors, and of matrices along their first axis
        if reduced := masked_reduction(source, item, each, numpy):
            reduction, text = reduced
            title = "reduce all of it with a mask of positions"
            edits = (source.replace(reduction, text.format(base)), *imports)
            yield Candidate("where_mask_sum", title, edits, 2)
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            yield from reduce_variable(
                source, parent, parent.targets[0].id, base, each, numpy, imports
            )


@at_expression
def pass_length(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass a jitted function the whole array and a length, instead of slices of varying length."""
    name = case.facts.data.get("compiled", "")
    for place, function in case.definition(name) if name else ():
        known = parameters(function)
        for wanted in case.facts.depends:
            if wanted not in known:
                continue
            edits = _length_edits(case, place, function, wanted)
            if edits:
                title = f"pass all of `{wanted}` and its length: one shape, one compilation"
                yield Candidate("pad_shape", title, tuple(edits), 1)
        for decorator in function.decorator_list:
            text = place.code(decorator)
            if "jit" in text and "static" not in text:
                title = f"do not jit `{name}`: each new shape is a new compilation"
                rest = "\n".join(
                    place.lines[i - 1]
                    for i in range(place.first_line(function), (function.end_lineno or 0) + 1)
                    if i != decorator.lineno
                )
                yield Candidate("no_jit", title, (place.replace_statements([function], rest),), 4)


def _length_edits(case: Case, place: Source, function: ast.FunctionDef, wanted: str) -> list[Edit]:
    numpy, imports = place.spell("jax.numpy")
    length = place.fresh("length", function)
    mask = f"{numpy}.arange({wanted}.shape[0]) < {length}"
    uses = [u for u in place.uses(wanted, function) if isinstance(u.ctx, ast.Load)]
    found = [masked_reduction(place, use, mask, numpy) for use in uses]
    if not uses or any(f is None for f in found):
        return []
    edits = [place.replace(f[0], f[1].format(wanted)) for f in found if f is not None]
    last = [*function.args.posonlyargs, *function.args.args][-1]
    edits.append(place.replace(last, f"{place.code(last)}, {length}"))
    at = parameters(function).index(wanted)
    called = 0
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            if last_name(call.func) != function.name:
                continue
            if source.function(call) is function:  # a method of the same name
                continue
            if call.keywords or len(call.args) <= at:
                return []
            arg = call.args[at]
            if not isinstance(arg, ast.Subscript) or not isinstance(arg.slice, ast.Slice):
                return []
            if arg.slice.lower is not None or arg.slice.upper is None or arg.slice.step is not None:
                return []
            texts: dict[ast.AST, str] = {arg: source.code(arg.value)}
            whole = substitute(source, call, texts)[:-1].rstrip().rstrip(",")
            edits.append(source.replace(call, f"{whole}, {source.code(arg.slice.upper)})"))
            called += 1
    return [*edits, *imports] if called else []
