"""Options of transformations: static arguments, donation, auxiliary results, mapped axes."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from sagax._src.diagnostics.fixes.case import Candidate, Case
from sagax._src.diagnostics.fixes.source import Source, parameters
from sagax._src.diagnostics.model import Edit

__all__ = [
    "Applied",
    "applications",
    "call_behind",
    "copied",
    "dimension_constraint",
    "donated_names",
    "has_aux",
    "hashable",
    "mapped_axes",
    "no_donation",
    "static",
    "static_object",
    "static_self",
    "traced",
    "with_option",
]

JITS = ("jax.jit", "jax.pjit", "jax.experimental.pjit.pjit")


class Applied(NamedTuple):
    """A place where a transformation is applied to a function.

    `node` is the call `jit(f, ...)`, `partial(jit, ...)` or `jit(...)`, or the bare decorator.
    """

    source: Source
    node: ast.expr
    function: ast.FunctionDef | ast.Lambda | None
    decorator: bool


def applications(case: Case, name: str, kinds: tuple[str, ...] = JITS) -> Iterator[Applied]:
    """Where the program applies a transformation to the function called `name`."""
    last = name.rpartition(".")[2]
    for source, function in case.definition(name):
        for decorator in function.decorator_list:
            if _applies(case, source, decorator, kinds):
                yield Applied(source, decorator, function, True)
    for source in case.sources.values():
        for call in source.calls_of(*kinds):
            if not call.args:
                continue
            inner: ast.expr = call.args[0]
            while isinstance(inner, ast.Call) and inner.args:  # jit(grad(f)), jit(partial(f, ...))
                inner = inner.args[0]
            found = getattr(inner, "id", getattr(inner, "attr", None))
            if isinstance(inner, ast.Lambda) and last == "<lambda>":
                yield Applied(source, call, inner, False)
            elif found == last:
                functions = [f for _, f in case.definition(name)]
                yield Applied(source, call, functions[0] if functions else None, False)


def _applies(case: Case, source: Source, decorator: ast.expr, kinds: tuple[str, ...]) -> bool:
    if source.meaning(decorator) in kinds:
        return True
    if not isinstance(decorator, ast.Call):
        return False
    if source.meaning(decorator.func) in kinds:
        return True
    if source.meaning(decorator.func) == "functools.partial":
        return bool(decorator.args) and source.meaning(decorator.args[0]) in kinds
    # a decorator of the program's own, which hands on its keyword arguments
    name = getattr(decorator.func, "id", getattr(decorator.func, "attr", ""))
    for there, made in case.definition(name) if name else ():
        handed = made.args.kwarg and [
            c
            for c in there.nodes(ast.Call, made)
            if _applies(case, there, c, kinds) and any(k.arg is None for k in c.keywords)
        ]
        return bool(handed)
    return False


def with_option(applied: Applied, option: str, value: str) -> list[Edit]:
    """The edits that give a transformation one more keyword argument, or another value of it."""
    source, node = applied.source, applied.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == option:
                return [source.replace(keyword.value, value)]
        text = source.code(node)
        inside = text[:-1].rstrip()
        comma = "" if inside.endswith(("(", ",")) else ", "
        if inside.endswith(","):
            comma = " "
        return [source.replace(node, f"{inside}{comma}{option}={value})")]
    partial, imports = source.spell("functools.partial")
    return [source.replace(node, f"{partial}({source.code(node)}, {option}={value})"), *imports]


def keyword(applied: Applied, option: str) -> ast.expr | None:
    """The value that an option has."""
    if isinstance(applied.node, ast.Call):
        for found in applied.node.keywords:
            if found.arg == option:
                return found.value
    return None


def _without_option(applied: Applied, option: str) -> list[Edit]:
    """The edits that drop a keyword argument; a decorator that needs no options becomes bare."""
    source, node = applied.source, applied.node
    if not isinstance(node, ast.Call):
        return []
    rest = [k for k in node.keywords if k.arg != option]
    parts = [source.code(a) for a in node.args] + [f"{k.arg}={source.code(k.value)}" for k in rest]
    if applied.decorator and not rest:
        bare = node.args[0] if node.args else node.func
        return [source.replace(node, source.code(bare))]
    return [source.replace(node, f"{source.code(node.func)}({', '.join(parts)})")]


def constants(node: ast.expr | None) -> list[str | int]:
    """The numbers or names that an option lists."""
    if node is None:
        return []
    return [
        n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and isinstance(n.value, (str, int))
    ]


# --- static arguments ------------------------------------------------------------------------


def static(case: Case) -> Iterator[Candidate]:
    """Mark the arguments that a value depends on as static, where jit is applied."""
    wanted = case.facts.depends
    if not wanted or "self" in wanted:
        return
    diagnostic = case.facts.diagnostic
    if any("[" in path for path in diagnostic.depends):
        return  # containers cannot be hashed
    if any(re.match(r"b?float|complex|.*\[[^\]]", step.aval) for step in diagnostic.chain):
        return  # nor can arrays; what numbers are computed from takes ever new values
    names = [name for name, reason in case.facts.transforms if reason == "jit"]
    names += re.findall(r"^jit of ([\w.<>]+):", case.facts.message)
    function = diagnostic.function
    wanted_in: list[str] = [*([function] if function else []), *reversed(names)]
    for name in dict.fromkeys(wanted_in):
        for applied in applications(case, name):
            if applied.function is None:
                continue
            known = parameters(applied.function)
            if not all(w in known for w in wanted):
                continue
            yield _static_names(case, applied, known)
            return


def _static_names(case: Case, applied: Applied, known: list[str]) -> Candidate:
    wanted = case.facts.depends
    said = ", ".join(f"`{w}`" for w in wanted)
    title = (
        f"mark {said} as static: a constant of the program, which is compiled once for each value"
    )
    rank = 1 if _is_the_argument(case) else 6
    present = keyword(applied, "static_argnums")
    if present is not None:
        numbers = [n for n in constants(present) if isinstance(n, int)]
        numbers += [known.index(w) for w in wanted]
        listed = ", ".join(map(str, sorted(set(numbers))))
        value = f"({listed},)" if len(set(numbers)) == 1 else f"({listed})"
        return Candidate(
            "static_args", title, tuple(with_option(applied, "static_argnums", value)), rank
        )
    names = [n for n in constants(keyword(applied, "static_argnames")) if isinstance(n, str)]
    quoted = [f'"{n}"' for n in dict.fromkeys([*names, *wanted])]
    value = f"({', '.join(quoted)},)" if len(quoted) == 1 else f"({', '.join(quoted)})"
    edits = tuple(with_option(applied, "static_argnames", value))
    return Candidate("static_args", title, edits, rank)


def _is_the_argument(case: Case) -> bool:
    """Whether the value asked for is an argument itself, nothing computed from it, and no measured quantity.

    Floating point numbers take ever new values: a program for each of them is not what is wanted.
    """
    floating = any(re.match(r"b?float|complex", text) for text in case.facts.data.values())
    computed = {s.what for s in case.facts.diagnostic.chain} - {"", "convert_element_type"}
    return not computed and not floating


def static_object(case: Case) -> Iterator[Candidate]:
    """A text, a function or another object that is no array, given to a jitted function."""
    if "NotAnArrayError" not in case.facts.classes and "cannot be hashed" not in case.facts.message:
        return
    # an object of the user's own rather becomes a pytree
    own = re.search(r"of type <class '[\w<>]+\.", case.facts.message) is not None
    for candidate in static(case):
        yield replace(candidate, rank=6) if own else candidate


def static_self(case: Case) -> Iterator[Candidate]:
    """A method under jit: `self` is no array."""
    if "self" not in case.facts.depends:
        return
    for source in case.sources.values():
        for function in source.nodes(ast.FunctionDef):
            known = parameters(function)
            if not known or known[0] != "self":
                continue
            for decorator in function.decorator_list:
                if not _applies(case, source, decorator, JITS):
                    continue
                method = case.facts.data.get("function", "") + " ".join(
                    name for name, _ in case.facts.transforms
                )
                if function.name not in method:
                    continue
                applied = Applied(source, decorator, function, True)
                numbers = [
                    n for n in constants(keyword(applied, "static_argnums")) if isinstance(n, int)
                ]
                value = "0" if not numbers else f"({', '.join(map(str, [0, *numbers]))})"
                title = "mark `self` as static: the object is a constant of the program"
                edits = tuple(with_option(applied, "static_argnums", value))
                yield Candidate("static_self", title, edits, 1)


def hashable(case: Case) -> Iterator[Candidate]:
    """A list, dict or set given for a static argument -> a tuple."""
    source, node = case.source, case.node
    name = case.facts.data.get("argument", "")
    if source is None or node is None or not name:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        for value in _given(case, call, name):
            if isinstance(value, ast.List):
                items = [source.code(e) for e in value.elts]
                text = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
            elif isinstance(value, ast.Dict):
                text = f"tuple({source.code(value)}.items())"
            else:
                text = f"tuple({source.code(value)})"
            title = f"pass `{name}` as a tuple, which can be hashed"
            yield Candidate("hashable_static", title, (source.replace(value, text),), 1)
    yield from _frozen(case)
    yield from traced(case)


def _frozen(case: Case) -> Iterator[Candidate]:
    """A dataclass whose objects are static -> frozen, so that they can be hashed."""
    said = re.search(r"a value of type (\w+) cannot be hashed", case.facts.message)
    for source in case.sources.values() if said is not None else ():
        for found in source.nodes(ast.ClassDef):
            for decorator in found.decorator_list if said and found.name == said[1] else ():
                what = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(what) != "dataclasses.dataclass":
                    continue
                if isinstance(decorator, ast.Call):
                    edits = with_option(Applied(source, decorator, None, True), "frozen", "True")
                else:
                    edits = [source.replace(decorator, f"{source.code(decorator)}(frozen=True)")]
                title = f"freeze `{found.name}`: its objects are then compared and hashed by what they hold"
                yield Candidate("hashable_static", title, tuple(edits), 1)


def _given(case: Case, call: ast.Call, name: str) -> Iterator[ast.expr]:
    """What a call passes for the parameter `name` of the function it calls."""
    called = getattr(call.func, "id", getattr(call.func, "attr", ""))
    for found in call.keywords:
        if found.arg == name:
            yield found.value
            return
    for _, function in case.definition(_target(case, called)):
        known = parameters(function)
        if known[:1] == ["self"] and isinstance(call.func, ast.Attribute):
            known = known[1:]
        if name in known and known.index(name) < len(call.args):
            yield call.args[known.index(name)]
            return


def traced(case: Case) -> Iterator[Candidate]:
    """Take arguments out of the static ones: new values then need no compilation."""
    wanted = case.facts.depends or (
        (case.facts.data["argument"],) if "argument" in case.facts.data else ()
    )
    names = [case.facts.diagnostic.function, *[n for n, _ in reversed(case.facts.transforms)]]
    names += [case.facts.data.get("compiled", "")]
    for name in dict.fromkeys(n for n in names if n):
        for applied in applications(case, name):
            if applied.function is None:
                continue
            known = parameters(applied.function)
            edits: list[Edit] = []
            for option in ("static_argnames", "static_argnums"):
                present = constants(keyword(applied, option))
                kept = [c for c in present if (c if isinstance(c, str) else known[c]) not in wanted]
                if len(kept) == len(present):
                    continue
                if kept:
                    listed = ", ".join(f'"{c}"' if isinstance(c, str) else str(c) for c in kept)
                    edits += with_option(
                        applied, option, f"({listed},)" if len(kept) == 1 else f"({listed})"
                    )
                else:
                    edits += _without_option(applied, option)
            if edits:
                said = ", ".join(f"`{w}`" for w in wanted)
                title = f"let {said} be traced: new values then need no new compilation"
                yield Candidate("traced_argument", title, tuple(edits), 3)
                return


# --- donation --------------------------------------------------------------------------------


def _donating(case: Case, source: Source) -> Iterator[tuple[Applied, ast.Call, list[str]]]:
    """Calls of functions that take over arguments, with the names of the donated parameters."""
    for call in source.nodes(ast.Call):
        called = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if not called:
            continue
        for applied in applications(case, _target(case, called)):
            given = constants(keyword(applied, "donate_argnums")) + constants(
                keyword(applied, "donate_argnames")
            )
            if not given or applied.function is None:
                continue
            known = parameters(applied.function)
            names = [
                c if isinstance(c, str) else known[c]
                for c in given
                if isinstance(c, str) or c < len(known)
            ]
            yield applied, call, names


def donated_names(case: Case) -> set[str]:
    """The variables that the program gives away."""
    found: set[str] = set()
    for source in case.sources.values():
        for applied, call, names in _donating(case, source):
            for name in names:
                for value in _passed(applied, call, name):
                    found.update(n.id for n in ast.walk(value) if isinstance(n, ast.Name))
    return found


def _target(case: Case, called: str) -> str:
    """The function behind a name: `step = jax.jit(update)` calls update."""
    for source in case.sources.values():
        for found in source.nodes(ast.Assign):
            value, target = found.value, found.targets[0]
            if getattr(target, "id", getattr(target, "attr", "")) != called:
                continue
            if isinstance(value, ast.Call) and source.meaning(value.func) in JITS and value.args:
                inner: ast.expr = value.args[0]
                return getattr(inner, "id", getattr(inner, "attr", called))
    return called


def copied(case: Case) -> Iterator[Candidate]:
    """A donated argument used again: donate a copy, or do not donate."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    roots = {n.id for n in ast.walk(source.statement(node)) if isinstance(n, ast.Name)}
    for applied, call, names in _donating(case, source):
        if call.lineno > (node.lineno if isinstance(node, (ast.expr, ast.stmt)) else 0):
            continue
        for name in names:
            for value in _passed(applied, call, name):
                root = value
                while isinstance(root, (ast.Attribute, ast.Subscript)):
                    root = root.value
                if not isinstance(root, ast.Name) or root.id not in roots:
                    continue
                tree_map, imports = source.spell("jax.tree.map")
                numpy, more = source.spell("jax.numpy")
                text = f"{tree_map}({numpy}.copy, {source.code(value)})"
                title = f"donate a copy: `{source.code(value)}` is used again"
                edits = (source.replace(value, text), *imports, *more)
                yield Candidate("copy_before_donate", title, edits, 1)
                rest = [n for n in names if n != name]
                drop = _donate_only(applied, rest)
                yield Candidate("no_donation", f"do not donate `{name}`", tuple(drop), 2)


def _passed(applied: Applied, call: ast.Call, name: str) -> Iterator[ast.expr]:
    for found in call.keywords:
        if found.arg == name:
            yield found.value
    known = parameters(applied.function) if applied.function is not None else []
    if known[:1] == ["self"] and isinstance(call.func, ast.Attribute):
        known = known[1:]
    if name in known and known.index(name) < len(call.args):
        yield call.args[known.index(name)]


def _donate_only(applied: Applied, names: list[str]) -> list[Edit]:
    known = parameters(applied.function) if applied.function is not None else []
    edits: list[Edit] = []
    for option in ("donate_argnums", "donate_argnames"):
        present = constants(keyword(applied, option))
        kept = [c for c in present if (c if isinstance(c, str) else known[c]) in names]
        if not present or len(kept) == len(present):
            continue
        if kept:
            listed = ", ".join(f'"{c}"' if isinstance(c, str) else str(c) for c in kept)
            edits += with_option(
                applied, option, f"({listed},)" if len(kept) == 1 else f"({listed})"
            )
        else:
            edits += _without_option(applied, option)
    return edits


def no_donation(case: Case) -> Iterator[Candidate]:
    """A donation that no result can use: take it out."""
    wanted = case.facts.depends
    for applied in applications(case, case.facts.data.get("compiled", "")):
        given = constants(keyword(applied, "donate_argnums")) + constants(
            keyword(applied, "donate_argnames")
        )
        if not given or applied.function is None:
            continue
        known = parameters(applied.function)
        names = [c if isinstance(c, str) else known[c] for c in given]
        edits = _donate_only(applied, [n for n in names if n not in wanted])
        if edits:
            said = ", ".join(f"`{w}`" for w in wanted)
            title = f"do not donate {said}: no result has that shape and dtype"
            yield Candidate("donate_shape", title, tuple(edits), 1)
            return


# --- grad ------------------------------------------------------------------------------------

GRADS = ("jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.vjp", "jax.hessian")


def has_aux(case: Case) -> Iterator[Candidate]:
    """A function that returns (loss, data): `has_aux=True`."""
    if "tuple of length 2" not in case.facts.data.get("got", ""):
        return
    name = re.split(r"\s", case.facts.data.get("expected", ""))[0]
    kinds = ("jax.grad", "jax.value_and_grad")
    found = list(applications(case, name, kinds))
    if not found and case.source is not None and case.node is not None:
        place = call_behind(case, case.source, case.node, kinds)
        found = [Applied(*place, None, False)] if place is not None else []
    for applied in found:
        edits = tuple(with_option(applied, "has_aux", "True"))
        title = "say that the function returns (loss, other results): has_aux=True"
        yield Candidate("has_aux", title, edits, 1)


# --- vmap ------------------------------------------------------------------------------------


def mapped_axes(case: Case) -> Iterator[Candidate]:
    """Arguments of different sizes: do not map some, or map another axis."""
    rows = re.findall(r"axis (\d+) of (\w+)[^()]*\(\w+\[([\d,]*)\]\)", case.facts.message)
    shapes = {name: [int(n) for n in shape.split(",") if n] for _, name, shape in rows}
    if len(shapes) < 2:
        return
    source, node = case.source, case.node
    if source is None or node is None:
        return
    found = call_behind(case, source, node)
    if found is None:
        return
    where, call = found
    function = call.args[0] if call.args else None
    name = getattr(function, "id", getattr(function, "attr", ""))
    known = parameters(function) if isinstance(function, ast.Lambda) else []
    for _, definition in case.definition(name):
        known = parameters(definition)
        break
    if known[:1] == ["self"]:
        known = known[1:]
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
            # the fewest arguments changed; then what keeps axis 0; then the largest size
            moved = sum(a not in ("0", "None") for a in axes)
            unmapped = sum(a == "None" for a in axes)
            largest = max(
                len(shapes[a]) for a, axis in zip(known, axes, strict=True) if axis != "None"
            )
            options.append((4 * moved + 2 * unmapped - largest, axes))
    options.sort(key=lambda o: o[0])
    applied = Applied(where, call, None, False)
    seen: set[tuple[str, ...]] = set()
    for i, (_, axes) in enumerate(options[:5]):
        if axes in seen:
            continue
        seen.add(axes)
        value = f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"
        said = ", ".join(
            f"`{arg}` not" if axis == "None" else f"`{arg}` over axis {axis}"
            for arg, axis in zip(known, axes, strict=True)
        )
        yield Candidate(
            "in_axes", f"map {said}", tuple(with_option(applied, "in_axes", value)), 1 + i, i == 0
        )


def call_behind(
    case: Case, source: Source, node: ast.AST, kinds: tuple[str, ...] = ("jax.vmap",)
) -> tuple[Source, ast.Call] | None:
    """The call of a transformation that made the function called at `node`."""
    statement = source.statement(node)
    inside = source.calls_of(*kinds, within=statement)
    if inside:
        return source, inside[-1]
    called = {
        getattr(n, "id", getattr(n, "attr", ""))
        for n in source.nodes((ast.Name, ast.Attribute), statement)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load)
    }
    for found in case.sources.values():
        for call in found.calls_of(*kinds):
            parent = found.parents.get(call)
            if isinstance(parent, ast.Assign) and any(
                getattr(t, "id", getattr(t, "attr", "")) in called for t in parent.targets
            ):
                return found, call
    every = [(s, c) for s in case.sources.values() for c in s.calls_of(*kinds)]
    return every[0] if len(every) == 1 else None


# --- export ----------------------------------------------------------------------------------


def dimension_constraint(case: Case) -> Iterator[Candidate]:
    """A comparison of symbolic sizes that has no single answer -> a constraint that gives it one."""
    constraint = case.facts.data.get("constraint", "")
    if constraint:
        yield from _constrained(case, constraint, 1)
        if other := _opposite(constraint):
            yield from _constrained(case, other, 2)


def _opposite(constraint: str) -> str:
    """What holds where a constraint does not: "b <= 3" for "b >= 4"; "" where that is no constraint."""
    found = re.fullmatch(r"(.+) (>=|<=) (.+)", constraint)
    if found is None:
        return ""
    left, sign, right = found.groups()
    step, turned = (-1, "<=") if sign == ">=" else (1, ">=")
    known = right.lstrip("-").isdigit()
    bound = str(int(right) + step) if known else f"{right} {'-' if step < 0 else '+'} 1"
    return f"{left} {turned} {bound}"


def _constrained(case: Case, constraint: str, rank: int) -> Iterator[Candidate]:
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
            present = keyword(Applied(source, call, None, False), "constraints")
            if isinstance(present, (ast.List, ast.Tuple)) and present.elts:
                last = present.elts[-1]
                edit = source.replace(last, f'{source.code(last)}, "{constraint}"')
                yield Candidate("dim_constraint", title, (edit,), rank)
            else:
                edits = with_option(
                    Applied(source, call, None, False), "constraints", f'["{constraint}"]'
                )
                yield Candidate("dim_constraint", title, tuple(edits), rank)
