"""The exception classes of sagax. To raise one, this page is all you need to read.

Pick the class by the builtin that people would expect (`ShapeError`, `DtypeError`, `ArgumentError`
are TypeErrors; `ArgumentValueError`, `TreeError` are ValueErrors) and give facts:

    raise ArgumentError(function="grad", argument="argnums", got=5,
                        expected="an index below 2, the number of positional arguments",
                        fix="pass argnums=0 or argnums=1")

    grad: argument argnums must be an index below 2, the number of positional arguments; got 5
      fix: pass argnums=0 or argnums=1

A message of your own may come first; the facts then follow it, a line each:

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
short repr. `code="SX0301"` names the page of the error when it has one. Every other keyword is kept
in `.facts` for whoever explains the error, and is not shown: pass the operands (`x=x, y=y`), they
cost nothing. Facts that a caller higher up knows are added by `attach`, which keeps what is there:

    except SagaxError as error:
        error.attach(function=name)
        raise

The classes that jax has (`TracerBoolConversionError(tracer)` and so on) are made with jax's
arguments. All these classes pickle, as their text.
"""

from __future__ import annotations

from typing import Self

from sagax._src.diagnostics.base import Details, SagaxError, describe
from sagax._src.diagnostics.model import Label
from sagax._src.diagnostics.provenance import creation
from sagax._src.diagnostics.spans import shown_path, user_spans

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

# Kinds of mistake --------------------------------------------------------------------------------


class ShapeError(SagaxError, TypeError):
    """Shapes that do not fit together, or do not fit the operation."""

    code = "SX0002"


class DtypeError(SagaxError, TypeError):
    """A dtype that the operation does not accept, or dtypes that do not fit together."""

    code = "SX0003"


class TreeError(SagaxError, ValueError):
    """Pytrees whose structures differ, or an object that is no pytree."""

    code = "SX0004"


class ArgumentError(SagaxError, TypeError):
    """An argument of the wrong kind: its type, its number, its name."""

    code = "SX0005"


class ArgumentValueError(SagaxError, ValueError):
    """An argument of the right kind whose value is not accepted."""

    code = "SX0006"


class NotAnArrayError(SagaxError, TypeError):
    """An object that is neither an array nor a number where one is needed."""

    code = "SX0007"

    def __init__(self, value: object) -> None:
        kind = type(value)
        super().__init__(f"Argument '{_one_line(value)}' of type {kind} is not a valid JAX type.")
        if isinstance(value, (str, bytes)):
            self.facts["fix"] = "mark an argument that is text as static: static_argnames in jit"
        elif kind.__module__ != "builtins":
            self.facts["fix"] = (
                f"register {kind.__name__} as a pytree (sagax.tree_util.register_dataclass), "
                "or mark the argument as static"
            )


def _one_line(value: object) -> str:
    return value if isinstance(value, str) and len(value) < 40 else describe([value])[1:-1]


# The classes that jax has ------------------------------------------------------------------------


class JAXTypeError(SagaxError, TypeError):
    """Base of the errors about values that are traced where they cannot be."""

    code = "SX0100"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class JAXIndexError(SagaxError, IndexError):
    """Base of the errors about indices."""

    code = "SX0100"

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
        what = f"traced array with shape {describe(tracer)}"
        if context:
            super().__init__(f"{head} {context}\n  got: {what}")
        else:
            super().__init__(f"{head} {what}.")
        self.facts["tracer"] = tracer


class TracerBoolConversionError(ConcretizationTypeError):
    """Python asked a traced value whether it is true: `if`, `while`, `and`, `not`, `max`, ..."""

    code = "SX0102"
    advice = (
        "choose with jnp.where(condition, a, b) or lax.cond, combine with jnp.logical_and and "
        "jnp.maximum; a flag that is known when the function is called: static_argnames in jit"
    )

    def __init__(self, tracer: object) -> None:
        what = f"traced array with shape {describe(tracer)}"
        JAXTypeError.__init__(self, f"Attempted boolean conversion of JAX Tracer: {what}.")
        self.facts["tracer"] = tracer


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


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask was used as an index: the size of the result is not known."""

    code = "SX0105"
    advice = "keep the shape: jnp.where(mask, x, fill) instead of x[mask], or .at[mask].set(v)"

    def __init__(self, tracer: object) -> None:
        super().__init__(f"Array boolean indices must be concrete: ShapedArray({describe(tracer)})")
        self.facts["tracer"] = tracer


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
    def of(cls, tracer: object) -> Self:
        """The error for a tracer that was found where it cannot be."""
        info = getattr(getattr(tracer, "trace", None), "debug_info", None)
        made = "inside of a transformed function"
        if name := getattr(info, "func_name", ""):
            reason = getattr(info, "traced_for", "")
            made = f"while tracing `{name}`" + (f" for {reason}" if reason else "")
        error = cls(
            f"{cls._opening} value of type {describe(tracer)} was made {made}, and {cls._closing}."
        )
        error.facts["tracer"] = tracer
        return error

    def details(self) -> Details:
        """Where the tracer was made, and by which calls."""
        stack, argument = creation(self.facts.get("tracer"))
        if argument:
            return Details((f"the value stands for the argument {argument}",))
        calls = user_spans(stack, 5)
        if not calls:
            return Details()
        lines = [
            f"{shown_path(call.file)}:{call.line} in {call.function}: "
            + (call.source[0].strip() if call.source else "")
            for call in calls
        ]
        note = "When the Tracer was created, the final 5 stack frames were:\n" + "\n".join(lines)
        return Details((note,), (Label(calls[-1], "made here"),))


class LeakedTraceError(UnexpectedTracerError):
    """A traced value outlived the function that made it; found by `checking_leaks`."""

    code = "SX0107"
    _opening = "Leaked Trace: a"
    _closing = "is still referred to although that function has returned"


class KeyReuseError(JAXTypeError):
    """A random key was used a second time."""

    code = "SX0108"
    advice = "split the key, and use each part once: key, part = jax.random.split(key)"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InconclusiveDimensionOperation(SagaxError):
    """A question about symbolic dimensions that has no single answer."""

    code = "SX0109"


class JaxprTypeError(SagaxError, TypeError):
    """A jaxpr that breaks the rules of its language."""

    code = "SX0110"


class TypePromotionError(SagaxError, ValueError):
    """Dtypes that have no implicit common dtype."""

    code = "SX0111"


for _name in __all__:  # their public home: what tracebacks show and what pickles refer to
    if isinstance(_class := globals()[_name], type):
        _class.__module__ = "sagax.errors"
