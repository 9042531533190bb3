"""Transformations called outside of jit: compiled as one piece where nobody can tell, else as ever.

Expected values are derivatives worked out by hand, in NumPy. Whether the user's function was run is
seen with a profile function, which the function itself cannot notice.
"""

from __future__ import annotations

import functools
import gc
import math
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src.function_analysis import purity

X = snp.array([0.5, 1.0, 2.0])
NX = np.array([0.5, 1.0, 2.0])
SCALE = 3.0
WEIGHTS = snp.array([1.0, 2.0, 3.0])
NUMBERS = [2.0, 5.0]
ZERO = np.zeros((), sagax.float0)


@pytest.fixture(autouse=True)
def fresh():
    sagax.clear_caches()


def runs_of(fun, call):
    """The result of `call`, and how many times the code of `fun` was run in it."""
    count = 0

    def watch(frame, event, _):
        nonlocal count
        count += event == "call" and frame.f_code is fun.__code__

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        result = call()
    finally:
        sys.setprofile(before)
    return result, count


def is_compiled(fun, call, after=4):
    """Whether, after some calls, `call` gets along without running `fun`."""
    for _ in range(after):
        call()
    return runs_of(fun, call)[1] == 0


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), b, rtol=2e-6, atol=1e-6)


# --- it is compiled, and right ---------------------------------------------------------------------


def product(x):
    return snp.sum(snp.sin(x) * x)


SLOPE = np.cos(NX) * NX + np.sin(NX)
CURVE = 2 * np.cos(NX) - NX * np.sin(NX)


@pytest.mark.parametrize(
    ("transformed", "expected"),
    [
        (lambda: sagax.grad(product)(X), SLOPE),
        (lambda: sagax.value_and_grad(product)(X)[1], SLOPE),
        (lambda: sagax.value_and_grad(product)(X)[0], np.sum(np.sin(NX) * NX)),
        (lambda: sagax.jvp(product, (X,), (snp.ones(3),))[1], SLOPE.sum()),
        (lambda: sagax.vmap(product)(snp.stack([X, X]))[1], np.sum(np.sin(NX) * NX)),
        (lambda: sagax.vjp(product, X)[1](1.0)[0], SLOPE),
        (lambda: sagax.vjp(product, X)[0], np.sum(np.sin(NX) * NX)),
        (lambda: sagax.linearize(product, X)[1](snp.ones(3)), SLOPE.sum()),
        (lambda: sagax.jacrev(product)(X), SLOPE),
        (lambda: sagax.jacfwd(product)(X), SLOPE),
        (lambda: sagax.hessian(product)(X), np.diag(CURVE)),
        (lambda: sagax.vmap(sagax.grad(product))(snp.stack([X, X]))[1], SLOPE),
        (lambda: sagax.grad(lambda x: sagax.grad(product)(x).sum())(X), CURVE),
    ],
    ids="grad value_and_grad value jvp vmap vjp vjp-value linearize jacrev jacfwd hessian vmap-grad grad-grad".split(),
)
def test_compiled_from_the_third_call_on(transformed, expected):
    counts = []
    for _ in range(5):
        result, count = runs_of(product, transformed)
        close(result, expected)
        counts.append(count)
    assert counts[:2] == [1, 1] and counts[3:] == [0, 0]


def test_a_transformation_applied_once_and_many_times_are_the_same():
    once = sagax.grad(product)
    assert is_compiled(product, lambda: once(X))
    assert runs_of(product, lambda: sagax.grad(product)(X))[1] == 0


def test_each_signature_for_itself():
    g = sagax.grad(product)
    assert is_compiled(product, lambda: g(X))
    longer = snp.ones(4)
    result, count = runs_of(product, lambda: g(longer))
    assert count == 1
    close(result, np.full(4, np.cos(1) + np.sin(1)))


def test_pullbacks_can_be_used_again_and_differentiated():
    def f(x, y):
        return {"out": snp.sin(x) * y}, snp.cos(x)

    y = snp.array([1.0, 2.0, 3.0])
    ny = np.array([1.0, 2.0, 3.0])
    for _ in range(5):
        value, pull, aux = sagax.vjp(f, X, y, has_aux=True)
        close(value["out"], np.sin(NX) * ny)
        close(aux, np.cos(NX))
        for scale in (1.0, 2.0):
            dx, dy = pull({"out": snp.full(3, scale)})
            close(dx, scale * np.cos(NX) * ny)
            close(dy, scale * np.sin(NX))
        close(sagax.grad(lambda ct, pull=pull: pull({"out": ct})[0].sum())(y), np.cos(NX) * ny)


def test_linear_maps_take_several_tangents():
    for _ in range(5):
        value, push = sagax.linearize(lambda x, n: (x**2, n + 1), X, 3)
        close(value[0], NX**2)
        assert int(value[1]) == 4
        close(push(snp.ones(3), ZERO)[0], 2 * NX)
        close(
            sagax.vmap(lambda t, push=push: push(t, ZERO)[0], in_axes=0)(snp.eye(3)),
            np.diag(2 * NX),
        )


def test_python_numbers_keep_their_types():
    g = sagax.value_and_grad(lambda x: x * x)
    before = g(3.0)
    for _ in range(4):
        after = g(3.0)
    for a, b in zip(before, after, strict=True):
        assert (a.dtype, a.weak_type, a.shape) == (b.dtype, b.weak_type, b.shape)
        assert float(a) == float(b)
    assert float(g(4.0)[1]) == 8.0


def test_trees_argnums_and_aux():
    def loss(params, x, y):
        out = snp.tanh(x @ params["w"] + params["b"])
        return snp.mean((out - y) ** 2), {"out": out}

    params = {"w": snp.full((3, 2), 0.1), "b": snp.zeros(2)}
    x, y = snp.ones((4, 3)), snp.zeros((4, 2))
    f = sagax.value_and_grad(loss, argnums=(0, 1), has_aux=True)
    first = f(params, x, y)
    assert is_compiled(loss, lambda: f(params, x, y))
    again = f(params, x, y)
    assert sagax.tree.structure(first) == sagax.tree.structure(again)
    out = math.tanh(0.3)
    close(again[0][1]["out"], np.full((4, 2), out))
    close(again[1][0]["b"], np.full(2, out * (1 - out**2)))


def test_plain_arguments_are_constants():
    def power(x, n, *, twice=False):
        return (x**n).sum() * (2 if twice else 1)

    g = sagax.grad(power)
    for n in (2, 3):
        for twice in (False, True):
            assert is_compiled(power, lambda n=n, t=twice: g(X, n, twice=t))
            close(g(X, n, twice=twice), n * NX ** (n - 1) * (1 + twice))


def test_many_numbers_are_not_compiled_one_by_one():
    g = sagax.grad(lambda x, rate: (x * rate).sum())
    for i in range(600):
        close(g(X, i / 7), np.full(3, i / 7))


def test_functions_as_arguments():
    def apply(x, f):
        return f(x).sum()

    g = sagax.grad(apply)
    assert is_compiled(apply, lambda: g(X, snp.sin))
    close(g(X, snp.sin), np.cos(NX))
    close(g(X, snp.cos), -np.sin(NX))


def test_mapped_over_some_arguments_only():
    f = sagax.vmap(lambda x, y: x * y, in_axes=(0, None))
    for k in range(6):
        close(f(X, 2), NX * 2)
        close(f(X, float(k)), NX * k)


# --- what it reads from outside --------------------------------------------------------------------


def test_new_closures_over_other_arrays():
    def step(y):
        return sagax.grad(lambda x: snp.sum(x * y))(X)

    for k in range(6):
        close(step(snp.full(3, k)), np.full(3, k))


def test_closures_over_other_numbers():
    for k in range(20):
        close(sagax.grad(lambda x, k=k: snp.sum(x * k))(X), np.full(3, k))
    for k in range(20):
        close(sagax.grad(lambda x: snp.sum(x * k))(X), np.full(3, k))  # noqa: B023


def reads_globals(x):
    return snp.sum(x * WEIGHTS) * SCALE


def test_globals_that_are_bound_anew(monkeypatch):
    g = sagax.grad(reads_globals)
    here = sys.modules[__name__]
    assert is_compiled(reads_globals, lambda: g(X))
    monkeypatch.setattr(here, "SCALE", 5.0)
    close(g(X), 5 * np.array([1, 2, 3]))
    monkeypatch.setattr(here, "WEIGHTS", snp.ones(3))
    close(g(X), np.full(3, 5))
    monkeypatch.setattr(here, "WEIGHTS", 7.0)
    close(g(X), np.full(3, 35))


def helper(x):
    return x * 2


def uses_helper(x):
    return helper(x).sum()


def test_helpers_that_are_defined_anew(monkeypatch):
    g = sagax.grad(uses_helper)
    assert is_compiled(uses_helper, lambda: g(X))
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda x: x * 9)
    close(g(X), np.full(3, 9))


def test_code_of_a_helper_that_is_replaced(monkeypatch):
    g = sagax.grad(uses_helper)
    assert is_compiled(uses_helper, lambda: g(X))
    monkeypatch.setattr(helper, "__code__", (lambda x: x * 4).__code__)
    close(g(X), np.full(3, 4))


def test_contents_of_lists_and_numpy_arrays():
    numbers, table = [2.0, 5.0], np.array([1.0, 2.0, 4.0], np.float32)

    def reads_contents(x):
        return (x * numbers[0]).sum() + (x * table).sum()

    g = sagax.grad(reads_contents)
    assert is_compiled(reads_contents, lambda: g(X))
    numbers[0] = 10.0
    close(g(X), 10 + np.array([1, 2, 4]))
    table[1] = 100.0
    close(g(X), 10 + np.array([1, 100, 4]))


def test_attributes_of_modules(monkeypatch):
    library = types.ModuleType("library")
    library.factor = 2.0

    def f(x):
        return (x * library.factor).sum()

    g = sagax.grad(f)
    assert is_compiled(f, lambda: g(X))
    library.factor = 6.0
    close(g(X), np.full(3, 6))


def test_rules_that_are_set_anew():
    @sagax.custom_jvp
    def f(x):
        return x * 2

    f.defjvp(lambda p, t: (f(*p), t[0] * 10))

    def uses(x):
        return f(x).sum()

    assert is_compiled(uses, lambda: sagax.grad(uses)(X))
    close(sagax.grad(uses)(X), np.full(3, 10))
    f.defjvp(lambda p, t: (f(*p), t[0] * 20))
    close(sagax.grad(uses)(X), np.full(3, 20))


def test_attributes_of_functions():
    def f(x):
        return (x * f.factor).sum()

    for factor in (1.0, 2.0, 3.0, 4.0, 5.0):
        f.factor = factor
        close(sagax.grad(f)(X), np.full(3, factor))


def test_what_a_function_closes_over_is_not_kept_alive():
    def step(y):
        return sagax.grad(lambda x: snp.sum(x * y))(X)

    kept = []
    for k in range(6):
        y = snp.full(3, k) + 1
        kept.append(weakref.ref(y))
        step(y)
        del y
    gc.collect()
    assert [r() for r in kept] == [None] * 6


def test_many_shapes_one_after_the_other():
    def f(x):
        return x + 1

    g = sagax.vmap(f)
    for n in range(1, 300):
        g(snp.zeros(n))
    assert is_compiled(f, lambda: g(X))


def test_a_closure_variable_that_changes():
    factor = 2.0

    def f(x):
        return (x * factor).sum()

    g = sagax.grad(f)
    assert is_compiled(f, lambda: g(X))
    for factor in (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0):
        close(g(X), np.full(3, factor))


def test_defaults_that_change():
    def f(x, k=2.0):
        return (x * k).sum()

    g = sagax.grad(f)
    assert is_compiled(f, lambda: g(X))
    f.__defaults__ = (3.0,)
    close(g(X), np.full(3, 3))


# --- what shows outside ------------------------------------------------------------------------------


def test_prints_each_time(capsys):
    def f(x):
        print("here")
        return x.sum()

    for _ in range(5):
        sagax.grad(f)(X)
    assert capsys.readouterr().out == "here\n" * 5


def test_debug_print_each_time(capsys):
    def f(x):
        sagax.debug.print("there")
        return x.sum()

    for _ in range(5):
        sagax.grad(f)(X)
    sagax.effects_barrier()
    assert capsys.readouterr().out == "there\n" * 5


def test_outer_things_that_it_changes():
    log, count, made = [], 0, types.SimpleNamespace(n=0)

    def appends(x):
        log.append(1)
        return x.sum()

    def counts(x):
        nonlocal count
        count += 1
        return x.sum()

    def sets(x):
        made.n = made.n + 1
        return x.sum()

    def given(x, into):
        into.append(1)
        return x.sum()

    into: list = []
    for _ in range(6):
        for f in (appends, counts, sets):
            sagax.grad(f)(X)
        sagax.grad(given)(X, into)
    assert (len(log), count, made.n, len(into)) == (6, 6, 6, 6)


def test_containers_of_its_own_may_change():
    def f(x):
        parts = []
        for k in range(3):
            parts.append(x[k] * k)
        table = {}
        table["sum"] = sum(parts)
        return table["sum"]

    g = sagax.grad(f)
    assert is_compiled(f, lambda: g(X))
    close(g(X), [0, 1, 2])


def test_random_numbers_of_numpy_are_new_each_time():
    def f(x):
        return (x * float(np.random.standard_normal())).sum()  # noqa: NPY002

    assert len({float(sagax.grad(f)(X)[0]) for _ in range(6)}) == 6


def test_iterators_go_on():
    numbers = iter(range(100))

    def f(x):
        return (x * next(numbers)).sum()

    for k in range(6):
        close(sagax.grad(f)(X), np.full(3, k))


def test_objects_may_change():
    class Model:
        def __init__(self):
            self.k = 1.0

        def __call__(self, x):
            return (x * self.k).sum()

    model = Model()
    for k in range(6):
        model.k = float(k)
        close(sagax.grad(model)(X), np.full(3, k))
        close(sagax.grad(model.__call__)(X), np.full(3, k))
        close(sagax.grad(lambda x: model(x))(X), np.full(3, k))


# --- values decide -----------------------------------------------------------------------------------


def test_python_control_flow_on_values():
    def f(x):
        if x > 0:
            return x * 2
        while x < -1:
            x = x / 2
        return x * x

    for _ in range(6):
        assert float(sagax.grad(f)(3.0)) == 2.0
        assert float(sagax.grad(f)(-0.5)) == -1.0
        assert float(sagax.grad(f)(-3.0)) == pytest.approx(-3 / 8)


def test_values_that_are_not_differentiated_decide():
    def f(x, n):
        return sum(x.sum() for _ in range(int(n)))

    for k in (1, 2, 3, 2, 1, 5, 2):
        close(sagax.grad(f)(X, snp.array(k)), np.full(3, k))


def test_captured_values_decide():
    sign = snp.array(1.0)

    def f(x):
        return (x if sign > 0 else -x).sum()

    for k in (1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0):
        sign = snp.array(k)
        close(sagax.grad(f)(X), np.full(3, k))


def test_exceptions_that_it_handles():
    def f(x):
        try:
            return x * 2 if x > 0 else x
        except TypeError:
            return x * 100

    for _ in range(6):
        assert float(sagax.grad(f)(1.0)) == 2.0


def test_numpy_arrays_of_64_bits_stay_what_they_are():
    seen = []

    def f(x, y):
        return (x * (y * 2)).sum()

    def spy(x, y):
        seen.append(y.dtype)
        return f(x, y)

    for _ in range(6):
        close(sagax.grad(f)(X, NX), NX * 2)
        sagax.grad(spy)(X, NX)
    assert set(seen) == {np.dtype("float64")}


# --- errors, settings, threads -----------------------------------------------------------------------


def test_the_same_errors_each_time():
    def f(x):
        return x

    texts = set()
    for _ in range(5):
        with pytest.raises(TypeError) as caught:
            sagax.grad(f)(X)
        texts.add(str(caught.value))
    assert len(texts) == 1 and "scalar-output" in texts.pop()


def test_deleted_arrays_are_refused():
    g = sagax.grad(product)
    assert is_compiled(product, lambda: g(X))
    x = X + 1
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        g(x)
    assert runs_of(product, lambda: g(X))[1] == 0


def test_switched_off():
    g = sagax.grad(product)
    with sagax.config.context(compile_unjitted=False):
        assert not is_compiled(product, lambda: g(X))
    assert is_compiled(product, lambda: g(X))
    with sagax.disable_jit():
        assert runs_of(product, lambda: g(X))[1] == 1
    with sagax.debug_nans(True):
        assert runs_of(product, lambda: g(X))[1] == 1


def test_under_other_transformations_it_is_as_ever():
    g = sagax.grad(product)
    assert is_compiled(product, lambda: g(X))
    jaxpr = sagax.make_jaxpr(g)(X)
    assert "jit" not in str(jaxpr)
    close(sagax.jit(g)(X), SLOPE)


def test_non_array_auxiliary_data():
    def f(x):
        return x.sum(), "text"

    for _ in range(5):
        g, aux = sagax.grad(f, has_aux=True)(X)
        assert aux == "text"
        close(g, np.ones(3))


def test_from_several_threads():
    wrong = []

    def work(k):
        for _ in range(20):
            got = np.asarray(sagax.grad(lambda x: snp.sum(x * k))(X))
            if not np.array_equal(got, np.full(3, k)):
                wrong.append((k, got))

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


# --- what counts as harmless ------------------------------------------------------------------------


@sagax.jit
def jitted(x):
    return uses_helper(x)


@sagax.custom_jvp
def with_rule(x):
    return snp.sin(x)


with_rule.defjvp(lambda p, t: (with_rule(*p), t[0] * snp.cos(p[0])))


def scans(x):
    return sagax.lax.scan(lambda c, v: (c + v, c), 0.0, x)[0]


@pytest.mark.parametrize(
    "fun",
    [
        product,
        jitted,
        scans,
        reads_globals,
        lambda x: with_rule(x).sum(),
        lambda x: sagax.jit(helper)(x).sum(),
        lambda x: sum(v * math.sin(2) for v in x),
        lambda x: sagax.nn.relu(x).sum() + sagax.random.normal(sagax.random.key(0), (3,)).sum(),
        functools.partial(lambda a, x: a * x, 2.0),
        functools.partial(lambda np, x: np.sin(x), snp),
        sagax.vmap(helper),
        snp.sin,
        snp.add,
        sagax.nn.gelu,
    ],
)
def test_harmless(fun):
    assert purity.pure_free_variables(fun, [], False) is not None


def imports(x):
    import os

    return x, os


class Node:
    pass


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: print(x),
        lambda x: open(x),
        lambda x: getattr(x, "y"),  # noqa: B009
        lambda x: np.random.standard_normal() * x,  # noqa: NPY002
        lambda x: sagax.config.update("x64", True),
        lambda x: setattr(x, "y", 1),
        lambda x: globals(),
        lambda x: Node(),
        lambda x: snp.save("file", x),
        lambda x: NUMBERS.append(x),
        functools.cache(lambda x: x),
        functools.partial(print, 1),
        functools.partial(lambda np, x: np.sin(x), np),
        functools.partial(lambda np, x: np.save("file", x), snp),
        functools.partial(lambda lib, x: lib.grad(x), sagax),
        imports,
        Node().__init__,
    ],
)
def test_not_known_to_be_harmless(fun):
    with pytest.raises(purity.Impure):
        purity.pure_free_variables(fun, [], False)


_ROWS = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
_NUMERIC = {
    "chain": lambda x: snp.sum(snp.tanh(snp.sin(x) * x + 2.0)),
    "quotients": lambda x: (x / (1 + x**2) / 3.0).sum(),
    "network": lambda x: ((snp.tanh(_ROWS * x) @ x - 1.0) ** 2).mean(),
    "softmax": lambda x: (sagax.nn.softmax(_ROWS * x) * _ROWS).sum(),
    "variance": lambda x: snp.var(_ROWS * x, axis=0).sum(),
    "logsumexp": lambda x: sagax.nn.logsumexp(_ROWS + x),
    "scan": lambda x: sagax.lax.scan(lambda c, r: (snp.tanh(c + r * x), None), x, _ROWS)[0].sum(),
}


@pytest.mark.parametrize("name", _NUMERIC)
@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "hessian", "jvp", "vmap"])
def test_the_bits_stay_the_same(name, transform):
    f = _NUMERIC[name]
    if transform == "jvp":
        call = lambda x: sagax.jvp(f, (x,), (x,))  # noqa: E731
    else:
        call = getattr(sagax, transform)(f)
    x = snp.stack([X, 1.3 * X]) if transform == "vmap" else X
    with sagax.config.context(compile_unjitted=False):
        expected = call(x)
    for _ in range(40):
        found = call(x)
    for a, b in zip(sagax.tree.leaves(found), sagax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    if name != "scan" and transform != "jvp":
        assert is_compiled(f, lambda: call(x))


@pytest.fixture
def told():
    """The events told while a test runs: (name, metadata) of each."""
    found = []

    def note(event, **metadata):
        found.append((event, metadata))

    sagax.monitoring.register_event_listener(note)
    yield found
    sagax.monitoring.unregister_event_listener(note)


def test_an_event_says_what_is_not_compiled_and_why(told):
    def looks(x):
        return x if x > 0 else -x

    for _ in range(40):
        sagax.grad(looks)(snp.float32(2.0))
    ((event, metadata),) = told
    assert event == "/sagax/eager_transforms/not_compiled"
    assert metadata["fun_name"].endswith("looks")
    assert metadata["error"].startswith("TracerBoolConversionError: ")


def test_an_event_says_which_composite_function_is_not_compiled_and_why(told):
    with pytest.raises(TypeError):
        snp.add(snp.ones(3), snp.ones(4))
    assert ("/sagax/composite/not_compiled", "add") in [(e, m["fun_name"]) for e, m in told]


def test_a_mistake_of_sagax_itself_is_not_taken_for_a_refusal(monkeypatch):
    def broken(*_):
        raise KeyError("a bug")

    monkeypatch.setattr("sagax.numpy._fused.prepare", broken)
    with pytest.raises(KeyError, match="a bug"):
        snp.hypot(snp.ones(3), snp.full(3, 2.0))
