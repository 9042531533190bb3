"""`pmap`: values and derivatives as jax has them, arguments, devices, and messages."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_cases
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import ArgumentError, ArgumentValueError
from sagax.sharding import Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

pytestmark = pytest.mark.usefixtures("eight_devices")


@pytest.mark.parametrize("name", [n for n in parallel_cases.CASES if n.startswith("pmap")])
def test_as_jax(name, oracle_data):
    parallel_cases.check(sagax, name, oracle_data("parallel")[name])


def test_each_example_is_on_a_device_of_its_own(eight_devices):
    out = sagax.pmap(lambda x: x + 1)(np.arange(6.0))
    assert [s.device for s in out.addressable_shards] == eight_devices[:6]
    np.testing.assert_array_equal([s.data.shape for s in out.addressable_shards], [[1]] * 6)
    chosen = eight_devices[:3][::-1]
    out = sagax.pmap(lambda x: x * 2, devices=chosen)(np.arange(3.0))
    where = {s.device: float(np.asarray(s.data)[0]) for s in out.addressable_shards}
    assert where == {d: 2.0 * i for i, d in enumerate(chosen)}


def test_results_stay_where_they_are(eight_devices):
    step = sagax.pmap(lambda w, x: w - lax.pmean(w * x, "i"), axis_name="i")
    w, x = np.ones((8, 2), np.float32), np.arange(16, dtype=np.float32).reshape(8, 2)
    once = step(w, x)
    twice = step(once, x)
    expected = 1 - x.mean(0)
    np.testing.assert_allclose(once, np.tile(expected, (8, 1)), rtol=1e-6)
    np.testing.assert_allclose(twice, np.tile(expected**2, (8, 1)), rtol=1e-6)
    assert len(twice.devices()) == 8


def test_arguments_that_lie_elsewhere_are_moved(eight_devices):
    x = np.arange(4, dtype=np.float32)
    first, last = (
        sagax.pmap(lambda x: x + 1),
        sagax.pmap(lambda x: x * 2, devices=eight_devices[4:]),
    )
    there = last(first(x))
    np.testing.assert_array_equal(there, [2, 4, 6, 8])
    assert there.devices() == set(eight_devices[4:])
    mesh = Mesh(np.array(eight_devices).reshape(4, 2), ("a", "b"))
    for given in (
        sagax.device_put(x, NamedSharding(mesh, P("a"))),
        sagax.device_put(x, eight_devices[5]),
    ):
        found = sagax.pmap(lambda a, b: a - b)(given, last(x))
        np.testing.assert_array_equal(found, -x)
        assert found.devices() == set(eight_devices[:4])
    added = sagax.pmap(lambda a, b: a + b, in_axes=(0, None))
    one = sagax.device_put(np.float32(1), eight_devices[6])
    np.testing.assert_array_equal(added(x, one), x + 1)
    with pytest.raises(ValueError, match="of devices 0, 1, 2, 3, and .* of devices 4, 5, 6, 7"):
        sagax.jit(lambda x: last(first(x)))(x)


def test_donated_arguments_are_given_away():
    f = sagax.pmap(lambda x, y: x + y, donate_argnums=0)
    x = sagax.pmap(lambda x: x)(np.arange(4.0))
    y = sagax.pmap(lambda x: x)(np.ones(4))
    np.testing.assert_array_equal(f(x, y), [1, 2, 3, 4])
    assert x.is_deleted()
    assert not y.is_deleted()


def test_it_is_traced_once_for_each_signature():
    calls = []

    @sagax.pmap
    def f(x):
        calls.append(x.shape)
        return x * 2

    for n in (4, 4, 2, 4):
        np.testing.assert_array_equal(f(np.arange(n)), 2 * np.arange(n))
    assert calls == [(), ()]


def test_keys_are_mapped():
    keys = sagax.random.split(sagax.random.key(0), 4)
    found = sagax.pmap(lambda k: sagax.random.normal(k, (3,)))(keys)
    np.testing.assert_array_equal(found, sagax.vmap(lambda k: sagax.random.normal(k, (3,)))(keys))


def test_a_data_parallel_step_is_the_step_on_all_data():
    x, y = np.random.default_rng(0).normal(size=(2, 8, 4)).astype(np.float32)
    w = np.ones(4, np.float32)

    def loss(w, x, y):
        return snp.mean((snp.tanh(x * w) - y) ** 2)

    def step(w, x, y):
        grads = lax.pmean(sagax.grad(loss)(w, x, y), "i")
        return w - 0.1 * grads

    split = [a.reshape(4, 2, 4) for a in (x, y)]
    found = sagax.pmap(step, "i", in_axes=(None, 0, 0), out_axes=None)(w, *split)
    np.testing.assert_allclose(found, w - 0.1 * sagax.grad(loss)(w, x, y), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sagax.pmap(3), ArgumentError, "a function"),
        (lambda: sagax.pmap(lambda x: x)(np.zeros(9)), ArgumentValueError, "only 8 XLA devices"),
        (
            lambda: sagax.pmap(lambda x, y: x)(np.zeros(4), np.zeros((3, 2))),
            ArgumentValueError,
            r"size 3: axis 0 of y \(float32\[3,2\]\)",
        ),
        (
            lambda: sagax.pmap(lambda x: x, axis_size=3)(np.zeros(4)),
            ArgumentValueError,
            "size 3: the argument axis_size",
        ),
        (lambda: sagax.pmap(lambda x: x)(1.0), ArgumentValueError, "x is a scalar"),
        (
            lambda: sagax.pmap(lambda x: x, in_axes=None)(np.zeros(4)),
            ArgumentValueError,
            "at least one argument with a mapped axis",
        ),
        (
            lambda: sagax.pmap(lambda x: x, in_axes=(0, 0))(np.zeros(4)),
            ArgumentValueError,
            "one entry for each positional argument: 1",
        ),
        (lambda: sagax.pmap(lambda x: x, in_axes="a"), ArgumentError, "in_axes"),
        (
            lambda: sagax.pmap(lambda x: x, out_axes=2)(np.zeros(4)),
            ArgumentValueError,
            "an axis from -1 to 0",
        ),
        (
            lambda: sagax.pmap(lambda x: {"a": x}, out_axes={"b": 0})(np.zeros(4)),
            ArgumentValueError,
            "out_axes must be a tree prefix",
        ),
        (
            lambda: sagax.pmap(lambda x: sagax.pmap(lambda y: y)(x))(np.zeros((2, 2))),
            ArgumentValueError,
            "use vmap inside",
        ),
        (
            lambda: sagax.pmap(lambda x: x, devices=sagax.devices()[:2])(np.zeros(4)),
            ArgumentValueError,
            "4, one for each example",
        ),
        (
            lambda: sagax.pmap(lambda x: lax.psum(x, "j"), "i")(np.zeros(4)),
            NameError,
            "unbound axis name: j; the axes in scope are 'i'",
        ),
    ],
)
def test_what_does_not_fit_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_older_names_put_a_leading_axis_on_devices(eight_devices):
    shards = [{"a": np.full(2, i, np.float32)} for i in range(3)]
    found = sagax.device_put_sharded(shards, eight_devices[:3])["a"]
    np.testing.assert_array_equal(found, [[0, 0], [1, 1], [2, 2]])
    assert [s.device for s in found.addressable_shards] == eight_devices[:3]
    copies = sagax.device_put_replicated({"a": np.arange(2)}, eight_devices[:4])["a"]
    np.testing.assert_array_equal(copies, [[0, 1]] * 4)
    mesh = Mesh(np.array(eight_devices[:4]), ("d",))
    assert copies.sharding.is_equivalent_to(NamedSharding(mesh, P("d")), 2)
