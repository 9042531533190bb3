"""Define the exception classes of sagax, and document how to raise them.

Pick the class by the builtin that people would expect (`ShapeError`, `DtypeError`, `ArgumentError`
are TypeErrors; `ArgumentValueError`, `TreeError` are ValueErrors) and give facts:

    raise ArgumentError.about("grad", "argnums", 5, "an index below 2, the number of positional arguments",
                              fix="pass argnums=0 or argnums=1")

    grad: argument argnums must be an index below 2, the number of positional arguments; got 5
      fix: pass argnums=0 or argnums=1

With facts by keyword, a message of your own may come first; they then follow it, a line each:

    raise ShapeError("the contracted dimensions differ in size", function="dot_general",
                     got="3 (axis 1 of lhs) and 4 (axis 0 of rhs)", expected="equal sizes")

    dot_general: the contracted dimensions differ in size
      expected: equal sizes
      got: 3 (axis 1 of lhs) and 4 (axis 0 of rhs)

    raise TreeError("the carry changed its type", function="scan", argument="init",
                    path="['w'][0]", expected=aval_in, got=aval_out)

    scan: the carry changed its type
      argument: init['w'][0]
      expected: float32[3]
      got: float32[4]

`function argument path expected got fix` are shown. A string is shown as it stands (so pass
`repr(s)` for a string of the user's); arrays, avals and tracers show their type; anything else a
short repr. `code="SX0301"` names the page of the error when it has one. Every other keyword is stored in
`.facts` for the explanation, and is not shown: pass the operands (`x=x, y=y`), at no cost. Some of them
guide the explanation:

    traceback    the captured stack of the mistake, if it is not where the error is raised
    of           the operands whose origin matters, if not all among the facts
    about        (names of arguments, function): the user's arguments that are at fault
    headline     the first line, or a function of the user's span that returns it
    returned_by  the function (or its code) whose `return` is at fault; `returned_at` the item of it

A caller higher up adds its facts with `attach`, which does not overwrite:

    except SagaxError as error:
        error.attach(function=name)
        raise

The classes that jax has (`TracerBoolConversionError(tracer)` and so on) take jax's arguments. All
classes pickle, as their text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from sagax._src.diagnostics.base import Details, SagaxError, describe
from sagax._src.diagnostics.keys import reuse_details
from sagax._src.diagnostics.model import Label, Span
from sagax._src.diagnostics.provenance import find_creation
from sagax._src.diagnostics.source import enclosing_choice
from sagax._src.diagnostics.spans import (
    display_path,
    is_backward,
    is_on_stack,
    span_at,
    user_position,
    user_positions,
    user_span,
)
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import headlines, leaks


__all__ = [
    "ArgumentError",
    "ArgumentValueError",
    "ConcretizationTypeError",
    "DtypeError",
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxprTypeError",
    "KeyReuseError",
    "LeakedTraceError",
    "NonConcreteBooleanIndexError",
    "NonFiniteError",
    "NotAnArrayError",
    "SagaxError",
    "ShapeError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TreeError",
    "TypePromotionError",
    "UnexpectedTracerError",
    "describe",
]

# --- general errors ------------------------------------------------------------------------------

# These are TypeErrors and ValueErrors at once: jax raises now one, now the other for the same kind of
# mistake, and a program that catches either must go on as it does there.


class ShapeError(SagaxError, TypeError, ValueError):
    """Shapes that do not fit together, or do not fit the operation."""

    code = "SX0002"


class DtypeError(SagaxError, TypeError, ValueError):
    """A dtype that the operation does not accept, or dtypes that do not fit together."""

    code = "SX0003"


class TreeError(SagaxError, ValueError, TypeError):
    """Pytrees whose structures differ, or an object that is no pytree."""

    code = "SX0004"


class ArgumentError(SagaxError, TypeError, ValueError):
    """An argument of the wrong kind: its type, its number, its name."""

    code = "SX0005"


class ArgumentValueError(SagaxError, ValueError, TypeError):
    """An argument of the right kind whose value is not accepted."""

    code = "SX0006"


class NotAnArrayError(SagaxError, TypeError, ValueError):
    """An object that is neither an array nor a number where one is needed."""

    code = "SX0007"

    def __init__(self, value: object) -> None:
        kind = type(value)
        super().__init__(
            f"Argument '{_one_line(value)}' of type {kind} is not a valid JAX type.", value=value
        )
        if isinstance(value, (str, bytes)):
            self.facts["fix"] = "mark an argument that is text as static: static_argnames in jit"
        elif kind.__module__ == "numpy":
            is_time = getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M")
            self.facts["fix"] = (
                "give numbers: x.astype('int64') counts units of time"
                if is_time
                else "give numbers: arrays hold no strings and objects"
            )
        elif kind.__module__ != "builtins":
            self.facts["fix"] = (
                f"register {kind.__name__} as a pytree (sagax.tree_util.register_dataclass), "
                "or mark the argument as static"
            )

    def details(self) -> Details:
        """Return what is no array, by the name of the argument."""
        value = self.facts["value"]
        name = f"{self.facts.get('argument', '')}{self.facts.get('path', '')}"
        return Details(headline=headlines.no_array_headline(name, value))


def _one_line(value: object) -> str:
    return value if isinstance(value, str) and len(value) < 40 else describe([value])[1:-1]


# --- classes of jax ------------------------------------------------------------------------------


class JAXTypeError(SagaxError, TypeError):
    """Base of the errors about values that are traced where they cannot be."""

    code = "SX0100"

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def details(self) -> Details:
        """Return what was asked of the tracer, or its leak if it outlived its function."""
        tracer = self.facts.get("tracer")
        if tracer is None:
            return Details()
        if not _function_returned(tracer, self._stack):
            return Details(headline=self.headline(tracer, user_span(self._stack)))
        leak = _leak_details(tracer, self.__traceback__, self.facts)
        if leak.primary is None:
            return Details()
        self.facts["fix"] = UnexpectedTracerError.advice
        note = f"the value was made {_tracing_phrase(tracer)}, and that function is over"
        return leak._replace(notes=(note, *leak.notes))

    def headline(self, tracer: Any, span: Span | None) -> str:
        """Return the first line: what happened at `span`, in the names of the program."""
        return ""


class JAXIndexError(SagaxError, IndexError):
    """Base of the errors about indices."""

    code = "SX0113"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ConcretizationTypeError(JAXTypeError):
    """A traced value was used where a concrete one is needed.

    Args:
      tracer: the traced value.
      context: what needed it, such as "axis argument to jnp.min()."
    """

    code = "SX0101"
    advice = (
        "if the value is known when the function is called, mark the argument as static "
        "(static_argnames in jit); otherwise compute with arrays of fixed shape"
    )

    def __init__(self, tracer: object, context: str = "") -> None:
        head = "Abstract tracer value encountered where concrete value is expected:"
        value = f"traced array with shape {describe(tracer)}"
        text = f"{head} {context}\n  got: {value}" if context else f"{head} {value}."
        JAXTypeError.__init__(self, text)
        self.facts["tracer"] = tracer

    def headline(self, tracer: Any, span: Span | None) -> str:
        """Return the call that needs a number."""
        return headlines.number_headline(tracer, span, "value")


class TracerBoolConversionError(ConcretizationTypeError):
    """Python asked a traced value whether it is true: `if`, `while`, `and`, `not`, `max`, ..."""

    code = "SX0102"
    advice = (
        "choose with jnp.where(condition, a, b) or lax.cond, combine with jnp.logical_and and "
        "jnp.maximum; a flag that is known when the function is called: static_argnames in jit"
    )

    def __init__(self, tracer: object) -> None:
        JAXTypeError.__init__(
            self,
            "Attempted boolean conversion of JAX Tracer: Abstract tracer value encountered where "
            f"concrete value is expected: traced array with shape {describe(tracer)}.",
        )
        self.facts["tracer"] = tracer

    def details(self) -> Details:
        """Suggest a replacement of the statement that tests the value."""
        span = user_span(self._stack)
        word = span.source[0].split()[:1] if span is not None and span.source else []
        if word == ["while"]:
            self.facts.setdefault(
                "fix",
                "loop with lax.while_loop(cond, body, start), whose state is passed from round to round",
            )
        elif word == ["assert"]:
            self.facts.setdefault(
                "fix",
                "check where the values are known: on the arguments before the call or on the result "
                "after it; inside, sagax.debug.print can report",
            )
        return super().details()

    def headline(self, tracer: Any, span: Span | None) -> str:
        """Return the statement or call that asks whether the value is true."""
        return headlines.truth_headline(tracer, span)


class TracerIntegerConversionError(JAXTypeError):
    """Python asked a traced value for an integer: an index of a list, `range`, an axis, ..."""

    code = "SX0103"
    advice = (
        "index an array instead of a list: jnp.array(items)[i]; an argument that is known when "
        "the function is called can be marked as static (static_argnames in jit)"
    )

    def __init__(self, tracer: object) -> None:
        super().__init__(
            f"The __index__() method was called on traced array with shape {describe(tracer)}; "
            "the JAX Tracer object stands for a number that is not known yet."
        )
        self.facts["tracer"] = tracer

    def headline(self, tracer: Any, span: Span | None) -> str:
        """Return the call or the index that needs the integer."""
        return headlines.number_headline(tracer, span, "integer")


class StaticArgumentError(ConcretizationTypeError, TracerIntegerConversionError, ValueError):
    """An argument that must be known while tracing, such as an axis or a length, is traced.

    jax raises one of the base classes here, which one depends on the function. It shows itself by the
    name that people search for.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        make, (_, message, state) = super().__reduce__()
        return make, (ConcretizationTypeError, message, state)


StaticArgumentError.__name__ = StaticArgumentError.__qualname__ = "ConcretizationTypeError"
StaticArgumentError.__module__ = "sagax.errors"


class TracerArrayConversionError(JAXTypeError):
    """NumPy, or a library on top of it, asked a traced value for its numbers."""

    code = "SX0104"
    advice = (
        "use the function of jax.numpy in place of numpy's; index with jnp.asarray(x)[i]; call "
        "other libraries through jax.pure_callback"
    )

    def __init__(self, tracer: object) -> None:
        super().__init__(
            "The numpy.ndarray conversion method __array__() was called on traced array with "
            f"shape {describe(tracer)}; the JAX Tracer object stands for numbers that are not "
            "known yet."
        )
        self.facts["tracer"] = tracer

    def headline(self, tracer: Any, span: Span | None) -> str:
        """Return the call that needs the numbers of the array."""
        return headlines.array_headline(tracer, span)


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask was used as an index: the size of the result is not known."""

    code = "SX0105"
    advice = "keep the shape: jnp.where(mask, x, fill) instead of x[mask], or .at[mask].set(v)"

    def __init__(self, tracer: object) -> None:
        super().__init__(f"Array boolean indices must be concrete: ShapedArray({describe(tracer)})")
        self.facts["tracer"] = tracer

    def details(self) -> Details:
        """Return the indexing whose result has no static size."""
        tracer = self.facts["tracer"]
        return Details(headline=headlines.mask_headline(tracer, user_span(self._stack)))


class UnexpectedTracerError(JAXTypeError):
    """A traced value was used after the function that made it had been left."""

    code = "SX0106"
    advice = "return the value from the function instead of keeping it elsewhere"
    during_tracing = False
    _opening = "Encountered an unexpected tracer. A"
    _closing = "was used where that function is not being traced"

    def __init__(self, msg: str) -> None:
        super().__init__(msg)

    @classmethod
    def of(cls, tracer: object, count: int = 1) -> Self:
        """Return the error for a tracer outside of its trace, with `count` - 1 others."""
        others = f", with {count - 1} others," if count > 1 else ","
        error = cls(
            f"{cls._opening} value of type {describe(tracer)} was made {_tracing_phrase(tracer)}{others} "
            f"and {cls._closing}."
        )
        error.facts["tracer"] = tracer
        return error

    def details(self) -> Details:
        """Return the creation of the value, and the statement that stored it."""
        tracer = self.facts.get("tracer")
        return (
            Details() if tracer is None else _leak_details(tracer, self.__traceback__, self.facts)
        )


def _function_returned(tracer: Any, stack: Any) -> bool:
    """Return whether the function that created a value is not on the stack."""
    code = getattr(getattr(getattr(tracer, "_trace", None), "debug_info", None), "code", None)
    return code is not None and stack is not None and not is_on_stack(stack, code)


def _tracing_phrase(tracer: Any) -> str:
    info = getattr(getattr(tracer, "_trace", None), "debug_info", None)
    name, reason = getattr(info, "func_name", ""), getattr(info, "traced_for", "")
    if not name:
        return "inside of a transformed function"
    return f"while tracing `{name}`" + (f" for {reason}" if reason else "")


def _leak_details(tracer: Any, traceback: Any, ignored: object) -> Details:
    """Return the creation of a leaked value, and the statement that stored it."""
    leak = leaks.find_leak(tracer, traceback, ignored)
    notes: list[str] = []
    labels: list[Label] = []
    if leak.holder is not None:
        notes.append(f"the value is kept in {leak.holder.text}")
    primary = Label(leak.span, "leaks here", primary=True) if leak.span else None
    stack, argument = find_creation(tracer)
    calls = _last_calls(stack, tracer)
    if argument:
        notes.append(f"the value stands for the argument {argument}")
    elif calls:
        lines = [
            f"{display_path(call.file)}:{call.line} in {call.function}: "
            + (call.source[0].strip() if call.source else "")
            for call in calls
        ]
        notes.append(
            "When the Tracer was created, the final 5 stack frames were:\n" + "\n".join(lines)
        )
        if primary is None or not primary.span.contains(calls[-1]):
            labels.append(Label(calls[-1], "made here"))
    return Details(tuple(notes), tuple(labels), (), primary, "used here")


def _last_calls(stack: Any, tracer: object) -> list[Span]:
    """Return the user's last calls before a value was created, inside the transformed function."""
    positions = user_positions(stack)
    code = getattr(getattr(getattr(tracer, "_trace", None), "debug_info", None), "code", None)
    inside = next((i for i, at in enumerate(positions) if at.code is code), len(positions))
    return [span_at(at) for at in reversed(positions[: inside + 2][:5])]


class LeakedTraceError(UnexpectedTracerError):
    """A traced value outlived the function that made it; found by `checking_leaks`."""

    code = "SX0107"
    known_as = "UnexpectedTracerError"
    _opening = "Leaked Trace: a"
    _closing = "is still referred to although that function has returned"

    def details(self) -> Details:
        """Return the leak, with the call that returned in place of a use."""
        return super().details()._replace(here="returns here")


class KeyReuseError(JAXTypeError):
    """A random key was used a second time."""

    code = "SX0108"
    advice = "split the key, and use each part once: key, part = jax.random.split(key)"

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def details(self) -> Details:
        """Return the first use of the key, and advice to split it."""
        return reuse_details(self.facts)


class DimensionVariableError(SagaxError, KeyError):
    """A symbolic size that no argument of an exported function has."""

    code = "SX0128"

    __str__ = SagaxError.__str__  # KeyError would quote it


class MissingDimensionError(DimensionVariableError, ArgumentError):
    """A call of an exported function lacks the value of a dimension argument."""


class InconclusiveDimensionOperation(SagaxError):
    """A question about symbolic dimensions that has no single answer."""

    code = "SX0109"


class JaxprTypeError(SagaxError, TypeError):
    """A jaxpr that breaks the rules of its language."""

    code = "SX0110"


class TypePromotionError(SagaxError, ValueError, TypeError):
    """Dtypes that have no implicit common dtype."""

    code = "SX0111"


class NonFiniteError(SagaxError, FloatingPointError):
    """A computation gave NaN or an infinity; found under `debug_nans` or `debug_infs`."""

    code = "SX0112"
    during_tracing = False

    @classmethod
    def found(
        cls,
        what: str,
        primitive: str,
        at: tuple[int, ...],
        given: Sequence[str],
        count: int,
        path: Sequence[str],
        traceback: Any,
    ) -> Self:
        """Return the error for an operation on `given` that computed `what`, first at index `at`."""
        head = f"invalid value ({what}) encountered in {primitive}"
        if path:
            head += f", in {', '.join(path)}"
        index = f" at index {list(at)}" if at else ""
        more = f", the first of {count}" if count > 1 else ""
        lines = [head, f"  first bad result: {what}{index}{more}"]
        if given:
            lines.append(f"  {primitive} was given: {', '.join(given)}")
        return cls(
            "\n".join(lines),
            traceback=traceback,
            what=what,
            primitive=primitive,
            at=at,
            iterations=tuple(path),
        )

    def details(self) -> Details:
        """Return the pass that failed, forward or backward, and the `where` around it."""
        traceback = self.facts.get("traceback")
        notes = [
            "in the backward pass of this expression"
            if is_backward(traceback)
            else "in the forward pass"
        ]
        span = user_span(traceback)
        position = user_position(traceback)
        choice = enclosing_choice(span, position.code) if span and position else None
        labels: tuple[Label, ...] = ()
        if choice is not None:
            labels = (Label(choice, "chooses among the results"),)
            notes.append(
                "the choice comes after both sides are computed: derivatives of the side that is left "
                "out are multiplied by 0, and 0 * inf is nan"
            )
            self.facts.setdefault(
                "fix",
                "choose twice, first among the operands: safe = jnp.where(ok, x, 1.0), then "
                "jnp.where(ok, f(safe), other)",
            )
        return Details(tuple(notes), labels)


for _name in __all__:  # the public module, for tracebacks and pickles
    if isinstance(_class := globals()[_name], type):
        _class.__module__ = "sagax.errors"
