"""Types: dtypes of carries and branches, arguments of grad, classes, devices, precision."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._src.diagnostics.fixes.case import Candidate, Case, base_name
from sagax._src.diagnostics.fixes.logic import splice
from sagax._src.diagnostics.fixes.source import Source, loads, parameters, stores
from sagax._src.diagnostics.model import Edit

__all__ = [
    "branch_results", "branch_type", "callback_shape", "carry_container", "carry_results", "carry_type", "double_where", "enable_x64", "float_argument", "growing", "loop_call", "matmul",
    "on_one_device", "registered", "results", "scalar_output", "wider",
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
    for made in source.nodes(ast.ClassDef):
        if made.name == called:
            fields = [
                s.target.id
                for s in made.body
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
    data = case.facts.data
    path = re.sub(r"^\w+", "", data.get("argument", "") + data.get("path", ""))
    found = loop_call(case)
    if found is None:
        return
    where, call = found
    name = where.meaning(call.func).rpartition(".")[2]
    at = {"scan": 0, "while_loop": 1, "fori_loop": 2}[name]
    if len(call.args) <= at:
        return
    for place, value in results(case, where, call.args[at]):
        if name == "scan" and isinstance(value, ast.Tuple) and value.elts:
            value = value.elts[0]
        yield place, _leaf(place, value, path) or value


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
    source, node = case.source, case.node
    if source is not None and node is not None:
        call = _call_at(source, node, _LOOPS)
        if call is not None:
            return source, call
    every = [(s, c) for s in case.sources.values() for c in s.calls_of(*_LOOPS)]
    return every[0] if len(every) == 1 else None


def carry_type(case: Case) -> Iterator[Candidate]:
    """A carry whose type changes: begin with the type that the body returns, or cast what it returns."""
    source, node, data = case.source, case.node, case.facts.data
    if source is None or node is None:
        return
    before, after = _types(data.get("expected", "")), _types(data.get("got", ""))
    path = re.sub(r"^\w+", "", data.get("argument", "") + data.get("path", ""))
    found = loop_call(case)
    if found is None:
        return
    where, call = found
    name = where.meaning(call.func).rpartition(".")[2]
    at = {"scan": 1, "while_loop": 2, "fori_loop": 3}[name]
    numpy, imports = where.spell("jax.numpy")
    init = call.args[at] if len(call.args) > at else None
    for keyword in call.keywords:
        if keyword.arg in ("init", "init_val"):
            init = keyword.value
    if init is None or not before[0]:
        return
    leaf = _leaf(where, _resolved(where, init), path)
    if leaf is None:
        leaf = _leaf(where, init, path)
    if before[0] != after[0] and leaf is not None:
        target = (
            leaf if leaf is not init or not isinstance(init, ast.Name) else _resolved(where, init)
        )
        if leaf is init and isinstance(init, ast.Name):
            target = _resolved(where, init)
        inner = _resolved(where, target)
        text = _cast(where, inner, after[0], numpy)
        title = f"begin with {after[0]}, the dtype that the body returns"
        yield Candidate("match_dtype", title, (where.replace(inner, text), *imports), 1)
        if inner is not init and isinstance(init, ast.Name):
            text = f"{numpy}.asarray({init.id}, dtype={numpy}.{after[0]})"
            yield Candidate("match_dtype", title, (where.replace(init, text), *imports), 2)
    body = call.args[{"scan": 0, "while_loop": 1, "fori_loop": 2}[name]]
    yield from _cast_result(case, where, body, path, before, after, name)
    if before[1] != after[1] and leaf is not None and before[0] == after[0]:
        shape = f"({after[1]},)" if after[1] and "," not in after[1] else f"({after[1]})"
        inner = _resolved(where, leaf)
        text = f"{numpy}.broadcast_to({where.code(inner)}, {shape})"
        title = f"begin with the shape that the body returns, {shape}"
        yield Candidate("match_shape", title, (where.replace(inner, text), *imports), 4)


def results(case: Case, source: Source, function: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
    """The expressions that a function, given by its name or as a lambda, returns."""
    if isinstance(function, ast.Lambda):
        yield source, function.body
    name = getattr(function, "id", getattr(function, "attr", ""))
    for place, definition in case.definition(name) if name else ():
        for node in place.nodes(ast.Return, definition):
            if node.value is not None and place.function(node) is definition:
                yield place, node.value
        return


def _cast_result(
    case: Case,
    source: Source,
    body: ast.expr,
    path: str,
    before: tuple[str, str],
    after: tuple[str, str],
    name: str,
) -> Iterator[Candidate]:
    if before[0] == after[0]:
        return
    for place, value in results(case, source, body):
        numpy, imports = place.spell("jax.numpy")
        if name == "scan":
            if not isinstance(value, ast.Tuple) or not value.elts:
                continue
            value = value.elts[0]
        leaf = _leaf(place, _resolved(place, value), path) or _leaf(place, value, path)
        if leaf is None:
            continue
        text = _cast(place, leaf, before[0], numpy)
        title = f"return {before[0]} from the body, the dtype that the loop begins with"
        yield Candidate("match_dtype", title, (place.replace(leaf, text), *imports), 3)


def branch_results(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    """What the branches of cond or switch after the first return."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    call = _call_at(source, node, ("jax.lax.cond", "jax.lax.switch"))
    if call is None or len(call.args) < 3:
        return
    branches = call.args[1:3]
    if source.meaning(call.func).endswith("switch"):
        if not isinstance(call.args[1], (ast.List, ast.Tuple)):
            return
        branches = call.args[1].elts
    for branch in branches[1:]:
        yield from results(case, source, branch)


def branch_type(case: Case) -> Iterator[Candidate]:
    """Branches of cond or switch whose results differ in container or dtype."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    call = _call_at(source, node, ("jax.lax.cond", "jax.lax.switch"))
    where = source
    if call is None:
        for other in case.sources.values():
            found = other.calls_of("jax.lax.cond", "jax.lax.switch")
            if len(found) == 1:
                where, call = other, found[0]
    if call is None:
        return
    source = where
    branches = call.args[1:3]
    if source.meaning(call.func).endswith("switch") and isinstance(
        call.args[1], (ast.List, ast.Tuple)
    ):
        branches = call.args[1].elts
    returned = [list(results(case, source, b)) for b in branches]
    if any(not r for r in returned):
        return
    first_place, first = returned[0][0]
    numpy, imports = first_place.spell("jax.numpy")
    message = " ".join([case.facts.message, *case.facts.data.values()])
    found = [m.group(1) for m in _TYPE.finditer(message)]
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
                yield Candidate(
                    "match_dtype",
                    title,
                    (here.replace(display, text),),
                    1 if here is place and display is value else 2,
                )
            return
    wide = _widest(found)
    if not wide:
        return
    path = re.sub(
        r"^\w+", "", case.facts.data.get("argument", "") + case.facts.data.get("path", "")
    )
    paths = [path] if path else [""]
    if not path and (found_path := re.search(r"output((?:\[[^\]]+\])+)", message)):
        paths = [found_path[1]]
    for path in paths:
        edits: list[Edit] = []
        for found_there in returned:
            for place, value in found_there:
                leaf = _leaf(place, value, path)
                if leaf is None and isinstance(value, (ast.Tuple, ast.List)):
                    continue
                leaf = leaf or value
                edits.append(place.replace(leaf, _cast(place, leaf, wide, numpy)))
        if edits:
            title = f"return {wide} from all branches"
            for i, edit in enumerate(edits):
                yield Candidate("match_dtype", title, (edit, *imports), 2 + i)
            yield Candidate("match_dtype", title, (*edits, *imports), 4)


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


def _widest(names: list[str]) -> str:
    known = [n for n in names if n in _ORDER]
    return max(known, key=_ORDER.index) if known else ""


# --- grad ------------------------------------------------------------------------------------


def float_argument(case: Case) -> Iterator[Candidate]:
    """grad of an integer argument -> the argument as floating point numbers."""
    source, node = case.source, case.node
    name = base_name(case.facts.data.get("argument", ""))
    if source is None or node is None or not name:
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
            yield from _float_leaf(source, value, known, path, numpy, imports)
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
    source: Source, value: ast.expr, known: ast.expr, path: str, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """One part of an argument as floating point numbers, where it is made; or else all parts."""
    leaf = _leaf(source, known, path)
    if leaf is not None:
        text = _cast(source, _resolved(source, leaf), "float32", numpy)
        title = f"make {source.code(value)}{path} floating point where it is made"
        where = _resolved(source, leaf)
        yield Candidate("float_input", title, (source.replace(where, text), *imports), 1)
    tree_map, more = source.spell("jax.tree.map")
    text = f"{tree_map}(lambda leaf: {numpy}.asarray(leaf, dtype={numpy}.float32), {source.code(value)})"
    title = f"differentiate at floating point numbers: cast all of `{source.code(value)}`"
    edits = (source.replace(value, text), *imports, *more)
    yield Candidate("float_input", title, edits, 2)


def _position(case: Case, name: str) -> int:
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


# --- classes ---------------------------------------------------------------------------------


def registered(case: Case) -> Iterator[Candidate]:
    """A dataclass that holds arrays -> registered as a pytree."""
    names = re.findall(r"<class '[^']*?(\w+)'>", case.facts.message)
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            if found.name not in names:
                continue
            register, imports = source.spell("jax.tree_util.register_dataclass")
            for decorator in found.decorator_list:
                what = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(what) == "dataclasses.dataclass":
                    edit = source.replace(
                        decorator, f"{register}\n{source.indent(found)}@{source.code(decorator)}"
                    )
                    title = f"register `{found.name}` as a pytree: its fields are then arguments"
                    yield Candidate("pytree_register", title, (edit, *imports), 1)
            if not found.decorator_list:
                yield from _plain_class(source, found)


def _plain_class(source: Source, found: ast.ClassDef) -> Iterator[Candidate]:
    """A class whose `__init__` stores its parameters -> with flatten and unflatten."""
    init = next(
        (n for n in found.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None
    )
    if init is None:
        return
    known = parameters(init)[1:]
    stored = {
        t.attr
        for n in ast.walk(init)
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Attribute)
    }
    if not known or not set(known) <= stored:
        return
    register, imports = source.spell("jax.tree_util.register_pytree_node_class")
    indent = source.indent(found)
    step = source.indent(found.body[0])
    parts = ", ".join(f"self.{n}" for n in known) + ("," if len(known) == 1 else "")
    methods = (
        f"\n\n{step}def tree_flatten(self):\n{step}    return ({parts}), None\n\n"
        f"{step}@classmethod\n{step}def tree_unflatten(cls, _, children):\n{step}    return cls(*children)"
    )
    last = found.body[-1]
    at = source.span(last)
    end = Edit(at, source.code(last) + methods)
    top = source.insert_above(found.lineno, f"{indent}@{register}")
    title = f"register `{found.name}` as a pytree: its fields are then arguments"
    yield Candidate("pytree_register", title, (top, end, *imports), 2)


# --- devices and precision ---------------------------------------------------------------------


def on_one_device(case: Case) -> Iterator[Candidate]:
    """Arguments committed to different devices: move one."""
    source, node = case.source, case.node
    if source is None or node is None or "device" not in case.facts.message:
        return
    put, imports = source.spell("jax.device_put")
    statement = source.statement(node)
    for call in source.nodes(ast.Call, statement):
        args = [a for a in call.args if isinstance(a, (ast.Name, ast.Attribute))]
        full = source.meaning(call.func)
        builtin = isinstance(call.func, ast.Name) and call.func.id in (
            "print",
            "round",
            "float",
            "zip",
        )
        if len(args) < 2 or full.startswith("jax.") or builtin:
            continue
        yield from _moved(source, args[0], args[1], put, imports)
    for operation in source.nodes(ast.BinOp, statement):
        if isinstance(operation.left, ast.Name) and isinstance(operation.right, ast.Name):
            yield from _moved(source, operation.left, operation.right, put, imports)


def _moved(
    source: Source, first: ast.expr, second: ast.expr, put: str, imports: list[Edit]
) -> Iterator[Candidate]:
    for here, there in ((first, second), (second, first)):
        moved, target = source.code(here), source.code(there)
        text = f"{put}({moved}, next(iter({target}.devices())))"
        title = f"move `{moved}` to the device of `{target}`"
        yield Candidate("device_put", title, (source.replace(here, text), *imports), 1)


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
    """Integers that overflow -> floating point numbers."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    numpy, imports = source.spell("jax.numpy")
    function = source.function(node)
    statement = source.statement(node)
    if function is not None and not isinstance(function, ast.Lambda):
        names = [d for d in case.facts.depends if d in parameters(function)]
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
            lines = "\n".join(f"{indent}{n} = {n}.astype({numpy}.float32)" for n in names)
            title = (
                f"compute with floating point numbers: cast {', '.join(f'`{n}`' for n in names)}"
            )
            yield Candidate(
                "wider_dtype",
                title,
                (source.insert_above(source.first_line(first), lines), *imports),
                1,
            )
    for call in source.nodes(ast.Call, statement):
        full = source.meaning(call.func)
        if full in (
            "jax.numpy.sum",
            "jax.numpy.prod",
            "jax.numpy.cumsum",
            "jax.numpy.dot",
            "jax.numpy.cumprod",
        ):
            texts: dict[ast.AST, str] = {
                a: f"{source.code(a)}.astype({numpy}.float32)"
                if isinstance(a, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
                else f"({source.code(a)}).astype({numpy}.float32)"
                for a in call.args[: 2 if full.endswith("dot") else 1]
            }
            yield Candidate(
                "wider_dtype",
                "reduce floating point numbers",
                (source.replace(call, splice(source, call, texts)), *imports),
                2,
            )
    operands = [
        n
        for n in ast.walk(node if isinstance(node, ast.expr) else statement)
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mult, ast.Add, ast.Pow, ast.Sub))
    ]
    if operands:
        left = operands[-1].left
        text = f"{numpy}.asarray({source.code(left)}, dtype={numpy}.float32)"
        yield Candidate(
            "wider_dtype",
            "compute with floating point numbers",
            (source.replace(left, text), *imports),
            3,
        )


# --- nan ---------------------------------------------------------------------------------------


def double_where(case: Case) -> Iterator[Candidate]:
    """`where(c, f(x), y)` whose unused side is not differentiable -> f of a harmless x there."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    function = source.function(node)
    if function is None:
        return
    for call in source.calls_of("jax.numpy.where", "jax.lax.select", within=function):
        if len(call.args) != 3:
            continue
        test = call.args[0]
        numpy, imports = source.spell("jax.numpy")
        for side, good in ((call.args[1], True), (call.args[2], False)):
            bad, names = _unsafe(source, side, node, function)
            if bad is None:
                continue
            for name in names:
                for harmless in ("1.0", "0.5"):
                    condition = source.code(test)
                    safe = (
                        f"{numpy}.where({condition}, {name}, {harmless})"
                        if good
                        else f"{numpy}.where({condition}, {harmless}, {name})"
                    )
                    if not _visible(source, test, bad):
                        continue
                    edits = [
                        source.replace(u, safe)
                        for u in ast.walk(bad)
                        if isinstance(u, ast.expr) and source.code(u) == name and _is_load(u)
                    ]
                    title = f"give the side that is not used a harmless `{name}`: its derivative is then finite"
                    yield Candidate(
                        "double_where", title, (*edits, *imports), 1 if harmless == "1.0" else 2
                    )
    yield from _guarded_norm(source, node)


def _is_load(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _visible(source: Source, test: ast.expr, where: ast.AST) -> bool:
    """Whether the test can be computed where the value is: its names are bound by then."""
    function = source.function(where)
    if function is None:
        return False
    statement = source.statement(where)
    known = set(parameters(function))
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node.lineno < statement.lineno:
            known.update(stores(node))
    local = set(stores(function.body)) if not isinstance(function, ast.Lambda) else set[str]()
    return all(
        n.id in known or n.id not in local for n in ast.walk(test) if isinstance(n, ast.Name)
    )


def _unsafe(
    source: Source, side: ast.expr, node: ast.AST, function: ast.AST
) -> tuple[ast.AST | None, list[str]]:
    """The expression to make safe (the side, or what a name in it was assigned), and its operands."""
    places: list[ast.AST] = [] if isinstance(side, ast.Name) else [side]
    for name in loads(side):
        places += source.assigned(name, function)
    for place in places:
        if (
            any(n is node for n in ast.walk(place))
            or any(n is place for n in ast.walk(node))
            or isinstance(node, ast.stmt)
        ):
            operands: list[str] = []
            for found in ast.walk(place):
                if isinstance(found, ast.Call):
                    operands += [
                        source.code(a)
                        for a in found.args
                        if isinstance(a, (ast.Name, ast.Subscript, ast.Attribute))
                    ]
                elif isinstance(found, ast.BinOp):
                    operands += [
                        source.code(a)
                        for a in (found.right, found.left)
                        if isinstance(a, (ast.Name, ast.Subscript, ast.Attribute))
                    ]
            return place, list(dict.fromkeys(operands))
    return None, []


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


def callback_shape(case: Case) -> Iterator[Candidate]:
    """A callback whose result has another shape than was declared."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    callbacks = ("jax.pure_callback", "jax.experimental.io_callback", "jax.io_callback")
    calls = [(s, c) for s in case.sources.values() for c in s.calls_of(*callbacks)]
    made = [(s, _resolved(s, c.args[1])) for s, c in calls if len(c.args) > 1]
    if not all(isinstance(declared, ast.Call) for _, declared in made):
        # it comes from elsewhere: an attribute, an argument
        made += [(s, c) for s in case.sources.values() for c in s.calls_of("jax.ShapeDtypeStruct")]
    for source, declared in made:
        if not isinstance(declared, ast.Call) or not declared.args:
            continue
        shapes = re.findall(r"\(([\d, ]*)\)", case.facts.message)
        shapes += [
            f"{s}," if s and "," not in s else s
            for s in re.findall(r"\w+\[([\d,]*)\]", case.facts.message)
        ]
        for shape in dict.fromkeys(shapes):
            text = f"({shape.strip()})"
            title = f"declare the shape that the function returns, {text}"
            yield Candidate("callback", title, (source.replace(declared.args[0], text),), 2)
        base = source.code(declared.args[0])
        for change in (" - 1", " + 1"):
            if base.endswith(".shape"):
                text = f"({base}[0]{change},)"
                title = f"declare the shape that the function returns, {text}"
                yield Candidate("callback", title, (source.replace(declared.args[0], text),), 1)
