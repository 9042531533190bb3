"""Collect the English texts that users read from the sources, as templates with placeholders.

A text is what reaches a *sink*: the title of a `Candidate`, the message of a finding of `check`, `help=` of an option.
Conditional parts are expanded, so that each template is a whole sentence: `f"{n} item{'s' if n > 1 else ''}"` gives
"{n} item" and "{n} items". What flows into a sink through a parameter is looked up at the calls of the function.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "sagax"
MOST = 64  # variants of one text

_IS_WORD = re.compile("[a-z]{5,}")  # shorter ones are names of arguments
PLAIN = {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning)
}

_SITES = dict[str, set[tuple[int, str]]]  # names of functions: positions and keywords of texts


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _placeholder(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(
            func=ast.Attribute(value=ast.Constant()), args=[first, *_]
        ):  # ", ".join(names)
            return _placeholder(first)
        case ast.Call(func=func):
            return _placeholder(func)
        case ast.Subscript(value=value):
            return _placeholder(value)
    return "value"


class _Module:
    """Hold a parsed file, what may take a text in it, and what is assigned to names in each function."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.sinks: list[
            tuple[ast.AST, ast.AST]
        ] = []  # what may take a text, and the function around
        self.values: dict[tuple[ast.AST, str], list[ast.expr]] = {}
        self._enter(self.tree, self.tree)

    def _enter(self, node: ast.AST, function: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(
                child, ast.Call | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return
            ):
                self.sinks.append((child, function))
            match child:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values.setdefault((function, name), []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)):
                    for target, value in zip(names, parts, strict=False):
                        if isinstance(target, ast.Name):
                            self.values.setdefault((function, target.id), []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.IfExp() as choice):
                    for side in (choice.body, choice.orelse):
                        for target, value in zip(names, getattr(side, "elts", ()), strict=False):
                            if isinstance(target, ast.Name):
                                self.values.setdefault((function, target.id), []).append(value)
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    self.values.setdefault((function, name), []).append(value)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                    old = self.values.get((function, name), [])
                    more = [ast.BinOp(x, ast.Add(), value) for x in old]
                    self.values[function, name] = old + more
                case ast.For(target=target, iter=ast.Tuple(elts=rounds) | ast.List(elts=rounds)):
                    self._enter_loop(target, rounds, function)
                case _:
                    pass
            inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            self._enter(child, inner)

    def _enter_loop(self, target: ast.expr, rounds: list[ast.expr], function: ast.AST) -> None:
        """Enter the words of a loop such as `for what, left in (("contracting", lc), ("batch", lb))`.

        What names an argument, as in `("lower", lower)`, is no word of a sentence.
        """
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        for i, name in enumerate(targets):
            items = [r.elts if isinstance(r, ast.Tuple) else [r] for r in rounds]
            words = [row[i] for row in items if len(row) == len(targets)]
            texts = [w.value for w in words if isinstance(w, ast.Constant)]
            variables = set().union(*map(_names_in, rounds)) if rounds else set()
            if not isinstance(name, ast.Name) or len(texts) != len(rounds):
                continue
            if all(isinstance(t, str) and _IS_WORD.fullmatch(t) for t in texts):
                if not variables & set(texts):
                    self.values.setdefault((function, name.id), []).extend(words)

    def assigned(self, name: str, function: ast.AST) -> list[ast.expr]:
        return self.values.get((function, name)) or self.values.get((self.tree, name)) or []


class _Names:
    """Name the placeholders of one template: equal expressions have one name, different ones differ."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def __call__(self, node: ast.expr, form: str = "") -> str:
        text = ast.unparse(node) + form
        if text not in self.known:
            base = _placeholder(node)
            taken = set(self.known.values())
            free = (f"{base}{i}" if i else base for i in itertools.chain([0], itertools.count(2)))
            self.known[text] = next(name for name in free if name not in taken)
        return "{" + self.known[text] + "}"


_WORDED = (ast.Constant, ast.JoinedStr, ast.IfExp, ast.BoolOp, ast.BinOp, ast.Subscript, ast.Call)


def _names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _formatted(part: ast.expr, again: Callable[[ast.expr], list[str]], names: _Names) -> list[str]:
    """Return the texts of one part of an f-string; `{x}`, `{x!r}` and `{x:.3g}` differ."""
    if not isinstance(part, ast.FormattedValue):
        return again(part)
    if part.conversion == -1 and part.format_spec is None:
        return again(part.value)
    spec = "" if part.format_spec is None else ast.unparse(part.format_spec)
    return [names(part.value, f"!{part.conversion}{spec}")]


def _names_behind(module: _Module, node: ast.expr, function: ast.AST) -> set[str]:
    """Return the names that an expression is made of, directly or through assignments."""
    found: set[str] = set()
    todo = set().union(*map(_names_in, _flatten(node)))
    while todo:
        name = todo.pop()
        found.add(name)
        for value in module.values.get((function, name), ()):
            if isinstance(value, _WORDED) and not isinstance(value, ast.Call):
                todo |= _names_in(value) - found
    return found


def _variants(
    module: _Module, node: ast.expr, function: ast.AST, names: _Names, depth: int = 0
) -> list[str]:
    """Return all texts that an expression may be; a value that is not written in the source is a placeholder."""

    def again(inner: ast.expr) -> list[str]:
        return _variants(module, inner, function, names, depth + 1)

    unknown = [names(node)]
    if depth > 6:
        return unknown
    match node:
        case ast.Constant(value=str(text)):
            return [text.replace("{", "{{").replace("}", "}}")]
        case ast.JoinedStr(values=values):
            parts = [_formatted(v, again, names) for v in values]
            return ["".join(chosen) for chosen in itertools.islice(itertools.product(*parts), MOST)]
        case ast.IfExp(body=body, orelse=orelse):
            return [*again(body), *again(orelse)]
        case ast.BoolOp(op=ast.Or(), values=values):
            return [text for value in values for text in again(value)]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            sums = [a + b for a in again(left) for b in again(right)][:MOST]
            return sums if any(re.sub(r"\{\w*\}", "", text) for text in sums) else unknown
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=str(text)), right=ast.Compare()):
            return ["", text]
        case ast.Subscript(value=ast.Dict(values=values)):
            return [text for value in values for text in again(value)]
        case ast.Call(func=ast.Name(id="localize" | "localized" | "bilingual"), args=[text]):
            return again(text)
        case ast.Call(func=ast.Attribute(attr="depends")):
            return [""]  # a sentence of its own, with a template of its own
        case ast.Call(func=ast.Attribute(value=ast.Dict(values=values), attr="get"), args=args):
            return [text for value in [*values, *args[1:]] for text in again(value)]
        case ast.Name(id=name):
            found: dict[str, None] = {}
            for value in module.assigned(name, function):
                known = isinstance(value, _WORDED) and name not in _names_in(value)
                found.update(dict.fromkeys(again(value) if known else unknown))
            return list(found) or unknown  # a parameter has the texts of the calls, too
        case _:
            return unknown


def _sites_in(module: _Module, sites: _SITES) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yield the expressions that reach a sink, with the functions around them."""
    for node, function in module.sinks:
        match node:
            case ast.Return(value=ast.expr() as value):
                if f"return {getattr(function, 'name', '')}" in sites:
                    yield value, function
            case ast.AugAssign(target=target, value=value):
                if f"{_last_name(target)}.append" in sites:
                    yield value, function
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if f"{name}=" in sites:
                    yield value, function
            case _:
                pass
        if not isinstance(node, ast.Call):
            continue
        name = _last_name(node.func)
        if name == "append" and isinstance(node.func, ast.Attribute):
            name = f"{_last_name(node.func.value)}.append"
        wanted = {*sites.get(name, ()), *sites.get("*", ())}
        if not wanted:
            continue
        for position, keyword in wanted:
            if 0 <= position < len(node.args):
                found = node.args[position]
                if not isinstance(found, ast.Starred):
                    yield found, function
            yield from ((k.value, function) for k in node.keywords if k.arg == keyword)


def _flatten(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        for item in node.elts:
            yield from _flatten(item)
    elif not isinstance(node, ast.Starred):
        yield node


@functools.cache
def _modules(pattern: str) -> list[_Module]:
    return [_module(path) for path in sorted(SOURCE.glob(pattern))]


@functools.cache
def _module(path: Path) -> _Module:
    return _Module(path)


def _reads_as_words(text: str) -> bool:
    """Return whether a text holds words besides source text, placeholders and commands."""
    if re.match("pip |sagax (run|explain|check|doctor|cache|lsp|report) ", text):
        return False
    plain = re.sub(r"`[^`]*`|\{\w*\}", "", text)
    return re.search(r"[A-Za-z]{2,},? [A-Za-z(]", plain) is not None


def normal(template: str) -> str:
    """Return a template with numbers for the names of placeholders, which sources and catalogue choose freely."""
    names: dict[str, int] = {}
    return re.sub(
        r"\{(\w*)\}",
        lambda m: f"{{{names.setdefault(m[1], len(names))}}}" if m[1] else m[0],
        template,
    )


def texts(patterns: Iterable[str], sites: _SITES) -> dict[str, str]:
    """Return the templates that reach the sinks of some files, with a place that has each.

    A sink of all calls ("*") is not followed through parameters: others may have the same name.
    """
    return _collect([m for pattern in patterns for m in _modules(pattern)], sites, "*" not in sites)


def _collect(modules: list[_Module], sites: _SITES, follows: bool) -> dict[str, str]:
    sites = {name: set(found) for name, found in sites.items()}
    while follows:  # until no further parameter leads to a sink
        before = sum(map(len, sites.values()))
        for module in modules:
            for node, function in list(_sites_in(module, sites)):
                for name in _names_behind(module, node, function):
                    if isinstance(function, ast.FunctionDef):
                        arguments = [
                            a.arg for a in (*function.args.posonlyargs, *function.args.args)
                        ]
                        keywords = [a.arg for a in function.args.kwonlyargs]
                        if name in (*arguments, *keywords):
                            method = bool(arguments) and arguments[0] in ("self", "cls")
                            at = arguments.index(name) - method if name in arguments else -1
                            sites.setdefault(function.name, set()).add((at, name))
        if sum(map(len, sites.values())) == before:
            break
    found: dict[str, str] = {}
    for module in modules:
        for node, function in _sites_in(module, sites):
            for part in _flatten(node):
                for text in _variants(module, part, function, _Names()):
                    if _reads_as_words(text):
                        place = f"{module.path.relative_to(SOURCE)}:{node.lineno}"
                        found.setdefault(text, place)
    return found


_TOOLS = ("_autofix", "_check", "_doctor", "_lsp", "_report")  # which have groups of their own
_LIBRARY = [
    "_src/**/*.py", "*.py", "numpy/**/*.py", "random/**/*.py", "lax/*.py", "nn/*.py", "scipy/**/*.py", "image/*.py",
    "ops/*.py", "extend/**/*.py", "example_libraries/*.py", "experimental/**/*.py", "_plan/*.py", "_autojit/*.py",
]  # fmt: skip

_TAKE_MESSAGES: _SITES = {
    "__init__": {(0, "")},  # of a base class
    "mismatch_error": {(1, "headline"), (3, "rule")},
    "structure_error": {(1, "headline")},
    "check_function": {(1, "message")},
    "bind_without_jvp": {(4, "message")},
    "wrong": {(0, "message"), (1, "message")},
    "cannot": {(0, "what")},
    "refuse": {(0, "what"), (1, "text")},
    "_refused": {(0, "message")},
    "warn": {(0, "message")},
    "warn_explicit": {(0, "message")},
    "problems.append": {(0, "")},  # of fields of a class
    "Unset": {(1, "why")},  # of a variable without value
    "Kind": {(0, "words")},  # of an option
    "fix": {(1, "reason")},  # of an option that has been used
    "return _not_here": set(),  # of a name of jax
}


def _library() -> list[_Module]:
    return [
        m for m in _modules("**/*.py") if not m.path.relative_to(SOURCE).parts[0].startswith(_TOOLS)
    ]


def plain_exceptions(modules: list[_Module] | None = None) -> dict[str, tuple[str, bool]]:
    """Return the templates of messages of Python's own exceptions, with a place and whether `worded` has each."""
    found: dict[str, tuple[str, bool]] = {}
    for module in _library() if modules is None else modules:
        worded = {
            id(argument)
            for node, _ in module.sinks
            if isinstance(node, ast.Call) and _last_name(node.func) == "worded"
            for argument in node.args
        }
        for node, function in module.sinks:
            if isinstance(node, ast.Call) and _raises_plain(node) and node.args:
                for text in _variants(module, node.args[0], function, _Names()):
                    if _reads_as_words(text):
                        found[text] = (f"{module.path}:{node.lineno}", id(node) in worded)
    return found


def _raises_plain(node: ast.Call) -> bool:
    """Return whether a call makes an exception of Python's, also one that is chosen by a condition."""
    kinds = [node.func.body, node.func.orelse] if isinstance(node.func, ast.IfExp) else [node.func]
    return all(isinstance(kind, ast.Name) and kind.id in PLAIN for kind in kinds)


def messages() -> dict[str, str]:
    """Return the templates of messages: what exceptions and warnings of sagax are raised with, in all files.

    Parameters are not followed, since many functions have one of the same name; `_TAKE_MESSAGES` names those that count.
    """
    modules = _library()
    classes = [
        (n.name, set(map(_last_name, n.bases)))
        for m in modules
        for n in m.tree.body
        if isinstance(n, ast.ClassDef)
    ]
    known = {"SagaxError", "UserWarning"}
    while new := {name for name, bases in classes if bases & known} - known:
        known |= new
    sites = {name: {(0, "message")} for name in known} | _TAKE_MESSAGES
    sites |= {name: {(0, "")} for name in PLAIN}
    found = _collect(modules, sites, follows=False)
    first_lines: dict[str, str] = {}
    for text, place in found.items():
        first = text.partition("\n")[0]  # which is what the user's language is for
        if _reads_as_words(first):
            first_lines.setdefault(first, place)
    return first_lines


GROUPS: dict[str, tuple[list[str], _SITES]] = {
    "fixes": (
        ["_autofix/repairs/*.py"],
        {"Candidate": {(1, "title")}},
    ),
    "proofs": (
        ["_autofix/proof.py", "_autofix/search.py", "_autofix/side_effects.py", "_autofix/sandbox.py"],
        {
            "held.append": {(0, "")},
            "missing.append": {(0, "")},
            "effects.append": {(0, "")},
            "Reference": {(0, "name")},
            "replace": {(-1, "name")},
            "cost=": set(),
            "not_tried=": set(),
        },
    ),
    "findings": (
        ["_autofix/*.py", "_autofix/checks/*.py"],
        {"add": {(1, "message")}},
    ),
    "check": (["_check/*.py"], {"report": {(2, "message"), (3, "help")}, "print": {(0, "")}}),
    "doctor": (
        ["_doctor/rules.py", "_doctor/report.py"],
        {"Finding": {(1, "what"), (2, "todo")}},
    ),
    "report": (
        ["_report/*.py"],
        {"say": {(0, "")}, "localized": {(0, "")}, "_heading": {(0, "text")}, "table": {(1, "heads")}},
    ),
    "plans": (
        ["_plan/*.py", "_src/api/compile_log.py"],
        {
            "say": {(0, "")},
            "_text": {(0, "template")},
            "_fact": {(1, "template")},
            "_heading": {(0, "text")},
            "table": {(1, "heads")},
            "Warning": {(1, "message"), (2, "fix")},
            "return _other_cut": set(),
            "return _excluded": set(),
            "return _without_pipeline": set(),
            "return _why": set(),
            "Candidate": {(3, "reason")},
        },
    ),
    "commands": (
        ["__main__.py", "_autofix/options.py", "_autofix/command.py", "_autofix/error_pages.py", "_report/*.py",
         "_check/command.py", "_completion.py", "_autofix/other_findings.py"],
        {
            "*": {(-1, "help"), (-1, "description"), (-1, "epilog")},
            "print": {(0, "")},
            "error": {(0, "")},
        },
    ),
    "notes": (
        ["_src/diagnostics/*.py"],
        {
            "Label": {(1, "text")},
            "notes.append": {(0, "")},
            "notes=": set(),
            "Details": {(4, "here")},
            "Suggestion": {(1, "title")},
            "advice=": set(),
            "fix=": set(),
        },
    ),
    "advice": (_LIBRARY, {"*": {(-1, "fix")}}),
    "expected": (_LIBRARY, {"*": {(-1, "expected")}, "about": {(3, "expected")}}),
}  # fmt: skip
