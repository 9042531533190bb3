"""Products that sum over several dimensions: one dimension where they lie side by side."""

from __future__ import annotations

import string

import numpy as np
import pytest

import sagax
from sagax import lax
from sagax._src import xla
from sagax._src.core.verify import check_jaxpr
from sagax._src.lowering.canonicalize_dots import merge_contracted_dims
from sagax._src.lowering.passes import prepared

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def product(x, y, contracting, batch=((), ())):
    return lax.dot_general(x, y, (contracting, batch))


# operands, contracting dimensions, batch dimensions, and whether the sum becomes one
PRODUCTS = {
    "weights": ((4, 5, 6), (4, 5, 7), ((0, 1), (0, 1)), ((), ()), True),
    "at the end": ((6, 4, 5), (4, 5, 7), ((1, 2), (0, 1)), ((), ()), True),
    "named in another order": ((4, 5, 6), (4, 5, 7), ((1, 0), (1, 0)), ((), ()), True),
    "three": ((2, 3, 4, 6), (7, 2, 3, 4), ((0, 1, 2), (1, 2, 3)), ((), ()), True),
    "behind a batch": ((3, 4, 5, 6), (3, 7, 4, 5), ((1, 2), (2, 3)), ((0,), (0,)), True),
    "before a batch": ((4, 5, 3, 6), (7, 4, 5, 3), ((0, 1), (1, 2)), ((2,), (3,)), True),
    "crossed": ((4, 5, 6), (5, 4, 7), ((0, 1), (1, 0)), ((), ()), False),
    "apart": ((4, 6, 5), (4, 5, 7), ((0, 2), (0, 1)), ((), ()), False),
    "one": ((4, 5), (5, 6), ((1,), (0,)), ((), ()), False),
    "empty": ((0, 5, 6), (0, 5, 7), ((0, 1), (0, 1)), ((), ()), True),
}


@pytest.mark.parametrize("case", PRODUCTS.values(), ids=PRODUCTS)
def test_sums_over_neighbours_are_sums_over_one_dimension(case):
    left, right, contracting, batch, merged = case
    x, y = draw(*left), draw(*right)

    def f(x, y):
        return product(x, y, contracting, batch)

    jaxpr = sagax.make_jaxpr(f)(x, y).jaxpr
    flat = merge_contracted_dims(jaxpr)
    check_jaxpr(flat)
    assert (flat is not jaxpr) == merged
    (dot,) = [eqn for eqn in flat.eqns if eqn.primitive.name == "dot_general"]
    assert len(dot.params["dimension_numbers"][0][0]) == (1 if merged else len(contracting[0]))
    # letters: batch, summed, free
    names = iter(string.ascii_letters)
    letters = {}
    for dims in zip(*batch):
        letters[0, dims[0]] = letters[1, dims[1]] = next(names)
    for dims in zip(*contracting):
        letters[0, dims[0]] = letters[1, dims[1]] = next(names)
    terms = [
        "".join(letters.setdefault((i, d), next(names)) for d in range(len(shape)))
        for i, shape in enumerate((left, right))
    ]
    first = [letters[0, d] for d in batch[0]]
    free = [c for i in (0, 1) for c in terms[i] if c not in terms[1 - i]]
    expected = np.einsum(f"{terms[0]},{terms[1]}->{''.join(first + free)}", x, y)
    np.testing.assert_allclose(sagax.jit(f)(x, y), expected, 1e-4, 1e-4)


def test_the_gradient_of_weights_copies_no_operand():
    def loss(w, x):
        return (lax.dot_general(x, w, (((2,), (0,)), ((), ()))) ** 2).sum()

    w, x = draw(32, 48), draw(4, 16, 32)
    lowered = sagax.jit(sagax.grad(loss)).lower(w, x)
    assert "contracting_dimensions = [0, 1]" not in lowered.as_text()
    optimised = lowered.compile().as_text()
    assert " transpose(" not in optimised
    assert " copy(" not in optimised
    expected = 2 * np.einsum("bti,btj->ij", x, np.einsum("bti,ij->btj", x, w))
    np.testing.assert_allclose(sagax.grad(loss)(w, x), expected, 1e-3, 1e-3)


def test_loops_and_calls_are_looked_into():
    x, y = draw(4, 5, 6), draw(4, 5, 7)

    @sagax.jit
    def inner(x, y):
        return product(x, y, ((0, 1), (0, 1)))

    def f(x, y):
        return lax.scan(lambda c, _: (c + inner(x, y), None), inner(x, y), None, length=3)[0]

    text = str(merge_contracted_dims(sagax.make_jaxpr(f)(x, y).jaxpr))
    assert "[0, 1]" not in text
    np.testing.assert_allclose(sagax.jit(f)(x, y), 4 * np.einsum("abc,abd->cd", x, y), 1e-4, 1e-4)


def test_exact_programs_and_other_devices_are_left_alone():
    x, y = draw(4, 5, 6), draw(4, 5, 7)
    jaxpr = sagax.make_jaxpr(lambda x, y: product(x, y, ((0, 1), (0, 1))))(x, y).jaxpr
    assert prepared(jaxpr, "cuda") is jaxpr
    with sagax.config.context(exact=True):
        assert prepared(jaxpr, "cpu") is jaxpr


# Narrow products ---------------------------------------------------------------------------------------

LONG = 300
# the product, and whether a barrier keeps XLA from transposing the large operand
NARROW = {
    "vector": (lambda x, m: x.T @ m[:, 0], False),
    "columns": (lambda x, m: x.T @ m, True),
    "contracted first": (lambda x, m: product(x, m, ((0,), (0,))), True),
    "rows": (lambda x, m: product(x, m.T, ((0,), (1,))), True),
    "transposed afterwards": (lambda x, m: (m.T @ x).T, True),
    "narrow first": (lambda x, m: product(m, x, ((0,), (0,))), False),
    "gradient": (lambda x, m: sagax.linear_transpose(lambda w: x @ w, np.ones((40, 3), m.dtype))(m)[0], True),
}  # fmt: skip


@pytest.mark.parametrize("case", NARROW.values(), ids=NARROW)
def test_narrow_products_read_the_large_operand_as_it_lies(case):
    f, keeps = case
    x, m = draw(LONG, 40), draw(LONG, 3)
    jaxpr = sagax.make_jaxpr(f)(x, m).jaxpr
    new = prepared(jaxpr, "cpu")
    check_jaxpr(new)
    (dot,) = [eqn for eqn in new.eqns if eqn.primitive.name == "dot_general"]
    few, large = dot.invars
    assert large is new.invars[0]
    assert dot.params["dimension_numbers"][0][1] == (0,)
    assert any(eqn.primitive.name == "optimization_barrier" for eqn in new.eqns) == keeps
    expected = np.asarray(f(x.astype(np.float64), m.astype(np.float64)))
    found = np.asarray(sagax.jit(f)(x, m))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "f, x, m",
    [
        (lambda x, m: x.T @ m, draw(LONG, 100), draw(LONG, 80)),  # not narrow
        (lambda x, m: x.T @ m, draw(30, 20), draw(30, 3)),  # small
        (lambda x, m: x @ m, draw(LONG, 40), draw(40, 3)),  # in order as it is
        (lambda x, m: x.T @ m, draw(LONG, 40).astype(np.float16), draw(LONG, 3).astype(np.float16)),
        (lambda x, m: product(x, m, ((1,), (1,)), ((0,), (0,))), draw(9, LONG, 40), draw(9, LONG, 3)),
    ],
)  # fmt: skip
def test_other_products_stay(f, x, m):
    jaxpr = sagax.make_jaxpr(f)(x, m).jaxpr
    assert merge_contracted_dims(jaxpr) is jaxpr


def test_precision_follows_its_operand():
    levels = (lax.Precision.HIGHEST, lax.Precision.DEFAULT)
    x, m = draw(LONG, 40), draw(LONG, 3)
    jaxpr = sagax.make_jaxpr(
        lambda x, m: lax.dot_general(x, m, (((0,), (0,)), ((), ())), precision=levels)
    )(x, m).jaxpr
    (dot,) = [
        e for e in merge_contracted_dims(jaxpr).eqns if e.primitive.name == "dot_general"
    ]  # fmt: skip
    assert dot.params["precision"] == levels[::-1]


def test_bytes_are_summed_in_int32_without_conversions():
    rng = np.random.default_rng(0)
    for dtype in (np.int8, np.uint8):
        info = np.iinfo(dtype)
        x, y = (rng.integers(info.min, info.max, s, dtype, True) for s in ((33, 70), (70, 21)))
        f = sagax.jit(
            lambda x, y: lax.dot(x, y, preferred_element_type=np.int32)
        )  # fmt: skip
        assert np.array_equal(f(x, y), x.astype(np.int32) @ y.astype(np.int32))
        assert ("convert" in f.lower(x, y).as_text()) == (not xla.sums_products_of_bytes)
