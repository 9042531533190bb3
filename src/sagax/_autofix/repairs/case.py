"""Define `Case`, the input of repairs, and `Candidate`, their output."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from sagax._autofix.repairs.source_file import Function, Source, last_name, parameters
from sagax._src.diagnostics.model import Diagnostic, Edit, Span
from sagax._src.frozen_class import record


@record
class Facts:
    """Hold an error or a warning as plain data that can be sent to another process.

    Attributes:
      diagnostic: its message, spans and provenance.
      classes: the names of its class and base classes.
      frames: the user's calls that led there, outermost first.
      data: the facts it was raised with, as texts.
      entered: the indices of frames that a transformation called.
      inferred: whether the arguments were found in the source, since the traced value has none.
    """

    diagnostic: Diagnostic
    classes: tuple[str, ...] = ()
    frames: tuple[Span, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict[str, str])
    entered: tuple[int, ...] = ()
    inferred: bool = False

    @property
    def depends(self) -> tuple[str, ...]:
        """Return the names of the arguments that the value depends on."""
        return tuple(dict.fromkeys(base_name(d) for d in self.diagnostic.depends))

    @property
    def transforms(self) -> list[tuple[str, str]]:
        """Return the functions being traced with their transformations, outermost first."""
        return re.findall(r"tracing `([^`]*)` (?:for|in) (\w+)", ", ".join(self.diagnostic.context))

    @property
    def message(self) -> str:
        return self.diagnostic.message

    @property
    def hashed(self) -> str:
        """Return "tracer" or "array" if a traced value or an array was hashed, which neither can be."""
        found = re.search(r"unhashable type: '(\w*)(Tracer|Array)'", self.message)
        return found[2].lower() if found else ""


@record
class Measurement:
    """Describe a value of an expression in a run of the script without jit.

    `structure` is the structure and the types of a tree of arrays, `least` the least of integers.
    """

    kind: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    value: Any = None  # numbers and strings only
    structure: str = ""
    least: int | None = None


NOT_EVALUATED = "not evaluated"  # the kind of a measurement for which there was no time


@record
class Question:
    """Ask whether a text can be evaluated in place of the expression at a span, where a run fails."""

    span: Span
    text: str


LAST_RESORT_RANK = 6  # repairs of this rank and above are taken only if no other is found


@record
class Candidate:
    """Hold an edit that may repair the mistake.

    `rank` orders candidates, the likeliest first; the size of the edit breaks ties. `allows` marks one
    that removes the alarm and keeps the fault. It is never called proven. `assumes` marks one of several
    readings of the program: without a result of the original to compare with, it is not verified.
    `dropped` names variables and attributes that the repair no longer fills, such as a cache.
    """

    kind: str
    title: str
    edits: tuple[Edit, ...]
    rank: int = 5
    allows: bool = False
    dropped: tuple[str, ...] = ()
    assumes: bool = False

    @property
    def size(self) -> int:
        return sum(len(e.text) + len(e.span.text) for e in self.edits)


class Case:
    """Hold the input of a repair: the facts, the sources, and values measured on request.

    With `strict`, a repair that fails raises.
    """

    def __init__(
        self,
        facts: Facts,
        sources: Mapping[str, Source],
        measured: Mapping[Span, list[Measurement]] | None = None,
        strict: bool = False,
        evaluated: Mapping[Question, Measurement] | None = None,
    ) -> None:
        self.strict = strict
        self.facts = facts
        self.sources = sources
        self.measured = measured
        self.requests: list[Span] = []
        self.evaluated = evaluated
        self.questions: list[Question] = []

    @property
    def primary(self) -> Span | None:
        return self.facts.diagnostic.primary

    @property
    def source(self) -> Source | None:
        return None if self.primary is None else self.sources.get(self.primary.file)

    @property
    def node(self) -> ast.AST | None:
        """Return the user's expression at fault."""
        if self.source is None or self.primary is None:
            return None
        found = self.source.at(self.primary)
        return found.value if isinstance(found, ast.Expr) else found

    def located(self, spans: Iterable[Span]) -> Iterator[tuple[Source, ast.AST]]:
        """Yield the syntax nodes at some spans, with their sources."""
        for span in spans:
            source = self.sources.get(span.file)
            node = source.at(span) if source is not None else None
            if source is not None and node is not None:
                yield source, node

    @property
    def label_nodes(self) -> Iterator[tuple[str, Source, ast.AST]]:
        """Yield the texts of the labels, with the nodes that they mark."""
        for label in self.facts.diagnostic.labels:
            for source, node in self.located([label.span]):
                yield label.text, source, node

    def measure(self, source: Source, node: ast.AST) -> list[Measurement]:
        """Return the values of an expression in a run without jit; empty until measured."""
        span = source.span(node)
        if self.measured is None:
            self.requests.append(span)
            return []
        return list(self.measured.get(span, ()))

    def evaluate(self, source: Source, node: ast.AST, text: str) -> Measurement | None:
        """Return the value of a text in place of an expression, where the run fails.

        None if it cannot be evaluated, and until it was tried.
        """
        question = Question(source.span(node), text)
        if self.evaluated is None:
            self.questions.append(question)
            return None
        return self.evaluated.get(question)

    def definition(self, name: str) -> Iterator[tuple[Source, ast.FunctionDef]]:
        """Yield the functions called `name`, those in files that the error went through first."""
        through = {f.file for f in self.facts.frames}
        for source in sorted(self.sources.values(), key=lambda s: s.file not in through):
            for function in source.functions(name):
                yield source, function

    def uses(self, name: str) -> Iterator[tuple[Source, ast.Name | ast.Attribute]]:
        """Yield the expressions `name` and `x.name` that read it."""
        for source in self.sources.values() if name else ():
            for use in source.nodes((ast.Name, ast.Attribute)):
                if last_name(use) == name and isinstance(use.ctx, ast.Load):
                    yield source, use

    def assignments(self) -> Iterator[tuple[Source, ast.Assign, list[str]]]:
        """Yield all assignments, with the last names of their targets."""
        for source in self.sources.values():
            for assignment in source.nodes(ast.Assign):
                yield source, assignment, [last_name(t) for t in assignment.targets]

    def calls(self, function: Function) -> Iterator[tuple[Source, ast.Call, dict[str, ast.expr]]]:
        """Yield the calls of a function by its name, with the arguments by parameter."""
        name = getattr(function, "name", "")
        if makes := name == "__init__":  # called by the name of its class
            owners = [
                o for s in self.sources.values() if (o := s.parents.get(function)) is not None
            ]
            name = getattr(owners[0], "name", "") if owners else ""
        also = {
            target  # step = jit(model.step)
            for source, assignment, targets in (self.assignments() if name else ())
            if isinstance(assignment.value, ast.Call)
            and _transformed_name(source, assignment.value) == name
            for target in targets
        }
        for source in self.sources.values() if name else ():
            for call in source.nodes(ast.Call):
                called = last_name(call.func)
                if isinstance(call.func, ast.Call):
                    called = _transformed_name(source, call.func)
                if called != name and called not in also:
                    continue
                known = parameters(function)
                bound = makes or called in also or not isinstance(call.func, ast.Name)
                if known[:1] == ["self"] and bound:
                    known = known[1:]
                passed = dict(zip(known, call.args, strict=False))
                passed |= {k.arg: k.value for k in call.keywords if k.arg is not None}
                yield source, call, passed


def _transformed_name(source: Source, call: ast.Call) -> str:
    """Return the name of the function that a transformation is applied to; "" of another call."""
    inner: ast.expr = call
    while (
        isinstance(inner, ast.Call) and inner.args and source.meaning(inner.func).startswith("jax.")
    ):
        inner = inner.args[0]
    return last_name(inner)


Repair = Callable[[Case], Iterator[Candidate]]


def at_expression(
    repair: Callable[[Case, Source, ast.AST], Iterator[Candidate]],
) -> Repair:
    """Pass a repair the expression at fault and its source; without one, propose nothing."""

    @functools.wraps(repair)
    def located(case: Case) -> Iterator[Candidate]:
        if case.source is not None and case.node is not None:
            yield from repair(case, case.source, case.node)

    return located


def base_name(path: str) -> str:
    """Return the argument that a path such as `params['w'][0]` leads into."""
    return re.split(r"[\[.(]", path.strip())[0]
