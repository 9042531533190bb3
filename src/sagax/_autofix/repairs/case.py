"""Define the case that repairs receive, and the candidates that they give back."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from sagax._autofix.repairs.source_file import Function, Source, parameters
from sagax._src.diagnostics.model import Diagnostic, Edit, Span
from sagax._src.frozen_class import record

__all__ = ["LAST_RESORT", "Candidate", "Case", "Facts", "Fixer", "Measured", "base_name"]


@record
class Facts:
    """An error or a warning as plain data that can be sent to another process.

    Attributes:
      diagnostic: what is said of it.
      classes: the names of its class and of the classes that one derives from.
      frames: the user's calls that led there, outermost first.
      data: the facts it was raised with, as texts.
      entered: which of the frames are of functions that a transformation called.
    """

    diagnostic: Diagnostic
    classes: tuple[str, ...] = ()
    frames: tuple[Span, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict[str, str])
    entered: tuple[int, ...] = ()

    @property
    def depends(self) -> tuple[str, ...]:
        """The names of the arguments that the value depends on, without paths into them."""
        return tuple(dict.fromkeys(base_name(d) for d in self.diagnostic.depends))

    @property
    def transforms(self) -> list[tuple[str, str]]:
        """The functions being traced and what for, outermost first."""
        return re.findall(r"tracing `([^`]*)` (?:for|in) (\w+)", ", ".join(self.diagnostic.context))

    @property
    def message(self) -> str:
        return self.diagnostic.message


@record
class Measured:
    """What an expression evaluated to in a run of the program without jit."""

    kind: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    value: Any = None  # of numbers and texts


LAST_RESORT = 6  # the rank from which on a repair is taken only where no other is found


@record
class Candidate:
    """An edit that may repair the mistake.

    `rank` orders candidates, the likeliest first; those of equal rank go by the size of the edit.
    `certain` is False where the program after the edit may mean something else than the user wants,
    so that it counts as verified only when there is a result to compare with.
    """

    kind: str
    title: str
    edits: tuple[Edit, ...]
    rank: int = 5
    certain: bool = True

    @property
    def size(self) -> int:
        return sum(len(e.text) + len(e.span.text) for e in self.edits)


class Case:
    """What a repair works on: the facts, the sources, and values measured on request.

    Where it is `strict`, a repair that fails raises.
    """

    def __init__(
        self,
        facts: Facts,
        sources: Mapping[str, Source],
        measured: Mapping[Span, list[Measured]] | None = None,
        strict: bool = False,
    ) -> None:
        self.strict = strict
        self.facts = facts
        self.sources = sources
        self.measured = measured
        self.requests: list[Span] = []

    @property
    def primary(self) -> Span | None:
        return self.facts.diagnostic.primary

    @property
    def source(self) -> Source | None:
        return None if self.primary is None else self.sources.get(self.primary.file)

    @property
    def node(self) -> ast.AST | None:
        """The user's expression at fault."""
        if self.source is None or self.primary is None:
            return None
        return self.source.at(self.primary)

    def measure(self, source: Source, node: ast.AST) -> list[Measured]:
        """What an expression evaluated to without jit; empty until it has been measured."""
        span = source.span(node)
        if self.measured is None:
            self.requests.append(span)
            return []
        return list(self.measured.get(span, ()))

    def definition(self, name: str) -> Iterator[tuple[Source, ast.FunctionDef]]:
        """The functions of the program called `name`; those that the error went through first."""
        through = {f.file for f in self.facts.frames}
        for source in sorted(self.sources.values(), key=lambda s: s.file not in through):
            for function in source.functions(name):
                yield source, function

    def calls(self, function: Function) -> Iterator[tuple[Source, ast.Call, dict[str, ast.expr]]]:
        """The calls of a function by its name, with what they pass for its parameters."""
        name = getattr(function, "name", "")
        if makes := name == "__init__":  # called by the name of its class
            owners = [
                o for s in self.sources.values() if (o := s.parents.get(function)) is not None
            ]
            name = getattr(owners[0], "name", "") if owners else ""
        also = {
            getattr(target, "id", getattr(target, "attr", ""))  # step = jit(model.step)
            for source in self.sources.values()
            for assignment in (source.nodes(ast.Assign) if name else ())
            if isinstance(assignment.value, ast.Call) and _called(source, assignment.value) == name
            for target in assignment.targets
        }
        for source in self.sources.values() if name else ():
            for call in source.nodes(ast.Call):
                called = getattr(call.func, "id", getattr(call.func, "attr", ""))
                if isinstance(call.func, ast.Call):
                    called = _called(source, call.func)
                if called != name and called not in also:
                    continue
                known = parameters(function)
                bound = makes or called in also or not isinstance(call.func, ast.Name)
                if known[:1] == ["self"] and bound:
                    known = known[1:]
                passed = dict(zip(known, call.args, strict=False))
                passed |= {k.arg: k.value for k in call.keywords if k.arg is not None}
                yield source, call, passed


def _called(source: Source, call: ast.Call) -> str:
    """The name of the function that a transformation is applied to; "" of another call."""
    inner: ast.expr = call
    while (
        isinstance(inner, ast.Call) and inner.args and source.meaning(inner.func).startswith("jax.")
    ):
        inner = inner.args[0]
    return getattr(inner, "id", getattr(inner, "attr", ""))


Fixer = Callable[[Case], Iterator[Candidate]]


def base_name(path: str) -> str:
    """The argument that a path such as `params['w'][0]` leads into."""
    return re.split(r"[\[.(]", path.strip())[0]
