"""Repair types: dtypes of carries and branches, arguments of grad, matmul operands, precision."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression, base_name
from sagax._autofix.repairs.dataflow import (
    Definition,
    field_defaults,
    path_keys,
    reaching_definitions,
    resolve_functions,
    returned_expressions,
)
from sagax._autofix.repairs.origins import arguments_of
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    argument,
    first_statement,
    keyword_value,
    last_name,
    loads,
    parameters,
    stores,
    tuple_text,
)
from sagax._src.diagnostics.model import Edit

_TYPE_PATTERN = re.compile(r"(bool|u?int\d+|b?float\w*|complex\d+)\[([\d,]*)\]")
_LOOP_FUNCTIONS = ("jax.lax.scan", "jax.lax.while_loop", "jax.lax.fori_loop")


def _parse_type(text: str) -> tuple[str, str]:
    found = _TYPE_PATTERN.search(text)
    return (found[1], found[2]) if found else ("", "")


def _call_at(source: Source, node: ast.AST, names: tuple[str, ...]) -> ast.Call | None:
    statement = source.statement(node)
    found = source.calls_of(*names, within=statement)
    return found[0] if found else None


def cast_text(source: Source, value: ast.expr, dtype: str, numpy: str) -> str:
    """Return the text of a value with another dtype."""
    if (
        isinstance(value, ast.Constant)
        and isinstance(value.value, int)
        and not isinstance(value.value, bool)
        and "float" in dtype
    ):
        return f"{float(value.value)}"
    if isinstance(value, ast.Call) and source.meaning(value.func).startswith("jax.numpy."):
        if (old := keyword_value(value, "dtype")) is not None:
            return substitute(source, value, {old: f"{numpy}.{dtype}"})
        name = source.meaning(value.func).rpartition(".")[2]
        if name in _DTYPE_POSITION:
            positional = _DTYPE_POSITION[name]
            if positional is not None and len(value.args) > positional:
                return substitute(source, value, {value.args[positional]: f"{numpy}.{dtype}"})
            return source.call_with(value, f"dtype={numpy}.{dtype}")
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "astype"
        and value.args
    ):
        return substitute(source, value, {value.args[0]: f"{numpy}.{dtype}"})
    return f"{numpy}.asarray({source.code(value)}, dtype={numpy}.{dtype})"


# creation functions, with the position of `dtype` where it is positional
_DTYPE_POSITION = {
    "zeros": 1, "ones": 1, "array": 1, "asarray": 1, "full": 2, "arange": None, "zeros_like": None,
    "ones_like": None,
}  # fmt: skip


def _display_leaf(source: Source, value: ast.expr, path: str) -> ast.expr | None:
    """Return the part of a display or constructor that a path such as `[0]['w'].x` leads to."""
    for item, attribute in re.findall(r"\[([^\]]+)\]|\.(\w+)", path):
        found = (
            _constructor_field(source, value, attribute)
            if attribute
            else _display_item(value, item)
        )
        if found is None:
            return None
        value = found
    return value


def _display_item(value: ast.expr, key: str) -> ast.expr | None:
    if isinstance(value, (ast.Tuple, ast.List)) and key.isdigit() and int(key) < len(value.elts):
        return value.elts[int(key)]
    if isinstance(value, ast.Dict):
        for name, item in zip(value.keys, value.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key.strip("'\""):
                return item
    return None


def _constructor_field(source: Source, value: ast.expr, name: str) -> ast.expr | None:
    """Return the value of a field in `State(1, steps=2)` or `state._replace(steps=2)`."""
    if not isinstance(value, ast.Call):
        return None
    if (found := keyword_value(value, name)) is not None:
        return found
    for cls in source.nodes(ast.ClassDef):
        if cls.name == last_name(value.func):
            fields = list(field_defaults(cls))
            if name in fields and fields.index(name) < len(value.args):
                return value.args[fields.index(name)]
    return None


def _single_definition(source: Source, value: ast.expr) -> ast.expr:
    """Return the definition of a name that is assigned once, or the expression itself."""
    if isinstance(value, ast.Name):
        scope = source.function(value) or source.tree
        found = source.assigned(value.id, scope)
        if len(found) == 1 and stores(source.statement(found[0])) == [value.id]:
            return found[0]
    return value


def carry_outputs(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    """Yield what the loop body returns for the part of the carry whose type changes."""
    for source, value, keys in _carry_paths(case):
        if isinstance(value, ast.Tuple) and keys[:1] == ("0",) and value.elts:
            value, keys = value.elts[0], keys[1:]
        path = "".join(f"[{k}]" if k[0] != "." else k for k in keys)
        yield source, _display_leaf(source, value, path) or value


def _carry_paths(case: Case) -> Iterator[tuple[Source, ast.expr, tuple[str, ...]]]:
    """Yield what the loop body returns, with the path to the part that changes its type."""
    found = find_loop_call(case)
    if found is None:
        return
    source, call = found
    keys = path_keys(_leaf_path(case))
    name = source.meaning(call.func).rpartition(".")[2]
    at = BODY_POSITION[name]
    if len(call.args) <= at:
        return
    for defining, value in body_outputs(case, source, call.args[at]):
        yield defining, value, ("0", *keys) if name == "scan" else keys


def _leaf_path(case: Case) -> str:
    data = case.facts.data
    return re.sub(r"^\w+", "", data.get("argument", "") + data.get("path", ""))


BODY_POSITION = {"scan": 0, "while_loop": 1, "fori_loop": 2}
INIT_POSITION = {"scan": 1, "while_loop": 2, "fori_loop": 3}


def match_carry_container(case: Case) -> Iterator[Candidate]:
    """Match the container of a carry: a tuple or a list at the start and in the result."""
    found = find_loop_call(case) if "same pytree structure" in case.facts.message else None
    if found is None:
        return
    source, call = found
    name = source.meaning(call.func).rpartition(".")[2]
    if len(call.args) <= INIT_POSITION[name]:
        return
    init = _single_definition(source, call.args[INIT_POSITION[name]])
    for defining, value in body_outputs(case, source, call.args[BODY_POSITION[name]]):
        if name == "scan" and isinstance(value, ast.Tuple) and value.elts:
            value = value.elts[0]
        if isinstance(value, (ast.Tuple, ast.List)) and type(value) is not type(init):
            kind = _container_of(init) or "tuple"
            title = f"return a {kind}, as the loop begins with"
            edit = defining.replace(value, _display_text(defining, value, kind))
            yield Candidate("match_structure", title, (edit,), 1)


def _container_of(node: ast.AST | None) -> str:
    """Return the container that an expression makes: a list, a tuple, or the class that it calls."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return "tuple" if isinstance(node, ast.Tuple) else "list"
    called = node.func if isinstance(node, ast.Call) and not node.keywords else None
    return called.id if isinstance(called, ast.Name) and called.id[0].isupper() else ""


def _display_text(source: Source, display: ast.Tuple | ast.List, kind: str) -> str:
    """Return the text of a display as a "tuple", a "list", or a call of a class."""
    items = [source.code(e) for e in display.elts]
    if kind not in ("tuple", "list"):
        return f"{kind}({', '.join(items)})"
    return tuple_text(items) if kind == "tuple" else f"[{', '.join(items)}]"


def find_loop_call(case: Case) -> tuple[Source, ast.Call] | None:
    """Return the call of scan, while_loop or fori_loop at fault."""
    return _innermost_call(case, _LOOP_FUNCTIONS)


def _innermost_call(case: Case, names: tuple[str, ...]) -> tuple[Source, ast.Call] | None:
    """Return the call of one of these functions that raised the error, or the only one."""
    for source, node in case.located(reversed(case.facts.frames)):
        if isinstance(node, ast.Call) and source.meaning(node.func) in names:
            return source, node
    source, node = case.source, case.node
    if source is not None and node is not None:
        call = _call_at(source, node, names)
        if call is not None:
            return source, call
    every = [(s, c) for s in case.sources.values() for c in s.calls_of(*names)]
    return every[0] if len(every) == 1 else None


def match_carry_types(case: Case) -> Iterator[Candidate]:
    """Match the type of a carry: cast its start, or the result of the body."""
    data = case.facts.data
    before, after = _parse_type(data.get("expected", "")), _parse_type(data.get("got", ""))
    found = find_loop_call(case)
    if found is None or not before[0]:
        return
    source, call = found
    init = argument(call, INIT_POSITION[source.meaning(call.func).rpartition(".")[2]], "init")
    init = init or keyword_value(call, "init_val")
    if init is None:
        return
    keys = path_keys(_leaf_path(case))
    definitions = list(dict.fromkeys(reaching_definitions(case, source, init, keys)))
    if before[0] != after[0]:
        title = f"begin with {after[0]}, the dtype that the body returns"
        for definition in definitions:
            yield from _cast_definition(definition, after[0], title, 1)
        yield from _cast_definition(Definition(source, init, keys), after[0], title, 3)
        title = f"return {before[0]} from the body, the dtype that the loop begins with"
        for defining, value, path in _carry_paths(case):
            for definition in dict.fromkeys(reaching_definitions(case, defining, value, path)):
                yield from _cast_definition(definition, before[0], title, 3)
    elif before[1] != after[1]:
        shape = _shape_text(after[1])
        title = f"begin with the shape that the body returns, {shape}"
        for definition in definitions:
            yield from _broadcast_definition(definition, shape, title, 4)
        if not before[1]:
            yield from _fill_like_leaves(case)


def _fill_like_leaves(case: Case) -> Iterator[Candidate]:
    """Begin with arrays as large as the leaves, where a tree is mapped to numbers: `tree.map(lambda p: 0.0, params)`."""
    for source in case.sources.values():
        numpy, imports = source.spell("jax.numpy")
        for call in source.calls_of("jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map"):
            function = call.args[0] if call.args else None
            if not isinstance(function, ast.Lambda) or not isinstance(function.body, ast.Constant):
                continue
            names = parameters(function)
            if len(names) != 1 or not isinstance(function.body.value, (int, float)):
                continue
            filled = f"{numpy}.full_like({names[0]}, {source.code(function.body)})"
            text = (
                f"{numpy}.zeros_like"
                if function.body.value == 0
                else f"lambda {names[0]}: {filled}"
            )
            title = "begin with arrays as large as the leaves"
            yield Candidate("match_shape", title, (source.replace(function, text), *imports), 0)


def _shape_text(sizes: str) -> str:
    """Return the text of a shape tuple for the sizes of a type, such as "2,3"."""
    return f"({sizes},)" if sizes and "," not in sizes else f"({sizes})"


def _broadcast_definition(
    definition: Definition, shape: str, title: str, rank: int
) -> Iterator[Candidate]:
    if definition.rest:
        return
    source, node = definition.source, definition.node
    numpy, imports = source.spell("jax.numpy")
    text = f"{numpy}.broadcast_to({source.code(node)}, {shape})"
    # repeats numbers: whether they are meant so, only the author knows; an axis of one is rarely meant
    kind = "match_shape" if set(re.findall(r"\d+", shape)) != {"1"} else "one_element"
    edits = (source.replace(node, text), *imports)
    yield Candidate(kind, title, edits, rank, assumes=True)


def _cast_definition(
    definition: Definition, dtype: str, title: str, rank: int
) -> Iterator[Candidate]:
    """Cast a value, or the part of it that `rest` leads to."""
    source, node, rest = definition
    numpy, imports = source.spell("jax.numpy")
    if not rest:
        text = cast_text(source, node, dtype, numpy)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        changed = _copy_with_part(source, source.code(node), rest, f"{numpy}.{dtype}", numpy)
        if changed is None:
            return
        text, more = changed
        imports = [*imports, *more]
    else:
        return
    yield Candidate("match_dtype", title, (source.replace(node, text), *imports), rank)


def _copy_with_part(
    source: Source, text: str, keys: tuple[str, ...], dtype: str, numpy: str
) -> tuple[str, list[Edit]] | None:
    """Return the text of a copy of a container in which one part has another dtype."""
    if not keys:
        return f"{numpy}.asarray({text}, dtype={dtype})", []
    key = keys[0]
    part = f"{text}{key}" if key[0] == "." else f"{text}[{key}]"
    inner = _copy_with_part(source, part, keys[1:], dtype, numpy)
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


def body_outputs(
    case: Case, source: Source, function: ast.expr
) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the expressions that a loop body returns."""
    named = re.match(r"\w+ of ([\w.]+):", case.facts.message)
    found = list(resolve_functions(case, source, function))
    if named and len(found) != 1:
        found = [f for f in found if f[0].qualified(f[1]) == named[1]] or found
    if not found and named:
        found = list(case.definition(named[1]))
    for defining, definition in found[:1]:
        for value in returned_expressions(defining, definition):
            yield defining, value


_BRANCH_FUNCTIONS = ("jax.lax.cond", "jax.lax.switch")


def find_branch_call(case: Case) -> tuple[Source, ast.Call] | None:
    """Return the call of cond or switch at fault."""
    return _innermost_call(case, _BRANCH_FUNCTIONS)


def find_branches(case: Case) -> list[tuple[Source, Function]]:
    """Return the branches of the cond or switch at fault."""
    found = find_branch_call(case)
    if found is None or len(found[1].args) < 2:
        return []
    source, call = found
    functions: list[tuple[Source, Function]] = []
    if source.meaning(call.func).endswith("switch"):
        for defining, node, _ in reaching_definitions(case, source, call.args[1]):
            if isinstance(node, (ast.List, ast.Tuple)):
                for branch in node.elts:
                    functions += list(resolve_functions(case, defining, branch))[:1]
            elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                functions += resolve_functions(case, defining, node.elt)
    else:
        for branch in call.args[1:3]:
            functions += list(resolve_functions(case, source, branch))[:1]
    return functions


def _branch_values(case: Case) -> list[list[tuple[Source, ast.expr]]]:
    """Return what each branch of the cond or switch at fault returns."""
    return [
        [(there, v) for v in returned_expressions(there, f)] for there, f in find_branches(case)
    ]


def branch_outputs(case: Case) -> Iterator[tuple[Source, ast.expr]]:
    """Yield what the branches of cond or switch after the first return."""
    for found in _branch_values(case)[1:]:
        yield from found


def match_branch_types(case: Case) -> Iterator[Candidate]:
    """Match the results of the branches of cond or switch in container, dtype and shape."""
    message = " ".join([case.facts.message, *case.facts.data.values()])
    returned = _branch_values(case) if "branch" in message else []
    if len(returned) < 2 or any(not r for r in returned):
        return
    first_source, first = returned[0][0]
    for (source, value), *_ in returned[1:]:
        kinds = _container_of(first), _container_of(value)
        if all(kinds) and kinds[0] != kinds[1]:
            for here, display, kind in ((source, value, kinds[0]), (first_source, first, kinds[1])):
                if not isinstance(display, (ast.Tuple, ast.List)):
                    continue
                edit = here.replace(display, _display_text(here, display, kind))
                title = f"return a {kind} from both branches"
                yield Candidate("match_dtype", title, (edit,), 1 if display is value else 2)
            return
    types = [(m.group(1), m.group(2)) for m in _TYPE_PATTERN.finditer(message)]
    wide = widest_dtype([dtype for dtype, _ in types])
    if not wide:
        return
    path = _leaf_path(case)
    if not path and (found_path := re.search(r"output((?:\[[^\]]+\]|\.\w+)+)", message)):
        path = found_path[1]
    keys = path_keys(path)
    definitions = dict.fromkeys(
        definition
        for each in returned
        for defining, value in each
        for definition in reaching_definitions(case, defining, value, keys)
    )
    shapes = {shape for _, shape in types}
    if len({dtype for dtype, _ in types}) > 1:
        title = f"return {wide} from all branches"
        each = [c for found in definitions for c in _cast_definition(found, wide, title, 2)]
        yield from (replace(c, rank=2 + i) for i, c in enumerate(each[:3]))
        merged = {(e.span, e.text): e for c in each for e in c.edits}
        yield Candidate("match_dtype", title, tuple(merged.values()), 4)
    elif len(shapes) > 1:
        largest = max(shapes, key=lambda shape: (shape.count(",") + bool(shape), shape))
        title = f"return the shape {_shape_text(largest)} from all branches"
        for definition in definitions:
            yield from _broadcast_definition(definition, _shape_text(largest), title, 3)


_PROMOTION_ORDER = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


def widest_dtype(names: list[str]) -> str:
    """Return the dtype that holds the values of all named ones; "" without any."""
    known = [n for n in names if n in _PROMOTION_ORDER]
    return max(known, key=_PROMOTION_ORDER.index) if known else ""


# --- grad ------------------------------------------------------------------------------------


@at_expression
def cast_argument_to_float(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Cast an integer argument of grad to floating point."""
    name = base_name(case.facts.data.get("argument", ""))
    wanted = case.facts.data.get("expected", "")
    asks = "-valued inputs" in case.facts.message or wanted.startswith("floating point")
    if not name or not asks or "NotAnArrayError" in case.facts.classes:
        return
    numpy, imports = source.spell("jax.numpy")
    statement = source.statement(node)
    calls = [c for c in source.nodes(ast.Call, statement) if c.args]
    calls.sort(key=lambda c: c is not node)
    at = _argument_position(case, name)
    for call in calls:
        called = source.meaning(call.func)
        inner = isinstance(call.func, (ast.Call, ast.Name))
        if called.startswith("jax.") or not inner or len(call.args) <= at:
            continue
        if isinstance(call.func, ast.Name) and call.func.id in _BUILTINS:
            continue
        value = call.args[at]
        known = _single_definition(source, value)
        if path := case.facts.data["argument"].removeprefix(name):
            yield from _cast_leaf_to_float(case, source, value, path, numpy, imports)
            return
        if isinstance(value, ast.Constant):
            text = cast_text(source, value, "float32", numpy)
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
            edit = source.replace(known, cast_text(source, known, "float32", numpy))
            title = f"make `{name}` floating point where it is made"
            yield Candidate("float_input", title, (edit, *imports), 2)


_BUILTINS = {"print", "float", "round", "int", "list", "range", "len"}


def _cast_leaf_to_float(
    case: Case, source: Source, value: ast.expr, path: str, numpy: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """Cast one leaf of an argument to floating point where it is defined, or else all leaves."""
    title = f"make {source.code(value)}{path} floating point where it is made"
    for definition in dict.fromkeys(reaching_definitions(case, source, value, path_keys(path))):
        for candidate in _cast_definition(definition, "float32", title, 1):
            yield replace(candidate, kind="float_input")
    tree_map, more = source.spell("jax.tree.map")
    text = f"{tree_map}(lambda leaf: {numpy}.asarray(leaf, dtype={numpy}.float32), {source.code(value)})"
    title = f"differentiate at floating point numbers: cast all of `{source.code(value)}`"
    edits = (source.replace(value, text), *imports, *more)
    yield Candidate("float_input", title, edits, 2)


def _argument_position(case: Case, name: str) -> int:
    """Return the position of an argument of the differentiated function."""
    for source in case.sources.values():
        for call in source.calls_of("jax.grad", "jax.value_and_grad", "jax.jacrev", "jax.jacfwd"):
            for _, definition in resolve_functions(case, source, call.args[0]) if call.args else ():
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


_GRADIENTS = ("jax.grad", "jax.value_and_grad")


def reduce_output(case: Case) -> Iterator[Candidate]:
    """Reduce the array that a differentiated function returns to its sum or mean.

    If it is called elsewhere, too, it is reduced where it is differentiated.
    """
    name = re.split(r"\s", case.facts.data.get("expected", ""))[0]
    if not name or "PyTreeDef" in case.facts.message:
        return
    uses = list(case.uses(name.rpartition(".")[2]))
    for source, use in uses if len(uses) > 1 else ():
        call = source.parents.get(use)
        gradient = isinstance(call, ast.Call) and call in source.calls_of(*_GRADIENTS)
        if gradient and isinstance(call, ast.Call) and call.args[:1] == [use]:
            summed = f"lambda *args: {source.code(use)}(*args).sum()"
            title = (
                f"differentiate the sum of what `{name}` returns: the derivative of each element"
            )
            yield Candidate("scalar_output", title, (source.replace(use, summed),), 0)
    outputs: list[tuple[Source, ast.expr]] = []
    for source, function in case.definition(name):
        outputs += [(source, value) for value in returned_expressions(source, function)]
        break
    if not outputs and case.source is not None:
        for call in case.source.calls_of(*_GRADIENTS):
            if call.args and isinstance(call.args[0], ast.Lambda):
                outputs.append((case.source, call.args[0].body))
    for reduce, rank in (("sum", 1), ("mean", 2)):
        edits: list[Edit] = []
        imports: list[Edit] = []
        for source, value in outputs:
            numpy, imports = source.spell("jax.numpy")
            edits.append(source.replace(value, f"{numpy}.{reduce}({source.code(value)})"))
        if edits:
            title = f"reduce what `{name}` returns with {reduce}: a gradient needs one number"
            yield Candidate("scalar_output", title, (*edits, *imports), rank)


# --- precision ----------------------------------------------------------------------------------


def enable_x64(case: Case) -> Iterator[Candidate]:
    """Turn 64-bit types on, or narrow them to 32 bits."""
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
    edits = [
        source.replace(found, f"{source.code(found.value)}.{_NARROWED[found.attr]}")
        for found in ast.walk(source.statement(node))
        if isinstance(found, ast.Attribute) and found.attr in _NARROWED
    ]
    if edits:
        title = "ask for 32 bits, which is what you get"
        yield Candidate("narrow_dtype", title, tuple(edits), 2, allows=True)


_NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


@at_expression
def widen_dtype(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Widen integers that overflow to 32 bits if they fit, else to floating point."""
    numpy, imports = source.spell("jax.numpy")
    match = re.match(r"(\S+) does not fit (\w+)", case.facts.message)
    fits = match is not None and not match[2].endswith(("32", "64"))
    fits = fits and match is not None and abs(float(match[1])) < 2**31
    function = source.function(node)
    statement = source.statement(node)
    exact = any(
        isinstance(n, ast.BinOp) and isinstance(n.op, _LAST_DIGITS)
        for n in ast.walk(statement if function is None else function)
    )
    exact_after = _needs_last_digits(source, statement, node)
    dtypes = [*(["int32"] if fits else []), *([] if exact_after else ["float32"])]
    casts: list[tuple[str, list[Edit]]] = []
    if function is not None and not isinstance(function, ast.Lambda):
        known = parameters(function)
        read = [n for n in arguments_of(source, node) if n in known and n != "self"]
        names = [d for d in case.facts.depends if d in known and d != "self"] or read
        if names:
            first = first_statement(function)
            indent = source.indent(first)
            lines = "\n".join(f"{indent}{n} = {n}.astype(DTYPE)" for n in names)
            edit = source.insert_above(source.first_line(first), lines)
            casts.append((f"cast {', '.join(f'`{n}`' for n in names)}", [edit]))
    of_arguments = len(casts)
    for call in source.nodes(ast.Call, statement):
        full = source.meaning(call.func)
        if full.rpartition(".")[2] in _REDUCTIONS and full.startswith("jax.numpy."):
            texts: dict[ast.AST, str] = {
                a: f"{source.primary(a)}.astype(DTYPE)"
                for a in call.args[: 2 if full.endswith("dot") else 1]
            }
            edit = source.replace(call, substitute(source, call, texts))
            casts.append(("where they are reduced", [edit]))
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _REDUCTIONS and not full:
            edit = source.with_method(call.func.value, ".astype(DTYPE)")
            casts.append(("where they are reduced", [edit]))
    operands = [
        n
        for n in ast.walk(node if isinstance(node, ast.expr) else statement)
        if isinstance(n, ast.BinOp)
        and isinstance(n.op, (ast.Mult, ast.Add, ast.Pow, ast.Sub, ast.LShift))
    ]
    if operands:
        left = operands[-1].left
        text = f"{numpy}.asarray({source.code(left)}, dtype=DTYPE)"
        casts.append((f"cast `{source.code(left)}`", [source.replace(left, text)]))
    named = _named_dtypes(source, function or source.tree, match[2] if match is not None else "")
    if named:
        casts.insert(0, ("where the array is made", named))
        of_arguments += 1
    for i, dtype in enumerate(dtypes):
        kind = "floating point numbers" if dtype == "float32" else "integers of 32 bits"
        for rank, (cast, edits) in enumerate(casts, 1):
            if dtype == "float32" and exact and rank <= of_arguments:
                continue
            if dtype == "float32" and fits and edits is named:
                continue  # what was made to count in integers
            typed = [replace(e, text=e.text.replace("DTYPE", f"{numpy}.{dtype}")) for e in edits]
            title = f"compute with {kind}: {cast}"
            yield Candidate("wider_dtype", title, (*typed, *imports), rank + 3 * i)


def _named_dtypes(source: Source, scope: ast.AST, name: str) -> list[Edit]:
    """Return the edits that give arrays another dtype which are made with the one called `name`."""
    return [
        source.replace(given.value, "DTYPE")
        for given in source.nodes(ast.keyword, scope)
        if given.arg == "dtype"
        and source.meaning(given.value).rpartition(".")[2] == name
        and isinstance(given.value, ast.Attribute)
    ]


def _needs_last_digits(source: Source, statement: ast.stmt, node: ast.AST) -> bool:
    """Return whether an operation on the last digits takes the value of an expression, here or later."""
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, _LAST_DIGITS) for n in ast.walk(node)):
        return True
    for around in source.above(node):
        if isinstance(around, ast.BinOp) and isinstance(around.op, _LAST_DIGITS):
            return True
        if around is statement:
            break
    derived = set(stores(statement))
    scope = source.function(statement) or source.tree
    for later in source.nodes(ast.stmt, scope):
        looped = any(isinstance(n, (ast.For, ast.While)) for n in source.above(statement))
        if not derived & set(loads(later)) or (later.lineno < statement.lineno and not looped):
            continue
        for part in ast.walk(later):
            operator = part.op if isinstance(part, (ast.BinOp, ast.AugAssign)) else None
            if isinstance(operator, _LAST_DIGITS) and derived & set(loads(part)):
                return True
        derived |= set(stores(later))
    return False


# Operations that depend on the last digits, which floating point numbers round away.
_LAST_DIGITS = (ast.Mod, ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift)
_REDUCTIONS = ("sum", "prod", "cumsum", "dot", "cumprod", "matmul")


# --- nan ---------------------------------------------------------------------------------------


@at_expression
def use_double_where(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace x in the side of `where(c, f(x), y)` that is not used, by a harmless value."""
    function = source.function(node)
    if function is None:
        return
    numpy, imports = source.spell("jax.numpy")
    for call in source.calls_of("jax.numpy.where", "jax.lax.select", within=function):
        if len(call.args) != 3:
            continue
        for side, good in ((call.args[1], True), (call.args[2], False)):
            for operand in _singular_operands(source, side, node, function):
                test = _test_text_at(source, call.args[0], operand)
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


def _is_load(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _singular_operands(
    source: Source, side: ast.expr, node: ast.AST, function: ast.AST
) -> Iterator[ast.expr]:
    """Yield the operands of functions with infinite derivatives, in a side of `where`.

    The definitions of its names are searched too; the operands of the expression at fault come first.
    """
    expressions: list[ast.AST] = [side]
    seen: set[str] = set()
    todo = loads(side)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for value in source.assigned(name, function):
                expressions.append(value)
                todo += loads(value)
    inside = set(ast.walk(source.statement(node) if isinstance(node, ast.stmt) else node))
    found: dict[ast.expr, bool] = {}
    for expression in expressions:
        for part in ast.walk(expression):
            operands: list[ast.expr] = []
            if isinstance(part, ast.Call):
                name = source.meaning(part.func).rpartition(".")[2] or getattr(
                    part.func, "attr", ""
                )
                if name in _SINGULAR_FUNCTIONS:
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


_SINGULAR_FUNCTIONS = {"sqrt", "log", "log2", "log10", "log1p", "power", "float_power", "divide", "true_divide", "reciprocal",
             "arccos", "arcsin", "arctanh", "arccosh", "norm", "cbrt", "rsqrt", "arctan2", "logit", "erfinv",
             "xlogy", "rel_entr", "entr", "digamma"}  # fmt: skip


def _test_text_at(source: Source, test: ast.expr, where: ast.expr) -> str | None:
    """Return the test of a `where` for an earlier expression; None if it is not computable there."""
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
            texts[name] = source.primary(where)
        else:
            inner = _test_text_at(source, value, where)
            if inner is None:
                return None
            texts[name] = inner if isinstance(value, (ast.Name, ast.Call)) else f"({inner})"
    return substitute(source, test, texts)


# --- shapes ------------------------------------------------------------------------------------


@at_expression
def transpose_operands(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Transpose or exchange operands whose contracted dimensions differ."""
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
    # the last two axes of stacks of matrices
    ranks = [case.facts.data.get(k, "").count(",") + 1 for k in ("x", "y")]
    flip = [".mT" if rank > 2 else ".T" for rank in ranks]
    for whole, left, right in pairs:
        a, b = source.code(left), source.code(right)
        for title, texts in (
            (f"transpose `{b}`", {right: f"{source.primary(right)}{flip[1]}"}),
            (f"transpose `{a}`", {left: f"{source.primary(left)}{flip[0]}"}),
            ("exchange the operands", {left: b, right: a}),
        ):
            edit = source.replace(whole, substitute(source, whole, texts))
            yield Candidate("reshape", title, (edit,), 2)


@at_expression
def preallocate(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Preallocate an array that grows in a loop, and fill it with .at[i].set."""
    found = find_loop_call(case)
    if found is None:
        return
    loop_source, call = found
    name = loop_source.meaning(call.func).rpartition(".")[2]
    body, init = call.args[BODY_POSITION[name]], call.args[INIT_POSITION[name]]
    numpy, imports = loop_source.spell("jax.numpy")
    for defining, value in body_outputs(case, loop_source, body):
        for append in defining.calls_of("jax.numpy.append", within=value):
            counter = _iteration_counter(defining, value)
            path = _item_path(value, append)
            start = _display_leaf(loop_source, _single_definition(loop_source, init), path)
            if len(append.args) != 2 or counter is None or start is None:
                continue
            sizes = [m.shape[0] for m in case.measure(defining, append) if m.shape]
            if not sizes:
                continue
            array, item = map(defining.code, append.args)
            dtype = keyword_value(start, "dtype") if isinstance(start, ast.Call) else None
            option = "" if dtype is None else f", dtype={loop_source.code(dtype)}"
            edits = (
                defining.replace(append, f"{array}.at[{counter}].set({item})"),
                loop_source.replace(start, f"{numpy}.zeros({max(sizes)}{option})"),
                *imports,
            )
            title = f"make the array as large as it gets ({max(sizes)} for these data) and fill it"
            yield Candidate("preallocate", title, edits, 1)


def _item_path(value: ast.expr, part: ast.AST) -> str:
    if isinstance(value, ast.Tuple):
        for i, item in enumerate(value.elts):
            if any(n is part for n in ast.walk(item)):
                return f"[{i}]"
    return ""


def _iteration_counter(source: Source, value: ast.expr) -> str | None:
    """Return the carried number that grows by one in each iteration, or the index of fori_loop."""
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if isinstance(node.right, ast.Constant) and node.right.value == 1:
                return source.code(node.left)
    function = source.function(value)
    if function is not None and len(parameters(function)) == 2:
        return parameters(function)[0]
    return None
