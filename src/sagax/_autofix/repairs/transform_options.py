"""Repair options of transformations: static arguments, donation, auxiliary results, mapped axes."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Source, parameters
from sagax._src.diagnostics.model import Edit

__all__ = [
    "Applied",
    "applications",
    "arguments_passed",
    "call_behind",
    "copied",
    "dimension_constraint",
    "donated_argument",
    "has_aux",
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

    @property
    def known(self) -> list[str]:
        """The parameters as the transformation counts them: those of `jit(self.step)` without self."""
        names = parameters(self.function) if self.function is not None else []
        args = self.node.args if isinstance(self.node, ast.Call) and not self.decorator else []
        method = args[0] if args and names[:1] == ["self"] else None
        bound = isinstance(method, ast.Attribute) and not _is_class(self.source, method.value)
        return names[1:] if bound else names


def _is_class(source: Source, node: ast.expr) -> bool:
    name = getattr(node, "id", "")
    imported = name in source.imports and name[:1].isupper()
    return imported or any(c.name == name for c in source.nodes(ast.ClassDef))


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
    if any(re.search(r"\[['\"]|\.", path) for path in diagnostic.depends):
        return  # of containers, tuples alone can be hashed
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
            known = applied.known
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
    edits = tuple(_more_static(applied, wanted, known))
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
    """A method under jit: the object that it is a method of is no array."""
    if "NotAnArrayError" not in case.facts.classes:
        return
    names = [*re.findall(r"^jit of ([\w.<>]+)", case.facts.data.get("function", ""))]
    names += [name for name, reason in reversed(case.facts.transforms) if reason == "jit"]
    for name in dict.fromkeys(names):
        for applied in applications(case, name):
            known = applied.known
            if not known or known[0] not in case.facts.depends or not _is_method(case, applied):
                continue
            title = f"mark `{known[0]}` as static: the object is a constant of the program"
            bare = not any(keyword(applied, f"static_arg{kind}") for kind in ("nums", "names"))
            edits = (
                with_option(applied, "static_argnums", "0")
                if bare
                else _more_static(applied, known[:1], known)
            )
            yield Candidate("static_self", title, tuple(edits), 1)
            return


def _is_method(case: Case, applied: Applied) -> bool:
    return any(
        applied.function is not None and isinstance(s.parents.get(applied.function), ast.ClassDef)
        for s in case.sources.values()
    )


def _more_static(applied: Applied, wanted: Sequence[str], known: list[str]) -> list[Edit]:
    """The edits that make parameters static besides those that are so already."""
    listed = keyword(applied, "static_argnums")
    if listed is not None:
        numbers = {n for n in constants(listed) if isinstance(n, int)}
        numbers |= {known.index(w) for w in wanted}
        return with_option(applied, "static_argnums", _tuple([str(n) for n in sorted(numbers)]))
    names = [n for n in constants(keyword(applied, "static_argnames")) if isinstance(n, str)]
    quoted = [f'"{n}"' for n in dict.fromkeys([*names, *wanted])]
    return with_option(applied, "static_argnames", _tuple(quoted))


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def arguments_passed(case: Case, source: Source, call: ast.Call) -> dict[str, ast.expr]:
    """What a call passes for the parameters of the function being traced."""
    for name, _ in reversed(case.facts.transforms):
        functions: list[ast.FunctionDef | ast.Lambda] = [f for _, f in case.definition(name)]
        functions += [a.function for a in applications(case, name) if a.function is not None]
        for function in functions[:1]:
            known = parameters(function)
            bound = known[:1] == ["self"] and isinstance(call.func, ast.Attribute)
            starred = any(isinstance(a, ast.Starred) for a in call.args)
            passed = dict(zip(known[bound:], call.args, strict=False)) if not starred else {}
            return passed | {k.arg: k.value for k in call.keywords if k.arg in known}
    return {}


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
            known = applied.known
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


_DONATED = re.compile(r"It was donated to `([^`]*)` as argument (\w+)")


def donated_argument(case: Case) -> str:
    """The parameter that an array was given away as, "" if nothing tells."""
    said = _DONATED.search(case.facts.message)
    return said[2] if said is not None else ""


def copied(case: Case) -> Iterator[Candidate]:
    """A donated argument used again, maybe under another name: donate a copy, or do not donate."""
    said = _DONATED.search(case.facts.message)
    label = next((x for x in case.facts.diagnostic.labels if "donated here" in x.text), None)
    source = case.sources.get(label.span.file) if label is not None else None
    node = source.at(label.span) if source is not None and label is not None else None
    if said is None or source is None or node is None:
        yield from _given_twice(case)
        return
    name, parameter = said.groups()
    call = next(iter(source.nodes(ast.Call, node)), None)
    found = list(applications(case, name))
    functions: list[ast.FunctionDef | ast.Lambda] = [f for _, f in case.definition(name)]
    functions += [a.function for a in found if a.function is not None]
    for function in functions[:1] if call is not None else ():
        value = _passed(function, call, parameter) if call is not None else None
        if value is None:
            continue
        tree_map, imports = source.spell("jax.tree.map")
        numpy, more = source.spell("jax.numpy")
        text = f"{tree_map}({numpy}.copy, {source.code(value)})"
        title = f"donate a copy: `{source.code(value)}` is used again"
        yield Candidate(
            "copy_before_donate", title, (source.replace(value, text), *imports, *more), 1
        )
    for applied in found:
        known = applied.known
        given = [
            c if isinstance(c, str) else known[c]
            for option in ("donate_argnums", "donate_argnames")
            for c in constants(keyword(applied, option))
            if isinstance(c, str) or c < len(known)
        ]
        drop = _donate_only(applied, [n for n in given if n != parameter])
        yield Candidate("no_donation", f"do not donate `{parameter}`", tuple(drop), 2)


_TWICE = re.compile(
    r"([\w.<>]+): one buffer is donated .* in the same call: as (\w+).* and as (\w+)"
)


def _given_twice(case: Case) -> Iterator[Candidate]:
    """One array given for two arguments of a call, of which one is donated: a copy for the other."""
    said = _TWICE.search(case.facts.message)
    source, node = case.source, case.node
    if said is None or source is None or node is None:
        return
    functions: list[ast.FunctionDef | ast.Lambda] = [f for _, f in case.definition(said[1])]
    functions += [a.function for a in applications(case, said[1]) if a.function is not None]
    for call in source.nodes(ast.Call, node):
        value = _passed(functions[0], call, said[3]) if functions else None
        if value is not None:
            tree_map, imports = source.spell("jax.tree.map")
            numpy, more = source.spell("jax.numpy")
            text = f"{tree_map}({numpy}.copy, {source.code(value)})"
            title = f"give a copy as `{said[3]}`: the array is donated"
            edits = (source.replace(value, text), *imports, *more)
            yield Candidate("copy_before_donate", title, edits, 1)
            return


def _passed(function: ast.FunctionDef | ast.Lambda, call: ast.Call, name: str) -> ast.expr | None:
    """What a call passes for a parameter of the function behind it; all of them where it unpacks some."""
    known = parameters(function)
    known = known[1:] if known[:1] == ["self"] else known
    for found in call.keywords:
        if found.arg == name:
            return found.value
    at = known.index(name) if name in known else 0
    for argument in call.args[: at + 1]:
        if isinstance(argument, ast.Starred):
            return argument.value
    if name in known and at < len(call.args):
        return call.args[at]
    return next((k.value for k in call.keywords if k.arg is None), None)


def _donate_only(applied: Applied, names: list[str]) -> list[Edit]:
    known = applied.known
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
        known = applied.known
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
