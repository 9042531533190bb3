"""Repair random keys that are used twice: split them, or derive one for each use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, last_name, parameters, target_names
from sagax._src.diagnostics.model import Edit


@at_expression
def split_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Split a key that is used twice, or derive another one."""
    node = node.value if isinstance(node, ast.Expr) else node
    call = source.enclosing(node, ast.Call)
    key = key_argument(call) if call is not None else None
    if call is not None and key is not None:
        yield from _split_earlier(source, call, key)
        yield from _keep_parts(source, call, key)
        yield from _split_into_more(source, call, key)
        yield from _split_for_call(case, source, call, key)
        yield from _fold_in_key(case, source, call, key)


@at_expression
def pass_through_without_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return the argument as it is where a function draws with a key that it did not get, as dropout does."""
    function = source.function(node)
    if "NoneType" not in case.facts.message or not isinstance(function, ast.FunctionDef):
        return
    known = function.args
    named = [a.arg for a in known.args]
    optional = dict(zip(reversed(named), reversed(known.defaults), strict=False))
    optional |= dict(zip([a.arg for a in known.kwonlyargs], known.kw_defaults, strict=True))
    for call in source.nodes(ast.Call, node):
        key = key_argument(call)
        if not isinstance(key, ast.Name):
            continue
        default = optional.get(key.id)
        statement = source.statement(node)
        without = isinstance(default, ast.Constant) and default.value is None
        if not without or not named or named[0] == key.id or statement not in function.body:
            continue
        indent = source.indent(statement)
        lines = f"{indent}if {key.id} is None:\n{indent}    return {named[0]}"
        edit = source.insert_above(source.first_line(statement), lines)
        title = f"return `{named[0]}` as it is where no key is given"
        yield Candidate("without_key", title, (edit,), 1, assumes=True)
        return


def _split_earlier(source: Source, call: ast.Call, key: ast.expr) -> Iterator[Candidate]:
    """Move a split that is thrown away before the first use of its key, and assign both parts."""
    statement = source.statement(call)
    thrown = isinstance(statement, ast.Expr) and statement.value is call
    if not thrown or source.meaning(call.func) != "jax.random.split" or len(call.args) != 1:
        return
    name = source.code(key)
    block = source.block(statement)
    before = [u for s in block[: block.index(statement)] for u in _find_uses(source, name, s)]
    if len(before) != 1:
        return
    first = source.statement(before[0])
    sub = source.fresh("subkey", call)
    line = f"{source.indent(first)}{name}, {sub} = {source.code(call)}"
    edits = (
        source.insert_above(source.first_line(first), line),
        source.replace(before[0], sub),
        source.delete(statement),
    )
    yield Candidate(
        "split_key", "split the key before its first use, and keep both parts", edits, 0
    )


def _keep_parts(source: Source, call: ast.Call, key: ast.expr) -> Iterator[Candidate]:
    """Rewrite `sub = split(key)[1]` as `key, sub = split(key)`, where the key is used again."""
    name = source.code(key)
    if not isinstance(key, ast.Name):
        return
    scope: ast.AST = source.function(call) or source.tree
    for split in source.calls_of("jax.random.split", within=scope):
        part = source.parents.get(split)
        statement = source.parents.get(part) if part is not None else None
        if not isinstance(part, ast.Subscript) or not isinstance(statement, ast.Assign):
            continue
        if len(split.args) != 1 or source.code(split.args[0]) != name:
            continue
        target = statement.targets[0]
        if statement.value is not part or not isinstance(target, ast.Name):
            continue
        if statement.lineno < call.lineno and target.id != name:
            text = f"{name}, {target.id} = {source.code(split)}"
            title = f"keep the other key of the split as `{name}`"
            yield Candidate("split_key", title, (source.replace(statement, text),), 0)


def _split_into_more(source: Source, call: ast.Call, key: ast.expr) -> Iterator[Candidate]:
    """Split a key, which is used again after its split, into one part more for each use."""
    name, function = source.code(key), source.function(call)
    scope: ast.AST = function if function is not None else source.tree
    for split in source.calls_of("jax.random.split", within=scope):
        statement = source.parents.get(split)
        given = split.args[1] if len(split.args) > 1 else None
        if not isinstance(statement, ast.Assign) or split.keywords or not split.args:
            continue
        target = statement.targets[0]
        if source.code(split.args[0]) != name or not isinstance(target, (ast.Tuple, ast.List)):
            continue
        if given is not None and not isinstance(given, ast.Constant):
            continue
        parts = [source.code(e) for e in target.elts]
        uses = [
            use
            for use in _find_uses(source, name, scope)
            if use.lineno > statement.lineno and source.function(use) is function
        ]
        looped = any(source.enclosing(use, (ast.For, ast.While)) for use in uses)  # type: ignore[arg-type]
        if name in parts or not uses or looped or any(_is_split(source, use) for use in uses):
            continue
        bare = name.rpartition(".")[2].partition("[")[0]
        more = [source.fresh(f"{bare}_{len(parts) + i + 1}", call) for i in range(len(uses))]
        count = str(len(parts) + len(more))
        edits = [source.replace(use, new) for use, new in zip(uses, more, strict=True)]
        edits += source.around(target.elts[-1], "", f", {', '.join(more)}")
        if given is not None:
            edits.append(source.replace(given, count))
        else:
            edits.append(source.replace(split, source.call_with(split, count)))
        title = f"split `{name}` into {count}: a key that was split is used up"
        yield Candidate("split_key", title, tuple(edits), 0)


def _fold_in_key(case: Case, source: Source, call: ast.Call, key: ast.expr) -> Iterator[Candidate]:
    """Rewrite `normal(state.key)` as `normal(fold_in(state.key, 1))`.

    In the body of a loop that captures the key, fold in the iteration.
    """
    fold, imports = source.spell("jax.random.fold_in")
    numbers = [
        n.value
        for there in case.sources.values()
        for derived in there.calls_of("jax.random.fold_in")
        for n in ast.walk(derived)
        if isinstance(n, ast.Constant) and isinstance(n.value, int)
    ]
    number = max(numbers, default=0) + 1  # unlike all other derived keys
    name = source.code(key)
    title = f"derive another key from `{name}` for this use"
    yield Candidate(
        "split_key", title, (source.replace(key, f"{fold}({name}, {number})"), *imports), 4
    )
    function = source.function(call)
    if not isinstance(function, ast.FunctionDef) or name in parameters(function):
        return
    counter = _iteration_parameter(case, function)
    if counter:
        uses = [u for u in _find_uses(source, name, function) if not _is_split(source, u)]
        now = f"{fold}({name}, {counter})"
        texts = [f"{fold}({now}, {i})" if len(uses) > 1 else now for i in range(len(uses))]
        edits = [source.replace(u, text) for u, text in zip(uses, texts, strict=True)]
        title = f"derive a key from `{name}` for each round"
        yield Candidate("split_key", title, (*edits, *imports), 3)


def _iteration_parameter(case: Case, function: ast.FunctionDef) -> str:
    """Return the parameter of a loop body that counts iterations, or ""."""
    known = parameters(function)
    for source in case.sources.values():
        for call in source.calls_of("jax.lax.scan", "jax.lax.fori_loop"):
            is_body = [last_name(a) == function.name for a in call.args]
            if is_body[:1] == [True] and len(call.args) > 2 and isinstance(call.args[2], ast.Call):
                if source.meaning(call.args[2].func) == "jax.numpy.arange" and len(known) > 1:
                    return known[-1]
            if is_body[2:3] == [True] and known:
                return known[-2] if len(known) > 1 else ""
    return ""


def _split_for_call(
    case: Case, source: Source, call: ast.Call, key: ast.expr, depth: int = 0
) -> Iterator[Candidate]:
    """Split the key of a call in the function around it, or in the callers of that function."""
    name = source.code(key)
    bare = name.rpartition(".")[2].partition("[")[0]
    function = source.function(call)
    scope: ast.AST = function if function is not None else source.tree
    split, imports = source.spell("jax.random.split")
    statement = source.statement(call)
    yield from _split_in_comprehension(source, call, name, bare, split, imports)
    loop = source.enclosing(call, (ast.For, ast.While))  # type: ignore[arg-type]
    if loop is not None and source.function(loop) is function:
        sub = source.fresh(f"{bare}_now", call)
        edits = [source.replace(u, sub) for u in _find_uses(source, name, statement)]
        line = f"{source.indent(statement)}{name}, {sub} = {split}({name})"
        edits.append(source.insert_above(source.first_line(statement), line))
        yield Candidate("split_key", "split the key in each round", (*edits, *imports), 1)
    if function is not None and name in parameters(function) and depth < _MAX_CALLS:
        for there, outer, passed in case.calls(function):
            value = passed.get(name)
            if isinstance(value, _KEY_EXPRESSIONS):
                yield from _split_for_call(case, there, outer, value, depth + 1)
    uses = [u for u in _find_uses(source, name, scope) if not _is_split(source, u)]
    stays = isinstance(key, ast.Attribute)  # the next call uses it too: rebind it to a new key
    if len(uses) < 2 - stays:
        return
    parts = [source.fresh(f"{bare}_{i + 1}", call) for i in range(len(uses))]
    first = source.statement(uses[0])
    while source.parents.get(first) is not scope and isinstance(
        source.parents.get(first), ast.stmt
    ):
        parent = source.parents[first]
        if not isinstance(parent, ast.stmt) or parent is scope:
            break
        first = parent
    count = len(parts) + stays
    targets = ", ".join([name, *parts] if stays else parts)
    more = "" if count == 2 else f", {count}"
    line = f"{source.indent(first)}{targets} = {split}({name}{more})"
    edits = [source.replace(u, part) for u, part in zip(uses, parts, strict=True)]
    edits.append(source.insert_above(source.first_line(first), line))
    yield Candidate("split_key", "split the key, and use each part once", (*edits, *imports), 2)


_MAX_CALLS = 4  # the length of a chain of callers
_KEY_EXPRESSIONS = (ast.Name, ast.Attribute, ast.Subscript)


def key_argument(call: ast.Call) -> ast.expr | None:
    """Return the key argument of a call: a name, an attribute or an item with a constant index.

    By its keyword, or an argument that is called so, or else the first.
    """
    named = [k.value for k in call.keywords if k.arg in ("key", "rng")]
    called = [a for a in call.args if re.search(r"key|rng", last_name(a))]
    for found in (*named, *called, *call.args):
        if isinstance(found, (ast.Name, ast.Attribute)):
            return found
        if isinstance(found, ast.Subscript) and _is_plain_index(found.slice):
            return found
    return None


def _is_plain_index(node: ast.expr) -> bool:
    """Return whether an index can be read twice: `keys[2]`, `keys[i]` or `keys[i + 1]`."""
    return all(
        isinstance(n, (ast.Constant, ast.Name, ast.BinOp, ast.operator, ast.expr_context))
        for n in ast.walk(node)
    )


def _find_uses(source: Source, text: str, within: ast.AST) -> list[ast.expr]:
    """Return the expressions that read a variable, or an attribute of one."""
    return [
        n
        for n in source.nodes((ast.Name, ast.Attribute, ast.Subscript), within)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load) and source.code(n) == text
    ]


def _split_in_comprehension(
    source: Source, call: ast.Call, name: str, bare: str, split: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Split the key of `[normal(key, n) for n in sizes]` into one for each item."""
    kinds = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    around = source.enclosing(call, kinds)  # type: ignore[arg-type]
    if around is None or len(around.generators) != 1 or around.generators[0].ifs:
        return
    over = around.generators[0]
    if name in target_names(over.target):
        return
    iterated = source.code(over.iter)
    counted = isinstance(over.iter, ast.Call) and getattr(over.iter.func, "id", "") == "range"
    if counted and isinstance(over.iter, ast.Call) and len(over.iter.args) == 1:
        count = source.code(over.iter.args[0])
    elif isinstance(over.iter, (ast.Name, ast.Attribute, ast.List, ast.Tuple)):
        count = f"len({iterated})"
    elif isinstance(over.iter, ast.Call) and isinstance(over.iter.func, ast.Attribute):
        if over.iter.func.attr not in ("items", "keys", "values"):
            return
        count = f"len({source.code(over.iter.func.value)})"
    elif getattr(getattr(over.iter, "func", None), "id", "") in ("zip", "enumerate"):
        count = f"len({source.code(over.iter.args[0])})"  # type: ignore[attr-defined]
    else:
        return
    sub = source.fresh(f"{bare}_now", call)
    edits = [
        source.replace(u, sub) for u in _find_uses(source, name, around) if not _is_split(source, u)
    ]
    target = source.code(over.target)
    if target == "_":
        edits += [
            source.replace(over.target, sub),
            source.replace(over.iter, f"{split}({name}, {count})"),
        ]
    else:
        if isinstance(over.target, ast.Tuple) and not target.startswith("("):
            target = f"({target})"
        edits += [
            source.replace(over.target, f"{sub}, {target}"),
            source.replace(over.iter, f"zip({split}({name}, {count}), {iterated})"),
        ]
    yield Candidate("split_key", "split the key into one for each item", (*edits, *imports), 1)


def _is_split(source: Source, use: ast.expr) -> bool:
    parent = source.parents.get(use)
    return isinstance(parent, ast.Call) and source.meaning(parent.func) == "jax.random.split"
