"""Repair uses of symbolic sizes where Python needs a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.control_flow import arange_text, range_bounds, use_while_loop
from sagax._autofix.repairs.loops import rewrite_for
from sagax._autofix.repairs.source_file import Source


def rewrite_symbolic_loop(case: Case) -> Iterator[Candidate]:
    """Rewrite a loop of symbolic length as scan, fori_loop, while_loop or map."""
    if "ymbolic" in case.facts.message:
        yield from rewrite_for(case)
        yield from _rewrite_comprehension(case)
        yield from use_while_loop(case)


_STACKING = ("jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray", "jax.numpy.vstack")


@at_expression
def _rewrite_comprehension(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `stack([f(x[i]) for i in range(n)])`, or a sum, as lax.map over arange(n)."""
    whole = source.enclosing(node, (ast.ListComp, ast.GeneratorExp))
    if whole is None or len(whole.generators) != 1 or whole.generators[0].ifs:
        return
    generator = whole.generators[0]
    numpy, imports = source.spell("jax.numpy")
    mapped, more = source.spell("jax.lax.map")
    bounds = range_bounds(source, generator.iter)
    if bounds is not None:
        over = arange_text(numpy, bounds)
    elif isinstance(generator.iter, (ast.Name, ast.Attribute, ast.Subscript)):
        over = source.code(generator.iter)
    else:
        return
    if not isinstance(generator.target, ast.Name):
        return
    body = source.code(whole.elt)
    text = f"{mapped}(lambda {generator.target.id}: {body}, {over})"
    title = "compute all of them with lax.map: the number of rounds may be symbolic"
    for call in _consuming_calls(source, whole):
        name = source.meaning(call.func)
        if name in _STACKING and len(call.args) == 1:
            new = text
        elif getattr(call.func, "id", "") == "sum" and len(call.args) == 1:
            new = f"{numpy}.sum({text}, axis=0)"
        else:
            continue
        edits = [source.replace(call, new)]
        if whole not in ast.walk(call):
            edits.append(source.delete(source.statement(whole)))
        yield Candidate("fori_or_scan", title, (*edits, *imports, *more), 2)


def _consuming_calls(source: Source, whole: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls that a comprehension, or the name that it is assigned to, is passed to."""
    parent = source.parents.get(whole)
    if isinstance(parent, ast.Call):
        yield parent
    elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        scope = source.function(whole) or source.tree
        uses = [u for u in source.uses(name, scope) if isinstance(u.ctx, ast.Load)]
        call = source.parents.get(uses[0]) if len(uses) == 1 else None
        if isinstance(call, ast.Call):
            yield call


_NUMBERS = {"int": "int32", "float": "float32", "numpy.float32": "float32", "numpy.asarray": ""}


@at_expression
def compute_with_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compute `float(n)` or `np.sqrt(n)` with the symbolic size as an array value."""
    numpy, imports = source.spell("jax.numpy")
    for call in source.nodes(
        ast.Call, node if isinstance(node, ast.expr) else source.statement(node)
    ):
        name = getattr(call.func, "id", "")
        full = source.meaning(call.func)
        if name in _NUMBERS and len(call.args) == 1:
            size = source.code(call.args[0])
            text = size if name == "int" else f"{numpy}.asarray({size}, dtype={numpy}.float32)"
        elif full.startswith(("numpy.", "math.")) and call.args:
            last = full.rpartition(".")[2]
            text = source.code(call).replace(source.code(call.func), f"{numpy}.{last}", 1)
        else:
            continue
        title = "compute with the size as a value of the program"
        yield Candidate("symbolic_size", title, (source.replace(call, text), *imports), 2)
