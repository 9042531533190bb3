"""Programs compile in time that grows with their size, not with the number of ways through them.

XLA merges what is cheap into each of its readers, and LLVM follows every way through what is merged. What
is long to compute has to be written once, or compiling does not end: so each test of this file ends the
process with the stacks of its threads if it takes minutes. Work is counted in instructions of the
optimized program.
"""

from __future__ import annotations

import faulthandler
import inspect
import itertools
import os
import re

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors, jit, lax, nn, random, vmap
from sagax.scipy import special
from sagax.scipy.stats import norm

KEY = random.key(0)
HANGS = 240  # seconds; each of the programs compiles in less than one


@pytest.fixture(autouse=True)
def end_of_a_hang():
    faulthandler.dump_traceback_later(HANGS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def instructions(f, *args) -> int:
    """How many instructions the optimized program of `f` has, those inside of its kernels too."""
    return sum(" = " in line for line in jit(f).lower(*args).compile().as_text().splitlines())


def operation_by_operation(f, *args):
    with sagax.disable_jit():
        return f(*args)


# draws --------------------------------------------------------------------------------------------------


def evidence(key, mean, log_std):
    x = mean + snp.exp(log_std) * random.normal(key, mean.shape)
    return norm.logpdf(x[0], 0, x[1])


def estimate(samples):
    """The gradient of a mean of log densities; the scale is negative for half of the draws, as it may be."""

    def objective(mean, log_std, t):
        keys = random.split(random.key(t), samples)
        return snp.mean(vmap(evidence, (0, None, None))(keys, mean, log_std))

    return sagax.grad(jit(objective), (0, 1))


def test_the_gradient_of_a_monte_carlo_estimate():
    """Values: jax 0.12.0.1 for the same program."""
    found = jit(estimate(40))(snp.zeros(2), snp.zeros(2), 3)
    np.testing.assert_allclose(found[0], [-42.549633, 3052.6619], rtol=2e-5)
    np.testing.assert_allclose(found[1], [-106.34638, 105.34639], rtol=2e-5)


@pytest.mark.parametrize("samples", [2, 3, 40, 1000])
@pytest.mark.parametrize("exact", [False, True])
def test_the_gradient_of_an_estimate_is_that_of_its_operations(samples, exact):
    args = snp.array([0.5, 1.0]), snp.array([0.1, -0.2]), 3
    found = jit(estimate(samples), exact=exact)(*args)
    expected = operation_by_operation(estimate(samples), *args)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3)


DRAWS = {
    "normal": lambda key, shape: random.normal(key, shape),
    "uniform": lambda key, shape: random.uniform(key, shape),
    "gumbel": lambda key, shape: random.gumbel(key, shape),
    "truncated_normal": lambda key, shape: random.truncated_normal(key, -1.0, 1.0, shape),
    "bernoulli": lambda key, shape: random.bernoulli(key, 0.3, shape).astype("float32"),
    "randint": lambda key, shape: random.randint(key, shape, 0, 9).astype("float32"),
    "chained": lambda key, shape: random.normal(
        random.split(random.fold_in(key, random.bits(key) % 5))[1], shape
    ),
}
READERS = {
    "pad": lambda x: snp.pad(x, ((0, 0), (1, 2))),
    "concatenate": lambda x: snp.concatenate([x, 2 * x], -1),
    "stack": lambda x: snp.stack([x, snp.maximum(x, 0.0)], -1),
    "broadcast": lambda x: x[:, :, None] + snp.zeros(5),
    "columns": lambda x: snp.stack([x[:, 0] - x[:, 1], x[:, 1] + x[:, 0]], 1),
    "padded column": lambda x: snp.pad(x[:, 1:2], ((0, 0), (0, 1))),
    "update": lambda x: snp.zeros((x.shape[0], 9)).at[:, 1:3].set(x[:, :2]),
    "roll": lambda x: snp.roll(x, 1, 0) + snp.roll(x, -1, 1),
    "take": lambda x: x[snp.array([0, 1, 0])],
    "cumsum": lambda x: snp.cumsum(x, 0),
    "sort": lambda x: snp.sort(x, 0),
    "window": lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "SAME"),
    "both sums": lambda x: (x.sum(0), x.sum(1), x.max()),
}


# every other pair, so that each draw and each reader is met several times; all with FULL=1
PAIRS = [
    pair
    for i, pair in enumerate(itertools.product(DRAWS, READERS))
    if i % 2 == 0 or os.environ.get("FULL") == "1"
]


@pytest.mark.parametrize("draw, reader", PAIRS)
def test_a_draw_is_read_in_every_way(draw, reader):
    """Of one key, of one key for each row, and differentiated with respect to what is read beside it."""

    def of_one(key, scale):
        return READERS[reader](scale * DRAWS[draw](key, (20, 2)))

    def of_many(keys, scale):
        return READERS[reader](scale * vmap(lambda k: DRAWS[draw](k, (2,)))(keys))

    for f, key in ((of_one, KEY), (of_many, random.split(KEY, 20))):
        total = lambda s, f=f, key=key: sum(  # noqa: E731
            [snp.sum(leaf**2) for leaf in sagax.tree.leaves(f(key, s))]
        )
        value, slope = jit(sagax.value_and_grad(total))(1.5)
        assert np.allclose(value, operation_by_operation(total, 1.5), rtol=1e-4)
        assert np.allclose(slope, 2 * value / 1.5, rtol=1e-3)  # readers are homogeneous


@pytest.mark.parametrize("shape", [(2,), (3, 5), (300, 7), (128, 2), (40, 3, 3), (7, 16)])
@pytest.mark.parametrize("keys", [(), (3,), (50,), (4, 10)])
def test_draws_are_the_same_bits_in_every_layout(shape, keys):
    """Draws of a short last dimension are made along another: the values of each key alone."""
    made = random.split(KEY, keys) if keys else KEY

    def draw(key):
        for _ in keys:
            return vmap(lambda k: random.bits(k, shape))(key.reshape(-1)).reshape(*keys, *shape)
        return random.bits(key, shape)

    found = np.asarray(jit(draw)(made)).reshape(-1, *shape)
    flat = [made] if not keys else [made.reshape(-1)[i] for i in range(len(found))]
    for key, bits in list(zip(flat, found))[:5]:
        # the bits of a vector are those of its elements, whatever the shape
        assert np.array_equal(np.asarray(random.bits(key, bits.size)).reshape(shape), bits)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 16, 17, 100])
@pytest.mark.parametrize("keys", [(), (6,)])
def test_keys_that_are_split_off_are_those_of_any_number(count, keys):
    """Each way to split makes the key number i of the same block."""
    key = random.split(KEY, keys) if keys else KEY
    split = lambda k, n: random.split(k, n)  # noqa: E731
    several = random.key_data(
        jit(vmap(lambda k: split(k, count)) if keys else lambda k: split(k, count))(key)
    )
    among = random.key_data((vmap(lambda k: split(k, 9)) if keys else lambda k: split(k, 9))(key))
    n = min(count, 9)
    assert np.array_equal(several[..., :n, :], among[..., :n, :])


def test_on_several_devices(eight_devices):
    mesh = sagax.make_mesh((8,), ("x",))
    keys = random.split(KEY, 16)

    def f(keys, scale):
        x = scale * vmap(lambda k: random.normal(k, (2,)))(keys)
        return snp.sum(snp.pad(x[:, 1:2] / (1 + x[:, :1] ** 2), ((0, 0), (1, 0))) * x)

    expected = operation_by_operation(sagax.grad(f, 1), keys, 1.5)
    keys = sagax.device_put(keys, sagax.NamedSharding(mesh, sagax.P("x")))
    np.testing.assert_allclose(jit(sagax.grad(f, 1))(keys, 1.5), expected, rtol=1e-4)


# long chains ----------------------------------------------------------------------------------------------


def logistic_map(x, n=60):
    for _ in range(n):
        x = 3.1 * x * (1 - x)
    return x


@pytest.mark.parametrize("reader", READERS)
def test_a_chain_whose_values_are_read_twice_each(reader):
    """2^60 ways lead through it."""
    x = np.linspace(0.1, 0.9, 40, dtype=np.float32).reshape(20, 2)
    f = lambda x: READERS[reader](logistic_map(x[:, :1] + snp.zeros(2)))  # noqa: E731
    expected = READERS[reader](snp.asarray(logistic_map(x[:, :1] + np.zeros(2, np.float32))))
    for got, want in zip(sagax.tree.leaves(jit(f)(x)), sagax.tree.leaves(expected), strict=True):
        assert np.allclose(got, want, atol=1e-3)


def unary_functions() -> dict:
    """The public functions of one array whose gradient exists, by name."""
    x = snp.linspace(0.1, 0.8, 8)
    found = {}
    for space in (snp, nn, special, lax):
        for name in dir(space):
            fun = getattr(space, name)
            if name.startswith("_") or not callable(fun) or inspect.isclass(fun):
                continue
            try:
                y = fun(x)
                if (getattr(y, "shape", None), getattr(y, "dtype", None)) != (x.shape, x.dtype):
                    continue
                sagax.eval_shape(sagax.grad(lambda x, fun=fun: snp.sum(fun(x))), x)
            except (TypeError, ValueError, NotImplementedError, sagax.errors.SagaxError):
                continue
            found[f"{space.__name__.removeprefix('sagax.')}.{name}"] = fun
    return found


FUNCTIONS = unary_functions()


def different() -> list[str]:
    """The names of functions without those whose gradient is the same jaxpr, such as lax.sin beside numpy.sin."""
    names: dict[str, str] = {}
    for name, fun in FUNCTIONS.items():
        jaxpr = sagax.make_jaxpr(sagax.grad(lambda x, fun=fun: snp.sum(fun(x))))(snp.ones(8))
        names.setdefault(re.sub(r"name=\w+", "", str(jaxpr)), name)
    return list(names.values())


DIFFERENT = different()


def test_the_functions_are_found():
    assert len(FUNCTIONS) > 120 and len(DIFFERENT) > 80
    assert {"numpy.sin", "nn.gelu", "scipy.special.gammaln", "lax.erf_inv"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_gradient_of_many_readers_grows_with_their_number(name):
    fun = FUNCTIONS[name]

    def readers(n):
        def f(x):
            y = fun(x)
            return sum([snp.max(snp.tanh(y + i)) for i in range(n)])

        return sagax.grad(f)

    x = snp.linspace(0.1, 0.8, 64)
    few, some, many = (instructions(readers(n), x) for n in (1, 4, 16))
    each = (some - few) / 3
    assert many - some <= 12 * 1.5 * each + 40


def test_arrays_that_the_engine_cannot_count_are_refused():
    """It aborts the process where the bytes of all buffers overflow 64 bits."""

    def stacked(depth):
        if depth == 0:
            return snp.sin
        inner = stacked(depth - 1)
        return lambda x: lax.scan(lambda c, _: (inner(c), None), x, None, length=2)[0]

    with pytest.raises(errors.ShapeError, match=r"shape \(2, 2, .* takes 4.61e\+18 bytes"):
        jit(sagax.grad(stacked(60))).lower(1.0)
    with pytest.raises(
        errors.ShapeError, match=r"shape \(1099511627776, 1073741824\) and dtype float32"
    ):
        snp.zeros((2**40, 2**30))
    assert (
        jit(lambda: snp.zeros((2**31, 2**27)).sum()).lower().as_text().count("2147483648x134217728")
        > 0
    )
