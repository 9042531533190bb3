"""Sorts of jitted functions that NumPy makes: same bits as XLA's, interrupts, and what is lowered to be read or saved."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import export, lax
from sagax._src import config, tuning
from sagax.experimental import serialize_executable

RNG = np.random.default_rng(0)
N = 3000


@pytest.fixture
def always():
    with config.context(host_sorts="always"):
        yield


@pytest.fixture
def sorted_by_numpy(monkeypatch):
    """The shapes of the arrays that NumPy sorts."""
    shapes = []

    def sort(x, axis, sort=np.sort):
        shapes.append(x.shape)
        return sort(x, axis=axis)

    monkeypatch.setattr(np, "sort", sort)
    return shapes


def numbers(dtype, shape=(N,)):
    if np.dtype(dtype).kind == "f":
        x = RNG.integers(-50, 50, shape) / 4
        x.flat[:7] = [np.nan, -0.0, 0.0, np.inf, -np.inf, -np.nan, 1e-45]
        return x.astype(dtype)
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers(dtype, always, sorted_by_numpy):
    x = numbers(dtype)
    with sagax.enable_x64(True):
        found = sagax.jit(snp.sort)(x)
    assert sorted_by_numpy == [(N,)]
    assert found.dtype == dtype
    assert np.array_equal(found, x[np.argsort(x)])


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_order_is_stable(dtype, always, sorted_by_numpy):
    x = numbers(dtype)
    with np.errstate(invalid="ignore"):
        key = np.where(np.isnan(x), np.inf, x)
    order = np.lexsort((np.arange(N), np.isnan(x), key))  # NaN after all, equal ones as they come
    assert np.array_equal(sagax.jit(snp.argsort)(x), order)
    found = np.asarray(sagax.jit(snp.sort)(x))
    assert found.tobytes() == x[order].tobytes()
    assert sorted_by_numpy == [(N,)] * 2


def test_same_bits_as_xla():
    x, payload = numbers("float32", (40, 100)), numbers("int32", (40, 100))
    functions = [
        lambda x, p: lax.sort((x, p), dimension=0, num_keys=1),
        lambda x, p: lax.sort((x, p), dimension=1, num_keys=2),
        lambda x, p: snp.median(x, axis=None),
        lambda x, p: snp.quantile(x, snp.array([0.1, 0.8])),
        lambda x, p: snp.unique(p, size=10),
        sagax.vmap(lambda x, p: (snp.sort(x), snp.argsort(p))),
        lambda x, p: lax.scan(lambda c, _: (snp.sort(c[::-1], axis=0), snp.argsort(c)), p, None, 3),
        sagax.grad(lambda x, p: (snp.sort(snp.where(snp.isfinite(x), x, 0.0), axis=None) * snp.arange(4000.0)).sum()),
        sagax.vmap(sagax.grad(lambda x, p: snp.sort(snp.where(snp.isfinite(x), x, 0.0))[10:20].sum())),
    ]  # fmt: skip
    for f in functions:
        results = []
        for how in ("always", "never"):
            with config.context(host_sorts=how):
                results.append(
                    [np.asarray(r).tobytes() for r in sagax.tree.leaves(sagax.jit(f)(x, payload))]
                )
        assert results[0] == results[1]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x: snp.sort(x[:1000]), []),
        (lambda x: snp.sort(x.astype(np.int8)), []),
        (lambda x: lax.sort((x, x), num_keys=2), []),
        (lambda x: snp.median(x.astype(np.float32)), [(N,)]),
        (lambda x: lax.fori_loop(0, 2, lambda _, x: snp.sort(x), x), [(N,), (N,)]),
    ],
)
def test_which_sorts(function, shapes, always, sorted_by_numpy):
    x = numbers("int32")
    sagax.block_until_ready(sagax.jit(function)(x))
    assert sorted_by_numpy == shapes


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (snp.sort, [(N,)]),
        (lambda x: sagax.jit(snp.argsort)(x) + 1, [(N,)]),
        (lambda x: lax.fori_loop(0, 2, lambda _, x: snp.sort(x), x), []),  # a loop may hold any work
        (lambda x: snp.sort(x)[:300].reshape(10, 30) @ snp.ones((30, 3000)), []),  # more work than the sort
    ],
)  # fmt: skip
def test_only_functions_that_mostly_sort_do_by_default(
    function, shapes, monkeypatch, sorted_by_numpy
):
    monkeypatch.setattr(tuning, "HOST_SORT_MIN_ELEMENTS", {"auto": N})
    x = numbers("int32")
    sagax.block_until_ready(sagax.jit(function)(x))
    assert sorted_by_numpy == shapes
    with config.context(host_sorts="never"):
        sagax.block_until_ready(sagax.jit(lambda x: function(x))(x))
    assert sorted_by_numpy == shapes


def test_what_is_lowered_to_be_read_or_saved_calls_nothing(monkeypatch):
    monkeypatch.setattr(tuning, "HOST_SORT_MIN_ELEMENTS", {"auto": 100})
    x = numbers("float32")
    f = sagax.jit(lambda x: snp.sort(x) * 2)
    expected = np.asarray(f(x))
    lowered = f.lower(x)
    assert "python" not in lowered.as_text()
    saved = serialize_executable.serialize(lowered.compile())
    exported = export.deserialize(export.export(f)(x).serialize())
    for g in (serialize_executable.deserialize_and_load(*saved), exported.call):
        assert np.asarray(g(x)).tobytes() == expected.tobytes()


class Interrupt(Exception):
    pass


def test_interrupts_arrive(always):
    def interrupt(*_):
        raise Interrupt

    x = numbers("int32", (200_000,))
    f = sagax.jit(lambda x: lax.fori_loop(0, 1000, lambda i, x: snp.sort(x * 3 + i), x))
    f.lower(x).compile()
    g = sagax.jit(snp.sort)
    g(x)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupt):
            for _ in range(100):
                f(x).block_until_ready()
            time.sleep(10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert np.array_equal(g(x), np.sort(x))
