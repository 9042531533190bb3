"""Exceptions that cross the edge between the user's code and sagax."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import traceback
from typing import Any

import pytest

import sagax
from sagax._src import config, trees
from sagax._src.diagnostics import spans
from sagax._src.diagnostics.boundary import Boundary, function_name, hide_frames, tracing
from sagax._src.diagnostics.errors import ShapeError


def frames(error: BaseException) -> list[str]:
    return [f.name for f in traceback.extract_tb(error.__traceback__)]


def names_of(entries: Any) -> list[str]:
    return [frame.f_code.co_name for frame, _ in traceback.walk_tb(entries)]


def fail(*_: Any) -> Any:
    raise KeyError("the user's")


def through_sagax(f: Any) -> Any:
    """Calls `f` from inside of sagax."""
    return trees.map(lambda _: f(), [0])


def test_the_users_exception_keeps_its_type_and_gets_one_note():
    def loss():
        fail()

    with pytest.raises(KeyError) as caught:
        tracing(loss, "grad")(lambda: through_sagax(Boundary("in the body of scan")(loss)))()
    assert caught.value.args == ("the user's",)
    assert caught.value.__notes__ == ["while tracing `loss` for grad, in the body of scan"]
    assert not any(
        spans.is_sagax(f.filename) for f in traceback.extract_tb(caught.value.__traceback__)
    )
    assert frames(caught.value)[-2:] == ["loss", "fail"]


def test_errors_of_sagax_tell_it_in_their_text():
    with pytest.raises(ShapeError) as caught, Boundary("tracing `f` for jit"), Boundary("in scan"):
        raise ShapeError("sizes differ", fix="do it")
    assert str(caught.value) == ("sizes differ\n  while tracing `f` for jit, in scan\n  fix: do it")
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("mode", "notes", "shown"), [("full", 1, True), ("off", 0, True), ("short", 1, False)]
)
def test_what_the_setting_does(mode, notes, shown):
    with config.context(traceback=mode), pytest.raises(KeyError) as caught:
        Boundary("running")(lambda: through_sagax(fail))()
    assert len(getattr(caught.value, "__notes__", [])) == notes
    files = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert any(spans.is_sagax(f) for f in files) is shown


def test_the_environment_chooses(run_python, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import sagax\nsagax.jit(lambda d: d['b'])({'a': 1.0})\n")
    texts = {
        mode: run_python(path, env={"SAGAX_TRACEBACK": mode}, status=1).stderr
        for mode in ("short", "full", "off")
    }
    assert {mode: "_src" in text for mode, text in texts.items()} == {
        "short": False,
        "full": True,
        "off": True,
    }
    notes = {mode: "while tracing `<lambda>` for jit" in text for mode, text in texts.items()}
    assert notes == {"short": True, "full": True, "off": False}


def test_jaxs_name_of_the_setting():
    with config.context(traceback_filtering="off"), pytest.raises(KeyError) as caught:
        Boundary("running")(fail)()
    assert "inside" in frames(caught.value)


def test_recursion_keeps_one_note_and_all_frames():
    boundary = Boundary("tracing `f` for jit")

    def f(n):
        with boundary:
            return fail() if n == 0 else through_sagax(lambda: f(n - 1))

    with pytest.raises(KeyError) as caught:
        f(60)
    assert caught.value.__notes__ == ["while tracing `f` for jit (61 times)"]
    assert frames(caught.value).count("f") == 61
    assert not any(
        spans.is_sagax(x.filename) for x in traceback.extract_tb(caught.value.__traceback__)
    )


def test_a_bottomless_recursion_ends_as_python_ends_it():
    boundary = Boundary("tracing `f` for jit")

    def f():
        with boundary:
            return f()

    with pytest.raises(RecursionError) as caught:
        f()
    assert len(caught.value.__notes__) == 1
    assert len(frames(caught.value)) > 100


def test_mutual_recursion_keeps_the_note_short():
    def f(n):
        with Boundary(f"in {'odd' if n % 2 else 'even'}"):
            return fail() if n == 0 else f(n - 1)

    with pytest.raises(KeyError) as caught:
        f(50)
    (note,) = caught.value.__notes__
    assert note.startswith("while in even, in odd") and note.endswith("in odd, in even")
    assert "..." in note and len(note) < 120


def test_an_exception_raised_again_starts_anew():
    shared = ValueError("one object, raised many times")

    def again():
        raise shared.with_traceback(None)

    for words in ("first", "second"):
        with pytest.raises(ValueError) as caught:
            Boundary(words)(again)()
    assert caught.value.__notes__ == ["while second"]


def test_notes_of_others_stay():
    error = ValueError("x")
    error.add_note("mine")
    with pytest.raises(ValueError) as caught, Boundary("outer"), Boundary("inner"):
        raise error
    assert caught.value.__notes__ == ["mine", "while outer, inner"]
    back = pickle.loads(pickle.dumps(caught.value))
    assert [(type(n), n) for n in back.__notes__] == [(str, n) for n in error.__notes__]


@pytest.mark.parametrize(
    "signal", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), StopIteration(1)]
)
def test_signals_pass_untouched(signal):
    def f():
        raise signal

    with pytest.raises(type(signal)) as caught:
        Boundary("running")(f)()
    assert caught.value is signal
    assert not hasattr(signal, "__notes__")
    assert "inside" in frames(signal)  # sagax's own frame


def test_causes_stay():
    def f():
        try:
            fail()
        except KeyError as error:
            raise ValueError("because") from error

    with pytest.raises(ValueError) as caught:
        Boundary("running")(f)()
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__suppress_context__
    assert frames(caught.value.__cause__) == ["f", "fail"]
    assert not hasattr(caught.value.__cause__, "__notes__")


def test_a_debugger_keeps_the_entries_it_holds():
    held = []

    def f():
        try:
            through_sagax(fail)
        except KeyError as error:
            held.extend([error.__traceback__, names_of(error.__traceback__)])
            raise

    with pytest.raises(KeyError) as caught:
        Boundary("running")(f)()
    entries, names = held
    assert names_of(entries) == names  # ours among them
    assert len(names) > len(frames(caught.value)) - 1
    places = [(frame.f_code.co_name, line) for frame, line in traceback.walk_tb(entries)]
    for place in [(f.name, f.lineno) for f in traceback.extract_tb(caught.value.__traceback__)][1:]:
        assert place in places  # the frames that are left are where they were


def test_generators_can_be_left_in_the_middle():
    def numbers():
        with Boundary("counting"):
            yield 1
            yield 2

    stream = numbers()
    assert next(stream) == 1
    stream.close()
    assert list(numbers()) == [1, 2]


def part_of_sagax(source: str, **names: Any) -> Any:
    """Code that counts as sagax's own; gives what it calls `f`."""
    exec(compile(source, spans.__file__.replace("spans", "made_up"), "exec"), names)
    return names["f"]


def test_a_defect_of_sagax_shows_where_it_is():
    def loss():
        part_of_sagax("def f(x):\n    return g(x)\ndef g(x):\n    return x.shpae")(0)

    with pytest.raises(AttributeError) as caught:
        Boundary("running")(loss)()
    assert frames(caught.value)[1:] == ["loss", "f", "g"]
    assert caught.value.__notes__ == [
        "while running; this error comes from inside sagax: please report it"
    ]


def test_a_call_that_does_not_fit_is_the_users_mistake():
    call = part_of_sagax("def f(fun):\n    return fun(1, 2)")
    with pytest.raises(TypeError) as caught:
        Boundary("running")(call)(lambda x: x)
    assert frames(caught.value) == ["test_a_call_that_does_not_fit_is_the_users_mistake"]
    assert caught.value.__notes__ == ["while running"]


def test_leaving_from_an_except_clause():
    source = "def f(g):\n    try:\n        return g()\n    except Exception as e:\n"
    call = part_of_sagax(
        source + "        boundary.leave(e)\n        raise", boundary=Boundary("running")
    )
    with pytest.raises(KeyError) as caught:
        call(fail)
    assert frames(caught.value) == ["test_leaving_from_an_except_clause", "fail"]
    assert caught.value.__notes__ == ["while running"]


def test_exceptions_that_cannot_be_changed_pass():
    @dataclasses.dataclass(frozen=True)
    class Frozen(Exception):
        code: int

    def f():
        raise Frozen(3)

    with pytest.raises(Frozen) as caught:  # a `with` in Python code could not even pass it on
        part_of_sagax(
            "def f(g):\n    try:\n        return g()\n    except Exception as e:\n"
            "        boundary.leave(e)\n        raise",
            boundary=Boundary("running"),
        )(f)
    assert caught.value.code == 3


def test_tidy_takes_our_frames_out_of_a_whole_chain():
    def f():
        try:
            through_sagax(fail)
        except KeyError as error:
            raise ValueError("because") from error

    with pytest.raises(ValueError) as caught:
        through_sagax(f)
    hide_frames(caught.value)
    for error in (caught.value, caught.value.__cause__):
        assert error is not None
        files = [x.filename for x in traceback.extract_tb(error.__traceback__)]
        assert files and not any(spans.is_sagax(x) for x in files)


def test_names_of_functions():
    def loss():
        def inner():
            pass

        return inner

    class Model:
        def step(self):
            pass

        def __call__(self):
            pass

    assert function_name(loss) == "loss"
    assert function_name(loss()) == "inner"
    assert function_name(functools.partial(functools.partial(loss, 1), 2)) == "loss"
    assert function_name(Model().step) == "Model.step"
    assert function_name(Model()) == "Model"
    assert function_name(len) == "len"
    assert tracing(lambda x: x, "vmap").phrase == "tracing `<lambda>` for vmap"


def test_callbacks_keep_their_exceptions():
    """On the first call and on cached ones: type, cause and the frames of the user's function."""

    def host(x):
        try:
            {}["missing"]
        except KeyError as error:
            raise ValueError("no such price") from error

    struct = sagax.ShapeDtypeStruct((), "float32")
    price = sagax.jit(lambda x: sagax.pure_callback(host, struct, x) + 1)
    for _ in range(2):
        with pytest.raises(ValueError, match="no such price") as caught:
            price(1.0).block_until_ready()
        assert isinstance(caught.value.__cause__, KeyError)
        assert frames(caught.value)[-1] == "host"
        assert caught.value.__notes__ == ["while running `<lambda>` for jit"]
