"""Products that sum over several dimensions: one dimension where they lie side by side."""

from __future__ import annotations

import string

import numpy as np
import pytest

import sagax
from sagax import lax
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
