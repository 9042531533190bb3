"""Repair uses of symbolic sizes where Python needs a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.control_flow import range_of, while_loops
from sagax._autofix.repairs.loops import loops
from sagax._autofix.repairs.source_file import Source

__all__ = ["converted", "rounds"]


def rounds(case: Case) -> Iterator[Candidate]:
    """A Python loop whose number of rounds is a symbolic size -> scan, fori_loop, while_loop, map."""
    if "ymbolic" in case.facts.message:
        yield from loops(case)
        yield from _comprehensions(case)
        yield from while_loops(case)


_STACKING = ("jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray", "jax.numpy.vstack")


def _comprehensions(case: Case) -> Iterator[Candidate]:
    """`stack([f(x[i]) for i in range(n)])`, or a sum of such -> lax.map over arange(n)."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    whole = source.enclosing(node, (ast.ListComp, ast.GeneratorExp))
    if whole is None or len(whole.generators) != 1 or whole.generators[0].ifs:
        return
    generator = whole.generators[0]
    numpy, imports = source.spell("jax.numpy")
    mapped, more = source.spell("jax.lax.map")
    bounds = range_of(source, generator.iter)
    if bounds is not None:
        start, stop, step = bounds
        parts = [stop] if (start, step) == ("0", "1") else [start, stop]
        parts += [step] if step != "1" else []
        over = f"{numpy}.arange({', '.join(parts)})"
    elif isinstance(generator.iter, (ast.Name, ast.Attribute, ast.Subscript)):
        over = source.code(generator.iter)
    else:
        return
    if not isinstance(generator.target, ast.Name):
        return
    body = source.code(whole.elt)
    text = f"{mapped}(lambda {generator.target.id}: {body}, {over})"
    title = "compute all of them with lax.map: the number of rounds may be symbolic"
    for call in _calls_on(source, whole):
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


def _calls_on(source: Source, whole: ast.expr) -> Iterator[ast.Call]:
    """The calls that get a list: of the comprehension itself, or of the name that it is given."""
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


def converted(case: Case) -> Iterator[Candidate]:
    """`float(n)`, `np.sqrt(n)` of a size -> computed with the size as a value of the program."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    numpy, imports = source.spell("jax.numpy")
    for call in source.nodes(
        ast.Call, node if isinstance(node, ast.expr) else source.statement(node)
    ):
        name = getattr(call.func, "id", "")
        full = source.meaning(call.func)
        if name in _NUMBERS and len(call.args) == 1:
            size = source.code(call.args[0])
            texts = [size] if name == "int" else [f"{numpy}.asarray({size}, dtype={numpy}.float32)"]
        elif full.startswith(("numpy.", "math.")) and call.args:
            last = full.rpartition(".")[2]
            texts = [source.code(call).replace(source.code(call.func), f"{numpy}.{last}", 1)]
        else:
            continue
        for text in texts:
            title = "compute with the size as a value of the program"
            yield Candidate("symbolic_size", title, (source.replace(call, text), *imports), 2)
