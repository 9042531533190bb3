"""Repair keys that all examples of a vmap, or all rounds of a loop, share; and keys that are mixed up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.keys import key_argument
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    first_statement,
    keyword_value,
    last_name,
    parameters,
    stores,
    tuple_text,
)
from sagax._src.diagnostics.model import Edit

_MAX_CALLS = 4


# --- the wrong one of two keys -----------------------------------------------------------------------


@at_expression
def use_unused_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Use the key that a split made and that is never used, for one of the two uses of another."""
    call = source.enclosing(node, ast.Call)
    found = key_argument(call) if call is not None else None
    function = source.function(node) or source.tree
    if found is None or not isinstance(found, ast.Name):
        return
    name = found.id
    splits = [
        s
        for s in source.nodes(ast.Assign, function)
        if source.function(s) is source.function(node)
        and isinstance(s.value, ast.Call)
        and source.meaning(s.value.func) == "jax.random.split"
    ]
    for split in splits:
        targets = [n for t in split.targets for n in getattr(t, "elts", [])]
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if name not in names:
            continue
        end = _next_binding(source, splits, split, names)
        for unused in names:
            if unused == name or _uses(source, function, unused, split, end):
                continue
            uses = _uses(source, function, name, split, end)
            order = uses[::-1] if len(uses) > 1 else uses
            carried = isinstance(split.value, ast.Call) and any(
                source.code(a) == name for a in split.value.args
            )
            if carried:  # `key, subkey = split(key)`: key is for the next split
                order = [u for u in uses if not _is_split(source, u)]
            for rank, use in enumerate(order):
                title = f"use `{unused}` here: it was made, and is never used"
                yield Candidate("other_key", title, (source.replace(use, unused),), rank - 2)


def _next_binding(
    source: Source, splits: list[ast.Assign], split: ast.Assign, names: list[str]
) -> int:
    """Return the line up to which the keys of a split are the variables' values."""
    later = [s for s in splits if s.lineno > split.lineno and set(names) & set(stores(s))]
    return min((s.end_lineno or 0 for s in later), default=1 << 30)


def _uses(source: Source, scope: ast.AST, name: str, split: ast.Assign, end: int) -> list[ast.Name]:
    return [
        n
        for n in source.uses(name, scope)
        if isinstance(n.ctx, ast.Load) and (split.end_lineno or 0) < n.lineno <= end
    ]


def _is_split(source: Source, use: ast.expr) -> bool:
    parent = source.parents.get(use)
    return isinstance(parent, ast.Call) and source.meaning(parent.func) == "jax.random.split"


# --- one key for all examples --------------------------------------------------------------------------


@at_expression
def split_for_examples(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Split the key into one for each example of a vmap."""
    call = source.enclosing(node, ast.Call)
    if call is not None and not source.meaning(call.func).startswith("jax.random."):
        drawn = [
            c
            for c in source.nodes(ast.Call, call)
            if source.meaning(c.func).startswith("jax.random.")
        ]  # a loop over keys that are split in its call
        call = drawn[0] if drawn else call
    key = key_argument(call) if call is not None else None
    if call is None or key is None or "vmap" not in case.facts.message:
        return
    yield from _split_in_callers(case, source, source.function(call), key, 0)


def _split_in_callers(
    case: Case, source: Source, function: Function | None, key: ast.expr, depth: int
) -> Iterator[Candidate]:
    if not isinstance(function, (ast.FunctionDef, ast.Lambda)) or depth > _MAX_CALLS:
        return
    name = source.code(key)
    known = parameters(function)
    mapped = list(_mapped_calls(case, source, function))
    for there, vmap, site in mapped:
        if name in known:
            yield from _split_argument(there, vmap, site, known.index(name), name)
        elif isinstance(key, (ast.Name, ast.Attribute)) and len(mapped) == 1:
            yield from _add_key_parameter(source, function, key, there, vmap, site)
    if not mapped and isinstance(function, ast.FunctionDef) and name in known:
        for there, site, passed in case.calls(function):
            value = passed.get(name)
            if value is not None:
                yield from _split_in_callers(case, there, there.function(site), value, depth + 1)


def _mapped_calls(
    case: Case, source: Source, function: Function
) -> Iterator[tuple[Source, ast.Call, ast.Call]]:
    """Yield the vmaps of a function, each with the call of what it returns."""
    name = getattr(function, "name", "")
    for decorator in getattr(function, "decorator_list", []):
        if not isinstance(decorator, ast.Call):
            continue
        made = source.meaning(decorator.func)
        partial = made == "functools.partial" and decorator.args
        if made == "jax.vmap" or (partial and source.meaning(decorator.args[0]) == "jax.vmap"):
            for there, site, _ in case.calls(function):
                if there is source:
                    yield source, decorator, site
    for there in case.sources.values():
        for vmap in there.calls_of("jax.vmap"):
            if not vmap.args:
                continue
            inner: ast.expr = vmap.args[0]
            while (
                isinstance(inner, ast.Call)
                and inner.args
                and there.meaning(inner.func).startswith("jax.")
            ):
                inner = inner.args[0]
            if inner is not function and not (name and last_name(inner) == name):
                continue
            for site in _calls_of_result(case, there, vmap):
                yield there, vmap, site


def _calls_of_result(case: Case, source: Source, made: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls of a transformed function, through further transformations and names."""
    for _ in range(4):
        parent = source.parents.get(made)
        if isinstance(parent, ast.Call) and parent.func is made:
            yield parent
            return
        if isinstance(parent, ast.Call) and parent.args[:1] == [made]:
            made = parent
            continue
        if isinstance(parent, ast.Assign):
            for target in parent.targets:
                for there, use in case.uses(last_name(target)):
                    call = there.parents.get(use)
                    if there is source and isinstance(call, ast.Call) and call.func is use:
                        yield call
        return


def _split_argument(
    source: Source, vmap: ast.Call, site: ast.Call, position: int, name: str
) -> Iterator[Candidate]:
    """Split the key where it is passed to the mapped function, and map it."""
    value = site.args[position] if position < len(site.args) else keyword_value(site, name)
    axes = keyword_value(vmap, "in_axes") or (vmap.args[1] if len(vmap.args) > 1 else None)
    if value is None:
        return
    edits: list[Edit] = []
    entries = list(axes.elts) if isinstance(axes, (ast.Tuple, ast.List)) else []
    if axes is not None:
        if position >= len(entries):
            return
        edits.append(source.replace(entries[position], "0"))
    count = _example_count(source, site, entries, position)
    if not count:
        return
    split, imports = source.spell("jax.random.split")
    edits += [source.replace(value, f"{split}({source.code(value)}, {count})"), *imports]
    title = "split the key into one for each example, and map over the keys"
    yield Candidate("split_key", title, tuple(edits), 0)


def _example_count(
    source: Source, site: ast.Call, entries: list[ast.expr], without: int = -1
) -> str:
    """Return the text of the number of examples: the size of another argument's mapped axis."""
    for i, value in enumerate(site.args):
        axis = source.code(entries[i]) if i < len(entries) else "0"
        if i == without or axis == "None" or isinstance(value, ast.Starred) or not axis.isdigit():
            continue
        if isinstance(value, ast.Call):
            name = source.meaning(value.func)
            if name == "jax.numpy.arange" and len(value.args) == 1:
                return source.code(value.args[0])
        if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return f"{source.code(value)}.shape[{axis}]"
    return ""


def _add_key_parameter(
    source: Source, function: Function, key: ast.expr, there: Source, vmap: ast.Call, site: ast.Call
) -> Iterator[Candidate]:
    """Make a captured key a parameter, and pass one key for each example."""
    axes = keyword_value(vmap, "in_axes") or (vmap.args[1] if len(vmap.args) > 1 else None)
    entries = list(axes.elts) if isinstance(axes, (ast.Tuple, ast.List)) else []
    count = _example_count(there, site, entries)
    args = function.args
    if not count or args.vararg or args.kwarg or args.kwonlyargs or args.defaults or not args.args:
        return
    if there is not source:
        return
    wanted = key.id if isinstance(key, ast.Name) else last_name(key)
    name = (
        "key"
        if not any(a.arg == "key" for a in args.args)
        and wanted in ("root", "rng", "seed", "master", "base")
        else wanted
    )
    edits = [
        source.replace(n, name)
        for n in source.nodes((ast.Name, ast.Attribute), function)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load)
        and source.code(n) == source.code(key)
        and source.code(n) != name
    ]
    edits += source.around(args.args[-1], "", f", {name}")
    if entries:
        edits += source.around(entries[-1], "", ", 0")
    elif axes is not None:
        listed = tuple_text([source.code(axes)] * len(site.args) + ["0"])
        edits.append(source.replace(axes, listed))
    split, imports = source.spell("jax.random.split")
    text = f"{split}({source.code(key)}, {count})"
    if not site.args:
        return
    edits += source.around(site.args[-1], "", f", {text}")
    title = "pass one key for each example, and map over the keys"
    yield Candidate("split_key", title, (*edits, *imports), 0)


# --- one key for all rounds ----------------------------------------------------------------------------


@at_expression
def split_for_iterations(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Scan over keys, one for each round, where the body captures one key."""
    call = source.enclosing(node, ast.Call)
    key = key_argument(call) if call is not None else None
    if call is None or not isinstance(key, ast.Name):
        return
    function = source.function(call)
    while function is not None and key.id not in parameters(function):
        for scan in source.calls_of("jax.lax.scan"):
            body = scan.args[0] if scan.args else None
            if body is function or (
                body is not None and last_name(body) == getattr(function, "name", "?")
            ):
                yield from _scan_over_keys(source, function, key, scan)
        function = source.function(function)


def _scan_over_keys(
    source: Source, function: Function, key: ast.Name, scan: ast.Call
) -> Iterator[Candidate]:
    known = parameters(function)
    if len(known) != 2 or isinstance(function, ast.Lambda):
        return
    xs = keyword_value(scan, "xs") or (scan.args[2] if len(scan.args) > 2 else None)
    length = keyword_value(scan, "length") or (scan.args[3] if len(scan.args) > 3 else None)
    without = xs is None or (isinstance(xs, ast.Constant) and xs.value is None)
    split, imports = source.spell("jax.random.split")
    uses = [n for n in source.uses(key.id, function) if isinstance(n.ctx, ast.Load)]
    if len(uses) != 1:
        return
    title = "split the key into one for each round, and scan over the keys"
    if without:
        if length is None:
            return
        item = known[1]
        reads = [n for n in source.uses(item, function) if isinstance(n.ctx, ast.Load)]
        if reads:
            return
        sub = source.fresh("subkey", uses[0])
        keys = f"{split}({key.id}, {source.code(length)})"
        edits = [
            source.replace(function.args.args[1], sub),
            source.replace(uses[0], sub),
        ]
        if xs is not None:
            edits.append(source.replace(xs, keys))
        else:
            edits.append(source.replace(scan, source.call_with(scan, f"xs={keys}")))
        yield Candidate("split_key", title, (*edits, *imports), 0)
        return
    assert xs is not None
    if isinstance(xs, (ast.Name, ast.Attribute, ast.Subscript)):
        count = f"{source.code(xs)}.shape[0]"
    elif isinstance(xs, ast.Call) and last_name(xs.func) == "arange" and len(xs.args) == 1:
        count = source.code(xs.args[0])
    elif length is not None:
        count = source.code(length)
    elif isinstance(xs, ast.Tuple) and xs.elts and isinstance(xs.elts[0], ast.Name):
        count = f"{source.code(xs.elts[0])}.shape[0]"
    else:
        return
    sub, pair = source.fresh("subkey", uses[0]), source.fresh("inputs", uses[0])
    first = first_statement(function)
    line = f"{source.indent(first)}{known[1]}, {sub} = {pair}"
    edits = [
        source.replace(function.args.args[1], pair),
        source.insert_above(source.first_line(first), line),
        source.replace(uses[0], sub),
        source.replace(xs, f"({source.code(xs)}, {split}({key.id}, {count}))"),
    ]
    yield Candidate("split_key", title, (*edits, *imports), 0)


# --- an array of keys ----------------------------------------------------------------------------------


@at_expression
def draw_for_each_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `normal(keys, x.shape)` as one draw for each key, mapped by vmap."""
    call = source.enclosing(node, ast.Call)
    if call is None or "accepts a single key" not in case.facts.message or not call.args:
        return
    if not source.meaning(call.func).startswith("jax.random."):
        return
    keys = call.args[0]
    shape = keyword_value(call, "shape") or (call.args[1] if len(call.args) > 1 else None)
    vmap, imports = source.spell("jax.vmap")
    key = source.fresh("key", call)
    text = source.code(call)
    inner = text.replace(source.code(keys), key, 1)
    if shape is not None:
        counts = {m.shape[0] for m in case.measure(source, keys) if m.shape}
        if isinstance(shape, ast.Tuple) and shape.elts:
            first = shape.elts[0]
            wanted = {m.value for m in case.measure(source, first)}
            wanted |= {first.value} if isinstance(first, ast.Constant) else set()
            lanes = tuple_text([source.code(n) for n in shape.elts[1:]])
        elif isinstance(shape, ast.Attribute) and shape.attr == "shape":
            wanted = {m.shape[0] for m in case.measure(source, shape.value) if m.shape}
            lanes = f"{source.code(shape)}[1:]"
        else:
            return
        if not counts or counts != wanted:
            return  # another axis of the shape, or none, counts the keys
        inner = inner.replace(source.code(shape), lanes, 1)
    title = "draw once for each key: map over the keys, which the first axis of the shape counts"
    edit = source.replace(call, f"{vmap}(lambda {key}: {inner})({source.code(keys)})")
    yield Candidate("vmap", title, (edit, *imports), 1)
