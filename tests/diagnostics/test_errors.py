"""The classes of errors: their kin, their words, their facts, and that they pickle."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from fake_traces import Stub
from sagax import errors
from sagax._src.diagnostics.base import SagaxError, describe
from sagax._src.diagnostics.boundary import Boundary
from sagax._src.diagnostics.errors import ArgumentError, ShapeError, TreeError

# ------------------------------------------------------------------------------- classes and words

# What jax 0.12 has: the builtin that each class derives from, and how it is made.
CLASSES = {
    "ConcretizationTypeError": (TypeError, (Stub(),)),
    "InconclusiveDimensionOperation": (Exception, ("text",)),
    "JAXIndexError": (IndexError, ("text",)),
    "JAXTypeError": (TypeError, ("text",)),
    "JaxprTypeError": (TypeError, ("text",)),
    "KeyReuseError": (TypeError, ("text",)),
    "NonConcreteBooleanIndexError": (IndexError, (Stub(),)),
    "TracerArrayConversionError": (TypeError, (Stub(),)),
    "TracerBoolConversionError": (TypeError, (Stub(),)),
    "TracerIntegerConversionError": (TypeError, (Stub(),)),
    "UnexpectedTracerError": (TypeError, ("text",)),
}


@pytest.mark.smoke
@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_those_of_jax(name):
    builtin, args = CLASSES[name]
    error = getattr(errors, name)(*args)
    assert isinstance(error, builtin) and isinstance(error, SagaxError)
    assert (type(error).__module__, type(error).__name__) == ("sagax.errors", name)
    if args == ("text",):
        assert error.args == ("text",) and str(error).startswith("text")


def test_kinship_is_that_of_jax():
    assert issubclass(errors.TracerBoolConversionError, errors.ConcretizationTypeError)
    assert not issubclass(errors.TracerIntegerConversionError, errors.ConcretizationTypeError)
    assert issubclass(errors.NonConcreteBooleanIndexError, errors.JAXIndexError)
    assert issubclass(errors.KeyReuseError, errors.JAXTypeError)
    assert issubclass(errors.JaxRuntimeError, RuntimeError)


# From the published pages of errors, of two years; the later wording begins the message.
WORDS = [
    (
        errors.ConcretizationTypeError(Stub(dtype="int32"), "axis argument to jnp.min()."),
        "Abstract tracer value encountered where concrete value is expected: "
        "axis argument to jnp.min().",
    ),
    (
        errors.ConcretizationTypeError(Stub(dtype="int32"), "The error arose in jnp.nonzero."),
        "Abstract tracer value encountered where concrete value is expected: "
        "The error arose in jnp.nonzero.",
    ),
    (
        errors.TracerBoolConversionError(Stub(dtype="bool")),
        "Attempted boolean conversion of JAX Tracer",
    ),
    (
        errors.TracerIntegerConversionError(Stub(dtype="int32")),
        "The __index__() method was called on traced array with shape int32[]",
    ),
    (
        errors.TracerArrayConversionError(Stub(4, dtype="int32")),
        "The numpy.ndarray conversion method __array__() was called on traced array with shape "
        "int32[4]",
    ),
    (
        errors.NonConcreteBooleanIndexError(Stub(10, dtype="bool")),
        "Array boolean indices must be concrete: ShapedArray(bool[10])",
    ),
    (errors.UnexpectedTracerError.of(Stub()), "Encountered an unexpected tracer."),
    (errors.LeakedTraceError.of(Stub()), "Leaked Trace"),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("error", "words"), WORDS, ids=lambda x: type(x).__name__)
def test_messages_begin_with_the_words_of_the_pages(error, words):
    assert words in str(error)  # behind a first line in the names of the program
    assert error.args[0].startswith(words)


def test_words_of_the_older_page_are_there_too():
    for cls in (errors.TracerIntegerConversionError, errors.TracerArrayConversionError):
        assert "the JAX Tracer object" in str(cls(Stub()))


def test_an_object_that_is_no_array():
    class CustomClass:
        def __repr__(self):
            return "<CustomClass object>"

    error = errors.NotAnArrayError(CustomClass())
    words = f"Argument '<CustomClass object>' of type {CustomClass} is not a valid JAX type."
    assert str(error).startswith(words)
    assert "register CustomClass as a pytree" in str(error)
    assert "static" in str(errors.NotAnArrayError("relu"))


# ------------------------------------------------------------------------------------------- facts


def test_a_sentence_is_made_of_facts():
    error = ArgumentError(
        function="grad", argument="argnums", got=5, expected="an index below 2", fix="pass 0 or 1"
    )
    assert isinstance(error, TypeError)
    assert (
        str(error) == "grad: argument argnums must be an index below 2; got 5\n  fix: pass 0 or 1"
    )


def test_facts_follow_a_message_in_a_fixed_order():
    error = TreeError(
        "the carry changed its type",
        got=Stub(4),
        expected=Stub(3),
        path="['w'][0]",
        argument="init",
        function="scan",
    )
    assert isinstance(error, ValueError)
    assert str(error).splitlines() == [
        "scan: the carry changed its type",
        "  argument: init['w'][0]",
        "  expected: float32[3]",
        "  got: float32[4]",
    ]


def test_none_can_be_what_was_got():
    assert str(ArgumentError(function="jit", expected="a function", got=None)).endswith("got None")


def test_other_facts_are_kept_and_not_shown():
    error = ShapeError("sizes differ", code="SX0301", axes=(1, 0))
    assert str(error) == "sizes differ"
    assert error.facts["axes"] == (1, 0)
    assert error.code == "SX0301" and error.explain().code == "SX0301"


def test_attach_adds_and_does_not_replace():
    error = ArgumentError(argument="axis", expected="an int", got="1.5").attach(
        function="sum", argument="dim"
    )
    assert str(error) == "sum: argument axis must be an int; got 1.5"
    assert error.args == (str(error),)


def test_long_lines_of_advice_are_wrapped():
    lines = str(ArgumentError("no", fix="word " * 60)).splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("words of ours", "words of ours"),
        (np.zeros((2, 3), np.int8), "int8[2,3]"),
        (Stub(3), "float32[3]"),
        ((1, "a", np.zeros(2)), "(1, 'a', float64[2])"),
        ((1,), "(1,)"),
        ([Stub()], "[float32[]]"),
        (int, "int"),
        ({"a": 1}, "{'a': 1}"),
    ],
)
def test_describe(value, text):
    assert describe(value) == text


def test_describe_survives_what_it_describes():
    class Hostile:
        def __repr__(self):
            raise RuntimeError("no repr")

        def __getattr__(self, name):
            raise RuntimeError("no attributes")

    assert describe(Hostile()) == "a Hostile"


def test_describe_is_one_short_line():
    text = describe(dict.fromkeys(range(1000)))
    assert len(text) < 100 and "\n" not in text and text.endswith("(a dict)")


# ----------------------------------------------------------------------------------------- pickles


def every_class() -> list[type[SagaxError]]:
    found = [getattr(errors, n) for n in dir(errors)]
    return [c for c in found if isinstance(c, type) and issubclass(c, SagaxError)]


def an_instance(cls: type[SagaxError]) -> SagaxError:
    """An error of this class that holds what cannot be pickled."""
    error = cls(*CLASSES[cls.__name__][1]) if cls.__name__ in CLASSES else cls("text")
    error.add_note("a note")
    return error.attach(fix="do this", tracer=Stub(), what=lambda: None)


@pytest.mark.parametrize("cls", every_class(), ids=lambda c: c.__name__)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_pickle(cls, again):
    error = an_instance(cls)
    back = again(error)
    assert type(back) is cls
    assert (str(back), repr(back), back.args) == (str(error), repr(error), error.args)
    assert "\n  fix: " in str(back)
    assert back.explain() == error.explain()
    assert back.__notes__ == ["a note"]
    assert str(pickle.loads(pickle.dumps(back))) == str(error)


def test_what_comes_out_of_a_pickle_stays_as_it_is():
    back = pickle.loads(pickle.dumps(ArgumentError(argument="axis", expected="an int", got=1.5)))
    assert not hasattr(back, "__notes__")
    text = str(back)
    assert str(back.attach(function="sum")) == text
    with pytest.raises(ArgumentError) as caught, Boundary("running the pool"):
        raise back
    assert str(caught.value) == f"{text}\n  while running the pool"
