"""Repair calls by what their error names: options, missing arguments, keys, fields, decorators."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.dataflow import reaching_definitions, resolve_functions
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    argument,
    last_name,
    parameters,
    stores,
    target_names,
    tuple_text,
)
from sagax._autofix.repairs.types import BODY_POSITION, body_outputs, find_loop_call
from sagax._src.diagnostics.model import Edit

# --- options and arguments -----------------------------------------------------------------------


@at_expression
def correct_option(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Correct a text to the nearest of those that an argument may have."""
    said = re.search(r"must be one of \(([^)]*)\); got '([^']*)'", case.facts.message)
    if said is None:
        return
    known = re.findall(r"'([^']*)'", said[1])
    for given in source.nodes(ast.Constant, source.statement(node)):
        if given.value != said[2]:
            continue
        quote = source.code(given)[:1]
        for rank, name in enumerate(difflib.get_close_matches(said[2], known, 2, 0.5), 1):
            title = f"write '{name}', the nearest of {', '.join(known)}"
            edit = source.replace(given, f"{quote}{name}{quote}")
            yield Candidate("option", title, (edit,), rank)
        return


@at_expression
def number_argnums(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the position of an argument whose name stands for `argnums`."""
    said = re.search(r"argnums must be an int .*got '(\w+)'", case.facts.message)
    if said is None:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        given = argument(call, 1, "argnums")
        if getattr(given, "value", None) != said[1] or given is None or not call.args:
            continue
        for _, function in list(resolve_functions(case, source, call.args[0]))[:1]:
            known = parameters(function)
            if said[1] in known:
                position = known.index(said[1])
                title = f"`argnums` counts positions: `{said[1]}` is argument {position}"
                edit = source.replace(given, str(position))
                yield Candidate("argnums", title, (edit,), 1)


@at_expression
def give_dimension(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give the dimension along which `lax.concatenate` joins."""
    if "missing 1 required positional argument: 'dimension'" not in case.facts.message:
        return
    for call in source.calls_of("jax.lax.concatenate", within=source.statement(node)):
        text = source.call_with(call, "dimension=0")
        title = "join along the first dimension"
        yield Candidate("dimension", title, (source.replace(call, text),), 1, assumes=True)


@at_expression
def give_other_choice(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give `where` what it takes if its test is false."""
    if "Either both or neither of the x and y" not in case.facts.message:
        return
    for call in source.calls_of("jax.numpy.where", within=source.statement(node)):
        if len(call.args) == 2 and not call.keywords:
            edit = source.replace(call, source.call_with(call, "0"))
            title = "choose 0 where the test is false"
            yield Candidate("where", title, (edit,), 1, assumes=True)


@at_expression
def broadcast_choices(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace `lax.select`, whose operands need one shape, by `where`."""
    if not re.search(r"select: (?:on_true and on_false|argument|the )", case.facts.message):
        return
    numpy, imports = source.spell("jax.numpy")
    for call in source.calls_of("jax.lax.select", within=source.statement(node)):
        title = "choose with `where`, which broadcasts its operands"
        edits = (source.replace(call.func, f"{numpy}.where"), *imports)
        yield Candidate("where", title, edits, 1)


@at_expression
def name_printed_values(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass a debug print the variables that its format names."""
    said = re.search(r"has places for (.*), which were not passed", case.facts.message)
    names = re.findall(r"'(\w+)'", said[1]) if said is not None else []
    for call in source.calls_of("jax.debug.print", within=source.statement(node)):
        if names and all(n in _names_in_scope(source, call) for n in names):
            text = source.call_with(call, ", ".join(f"{n}={n}" for n in names))
            title = f"pass the values that the format names: {', '.join(names)}"
            yield Candidate("format_field", title, (source.replace(call, text),), 1)


def _names_in_scope(source: Source, node: ast.AST) -> set[str]:
    known = {*stores(source.tree.body)}
    scope: Function | None = source.function(node)
    while scope is not None:
        body = scope.body if isinstance(scope.body, list) else []
        known |= {*parameters(scope), *stores(body)}
        scope = source.function(scope)
    return known


@at_expression
def bind_decorator_options(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `@vmap(in_axes=0)`, which lacks its function, with `partial`."""
    if not re.search(r"missing 1 required positional argument: '(?:fun|f)'", case.facts.message):
        return
    for function in source.nodes(ast.FunctionDef):
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call) or decorator.args or not decorator.keywords:
                continue
            inside = source.span(decorator).line == getattr(node, "lineno", 0)
            if not inside or not source.meaning(decorator.func).startswith("jax."):
                continue
            partial, imports = source.spell("functools.partial")
            options = ", ".join(source.code(k) for k in decorator.keywords)
            text = f"{partial}({source.code(decorator.func)}, {options})"
            title = "bind the options with `partial`: a decorator is called with the function alone"
            edits = (source.replace(decorator, text), *imports)
            yield Candidate("partial", title, edits, 1)


def take_answer(case: Case) -> Iterator[Candidate]:
    """Let the tangent rules of `defjvps` take the answer after the tangent."""
    if not re.search(r"takes (\d+) positional arguments? but \d+ were given", case.facts.message):
        return
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "defjvps":
                continue
            owner = last_name(call.func.value)
            wanted = next((len(parameters(f)) + 2 for _, f in case.definition(owner)), 0)
            edits: list[Edit] = []
            for rule in call.args:
                for there, function in list(resolve_functions(case, source, rule))[:1]:
                    known = parameters(function)
                    if len(known) == wanted - 1 and "ans" not in known:
                        first = function.args.args[0]
                        edits.append(there.replace(first, f"{there.code(first)}, ans"))
            if edits:
                title = "take the answer of the function as well: (tangent, answer, *arguments)"
                yield Candidate("match_signature", title, tuple(edits), 1)


# --- keys ------------------------------------------------------------------------------------------


@at_expression
def take_one_key(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Take one of the keys that a split gives, where a draw gets them all."""
    if "accepts a single key, but was given a key array" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        key = argument(call, 0, "key")
        if not source.meaning(call.func).startswith("jax.random.") or not isinstance(key, ast.Name):
            continue
        loop = source.enclosing(call, (ast.For, ast.ListComp, ast.GeneratorExp))  # type: ignore[type-abstract]
        if (index := _counter(loop)) and key.id not in stores(getattr(loop, "body", [])):
            title = f"take one key in each iteration: `{key.id}[{index}]`"
            edit = source.replace(key, f"{key.id}[{index}]")
            yield Candidate("index_key", title, (edit,), 0)
        yield from _keep_both_keys(source, key)
        return


def _counter(loop: ast.AST | None) -> str:
    """Return the variable of a loop over a range."""
    target = getattr(loop, "target", None)
    over = getattr(loop, "iter", None)
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp)):
        target, over = loop.generators[0].target, loop.generators[0].iter
    counts = isinstance(over, ast.Call) and last_name(over.func) == "range"
    return target.id if counts and isinstance(target, ast.Name) else ""


def _keep_both_keys(source: Source, key: ast.Name) -> Iterator[Candidate]:
    """Rewrite `key = split(key)` as `key, subkey = split(key)`, and draw with the subkey."""
    scope = source.function(key) or source.tree
    name = key.id
    for statement in source.nodes(ast.Assign, scope):
        value = statement.value
        if target_names(statement.targets[0]) != [name] or not isinstance(value, ast.Call):
            continue
        if source.meaning(value.func) != "jax.random.split" or len(value.args) != 1:
            continue
        if source.code(value.args[0]) != name:
            continue
        sub = source.fresh("subkey", key)
        edits = [source.replace(statement.targets[0], f"{name}, {sub}")]
        following = source.after(statement)
        uses = [
            u
            for s in following
            for u in source.uses(name, s)
            if isinstance(u.ctx, ast.Load) and u not in ast.walk(value)
        ]
        edits += [source.replace(u, sub) for u in uses if _is_drawn(source, u)]
        if len(edits) > 1:
            title = f"keep `{name}`, and draw with the other key of the split"
            yield Candidate("split_key", title, tuple(edits), 1)


def _is_drawn(source: Source, use: ast.Name) -> bool:
    call = source.parents.get(use)
    return (
        isinstance(call, ast.Call)
        and call.args[:1] == [use]
        and source.meaning(call.func).startswith("jax.random.")
        and not source.meaning(call.func).endswith(".split")
    )


# --- entries and fields ----------------------------------------------------------------------------


@at_expression
def read_entry(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `params.w`, of a dict, as `params["w"]`."""
    if not re.search(r"'dict' object has no attribute '\w+'", case.facts.message):
        return
    keys = {
        str(k.value)
        for s in case.sources.values()
        for d in s.nodes(ast.Dict)
        for k in d.keys
        if isinstance(k, ast.Constant)
    }
    attribute = next(iter(source.nodes(ast.Attribute, node)), None)
    if attribute is None or attribute.attr not in keys:
        return
    base = source.code(attribute.value)
    scope = source.function(node) or source.tree
    edits = [
        source.replace(found, f'{base}["{found.attr}"]')
        for found in source.nodes(ast.Attribute, scope)
        if source.code(found.value) == base and found.attr in keys
    ]
    title = f'read the entries of a dict by their keys: `{base}["{attribute.attr}"]`'
    yield Candidate("item", title, tuple(edits), 1)


@at_expression
def replace_fields(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `state.w = x`, of a frozen dataclass, as `state = replace(state, w=x)`."""
    if "cannot assign to field" not in case.facts.message:
        return
    scope = source.function(node) or source.tree
    replace, imports = source.spell("dataclasses.replace")
    named = "can't set attribute" in case.facts.message
    edits: list[Edit] = []
    for statement in source.nodes((ast.Assign, ast.AugAssign), scope):  # type: ignore[arg-type]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            continue
        if target.value.id == "self" or named:
            continue
        value = source.code(statement.value)
        if isinstance(statement, ast.AugAssign):
            sign = _SIGNS.get(type(statement.op))
            if sign is None:
                continue
            value = f"{source.code(target)} {sign} {source.operand(statement.value)}"
        name = target.value.id
        text = f"{name} = {replace}({name}, {target.attr}={value})"
        edits.append(source.replace(statement, text))
    if edits:
        title = "make a changed copy with `replace`: a frozen dataclass does not change"
        yield Candidate("replace", title, (*edits, *imports), 1)


_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip


# --- results of bodies, and lists of trees -------------------------------------------------------------


def pack_carry(case: Case) -> Iterator[Candidate]:
    """Rewrite `return h, c, out` in the body of a scan as `return (h, c), out`."""
    said = re.search(r"must be a pair, got .*", case.facts.message)
    count = re.search(r"tuple of length (\d+)", case.facts.data.get("got", ""))
    found = find_loop_call(case) if said is not None else None
    if found is None or count is None or int(count[1]) < 3 or not found[1].args:
        return
    for source, value in body_outputs(case, found[0], found[1].args[0]):
        if not isinstance(value, ast.Tuple):
            return
        parts = [source.code(e) for e in value.elts]
        for rank, cut in enumerate((len(parts) - 1, 1), 1):
            carry = parts[0] if cut == 1 else tuple_text(parts[:cut])
            out = parts[cut] if cut == len(parts) - 1 else tuple_text(parts[cut:])
            text = f"{carry}, {out}"
            outer = source.code(value).startswith("(") and source.code(value).endswith(")")
            edit = source.replace(value, f"({text})" if outer else text)
            yield Candidate("return_pair", f"return a pair: `{text}`", (edit,), rank)
        return


def return_whole_carry(case: Case) -> Iterator[Candidate]:
    """Rewrite `return h, c` in the body of a scan, whose carry they are, with outputs beside it."""
    said = re.search(
        r"carry input is a (tuple|list) of length (\d+), but the carry output is a leaf",
        case.facts.message,
    )
    found = find_loop_call(case) if said is not None else None
    if said is None or found is None or not found[1].args:
        return
    for source, value in body_outputs(case, found[0], found[1].args[0]):
        if not isinstance(value, ast.Tuple) or len(value.elts) != int(said[2]):
            return
        parts = [source.code(e) for e in value.elts]
        carry = tuple_text(parts) if said[1] == "tuple" else f"[{', '.join(parts)}]"
        # which outputs are stacked, only the author knows
        for rank, out in enumerate((parts[0], "None", carry, *parts[1:]), 1):
            outer = source.code(value).startswith("(") and source.code(value).endswith(")")
            text = f"{carry}, {out}"
            edit = source.replace(value, f"({text})" if outer else text)
            title = f"return the carry whole, and `{out}` as the output of a step"
            yield Candidate("return_pair", title, (edit,), rank, assumes=True)
        return


def name_carry_class(case: Case) -> Iterator[Candidate]:
    """Build the named tuple that a carry is, where a plain tuple is returned or given first."""
    said = re.search(
        r"carry input is (?:the namedtuple (\w+)|a tuple of length \d+), but the carry output is "
        r"(?:the namedtuple (\w+)|a tuple of length \d+)",
        case.facts.message,
    )
    found = find_loop_call(case)
    if said is None or found is None:
        return
    source, call = found
    name = said[1] or said[2]
    kind = source.meaning(call.func).rpartition(".")[2]
    if said[1]:
        body = argument(call, BODY_POSITION[kind], "f")
        values = list(body_outputs(case, source, body)) if body is not None else []
        if kind == "scan":
            values = [(s, v.elts[0]) for s, v in values if isinstance(v, ast.Tuple)]
    else:
        start = argument(call, {"scan": 1, "fori_loop": 3}.get(kind, 2), "init")
        values = [(source, start)] if start is not None else []
    for there, value in values:
        for definition in reaching_definitions(case, there, value):
            shown = definition.node
            if not isinstance(shown, ast.Tuple) or definition.rest:
                continue
            inner = ", ".join(definition.source.code(e) for e in shown.elts)
            title = f"build a `{name}`: a named tuple and a tuple are different containers"
            edit = definition.source.replace(shown, f"{name}({inner})")
            yield Candidate("match_tree", title, (edit,), 0)


@at_expression
def stack_members(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Stack the trees of a list, which `vmap` gets, to one tree."""
    if "inconsistent sizes for array axes" not in case.facts.message:
        return
    if not re.search(r"\w+\[0\]\[?.*\w+\[1\]", case.facts.message) or not isinstance(
        node, ast.Call
    ):
        return
    tree, imports = source.spell("jax.tree.map")
    numpy, more = source.spell("jax.numpy")
    for given in node.args:
        if any(m.kind in ("list", "tuple") for m in case.measure(source, given)[:1]):
            text = f"{tree}(lambda *leaves: {numpy}.stack(leaves), *{source.operand(given)})"
            title = (
                f"stack the trees in `{source.code(given)}`: vmap maps axes of arrays, not lists"
            )
            edits = (source.replace(given, text), *imports, *more)
            yield Candidate("stack_trees", title, edits, 0)


@at_expression
def map_over_trees(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `tree.map(stack, trees)` so that it goes through several trees at once."""
    if "must be a sequence of arrays" not in case.facts.message:
        return
    for call in source.calls_of(
        "jax.tree.map", "jax.tree_util.tree_map", within=source.statement(node)
    ):
        if len(call.args) != 2 or call.keywords:
            continue
        function, trees = call.args
        meaning = source.meaning(function)
        if not meaning.startswith("jax.numpy."):
            continue
        texts: dict[ast.expr, str] = {
            function: f"lambda *leaves: {source.code(function)}(leaves)",
            trees: f"*{source.operand(trees)}",
        }
        title = "go through all trees of the list at once: `*` passes each as an argument"
        edit = source.replace(call, substitute(source, call, texts))
        yield Candidate("stack_trees", title, (edit,), 1)


# --- shardings --------------------------------------------------------------------------------------------


@at_expression
def name_mesh(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Give a partition spec the mesh that the script has."""
    if "requires a non-empty mesh in context" not in case.facts.message:
        return
    meshes = [
        statement.targets[0]
        for statement in source.nodes(ast.Assign)
        if isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) in ("Mesh", "make_mesh")
        and isinstance(statement.targets[0], ast.Name)
    ]
    if len(meshes) != 1:
        return
    named, imports = source.spell("jax.sharding.NamedSharding")
    for call in source.nodes(ast.Call, node):
        spec = argument(call, 1, "device")
        if source.meaning(call.func) == "jax.device_put" and spec is not None:
            text = f"{named}({source.code(meshes[0])}, {source.code(spec)})"
            title = "say on which mesh: a spec alone needs one in context"
            edits = (source.replace(spec, text), *imports)
            yield Candidate("named_sharding", title, edits, 1)


# --- arguments that are too many --------------------------------------------------------------------------


@at_expression
def carry_one_tuple(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `fori_loop(0, n, body, q, p)` with one tuple as the carry."""
    said = re.search(r"(\w+)\(\) takes .*positional arguments? but \d+", case.facts.message)
    first = {"fori_loop": 3, "while_loop": 2}.get(said[1], 0) if said is not None else 0
    for call in source.nodes(ast.Call, source.statement(node)) if first else ():
        if source.meaning(call.func) != f"jax.lax.{said[1] if said else ''}":
            continue
        if len(call.args) > first + 1 and not call.keywords:
            head = [source.code(a) for a in call.args[:first]]
            carry = tuple_text([source.code(a) for a in call.args[first:]])
            text = f"{source.code(call.func)}({', '.join([*head, carry])})"
            title = f"carry one tuple: `{carry}`"
            yield Candidate("carry_tuple", title, (source.replace(call, text),), 1)


@at_expression
def drop_further_trees(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass `tree.map` as many trees as its function takes."""
    said = re.search(r"takes (\d+) positional arguments? but (\d+) were given", case.facts.message)
    if said is None:
        return
    wanted = int(said[1])
    for call in source.calls_of(
        "jax.tree.map", "jax.tree_util.tree_map", within=source.statement(node)
    ):
        trees = call.args[1:]
        if len(trees) != int(said[2]) or len(trees) <= wanted or wanted < 1:
            continue
        for rank, i in enumerate(reversed(range(1, len(trees))), 1):
            if len(trees) - wanted != 1:
                break
            kept = [source.code(t) for j, t in enumerate(trees) if j != i]
            options = [source.code(k) for k in call.keywords]
            listed = ", ".join([source.code(call.args[0]), *kept, *options])
            title = f"leave out `{source.code(trees[i])}`: the function takes {wanted} trees"
            edit = source.replace(call, f"{source.code(call.func)}({listed})")
            yield Candidate("drop_argument", title, (edit,), rank, assumes=True)


@at_expression
def infer_one_size(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Join the sizes that `reshape` is to infer: there can be one."""
    if "only one size can be -1" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, node):
        sizes = call.args
        if len(sizes) and isinstance(sizes[-1], (ast.Tuple, ast.List)):
            sizes = sizes[-1].elts
        texts = [source.code(s) for s in sizes]
        unknown = [i for i, text in enumerate(texts) if text == "-1"]
        if len(unknown) > 1 and unknown[-1] - unknown[0] == len(unknown) - 1:
            kept = [t for i, t in enumerate(texts) if i not in unknown[1:]]
            texts_of = {sizes[unknown[0]]: "-1"}
            whole = substitute(source, call, texts_of)
            tail = ", ".join(texts)
            if tail in whole:
                edit = source.replace(call, whole.replace(tail, ", ".join(kept)))
                title = "infer one size: the axes that are left become one"
                yield Candidate("reshape", title, (edit,), 1, assumes=True)


@at_expression
def split_unequally(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Split into parts that differ by one."""
    if "does not result in an equal division" not in case.facts.message:
        return
    name, imports = source.spell("jax.numpy.array_split")
    for call in source.calls_of("jax.numpy.split", within=source.statement(node)):
        title = "split into parts that may differ by one element"
        yield Candidate("array_split", title, (source.replace(call.func, name), *imports), 1)


# --- values that nothing returns ------------------------------------------------------------------------------


@at_expression
def return_last_value(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Return from a loss, which returns nothing, the variable that it computes last."""
    if "Output was PyTreeDef(None)" not in case.facts.message:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        if not source.meaning(call.func).startswith("jax.") or not call.args:
            continue
        for there, function in list(resolve_functions(case, source, call.args[0]))[:1]:
            last = function.body[-1] if isinstance(function, ast.FunctionDef) else None
            names = stores(last) if isinstance(last, (ast.Assign, ast.AugAssign)) else []
            if last is None or len(names) != 1:
                continue
            end = there.span(last)
            text = f"\n{there.indent(last)}return {names[0]}"
            edit = there.insert(end.end_line, end.end_column or 0, text)
            title = f"return `{names[0]}`: the function returns nothing"
            yield Candidate("return_value", title, (edit,), 1)
            return
