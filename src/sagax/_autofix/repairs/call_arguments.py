"""Repair arguments of calls: missing operands, sequences in place of single values, specs, bounds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, Measurement, at_expression, base_name
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    arguments,
    keyword_value,
    last_name,
    parameters,
    stores,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import find_transform_call
from sagax._src.diagnostics.model import Edit, Span

# --- operands that are missing, or too many ------------------------------------------------------


@at_expression
def pass_operands(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass to a conditional the operands that its branches take, if variables have their names."""
    said = re.search(r"missing \d+ required positional arguments?: (.*)", case.facts.message)
    if said is None:
        return
    names = re.findall(r"'(\w+)'", said[1])
    for call in source.calls_of("jax.lax.cond", "jax.lax.switch", within=source.statement(node)):
        first = 3 if source.meaning(call.func) == "jax.lax.cond" else 2
        if call.keywords or len(call.args) < first:
            continue
        scope = source.function(call)
        known = {*stores(source.tree.body)}
        if scope is not None:
            known |= {*parameters(scope), *stores(getattr(scope, "body", []))}
        if names and all(n in known for n in names):
            text = source.call_with(call, ", ".join(names))
            given = ", ".join(f"`{n}`" for n in names)
            title = f"pass {given} to the branches: their arguments follow the functions"
            yield Candidate("pass_operands", title, (source.replace(call, text),), 1)


@at_expression
def map_over_tuple(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `lax.map(f, x, y)` as a map over pairs."""
    if not re.search(r"map\(\) takes 2 positional arguments but", case.facts.message):
        return
    for call in source.calls_of("jax.lax.map", within=source.statement(node)):
        if len(call.args) < 3 or call.keywords:
            continue
        function, *sequences = call.args
        item = source.fresh("row", call)
        called = source.code(function)
        called = f"({called})" if isinstance(function, ast.Lambda) else called
        pairs = tuple_text([source.code(s) for s in sequences])
        text = f"{source.code(call.func)}(lambda {item}: {called}(*{item}), {pairs})"
        title = "map over one tuple of arrays, which the function unpacks"
        yield Candidate("map_tuple", title, (source.replace(call, text),), 1)


@at_expression
def bind_plain_argument(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Bind an argument that is no array to the function that `vmap` or `grad` gets."""
    name = case.facts.data.get("argument", "")
    if "is not a valid JAX type" not in case.facts.message or not name.isidentifier():
        return
    kinds = (
        "jax.vmap",
        "jax.grad",
        "jax.value_and_grad",
        "jax.jacfwd",
        "jax.jacrev",
        "jax.hessian",
    )
    found = find_transform_call(case, source, node, kinds)
    if found is None or not isinstance(node, ast.Call):
        return
    there, transform = found
    for _, function in resolve_functions(case, there, transform.args[0]):
        known = arguments(function)
        if name not in known:
            continue
        at = known.index(name)
        keyword = next((k for k in node.keywords if k.arg == name), None)
        value = (
            keyword.value if keyword is not None else node.args[at] if at < len(node.args) else None
        )
        if value is None or (keyword is None and at != len(node.args) - 1):
            continue
        if not isinstance(value, ast.Constant) and transform is not node.func:
            continue  # it may not be known where the function is mapped
        rest = [a for a in node.args if a is not value]
        kept = [*rest, *[k for k in node.keywords if k is not keyword]]
        partial, imports = there.spell("functools.partial")
        inner = f"{partial}({there.code(transform.args[0])}, {name}={source.code(value)})"
        bound = there.replace(transform.args[0], inner)
        edits = [bound, *imports]
        axes = keyword_value(transform, "in_axes")
        if isinstance(axes, (ast.Tuple, ast.List)) and keyword is None and at < len(axes.elts):
            left = [there.code(e) for i, e in enumerate(axes.elts) if i != at]
            edits.append(there.replace(axes, tuple_text(left)))
        given = ", ".join(source.code(a) for a in kept)
        everything = [*node.args, *node.keywords]
        edits.append(_between(source, everything[0], everything[-1], given))
        title = f"bind `{name}` first: it is no array"
        yield Candidate("bind_argument", title, tuple(edits), 1)
        return


def _between(source: Source, first: ast.AST, last: ast.AST, text: str) -> Edit:
    """Replace what stands from the beginning of one node to the end of another."""
    start, end = source.span(first), source.span(last)
    lines = tuple(source.lines[start.line - 1 : end.end_line])
    whole = Span(source.file, start.line, start.column, end.end_line, end.end_column, "", lines)
    return Edit(whole, text)


# --- sequences in place of numbers ----------------------------------------------------------------


@at_expression
def give_shape_as_tuple(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `random.normal(key, 4, 2)` as `random.normal(key, (4, 2))`."""
    if "does not name a dtype" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if not source.meaning(call.func).startswith("jax.random.") or len(call.args) < 3:
            continue
        sizes = call.args[1:]
        if any(isinstance(s, (ast.Tuple, ast.List, ast.Starred)) for s in sizes):
            continue
        text = tuple_text([source.code(s) for s in sizes])
        title = f"give the shape as one tuple: `{text}`"
        kept = [source.code(call.args[0]), text, *[source.code(k) for k in call.keywords]]
        edit = source.replace(call, f"{source.code(call.func)}({', '.join(kept)})")
        yield Candidate("shape_as_tuple", title, (edit,), 1)


_SLICES = {"jax.lax.dynamic_slice": 1, "jax.lax.dynamic_update_slice": 2}


@at_expression
def give_start_for_each_axis(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the start of a dynamic slice as a tuple with a number for each axis."""
    message = case.facts.message
    if "start_indices must be" not in message and "start indices for an operand" not in message:
        return
    for call in source.calls_of(*_SLICES, within=source.statement(node)):
        start = argument(call, _SLICES[source.meaning(call.func)], "start_indices")
        if start is None or not call.args:
            continue
        rank = _rank(case, source, call.args[0])
        sizes = argument(call, 2, "slice_sizes")
        if rank is None and isinstance(sizes, ast.Tuple):
            rank = len(sizes.elts)
        if isinstance(start, (ast.Tuple, ast.List)):
            given = [source.code(e) for e in start.elts]
        else:
            given = [source.code(start)]
        text = tuple_text([*given, *["0"] * max(0, (rank or 1) - len(given))])
        title = f"give the start along each axis: `{text}`"
        yield Candidate("start_tuple", title, (source.replace(start, text),), 1)


def _rank(case: Case, source: Source, node: ast.expr) -> int | None:
    shapes = [m.shape for m in case.measure(source, node)[:1] if m.shape is not None]
    return len(shapes[0]) if shapes else None


@at_expression
def give_update_its_axes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the update of a dynamic slice as many axes as the array has."""
    if "the update has another number of dimensions" not in case.facts.message:
        return
    wanted = re.search(r"with (\d+) dimensions", case.facts.data.get("expected", ""))
    got = re.search(r"\[([\d,]*)\]", case.facts.data.get("got", ""))
    if wanted is None or got is None:
        return
    missing = int(wanted[1]) - len([n for n in got[1].split(",") if n])
    for call in source.calls_of("jax.lax.dynamic_update_slice", within=source.statement(node)):
        value = argument(call, 1, "update")
        if value is None or missing < 1:
            continue
        nones = ", ".join(["None"] * missing)
        forms = [f"[{nones}]"] if not got[1] else [f"[{nones}]", f"[..., {nones}]"]
        for rank, form in enumerate(forms, 1):
            title = f"let the update be of the array's rank: `{source.primary(value)}{form}`"
            edit = source.replace(value, source.primary(value) + form)
            yield Candidate("add_axis", title, (edit,), rank, assumes=len(forms) > 1)


@at_expression
def scan_over_array(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Make an array of the list of numbers that a scan goes over."""
    if "no leading axis to scan over" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.scan", "jax.lax.map", within=source.statement(node)):
        place = 2 if source.meaning(call.func) == "jax.lax.scan" else 1
        xs = argument(call, place, "xs")
        if xs is None:
            continue
        numpy, imports = source.spell("jax.numpy")
        parts = list(xs.elts) if isinstance(xs, ast.Tuple) else [xs]
        edits = [
            source.replace(part, f"{numpy}.array({source.code(part)})")
            for part in parts
            if isinstance(part, (ast.List, ast.ListComp))
            or any(
                m.kind == "list" or (m.kind == "tuple" and part is not xs)
                for m in case.measure(source, part)[:1]
            )
        ]
        if edits:
            title = "make an array of the list: a scan goes along the first axis of arrays"
            yield Candidate("stack_list", title, (*edits, *imports), 0)


def stack_sequence(case: Case) -> Iterator[Candidate]:
    """Stack the list of arrays that a scan, a map or `vmap` takes for a tree, so that the function gets a list."""
    if not re.search(r"\blist\b|sequence|leading axis sizes|axis", case.facts.message):
        return
    for source, call in _calls_over_sequences(case):
        for given in call.args:
            parts = list(given.elts) if isinstance(given, ast.Tuple) else [given]
            lists = [
                part
                for part in parts
                if any(_is_list_of_one_type(m) for m in case.measure(source, part)[:1])
            ]
            if not lists:
                continue
            numpy, imports = source.spell("jax.numpy")
            edits = [source.replace(p, f"{numpy}.stack({source.code(p)})") for p in lists]
            names = ", ".join(f"`{source.code(p)}`" for p in lists)
            title = f"stack {names}: the arrays of a list are mapped side by side, each by itself"
            yield Candidate("stack_list", title, (*edits, *imports), 0)


def _calls_over_sequences(case: Case) -> Iterator[tuple[Source, ast.Call]]:
    """Yield the calls that led to the error which go along the first axis of their arguments."""
    spans = [*reversed(case.facts.frames), *([case.primary] if case.primary is not None else [])]
    for source, node in case.located(spans):
        value = getattr(node, "value", None) if isinstance(node, ast.stmt) else node
        if not isinstance(value, ast.Call):
            continue
        if source.meaning(value.func) in ("jax.lax.scan", "jax.lax.map"):
            yield source, value
        else:
            found = find_transform_call(case, source, value, ("jax.vmap",))
            if found is not None and found[1] is not value:
                yield source, value


def _is_list_of_one_type(value: Measurement) -> bool:
    """Return whether a value is a list of several arrays of one type and nothing else."""
    tree, _, types = value.structure.rpartition(": ")
    leaves = re.findall(r"\w+\[[\d, ]*\]", types)
    plain = tree == f"PyTreeDef([{', '.join('*' * len(leaves))}])"
    return value.kind == "list" and plain and len(leaves) > 1 and len(set(leaves)) == 1


def scan_along_second_axis(case: Case) -> Iterator[Candidate]:
    """Put the axis of time first where examples come first, as in the carry: a scan goes along the first axis."""
    for source, node in case.located(reversed(case.facts.frames)):
        if not isinstance(node, ast.Call) or source.meaning(node.func) != "jax.lax.scan":
            continue
        init, xs = argument(node, 1, "init"), argument(node, 2, "xs")
        if init is None or xs is None:
            continue
        starts, given = case.measure(source, init)[:1], case.measure(source, xs)[:1]
        for start, values in zip(starts, given, strict=False):
            shapes = start.shape, values.shape
            if not shapes[0] or not shapes[1] or len(shapes[1]) < 2:
                continue
            if shapes[0][0] == shapes[1][0] and len(shapes[0]) == len(shapes[1]) - 1:
                numpy, imports = source.spell("jax.numpy")
                text = f"{numpy}.swapaxes({source.code(xs)}, 0, 1)"
                title = f"put the second axis of `{source.code(xs)}` first: a scan goes along the first axis"
                yield Candidate(
                    "scanned_axis", title, (source.replace(xs, text), *imports), 0, assumes=True
                )
        return


# --- numbers that must be integers ------------------------------------------------------------------


@at_expression
def round_bound(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Round a float that stands where a number of steps is needed."""
    said = case.facts.message + " " + case.facts.data.get("expected", "")
    if not re.search(r"must be integers|xpected: an int|must be an int", said):
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if not source.meaning(call.func).startswith("jax."):
            continue
        for given in [*call.args, *[k.value for k in call.keywords]]:
            for measured in case.measure(source, given)[:1]:
                value = measured.value
                if measured.kind != "float" or not isinstance(value, float):
                    continue
                whole = abs(value - round(value)) < 1e-6 * max(1.0, abs(value))
                for rank, name in enumerate(("round",) if whole else ("int", "round"), 1):
                    text = f"{name}({source.code(given)})"
                    title = f"make it an integer: `{text}`"
                    edit = source.replace(given, text)
                    yield Candidate("integer_bound", title, (edit,), rank, assumes=not whole)


# --- functions in the wrong place ---------------------------------------------------------------------


def swap_loop_functions(case: Case) -> Iterator[Candidate]:
    """Exchange the condition and the body of a while_loop, if the body returns a comparison."""
    message = case.facts.message
    if "while_loop" not in message or not re.search(
        r"same pytree structure|boolean scalar", message
    ):
        return
    for source in case.sources.values():
        for call in source.calls_of("jax.lax.while_loop"):
            if len(call.args) < 3:
                continue
            first, second = call.args[:2]
            tests = [
                all(_is_test(source, v) for v in returned_expressions(there, function))
                for there, function in list(resolve_functions(case, source, second))[:1]
            ]
            if tests == [True]:
                edits = (
                    source.replace(first, source.code(second)),
                    source.replace(second, source.code(first)),
                )
                title = "exchange the functions: the condition comes first, then the body"
                yield Candidate("argument_order", title, edits, 0)


def _is_test(source: Source, node: ast.expr) -> bool:
    if isinstance(node, (ast.Compare, ast.BoolOp)):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.Not, ast.Invert)) and _is_test(source, node.operand)
    if isinstance(node, ast.BinOp):
        both = isinstance(node.op, (ast.BitAnd, ast.BitOr))
        return both and _is_test(source, node.left) and _is_test(source, node.right)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        return name in ("any", "all") or name.startswith(("logical_", "is"))
    return False


@at_expression
def export_jitted(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compile the function that is exported."""
    if "to be exported must be the result of `jit`" not in case.facts.message:
        return
    for call in source.calls_of("jax.export.export", within=source.statement(node)):
        if call.args:
            jit, imports = source.spell("jax.jit")
            text = f"{jit}({source.code(call.args[0])})"
            edits = (source.replace(call.args[0], text), *imports)
            yield Candidate("jit", "export the compiled function", edits, 1)


# --- specs, fields and formats ------------------------------------------------------------------------


@at_expression
def complete_in_specs(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Complete the `in_specs` of a shard_map, where they have fewer entries than there are arguments."""
    said = re.search(
        r"in_specs has (\d+) entries, and .* called with (\d+) positional", case.facts.message
    )
    missing = int(said[2]) - int(said[1]) if said is not None else 0
    found = find_transform_call(
        case, source, node, ("jax.shard_map", "jax.experimental.shard_map.shard_map")
    )
    if missing < 1 or found is None:
        return
    there, call = found
    given = keyword_value(call, "in_specs") or argument(call, 2, "in_specs")
    if not isinstance(given, (ast.Tuple, ast.List)):
        return
    present = [there.code(e) for e in given.elts]
    makers = [e.func for e in given.elts if isinstance(e, ast.Call)]
    if not makers:
        return
    whole = f"{there.code(makers[0])}()"
    forms = [(whole, "is the same on all devices"), (present[-1], "is split like the one before")]
    for rank, (spec, what) in enumerate(forms, 1):
        text = tuple_text([*present, *[spec] * missing])
        title = f"give `in_specs` an entry for each argument: what has none {what}"
        yield Candidate("in_specs", title, (there.replace(given, text),), rank)


@at_expression
def shorten_spec(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give an argument of a shard_map with too few dimensions for its spec one that splits it less."""
    said = re.search(
        r"the specification .* has \d+ entries, which is more than the (\d+) dimensions",
        case.facts.message,
    )
    found = find_transform_call(
        case, source, node, ("jax.shard_map", "jax.experimental.shard_map.shard_map")
    )
    if said is None or found is None or not found[1].args:
        return
    there, call = found
    given = keyword_value(call, "in_specs") or argument(call, 2, "in_specs")
    names = [f for _, f in resolve_functions(case, there, call.args[0])][:1]
    known = arguments(names[0]) if names else []
    name = base_name(case.facts.data.get("argument", ""))
    if given is None or name not in known:
        return
    at, several = known.index(name), isinstance(given, (ast.Tuple, ast.List))
    present = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given] * len(known)
    spec = present[at] if at < len(present) else None
    if not isinstance(spec, ast.Call):
        return
    kept = ", ".join(there.code(a) for a in spec.args[: int(said[1])])
    text = f"{there.code(spec.func)}({kept})"
    if several:
        edit = there.replace(spec, text)
    else:
        edit = there.replace(
            given, tuple_text([text if n == at else there.code(e) for n, e in enumerate(present)])
        )
    title = f"give `{name}` a spec for its {said[1]} dimensions: `{text}`"
    yield Candidate("in_specs", title, (edit,), 1)


def name_all_fields(case: Case) -> Iterator[Candidate]:
    """Name the fields of a dataclass that its registration leaves out."""
    said = re.search(
        r"must together name the fields of (\w+); in neither: ([^(]*)", case.facts.message
    )
    if said is None:
        return
    names = re.findall(r"'(\w+)'", said[2])
    for source in case.sources.values():
        for option in ("data_fields", "meta_fields"):
            for given in source.nodes(ast.keyword):
                if given.arg != option or not isinstance(given.value, (ast.List, ast.Tuple)):
                    continue
                static = _are_static(case, said[1], names)
                listed = [source.code(e) for e in given.value.elts] + [f'"{n}"' for n in names]
                text = f"[{', '.join(listed)}]"
                title = f"name {', '.join(names)} among the {option}"
                rank = 1 if static == (option == "meta_fields") else 2
                edit = source.replace(given.value, text)
                yield Candidate("register_fields", title, (edit,), rank)


_STATIC = re.compile(r"\b(str|bool|bytes|Callable|int|tuple)\b")


def _are_static(case: Case, cls: str, names: list[str]) -> bool:
    """Return whether the annotations of fields say that they hold no arrays."""
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            if found.name == cls:
                rows = [s for s in found.body if isinstance(s, ast.AnnAssign)]
                texts = [source.code(s.annotation) for s in rows if last_name(s.target) in names]
                return bool(texts) and all(_STATIC.search(t) for t in texts)
    return False


@at_expression
def show_printed_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Put `{}` into the format of a debug print for each value that it does not show."""
    if "Unused positional arguments" not in case.facts.message:
        return
    for call in source.calls_of("jax.debug.print", within=source.statement(node)):
        form = call.args[0] if call.args else None
        if not isinstance(form, ast.Constant) or not isinstance(form.value, str):
            continue
        more = len(call.args) - 1 - form.value.count("{}")
        code = source.code(form)
        if more > 0 and code[-1:] in "'\"" and "{" not in form.value.replace("{}", ""):
            text = code[:-1].rstrip() + " {}" * more + code[-1]
            title = "show each value at a `{}` in the format"
            yield Candidate("format_field", title, (source.replace(form, text),), 1)


@at_expression
def convert_for_json(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Tell `json` how to write arrays."""
    if "is not JSON serializable" not in case.facts.message or "Array" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        named = source.meaning(call.func) in ("json.dump", "json.dumps")
        if named and keyword_value(call, "default") is None:
            text = source.call_with(call, "default=lambda array: array.tolist()")
            title = "write arrays as numbers and lists"
            yield Candidate("json_default", title, (source.replace(call, text),), 1)


# --- attributes that are no methods ------------------------------------------------------------------


@at_expression
def drop_call_of_attribute(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `x.size(0)` and `x.shape(0)` as `x.shape[0]`, and `x.ndim()` as `x.ndim`."""
    if not re.search(
        r"'(int|tuple|\w*Array|\w*Tracer|dtype\S*)' object is not callable", case.facts.message
    ):
        return
    names = ("size", "shape", "ndim", "T", "mT", "dtype")
    calls = [
        c
        for c in source.nodes(ast.Call)
        if isinstance(c.func, ast.Attribute) and c.func.attr in names and not source.meaning(c.func)
    ]
    inside = {c for c in calls if source.statement(c) is source.statement(node)}
    edits: list[Edit] = []
    for call in calls if inside else ():
        assert isinstance(call.func, ast.Attribute)
        name, owner = call.func.attr, source.primary(call.func.value)
        if call.keywords or len(call.args) > 1:
            continue
        if name in ("size", "shape"):
            index = f"[{source.code(call.args[0])}]" if call.args else ""
            edits.append(source.replace(call, f"{owner}.shape{index}"))
        elif not call.args:
            edits.append(source.replace(call, f"{owner}.{name}"))
    if edits:
        title = f"`{edits[0].text}`: the attributes of arrays are no methods"
        yield Candidate("attribute", title, tuple(edits), 1)


@at_expression
def reduce_elementwise(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `jnp.max(a, b)` as `jnp.maximum(a, b)`."""
    if "axis" not in case.facts.message:
        return
    names = {"max": "maximum", "min": "minimum", "amax": "maximum", "amin": "minimum"}
    for call in source.nodes(ast.Call, source.statement(node)):
        module, _, name = source.meaning(call.func).rpartition(".")
        if module != "jax.numpy" or name not in names or len(call.args) != 2 or call.keywords:
            continue
        if isinstance(call.args[1], (ast.Constant, ast.UnaryOp, ast.Tuple)):
            continue
        if any(m.kind == "int" for m in case.measure(source, call.args[1])):
            continue
        text, imports = source.spell(f"jax.numpy.{names[name]}")
        title = f"compare two arrays element by element with `{names[name]}`"
        yield Candidate("elementwise", title, (source.replace(call.func, text), *imports), 0)


# --- masks that are numbers -----------------------------------------------------------------------------


@at_expression
def complement_mask(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `~mask` of a mask of floats as `1 - mask`."""
    if not re.search(r"^not: the operand has dtype (b?float|complex)", case.facts.message):
        return
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.Invert):
        return
    mask = source.operand(node.operand)
    chosen = isinstance(source.parents.get(node), (ast.Call, ast.Subscript, ast.keyword))
    forms = [f"({mask} == 0)", f"(1 - {mask})"]
    for rank, text in enumerate(forms if chosen else forms[::-1], 1):
        new = text[1:-1] if chosen else text
        title = f"the complement of a mask of floats: `{text[1:-1]}`"
        yield Candidate("complement", title, (source.replace(node, new),), rank)


# --- rules of custom derivatives ----------------------------------------------------------------------------


def unpack_rule_arguments(case: Case) -> Iterator[Candidate]:
    """Let a rule of `custom_jvp` take (primals, tangents), and unpack its arguments from them."""
    for source in case.sources.values():
        for function in source.nodes(ast.FunctionDef):
            owner = _rule_owner(source, function)
            if not owner:
                continue
            for _, primal in list(case.definition(owner))[:1]:
                known, wanted = parameters(function), parameters(primal)
                if len(known) != 2 * len(wanted) or _unpacks(function, known):
                    continue
                first, second = (
                    tuple_text(part) for part in (known[: len(wanted)], known[len(wanted) :])
                )
                body = function.body[0]
                args = function.args.args
                line = f"{source.indent(body)}{first}, {second} = primals, tangents"
                edits = (
                    _between(source, args[0], args[-1], "primals, tangents"),
                    source.insert_above(source.first_line(body), line),
                )
                title = "a rule takes (primals, tangents), with an entry for each argument"
                yield Candidate("match_signature", title, edits, 0)


def _rule_owner(source: Source, function: ast.FunctionDef) -> str:
    """Return the name of the function whose rule another is, by decorator or by call."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Attribute) and decorator.attr == "defjvp":
            return last_name(decorator.value)
    for call in source.nodes(ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "defjvp" and call.args:
            if last_name(call.args[0]) == function.name:
                return last_name(func.value)
    return ""


def _unpacks(function: ast.FunctionDef, names: list[str]) -> bool:
    """Return whether a function unpacks or indexes its arguments."""
    for node in ast.walk(function):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Subscript) and getattr(value, "id", "") in names:
            return True
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if read & {*names}:
                return True
    return False


@at_expression
def unwrap_cotangent(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `pull((ct,))` as `pull(ct)` for a function with one output, and the reverse."""
    if "unexpected tree structure of argument" not in case.facts.message:
        return
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return
    value, message = node.args[0], case.facts.message
    items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    if "output is a leaf, but cotangent is a" in message and len(items) == 1:
        title = "pass the cotangent itself: the function has one output"
        edit = source.replace(value, source.code(items[0]))
        yield Candidate("cotangent_tree", title, (edit,), 1)
    elif said := re.search(
        r"output is a (tuple|list) of length 1, but cotangent is a leaf", message
    ):
        code = source.code(value)
        text = f"({code},)" if said[1] == "tuple" else f"[{code}]"
        title = "pass the cotangent in the container of the output"
        yield Candidate("cotangent_tree", title, (source.replace(value, text),), 1)
    elif said := re.search(
        r"output is a (tuple|list) of length (\d+), but cotangent is a (tuple|list)", message
    ):
        if said[1] != said[3] and items:
            inner = ", ".join(source.code(e) for e in items)
            text = f"({inner})" if said[1] == "tuple" else f"[{inner}]"
            title = f"pass the cotangents in a {said[1]}, as the output is"
            yield Candidate("cotangent_tree", title, (source.replace(value, text),), 1)
    elif said := re.search(
        r"output is a (tuple|list) of length (\d+), but cotangent is a leaf", message
    ):
        inner = ", ".join([source.code(value)] * int(said[2]))
        text = f"({inner})" if said[1] == "tuple" else f"[{inner}]"
        title = f"give each of the {said[2]} outputs this cotangent"
        edit = source.replace(value, text)
        yield Candidate("cotangent_tree", title, (edit,), 1, assumes=True)


def map_combination(case: Case) -> Iterator[Candidate]:
    """Map the function of an associative scan, which gets stacks of elements and not single ones."""
    if "associative_scan" not in case.facts.message:
        return
    spans = [*reversed(case.facts.frames), *([case.primary] if case.primary is not None else [])]
    for source, node in case.located(spans):
        for call in source.calls_of("jax.lax.associative_scan", within=source.statement(node)):
            if not call.args or isinstance(call.args[0], ast.Call):
                continue
            function = source.code(call.args[0])
            vmap, imports = source.spell("jax.vmap")
            edits = (source.replace(call.args[0], f"{vmap}({function})"), *imports)
            title = f"map `{function}`: an associative scan passes stacks of elements"
            yield Candidate("map_combination", title, edits, 0, assumes=True)


# --- numbers of steps that begin with 0 ------------------------------------------------------------------------


def count_steps_from_one(case: Case) -> Iterator[Candidate]:
    """Count the steps from 1 where `1 - b**t`, with t = 0 at first, is a divisor."""
    for source in case.sources.values():
        edits: dict[ast.AST, Edit] = {}
        for node in source.nodes(ast.BinOp):
            for power in _powers(node.right) if isinstance(node.op, ast.Div) else ():
                if isinstance(power.right, ast.Name):
                    text = f"({power.right.id} + 1)"
                    edits[power.right] = source.replace(power.right, text)
        if edits:
            title = "count the steps from 1: the divisor `1 - b**0` is 0"
            yield Candidate("count_from_one", title, tuple(edits.values()), 1, assumes=True)


def _powers(node: ast.expr) -> Iterator[ast.BinOp]:
    """Yield the powers in `1 - b**t`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        one = isinstance(node.left, ast.Constant) and node.left.value == 1
        power = node.right
        if one and isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
            yield power
