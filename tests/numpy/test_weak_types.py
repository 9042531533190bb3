"""Weak types of products, scalars and sets, as jax 0.12 gives them; the expected values are its."""

import copy

import numpy as np
import pytest

import sagax
import sagax.numpy as snp


def weak(number):
    """A matrix of a weak type."""
    found = sagax.jit(lambda v: v)(number) + snp.zeros((2, 2), bool)
    assert found.weak_type
    return found


PRODUCTS = {
    "dot": snp.dot,
    "vdot": snp.vdot,
    "inner": snp.inner,
    "matmul": snp.matmul,
    "matmul of stacks": lambda a, b: snp.matmul(a[None], b[None]),
    "matvec": lambda a, b: snp.matvec(a, b[0]),
    "vecdot": snp.vecdot,
    "tensordot": snp.tensordot,
    "einsum": lambda a, b: snp.einsum("ij,jk->ik", a, b),
    "einsum, the other way round": lambda a, b: snp.einsum("ij,jk->ki", a, b),
    "einsum of elements": lambda a, b: snp.einsum("ij,ij->ij", a, b),
    "einsum to a scalar": lambda a, b: snp.einsum("ij,ij->", a, b),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS.keys())
def test_a_product_has_the_weak_type_that_its_operands_have_in_common(product, jitted):
    product = sagax.jit(product) if jitted else product
    wide, whole = weak(2.5), weak(2)
    for other, number, dtype, is_weak in [
        ("int8", wide, "float32", True),
        ("bool", wide, "float32", True),
        ("float16", wide, "float16", False),
        ("bool", whole, "int32", True),
        ("float16", whole, "float16", False),
    ]:
        for pair in [(number, snp.ones((2, 2), other)), (snp.ones((2, 2), other), number)]:
            found = product(*pair)
            assert (found.dtype, found.weak_type) == (dtype, is_weak), (other, number.dtype)
    found = product(wide, whole)
    assert (found.dtype, found.weak_type) == ("float32", True)


def test_a_preferred_element_type_is_not_weak():
    for pair in [(weak(2.5), weak(2.5)), (weak(2), weak(2.5)), (weak(2), weak(2))]:
        assert not snp.dot(*pair, preferred_element_type="float32").weak_type
        assert not snp.einsum("ij,jk->ik", *pair, preferred_element_type="float32").weak_type


BINARY = [
    snp.logical_and,
    snp.logical_or,
    snp.logical_xor,
    snp.logaddexp2,
    snp.heaviside,
    snp.gcd,
    snp.lcm,
]


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_results_are_weak_where_scalars_have_a_weak_type_in_common(function):
    row = weak(2)[0]
    number = 2 if function in (snp.gcd, snp.lcm) else 2.5
    narrow = bool if isinstance(number, int) else np.int8
    for scalar in (narrow(1), snp.ones((), narrow)):
        assert function(scalar, number).weak_type
        assert function(number, scalar).weak_type
        assert function(scalar, sagax.jit(lambda v: v)(number)).weak_type
        assert not function(snp.ones(3, narrow), number).weak_type
    assert not function(row, row).weak_type
    assert not function(row, 2).weak_type


def test_complex_logaddexp_is_weak_for_scalars_only():
    assert snp.logaddexp(np.int8(1), 1j).weak_type
    assert not snp.logaddexp(weak(2.5), 1j).weak_type
    assert snp.logaddexp(weak(2.5), 2.5).weak_type


def test_heaviside_goes_by_the_rank_of_its_first_argument():
    row = weak(2.5)[0]
    assert snp.heaviside(np.int8(1), row).weak_type
    assert snp.heaviside(2.5, snp.ones(3, "int8")).weak_type
    assert not snp.heaviside(row, np.int8(1)).weak_type


def test_copysign_is_weak_if_both_arguments_are():
    assert not snp.copysign(weak(2.5), snp.ones((2, 2))).weak_type
    assert not snp.copysign(weak(2.5), np.float32(1)).weak_type
    assert snp.copysign(weak(2.5), 2.5).weak_type


def test_truth_of_weak_arrays_is_not_weak():
    assert not snp.logical_not(weak(2.5)).weak_type
    assert snp.logical_not(2.5).weak_type


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.parametrize("function", ["union1d", "intersect1d", "setxor1d", "setdiff1d"])
def test_sets_of_complex_numbers_are_not_weak(function, dtype):
    x = snp.array([1, 2, 3], dtype)
    for sized in ({}, {"size": 3}, {"size": 0}):
        assert not getattr(snp, function)(x, 1j, **sized).weak_type
    assert not snp.unique(weak(1j)).weak_type
    assert not snp.unique(weak(1j), size=2).weak_type


def test_an_empty_union_ignores_its_fill_value():
    x = snp.array([1, 2, 3])
    assert snp.union1d(x, 2.5, size=0, fill_value=1).weak_type
    assert not snp.union1d(x, 2.5, size=5, fill_value=np.float32(1)).weak_type


def test_complex_bins_are_in_the_order_of_their_parts():
    bins = snp.array([0, 1j, 1])
    assert snp.digitize(snp.array([0.5, 1j]), bins).tolist() == [2, 2]
    assert snp.digitize(snp.array([0.5]), snp.array([1, 1j, 0])).tolist() == [1]


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_an_integral_of_narrow_integers(dtype):
    found = snp.trapezoid(snp.array([0, 1, 1], dtype))
    assert (found.dtype, found.weak_type, found.tolist()) == ("float32", False, 1.5)


@pytest.mark.parametrize("function", [snp.nonzero, snp.argwhere])
@pytest.mark.parametrize("size", [None, 3])
def test_fill_values_are_checked_also_where_nothing_is_filled(function, size):
    x = snp.ones((2, 2), bool)
    wrong = "fill_value tuple must have length equal to number of axes"
    with pytest.raises(ValueError, match=wrong):
        function(x, size=size, fill_value=(1, 2, 3))
    with pytest.raises(ValueError, match=wrong):
        snp.flatnonzero(x, size=size, fill_value=(1, 2))
    assert snp.flatnonzero(x, size=size, fill_value=(1,)).tolist() == [0, 1, 2, 3][:size]


def test_complex_quantiles_are_asked_for_in_vain():
    with pytest.raises(TypeError, match="complex"):
        snp.percentile(snp.array([1, 2, 3]), 1j)
    with pytest.raises(ValueError, match="complex"):
        snp.percentile(snp.array([1j]), 5)


def test_a_deep_copy_of_a_jitted_function_is_one():
    jitted = sagax.jit(lambda x, n: x * n, static_argnums=1)
    for f in (jitted, sagax.jit(jitted, static_argnums=1)):
        before, called = copy.deepcopy(f), f(2, 3)
        after = copy.deepcopy({"f": f})["f"]
        assert before is not f and after is not f
        assert called == before(2, 3) == after(2, 3) == 6
        assert after.lower(2, 3).compile()(2) == 6
    assert copy.deepcopy(sagax.grad(sagax.jit(lambda x: x * x)))(3.0) == 6.0


def test_the_type_of_an_integer_power_is_decided_by_an_array_of_exponents():
    row = weak(3)[0]
    # base, exponent, whether the power is weakly typed
    cases = [
        (3, True, True), (3, snp.asarray(3), True), (row, True, True), (row, snp.asarray(3), True),
        (3, row, False), (row, row, False), (True, snp.asarray(3), False),
        (3, snp.asarray(True), False), (3, snp.asarray([1, 2], np.int32), False),
    ]  # fmt: skip
    found = [(snp.power(x, y).weak_type, snp.power(x, y).dtype.name) for x, y, _ in cases]
    assert found == [(is_weak, "int32") for _, _, is_weak in cases]
