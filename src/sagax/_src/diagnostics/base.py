"""Define `SagaxError`: an exception that holds facts, and is explained on demand."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from sagax._src.diagnostics.model import Diagnostic, Label, Span, Suggestion, Trust, type_text
from sagax._src.diagnostics.provenance import (
    Provenance,
    is_tracer,
    provenance_of_all,
    trace_context,
)
from sagax._src.diagnostics.source import function_code, names_as_imported, return_span
from sagax._src.diagnostics.spans import is_user_file, user_position, user_span
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import stack

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import render


_MAX_TEXT = 80


def describe(value: object) -> str:
    """Return a short text for `value`: the types of arrays, never their contents, on one line."""
    if isinstance(value, str):
        return value
    if isinstance(value, type):
        return value.__name__
    if type(value) in (tuple, list) and len(value) <= 8:  # type: ignore[arg-type]
        inner = [repr(v) if isinstance(v, str) else describe(v) for v in value]  # type: ignore[attr-defined]
        if type(value) is list:
            return f"[{', '.join(inner)}]"
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    try:
        return type_text(value) or _shorten(value)
    except Exception:  # whatever a user's own attribute or repr raises
        return f"a {type(value).__name__}"


def _shorten(value: object) -> str:
    text = " ".join(repr(value).split())
    if len(text) <= _MAX_TEXT:
        return text
    return f"{text[: _MAX_TEXT - 20]}... (a {type(value).__name__})"


def _compose(message: str | None, facts: dict[str, Any]) -> str:
    shown = {n: describe(facts[n]) for n in ("argument", "expected", "got") if n in facts}
    if path := facts.get("path"):
        shown["argument"] = f"{shown.get('argument', '')}{path}"
    if message is None:
        message = _default_message(shown)
        shown = {}
    if function := facts.get("function"):
        message = f"{function}: {message}"
    return "\n".join([message, *(f"  {name}: {text}" for name, text in shown.items())])


def _default_message(shown: dict[str, str]) -> str:
    subject = f"argument {shown['argument']}" if "argument" in shown else "the value"
    if "expected" not in shown:
        return f"{subject} is not accepted" + (f": {shown['got']}" if "got" in shown else "")
    got = f"; got {shown['got']}" if "got" in shown else ""
    return f"{subject} must be {shown['expected']}{got}"


def _return_span_of(function: Any, at: tuple[int, ...]) -> Span | None:
    code = function if hasattr(function, "co_filename") else function_code(function)
    return return_span(code, 0, at) if code is not None and is_user_file(code.co_filename) else None


def _headline(given: Any, span: Span | None) -> str:
    return str(given(span) if callable(given) else given)


class Details(NamedTuple):
    """Hold the parts of an explanation that are special to a class of errors.

    With `primary`, the mistake is at that label, and the expression that raised the error gets another
    label, with the text `here`.
    """

    notes: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    primary: Label | None = None
    here: str = ""
    headline: str = ""


class SagaxError(Exception):
    """Base of every error that sagax raises; each also derives from the builtin people expect.

    `str(error)` is the explanation as text, `error.explain()` the same as data. Both are computed on
    first use; until then an error is a message and a handle to the stack.

    Attributes:
      code: stable name of the kind of error.
      facts: the facts that it was raised with.
    """

    code: str = "SX0001"
    advice: ClassVar[str] = ""  # general; shown unless there is a better suggestion
    known_as: ClassVar[str] = ""  # the public class, if it is a base of this one
    during_tracing: ClassVar[bool] = True  # a tracer among the facts gives the context
    _revived = False

    def __init__(self, message: str | None = None, /, **facts: Any) -> None:
        super().__init__(_compose(message, facts))
        self.facts = facts
        if "code" in facts:
            self.code = facts["code"]
        self._message = message
        self._stack = stack()
        self._context: tuple[str, ...] = ()
        self._explained: Diagnostic | None = None

    @classmethod
    def about(cls, function: Any, argument: Any, got: Any, expected: Any, **facts: Any) -> Self:
        """Return the error about one argument of a function: what it got, and what it expected."""
        return cls(function=function, argument=argument, got=got, expected=expected, **facts)

    def attach(self, **facts: Any) -> Self:
        """Add facts and return the error; known facts stay.

        An unpickled error is complete and stays as it is.
        """
        if self._revived:
            return self
        self.facts = {**facts, **self.facts}
        self.args = (_compose(self._message, self.facts),)
        self._explained = None
        return self

    def raised_at_user_position(self, stack: Any) -> bool:
        """Return whether no function of the user ran between a captured stack and the error."""
        return self._stack is not None and user_position(self._stack) == user_position(stack)

    def about_operands(self, operands: tuple[Any, ...]) -> Self:
        """Name the operands that the error is about, unless it knows others; return the error."""
        if "about" in self.facts or any(is_tracer(value) for value in self.facts.values()):
            return self
        return self.attach(of=operands)

    def in_context(self, context: tuple[str, ...]) -> None:
        """Set the context, outermost first: phrases that follow "while"."""
        self._context = context
        if self._explained is not None:
            self._explained = dataclasses.replace(self._explained, context=context)

    def details(self) -> Details:
        """Return what this class of errors adds to the explanation."""
        return Details()

    def explain(self) -> Diagnostic:
        """Return the error as data: its spans, arguments, steps and suggestions."""
        if self._explained is None:
            self._explained = self._make_explanation()
        return self._explained

    def shown(self) -> Diagnostic:
        """Return the part of the explanation that the text of the error shows."""
        d = self.explain()
        if "about" in self.facts and all(name in d.message for name in d.depends):
            d = dataclasses.replace(d, depends=())
        # Python's traceback ends with the expression that failed. The text repeats it only before
        # more: the steps that computed a value, or another label.
        if d.chain or d.depends or "traceback" in self.facts or len(d.labels) > 1:
            return d
        return dataclasses.replace(d, labels=())

    def _make_explanation(self) -> Diagnostic:
        facts = self.facts
        tracers = [value for value in facts.get("of", facts.values()) if is_tracer(value)]
        origin = provenance_of_all(tracers)
        if "about" in facts:
            origin = Provenance(*facts["about"])
        span = user_span(facts.get("traceback") or self._stack)
        context = self._context
        if not context and tracers and self.during_tracing:
            context = trace_context(tracers[0])
        details = self.details()
        if details.primary is None and "returned_by" in facts:
            span_there = _return_span_of(facts["returned_by"], facts.get("returned_at", ()))
            if span_there is not None:
                label = Label(span_there, primary=True)
                details = details._replace(primary=label, here="called from here")
        suggestions = details.suggestions
        if fix := facts.get("fix") or ("" if suggestions else self.advice):
            suggestions = (*suggestions, Suggestion("advice", fix, trust=Trust.ADVICE))
        file = span.file if span is not None else ""
        suggestions = tuple(
            dataclasses.replace(s, title=names_as_imported(s.title, file)) for s in suggestions
        )
        labels = [*details.labels]
        if details.primary is not None:
            labels.insert(0, details.primary)
            labels += [Label(span, details.here)] if span else []
        elif span is not None:
            labels.insert(0, Label(span, primary=True))
        return Diagnostic(
            code=self.code,
            error=self.known_as or type(self).__name__,
            message=self.args[0],
            labels=tuple(labels),
            depends=origin.arguments,
            function=origin.function,
            chain=origin.steps,
            context=context,
            notes=tuple(names_as_imported(note, file) for note in details.notes),
            suggestions=suggestions,
            headline=details.headline or _headline(facts.get("headline", ""), span),
        )

    def __str__(self) -> str:
        try:
            return render.plain(self.shown())
        except Exception:  # an error that cannot be explained still has its message
            return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # Facts may hold any object, such as tracers: pickle the explanation instead.
        state = {
            "facts": {"traceback": None} if "traceback" in self.facts else {},
            "code": self.code,
            "_message": self._message,
            "_stack": None,
            "_context": self._context,
            "_explained": self.explain(),
            "_revived": True,
            "__notes__": [str(note) for note in getattr(self, "__notes__", ())],
        }
        return _unpickle, (type(self), self.args[0], state)


def _unpickle(cls: type[SagaxError], message: str, state: dict[str, Any]) -> SagaxError:
    error = cls.__new__(cls, message)
    error.__dict__.update(state)
    if not error.__notes__:
        del error.__notes__
    return error
