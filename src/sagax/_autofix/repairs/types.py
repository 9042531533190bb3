"""Repair types: dtypes of carries and branches, arguments of grad, matmul operands, precision."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sagax._autofix.repairs.boolean_logic import splice
from sagax._autofix.repairs.case import Candidate, Case, base_name
from sagax._autofix.repairs.dataflow import Made, functions_behind, keys_of, made, returned_by
from sagax._autofix.repairs.origins import arguments_of
from sagax._autofix.repairs.source_file import Function, Source, loads, parameters, stores
from sagax._src.diagnostics.model import Edit

__all__ = [
    "branch_results", "branch_type", "carry_container", "carry_results", "carry_type", "double_where", "enable_x64",
    "float_argument", "growing", "loop_call", "matmul", "results", "scalar_output", "wider", "widest",
]  # fmt: skip

_TYPE = re.compile(r"(bool|u?int\d+|b?float\w*|complex\d+)\[([\d,]*)\]")
_LOOPS = ("jax.lax.scan", "jax.lax.while_loop", "jax.lax.fori_loop")


def _types(text: str) -> tuple[str, str]:
    found = _TYPE.search(text)
    return (found[1], found[2]) if found else ("", "")


def _call_at(source: Source, node: ast.AST, names: tuple[str, ...]) -> ast.Call | None:
    statement = source.statement(node)
    found = source.calls_of(*names, within=statement)
    return found[0] if found else None


def _cast(source: Source, value: ast.expr, dtype: str, numpy: str) -> str:
    """The text of a value with another dtype."""
    text = source.code(value)
    if (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int)
        and not isinstance(value.value, bool)
        and "float" in dtype
    ):
        return f"{float(value.value)}"
    if isinstance(value, ast.Call) and source.meaning(value.func).startswith("jax.numpy."):
        for keyword in value.keywords:
            if keyword.arg == "dtype":
                return splice(source, value, {keyword.value: f"{numpy}.{dtype}"})
        name = source.meaning(value.func).rpartition(".")[2]
        if name in (
            "zeros",
            "ones",
            "full",
            "array",
            "asarray",
            "arange",
            "zeros_like",
            "ones_like",
        ):
            positional = {"zeros": 1, "ones": 1, "array": 1, "asarray": 1, "full": 2}.get(name)
            if positional is not None and len(value.args) > positional:
                return splice(source, value, {value.args[positional]: f"{numpy}.{dtype}"})
            return f"{text[:-1].rstrip().rstrip(',')}, dtype={numpy}.{dtype})"
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "astype"
        and value.args
    ):
        return splice(source, value, {value.args[0]: f"{numpy}.{dtype}"})
    return f"{numpy}.asarray({text}, dtype={numpy}.{dtype})"


def _leaf(source: Source, value: ast.expr, path: str) -> ast.expr | None:
    """The part of a display, or of what makes an object, that a path such as `[0]['w'].x` leads to."""
    for item, attribute in re.findall(r"\[([^\]]+)\]|\.(\w+)", path):
        found = _field(source, value, attribute) if attribute else _item(value, item)
        if found is None:
            return None
        value = found
    return value


def _item(value: ast.expr, key: str) -> ast.expr | None:
    if isinstance(value, (ast.Tuple, ast.List)) and key.isdigit() and int(key) < len(value.elts):
        return value.elts[int(key)]
    if isinstance(value, ast.Dict):
        for name, item in zip(value.keys, value.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key.strip("'\""):
                return item
    return None


def _field(source: Source, value: ast.expr, name: str) -> ast.expr | None:
    """What a field becomes in `State(1, steps=2)`, `state._replace(steps=2)` or `replace(state, steps=2)`."""
    if not isinstance(value, ast.Call):
        return None
    for keyword in value.keywords:
        if keyword.arg == name:
            return keyword.value
    called = getattr(value.func, "id", getattr(value.func, "attr", ""))
    for found in source.nodes(ast.ClassDef):
        if found.name == called:
            fields = [
                s.target.id
                for s in found.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            if name in fields and fields.index(name) < len(value.args):
                return value.args[fields.index(name)]
    return None


def _resolved(source: Source, value: ast.expr) -> ast.expr:
    """The expression behind a name that is assigned once."""
    if isinstance(value, ast.Name):
        scope = source.function(value) or source.tree
        found = source.assigned(value.id, scope)
        if len(found) == 1 and stores(source.statement(found[0])) == [value.id]:
            return found[0]
    return value


def carry_results(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    """What the body of the loop at fault returns for the part of the carry whose type changes."""
    for place, value, keys in _carried(case):
        if isinstance(value, ast.Tuple) and keys[:1] == ("0",) and value.elts:
            value, keys = value.elts[0], keys[1:]
        yield (
            place,
            _leaf(place, value, "".join(f"[{k}]" if k[0] != "." else k for k in keys)) or value,
        )


def _carried(case: Case) -> Iterator[tuple[Source, ast.expr, tuple[str, ...]]]:
    """What the body of the loop at fault returns, with the path to the part that changes its type."""
    found = loop_call(case)
    if found is None:
        return
    where, call = found
    keys = keys_of(_path(case))
    name = where.meaning(call.func).rpartition(".")[2]
    at = _BODY[name]
    if len(call.args) <= at:
        return
    for place, value in results(case, where, call.args[at]):
        yield place, value, ("0", *keys) if name == "scan" else keys


def _path(case: Case) -> str:
    data = case.facts.data
    return re.sub(r"^\w+", "", data.get("argument", "") + data.get("path", ""))


_BODY = {"scan": 0, "while_loop": 1, "fori_loop": 2}
_INIT = {"scan": 1, "while_loop": 2, "fori_loop": 3}


def carry_container(case: Case) -> Iterator[Candidate]:
    """A carry that begins as a tuple and comes back as a list, or the other way round."""
    found = loop_call(case) if "same pytree structure" in case.facts.message else None
    if found is None:
        return
    where, call = found
    name = where.meaning(call.func).rpartition(".")[2]
    at = {"scan": (0, 1), "while_loop": (1, 2), "fori_loop": (2, 3)}[name]
    if len(call.args) <= at[1]:
        return
    wanted = _resolved(where, call.args[at[1]])
    for place, value in results(case, where, call.args[at[0]]):
        if name == "scan" and isinstance(value, ast.Tuple) and value.elts:
            value = value.elts[0]
        if isinstance(value, (ast.Tuple, ast.List)) and type(value) is not type(wanted):
            items = ", ".join(place.code(e) for e in value.elts)
            pair = "[]" if isinstance(wanted, ast.List) else "()"
            comma = "," if pair == "()" and len(value.elts) == 1 else ""
            text = f"{pair[0]}{items}{comma}{pair[1]}"
            title = f"return a {'list' if pair == '[]' else 'tuple'}, as the loop begins with"
            yield Candidate("match_structure", title, (place.replace(value, text),), 1)


def loop_call(case: Case) -> tuple[Source, ast.Call] | None:
    """The call of scan, while_loop or fori_loop at fault."""
    return _innermost_call(case, _LOOPS)


def _innermost_call(case: Case, names: tuple[str, ...]) -> tuple[Source, ast.Call] | None:
    """The call of one of these functions that the error came out of, or the only one that there is."""
    for span in reversed(case.facts.frames):
        source = case.sources.get(span.file)
        node = source.at(span) if source is not None else None
        if source is not None and isinstance(node, ast.Call) and source.meaning(node.func) in names:
            return source, node
    source, node = case.source, case.node
    if source is not None and node is not None:
        call = _call_at(source, node, names)
        if call is not None:
            return source, call
    every = [(s, c) for s in case.sources.values() for c in s.calls_of(*names)]
    return every[0] if len(every) == 1 else None


def carry_type(case: Case) -> Iterator[Candidate]:
    """A carry whose type changes: begin with the type that the body returns, or cast what it returns."""
    data = case.facts.data
    before, after = _types(data.get("expected", "")), _types(data.get("got", ""))
    found = loop_call(case)
    if found is None or not before[0]:
        return
    where, call = found
    at = _INIT[where.meaning(call.func).rpartition(".")[2]]
    init = call.args[at] if len(call.args) > at else None
    for keyword in call.keywords:
        if keyword.arg in ("init", "init_val"):
            init = keyword.value
    if init is None:
        return
    shape = f"({after[1]},)" if after[1] and "," not in after[1] else f"({after[1]})"
    keys = keys_of(_path(case))
    places = list(dict.fromkeys(made(case, where, init, keys)))
    if before[0] != after[0]:
        title = f"begin with {after[0]}, the dtype that the body returns"
        for place in places:
            yield from _typed(place, after[0], title, 1)
        yield from _typed(Made(where, init, keys), after[0], title, 3)
        title = f"return {before[0]} from the body, the dtype that the loop begins with"
        for source, value, path in _carried(case):
            for place in dict.fromkeys(made(case, source, value, path)):
                yield from _typed(place, before[0], title, 3)
    elif before[1] != after[1]:
        title = f"begin with the shape that the body returns, {shape}"
        for place in places:
            if not place.rest:
                numpy, imports = place.source.spell("jax.numpy")
                text = f"{numpy}.broadcast_to({place.source.code(place.node)}, {shape})"
                edits = (place.source.replace(place.node, text), *imports)
                yield Candidate("match_shape", title, edits, 4)


def _typed(place: Made, dtype: str, title: str, rank: int) -> Iterator[Candidate]:
    """A value, or the part of it that its `rest` leads to, with another dtype."""
    source, node = place.source, place.node
    numpy, imports = source.spell("jax.numpy")
    if not place.rest:
        text = _cast(source, node, dtype, numpy)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        changed = _with_part(source, source.code(node), place.rest, f"{numpy}.{dtype}", numpy)
        if changed is None:
            return
        text, more = changed
        imports = [*imports, *more]
    else:
        return
    yield Candidate("match_dtype", title, (source.replace(node, text), *imports), rank)


def _with_part(
    source: Source, text: str, keys: tuple[str, ...], dtype: str, numpy: str
) -> tuple[str, list[Edit]] | None:
    """The text of a copy of a container in which one part has another dtype."""
    if not keys:
        return f"{numpy}.asarray({text}, dtype={dtype})", []
    key = keys[0]
    part = f"{text}{key}" if key[0] == "." else f"{text}[{key}]"
    inner = _with_part(source, part, keys[1:], dtype, numpy)
    if inner is None or key.isdigit():
        return None
    changed, imports = inner
    if key[0] != ".":
        return f"{{**{text}, {key}: {changed}}}", imports
    tuples = [
        c
        for c in source.nodes(ast.ClassDef)
        if any("NamedTuple" in source.code(b) for b in c.bases)
    ]
    if tuples:
        return f"{text}._replace({key[1:]}={changed})", imports
    copied, more = source.spell("dataclasses.replace")
    return f"{copied}({text}, {key[1:]}={changed})", [*imports, *more]


def results(case: Case, source: Source, function: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
    """The expressions that a function, given by its name, as a method, a lambda or what makes one, returns."""
    named = re.match(r"\w+ of ([\w.]+):", case.facts.message)
    found = list(functions_behind(case, source, function))
    if named and len(found) != 1:
        found = [f for f in found if f[0].qualified(f[1]) == named[1]] or found
    if not found and named:
        found = list(case.definition(named[1]))
    for place, definition in found[:1]:
        for value in returned_by(place, definition):
            yield place, value


_CHOICES = ("jax.lax.cond", "jax.lax.switch")


def _branches(case: Case) -> list[list[tuple[Source, ast.expr]]]:
    """What each branch of the cond or switch at fault returns."""
    found = _innermost_call(case, _CHOICES)
    if found is None or len(found[1].args) < 2:
        return []
    source, call = found
    functions: list[tuple[Source, Function]] = []
    if source.meaning(call.func).endswith("switch"):
        for place in made(case, source, call.args[1]):
            if isinstance(place.node, (ast.List, ast.Tuple)):
                for branch in place.node.elts:
                    functions += list(functions_behind(case, place.source, branch))[:1]
            elif isinstance(place.node, (ast.ListComp, ast.GeneratorExp)):
                functions += functions_behind(case, place.source, place.node.elt)
    else:
        for branch in call.args[1:3]:
            functions += list(functions_behind(case, source, branch))[:1]
    return [[(place, value) for value in returned_by(place, f)] for place, f in functions]


def branch_results(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    """What the branches of cond or switch after the first return."""
    for found in _branches(case)[1:]:
        yield from found


def branch_type(case: Case) -> Iterator[Candidate]:
    """Branches of cond or switch whose results differ in container, dtype or shape."""
    message = " ".join([case.facts.message, *case.facts.data.values()])
    returned = _branches(case) if "branch" in message else []
    if len(returned) < 2 or any(not r for r in returned):
        return
    first_place, first = returned[0][0]
    for (place, value), *_ in returned[1:]:
        if (
            isinstance(first, (ast.Tuple, ast.List))
            and isinstance(value, (ast.Tuple, ast.List))
            and type(first) is not type(value)
        ):
            for here, display, other in ((place, value, first), (first_place, first, value)):
                items = ", ".join(here.code(e) for e in display.elts)
                tuple_wanted = isinstance(other, ast.Tuple)
                comma = "," if tuple_wanted and len(display.elts) == 1 else ""
                text = f"({items}{comma})" if tuple_wanted else f"[{items}]"
                title = f"return a {'tuple' if tuple_wanted else 'list'} from both branches"
                rank = 1 if display is value else 2
                yield Candidate("match_dtype", title, (here.replace(display, text),), rank)
            return
    types = [(m.group(1), m.group(2)) for m in _TYPE.finditer(message)]
    wide = widest([dtype for dtype, _ in types])
    if not wide:
        return
    path = _path(case)
    if not path and (found_path := re.search(r"output((?:\[[^\]]+\]|\.\w+)+)", message)):
        path = found_path[1]
    keys = keys_of(path)
    places = dict.fromkeys(
        m for each in returned for place, value in each for m in made(case, place, value, keys)
    )
    shapes = {shape for _, shape in types}
    if len({dtype for dtype, _ in types}) > 1:
        title = f"return {wide} from all branches"
        each = [c for place in places for c in _typed(place, wide, title, 2)]
        yield from (replace(c, rank=2 + i) for i, c in enumerate(each[:3]))
        merged = {(e.span, e.text): e for c in each for e in c.edits}
        yield Candidate("match_dtype", title, tuple(merged.values()), 4)
    elif len(shapes) > 1:
        largest = max(shapes, key=lambda shape: (shape.count(",") + bool(shape), shape))
        text = f"({largest},)" if largest and "," not in largest else f"({largest})"
        title = f"return the shape {text} from all branches"
        for place in places:
            if not place.rest:
                source = place.source
                numpy, imports = source.spell("jax.numpy")
                new = f"{numpy}.broadcast_to({source.code(place.node)}, {text})"
                edits = (source.replace(place.node, new), *imports)
                yield Candidate("match_shape", title, edits, 3)


_ORDER = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def widest(names: list[str]) -> str:
    """Of the names of dtypes, the one that holds the values of all; "" without any."""
    known = [n for n in names if n in _ORDER]
    return max(known, key=_ORDER.index) if known else ""


# --- grad ------------------------------------------------------------------------------------


def float_argument(case: Case) -> Iterator[Candidate]:
    """grad of an integer argument -> the argument as floating point numbers."""
    source, node = case.source, case.node
    name = base_name(case.facts.data.get("argument", ""))
    if source is None or node is None or not name or "NotAnArrayError" in case.facts.classes:
        return
    numpy, imports = source.spell("jax.numpy")
    statement = source.statement(node)
    calls = [c for c in source.nodes(ast.Call, statement) if c.args]
    calls.sort(key=lambda c: c is not node)
    at = _position(case, name)
    for call in calls:
        called = source.meaning(call.func)
        inner = isinstance(call.func, (ast.Call, ast.Name))
        if called.startswith("jax.") or not inner or len(call.args) <= at:
            continue
        if isinstance(call.func, ast.Name) and call.func.id in (
            "print",
            "float",
            "round",
            "int",
            "list",
            "range",
            "len",
        ):
            continue
        value = call.args[at]
        known = _resolved(source, value)
        if path := case.facts.data["argument"].removeprefix(name):
            yield from _float_leaf(case, source, value, path, numpy, imports)
            return
        if isinstance(value, ast.Constant):
            text = _cast(source, value, "float32", numpy)
        elif isinstance(known, ast.Call):
            text = f"{source.code(value)}.astype({numpy}.float32)"
        else:
            text = f"{numpy}.asarray({source.code(value)}, dtype={numpy}.float32)"
        title = f"differentiate at floating point numbers: cast `{name}`"
        yield Candidate("float_input", title, (source.replace(value, text), *imports), 1)
        if not isinstance(value, (ast.Constant, ast.Name)):
            continue
        if isinstance(known, ast.Constant) or (
            isinstance(known, ast.Call) and source.meaning(known.func).startswith("jax.numpy.")
        ):
            text = _cast(source, known, "float32", numpy)
            yield Candidate(
                "float_input",
                f"make `{name}` floating point where it is made",
                (source.replace(known, text), *imports),
                2,
            )


def _float_leaf(
    case: Case, source: Source, value: ast.expr, path: str, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """One part of an argument as floating point numbers, where it is made; or else all parts."""
    title = f"make {source.code(value)}{path} floating point where it is made"
    for place in dict.fromkeys(made(case, source, value, keys_of(path))):
        for candidate in _typed(place, "float32", title, 1):
            yield replace(candidate, kind="float_input")
    tree_map, more = source.spell("jax.tree.map")
    text = f"{tree_map}(lambda leaf: {numpy}.asarray(leaf, dtype={numpy}.float32), {source.code(value)})"
    title = f"differentiate at floating point numbers: cast all of `{source.code(value)}`"
    edits = (source.replace(value, text), *imports, *more)
    yield Candidate("float_input", title, edits, 2)


def _position(case: Case, name: str) -> int:
    """Which argument of the function that is differentiated has a name."""
    for source in case.sources.values():
        for call in source.calls_of("jax.grad", "jax.value_and_grad", "jax.jacrev", "jax.jacfwd"):
            for _, definition in functions_behind(case, source, call.args[0]) if call.args else ():
                known = [n for n in parameters(definition) if n != "self"]
                if name in known:
                    return known.index(name)
    for function, _ in reversed(case.facts.transforms):
        for _, definition in case.definition(function):
            if name in parameters(definition):
                return parameters(definition).index(name)
    for source in case.sources.values():
        for definition in source.nodes((ast.FunctionDef, ast.Lambda)):  # type: ignore[arg-type]
            if name in parameters(definition):
                return parameters(definition).index(name)
    return 0


def scalar_output(case: Case) -> Iterator[Candidate]:
    """grad of a function that returns an array -> the sum of it, or the mean."""
    name = re.split(r"\s", case.facts.data.get("expected", ""))[0]
    if not name or "PyTreeDef" in case.facts.message:
        return
    places: list[tuple[Source, ast.expr]] = []
    for source, function in case.definition(name):
        for node in source.nodes(ast.Return, function):
            if node.value is not None and source.function(node) is function:
                places.append((source, node.value))
        break
    if not places and case.source is not None:
        for call in case.source.calls_of("jax.grad", "jax.value_and_grad"):
            if call.args and isinstance(call.args[0], ast.Lambda):
                places.append((case.source, call.args[0].body))
    for reduce, rank in (("sum", 1), ("mean", 2)):
        edits: list[Edit] = []
        imports: list[Edit] = []
        for source, value in places:
            numpy, imports = source.spell("jax.numpy")
            edits.append(source.replace(value, f"{numpy}.{reduce}({source.code(value)})"))
        if edits:
            title = f"reduce what `{name}` returns with {reduce}: a gradient needs one number"
            yield Candidate("scalar_output", title, (*edits, *imports), rank, rank == 1)


# --- precision ----------------------------------------------------------------------------------


def enable_x64(case: Case) -> Iterator[Candidate]:
    """64-bit types: turn them on, or ask for 32 bits."""
    source, node = case.source, case.node
    if source is None:
        return
    main = next(iter(case.sources.values()))
    update, imports = main.spell("jax.config.update")
    edit = main.import_line(f'\n{update}("jax_enable_x64", True)')
    title = "turn 64-bit types on, before anything is computed"
    yield Candidate("enable_x64", title, (edit, *imports), 1)
    if node is None:
        return
    edits: list[Edit] = []
    for found in ast.walk(source.statement(node)):
        if isinstance(found, ast.Attribute) and found.attr in (
            "float64",
            "int64",
            "uint64",
            "complex128",
        ):
            narrow = {
                "float64": "float32",
                "int64": "int32",
                "uint64": "uint32",
                "complex128": "complex64",
            }
            edits.append(source.replace(found, f"{source.code(found.value)}.{narrow[found.attr]}"))
    if edits:
        yield Candidate("narrow_dtype", "ask for 32 bits, which is what you get", tuple(edits), 2)


def wider(case: Case) -> Iterator[Candidate]:
    """Integers that overflow -> of 32 bits where they fit, else floating point numbers."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    numpy, imports = source.spell("jax.numpy")
    said = re.match(r"(\S+) does not fit (\w+)", case.facts.message)
    fits = said is not None and not said[2].endswith(("32", "64")) and abs(float(said[1])) < 2**31
    dtypes = ("int32", "float32") if fits else ("float32",)
    function = source.function(node)
    statement = source.statement(node)
    places: list[tuple[str, list[Edit]]] = []
    if function is not None and not isinstance(function, ast.Lambda):
        known = parameters(function)
        read = [n for n in arguments_of(source, node) if n in known and n != "self"]
        names = [d for d in case.facts.depends if d in known and d != "self"] or read
        if names:
            first = next(
                (
                    s
                    for s in function.body
                    if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
                ),
                statement,
            )
            indent = source.indent(first)
            lines = "\n".join(f"{indent}{n} = {n}.astype(DTYPE)" for n in names)
            edit = source.insert_above(source.first_line(first), lines)
            places.append((f"cast {', '.join(f'`{n}`' for n in names)}", [edit]))
    for call in source.nodes(ast.Call, statement):
        full = source.meaning(call.func)
        if full.rpartition(".")[2] in _REDUCING and full.startswith("jax.numpy."):
            texts: dict[ast.AST, str] = {
                a: f"{_operand(source, a)}.astype(DTYPE)"
                for a in call.args[: 2 if full.endswith("dot") else 1]
            }
            edit = source.replace(call, splice(source, call, texts))
            places.append(("where they are reduced", [edit]))
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _REDUCING and not full:
            text = f"{_operand(source, call.func.value)}.astype(DTYPE)"
            places.append(("where they are reduced", [source.replace(call.func.value, text)]))
    operands = [
        n
        for n in ast.walk(node if isinstance(node, ast.expr) else statement)
        if isinstance(n, ast.BinOp)
        and isinstance(n.op, (ast.Mult, ast.Add, ast.Pow, ast.Sub, ast.LShift))
    ]
    if operands:
        left = operands[-1].left
        text = f"{numpy}.asarray({source.code(left)}, dtype=DTYPE)"
        places.append((f"cast `{source.code(left)}`", [source.replace(left, text)]))
    for i, dtype in enumerate(dtypes):
        kind = "floating point numbers" if dtype == "float32" else "integers of 32 bits"
        for rank, (where, edits) in enumerate(places, 1):
            made = [replace(e, text=e.text.replace("DTYPE", f"{numpy}.{dtype}")) for e in edits]
            title = f"compute with {kind}: {where}"
            yield Candidate("wider_dtype", title, (*made, *imports), rank + 3 * i)


_REDUCING = ("sum", "prod", "cumsum", "dot", "cumprod", "matmul")


def _operand(source: Source, node: ast.expr) -> str:
    simple = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return source.code(node) if simple else f"({source.code(node)})"


# --- nan ---------------------------------------------------------------------------------------


def double_where(case: Case) -> Iterator[Candidate]:
    """`where(c, f(x), y)` whose unused side is not differentiable -> f of a harmless x there."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    function = source.function(node)
    if function is None:
        return
    numpy, imports = source.spell("jax.numpy")
    for call in source.calls_of("jax.numpy.where", "jax.lax.select", within=function):
        if len(call.args) != 3:
            continue
        for side, good in ((call.args[1], True), (call.args[2], False)):
            for operand in _singular(source, side, node, function):
                test = _test_at(source, call.args[0], operand)
                if test is None:
                    continue
                name = source.code(operand)
                title = f"give the side that is not used a harmless `{name}`: its derivative is then finite"
                for harmless in ("1.0", "0.5"):
                    sides = f"{name}, {harmless}" if good else f"{harmless}, {name}"
                    edit = source.replace(operand, f"{numpy}.where({test}, {sides})")
                    rank = 1 if harmless == "1.0" else 2
                    yield Candidate("double_where", title, (edit, *imports), rank)
                    again = [
                        source.replace(n, f"{numpy}.where({test}, {sides})")
                        for n in ast.walk(source.statement(operand))
                        if isinstance(n, ast.expr)
                        and _is_load(n)
                        and source.code(n) == name
                        and not any(n in ast.walk(part) for part in call.args[:1])
                    ]
                    if len(again) > 1 and not isinstance(operand, ast.Call):
                        yield Candidate("double_where", title, (*again, *imports), rank)
    yield from _guarded_norm(source, node)


def _is_load(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _singular(
    source: Source, side: ast.expr, node: ast.AST, function: ast.AST
) -> Iterator[ast.expr]:
    """The operands of functions whose derivative may be infinite, in a side of `where` or what its names are
    assigned; those of the expression at fault first.
    """
    places: list[ast.AST] = [side]
    seen: set[str] = set()
    todo = loads(side)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for value in source.assigned(name, function):
                places.append(value)
                todo += loads(value)
    inside = set(ast.walk(source.statement(node) if isinstance(node, ast.stmt) else node))
    found: dict[ast.expr, bool] = {}
    for place in places:
        for part in ast.walk(place):
            operands: list[ast.expr] = []
            if isinstance(part, ast.Call):
                name = source.meaning(part.func).rpartition(".")[2] or getattr(
                    part.func, "attr", ""
                )
                if name in _SINGULAR:
                    operands = part.args[-1 if name.startswith("divide") else 0 :][:2]
                    operands = operands[-1:] if name.startswith("divide") else operands[:1]
                    operands += part.args[1:2] if name in ("arctan2", "power") else []
            elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                operands = [part.right]
            elif isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Pow, ast.Mod)):
                operands = [part.left]
            for operand in operands:
                if not isinstance(operand, ast.Constant):
                    near = part in inside or any(n is node for n in ast.walk(part))
                    found[operand] = found.get(operand, False) or near
    return iter(sorted(found, key=lambda operand: not found[operand]))


_SINGULAR = {"sqrt", "log", "log2", "log10", "log1p", "power", "float_power", "divide", "true_divide", "reciprocal",
             "arccos", "arcsin", "arctanh", "arccosh", "norm", "cbrt", "rsqrt", "arctan2", "logit", "erfinv",
             "xlogy", "rel_entr", "entr", "digamma"}  # fmt: skip


def _test_at(source: Source, test: ast.expr, where: ast.expr) -> str | None:
    """The test of a `where`, as it may be written at an earlier place; None if it cannot be computed there."""
    function = source.function(where)
    if function is None:
        return None
    statement = source.statement(where)
    known = set(parameters(function))
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node.lineno < statement.lineno:
            known.update(stores(node))
    local = set(stores(function.body)) if not isinstance(function, ast.Lambda) else set[str]()
    late = [n for n in ast.walk(test) if isinstance(n, ast.Name) and n.id in local - known]
    if not late:
        return source.code(test)
    texts: dict[ast.AST, str] = {}
    for name in late:
        values = source.assigned(name.id, function)
        if len(values) != 1:
            return None
        value = values[0]
        if value is where or any(n is where for n in ast.walk(value)):
            # `r = sqrt(s); where(r > 0, r, 0)`: r is positive where s is
            alike = (
                isinstance(value, ast.Call)
                and source.meaning(value.func).rpartition(".")[2] == "sqrt"
            )
            if not alike or value.args[:1] != [where]:  # type: ignore[attr-defined]
                return None
            texts[name] = _grouped(source, where)
        else:
            inner = _test_at(source, value, where)
            if inner is None:
                return None
            texts[name] = inner if isinstance(value, (ast.Name, ast.Call)) else f"({inner})"
    return splice(source, test, texts)


def _grouped(source: Source, node: ast.expr) -> str:
    simple = isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript))
    return source.code(node) if simple else f"({source.code(node)})"


def _guarded_norm(source: Source, node: ast.AST) -> Iterator[Candidate]:
    """`sqrt(s)` of a sum that may be 0 -> with a tiny number added."""
    for call in source.nodes(ast.Call, source.statement(node)):
        full = source.meaning(call.func)
        if (
            full in ("jax.numpy.sqrt", "jax.numpy.log", "jax.numpy.linalg.norm")
            and len(call.args) == 1
        ):
            inner = source.code(call.args[0])
            if full.endswith("norm"):
                numpy, imports = source.spell("jax.numpy")
                text = f"{numpy}.sqrt({numpy}.sum({inner} ** 2) + 1e-12)"
                edits = (source.replace(call, text), *imports)
            else:
                edits = (source.replace(call.args[0], f"{inner} + 1e-12"),)
            yield Candidate(
                "epsilon", "keep away from 0, where the derivative is infinite", edits, 4, False
            )


# --- shapes ------------------------------------------------------------------------------------


def matmul(case: Case) -> Iterator[Candidate]:
    """Contracted dimensions that differ: transpose or exchange the operands."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    if not re.search(r"dot|matmul|contract", case.facts.message):
        return
    pairs: list[tuple[ast.AST, ast.expr, ast.expr]] = []
    statement = source.statement(node)
    for found in ast.walk(node if isinstance(node, ast.expr) else statement):
        if isinstance(found, ast.BinOp) and isinstance(found.op, ast.MatMult):
            pairs.append((found, found.left, found.right))
        elif (
            isinstance(found, ast.Call)
            and source.meaning(found.func) in ("jax.numpy.dot", "jax.numpy.matmul")
            and len(found.args) == 2
        ):
            pairs.append((found, found.args[0], found.args[1]))
    for whole, left, right in pairs:

        def transposed(part: ast.expr) -> str:
            text = source.code(part)
            return (
                f"{text}.T"
                if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
                else f"({text}).T"
            )

        a, b = source.code(left), source.code(right)
        for title, texts in (
            (f"transpose `{b}`", {right: transposed(right)}),
            (f"transpose `{a}`", {left: transposed(left)}),
            ("exchange the operands", {left: b, right: a}),
        ):
            edit = source.replace(whole, splice(source, whole, texts))
            yield Candidate("reshape", title, (edit,), 2, False)


def growing(case: Case) -> Iterator[Candidate]:
    """An array that grows in a loop -> one of the final size, filled with .at[i].set."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    found = loop_call(case)
    if found is None:
        return
    where, call = found
    name = where.meaning(call.func).rpartition(".")[2]
    body = call.args[{"scan": 0, "while_loop": 1, "fori_loop": 2}[name]]
    init = call.args[{"scan": 1, "while_loop": 2, "fori_loop": 3}[name]]
    numpy, imports = where.spell("jax.numpy")
    for place, value in results(case, where, body):
        for append in place.calls_of("jax.numpy.append", "jax.numpy.concatenate", within=value):
            if len(append.args) != 2 or not place.meaning(append.func).endswith("append"):
                continue
            counter = _counter(place, value, body, case)
            path = _index_of(value, append)
            start = _leaf(where, _resolved(where, init), path)
            if counter is None or start is None:
                continue
            sizes = [m.shape[0] for m in case.measure(place, append) if m.shape]
            if not sizes:
                continue
            array, item = place.code(append.args[0]), place.code(append.args[1])
            dtype = _dtype_option(where, start)
            edits = (
                place.replace(append, f"{array}.at[{counter}].set({item})"),
                where.replace(start, f"{numpy}.zeros({max(sizes)}{dtype})"),
                *imports,
            )
            title = f"make the array as large as it gets ({max(sizes)} for these data) and fill it"
            yield Candidate("preallocate", title, edits, 1)


def _dtype_option(source: Source, value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "dtype":
                return f", dtype={source.code(keyword.value)}"
    return ""


def _index_of(value: ast.expr, part: ast.AST) -> str:
    if isinstance(value, ast.Tuple):
        for i, item in enumerate(value.elts):
            if any(n is part for n in ast.walk(item)):
                return f"[{i}]"
    return ""


def _counter(source: Source, value: ast.expr, body: ast.expr, case: Case) -> str | None:
    """The carried number that grows by one each round, or fori_loop's index."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if isinstance(node.right, ast.Constant) and node.right.value == 1:
                return source.code(node.left)
    function = source.function(value)
    if function is not None and len(parameters(function)) == 2:
        return parameters(function)[0]
    return None
