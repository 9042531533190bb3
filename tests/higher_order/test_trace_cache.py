"""Control flow run at once: what computes the same is traced, derived and compiled once."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.runtime import compile as runtime_compile

XS = np.arange(4.0, dtype=np.float32)


@pytest.fixture
def compiled(monkeypatch):
    """The names of the programs that are compiled while a test runs."""
    names = []
    start = runtime_compile.Compiled.__init__

    def count(self, lowered, *args, **kwargs):
        names.append(lowered.name)
        start(self, lowered, *args, **kwargs)

    monkeypatch.setattr(runtime_compile.Compiled, "__init__", count)
    sagax.clear_caches()
    return names


def module_body(c, x):
    return c * 0.5 + x, c


W = snp.asarray(np.float32([1.0, 2.0]))

CALLS = {
    "scan": lambda k: lax.scan(lambda c, x: (c * k + x, c), 1.0, XS)[0],
    "scan of a function of a module": lambda k: lax.scan(module_body, k, XS)[0],
    "scan that closes over an array": lambda k: lax.scan(
        lambda c, x: (c * k + W.sum(), x), 1.0, XS
    )[0],
    "nested scans": lambda k: lax.scan(
        lambda c, x: (lax.scan(lambda d, y: (d * k + y, d), c, XS)[0], x), 1.0, XS
    )[0],
    "while_loop": lambda k: lax.while_loop(lambda c: c < 50, lambda c: c * k + 1, 1.0),
    "bounded while_loop": lambda k: lax.while_loop(
        lambda c: c < 50, lambda c: c * k + 1, 1.0, max_steps=9
    ),
    "fori_loop": lambda k: lax.fori_loop(0, 5, lambda i, c: c * k + i, 1.0),
    "cond": lambda k: lax.cond(k > 0, lambda c: c * k, lambda c: c - k, 1.0),
    "switch": lambda k: lax.switch(1, [lambda c: c, lambda c: c * k, lambda c: c + k], 1.0),
    "map": lambda k: lax.map(lambda x: x * k, XS).sum(),
    "map in blocks": lambda k: lax.map(lambda x: x * k, XS, batch_size=3).sum(),
    "associative_scan": lambda k: lax.associative_scan(lambda a, b: a * b * k, XS).sum(),
    "checkpoint": lambda k: sagax.checkpoint(lambda x: snp.sin(x * k))(1.0),
}
TRANSFORMS = {
    "as it is": lambda f, k: f(k),
    "grad": lambda f, k: sagax.grad(f)(k),
    "jvp": lambda f, k: sagax.jvp(f, (k,), (1.0,))[1],
    "vmap": lambda f, k: sagax.vmap(f)(snp.stack([k, k]))[0],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CALLS)
def test_the_second_call_compiles_nothing(name, transform, compiled):
    if (name, transform) == ("while_loop", "grad"):
        transform = "jvp"  # there is no reverse mode of it
    k = snp.float32(1.5)
    first = TRANSFORMS[transform](CALLS[name], k)
    del compiled[:]
    assert float(TRANSFORMS[transform](CALLS[name], k)) == float(first)
    assert compiled == []


def test_a_number_closed_over_makes_another_program():
    for k in (2.0, 3.0, 2.0):
        assert float(lax.scan(lambda c, x, k=k: (c * k, None), 1.0, XS)[0]) == k**4
        assert float(lax.fori_loop(0, 2, lambda i, c, k=k: c * k, 1.0)) == k**2


def test_zero_and_minus_zero_are_not_the_same_number():
    for zero in (0.0, -0.0):
        got = lax.cond(True, lambda x, z=zero: x * z, lambda x: x, 1.0)
        assert np.signbit(got) == np.signbit(zero)


def test_an_array_closed_over_is_read_anew():
    for k in (2.0, 3.0):
        a = snp.asarray(np.float32([k, k]))
        b = np.float32([k])
        got = lax.scan(lambda c, x, a=a, b=b: (c + a.sum() * b[0], None), 0.0, XS)[0]
        assert float(got) == 4 * 2 * k * k


def test_a_numpy_array_that_changed_is_read_anew():
    a = np.float32([1.0, 2.0])
    body = lambda c, x: (c + a.sum(), None)  # noqa: E731
    assert float(lax.scan(body, 0.0, XS)[0]) == 12.0
    a[0] = 10.0
    assert float(lax.scan(body, 0.0, XS)[0]) == 48.0


def test_python_decisions_on_what_is_closed_over_are_made_anew():
    for a in (snp.float32(1.0), snp.float32(-1.0)):
        body = lambda i, c, a=a: c + 1 if float(a) > 0 else c - 1  # noqa: E731
        assert int(lax.fori_loop(0, 3, body, 0)) == 3 * int(np.sign(float(a)))


SCALE = 2.0


def scaled(c, x):
    return c * SCALE, None


def test_a_variable_of_the_module_that_was_rebound(monkeypatch):
    assert float(lax.scan(scaled, 1.0, XS)[0]) == 16.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert float(lax.scan(scaled, 1.0, XS)[0]) == 81.0


def test_attributes_and_containers_are_read_anew():
    class Model:
        k = 2.0

        def run(self):
            return float(lax.fori_loop(0, 2, lambda i, c: c * self.k, 1.0))

    model, factors = Model(), {"k": 2.0}
    run = lambda: float(lax.fori_loop(0, 2, lambda i, c: c * factors["k"], 1.0))  # noqa: E731
    assert (model.run(), run()) == (4.0, 4.0)
    model.k = factors["k"] = 3.0
    assert (model.run(), run()) == (9.0, 9.0)


def test_settings_are_part_of_what_is_shared():
    body = lambda i, c: c + 1.5  # noqa: E731
    assert lax.fori_loop(0, 2, body, 0.0).dtype == np.float32
    with sagax.enable_x64(True):
        assert lax.fori_loop(0, 2, body, 0.0).dtype == np.float64


def test_arrays_are_not_kept_alive():
    def run():
        a = snp.asarray(np.ones(3, np.float32))
        lax.scan(lambda c, x: (c + a.sum(), None), 0.0, XS)
        sagax.grad(lambda s: lax.fori_loop(0, 3, lambda i, c: c * s * a.sum(), 1.0))(2.0)
        return weakref.ref(a)

    run()
    found = run()
    gc.collect()
    assert found() is None


def test_values_of_outer_transformations_are_not_shared():
    def f(s):
        return lax.fori_loop(0, 3, lambda i, c: c * s, 1.0)

    for _ in range(2):
        assert float(sagax.grad(f)(2.0)) == 12.0
        np.testing.assert_array_equal(sagax.vmap(f)(np.float32([1, 2])), [1, 8])
        assert float(sagax.jit(f)(3.0)) == 27.0


def test_clear_caches_forgets_what_was_shared(compiled):
    body = lambda i, c: c * 1.25  # noqa: E731
    lax.fori_loop(0, 3, body, 1.0)
    del compiled[:]
    sagax.clear_caches()
    lax.fori_loop(0, 3, body, 1.0)
    assert len(compiled) == 1


def test_counters_do_not_trace_again():
    calls = 0
    used = 0

    def body(carry, x):
        nonlocal calls, used
        calls += 1
        used += 1
        return carry + used, x

    def counted(carry, x):
        def count():
            nonlocal calls
            calls += 1

        count()
        return carry + x, x

    # what is counted only has no effect on the program
    for _ in range(3):
        sagax.lax.scan(counted, 0.0, np.ones(3, np.float32))
    assert calls == 1
    # what is read, too, belongs to it
    found = [int(sagax.lax.scan(body, 0, np.ones(3, np.float32))[0]) for _ in range(2)]
    assert found == [3, 6] and calls == 3


def test_branches_that_are_one_function_are_traced_once():
    traced = []

    def double(x):
        traced.append(None)
        return x * 2

    found = [sagax.lax.switch(i, [double, snp.negative, double], 3.0) for i in range(3)]
    assert list(map(float, found)) == [6.0, -3.0, 6.0]
    assert len(traced) == 3
