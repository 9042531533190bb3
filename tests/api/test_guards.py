"""The option `stale`: what happens when something that a compiled function read from outside has changed."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
import threading
import types
import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.errors import StaleValueError, StaleValueWarning

RATE = 2.0
NAME = "sum"
WEIGHTS = np.arange(3.0, dtype=np.float32)
PAIR = (1.0, 2.0)
OPTIONS = {"rate": 0.5, "steps": 3}
SETTINGS = types.SimpleNamespace(rate=3.0, inner=types.SimpleNamespace(offset=1.0))
COUNT = 0


@pytest.fixture(autouse=True)
def _globals_as_they_were():
    before = {
        name: globals()[name] for name in ("RATE", "NAME", "WEIGHTS", "PAIR", "OPTIONS", "COUNT")
    }
    yield
    globals().update(before)
    SETTINGS.rate, SETTINGS.inner = 3.0, types.SimpleNamespace(offset=1.0)


def warned(function, *args):
    """The result of a call and the warnings of changed values that it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    assert all(w.category is StaleValueWarning for w in caught), [str(w.message) for w in caught]
    return result, [w.message for w in caught]


# --- the programs of the FAQ page ------------------------------------------------------------------


def impure(seen):
    space = {"y": 0, "seen": seen}
    exec(
        compile("def impure_func(x):\n    seen.append(y)\n    return x + y\n", "<impure>", "exec"),
        space,
    )
    return space


def test_the_impure_function_is_right_100_times_of_100():
    space = impure([])
    f = sagax.jit(space["impure_func"], stale="retrace")
    random = np.random.default_rng(0)
    for _ in range(100):
        x, space["y"] = (int(n) for n in random.integers(-5, 6, 2))
        assert int(f(x)) == x + space["y"]


def test_the_impure_function_is_as_on_the_page_by_default():
    seen: list[int] = []
    space = impure(seen)
    f = sagax.jit(space["impure_func"])
    results, messages = [], []
    for space["y"] in range(3):
        result, said = warned(f, space["y"])
        results.append(int(result))
        messages.append(len(said))
    assert results == [0, 1, 2]
    assert messages == [0, 1, 0]
    assert seen == [0]


class CustomClass:
    def __init__(self, x, mul):
        self.x = x
        self.mul = mul

    @functools.partial(sagax.jit, static_argnums=0)
    def calc(self, y):
        if self.mul:
            return self.x * y
        return y


def test_the_mutated_object_is_right_100_times_of_100():
    random = np.random.default_rng(1)
    with sagax.config.context(stale="retrace"):
        c = CustomClass(2, True)
        for _ in range(100):
            c.mul, c.x, y = (
                bool(random.integers(2)),
                int(random.integers(1, 4)),
                int(random.integers(9)),
            )
            assert int(c.calc(y)) == (c.x * y if c.mul else y)


def test_the_mutated_object_is_as_on_the_page_by_default():
    c = CustomClass(2, True)
    assert int(c.calc(3)) == 6
    c.mul = False
    result, (message,) = warned(c.calc, 3)
    assert int(result) == 6
    assert message.read == "self.mul"
    assert "it was True and is False" in str(message)


# --- what the warning says --------------------------------------------------------------------------


def rated(x):
    y = x + 1.0
    return y * RATE


def test_the_warning_names_variable_values_and_line():
    global RATE
    f = sagax.jit(rated)
    f(1.0)
    RATE = 7.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(1.0)
    (warning,) = caught
    line = rated.__code__.co_firstlineno + 2
    text = str(warning.message)
    assert "RATE has changed since rated was compiled: it was 2.0 and is 7.0" in text
    assert f"test_guards.py:{line} (`return y * RATE`)" in text
    assert warning.filename == __file__
    assert (
        warning.lineno
        == test_the_warning_names_variable_values_and_line.__code__.co_firstlineno + 7
    )


def test_one_warning_for_each_variable_of_a_function():
    global RATE
    f = sagax.jit(rated)
    f(1.0)
    said = []
    for value in (3.0, 4.0, 5.0):
        RATE = value
        said += warned(f, 1.0)[1]
        said += warned(f, snp.ones(2))[1]  # traced now: reads the new value
    assert len(said) == 1


def test_raise():
    global RATE
    f = sagax.jit(rated, stale="raise")
    assert float(f(1.0)) == 4.0
    RATE = 3.0
    with pytest.raises(StaleValueError, match=r"RATE has changed .* it was 2\.0 and is 3\.0"):
        f(1.0)
    RATE = 2.0
    assert float(f(1.0)) == 4.0


def test_ignore():
    global RATE
    f = sagax.jit(rated, stale="ignore")
    f(1.0)
    RATE = 3.0
    assert float(f(1.0)) == 4.0  # and no warning, which would be an error here


def test_a_value_that_is_not_a_mode():
    with pytest.raises(ValueError, match="stale"):
        sagax.jit(rated, stale="sometimes")
    with pytest.raises(ValueError, match="stale"):
        sagax.config.update("stale", "sometimes")


def test_the_environment_sets_it():
    program = "import sagax\nr = 1.0\nf = sagax.jit(lambda x: x * r)\nf(2.0)\nr = 5.0\nprint(float(f(2.0)))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**dict(__import__("os").environ), "SAGAX_STALE": "retrace"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "10.0\n"


# --- what is watched ----------------------------------------------------------------------------------


def closure():
    rate = 2.0

    def f(x):
        return x * rate

    def change(value):
        nonlocal rate
        rate = value

    return f, change


def in_global():
    def change(value):
        global RATE
        RATE = value

    return rated_plain, change


def rated_plain(x):
    return x * RATE


def helper_of_a_helper(x):
    return rated_plain(x) + 0.0


def in_helper():
    return lambda x: helper_of_a_helper(x), in_global()[1]


def in_scan():
    def f(x):
        body = lambda c, _: (c * RATE, None)  # noqa: E731
        return sagax.lax.scan(body, x, None, length=1)[0]

    return f, in_global()[1]


def in_vmapped_helper():
    return lambda x: sagax.vmap(rated_plain)(x[None])[0], in_global()[1]


def in_jitted_helper():
    inner = sagax.jit(rated_plain)
    inner(snp.ones(()))  # traced before
    return lambda x: inner(x) + 0.0, in_global()[1]


def in_item():
    def change(value):
        OPTIONS["rate"] = value

    OPTIONS["rate"] = 2.0
    return lambda x: x * OPTIONS["rate"], change


def in_namespace():
    def change(value):
        SETTINGS.inner.offset = value

    SETTINGS.inner.offset = 2.0
    return lambda x: x * SETTINGS.inner.offset, change


def in_replaced_namespace():
    def change(value):
        SETTINGS.inner = types.SimpleNamespace(offset=value)

    SETTINGS.inner.offset = 2.0
    return lambda x: x * SETTINGS.inner.offset, change


def in_alias():
    def f(x):
        settings = SETTINGS.inner
        return x * settings.offset

    return f, in_namespace()[1]


def in_replaced_attributes():
    s = Scaler(2.0)

    def change(value):
        s.__dict__ = {"rate": value}

    return s.times, change


def in_slot():
    class Slotted:
        __slots__ = ("rate",)

    s = Slotted()
    s.rate = 2.0
    return lambda x: x * s.rate, lambda value: setattr(s, "rate", value)


def in_property():
    class WithProperty:
        _rate = 2.0

        @property
        def rate(self):
            return self._rate

    s = WithProperty()
    return lambda x: x * s.rate, lambda value: setattr(s, "_rate", value)


def in_class_attribute():
    class Shared:
        rate = 2.0

    return lambda x: x * Shared.rate, lambda value: setattr(Shared, "rate", value)


def in_method():
    s = Scaler(2.0)
    return s.times_through, lambda value: setattr(s, "rate", value)


class Scaler:
    def __init__(self, rate):
        self.rate = rate

    def times(self, x):
        return x * self.rate

    def times_through(self, x):
        return self.times(x) + 0.0

    def __call__(self, x):
        return self.times(x)


def in_callable_object():
    s = Scaler(2.0)
    return lambda x: s(x), lambda value: setattr(s, "rate", value)


def in_partial():
    s = Scaler(2.0)
    return functools.partial(s.times), lambda value: setattr(s, "rate", value)


@sagax.tree.dataclass
class Traced:
    x: object = 1.0

    def helped(self):
        return self._through * rated_plain(1.0)

    @property
    def _through(self):
        return self.x * 1.0


def traced_method(model):
    return model.helped()


def in_argument_of_partial():
    s = Scaler(2.0)
    return functools.partial(lambda s, x: s.rate * x, s), lambda value: setattr(s, "rate", value)


def in_array():
    box = types.SimpleNamespace(rate=snp.float32(2.0))
    return lambda x: x * box.rate, lambda value: setattr(box, "rate", snp.float32(value))


def in_numpy_array():
    rates = np.array([2.0], np.float32)
    return lambda x: x * rates[0], lambda value: rates.fill(value)


def in_tuple():
    def change(value):
        global PAIR
        PAIR = (1.0, value)

    return lambda x: x * PAIR[1], change


CASES = [
    closure, in_global, in_helper, in_scan, in_vmapped_helper, in_jitted_helper, in_item, in_namespace,
    in_replaced_namespace, in_alias, in_replaced_attributes, in_slot, in_property, in_class_attribute, in_method,
    in_callable_object, in_partial, in_argument_of_partial, in_array, in_numpy_array, in_tuple,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_what_is_watched(case):
    f, change = case()
    change(2.0)
    x = snp.asarray(3.0)
    retraced, warning = sagax.jit(f, stale="retrace"), sagax.jit(f)
    assert float(warning(x)) == float(retraced(x)) == 6.0
    change(5.0)
    assert float(retraced(x)) == 15.0
    result, messages = warned(warning, x)
    assert float(result) == 6.0
    assert len(messages) == 1
    change(2.0)
    assert float(retraced(x)) == 6.0
    assert warned(warning, x)[1] == []


@pytest.mark.parametrize("function", [traced_method, Traced.helped])
def test_methods_of_a_traced_object(function):
    global RATE
    f = sagax.jit(function, stale="retrace")
    assert float(f(Traced(3.0))) == 6.0
    RATE = 5.0
    assert float(f(Traced(3.0))) == 15.0


def test_a_static_dataclass():
    @dataclasses.dataclass(eq=False)
    class Options:
        rate: float = 2.0

    f = sagax.jit(lambda x, options: x * options.rate, static_argnames="options", stale="retrace")
    options = Options()
    assert float(f(1.0, options=options)) == 2.0
    options.rate = 4.0
    assert float(f(1.0, options=options)) == 4.0
    assert float(f(1.0, options=Options(9.0))) == 9.0


def test_text_and_none():
    global NAME
    f = sagax.jit(lambda x: getattr(snp, NAME)(x), stale="retrace")
    x = snp.arange(4.0)
    assert float(f(x)) == 6.0
    NAME = "max"
    assert float(f(x)) == 3.0


def test_a_jitted_function_inside_another():
    global RATE
    inner = sagax.jit(rated_plain, stale="retrace")
    outer = sagax.jit(lambda x: inner(x) + 1.0, stale="retrace")
    assert float(outer(1.0)) == 3.0
    RATE = 5.0
    assert float(outer(1.0)) == 6.0
    assert float(inner(1.0)) == 5.0
    assert float(sagax.grad(inner)(1.0)) == 5.0
    RATE = 6.0
    assert float(sagax.grad(inner)(1.0)) == 6.0
    assert sagax.vmap(inner)(snp.ones(2)).tolist() == [6.0, 6.0]


def test_functions_of_the_same_meaning_have_guards_of_their_own():
    def make(n):
        def f(x):
            return x * n

        def change(value):
            nonlocal n
            n = value

        return sagax.jit(f), change

    (f, change), (g, _) = make(2.0), make(2.0)
    assert float(f(1.0)) == float(g(1.0)) == 2.0
    change(3.0)
    assert warned(g, 1.0) == (snp.float32(2.0), [])
    assert len(warned(f, 1.0)[1]) == 1


def test_jit_applied_again_to_a_function_that_has_changed():
    f, change = in_module_of_its_own()
    sagax.jit(f)(1.0)
    change(3.0)
    assert len(warned(sagax.jit(f), 1.0)[1]) == 1


def in_module_of_its_own():
    space: dict = {"rate": 2.0}
    exec("def f(x):\n    return x * rate", space)
    return space["f"], lambda value: space.update(rate=value)


# --- what is not a change --------------------------------------------------------------------------------


def test_an_equal_value_is_no_change():
    global RATE, PAIR, WEIGHTS
    array, nan = snp.arange(3.0), float("nan")
    box = types.SimpleNamespace(array=array, nan=nan)

    def f(x):
        return x * RATE + PAIR[0] + snp.asarray(WEIGHTS) + box.array + box.nan

    jitted = sagax.jit(f, stale="raise")
    first = jitted(1.0)
    RATE, PAIR, WEIGHTS = float("2.0"), (float("1.0"), 2.0), WEIGHTS.copy()
    box.array, box.nan = snp.arange(3.0) + 0, float("nan")
    for _ in range(3):
        np.testing.assert_array_equal(jitted(1.0), first)
    box.array = box.array + 1
    with pytest.raises(StaleValueError, match=r"box\.array"):
        jitted(1.0)


@pytest.mark.parametrize("old,new", [(0.0, -0.0), (1, True), (1, 1.0), (None, 0)])
def test_equal_numbers_of_another_kind_are_a_change(old, new):
    box = types.SimpleNamespace(value=old)

    def f(x):
        return x if box.value is None else snp.copysign(x, box.value)

    jitted = sagax.jit(f, stale="raise")
    jitted(1.0)
    box.value = new
    with pytest.raises(StaleValueError):
        jitted(1.0)


def test_a_variable_that_the_trace_did_not_come_to():
    box = types.SimpleNamespace(wide=False, width=3.0, other=1.0)

    def f(x):
        scale = box.width if box.wide else box.other
        return x * scale

    jitted = sagax.jit(f, stale="raise")
    assert float(jitted(1.0)) == 1.0
    box.width = 4.0
    assert float(jitted(1.0)) == 1.0
    box.wide = True
    with pytest.raises(StaleValueError, match=r"box\.wide"):
        jitted(1.0)


def test_what_the_function_assigns_itself():
    traces = 0

    def f(x):
        nonlocal traces
        global COUNT
        traces += 1
        COUNT += 1
        OPTIONS["seen"] = traces
        return x + 1

    jitted = sagax.jit(f, stale="raise")
    for n in (1, 2, 1, 2):
        jitted(snp.ones(n))
    assert traces == COUNT == 2


def test_other_items_of_a_dict_and_other_attributes():
    f = sagax.jit(lambda x: x * OPTIONS["rate"] + SETTINGS.rate, stale="raise")
    f(1.0)
    OPTIONS["steps"] += 1
    SETTINGS.other = 3
    f(1.0)


def test_a_local_variable_of_that_name():
    def f(x):
        RATE = x + 1.0
        return RATE * 2.0

    jitted = sagax.jit(f, stale="raise")
    jitted(1.0)
    globals()["RATE"] = 9.0
    assert float(jitted(1.0)) == 4.0


def test_functions_that_read_nothing_have_no_guard():
    f = sagax.jit(lambda x: snp.sin(x) + np.pi)
    f(1.0)
    ((_, guard),) = f._caches.calls.values()
    assert guard is None


# --- how it holds up ---------------------------------------------------------------------------------------


def test_values_that_alternate_are_compiled_once_each():
    global RATE
    traces = []

    @sagax.jit(stale="retrace")
    def f(x):
        traces.append(None)
        return x * RATE

    for RATE in [1.0, 2.0, 3.0] * 20:
        assert float(f(2.0)) == 2.0 * RATE
    assert len(traces) == 3


def test_a_variable_that_goes_away():
    space = {}
    exec("def f(x):\n    return x * factor", space)
    space["factor"] = 2.0
    f = sagax.jit(space["f"])
    f(1.0)
    del space["factor"]
    result, (message,) = warned(f, 1.0)
    assert float(result) == 2.0
    assert "no longer there" in str(message)


def test_threads():
    boxes = [types.SimpleNamespace(rate=float(i)) for i in range(4)]
    jitted = [sagax.jit(lambda x, b=b: x * b.rate, stale="retrace") for b in boxes]
    wrong = []

    def work(i):
        for k in range(30):
            boxes[i].rate = float(k % 3 + i)
            if float(jitted[i](2.0)) != 2.0 * boxes[i].rate:
                wrong.append((i, k))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_threads_that_trace_the_same_function_at_once():
    box = types.SimpleNamespace(rate=2.0)

    def f(x):
        return x * box.rate if x.shape[0] > 0 else x

    results = []

    def work(n):
        jitted = sagax.jit(f, stale="raise")
        jitted(snp.ones(n))
        results.append(jitted)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    box.rate = 3.0
    assert len(results) == 8
    for jitted in results:
        (n,) = {key[-1].shape[0] for key in jitted._calls}
        with pytest.raises(StaleValueError):
            jitted(snp.ones(n))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_the_monitoring_of_other_tools_is_left_alone():
    used = [n for n in range(6) if sys.monitoring.get_tool(n) is not None]
    sagax.jit(rated, stale="raise")(snp.ones(5))
    assert [n for n in range(6) if sys.monitoring.get_tool(n) is not None] == used
    taken = [n for n in (3, 4) if sys.monitoring.get_tool(n) is None]
    for n in taken:
        sys.monitoring.use_tool_id(n, "test")
    try:
        global RATE
        f = sagax.jit(rated, stale="raise")
        f(snp.ones(6))
        RATE = 3.0
        with pytest.raises(StaleValueError):
            f(snp.ones(6))
    finally:
        for n in taken:
            sys.monitoring.free_tool_id(n)
