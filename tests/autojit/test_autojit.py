"""`autojit`: the results of converted functions are those of plain Python on plain values."""

from __future__ import annotations

import functools
import math
import traceback
import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.errors import AutojitError, AutojitWarning

SCALE = 2.0


# --- forty functions ---------------------------------------------------------------------------------


def if_else(x):
    if x > 0:
        return x * 2
    else:
        return x - 1


def early_return(x):
    if x > 3:
        return x
    x = x + 1
    if x > 2:
        return x * 10
    return -x


def elif_chain(x):
    if x < -2:
        y = -1.0
    elif x < 0:
        y = x
    elif x < 2:
        y = x * x
    else:
        y = 4.0
    return y + 1


def no_else(x):
    y = x
    if x < 0:
        y = -x
    return y


def nested(x, y):
    if x > 0:
        if y > 0:
            r = x + y
        else:
            r = x - y
    else:
        r = x * y
    return r


def nested_return(x, y):
    if x > 0:
        if y > 0:
            return x
        y = y + 10.0
    else:
        y = y - 10.0
    return x + y


def ternary(x):
    return x if x > 1 else 1 / (2 - x)


def nested_ternary(x):
    return 1.0 if x > 2 else (2.0 if x > 0 else x)


def conjunction(x, y):
    return 1.0 if x > 0 and y > 0 and x + y < 5 else 0.0


def disjunction(x, y):
    if x > 2 or y > 2:
        return x + y
    return x - y


def negation(x):
    if not x > 1:
        return x
    return -x


def values_of_or(x, y):
    return (x or y) + 1.0


def values_of_and(x, y):
    return (x and y) + 1.0


def chained(x):
    return 1.0 if 0 < x <= 2 else -1.0


def chained_and_computed(x):
    y = x * 2
    inside = -1 < y < x + 3 < 10
    return y if inside else 0.0


def while_(x):
    while x < 10:
        x = x + 3.5
    return x


def newton(a):
    x = a
    steps = 0
    while abs(x * x - a) > 1e-3 and steps < 20:
        x = 0.5 * (x + a / x)
        steps += 1
    return x, steps


def while_break(x):
    n = 0
    while True:
        x = x / 2
        n += 1
        if x < 0.3:
            break
    return n + x


def while_continue(x):
    total = 0.0
    while x > 0:
        x = x - 1
        if x > 2:
            continue
        total += x
    return total


def while_else(x):
    while x < 5:
        x = x + 2
        if x == 4:
            break
    else:
        x = x + 100
    return x


def return_in_while(x):
    n = 0
    while n < 10:
        if x > 20:
            return n
        x = x * 2
        n += 1
    return -1


def endless_with_return(x):
    n = 0
    while True:
        n += 1
        if n > 5:
            return x
        if x > 100:
            return n - 1.0
        x = x * 3


def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def for_plain(x):
    for i in range(4):
        x = x + i
    return x


def for_long(x):
    total = x
    for i in range(50):
        total = total + x * i
    return total


def for_traced(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def for_traced_from(a, b):
    total = 0.0
    for i in range(a, b, 3):
        total += i
    return total


def for_down(n):
    last = 0
    for i in range(n, 0, -2):
        last = last * 10 + i
    return last


def for_break(x):
    for i in range(100):
        if x > 50:
            break
        x = x + i
    return x


def for_break_traced(n):
    total = 0
    for i in range(n):
        if total > 20:
            break
        if i == 2:
            continue
        total += i
    return total


def for_else(x):
    r = 0.0
    for i in range(5):
        if x * i > 7:
            r = x * 1.0
            break
    else:
        r = -1.0
    return r


def return_in_for(x):
    for i in range(6):
        for j in range(4):
            if i * j > x:
                return 10 * i + j
    return -1


def over_list(x):
    total = 0.0
    for factor in [1.0, -2.0, 3.0]:
        if x * factor > 0:
            total += x * factor
    return total


def over_array(x):
    best = -1e9
    for v in snp.sin(snp.arange(20.0) * x):
        best = v if v > best else best
    return best


def set_in_rounds(x):
    for i in range(30):
        y = x * i
        if y > 20:
            z = y
        else:
            z = -y
    return y + z


def traced_later(x):
    total = 0
    for i in range(25):
        if i * x > 40:
            break
        total += i
    return total


def list_comprehension(x):
    return sum([x if x > i else i for i in range(4)])


def unpacking(x):
    a, (b, c) = x, (x + 1, x + 2)
    if a > 1:
        a, b = b, a
    return a - b * c


def pytree_variable(x):
    state = {"a": x, "b": (x, 1.0)}
    if x > 1:
        state = {"a": x * 2, "b": (x, 2.0)}
    return state["a"] + state["b"][1]


def helper(x):
    if x > SCALE:
        return x - SCALE
    return SCALE - x


def calls_helper(x):
    return helper(x) + helper(x + 3)


def inner_function(x):
    scale = 3.0

    def inner(y, offset=1.0):
        if y > 2:
            return y * scale
        return y + offset

    return inner(x) + inner(x + 1, offset=5.0)


def inner_lambda(x):
    f = lambda y: y if y > 0 else -y  # noqa: E731
    return f(x) + f(x - 3)


def recursion(x, n=3):
    if n == 0:
        return x
    return recursion(x + 1 if x < 2 else x * 2, n - 1)


def assertion(x):
    assert x == x, "not a number"
    return x + 1


def in_vmap(x):
    return snp.sum(sagax.vmap(helper)(snp.stack([x, x + 2, x + 4])))


def in_scan(x):
    def step(c, i):
        if c > 3:
            c = c - i
        else:
            c = c * 2 + i
        return c, c

    return sagax.lax.scan(step, x, snp.arange(4.0))[0]


def in_vmap_plainly(x):
    return helper(x) + helper(x + 2) + helper(x + 4)


def in_scan_plainly(x):
    for i in range(4):
        x = x - i if x > 3 else x * 2 + i
    return x


# What Python itself cannot do: `if` in functions that sagax traces.
PLAINLY = {"in_vmap": in_vmap_plainly, "in_scan": in_scan_plainly}


def temporaries(x):
    t = "unused before"
    total = 0.0
    while x > 0:
        t = x * 2
        if t > 4:
            u = t
        else:
            u = -t
        total = total + u
        x = x - 1
    return total


def bisect(target):
    low, high = 0.0, 4.0
    for _ in range(30):
        middle = (low + high) / 2
        if middle * middle < target:
            low = middle
        else:
            high = middle
    return low


def walrus(x):
    if (y := x * 2) > 3:
        return y
    while (x := x + 1) < 5:
        y += x
    return y


def bubble(x):
    a, b, c = x, 1.0, 2.0
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return 100 * a + 10 * b + c


FLOATS = (-3.0, -0.5, 0.0, 0.5, 1.5, 2.5, 4.0, 7.5)
PAIRS = ((1.0, 2.0), (-1.0, 2.0), (3.0, -2.0), (-1.0, -4.0), (0.0, 3.0))
CASES = [
    *[
        (f, FLOATS)
        for f in (
            if_else, early_return, elif_chain, no_else, ternary, nested_ternary, negation, chained,
            chained_and_computed, while_, while_continue, while_else, for_plain, for_long, for_break,
            for_else, set_in_rounds, traced_later, return_in_for, over_list, over_array, list_comprehension, unpacking,
            pytree_variable, calls_helper, inner_function, inner_lambda, recursion, assertion, in_vmap,
            in_scan, temporaries, walrus, bubble,
        )
    ],
    *[(f, PAIRS) for f in (nested, nested_return, conjunction, disjunction, values_of_or, values_of_and)],
    (newton, (0.5, 2.0, 9.0)),
    (bisect, (1.0, 2.0, 9.0)),
    (while_break, (0.1, 5.0, 40.0)),
    (return_in_while, (0.001, 1.0, 30.0)),
    (endless_with_return, (1.0, 60.0, 200.0)),
    (gcd, ((12, 18), (7, 3), (5, 0))),
    (collatz, (1, 7, 27)),
    (for_traced, (0, 1, 6)),
    (for_traced_from, ((0, 10), (2, 3), (5, 1))),
    (for_down, (0, 3, 8)),
    (for_break_traced, (0, 2, 5, 30)),
]  # fmt: skip


@pytest.mark.parametrize("function,inputs", CASES, ids=lambda c: getattr(c, "__name__", None))
def test_as_plain_python(function, inputs):
    converted = sagax.autojit(function)
    for given in inputs:
        args = given if isinstance(given, tuple) else (given,)
        expected = PLAINLY.get(function.__name__, function)(*args)
        result = converted(*args)
        for got, value in zip(sagax.tree.leaves(result), sagax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(got, value, rtol=2e-6, atol=1e-6, err_msg=str(args))
    assert converted._cache_size() == 1
    assert function in (for_plain,) or converted.conversions


def test_there_are_forty_functions():
    assert len(CASES) >= 40


GRADIENTS = [
    (if_else, (-1.5, 1.7)), (early_return, (-1.0, 1.5, 3.5)), (elif_chain, (-3.0, -1.0, 1.0, 5.0)),
    (ternary, (0.5, 2.5)), (chained_and_computed, (0.7,)), (for_long, (1.3,)), (for_break, (1.0, 3.0)),
    (over_list, (-1.0, 2.0)), (over_array, (0.3,)), (inner_function, (0.5, 3.0)), (in_scan, (1.1, 4.1)),
    (calls_helper, (1.5,)), (pytree_variable, (0.5, 1.5)), (recursion, (0.7, 2.5)), (for_else, (0.5, 3.1)),
]  # fmt: skip


@pytest.mark.parametrize("function,inputs", GRADIENTS, ids=lambda c: getattr(c, "__name__", None))
def test_gradients(function, inputs):
    gradient = sagax.grad(sagax.autojit(function))
    function = PLAINLY.get(function.__name__, function)
    for x in inputs:
        h = 1e-4
        with np.errstate(all="raise"):
            expected = (float(function(np.float64(x + h))) - float(function(np.float64(x - h)))) / (
                2 * h
            )
        np.testing.assert_allclose(float(gradient(x)), expected, rtol=2e-3, atol=1e-3)


def test_reverse_mode_of_loops_with_a_bound():
    def power(x, n):
        y = 1.0
        for _ in range(n):
            y = y * x
        return y

    bounded = sagax.autojit(power, max_steps=10)
    assert float(sagax.grad(bounded)(2.0, 5)) == 80.0
    with pytest.raises(ValueError, match="max_steps"):
        sagax.grad(sagax.autojit(power))(2.0, 5)


def test_vmap():
    x = np.asarray(FLOATS, np.float32)
    for function in (early_return, while_, elif_chain, bisect):
        given = np.abs(x) + 0.1
        mapped = sagax.vmap(sagax.autojit(function))(given)
        np.testing.assert_allclose(mapped, [function(float(v)) for v in given], rtol=1e-5)


# --- plain values keep plain Python --------------------------------------------------------------------


def test_plain_values_are_plain_python():
    seen = []

    @functools.partial(sagax.autojit, static_argnames=("mode", "n"))
    def f(x, mode, n):
        layers = []
        if mode == "wide":
            layers.append("wide")
            x = x + 1
        for i in range(n):
            layers.append(i)
            x = x * 2
        seen.append(layers)
        return x if layers else None

    assert float(f(1.0, mode="wide", n=20)) == 2.0 * 2**20
    assert seen == [["wide", *range(20)]]
    assert f.conversions == []


def test_concrete_arguments_of_the_converted_function():
    for function, inputs in CASES[:20]:
        converted = sagax.autojit(function)._fun
        for given in inputs:
            args = given if isinstance(given, tuple) else (given,)
            assert converted(*args) == function(*args)


def test_closures_defaults_and_globals():
    global SCALE
    offset = 1.0

    def f(x, *args, power=2, **kwargs):
        """Some words."""
        nonlocal offset
        if x > 0:
            y = x**power + offset + SCALE
        else:
            y = x
        return y + len(args) + sum(kwargs.values())

    g = sagax.autojit(f, stale="retrace")
    assert g.__doc__ == "Some words."
    assert g.__name__ == "f"
    assert float(g(2.0)) == 7.0
    offset = 5.0
    assert float(g(2.0)) == 11.0
    SCALE = 3.0
    try:
        assert float(g(2.0, 1.0, a=2.0)) == 15.0
        h = sagax.autojit(lambda x: helper(x), stale="retrace")
        assert float(h(7.0)) == 4.0
        SCALE = 2.0
        assert float(h(7.0)) == 5.0
    finally:
        SCALE = 2.0


class Base:
    def shift(self, x):
        return x + 1.0


@sagax.tree.dataclass
class Model(Base):
    rate: float
    __secret: float = 3.0

    @sagax.autojit
    def __call__(self, x):
        if x > self.rate:
            return self.shift(x) * self.__secret
        return self.clip(x)

    def clip(self, x):
        while x < self.rate:
            x = x + 1.0
        return x

    def shift(self, x):
        return super().shift(x) if x < 100 else x


def test_methods():
    model = Model(2.0)
    assert float(model(3.0)) == 12.0
    assert float(model(-0.5)) == 2.5
    assert float(sagax.autojit(model.clip)(0.25)) == 2.25
    assert float(sagax.jvp(model, (3.0,), (1.0,))[1]) == 3.0


def test_nonlocal_and_global_in_plain_python():
    count = 0

    @sagax.autojit
    def f(x, flag):
        nonlocal count
        for _ in range(3):
            count += 1
        return x

    f = sagax.autojit(f, static_argnames="flag")
    f(1.0, flag=True)
    assert count == 3


def twice(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(function(x))

    return wrapper


@twice
def decorated(x):
    if x > 0:
        return x - 2.0
    return x - 1.0


def test_decorated_functions():
    for function in (decorated, lambda x: decorated(x) + 1.0):
        converted = sagax.autojit(function)
        for x in (-1.0, 1.0, 5.0):
            assert float(converted(x)) == function(x)


def test_clear_caches():
    f = sagax.autojit(if_else)
    f(1.0)
    sagax.clear_caches()
    assert f._cache_size() == 0
    assert float(f(1.0)) == 2.0


def test_it_takes_jitted_functions_and_partials():
    assert float(sagax.autojit(sagax.jit(if_else))(-1.0)) == -2.0
    assert float(sagax.autojit(functools.partial(nested, 1.0))(2.0)) == 3.0


# --- what it tells ------------------------------------------------------------------------------------------


def test_strict_lists_what_was_converted():
    @sagax.autojit(strict=True)
    def f(x):
        if x > 0 and x < 9:
            x = x * 2
        while x < 5:
            x = x + 1
        return x

    first = f.__wrapped__.__code__.co_firstlineno
    with pytest.warns(AutojitWarning) as caught:
        f(1.0)
    (warning,) = caught
    text = str(warning.message)
    assert (
        "converted 3 statements of test_strict_lists_what_was_converted.<locals>.f" in text
        or "of f:" in text
    )
    assert f"test_autojit.py:{first + 2}: `if x > 0 and x < 9:` became lax.cond" in text
    assert f"test_autojit.py:{first + 2}: `x > 0 and x < 9` became snp.logical_and" in text
    assert f"test_autojit.py:{first + 4}: `while x < 5:` became lax.while_loop" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(2.0)
        f(snp.ones((), "int32"))  # traced again: nothing new
    assert [c.line - first for c in f.conversions] == [2, 2, 4]


def test_errors_point_at_the_line():
    @sagax.autojit
    def f(x):
        if x > 0:
            y = snp.zeros(3)
            x = y @ snp.zeros(4)
        return x

    with pytest.raises(TypeError) as raised:
        f(1.0)
    frames = traceback.extract_tb(raised.value.__traceback__)
    first = f.__wrapped__.__code__.co_firstlineno
    assert any(fr.filename == __file__ and fr.lineno == first + 4 for fr in frames)
    assert f"test_autojit.py:{first + 4}" in str(raised.value)


def unequal_shapes(x):
    if x > 0:
        y = snp.zeros(3)
    else:
        y = snp.zeros(4)
    return y


def unequal_kinds(x):
    if x > 0:
        return x
    return None


def unequal_texts(x):
    mode = "a" if x > 0 else "b"
    return x if mode == "a" else -x


def changing_list(x):
    found = []
    while x > 0:
        found.append(x)
        x = x - 1
    return len(found)


def changing_attribute(x):
    if x > 0:
        helper.calls = 1
    return x


def raising(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


def growing(x):
    y = snp.ones(1)
    while x > 0:
        y = snp.concatenate([y, y])
        x = x - 1
    return y


def one_sided(x):
    if x > 0:
        z = x
    return z + 1


def only_in_the_loop(n):
    for i in range(n):
        last = i
    return last


def whole_array(x):
    v = snp.stack([x, x])
    if v > 0:
        return x
    return -x


def return_in_with(x):
    for i in range(3):
        with sagax.named_scope("inside"):
            if x > i:
                return x
        x = x + 1
    return x


def generator(x):
    yield x


REFUSED = [
    (unequal_shapes, AutojitError, r"`y` is float32\[3\] if the condition holds and float32\[4\] if not.*`if x > 0:`"),
    (unequal_kinds, AutojitError, r"the returned value is float32\[\] .* and None if not"),
    (unequal_texts, AutojitError, r"'a' if the condition holds and 'b' if not"),
    (changing_list, AutojitError, r"`found.append\(x\)` .* inside of a loop .*`while x > 0:`"),
    (changing_attribute, AutojitError, r"`helper.calls = 1` .* inside of a branch"),
    (raising, AutojitError, r"`raise ValueError\(\"negative\"\)` .* raises an exception"),
    (growing, AutojitError, r"`y` is float32\[1\] before a round and float32\[2\] after it"),
    (one_sided, UnboundLocalError, r"`z` has a value after only one side of `if x > 0:`"),
    (only_in_the_loop, UnboundLocalError, r"`last` has no value if `for i in range\(n\):`"),
    (whole_array, AutojitError, r"2 elements is not one value: `if v > 0:`"),
    (return_in_with, AutojitError, r"a `with` that may be left early"),
    (generator, AutojitError, r"is a generator"),
]  # fmt: skip


@pytest.mark.parametrize("function,kind,words", REFUSED, ids=lambda c: getattr(c, "__name__", None))
def test_what_cannot_be_converted(function, kind, words):
    with pytest.raises(kind, match=words):
        sagax.autojit(function)(3 if function is only_in_the_loop else 3.0)


def test_a_function_without_source():
    space: dict = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(AutojitError, match="source cannot be found"):
        sagax.autojit(space["f"])
    with pytest.raises(AutojitError, match="Python is needed"):
        sagax.autojit(math.sin)


def test_assert_of_a_traced_value():
    @sagax.autojit
    def f(x):
        assert x > 0, "must be positive"
        return x * 2

    assert float(f(1.0)) == 2.0
    with pytest.raises(AssertionError, match="must be positive"):
        sagax.block_until_ready(f(-1.0))
        sagax.effects_barrier()
