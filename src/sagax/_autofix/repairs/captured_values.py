"""Pass captured values as arguments, down to where they are read."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Function, Source, declared, parameters, stores
from sagax._src.diagnostics.model import Edit, Span

__all__ = ["passed_argument"]


def passed_argument(case: Case) -> Iterator[Candidate]:
    """A value read from outside, that has changed since or is large -> passed as an argument."""
    source, node = case.source, case.node
    read = case.facts.data.get("read", "")
    if source is None or node is None or not read:
        return
    large = "CapturedConstantWarning" in case.facts.classes
    gain = "the program does not hold it" if large else "the function then sees each new value"
    title = f"pass `{read}` as an argument: {gain}"
    for rank, wrapped in enumerate((True, False) if read.startswith("self.") else (False, True), 1):
        edits = _Passing(case, source, node, read, wrapped).edits()
        if edits:
            yield Candidate("pass_argument", title, tuple(edits), rank)


class _Passing:
    """The edits that hand a value from the calls of the compiled function to where it is read.

    `wrapped`: a function of the compiled one's name passes it, so that calls stay as they are.
    """

    def __init__(self, case: Case, source: Source, node: ast.AST, read: str, wrapped: bool) -> None:
        self.case, self.source, self.read, self.wrapped = case, source, read, wrapped
        around = [n for n in source.above(node) if isinstance(n, Function)]
        self.start: Function | None = None
        self.compiled = case.facts.data.get("compiled", "").rpartition(".")[2]
        named = [f for f in around if self.is_root(f)]
        plain = [f for f in around if not isinstance(f, ast.Lambda)]
        self.start = next(iter([*named, *plain, *around]), None)
        self.text = source.code(node) if ast.unparse(node) == read else read
        self.reads: list[ast.expr] = []
        self.name = ""
        if self.start is not None:
            self.reads = [
                n
                for n in source.nodes((ast.Name, ast.Attribute, ast.Subscript), self.start)  # type: ignore[arg-type]
                if isinstance(n.ctx, ast.Load) and ast.unparse(n) == read
            ]
            self.name = _free_name(read, self.start)
        self.made: list[Edit] = []
        self.done: set[int] = set()

    def is_root(self, function: Function) -> bool:
        if not self.compiled:
            return function is self.start
        return getattr(function, "name", "<lambda>") == self.compiled

    def edits(self) -> list[Edit]:
        """A parameter for each function on the way, and an argument for each call."""
        function = self.start
        if function is None or not self.reads or self.name in declared(function):
            return []
        self.made = [
            self.source.replace(n, self.name) for n in self.reads if self.read != self.name
        ]
        return self.made if self.through(self.source, function) else []

    def through(self, source: Source, function: Function) -> bool:
        """Give a function the parameter, and pass it wherever that one is called."""
        if id(function) in self.done:
            return True
        self.done.add(id(function))
        self.made += _with_parameter(source, function, self.name)
        mentions = list(self.mentions(source, function))
        if self.is_root(function) and self.wrapped:
            return self.wrap(source, function)
        if self.is_root(function):
            passed = [self.outside(there, use, function) for there, use in mentions]
        else:
            passed = [self.inside(there, use, function) for there, use in mentions]
        return any(passed) and None not in passed

    def wrap(self, source: Source, function: Function) -> bool:
        """`@jit def f(x)` -> `@jit def _f(x, value)`, and an f that calls it with the value."""
        if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
            return False
        given = [*function.args.posonlyargs, *function.args.args]
        method = parameters(function)[:1] == ["self"]
        if not _is_simple(function) or self.read.startswith("self.") != method:
            return False
        indent = source.indent(function)
        line = source.lines[function.lineno - 1]
        column = line.index(function.name, function.col_offset + len("def"))
        at = Span(source.file, function.lineno, column, function.lineno, column, "", (line,))
        arguments = ", ".join([*parameters(function)[method:], self.text])
        signature = ", ".join(source.code(a) for a in given)
        call = f"{'self.' if method else ''}_{function.name}({arguments})"
        text = f"\n\n{indent}def {function.name}({signature}):\n{indent}    return {call}"
        self.made += [Edit(at, "_"), source.around(function, "", text)[0]]
        return True

    def mentions(self, source: Source, function: Function) -> Iterator[tuple[Source, ast.expr]]:
        if isinstance(function, ast.Lambda):
            yield source, function
            parent = source.parents.get(function)
            if isinstance(parent, ast.Assign):
                for target in parent.targets:
                    yield from self.named(getattr(target, "id", getattr(target, "attr", "")))
        else:
            yield from self.named(function.name)

    def named(self, name: str) -> Iterator[tuple[Source, ast.expr]]:
        for source in self.case.sources.values() if name else ():
            for use in source.nodes((ast.Name, ast.Attribute)):  # type: ignore[arg-type]
                if getattr(use, "id", getattr(use, "attr", "")) == name:
                    if isinstance(use.ctx, ast.Load):
                        yield source, use

    def inside(self, source: Source, use: ast.expr, function: Function) -> bool | None:
        """A mention of a function that is traced as a part of another, which gets the value too."""
        around = [f for f in source.above(use) if isinstance(f, Function)]
        if function in around:
            return False
        parent = source.parents.get(use)
        if not around:
            if isinstance(use, ast.Lambda):
                return False
            names = self.aliases(source, use)
            return any(self.inside(s, u, function) for n in names for s, u in self.named(n))
        if isinstance(parent, ast.Call) and parent.func is use:
            self.made.append(self.passing(source, parent, function, self.name))
        else:
            partial, imports = source.spell("functools.partial")
            text = f"{partial}({source.code(use)}, {self.name}={self.name})"
            self.made += [source.replace(use, text), *imports]
        root = next((f for f in around if self.is_root(f)), around[0])
        return self.through(source, root) or None

    def outside(self, source: Source, use: ast.expr, function: Function) -> bool | None:
        """A mention of the compiled function where nothing is traced."""
        if function in source.above(use):
            return False
        receiver = source.code(use.value) if isinstance(use, ast.Attribute) else ""
        while True:
            parent = source.parents.get(use)
            if isinstance(parent, ast.Call) and parent.func is use:
                break
            applied = isinstance(parent, ast.Call) and parent.args[:1] == [use]
            if not applied or not isinstance(parent, ast.Call):
                break
            made = parent.func
            while isinstance(made, ast.Call) and made.args:  # partial(jit, static_argnames="n")(f)
                made = made.args[0]
            meaning = source.meaning(made)
            if not (meaning.startswith("jax.") or meaning == "functools.partial"):
                break
            use = parent
        if isinstance(parent, ast.Assign) and parent.value is use:
            names = self.aliases(source, use)
            uses = [found for name in names for found in self.named(name)]
            passed = [self.called(s, u, function, receiver) for s, u in uses]
            return None if None in passed else any(passed)
        return self.called(source, use, function, receiver)

    def called(
        self, source: Source, use: ast.expr, function: Function, receiver: str
    ) -> bool | None:
        """A call of a compiled function, or a place that it is handed to."""
        parent = source.parents.get(use)
        if receiver == "self" and isinstance(use, ast.Attribute):  # of the object that holds both
            receiver = source.code(use.value)
        given = self.given(source, use, receiver)
        if not given:
            return None
        text, imports = given
        if isinstance(parent, ast.Call) and parent.func is use:
            self.made += [self.passing(source, parent, function, text), *imports]
            return True
        if isinstance(parent, (ast.Call, ast.keyword)) and not isinstance(use, ast.Lambda):
            call = f"lambda *args: {source.code(use)}(*args, {self.name}={text})"
            self.made += [source.replace(use, call), *imports]
            return True
        return False

    def aliases(self, source: Source, use: ast.expr) -> list[str]:
        """The names that get what is made of a function."""
        for above in source.above(use):
            if isinstance(above, ast.Assign):
                return [getattr(t, "id", getattr(t, "attr", "")) for t in above.targets]
            if not isinstance(above, ast.Call):
                break
        return []

    def passing(self, source: Source, call: ast.Call, function: Function, text: str) -> Edit:
        """An argument more for a call, by position where all others are passed so."""
        known = parameters(function)
        known = known[1:] if known[:1] == ["self"] else known
        plain = _is_simple(function) and not call.keywords and len(call.args) == len(known)
        if not plain or any(isinstance(a, ast.Starred) for a in call.args):
            text = f"{self.name}={text}"
        last = max(
            [call.func, *call.args, *[k.value for k in call.keywords]],
            key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0),
        )
        if last is call.func or isinstance(last, ast.GeneratorExp):
            code = source.code(call)
            inside = code[:-1].rstrip().rstrip(",")
            comma = "" if inside.endswith("(") else ", "
            return source.replace(call, f"{inside}{comma}{text})")
        return source.around(last, "", f", {text}")[0]

    def given(self, source: Source, use: ast.expr, receiver: str) -> tuple[str, list[Edit]] | None:
        """How to write the value where the compiled function is called; None if it is not known there."""
        root = re.split(r"[.\[]", self.read)[0]
        if root == "self":
            return (receiver + self.text[4:], []) if receiver else None
        owner = self.binding(root)
        if isinstance(owner, Function):  # the variable of a function around
            return (self.text, []) if owner in source.above(use) else None
        if source is self.source:
            return self.text, []
        if root in self.source.imports:
            if root in source.imports:
                return self.text, []
            module = self.source.imports[root]
            return self.text, [source.import_line(f"import {module} as {root}")]
        module = os.path.splitext(os.path.basename(self.source.file))[0]
        if module in source.imports:
            return f"{module}.{self.text}", []
        return f"{module}.{self.text}", [source.import_line(f"import {module}")]

    def binding(self, name: str) -> ast.AST | None:
        """The function around the reading one whose variable a name is."""
        for around in self.source.above(self.start) if self.start is not None else ():
            if isinstance(around, Function) and not isinstance(around, ast.Lambda):
                if name in parameters(around) or name in stores(around.body):
                    return around
        return None


def _free_name(read: str, function: Function) -> str:
    """The last name of an expression, or one like it, where a function uses that for something else."""
    if read.isidentifier():
        return read
    nodes = list(ast.walk(function))
    taken = {n.id for n in nodes if isinstance(n, ast.Name)}
    taken |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    wanted = name = re.findall(r"[A-Za-z_]\w*", read)[-1]
    count = 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    return name


def _is_simple(function: Function) -> bool:
    """Whether a parameter more can be put behind the others."""
    args = function.args
    return not (args.defaults or args.vararg or args.kwonlyargs or args.kwarg)


def _with_parameter(source: Source, function: Function, name: str) -> list[Edit]:
    """One parameter more, the last one that can be passed by its name."""
    args = function.args
    known: list[ast.AST] = [*args.posonlyargs, *args.args, *args.defaults, *args.kwonlyargs]
    known += [d for d in args.kw_defaults if d is not None]
    known += [args.vararg] if args.vararg is not None else []
    if not known:
        at = source.span(function)
        line = source.lines[at.line - 1]
        opening = "lambda" if isinstance(function, ast.Lambda) else "("
        column = line.index(opening, at.column or 0) + len(opening)
        text = f" {name}" if isinstance(function, ast.Lambda) else name
        text += ", " if args.kwarg is not None else ""
        return [Edit(Span(source.file, at.line, column, at.line, column, "", (line,)), text)]
    last = max(known, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))  # type: ignore[attr-defined]
    named = args.defaults and not args.vararg and not args.kwonlyargs
    return source.around(last, "", f", *, {name}" if named else f", {name}")
