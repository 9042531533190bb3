"""Repair options of transformations: static arguments, donation, auxiliary results, mapped axes."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    arguments,
    keyword_value,
    last_name,
    parameters,
    tuple_text,
)
from sagax._src.diagnostics.model import Edit

JIT_FUNCTIONS = ("jax.jit", "jax.pjit", "jax.experimental.pjit.pjit")


class Application(NamedTuple):
    """Describe the application of a transformation to a function.

    `node` is the call `jit(f, ...)`, `partial(jit, ...)` or `jit(...)`, or the bare decorator.
    """

    source: Source
    node: ast.expr
    function: ast.FunctionDef | ast.Lambda | None = None
    decorator: bool = False

    @property
    def parameters(self) -> list[str]:
        """Return the parameters that the transformation sees: without self for `jit(self.step)`."""
        names = parameters(self.function) if self.function is not None else []
        args = self.node.args if isinstance(self.node, ast.Call) and not self.decorator else []
        method = args[0] if args and names[:1] == ["self"] else None
        bound = isinstance(method, ast.Attribute) and not _is_class(self.source, method.value)
        return names[1:] if bound else names


def _is_class(source: Source, node: ast.expr) -> bool:
    name = getattr(node, "id", "")
    imported = name in source.imports and name[:1].isupper()
    return imported or any(c.name == name for c in source.nodes(ast.ClassDef))


def applications(
    case: Case, name: str, kinds: tuple[str, ...] = JIT_FUNCTIONS
) -> Iterator[Application]:
    """Yield the applications of a transformation to the function called `name`."""
    last = name.rpartition(".")[2]
    for source, function in case.definition(name):
        for decorator in function.decorator_list:
            if _applies(case, source, decorator, kinds):
                yield Application(source, decorator, function, True)
    for source in case.sources.values():
        for call in source.calls_of(*kinds):
            if not call.args:
                continue
            inner: ast.expr = call.args[0]
            while isinstance(inner, ast.Call) and inner.args:  # jit(grad(f)), jit(partial(f, ...))
                inner = inner.args[0]
            found = getattr(inner, "id", getattr(inner, "attr", None))
            if isinstance(inner, ast.Lambda) and last == "<lambda>":
                yield Application(source, call, inner, False)
            elif found == last:
                functions = [f for _, f in case.definition(name)]
                yield Application(source, call, functions[0] if functions else None, False)


def _applies(case: Case, source: Source, decorator: ast.expr, kinds: tuple[str, ...]) -> bool:
    if source.meaning(decorator) in kinds:
        return True
    if not isinstance(decorator, ast.Call):
        return False
    if source.meaning(decorator.func) in kinds:
        return True
    if source.meaning(decorator.func) == "functools.partial":
        return bool(decorator.args) and source.meaning(decorator.args[0]) in kinds
    # a decorator of the user's, which forwards its keyword arguments
    name = last_name(decorator.func)
    for there, function in case.definition(name) if name else ():
        return function.args.kwarg is not None and any(
            _applies(case, there, c, kinds) and any(k.arg is None for k in c.keywords)
            for c in there.nodes(ast.Call, function)
        )
    return False


def _functions(case: Case, name: str) -> Iterator[ast.FunctionDef | ast.Lambda]:
    """Yield the functions called `name`, then those that jit is applied to under that name."""
    yield from (function for _, function in case.definition(name))
    for applied in applications(case, name):
        if applied.function is not None:
            yield applied.function


def set_option(applied: Application, option: str, value: str) -> list[Edit]:
    """Add a keyword argument to a transformation, or change its value."""
    source, node = applied.source, applied.node
    if isinstance(node, ast.Call):
        if (old := keyword_value(node, option)) is not None:
            return [source.replace(old, value)]
        return [source.replace(node, source.call_with(node, f"{option}={value}"))]
    partial, imports = source.spell("functools.partial")
    return [source.replace(node, f"{partial}({source.code(node)}, {option}={value})"), *imports]


def option_value(applied: Application, option: str) -> ast.expr | None:
    """Return the value of an option, if it is given."""
    return keyword_value(applied.node, option) if isinstance(applied.node, ast.Call) else None


def drop_option(applied: Application, option: str) -> list[Edit]:
    """Drop a keyword argument; a decorator without options becomes bare."""
    source, node = applied.source, applied.node
    if not isinstance(node, ast.Call):
        return []
    rest = [k for k in node.keywords if k.arg != option]
    parts = [source.code(a) for a in node.args] + [f"{k.arg}={source.code(k.value)}" for k in rest]
    if applied.decorator and not rest:
        bare = node.args[0] if node.args else node.func
        return [source.replace(node, source.code(bare))]
    return [source.replace(node, f"{source.code(node.func)}({', '.join(parts)})")]


def listed_constants(node: ast.expr | None) -> list[str | int]:
    """Return the numbers or names that an option lists."""
    if node is None:
        return []
    return [
        n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and isinstance(n.value, (str, int))
    ]


def _keep_listed(applied: Application, option: str, keep: Callable[[str], bool]) -> list[Edit]:
    """Drop from the parameters that an option lists all but those to keep."""
    known = applied.parameters
    listed = listed_constants(option_value(applied, option))
    kept = [c for c in listed if keep(c if isinstance(c, str) else known[c])]
    if len(kept) == len(listed):
        return []
    if not kept:
        return drop_option(applied, option)
    texts = [f'"{c}"' if isinstance(c, str) else str(c) for c in kept]
    return set_option(applied, option, tuple_text(texts))


# --- static arguments ------------------------------------------------------------------------


def mark_static(case: Case) -> Iterator[Candidate]:
    """Mark the arguments that a value depends on as static."""
    wanted = case.facts.depends
    if not wanted or "self" in wanted:
        return
    diagnostic = case.facts.diagnostic
    if any(re.search(r"\[['\"]|\.", path) for path in diagnostic.depends):
        return  # tuples are the only containers that can be hashed
    if any(re.match(r"b?float|complex|.*\[[^\]]", step.aval) for step in diagnostic.chain):
        return  # arrays cannot be hashed, and floats would compile for each new value
    names = [name for name, reason in case.facts.transforms if reason == "jit"]
    names += re.findall(r"^jit of ([\w.<>]+):", case.facts.message)
    function = diagnostic.function
    wanted_in: list[str] = [*([function] if function else []), *reversed(names)]
    for name in dict.fromkeys(wanted_in):
        for applied in applications(case, name):
            if applied.function is None:
                continue
            if all(w in applied.parameters for w in wanted):
                yield _mark_static_candidate(case, applied)
                return


def _mark_static_candidate(case: Case, applied: Application) -> Candidate:
    wanted = case.facts.depends
    names = ", ".join(f"`{w}`" for w in wanted)
    title = (
        f"mark {names} as static: a constant of the program, which is compiled once for each value"
    )
    rank = 1 if _is_argument_itself(case) else 6
    return Candidate("static_args", title, tuple(add_static(applied, wanted)), rank)


def _is_argument_itself(case: Case) -> bool:
    """Return whether the value is an argument itself, not computed from one, and no float.

    A static float would compile for each new value.
    """
    floating = any(re.match(r"b?float|complex", text) for text in case.facts.data.values())
    computed = {s.what for s in case.facts.diagnostic.chain} - {"", "convert_element_type"}
    return not computed and not floating


def mark_object_static(case: Case) -> Iterator[Candidate]:
    """Mark a string, a function or another object that is no array as static."""
    if "NotAnArrayError" not in case.facts.classes and "cannot be hashed" not in case.facts.message:
        return
    # an object of the user's class should rather become a pytree
    own = re.search(r"of type <class '[\w<>]+\.", case.facts.message) is not None
    for candidate in mark_static(case):
        yield replace(candidate, rank=6) if own else candidate


def mark_self_static(case: Case) -> Iterator[Candidate]:
    """Mark the object of a jitted method as static."""
    if "NotAnArrayError" not in case.facts.classes:
        return
    names = [*re.findall(r"^jit of ([\w.<>]+)", case.facts.data.get("function", ""))]
    names += [name for name, reason in reversed(case.facts.transforms) if reason == "jit"]
    for name in dict.fromkeys(names):
        for applied in applications(case, name):
            known = applied.parameters
            if not known or known[0] not in case.facts.depends or not _is_method(case, applied):
                continue
            title = f"mark `{known[0]}` as static: the object is a constant of the program"
            if any(option_value(applied, f"static_arg{kind}") for kind in ("nums", "names")):
                edits = add_static(applied, known[:1])
            else:
                edits = set_option(applied, "static_argnums", "0")
            yield Candidate("static_self", title, tuple(edits), 1)
            return


def _is_method(case: Case, applied: Application) -> bool:
    return any(
        applied.function is not None and isinstance(s.parents.get(applied.function), ast.ClassDef)
        for s in case.sources.values()
    )


def add_static(applied: Application, wanted: Sequence[str]) -> list[Edit]:
    """Make parameters static, besides those that are static already."""
    listed = option_value(applied, "static_argnums")
    if listed is not None:
        numbers = {n for n in listed_constants(listed) if isinstance(n, int)}
        numbers |= {applied.parameters.index(w) for w in wanted}
        return set_option(applied, "static_argnums", tuple_text([str(n) for n in sorted(numbers)]))
    names = [
        n for n in listed_constants(option_value(applied, "static_argnames")) if isinstance(n, str)
    ]
    quoted = [f'"{n}"' for n in dict.fromkeys([*names, *wanted])]
    return set_option(applied, "static_argnames", tuple_text(quoted))


def arguments_passed(case: Case, source: Source, call: ast.Call) -> dict[str, ast.expr]:
    """Map the parameters of the function being traced to the arguments of a call."""
    for name, _ in reversed(case.facts.transforms):
        for function in _functions(case, name):
            known = parameters(function)
            bound = known[:1] == ["self"] and isinstance(call.func, ast.Attribute)
            starred = any(isinstance(a, ast.Starred) for a in call.args)
            passed = dict(zip(known[bound:], call.args, strict=False)) if not starred else {}
            return passed | {k.arg: k.value for k in call.keywords if k.arg in known}
    return {}


def unmark_static(case: Case) -> Iterator[Candidate]:
    """Unmark static arguments, so that new values need no compilation."""
    wanted = case.facts.depends or (
        (case.facts.data["argument"],) if "argument" in case.facts.data else ()
    )
    names = [case.facts.diagnostic.function, *[n for n, _ in reversed(case.facts.transforms)]]
    names += [case.facts.data.get("compiled", "")]
    for name in dict.fromkeys(n for n in names if n):
        for applied in applications(case, name):
            if applied.function is None:
                continue
            edits = [
                edit
                for option in ("static_argnames", "static_argnums")
                for edit in _keep_listed(applied, option, lambda name: name not in wanted)
            ]
            if edits:
                names = ", ".join(f"`{w}`" for w in wanted)
                title = f"let {names} be traced: new values then need no new compilation"
                yield Candidate("traced_argument", title, tuple(edits), 3)
                return


# --- donation --------------------------------------------------------------------------------


_DONATED_PATTERN = re.compile(r"It was donated to `([^`]*)` as argument (\w+)")


def donated_argument(case: Case) -> str:
    """Return the parameter that an array was donated as, or ""."""
    found = _DONATED_PATTERN.search(case.facts.message)
    return found[2] if found is not None else ""


def copy_donated(case: Case) -> Iterator[Candidate]:
    """Donate a copy of an argument that is used again, or do not donate it."""
    message = _DONATED_PATTERN.search(case.facts.message)
    donations = ((s, n) for text, s, n in case.label_nodes if "donated here" in text)
    source, node = next(donations, (None, None))
    if message is None or source is None or node is None:
        yield from _copy_shared_buffer(case)
        return
    name, parameter = message.groups()
    call = next(iter(source.nodes(ast.Call, node)), None)
    function = next(_functions(case, name), None)
    value = _passed_value(function, call, parameter) if function and call else None
    if value is not None:
        title = f"donate a copy: `{source.code(value)}` is used again"
        yield Candidate("copy_before_donate", title, _copy_edits(source, value), 1)
    for applied in applications(case, name):
        known = applied.parameters
        given = [
            c if isinstance(c, str) else known[c]
            for option in ("donate_argnums", "donate_argnames")
            for c in listed_constants(option_value(applied, option))
            if isinstance(c, str) or c < len(known)
        ]
        drop = _donate_only(applied, [n for n in given if n != parameter])
        yield Candidate("no_donation", f"do not donate `{parameter}`", tuple(drop), 2)


_DONATED_TWICE_PATTERN = re.compile(
    r"([\w.<>]+): one buffer is donated .* in the same call: as (\w+).* and as (\w+)"
)


@at_expression
def _copy_shared_buffer(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Copy an array that is passed twice in a call, and donated once."""
    message = _DONATED_TWICE_PATTERN.search(case.facts.message)
    function = next(_functions(case, message[1]), None) if message is not None else None
    for call in source.nodes(ast.Call, node):
        value = _passed_value(function, call, message[3]) if message and function else None
        if message is not None and value is not None:
            yield from _copy_at_assignment(source, value)
            title = f"give a copy as `{message[3]}`: the array is donated"
            yield Candidate("copy_before_donate", title, _copy_edits(source, value), 1)
            return


def _copy_at_assignment(source: Source, value: ast.expr) -> Iterator[Candidate]:
    """Copy an array where it gets a second name: once, instead of in each call."""
    scope = source.function(value) or source.tree
    others = [
        assigned
        for assigned in source.assigned(getattr(value, "id", ""), scope)
        if isinstance(assigned, ast.Name)
    ]
    edits = tuple(edit for other in others for edit in _copy_edits(source, other))
    if edits:
        title = f"let `{source.code(value)}` be a copy where it is assigned: the array is donated"
        yield Candidate("copy_before_donate", title, tuple(dict.fromkeys(edits)), 0)


def _copy_edits(source: Source, value: ast.expr) -> tuple[Edit, ...]:
    """Return the edits that replace a pytree by a copy."""
    tree_map, imports = source.spell("jax.tree.map")
    numpy, more = source.spell("jax.numpy")
    text = f"{tree_map}({numpy}.copy, {source.code(value)})"
    return (source.replace(value, text), *imports, *more)


def _passed_value(
    function: ast.FunctionDef | ast.Lambda, call: ast.Call, name: str
) -> ast.expr | None:
    """Return the value that a call passes for a parameter, or the container that it unpacks."""
    known = arguments(function)
    if (value := keyword_value(call, name)) is not None:
        return value
    at = known.index(name) if name in known else 0
    for given in call.args[: at + 1]:
        if isinstance(given, ast.Starred):
            return given.value
    if name in known and at < len(call.args):
        return call.args[at]
    return next((k.value for k in call.keywords if k.arg is None), None)


def _donate_only(applied: Application, names: list[str]) -> list[Edit]:
    return [
        edit
        for option in ("donate_argnums", "donate_argnames")
        for edit in _keep_listed(applied, option, lambda name: name in names)
    ]


def drop_donation(case: Case) -> Iterator[Candidate]:
    """Drop a donation that no result can use."""
    wanted = case.facts.depends
    for applied in applications(case, case.facts.data.get("compiled", "")):
        given = listed_constants(option_value(applied, "donate_argnums")) + listed_constants(
            option_value(applied, "donate_argnames")
        )
        if not given or applied.function is None:
            continue
        known = applied.parameters
        names = [c if isinstance(c, str) else known[c] for c in given]
        edits = _donate_only(applied, [n for n in names if n not in wanted])
        if edits:
            listed = ", ".join(f"`{w}`" for w in wanted)
            title = f"do not donate {listed}: no result has that shape and dtype"
            yield Candidate("donate_shape", title, tuple(edits), 1)
            return


# --- grad ------------------------------------------------------------------------------------


def set_has_aux(case: Case) -> Iterator[Candidate]:
    """Set `has_aux=True` for a function that returns (loss, data)."""
    if "tuple of length 2" not in case.facts.data.get("got", ""):
        return
    name = re.split(r"\s", case.facts.data.get("expected", ""))[0]
    kinds = ("jax.grad", "jax.value_and_grad")
    found = list(applications(case, name, kinds))
    if not found and case.source is not None and case.node is not None:
        call = find_transform_call(case, case.source, case.node, kinds)
        found = [Application(*call)] if call is not None else []
    for applied in found:
        edits = tuple(set_option(applied, "has_aux", "True"))
        title = "say that the function returns (loss, other results): has_aux=True"
        yield Candidate("has_aux", title, edits, 1)


# --- vmap ------------------------------------------------------------------------------------


@at_expression
def set_in_axes(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Change `in_axes` where arguments differ in size: map another axis, or none."""
    rows = re.findall(r"axis (\d+) of (\w+)[^()]*\(\w+\[([\d,]*)\]\)", case.facts.message)
    shapes = {name: [int(n) for n in shape.split(",") if n] for _, name, shape in rows}
    found = find_transform_call(case, source, node)
    if len(shapes) < 2 or found is None:
        return
    vmap_source, call = found
    function = call.args[0] if call.args else None
    definition = next((f for _, f in case.definition(last_name(function))), function)
    is_function = isinstance(definition, (ast.FunctionDef, ast.Lambda))
    known = arguments(definition) if is_function else []
    known = [n for n in known if n in shapes] if set(shapes) <= set(known) else list(shapes)
    sizes = list(dict.fromkeys(n for shape in shapes.values() for n in shape))
    options: list[tuple[int, tuple[str, ...]]] = []
    for size in sizes:
        choices: list[list[str]] = []
        for arg in known:
            axes = [str(i) for i, n in enumerate(shapes[arg]) if n == size]
            choices.append([*axes, "None"])
        for axes in itertools.product(*choices):
            if set(axes) == {"None"}:
                continue
            # prefer few changes; then axis 0; then the largest size
            moved = sum(a not in ("0", "None") for a in axes)
            unmapped = sum(a == "None" for a in axes)
            largest = max(
                len(shapes[a]) for a, axis in zip(known, axes, strict=True) if axis != "None"
            )
            options.append((4 * moved + 2 * unmapped - largest, axes))
    options.sort(key=lambda o: o[0])
    applied = Application(vmap_source, call)
    seen: set[tuple[str, ...]] = set()
    for i, (_, axes) in enumerate(options[:5]):
        if axes in seen:
            continue
        seen.add(axes)
        mapping = ", ".join(
            f"`{arg}` not" if axis == "None" else f"`{arg}` over axis {axis}"
            for arg, axis in zip(known, axes, strict=True)
        )
        edits = tuple(set_option(applied, "in_axes", tuple_text(axes)))
        yield Candidate("in_axes", f"map {mapping}", edits, 1 + i)


def _called_transform(
    case: Case, source: Source, called: ast.expr, kinds: tuple[str, ...]
) -> tuple[Source, ast.Call] | None:
    """Return the call of a transformation that is called itself, or by the name it is assigned to."""
    if isinstance(called, ast.Call):
        return (source, called) if source.meaning(called.func) in kinds else None
    if not isinstance(called, ast.Name):
        return None
    for there, assignment, targets in case.assignments():
        value = assignment.value
        if targets == [called.id] and isinstance(value, ast.Call):
            if there.meaning(value.func) in kinds:
                return there, value
    return None


def find_transform_call(
    case: Case, source: Source, node: ast.AST, kinds: tuple[str, ...] = ("jax.vmap",)
) -> tuple[Source, ast.Call] | None:
    """Return the call of a transformation whose result is called at `node`."""
    said = _call_with_these_axes(case, kinds)
    if said is not None:
        return said
    statement = source.statement(node)
    if isinstance(node, ast.Call) and (own := _called_transform(case, source, node.func, kinds)):
        return own
    inside = source.calls_of(*kinds, within=statement)
    if inside:
        return source, inside[-1]
    called = {
        last_name(n)
        for n in source.nodes((ast.Name, ast.Attribute), statement)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load)
    }
    for found in case.sources.values():
        for call in found.calls_of(*kinds):
            parent = found.parents.get(call)
            while isinstance(parent, ast.Call) and parent.func is not call:  # jit(vmap(f))
                parent = found.parents.get(parent)
            if isinstance(parent, ast.Assign) and any(
                last_name(t) in called for t in parent.targets
            ):
                return found, call
    every = [(s, c) for s in case.sources.values() for c in s.calls_of(*kinds)]
    return every[0] if len(every) == 1 else None


def _call_with_these_axes(case: Case, kinds: tuple[str, ...]) -> tuple[Source, ast.Call] | None:
    """Return the only call whose `in_axes`, or an entry of it, is written as the error shows it."""
    data = case.facts.data
    if not data.get("argument", "").startswith("in_axes"):
        return None
    found: list[tuple[Source, ast.Call]] = []
    for source in case.sources.values():
        for call in source.calls_of(*kinds):
            given = argument(call, 1, "in_axes")
            entries = given.elts if isinstance(given, (ast.Tuple, ast.List)) else []
            parts = [given] if data["argument"] == "in_axes" else entries
            if any(_is_literal(part, data.get("got", "")) for part in parts):
                found.append((source, call))
    return found[0] if len(found) == 1 else None


def _is_literal(node: ast.expr | None, text: str) -> bool:
    """Return whether an expression is a literal of the value that `text` shows."""
    try:
        return node is not None and ast.literal_eval(node) == ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False


# --- export ----------------------------------------------------------------------------------


def add_constraint(case: Case) -> Iterator[Candidate]:
    """Add a constraint that decides an inconclusive comparison of symbolic sizes."""
    constraint = case.facts.data.get("constraint", "")
    if constraint:
        yield from _add_constraint_candidates(case, constraint, 1)
        if other := _negated_constraint(constraint):
            yield from _add_constraint_candidates(case, other, 2)


def _negated_constraint(constraint: str) -> str:
    """Return the negation of a constraint: "b <= 3" for "b >= 4"; "" if there is none."""
    found = re.fullmatch(r"(.+) (>=|<=) (.+)", constraint)
    if found is None:
        return ""
    left, sign, right = found.groups()
    step, turned = (-1, "<=") if sign == ">=" else (1, ">=")
    known = right.lstrip("-").isdigit()
    bound = str(int(right) + step) if known else f"{right} {'-' if step < 0 else '+'} 1"
    return f"{left} {turned} {bound}"


def _add_constraint_candidates(case: Case, constraint: str, rank: int) -> Iterator[Candidate]:
    names = set(re.findall(r"[A-Za-z_]\w*", constraint))
    makers = (
        "jax.export.symbolic_shape",
        "jax.export.symbolic_args_specs",
        "jax.export.SymbolicScope",
    )
    for source in case.sources.values():
        for call in source.calls_of(*makers):
            texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant)]
            known = {w for t in texts if isinstance(t, str) for w in re.findall(r"[A-Za-z_]\w*", t)}
            if not names & known:
                continue
            title = f"say that {constraint} always holds, where the dimension is made"
            present = option_value(Application(source, call), "constraints")
            if isinstance(present, (ast.List, ast.Tuple)) and present.elts:
                last = present.elts[-1]
                edit = source.replace(last, f'{source.code(last)}, "{constraint}"')
                yield Candidate("dim_constraint", title, (edit,), rank)
            else:
                edits = set_option(Application(source, call), "constraints", f'["{constraint}"]')
                yield Candidate("dim_constraint", title, tuple(edits), rank)
