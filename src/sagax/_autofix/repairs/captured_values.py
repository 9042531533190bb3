"""Pass captured values as arguments, from the calls down to the expressions that read them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    arguments,
    declared_names,
    last_name,
    parameters,
    stores,
)
from sagax._src.diagnostics.model import Edit


@at_expression
def pass_as_argument(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Pass a captured value, which has changed or is large, as an argument."""
    read = case.facts.data.get("read", "")
    if not read:
        return
    large = "CapturedConstantWarning" in case.facts.classes
    gain = "the program does not hold it" if large else "the function then sees each new value"
    title = f"pass `{read}` as an argument: {gain}"
    for rank, wrapped in enumerate((True, False) if read.startswith("self.") else (False, True), 1):
        edits = ArgumentPass(case, source, node, read, wrapped).edits()
        if edits:
            yield Candidate("pass_argument", title, tuple(edits), rank)


class ArgumentPass:
    """Build the edits that pass a value from the calls of the compiled function to its uses.

    If `wrapped`, a function of the compiled one's name passes it, so that calls need no edit.
    """

    def __init__(
        self, case: Case, source: Source, node: ast.AST, read: str, wrapped: bool = False
    ) -> None:
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
            self.name = _unused_name(read, self.start)
        self.made: list[Edit] = []
        self.visited: set[int] = set()
        self.passed: set[ast.expr] = set()  # uses of functions that were passed the value

    def is_root(self, function: Function) -> bool:
        if not self.compiled:
            return function is self.start
        return getattr(function, "name", "<lambda>") == self.compiled

    def edits(self) -> list[Edit]:
        """Return a parameter for each function in between, and an argument for each call."""
        function = self.start
        if function is None or not self.reads or self.name in declared_names(function):
            return []
        self.made = [
            self.source.replace(n, self.name) for n in self.reads if self.read != self.name
        ]
        return self.made if self.add_parameter(self.source, function) else []

    def add_parameter(self, source: Source, function: Function) -> bool:
        """Give a function the parameter, and pass it wherever the function is called."""
        if id(function) in self.visited:
            return True
        self.visited.add(id(function))
        self.made += _add_parameter(source, function, self.name)
        uses = list(self.uses(source, function))
        if self.is_root(function) and self.wrapped:
            return self.wrap(source, function)
        pass_value = self.pass_to_compiled if self.is_root(function) else self.pass_while_tracing
        passed = [pass_value(there, use, function) for there, use in uses]
        return any(passed) and None not in passed

    def wrap(self, source: Source, function: Function) -> bool:
        """Rename `@jit def f(x)` to `_f(x, value)`, and add an `f` that calls it."""
        if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
            return False
        given = [*function.args.posonlyargs, *function.args.args]
        method = parameters(function)[:1] == ["self"]
        if not _takes_positionals_only(function) or self.read.startswith("self.") != method:
            return False
        indent = source.indent(function)
        line = source.lines[function.lineno - 1]
        column = line.index(function.name, function.col_offset + len("def"))
        arguments = ", ".join([*parameters(function)[method:], self.text])
        signature = ", ".join(source.code(a) for a in given)
        call = f"{'self.' if method else ''}_{function.name}({arguments})"
        text = f"\n\n{indent}def {function.name}({signature}):\n{indent}    return {call}"
        edit = source.insert(function.lineno, column, "_")
        self.made += [edit, source.around(function, "", text)[0]]
        return True

    def uses(self, source: Source, function: Function) -> Iterator[tuple[Source, ast.expr]]:
        if isinstance(function, ast.Lambda):
            yield source, function
            parent = source.parents.get(function)
            if isinstance(parent, ast.Assign):
                for target in parent.targets:
                    yield from self.case.uses(last_name(target))
        else:
            yield from self.case.uses(function.name)

    def pass_while_tracing(self, source: Source, use: ast.expr, function: Function) -> bool | None:
        """Pass the value where another traced function uses this one; that one gets it too."""
        around = [f for f in source.above(use) if isinstance(f, Function)]
        if function in around:
            return False
        parent = source.parents.get(use)
        if not around:
            if isinstance(use, ast.Lambda):
                return False
            names = self.aliases(source, use)
            return any(
                self.pass_while_tracing(s, u, function) for n in names for s, u in self.case.uses(n)
            )
        if isinstance(parent, ast.Call) and parent.func is use:
            self.made.append(self.add_argument(source, parent, function, self.name))
        else:
            partial, imports = source.spell("functools.partial")
            text = f"{partial}({source.code(use)}, {self.name}={self.name})"
            self.made += [source.replace(use, text), *imports]
        root = next((f for f in around if self.is_root(f)), around[0])
        return self.add_parameter(source, root) or None

    def pass_to_compiled(self, source: Source, use: ast.expr, function: Function) -> bool | None:
        """Pass the value where the compiled function is used outside of tracing."""
        if function in source.above(use) or use in self.passed:
            return False
        self.passed.add(use)
        receiver = source.code(use.value) if isinstance(use, ast.Attribute) else ""
        while True:
            parent = source.parents.get(use)
            if isinstance(parent, ast.Call) and parent.func is use:
                break
            applied = isinstance(parent, ast.Call) and parent.args[:1] == [use]
            if not applied or not isinstance(parent, ast.Call):
                break
            transform = parent.func
            while isinstance(transform, ast.Call) and transform.args:  # partial(jit, ...)(f)
                transform = transform.args[0]
            meaning = source.meaning(transform)
            if not (meaning.startswith("jax.") or meaning == "functools.partial"):
                break
            use = parent
        if isinstance(parent, ast.Assign) and parent.value is use:
            names = self.aliases(source, use)
            uses = [
                (s, u) for name in names for s, u in self.case.uses(name) if u not in self.passed
            ]
            self.passed.update(u for _, u in uses)
            passed = [self.pass_in_call(s, u, function, receiver) for s, u in uses]
            return None if None in passed else any(passed)
        return self.pass_in_call(source, use, function, receiver)

    def pass_in_call(
        self, source: Source, use: ast.expr, function: Function, receiver: str
    ) -> bool | None:
        """Pass the value in a call of a compiled function, or bind it where the function is passed."""
        parent = source.parents.get(use)
        if receiver == "self" and isinstance(use, ast.Attribute):  # of the object that holds both
            receiver = source.code(use.value)
        value = self.value_text(source, use, receiver)
        if not value:
            return None
        text, imports = value
        if isinstance(parent, ast.Call) and parent.func is use:
            self.made += [self.add_argument(source, parent, function, text), *imports]
            return True
        if isinstance(parent, (ast.Call, ast.keyword)) and not isinstance(use, ast.Lambda):
            call = f"lambda *args: {source.code(use)}(*args, {self.name}={text})"
            self.made += [source.replace(use, call), *imports]
            return True
        return False

    def aliases(self, source: Source, use: ast.expr) -> list[str]:
        """Return the names that the result of applying transformations is assigned to."""
        for above in source.above(use):
            if isinstance(above, ast.Assign):
                return [last_name(t) for t in above.targets]
            if not isinstance(above, ast.Call):
                break
        return []

    def add_argument(self, source: Source, call: ast.Call, function: Function, text: str) -> Edit:
        """Add an argument to a call, by position where all others are positional."""
        plain = _takes_positionals_only(function) and not call.keywords
        starred = any(isinstance(a, ast.Starred) for a in call.args)
        if not plain or len(call.args) != len(arguments(function)) or starred:
            text = f"{self.name}={text}"
        last = max(
            [call.func, *call.args, *[k.value for k in call.keywords]],
            key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0),
        )
        if last is call.func or isinstance(last, ast.GeneratorExp):
            return source.replace(call, source.call_with(call, text))
        return source.around(last, "", f", {text}")[0]

    def value_text(
        self, source: Source, use: ast.expr, receiver: str
    ) -> tuple[str, list[Edit]] | None:
        """Return the text of the value at a call of the compiled function; None if it is out of scope."""
        root = re.split(r"[.\[]", self.read)[0]
        if root == "self":
            return (receiver + self.text[4:], []) if receiver else None
        owner = self.binding_function(root)
        if isinstance(owner, Function):
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

    def binding_function(self, name: str) -> ast.AST | None:
        """Return the enclosing function that binds a free variable of the reading one."""
        for around in self.source.above(self.start) if self.start is not None else ():
            if isinstance(around, Function) and not isinstance(around, ast.Lambda):
                if name in parameters(around) or name in stores(around.body):
                    return around
        return None


def _unused_name(read: str, function: Function) -> str:
    """Return the last name of an expression, with a number where the function already uses it."""
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


def _takes_positionals_only(function: Function) -> bool:
    """Return whether another positional parameter can be appended."""
    args = function.args
    return not (args.defaults or args.vararg or args.kwonlyargs or args.kwarg)


def _add_parameter(source: Source, function: Function, name: str) -> list[Edit]:
    """Append a parameter that can be passed by name."""
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
        return [source.insert(at.line, column, text)]
    last = max(known, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))  # type: ignore[attr-defined]
    named = args.defaults and not args.vararg and not args.kwonlyargs
    return source.around(last, "", f", *, {name}" if named else f", {name}")
