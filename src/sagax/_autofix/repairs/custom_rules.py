"""Repair rules of custom_jvp and custom_vjp: set them, and return what they must."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    keyword_value,
    last_name,
    loads,
    parameters,
    stores,
    tuple_text,
)
from sagax._src.diagnostics.model import Edit

_CUSTOM = ("jax.custom_jvp", "jax.custom_vjp")


# --- rules that were not set ---------------------------------------------------------------------


def set_rule(case: Case) -> Iterator[Candidate]:
    """Set the rule that is defined and not set; without one, drop the decorator."""
    said = re.search(r"No (JVP|VJP) defined for custom_\w+ function ([\w.<>]+)", case.facts.message)
    if said is None:
        return
    for source, function in case.definition(said[2]):
        if not any(_is_custom(source, d) for d in function.decorator_list):
            continue
        unused = _unused_functions(source, function)
        if said[1] == "JVP":
            yield from _set_jvp(source, function, unused)
        else:
            yield from _set_vjp(source, function, unused)
        if len(function.decorator_list) == 1:
            line = function.decorator_list[0].lineno
            edit = source.replace_statements(
                [function], _without_first_line(source, function, line)
            )
            title = "without a rule, leave the derivative to that of the operations"
            yield Candidate("drop_rule", title, (edit,), 3)


def _is_custom(source: Source, decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        inside = [decorator.func, *decorator.args[:1]]
        return any(source.meaning(d) in _CUSTOM for d in inside)
    return source.meaning(decorator) in _CUSTOM


def _without_first_line(source: Source, function: ast.FunctionDef, line: int) -> str:
    last = function.end_lineno or 0
    lines = source.lines[source.first_line(function) - 1 : last]
    return "\n".join(lines[line - source.first_line(function) + 1 :])


def _unused_functions(source: Source, function: ast.FunctionDef) -> list[ast.FunctionDef]:
    """Return the functions beside another that nothing reads, the nearest name first."""
    read = {n.id for n in source.nodes(ast.Name) if isinstance(n.ctx, ast.Load)}
    beside = [f for f in source.block(function) if isinstance(f, ast.FunctionDef)]
    found = [f for f in beside if f is not function and f.name not in read and not f.decorator_list]
    return sorted(found, key=lambda f: -_likeness(f.name, function.name))


def _likeness(one: str, other: str) -> float:
    contained = other.lower() in one.lower()
    return contained + difflib.SequenceMatcher(None, one, other).ratio()


def _belongs(rule: ast.FunctionDef, function: ast.FunctionDef) -> bool:
    """Return whether a rule calls a function, or has its name in its own."""
    return function.name in loads(rule) or function.name.lower() in rule.name.lower()


def _positional_count(function: ast.FunctionDef) -> int:
    return len(function.args.posonlyargs) + len(function.args.args)


def _set_jvp(
    source: Source, function: ast.FunctionDef, unused: Sequence[ast.FunctionDef]
) -> Iterator[Candidate]:
    rules = [
        f
        for f in unused
        if _positional_count(f) == 2 and f.lineno > function.lineno and _belongs(f, function)
    ]
    for rank, rule in enumerate(rules[:2], 1):
        line = f"{source.indent(rule)}@{function.name}.defjvp"
        title = f"set the rule: `{rule.name}` takes primals and tangents"
        yield Candidate(
            "define_rule", title, (source.insert_above(source.first_line(rule), line),), rank
        )


def _set_vjp(
    source: Source, function: ast.FunctionDef, unused: Sequence[ast.FunctionDef]
) -> Iterator[Candidate]:
    count = _positional_count(function)
    forward = [f for f in unused if _positional_count(f) == count and _belongs(f, function)]
    backward = [f for f in unused if _positional_count(f) == 2]
    pairs = [(f, b) for f in forward for b in backward if f is not b]
    # of functions of two arguments, the one that calls the function is the forward rule
    pairs.sort(key=lambda pair: function.name not in loads(pair[0]))
    for rank, (one, other) in enumerate(pairs[:2], 1):
        last = max(one, other, function, key=lambda f: f.lineno)
        line = f"{source.indent(function)}{function.name}.defvjp({one.name}, {other.name})"
        at = last.end_lineno or 0
        edit = source.insert(at, len(source.lines[at - 1]), f"\n\n\n{line}")
        title = f"set the rules: `{one.name}` forward, `{other.name}` backward"
        yield Candidate("define_rule", title, (edit,), rank)


def take_nondiff_arguments(case: Case) -> Iterator[Candidate]:
    """Let a backward rule take the arguments that `nondiff_argnums` names, before the residuals."""
    said = re.search(
        r"(\w+)\(\) takes (\d+) positional arguments? but (\d+) (?:were|was) given",
        case.facts.message,
    )
    if said is None:
        return
    for source in case.sources.values():
        for function in source.nodes(ast.FunctionDef):
            numbers = [
                n.value
                for decorator in function.decorator_list
                if isinstance(decorator, ast.Call)
                and (given := keyword_value(decorator, "nondiff_argnums")) is not None
                for n in ast.walk(given)
                if isinstance(n, ast.Constant) and isinstance(n.value, int)
            ]
            known = parameters(function)
            names = [known[n] for n in numbers if n < len(known)]
            backward = [f for _, f in find_rules(case, function.name) if f.name == said[1]]
            backward += [
                f
                for f in source.nodes(ast.FunctionDef)
                if f.name == said[1] and _is_jvp_of(f, function.name)
            ]
            if not names or not backward or int(said[3]) - int(said[2]) != len(names):
                continue
            own = [*backward[0].args.posonlyargs, *backward[0].args.args]
            if not own or set(names) & {a.arg for a in own}:
                continue
            edits = tuple(source.around(own[0], ", ".join(names) + ", ", ""))
            title = f"take {', '.join(f'`{n}`' for n in names)} first: nondiff_argnums passes it"
            yield Candidate("match_signature", title, edits, 1)


# --- what the rules return -----------------------------------------------------------------------


def return_residuals(case: Case) -> Iterator[Candidate]:
    """Return (out, residuals) from a forward rule that returns the output alone."""
    said = re.search(
        r"fwd rule ([\w.<>]+) for function ([\w.<>]+) must produce a pair \(list",
        case.facts.message,
    )
    if said is None:
        return
    rules = find_rules(case, said[2])
    for source, rule in list(case.definition(said[1]))[:1]:
        backward = rules[1][1] if len(rules) == 2 else None
        residuals, told = _residuals(rule, backward)
        edits: list[Edit] = []
        for value in returned_expressions(source, rule):
            items = value.elts if isinstance(value, ast.Tuple) else []
            out, rest = source.code(value), residuals
            if len(items) > 2:  # all but the first are meant
                out, *others = [source.code(e) for e in items]
                rest, told = tuple_text(others), len(others) == len(_unpacked_names(backward))
            if not rest:
                return
            outer = bool(items) and source.code(value).startswith("(")
            edits.append(source.replace(value, f"({out}, {rest})" if outer else f"{out}, {rest}"))
        title = "return (out, residuals): what the backward rule reads"
        yield Candidate("return_pair", title, tuple(edits), 1, assumes=not told)


def return_primal(case: Case) -> Iterator[Candidate]:
    """Return (out, tangent) from a rule that returns the tangent alone."""
    said = re.search(
        r"JVP rule ([\w.<>]+) for function ([\w.<>]+) must produce a pair \(list",
        case.facts.message,
    )
    if said is None:
        return
    name = said[2].rpartition(".")[2]
    for source, rule in list(case.definition(said[1]))[:1]:
        values = list(returned_expressions(source, rule))
        if not values or any(isinstance(v, (ast.Tuple, ast.List)) for v in values):
            return
        called = [
            node.targets[0]
            for node in source.nodes(ast.Assign, rule)
            if isinstance(node.value, ast.Call) and last_name(node.value.func) == name
        ]
        known = parameters(rule)
        out = source.code(called[0]) if called else f"{name}(*{known[0]})" if known else ""
        if not out:
            return
        edits = tuple(source.replace(v, f"{out}, {source.code(v)}") for v in values)
        yield Candidate("return_pair", "return (out, tangent of out)", edits, 1)


def _is_jvp_of(rule: ast.FunctionDef, name: str) -> bool:
    """Return whether a function is decorated as the jvp rule of another."""
    return any(
        isinstance(d, ast.Attribute) and d.attr == "defjvp" and last_name(d.value) == name
        for d in rule.decorator_list
    )


def find_rules(case: Case, name: str) -> list[tuple[Source, ast.FunctionDef]]:
    """Return the forward and the backward rule that `name.defvjp(fwd, bwd)` sets."""
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "defvjp":
                continue
            if last_name(func.value) != name.rpartition(".")[2]:
                continue
            given = [argument(call, 0, "fwd"), argument(call, 1, "bwd")]
            found = [
                next(iter(resolve_functions(case, source, g)), None) for g in given if g is not None
            ]
            return [(s, f) for s, f in (x for x in found if x) if isinstance(f, ast.FunctionDef)]
    return []


def _residuals(rule: ast.FunctionDef, backward: ast.FunctionDef | None) -> tuple[str, bool]:
    """Return the residuals of a forward rule, and whether names of the backward rule tell them."""
    known = parameters(rule)
    local = {*known, *stores(rule.body)}
    names = _unpacked_names(backward)
    if names and all(n in local for n in names):
        return tuple_text(names), True
    if names and len(names) != len(known):
        return "", False
    received = parameters(backward)[-2:-1] if backward is not None else []
    if not names and received and received[0] in local:
        return received[0], True
    return known[0] if len(known) == 1 and not names else tuple_text(known), False


def _unpacked_names(backward: ast.FunctionDef | None) -> list[str]:
    """Return the names that a backward rule unpacks its residuals into."""
    received = parameters(backward)[-2:-1] if backward is not None else []
    for node in ast.walk(backward) if backward is not None else ():
        if isinstance(node, ast.Assign) and [getattr(node.value, "id", "")] == received:
            target = node.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                return [last_name(e) for e in target.elts]
    return []


def complete_cotangents(case: Case) -> Iterator[Candidate]:
    """Return from a backward rule a tuple with an entry for each argument."""
    said = re.search(
        r"bwd rule ([\w.<>]+) for function ([\w.<>]+) must produce a tuple of length",
        case.facts.message,
    )
    if said is None:
        return
    rules = find_rules(case, said[2])
    if len(rules) != 2:
        return
    source, rule = rules[1]
    wanted = [p for f in case.definition(said[2]) for p in parameters(f[1])]
    missing = 0
    edits: list[Edit] = []
    for value in returned_expressions(source, rule):
        items = value.elts if isinstance(value, ast.Tuple) else [value]
        missing = len(wanted) - (len(parameters(rule)) - 2) - len(items)
        rest = items[missing:] if missing < 0 else []
        if rest and all(isinstance(e, ast.Constant) and e.value is None for e in rest):
            edits.append(
                source.replace(value, tuple_text([source.code(e) for e in items[:missing]]))
            )
            continue
        if missing < 0 or (missing == 0 and isinstance(value, ast.Tuple)):
            return
        entries = [source.code(e) for e in items] + ["None"] * missing
        edits.append(source.replace(value, tuple_text(entries)))
    if edits:
        title = "return a tuple with the cotangent of each argument"
        title += ", None for those without" if missing else ""
        yield Candidate("match_tree", title, tuple(edits), 1, assumes=missing > 0)


# --- shapes of cotangents ------------------------------------------------------------------------


def reshape_cotangent(case: Case) -> Iterator[Candidate]:
    """Give the cotangent that a backward rule returns the shape of the argument."""
    said = re.search(
        r"bwd rule ([\w.<>]+) for function ([\w.<>]+) must produce cotangents with the shapes",
        case.facts.message,
    )
    data = case.facts.data
    name = re.search(r"cotangent of (\w+)$", data.get("argument", ""))
    shapes = [_shape_of(data.get(key, "")) for key in ("expected", "got")]
    if said is None or name is None or shapes[0] is None or shapes[1] is None:
        return
    rules = find_rules(case, said[2])
    known = [parameters(f) for _, f in case.definition(said[2])][:1]
    if len(rules) != 2 or not known or name[1] not in known[0]:
        return
    source, rule = rules[1]
    back = len(known[0]) - known[0].index(name[1])
    for value in returned_expressions(source, rule):
        items = value.elts if isinstance(value, ast.Tuple) else [value]
        if back > len(items):
            continue
        part = items[-back]
        forms = list(_cotangent_forms(source, part, shapes[0], shapes[1]))
        for rank, (target, text, what) in enumerate(forms, 1):
            numpy, imports = source.spell("jax.numpy")
            new = text.format(numpy=numpy)
            if target is not part:
                target, new = part, substitute(source, part, {target: new})
            title = f"return the cotangent of `{name[1]}` with its shape, {shapes[0]}: {what}"
            edits = (source.replace(target, new), *imports)
            yield Candidate("cotangent_shape", title, edits, rank, assumes=True)


def _shape_of(text: str) -> tuple[int, ...] | None:
    found = re.search(r"\[([\d,]*)\]", text)
    return tuple(int(n) for n in found[1].split(",") if n) if found else None


def _cotangent_forms(
    source: Source, part: ast.expr, wanted: tuple[int, ...], got: tuple[int, ...]
) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield an expression in the cotangent, its new text, and a word for it."""
    if len(got) < len(wanted):
        if len(wanted) == 2:
            for product, left, right in _products(source, part):
                for one, other in ((left, right), (right, left)):
                    text = f"{{numpy}}.outer({_escaped(source, one)}, {_escaped(source, other)})"
                    yield product, text, "the product of each pair of elements"
        text = f"{{numpy}}.broadcast_to({_escaped(source, part)}, {wanted})"
        yield part, text, "the same for each element"
    elif got == wanted[::-1]:
        yield part, f"{_escaped(source, part, True)}.T", "transposed"
    elif axes := _summed_axes(wanted, got):
        lead = len(got) - len(wanted)
        axis = axes[0] if len(axes) == 1 else tuple(axes)
        keep = ", keepdims=True" if not lead else ""
        if lead and len(axes) > lead:
            return
        text = f"{{numpy}}.sum({_escaped(source, part)}, axis={axis}{keep})"
        yield part, text, "the sum over the axes that it was broadcast along"


def _escaped(source: Source, node: ast.expr, primary: bool = False) -> str:
    text = source.primary(node) if primary else source.code(node)
    return text.replace("{", "{{").replace("}", "}}")


def _products(source: Source, part: ast.expr) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    """Yield the inner products in an expression, with their factors."""
    for node in ast.walk(part):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield node, node.left, node.right
        elif isinstance(node, ast.Call) and len(node.args) == 2:
            if source.meaning(node.func) in ("jax.numpy.dot", "jax.numpy.inner", "jax.numpy.vdot"):
                yield node, node.args[0], node.args[1]


def _summed_axes(wanted: tuple[int, ...], got: tuple[int, ...]) -> list[int]:
    """Return the axes of a cotangent over which its sum has the wanted shape."""
    lead = len(got) - len(wanted)
    if lead < 0:
        return []
    rest = list(zip(wanted, got[lead:], strict=True))
    if any(w not in (1, g) for w, g in rest):
        return []
    return [*range(lead), *[lead + i for i, (w, g) in enumerate(rest) if w != g]]
