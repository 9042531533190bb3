"""Hoist `jit` out of functions that apply it in each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, loads, parameters, stores
from sagax._autofix.repairs.transform_options import JIT_FUNCTIONS
from sagax._src.diagnostics.model import Edit

# these pass keyword arguments unchanged
_GRAD_FUNCTIONS = ("jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.hessian")
_TITLE = "apply jit once, and pass what it read from the function around as arguments"


@at_expression
def jit_once(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Apply jit once, where a function jits another one that captures its variables."""
    nested = source.enclosing(node, ast.FunctionDef)
    if nested is not None and any(node in ast.walk(d) for d in nested.decorator_list):
        yield from _hoist_function(source, nested)
        return
    for call in source.calls_of(*JIT_FUNCTIONS, within=source.statement(node)):
        around = source.function(call)
        while isinstance(around, ast.Lambda):
            around = source.function(around)
        if isinstance(around, ast.FunctionDef) and call.args:
            yield from _hoist_call(source, call, around)
        return


def _local_names(function: ast.FunctionDef) -> set[str]:
    args = function.args
    more = [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    return {*parameters(function), *more, *stores(function.body)}


def _module_statement(source: Source, node: ast.stmt) -> ast.stmt:
    """Return the module-level statement that contains a node."""
    while isinstance(parent := source.parents.get(node), ast.stmt):
        node = parent
    return node


def _hoist_call(source: Source, call: ast.Call, around: ast.FunctionDef) -> Iterator[Candidate]:
    """Hoist `jit(...)` of a lambda or of `partial(f, ...)`, possibly inside grad."""
    inner: ast.expr = call.args[0]
    while (
        isinstance(inner, ast.Call) and source.meaning(inner.func) in _GRAD_FUNCTIONS and inner.args
    ):
        inner = inner.args[0]
    local = _local_names(around)
    texts: dict[ast.AST, str] = {}
    given: dict[str, str] = {}
    if isinstance(inner, ast.Lambda):
        own = parameters(inner)
        free = [n for n in dict.fromkeys(loads(inner.body)) if n in local and n not in own]
        others = [n for n in free if n != "self"]
        if others:
            listed = ", ".join([ast.unparse(inner.args), *others])
            texts[inner] = f"lambda {listed}: {source.code(inner.body)}"
        given = {n: n for n in others}
    elif isinstance(inner, ast.Call) and source.meaning(inner.func) == "functools.partial":
        if len(inner.args) != 1 or any(k.arg is None for k in inner.keywords):
            return
        texts[inner] = source.code(inner.args[0])
        given = {k.arg: source.code(k.value) for k in inner.keywords if k.arg is not None}
    jitted = substitute(source, call, texts)
    captured = {n for n in loads(ast.parse(jitted)) if n in local} - set(given)
    if captured - {"self"}:
        return
    called = [n for n in given if any(_calls(f, n) for f in ast.walk(inner))]
    if called:
        quoted = ", ".join(f'"{n}"' for n in called)
        jitted = f"{jitted[:-1]}, static_argnames=({quoted},))"
    name = source.fresh("jitted", call)
    imports: list[Edit] = []
    if "self" in captured:
        found = source.enclosing(around, ast.ClassDef)
        if found is None:
            return
        name = f"self._{name}"
        edits = _store_on_object(source, found, around, name, jitted)
    else:
        first = _module_statement(source, around)
        line = f"{name} = {jitted}\n\n"
        edits = [source.insert_above(source.first_line(first), line)]
    here = name
    if given:
        partial, imports = source.spell("functools.partial")
        here = f"{partial}({name}, {', '.join(f'{n}={v}' for n, v in given.items())})"
    edits.append(source.replace(call, here))
    yield Candidate("hoist_jit", _TITLE if given else _SHORT_TITLE, (*edits, *imports), 2)


_SHORT_TITLE = "apply jit once"


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == name


def _store_on_object(
    source: Source, found: ast.ClassDef, method: ast.FunctionDef, name: str, jitted: str
) -> list[Edit]:
    """Create a jitted function once per object, in `__init__` or as a cached property."""
    for init in found.body:
        if isinstance(init, ast.FunctionDef) and init.name == "__init__":
            last = init.body[-1]
            text = f"{source.code(last)}\n{source.indent(last)}{name} = {jitted}"
            return [source.replace(last, text)]
    cached, imports = source.spell("functools.cached_property")
    step = source.indent(method)
    inner = step + (step.removeprefix(source.indent(found)) or "    ")
    head = f"{step}@{cached}\n{step}def {name.removeprefix('self.')}(self):\n"
    text = f"{head}{inner}return {jitted}\n"
    return [source.insert_above(source.first_line(method), text), *imports]


def _hoist_function(source: Source, nested: ast.FunctionDef) -> Iterator[Candidate]:
    """Move `@jit def step(w)` to the module, with its captured values as parameters."""
    around = source.function(nested)
    if not isinstance(around, ast.FunctionDef):
        return
    own = {*parameters(nested), *stores(nested.body)}
    local = _local_names(around)
    free = [n for n in dict.fromkeys(loads(nested.body)) if n in local and n not in own]
    if free == ["self"] and nested.name not in free:
        yield from _create_in_init(source, nested, around)
    if "self" in free or nested.name in free or nested.args.kwarg or nested.args.vararg:
        return
    if any(_calls(f, n) for n in free for f in ast.walk(nested)):
        return
    outer = _module_statement(source, around)
    name = source.fresh(nested.name, outer)
    old = source.indent(nested)
    first, last = source.first_line(nested), nested.end_lineno or 0
    lines = [line.removeprefix(old) for line in source.lines[first - 1 : last]]
    head = nested.lineno - first
    close = source.code(nested).find("(")
    at = nested.col_offset - len(old) + close + 1
    row = lines[head]
    if "(" not in row:
        return
    tail = row[at:]
    listed = ", ".join([ast.unparse(nested.args), *free]) if nested.args.args else ", ".join(free)
    end = _closing_bracket(tail)
    if end is None:
        return
    lines[head] = f"def {name}({listed}{tail[end:]}"
    text = "\n".join(lines) + "\n\n"
    edits = [source.insert_above(source.first_line(outer), text), source.delete(nested)]
    imports: list[Edit] = []
    uses = [u for u in source.uses(nested.name, around) if isinstance(u.ctx, ast.Load)]
    for use in uses:
        given = ", ".join(f"{n}={n}" for n in free)
        call = source.parents.get(use)
        if not free:
            new = name
        elif isinstance(call, ast.Call) and call.func is use:
            inside = source.code(call)[:-1].rstrip()
            comma = "" if inside.endswith(("(", ",")) else ", "
            end = source.span(call)
            edits.append(source.insert(end.end_line, (end.end_column or 1) - 1, comma + given))
            new = name
        else:
            partial, imports = source.spell("functools.partial")
            new = f"{partial}({name}, {given})"
        if new != nested.name:
            edits.append(source.replace(use, new))
    yield Candidate("hoist_jit", _TITLE, (*edits, *imports), 2)


def _create_in_init(
    source: Source, nested: ast.FunctionDef, around: ast.FunctionDef
) -> Iterator[Candidate]:
    """Move `@jit def force(x)` of a method, which captures `self` alone, to `__init__`."""
    found = source.enclosing(around, ast.ClassDef)
    for init in found.body if found is not None else ():
        if not isinstance(init, ast.FunctionDef) or init.name != "__init__" or init is around:
            continue
        last = init.body[-1]
        step = source.indent(last)
        block = source.block_text([nested], step)
        name = f"self._{nested.name}"
        text = f"{source.code(last)}\n\n{block}\n\n{step}{name} = {nested.name}"
        edits = [source.replace(last, text), source.delete(nested)]
        uses = [u for u in source.uses(nested.name, around) if isinstance(u.ctx, ast.Load)]
        edits += [source.replace(u, name) for u in uses]
        yield Candidate("hoist_jit", f"{_SHORT_TITLE}, for each object", tuple(edits), 2)


def _closing_bracket(text: str) -> int | None:
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth < 0:
            return i
    return None
