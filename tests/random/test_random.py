"""Keys: what they are, how they pass through programs, and what samplers do as functions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors, lax, random
from sagax._src.primitives import random_ciphers
from sagax.random import _selection

IMPLEMENTATIONS = (
    "threefry2x32",
    "threefry4x32",
    "philox2x32",
    "philox4x32",
    "rbg",
    "unsafe_rbg",
)


def numbers(keys):
    return np.asarray(random.key_data(keys))


def same(keys, expected):
    """Whether keys have the given numbers."""
    np.testing.assert_array_equal(numbers(keys), expected)


@pytest.fixture
def keys():
    return random.split(random.key(1), 6)


# the generators --------------------------------------------------------------------------------------

# The known answers published with the ciphers (Random123, kat_vectors): key, block, result.
PI = "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 082efa98 ec4e6c89".split()
ONES = ["ffffffff"] * 8
ZEROS = ["0"] * 8
KNOWN = [
    ("threefry2x32", ZEROS[:2], ZEROS[:2], "6b200159 99ba4efe"),
    ("threefry2x32", ONES[:2], ONES[:2], "1cb996fc bb002be7"),
    ("threefry2x32", PI[2:4], PI[:2], "c4923a9c 483df7a0"),
    ("threefry4x32", ZEROS[:4], ZEROS[:4], "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
    ("threefry4x32", ONES[:4], ONES[:4], "2a881696 57012287 f6c7446e a16a6732"),
    ("threefry4x32", PI[4:], PI[:4], "59cd1dbb b8879579 86b5d00c ac8b6d84"),
    ("philox2x32", ZEROS[:1], ZEROS[:2], "ff1dae59 6cd10df2"),
    ("philox2x32", ONES[:1], ONES[:2], "2c3f628b ab4fd7ad"),
    ("philox2x32", PI[2:3], PI[:2], "dd7ce038 f62a4c12"),
    ("philox4x32", ZEROS[:2], ZEROS[:4], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("philox4x32", ONES[:2], ONES[:4], "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("philox4x32", PI[4:6], PI[:4], "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize("name, key, block, result", KNOWN)
def test_ciphers_give_the_published_answers(name, key, block, result):
    primitive = getattr(random_ciphers, f"{name}_p")
    operands = [np.uint32(int(word, 16)) for word in (*key, *block)]
    found = [f"{int(x):08x}" for x in primitive.bind(*operands)]
    assert " ".join(found) == result


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_every_implementation_draws_under_every_transformation(impl):
    key = random.key(3, impl=impl)
    assert random.key_impl(key) == impl
    assert key.dtype == random.key_dtype(impl)
    parts = random.split(key, 4)
    assert parts.shape == (4,) and parts.dtype == key.dtype
    assert len({tuple(row) for row in numbers(parts).reshape(4, -1).tolist()}) == 4
    eager = np.asarray(random.uniform(key, (3,)))
    np.testing.assert_array_equal(eager, sagax.jit(lambda k: random.uniform(k, (3,)))(key))
    assert sagax.vmap(lambda k: random.uniform(k, (3,)))(parts).shape == (4, 3)
    _, drawn = lax.scan(lambda c, k: (c, random.uniform(k)), 0, parts)
    np.testing.assert_array_equal(drawn, [random.uniform(k) for k in parts])


def test_counters_beyond_32_bits():
    # An array of more than 2**32 elements counts in two words: the last elements of a row that long.
    shape = (3, 1 << 31)
    program = sagax.jit(lambda k: random.bits(k, shape)[2, -3:])
    drawn = sagax.make_jaxpr(program)(random.key(0))
    assert drawn.out_avals[0].shape == (3,)
    from sagax._src.primitives.random_implementations import _counters

    def last(k):
        high, low = _counters(shape)
        return high[2, -3:], low[2, -3:]

    high, low = sagax.jit(last)(0)
    position = 3 * (1 << 31) - 3 + np.arange(3)
    np.testing.assert_array_equal(high, position >> 32)
    np.testing.assert_array_equal(low, position & 0xFFFFFFFF)


# keys as values --------------------------------------------------------------------------------------


def test_a_key_is_an_array_of_its_own_dtype():
    key = random.key(5)
    assert isinstance(key, sagax.Array)
    assert (key.shape, key.ndim, key.size, str(key.dtype), key.itemsize) == (
        (),
        0,
        1,
        "key<fry>",
        8,
    )
    assert snp.issubdtype(key.dtype, sagax.dtypes.prng_key)
    assert not snp.issubdtype(key.dtype, np.integer)
    assert repr(key) == "Array((), dtype=key<fry>) overlaying:\n[0 5]"
    assert str(random.split(key, 2)) == (
        "Array((2,), dtype=key<fry>) overlaying:\n"
        "[[2724472204 3573582090]\n [ 202567368 3886822060]]"
    )


def test_keys_of_different_implementations_differ_in_dtype():
    dtypes = {random.key(0, impl=impl).dtype for impl in IMPLEMENTATIONS}
    assert len(dtypes) == len(IMPLEMENTATIONS)
    assert random.key(0, impl="rbg") is not random.key(0)
    with pytest.raises(ValueError, match="key<rbg> and key<fry>"):
        snp.concatenate([random.key(0, impl="rbg")[None], random.key(0)[None]])


@pytest.mark.parametrize("function", [snp.sum, snp.nansum, lambda k: snp.dot(k, k)])
def test_keys_are_no_numbers_to_sum(keys, function):
    with pytest.raises(errors.DtypeError, match="the operand has dtype key<fry>") as error:
        function(keys)
    assert "sagax.random.key_data" in str(error.value)


def test_equality(keys):
    assert (keys == keys).tolist() == [True] * 6
    assert (keys == keys[2]).tolist() == [False, False, True, False, False, False]
    assert (keys != keys[2]).tolist() == [True, True, False, True, True, True]
    assert bool(random.key(3) == random.key(3))


def test_raw_keys_and_typed_ones_draw_the_same():
    raw, key = random.PRNGKey(7), random.key(7)
    assert raw.dtype == np.uint32 and raw.shape == (2,)
    same(key, raw)
    same(random.wrap_key_data(raw), raw)
    np.testing.assert_array_equal(random.split(raw, 3), numbers(random.split(key, 3)))
    np.testing.assert_array_equal(random.fold_in(raw, 3), numbers(random.fold_in(key, 3)))
    for draw in (random.normal, random.bits, lambda k: random.permutation(k, 5)):
        np.testing.assert_array_equal(draw(raw), draw(key))
        np.testing.assert_array_equal(draw(np.asarray(raw)), draw(key))


def test_numbers_of_keys_share_their_memory():
    key = random.split(random.key(0), 1000)
    data = random.key_data(key)
    assert data.unsafe_buffer_pointer() == key.unsafe_buffer_pointer()
    assert random.wrap_key_data(data).unsafe_buffer_pointer() == key.unsafe_buffer_pointer()


def test_a_clone_is_equal_and_another_object(keys):
    copy = random.clone(keys)
    assert copy is not keys and bool((copy == keys).all())
    np.testing.assert_array_equal(random.clone(random.PRNGKey(3)), [0, 3])


def test_options():
    with sagax.default_prng_impl("rbg"):
        assert str(random.key(0).dtype) == "key<rbg>"
        assert random.PRNGKey(0).shape == (4,)
        assert random.uniform(random.PRNGKey(0)).shape == ()
    with sagax.enable_custom_prng(True):
        assert str(random.PRNGKey(0).dtype) == "key<fry>"
    with sagax.legacy_prng_key("error"), pytest.raises(ValueError, match="legacy_prng_key"):
        random.normal(np.zeros(2, np.uint32))
    with sagax.legacy_prng_key("warn"), pytest.warns(UserWarning, match="random.key"):
        random.normal(np.zeros(2, np.uint32))
    before = sagax.config.random_seed_offset
    sagax.config.update("random_seed_offset", 10)
    try:
        same(random.key(5), [0, 15])
        same(sagax.jit(random.key)(5), [0, 15])
    finally:
        sagax.config.update("random_seed_offset", before)


def test_seeds_may_be_traced():
    same(sagax.jit(random.key)(9), [0, 9])
    same(sagax.vmap(random.key)(np.arange(3)), [[0, 0], [0, 1], [0, 2]])
    assert sagax.jit(lambda s: random.PRNGKey(s))(9).tolist() == [0, 9]


# keys in programs: operations on key arrays against those on the arrays of their numbers ----------------

SHAPED = {
    "index": lambda k: k[2],
    "negative index": lambda k: k[-1],
    "slice": lambda k: k[1:5:2],
    "reversed": lambda k: k[::-1],
    "integers": lambda k: k[np.array([4, 0, 0])],
    "mask": lambda k: k[np.array([True, False, True, True, False, False])],
    "new axis": lambda k: k[None, :2],
    "ellipsis": lambda k: k[..., :2] if k.ndim == 1 else k[:2],
}
MOVED = {
    "concatenate": lambda np_, k: np_.concatenate([k, k[:2]]),
    "stack": lambda np_, k: np_.stack([k[0], k[1]]),
    "flip": lambda np_, k: np_.flip(k, 0),
    "roll": lambda np_, k: np_.roll(k, 2, 0),
    "repeat": lambda np_, k: np_.repeat(k, 2, 0),
    "take": lambda np_, k: np_.take(k, np.array([1, 5]), 0),
    "split": lambda np_, k: np_.split(k, 3)[1],
    "delete": lambda np_, k: np_.delete(k, 1, 0),
    "append": lambda np_, k: np_.append(k, k[:1], 0),
}


@pytest.mark.parametrize("name", SHAPED)
def test_indexing(keys, name):
    expected = SHAPED[name](numbers(keys))
    same(SHAPED[name](keys), expected)
    same(sagax.jit(SHAPED[name])(keys), expected)


@pytest.mark.parametrize("name", MOVED)
def test_moving(keys, name):
    same(MOVED[name](snp, keys), MOVED[name](np, numbers(keys)))


def test_shapes(keys):
    data = numbers(keys)
    grid, grid_data = keys.reshape(2, 3), data.reshape(2, 3, 2)
    same(grid, grid_data)
    same(grid[1], grid_data[1])
    same(grid[:, 1], grid_data[:, 1])
    same(grid[1, 2], grid_data[1, 2])
    same(grid[..., 0], grid_data[:, 0])
    same(grid.ravel(), data)
    same(snp.squeeze(keys[:1]), data[0])
    same(snp.expand_dims(keys[0], 0), data[:1])
    same(snp.broadcast_to(keys[0], (3,)), np.broadcast_to(data[0], (3, 2)))
    same(snp.tile(keys[:2], 2), np.tile(data[:2], (2, 1)))
    same(
        snp.where(np.arange(6) % 2 == 0, keys, keys[0]),
        np.where(np.arange(6)[:, None] % 2 == 0, data, data[0]),
    )
    same(keys.at[1].set(keys[0]), [data[0], data[0], *data[2:]])
    same(keys.at[np.array([0, 5])].set(keys[2:4]), [data[2], *data[1:5], data[3]])
    same(snp.stack(list(keys)), data)


def test_transposition(keys):
    grid, data = keys.reshape(2, 3), numbers(keys).reshape(2, 3, 2)
    same(grid.T, data.transpose(1, 0, 2))
    same(snp.moveaxis(grid, 0, 1), data.transpose(1, 0, 2))
    same(sagax.vmap(lambda k: k, in_axes=1)(grid), data.transpose(1, 0, 2))
    same(sagax.vmap(lambda k: k, in_axes=1, out_axes=1)(grid), data)


def test_dynamic_places(keys):
    data = numbers(keys)
    same(sagax.jit(lambda k, i: k[i])(keys, 3), data[3])
    same(lax.dynamic_slice(keys, (2,), (3,)), data[2:5])
    same(lax.dynamic_index_in_dim(keys, 4, keepdims=False), data[4])
    same(lax.dynamic_update_slice(keys, keys[:2], (3,)), [*data[:3], *data[:2], data[5]])
    same(lax.select(np.arange(6) < 3, keys, keys[::-1]), [*data[:3], *data[2::-1]])


def test_loops_and_branches_carry_keys():
    key = random.key(2)
    first = lambda k: random.split(k)[0]  # noqa: E731
    expected = numbers(first(first(first(key))))
    same(lax.fori_loop(0, 3, lambda i, k: first(k), key), expected)
    same(
        lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, first(s[1])), (0, key))[1], expected
    )
    same(lax.scan(lambda k, _: (first(k), None), key, None, length=3)[0], expected)
    same(lax.cond(True, first, lambda k: k, key), numbers(first(key)))
    same(sagax.jit(lambda i, k: lax.cond(i > 0, first, lambda k: k, k))(-1, key), numbers(key))


def test_scan_stacks_keys():
    key = random.key(2)
    carried, stacked = lax.scan(lambda k, _: tuple(random.split(k)), key, None, length=3)
    expected = []
    for _ in range(3):
        key, part = random.split(key)
        expected.append(numbers(part))
    same(stacked, expected)
    same(carried, numbers(key))


def test_vmap_is_a_loop(keys):
    drawn = sagax.vmap(lambda k: random.normal(k, (2,)))(keys)
    np.testing.assert_array_equal(drawn, [random.normal(k, (2,)) for k in keys])
    grid = keys.reshape(3, 2)
    drawn = sagax.vmap(sagax.vmap(lambda k: random.randint(k, (4,), 0, 100)))(grid)
    np.testing.assert_array_equal(
        drawn, [[random.randint(k, (4,), 0, 100) for k in row] for row in grid]
    )
    folded = sagax.vmap(random.fold_in, in_axes=(None, 0))(keys[0], np.arange(3))
    same(folded, [numbers(random.fold_in(keys[0], i)) for i in range(3)])


def test_vmap_over_parameters_and_keys(keys):
    a = np.float32([0.5, 1, 2, 3, 4, 5])
    drawn = sagax.vmap(random.gamma)(keys, a)
    np.testing.assert_allclose(drawn, [random.gamma(k, x) for k, x in zip(keys, a)], rtol=1e-6)
    drawn = sagax.vmap(lambda k: random.permutation(k, 7))(keys)
    np.testing.assert_array_equal(drawn, [random.permutation(k, 7) for k in keys])


def test_pytrees_and_structures():
    tree = {"a": random.key(0), "b": [random.split(random.key(1), 3)]}
    shapes = sagax.tree_util.tree_map(lambda x: x.shape, tree)
    assert shapes == {"a": (), "b": [(3,)]}
    same(sagax.jit(lambda t: t["b"][0][1])(tree), numbers(tree["b"][0][1]))
    assert str(sagax.eval_shape(random.key, 0)) == "ShapeDtypeStruct(shape=(), dtype=key<fry>)"
    struct = sagax.ShapeDtypeStruct((2,), random.key(0).dtype)
    assert sagax.eval_shape(lambda k: random.bits(k[0], (3,)), struct).shape == (3,)


def test_keys_are_constants_and_closures():
    key = random.key(4)
    f = sagax.jit(lambda x: x * random.normal(key))
    assert float(f(2.0)) == pytest.approx(2 * float(random.normal(key)))
    assert float(sagax.grad(f)(2.0)) == pytest.approx(float(random.normal(key)))


def test_derivatives_pass_by_keys():
    key = random.key(4)
    z = np.asarray(random.normal(key, (3,)))
    loss = lambda scale, k: (scale * random.normal(k, (3,))).sum()  # noqa: E731
    assert float(sagax.grad(loss)(2.0, key)) == pytest.approx(z.sum(), rel=1e-6)
    assert float(sagax.grad(sagax.checkpoint(loss))(2.0, key)) == pytest.approx(z.sum(), rel=1e-6)
    out, tangent = sagax.jvp(lambda s: s * random.normal(key, (3,)), (2.0,), (1.0,))
    np.testing.assert_allclose(tangent, z)
    with pytest.raises(TypeError, match="grad"):
        sagax.grad(lambda k: random.uniform(k))(key)


def test_programs_show_what_is_drawn():
    key = random.key(0)
    assert str(sagax.make_jaxpr(lambda k: random.bits(random.fold_in(k, 3), (2,)))(key)) == (
        "{ lambda ; a:key<fry>[]. let\n"
        "    b:key<fry>[] = random_fold_in a 3:u32[]\n"
        "    c:u32[2] = jit[\n"
        "      name=_bits\n"
        "      jaxpr={ lambda ; d:key<fry>[]. let\n"
        "          e:u32[2] = random_bits[bit_width=32 shape=(2,)] d\n"
        "        in (e,) }\n"
        "    ] b\n"
        "  in (c,) }"
    )
    seeded = sagax.make_jaxpr(lambda s: random.split(random.PRNGKey(s)))(0)
    assert [eqn.primitive.name for eqn in seeded.eqns] == [
        "random_seed",
        "random_unwrap",
        "random_wrap",
        "random_split",
        "random_unwrap",
    ]


def test_equal_draws_share_one_function():
    text = sagax.jit(lambda k: sum(random.normal(x, (8,)) for x in random.split(k, 3)))
    text = text.lower(random.key(0)).as_text()
    assert text.count("func.func private @threefry2x32") == 1  # of the split; the draws have a loop
    assert text.count("func.func private @_normal") == 1
    assert text.count("call @_normal") == 3


def test_orders_by_comparing_and_by_counting_are_the_stable_one():
    drawn = np.random.default_rng(0).integers(0, 1 << 32, 50_000, dtype=np.uint64)
    drawn[::7] = drawn[3]  # equal ones, which keep their order
    drawn[1::9] = 1 << 16
    keys = drawn << np.uint64(32) | np.arange(drawn.size, dtype=np.uint64)
    stable = np.argsort(drawn, kind="stable")
    np.testing.assert_array_equal(_selection._by_comparing(keys), stable)
    np.testing.assert_array_equal(_selection._by_counting(keys), stable)


@pytest.mark.parametrize("pays", [True, False])
def test_permutations_do_not_depend_on_how_the_host_sorts(pays, monkeypatch):
    n = 5_000
    compiled = sagax.jit(lambda k: random.permutation(k, n))(random.key(5))
    monkeypatch.setattr(_selection, "_comparing_is_faster", lambda: pays)
    np.testing.assert_array_equal(random.permutation(random.key(5), n), compiled)


@pytest.mark.parametrize("n", [1, 2, 5000])
def test_permutation_is_one(n):
    key = random.key(9)
    eager = np.asarray(random.permutation(key, n))
    assert sorted(eager.tolist()) == list(range(n))
    # on the host, and inside of a compiled program
    np.testing.assert_array_equal(eager, sagax.jit(lambda k: random.permutation(k, n))(key))


def test_choice_draws_the_same_rows_as_positions_where_integers_are_wide():
    """As jax, which draws positions of the default width: other bits than those of 32."""
    with sagax.enable_x64():
        key = random.PRNGKey(42)
        assert random.choice(key, 6, (6,)).tolist() == [3, 4, 3, 1, 1, 0]
        x = snp.arange(12.0).reshape(6, 2)
        assert random.choice(key, x[:, 0], (6,)).tolist() == [6.0, 8.0, 6.0, 2.0, 2.0, 0.0]
        for options in ({}, {"replace": False}, {"p": snp.ones(6) / 6}, {"mode": "high"}):
            rows = random.choice(key, 6, (4,), **options)
            assert snp.array_equal(random.choice(key, x, (4,), **options), x[rows])


def test_choice_without_replacement_is_distinct():
    key = random.key(9)
    for draw in (
        lambda k: random.choice(k, 5000, (300,), replace=False),
        lambda k: random.choice(k, 400, (300,), replace=False, p=np.ones(400, np.float32)),
    ):
        eager = np.asarray(draw(key))
        assert len(set(eager.tolist())) == 300
        np.testing.assert_array_equal(eager, sagax.jit(draw)(key))


def test_keys_can_be_permuted(keys):
    order = np.asarray(random.permutation(random.key(3), 6))
    same(random.permutation(random.key(3), keys), numbers(keys)[order])


def test_symbolic_shapes():
    n, m = sagax._src.core.dims.symbolic_shape("n, m")
    key = sagax.ShapeDtypeStruct((), random.key(0).dtype)
    x = sagax.ShapeDtypeStruct((n, m), np.float32)
    out = sagax.eval_shape(lambda k, x: random.normal(k, x.shape), key, x)
    assert out.shape == (n, m)
    text = sagax.jit(lambda k, x: x + random.normal(k, x.shape)).lower(key, x).as_text()
    assert "tensor<?x?xf32>" in text


# distributions -----------------------------------------------------------------------------------------

N = 4000
CONTINUOUS = {
    "uniform": (lambda k, s: random.uniform(k, s, minval=-1.0, maxval=3.0), "uniform", (-1, 4)),
    "normal": (random.normal, "norm", ()),
    "truncated_normal": (lambda k, s: random.truncated_normal(k, -1, 2, s), "truncnorm", (-1, 2)),
    "lognormal": (lambda k, s: random.lognormal(k, 0.5, s), "lognorm", (0.5,)),
    "exponential": (random.exponential, "expon", ()),
    "laplace": (random.laplace, "laplace", ()),
    "logistic": (random.logistic, "logistic", ()),
    "gumbel": (random.gumbel, "gumbel_r", ()),
    "gumbel, high": (lambda k, s: random.gumbel(k, s, mode="high"), "gumbel_r", ()),
    "cauchy": (random.cauchy, "cauchy", ()),
    "maxwell": (random.maxwell, "maxwell", ()),
    "rayleigh": (lambda k, s: random.rayleigh(k, 2.0, s), "rayleigh", (0, 2)),
    "pareto": (lambda k, s: random.pareto(k, 3.0, s), "pareto", (3,)),
    "wald": (lambda k, s: random.wald(k, 1.0, s), "invgauss", (1,)),
    "weibull_min": (lambda k, s: random.weibull_min(k, 2.0, 1.5, s), "weibull_min", (1.5, 0, 2)),
    "triangular": (lambda k, s: random.triangular(k, -1, 0, 3, s), "triang", (0.25, -1, 4)),
    "gamma, small": (lambda k, s: random.gamma(k, 0.3, s), "gamma", (0.3,)),
    "gamma, large": (lambda k, s: random.gamma(k, 7.0, s), "gamma", (7,)),
    "gamma, approximate": (
        lambda k, s: random.gamma(k, 2.0, s, method="approximate"),
        "gamma",
        (2,),
    ),
    "loggamma": (lambda k, s: random.loggamma(k, 0.4, s), "loggamma", (0.4,)),
    "beta": (lambda k, s: random.beta(k, 2.0, 0.5, s), "beta", (2, 0.5)),
    "chisquare": (lambda k, s: random.chisquare(k, 3.0, s), "chi2", (3,)),
    "f": (lambda k, s: random.f(k, 3.0, 8.0, s), "f", (3, 8)),
    "t": (lambda k, s: random.t(k, 4.0, s), "t", (4,)),
    "generalized_normal": (lambda k, s: random.generalized_normal(k, 3.0, s), "gennorm", (3,)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    from scipy import stats

    draw, distribution, args = CONTINUOUS[name]
    x = np.asarray(draw(random.key(77), (N,)))
    assert stats.kstest(x, distribution, args).pvalue > 1e-3


COUNTED = {
    "bernoulli": (lambda k, s: random.bernoulli(k, 0.3, s), "bernoulli", (0.3,)),
    "bernoulli, high": (lambda k, s: random.bernoulli(k, 0.3, s, mode="high"), "bernoulli", (0.3,)),
    "randint": (lambda k, s: random.randint(k, s, 3, 12), "randint", (3, 12)),
    "geometric": (lambda k, s: random.geometric(k, 0.4, s), "geom", (0.4,)),
    "poisson, few": (lambda k, s: random.poisson(k, 2.5, s), "poisson", (2.5,)),
    "poisson, many": (lambda k, s: random.poisson(k, 30.0, s), "poisson", (30,)),
    "poisson, approximate": (
        lambda k, s: random.poisson(k, 30.0, s, method="approximate"),
        "poisson",
        (30,),
    ),
    "binomial, few": (lambda k, s: random.binomial(k, 8, 0.2, s), "binom", (8, 0.2)),
    "binomial, many": (lambda k, s: random.binomial(k, 90, 0.7, s), "binom", (90, 0.7)),
    "categorical": (
        lambda k, s: random.categorical(k, np.log(np.float32([0.1, 0.2, 0.7])), shape=s),
        "rv_discrete",
        (np.arange(3), np.array([0.1, 0.2, 0.7])),
    ),
    "choice": (
        lambda k, s: random.choice(k, 4, s, p=np.float32([1, 2, 3, 4])),
        "rv_discrete",
        (np.arange(4), np.array([0.1, 0.2, 0.3, 0.4])),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_distribution(name):
    from scipy import stats

    draw, distribution, args = COUNTED[name]
    x = np.asarray(draw(random.key(78), (N,))).astype(int)
    frozen = (
        stats.rv_discrete(values=args)
        if distribution == "rv_discrete"
        else getattr(stats, distribution)(*args)
    )
    values = np.arange(x.min(), x.max() + 1)
    expected = N * frozen.pmf(values)
    usual = expected >= 5  # rare values are counted together
    observed = [np.sum(x == v) for v in values[usual]]
    rest = N - sum(observed)
    chi2 = np.sum((observed - expected[usual]) ** 2 / expected[usual])
    left = N - expected[usual].sum()
    chi2 += (rest - left) ** 2 / max(left, 1)
    assert stats.chi2.sf(chi2, usual.sum()) > 1e-3


def test_vectors_have_their_moments():
    key = random.key(5)
    cov = np.float32([[2, 0.6], [0.6, 1]])
    for method in ("cholesky", "eigh", "svd"):
        x = np.asarray(
            random.multivariate_normal(key, np.float32([1, -1]), cov, (N,), method=method)
        )
        np.testing.assert_allclose(x.mean(0), [1, -1], atol=0.1)
        np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    x = np.asarray(random.dirichlet(key, np.float32([1, 2, 3]), (N,)))
    np.testing.assert_allclose(x.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(x.mean(0), [1 / 6, 1 / 3, 1 / 2], atol=0.02)
    x = np.asarray(random.ball(key, 3, shape=(N,)))
    radius = np.linalg.norm(x, axis=1)
    assert radius.max() <= 1 and abs(np.mean(radius**3) - 0.5) < 0.02
    x = np.asarray(random.multinomial(key, 20, np.float32([0.2, 0.3, 0.5]), shape=(500,)))
    assert (x.sum(1) == 20).all()
    np.testing.assert_allclose(x.mean(0), [4, 6, 10], atol=0.4)
    for dtype in (np.float32, np.complex64):
        q = np.asarray(random.orthogonal(key, 4, (3,), dtype))
        np.testing.assert_allclose(
            q.conj().swapaxes(1, 2) @ q, np.stack([np.eye(4)] * 3), atol=1e-5
        )


# derivatives of samplers in their parameters ---------------------------------------------------------------


def quantile_slope(distribution, x, a, *others):
    """How the quantile that `x` is moves with the first parameter: -dF/da over the density."""
    h = 1e-4 * a
    rise = (distribution.cdf(x, a + h, *others) - distribution.cdf(x, a - h, *others)) / (2 * h)
    return -rise / distribution.pdf(x, a, *others)


@pytest.mark.parametrize("a", [0.4, 1.0, 3.0, 40.0])
def test_gamma_moves_with_its_parameter(a):
    from scipy import stats

    key = random.key(6)
    x, slope = sagax.jvp(lambda a: random.gamma(key, a, (40,)), (np.float32(a),), (np.float32(1),))
    expected = quantile_slope(stats.gamma, np.asarray(x, np.float64), a)
    np.testing.assert_allclose(slope, expected, rtol=2e-3, atol=1e-5)
    y, log_slope = sagax.jvp(
        lambda a: random.loggamma(key, a, (40,)), (np.float32(a),), (np.float32(1),)
    )
    np.testing.assert_allclose(np.exp(y), x, rtol=1e-4)
    np.testing.assert_allclose(
        log_slope, expected / np.asarray(x, np.float64), rtol=5e-3, atol=1e-4
    )


def test_derivatives_of_samplers_are_finite():
    key = random.key(8)
    draws = {
        "beta": lambda a: random.beta(key, a, 0.7, (50,)),
        "dirichlet": lambda a: random.dirichlet(key, a * np.ones(3, np.float32), (20,))[:, 0],
        "t": lambda a: random.t(key, a, (50,)),
        "chisquare": lambda a: random.chisquare(key, a, (50,)),
        "loggamma, tiny": lambda a: random.loggamma(key, a * 1e-3, (50,)),
        "truncated_normal": lambda a: random.truncated_normal(key, -a, a, (50,)),
        "rayleigh": lambda a: random.rayleigh(key, a, (50,)),
    }
    for name, draw in draws.items():
        slope = sagax.grad(lambda a, draw=draw: draw(a).sum())(1.3)
        assert np.isfinite(slope) and float(slope) != 0, name


def test_the_same_key_gives_the_same_numbers_in_threads():
    import threading

    key, found = random.key(11), []
    work = lambda: found.append(np.asarray(random.normal(key, (11,))))  # noqa: E731
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for x in found[1:]:
        np.testing.assert_array_equal(x, found[0])


def test_keys_can_be_pickled(keys):
    same(pickle.loads(pickle.dumps(keys)), numbers(keys))
    assert pickle.loads(pickle.dumps(keys[0])).shape == ()
    assert pickle.loads(pickle.dumps(keys)).dtype is keys.dtype


def test_a_pickled_key_is_read_by_a_process_that_has_made_none(run_python):
    pickled = pickle.dumps(sagax.random.key(3))
    program = f"import pickle; print(pickle.loads({pickled!r}))"
    assert "[0 3]" in run_python("-c", program).stdout


def test_arrays_filled_with_keys(keys):
    dtype = random.key_dtype()
    same(snp.zeros(2, dtype), np.zeros((2, 2)))
    same(snp.ones((2, 1), dtype), np.ones((2, 1, 2)))
    same(snp.zeros_like(keys), np.zeros((6, 2)))
    same(snp.empty_like(keys), np.zeros((6, 2)))
    same(lax.full((2,), 0, dtype), np.zeros((2, 2)))
    same(snp.full(2, keys[1]), [numbers(keys)[1]] * 2)
    same(sagax.jit(lambda: snp.zeros(2, dtype))(), np.zeros((2, 2)))


def test_keys_have_no_order(keys):
    for sort in (snp.sort, snp.argsort, lax.sort):
        with pytest.raises(TypeError, match="sort: argument operands"):
            sort(keys)


@pytest.mark.parametrize("count", [1, 6, 7, 10, 12, 16, 17])
def test_few_numbers_are_those_of_the_cipher(count):
    # some of these are drawn by a loop, others not
    key = np.uint32([7, 2**31 + 9])
    words = random_ciphers.threefry2x32_p.rule("reference")(
        key[0], key[1], np.uint32(0), np.arange(count, dtype=np.uint32)
    )
    found = random.bits(random.wrap_key_data(key), (count,))
    np.testing.assert_array_equal(found, words[0] ^ words[1])


@pytest.mark.parametrize("count", [1, 5, 10])
def test_small_draws_run_in_the_calling_thread(count):
    # the engine does so with programs that it estimates to be less than 1,000 operations
    draw = sagax.jit(lambda key: random.normal(key, (count,)))
    cost = draw.lower(random.key(0)).compile().cost_analysis()
    assert 0 < cost["flops"] < 1000


def test_a_clone_of_numbers_is_themselves():
    x = snp.array([0.5, 2.0])
    assert random.clone(x).tolist() == [0.5, 2.0]
    assert sagax.grad(lambda v: (random.clone(v) ** 2).sum())(x).tolist() == [1.0, 4.0]
    assert random.Key(x) is x


def test_complex_lognormal():
    key = random.key(3)
    drawn = random.lognormal(key, 0.5, (4,), "complex64")
    expected = snp.exp(0.5 * random.normal(key, (4,), "complex64"))
    np.testing.assert_allclose(drawn, expected, rtol=1e-6)


def test_variates_of_one_key_compile_without_a_complaint_of_xla(capfd):
    """XLA moved the broadcast of the key behind the cipher until it gave up, and said so on stderr."""
    key, a = random.key(0), snp.array([1.5, 2.0, 0.5])
    mapped = sagax.jit(sagax.vmap(lambda p: random.loggamma(key, p)))(a)
    alone = [random.loggamma(key, p) for p in a]
    np.testing.assert_allclose(mapped, alone, rtol=1e-6)
    assert "stuck" not in capfd.readouterr().err


def test_gamma_variates_of_a_batch_have_derivatives():
    """Those of each key alone, whichever is mapped."""
    keys = sagax.random.split(sagax.random.key(0), 3)
    a = snp.array([1.5, 0.5])

    def draw(key, a):
        return sagax.random.dirichlet(key, a)

    values = sagax.vmap(draw, (0, None))(keys, a)
    slopes = sagax.jacrev(sagax.vmap(draw, (0, None)), 1)(keys, a)
    both = sagax.vmap(draw)(keys, snp.stack([a, 2 * a, a]))
    for i, key in enumerate(keys):
        np.testing.assert_allclose(values[i], draw(key, a), rtol=1e-6)
        np.testing.assert_allclose(slopes[i], sagax.jacrev(draw, 1)(key, a), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(both[i], draw(key, 2 * a if i == 1 else a), rtol=1e-6)
    shared = sagax.vmap(lambda a: sagax.random.gamma(keys[0], a))(a)
    np.testing.assert_allclose(shared, [sagax.random.gamma(keys[0], x) for x in a], rtol=1e-6)
