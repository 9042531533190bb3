"""Register the user's own classes as pytrees where they cross a transformation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import (
    Source,
    keyword_value,
    last_name,
    parameters,
    tuple_text,
)
from sagax._src.diagnostics.model import Edit

_CLASS_NAMES = re.compile(r"<class '[^']*?(\w+)'>|\bof type (\w+)|\(an? (\w+)\)$")
# annotations of fields that hold no arrays: they are part of the tree structure
_STATIC_ANNOTATION = re.compile(r"\b(str|bool|bytes|Callable|type|Enum|Literal|Path)\b")
_INTEGER_ANNOTATION = re.compile(r"\b(int|tuple\[int)\b")


def register_pytree(case: Case) -> Iterator[Candidate]:
    """Register a class that holds arrays as a pytree."""
    texts = [case.facts.message, *case.facts.data.values()]
    names = {
        name for text in texts for found in _CLASS_NAMES.findall(text) for name in found if name
    }
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            if found.name not in names:
                continue
            decorator = next(
                (d for d in found.decorator_list if _is_dataclass_decorator(source, d)), None
            )
            forms: Iterator[Candidate] = iter(())
            if decorator is not None:
                forms = _register_dataclass(source, found, decorator)
            elif not found.decorator_list:
                forms = _register_plain_class(case, source, found)
            # vmap then maps the arrays of the object, which may be meant for all examples
            mapped = "vmap of" in case.facts.message
            yield from (replace(form, assumes=form.assumes or mapped) for form in forms)


def mark_field_static(case: Case) -> Iterator[Candidate]:
    """Mark a field of a registered class as static, which holds text or a function."""
    path = case.facts.data.get("argument", "") + case.facts.data.get("path", "")
    if "is not a valid JAX type" not in case.facts.message or "." not in path:
        return
    field = path.rpartition(".")[2].split("[")[0]
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            rows = [
                s
                for s in found.body
                if isinstance(s, ast.AnnAssign) and last_name(s.target) == field
            ]
            if any(_is_dataclass_decorator(source, d) for d in found.decorator_list) and rows:
                title = f"mark `{field}` as static: part of the structure, compared by =="
                edits = tuple(_mark_fields_static(source, rows))
                yield Candidate("static_field", title, edits, 1)
        for call in source.nodes(ast.Call):
            fields = keyword_value(call, "data_fields"), keyword_value(call, "meta_fields")
            if isinstance(fields[0], (ast.List, ast.Tuple)) and isinstance(
                fields[1], type(fields[0])
            ):
                yield from _move_to_static(source, field, fields[0], fields[1])  # type: ignore[arg-type]


def _move_to_static(
    source: Source, field: str, data: ast.List | ast.Tuple, static: ast.List | ast.Tuple
) -> Iterator[Candidate]:
    names = [e.value for e in data.elts if isinstance(e, ast.Constant)]
    if field not in names:
        return
    kept = [repr(n) for n in names if n != field]
    given = [*[source.code(e) for e in static.elts], repr(field)]
    texts = [tuple_text(x) if isinstance(data, ast.Tuple) else f"[{', '.join(x)}]" for x in (kept, given)]  # fmt: skip
    edits = [source.replace(n, t.replace("'", '"')) for n, t in zip((data, static), texts, strict=True)]  # fmt: skip
    title = f"make `{field}` a field without arrays: part of the structure"
    yield Candidate("static_field", title, tuple(edits), 1)


def _is_dataclass_decorator(source: Source, decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return source.meaning(function) == "dataclasses.dataclass"


def _register_dataclass(
    source: Source, found: ast.ClassDef, decorator: ast.expr
) -> Iterator[Candidate]:
    register, imports = source.spell("jax.tree_util.register_dataclass")
    text = f"{register}\n{source.indent(found)}@{source.code(decorator)}"
    top = source.replace(decorator, text)
    fields = [s for s in found.body if isinstance(s, ast.AnnAssign)]
    never = [s for s in fields if _STATIC_ANNOTATION.search(source.code(s.annotation))]
    numbers = [s for s in fields if _INTEGER_ANNOTATION.search(source.code(s.annotation))]
    title = f"register `{found.name}` as a pytree: its fields are then arguments"
    choices = [never, [*never, *numbers], []]
    for rank, static in enumerate(choices, 1):
        if static in choices[: rank - 1]:
            continue
        names = ", ".join(f"`{source.code(s.target)}`" for s in static)
        verb = "is" if len(static) == 1 else "are"
        edits = (top, *_mark_fields_static(source, static), *imports)
        exception = f", but for {names}, which {verb} static" if static else ""
        yield Candidate("pytree_register", title + exception, edits, rank)


def _mark_fields_static(source: Source, fields: list[ast.AnnAssign]) -> Iterator[Edit]:
    """Mark fields as static by their metadata."""
    if not fields:
        return
    name, imports = source.spell("dataclasses.field")
    yield from imports
    static = 'metadata={"static": True}'
    for found in fields:
        value = found.value
        if value is None:
            text = f"{source.code(found)} = {name}({static})"
        else:
            text = source.code(found).removesuffix(source.code(value))
            if isinstance(value, ast.Call) and source.meaning(value.func) == "dataclasses.field":
                text += source.call_with(value, static)
            else:
                text += f"{name}(default={source.code(value)}, {static})"
        yield source.replace(found, text)


def _register_plain_class(case: Case, source: Source, found: ast.ClassDef) -> Iterator[Candidate]:
    """Add flatten and unflatten to a class, by the attributes that `__init__` assigns."""
    init = next(
        (n for n in found.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None
    )
    if init is None:
        return
    known = parameters(init)[1:]
    stored = list(_assigned_attributes(init))
    if not stored:
        return
    given = {name: value.id for name, value in stored if isinstance(value, ast.Name)}
    never = _static_parameters(case, found, init)
    static = [
        name
        for name, value in stored
        if given.get(name) in never or isinstance(value, (ast.Constant, ast.JoinedStr, ast.Lambda))
    ]
    names = list(dict.fromkeys(name for name, _ in stored if name not in static))
    register, imports = source.spell("jax.tree_util.register_pytree_node_class")
    step = source.indent(found.body[0])
    inner = step + (step.removeprefix(source.indent(found)) or "    ")
    if not static and given == {name: name for name in known}:
        names = known
        rows = [f"{inner}return cls(*children)"]
    else:
        rows = [
            f"{inner}made = object.__new__(cls)",
            f"{inner}{_tuple_items([f'made.{n}' for n in names])} = children" if names else "",
            f"{inner}{_tuple_items([f'made.{n}' for n in static])} = static" if static else "",
            f"{inner}return made",
        ]
    children, rest = (_tuple_items([f"self.{n}" for n in part]) for part in (names, static))
    methods = "\n".join([
        "", "", f"{step}def tree_flatten(self):",
        f"{inner}return ({children}), {f'({rest})' if static else 'None'}", "",
        f"{step}@classmethod", f"{step}def tree_unflatten(cls, static, children):",
        *filter(None, rows),
    ])  # fmt: skip
    last = found.body[-1]
    end = Edit(source.span(last), source.code(last) + methods)
    top = source.insert_above(found.lineno, f"{source.indent(found)}@{register}")
    title = f"register `{found.name}` as a pytree: its attributes are then arguments"
    yield Candidate("pytree_register", title, (top, end, *imports), 2)


def _tuple_items(items: list[str]) -> str:
    return ", ".join(items) + ("," if len(items) == 1 else "")


def _assigned_attributes(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the attributes that `__init__` assigns, with their values."""
    for node in ast.walk(init):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            pairs = [(target, node.value)] if isinstance(node, ast.Assign) else []
            if isinstance(target, ast.Tuple) and isinstance(pairs[0][1], ast.Tuple):
                pairs = list(zip(target.elts, pairs[0][1].elts, strict=False))
            for part, value in pairs:
                if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self":
                    yield part.attr, value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            if node.value is not None:
                yield node.target.attr, node.value


def _static_parameters(case: Case, found: ast.ClassDef, init: ast.FunctionDef) -> set[str]:
    """Return the parameters of `__init__` that take strings, functions or flags."""
    args = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
    never = {
        a.arg for a in args if a.annotation and _STATIC_ANNOTATION.search(ast.unparse(a.annotation))
    }
    positional = [*init.args.posonlyargs, *init.args.args]
    first = len(positional) - len(init.args.defaults)
    pairs: list[tuple[str, ast.expr | None]] = [
        (a.arg, d) for a, d in zip(positional[first:], init.args.defaults, strict=True)
    ]
    pairs += [(a.arg, d) for a, d in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)]
    known = parameters(init)[1:]
    functions = {f.name for s in case.sources.values() for f in s.nodes(ast.FunctionDef)}
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            if last_name(call.func) == found.name:
                pairs += zip(known, call.args, strict=False)
                pairs += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
    for name, value in pairs:
        text = isinstance(value, ast.Constant) and isinstance(value.value, (str, bool, bytes))
        function = isinstance(value, ast.Lambda) or getattr(value, "id", "") in functions
        if text or function:
            never.add(name)
    return never
