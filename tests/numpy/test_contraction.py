"""Products of vectors, matrices and more, Einstein's notation, norms; sets and choices by masks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numpy_rest_cases as rest
import sagax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array


@pytest.mark.parametrize("section", ["products", "einsum", "linalg", "choice"])
def test_as_recorded(section, oracle_data):
    lines = rest.sections()[section]
    recorded = oracle_data("numpy_rest")["values"]
    wrong = rest.differences(sagax, Array, trees.leaves, lines, recorded)
    assert not wrong, "\n".join(wrong)


def close(found, expected, tolerance=1e-5):
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


def floats(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


SIZES = {"a": 1, "b": 2, "c": 3, "d": 4}


@st.composite
def equations(draw):
    """Subscripts, shapes of operands; perhaps with a diagonal, a size 1 that stretches, and dots."""
    terms = draw(
        st.lists(st.text("abcd", min_size=0, max_size=3), min_size=1, max_size=3).filter(any)
    )
    used = sorted(set("".join(terms)))
    result = "".join(draw(st.permutations(used)))[: draw(st.integers(0, len(used)))]
    dots = draw(st.booleans())
    shapes = []
    for i, term in enumerate(terms):
        shape = [SIZES[c] for c in term]
        if dots:
            shape = [3, 1 + i % 2, *shape][draw(st.integers(0, 1)) :]
        shapes.append(tuple(shape))
    if dots:
        terms, result = [f"...{t}" for t in terms], f"...{result}"
    arrow = draw(st.sampled_from([f"->{result}", f"->{result}", ""]))
    return ",".join(terms) + arrow, shapes


@settings(max_examples=60)
@given(equation=equations())
def test_einsum(equation):
    text, shapes = equation
    operands = [floats(*s) for s in shapes]
    expected = np.einsum(text, *[x.astype(np.float64) for x in operands])
    close(snp.einsum(text, *operands), expected)


@pytest.mark.parametrize("optimize", [False, True, "greedy", "optimal", [(0, 2), (0, 1)]])
def test_order_of_contraction(optimize):
    x, y, z = floats(2, 3), floats(3, 4), floats(2, 4)
    expected = np.einsum("ij,jk,ik->jk", x, y, z)
    close(snp.einsum("ij,jk,ik->jk", x, y, z, optimize=optimize), expected)


def test_the_cheapest_order_is_taken():
    x, y, z = floats(50, 2), floats(2, 50), floats(50, 1)
    assert snp.einsum_path("ij,jk,kl->il", x, y, z)[0] == [(1, 2), (0, 1)]
    jaxpr = sagax.make_jaxpr(lambda *v: snp.linalg.multi_dot(v))(x, y, z)
    assert [e.outvars[0].aval.shape for e in jaxpr.eqns][-1] == (50, 1)
    assert not any(e.outvars[0].aval.shape == (50, 50) for e in jaxpr.eqns)


MATRICES = [((4,), (4,)), ((2, 4), (4,)), ((4,), (4, 3)), ((2, 4), (4, 3)), ((5, 2, 4), (4, 3)),
            ((2, 4), (5, 4, 3)), ((5, 1, 2, 4), (3, 4, 2)), ((1, 2, 4), (1, 4, 3)), ((4,), (5, 4, 3)),
            ((5, 2, 4), (4,)), ((2, 0), (0, 3)), ((0, 2, 4), (4, 3))]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), MATRICES)
@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "bool"])
def test_matmul(left, right, dtype):
    x, y = (
        (floats(*s) * 3).astype(dtype) + (1j * floats(*s)[..., ::-1] if dtype == "complex64" else 0)
        for s in (left, right)
    )
    x, y = x.astype(dtype), y.astype(dtype)
    found, expected = snp.matmul(x, y), np.matmul(x, y)
    assert found.dtype == dtype
    close(found, expected, 1e-4)
    if len(left) > 1:
        close(snp.dot(x, y), np.dot(x, y), 1e-4)
    if dtype != "bool":
        close(snp.kron(x, y), np.kron(x, y), 1e-4)
        close(snp.outer(x, y), np.outer(x, y), 1e-4)


@pytest.mark.parametrize(("left", "right"), [((3,), (3,)), ((5, 3), (3,)), ((5, 1, 3), (4, 3))])
def test_vectors_in_arrays(left, right):
    x, y = (floats(*s) + 1j * floats(*s)[..., ::-1] for s in (left, right))
    x, y = x.astype(np.complex64), y.astype(np.complex64)
    close(snp.vecdot(x, y), np.vecdot(x, y))
    close(snp.cross(x, y), np.cross(x, y))
    m = (floats(3, 3) + 1j).astype(np.complex64)
    close(snp.matvec(m, x), np.matvec(m, x))
    close(snp.vecmat(x, m), np.vecmat(x, m))


@pytest.mark.own_promotion("dtype")
def test_element_types():
    x = np.array([100, 100], np.int8)
    assert int(snp.dot(x, x, preferred_element_type="int32")) == 20_000
    assert snp.dot(x, x).dtype == "int8"
    y = snp.full((2048,), 1.0, "bfloat16")
    assert float(snp.dot(y, y, preferred_element_type="float32")) == 2048
    jaxpr = sagax.make_jaxpr(lambda a, b: a @ b)(
        np.ones((2, 2), np.int8), np.ones((2, 2), np.float32)
    )
    assert [e.primitive.name for e in jaxpr.eqns] == ["dot_general"]


def test_precision():
    jaxpr = sagax.make_jaxpr(lambda x: snp.matmul(x, x, precision="highest"))(floats(2, 2))
    assert "precision=(HIGHEST, HIGHEST)" in str(jaxpr)
    with sagax.default_matmul_precision("float32"):
        assert "HIGHEST" in str(sagax.make_jaxpr(lambda x: snp.einsum("ij,jk", x, x))(floats(2, 2)))


@pytest.mark.parametrize("offset", range(-4, 5))
def test_diagonals(offset):
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for axes in ((0, 1), (1, 2), (2, 0)):
        close(snp.diagonal(x, offset, *axes), np.diagonal(x, offset, *axes))
        close(snp.trace(x, offset, *axes), np.trace(x, offset, *axes))
    y = floats(3, 3)
    gradient = sagax.grad(lambda y: snp.trace(y, offset))(y)
    close(gradient, np.eye(3, k=offset, dtype=np.float32))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (1, 6), (6, 2)])
def test_convolution(sizes, mode):
    a, v = (floats(n) + 1j * floats(n)[::-1] for n in sizes)
    a, v = a.astype(np.complex64), v.astype(np.complex64)
    close(snp.convolve(a, v, mode), np.convolve(a, v, mode))
    close(snp.correlate(a, v, mode), np.correlate(a, v, mode))
    ours = sagax.grad(lambda x: snp.convolve(x, v.real, mode)[0])(a.real)
    theirs = [np.convolve(np.eye(len(a))[i], v.real, mode)[0] for i in range(len(a))]
    close(ours, theirs)


def test_polynomials():
    p, q = np.array([1, 5, 6, 0.5], np.float32), np.array([2, 1], np.float32)
    for name in ("polyadd", "polysub", "polymul"):
        close(getattr(snp, name)(p, q), getattr(np, name)(p, q))
    quotient, remainder = snp.polydiv(p, q)
    close(quotient, np.polydiv(p, q)[0])
    close(remainder[-1:], np.polydiv(p, q)[1])
    for m in range(4):
        close(snp.polyder(p, m), np.polyder(p, m))
        close(snp.polyint(p, m, 1.5), np.polyint(p, m, 1.5))
    close(snp.poly(np.array([1.0, 2.0, -1.5])), np.poly([1.0, 2.0, -1.5]))
    close(snp.vander(p, 3, increasing=True), np.vander(p, 3, increasing=True))


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, -1, -2, 0.5, np.inf, -np.inf])
def test_norms_of_vectors(order):
    x = floats(4, 3)
    close(snp.linalg.norm(x, order, axis=1), np.linalg.norm(x, order, axis=1))
    z = (x + 1j * x[::-1]).astype(np.complex64)
    close(
        snp.linalg.norm(z, order, axis=0, keepdims=True),
        np.linalg.norm(z, order, axis=0, keepdims=True),
    )


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [(0, 1), (2, 0), (-1, 1)])
def test_norms_of_matrices(order, axis):
    x = floats(2, 3, 4)
    close(snp.linalg.norm(x, order, axis), np.linalg.norm(x, order, axis))
    close(snp.linalg.norm(x, order, axis, True), np.linalg.norm(x, order, axis, True))


# sets and masks -----------------------------------------------------------------------------------

VECTORS = st.lists(st.integers(-3, 3), max_size=8).map(lambda v: np.array(v, np.int32))
FEW = st.sampled_from([0, 1, 5])


def filled(values, size, fill):
    """The first `size` of `values`, then `fill`."""
    return np.concatenate([values, np.full(size, fill, values.dtype)])[:size]


@settings(max_examples=60)
@given(x=VECTORS, y=VECTORS, size=FEW)
def test_sets(x, y, size):
    for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d"):
        expected = getattr(np, name)(x, y)
        close(getattr(snp, name)(x, y), expected)
        close(getattr(snp, name)(x, y, size=size, fill_value=9), filled(expected, size, 9))
    close(snp.isin(x, y), np.isin(x, y))
    close(snp.isin(x, y, invert=True), np.isin(x, y, invert=True))
    values, *rest_ = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for a, b in zip(snp.unique(x, True, True, True), (values, *rest_)):
        close(a, b)
    if len(x):
        found = snp.unique(x, True, True, True, size=size, fill_value=9)
        index, inverse, counts = rest_
        close(found[0], filled(values, size, 9))
        close(found[1], filled(index, size, index[0]))
        close(found[2], inverse)
        close(found[3], filled(counts, size, 0))


@settings(max_examples=15)
@given(seed=st.integers(0, 99), axis=st.sampled_from([0, 1]), size=st.sampled_from([2, 4]))
def test_distinct_rows(seed, axis, size):
    x = np.random.default_rng(seed).integers(0, 2, (3, 2)).astype(np.int32)
    expected, index = np.unique(x, return_index=True, axis=axis)
    close(snp.unique(x, axis=axis), expected)
    found = snp.unique(x, return_index=True, axis=axis, size=size, fill_value=9)
    moved = np.moveaxis(expected, axis, 0)
    rows = np.concatenate([moved, np.full((size, *moved.shape[1:]), 9)])[:size]
    close(found[0], np.moveaxis(rows, 0, axis))
    close(found[1], filled(index, size, index[0]))


@settings(max_examples=40)
@given(x=VECTORS, size=FEW)
def test_positions(x, size):
    for a in (x, x[: len(x) // 2 * 2].reshape(2, -1)):
        places = np.nonzero(a)
        for found, expected in zip(snp.nonzero(a), places):
            close(found, expected)
        for found, expected in zip(snp.nonzero(a, size=size, fill_value=-5), places):
            close(found, filled(expected, size, -5))
        close(snp.argwhere(a), np.argwhere(a))
        close(snp.flatnonzero(a, size=size), filled(np.flatnonzero(a), size, 0))
        close(snp.extract(a > 0, a), np.extract(a > 0, a))
        few = min(size, a.size)
        close(snp.extract(a > 0, a, size=few, fill_value=7), filled(np.extract(a > 0, a), few, 7))
    if len(x):
        placed = x.copy()
        np.place(placed, x > 0, [10, 20, 30])
        close(snp.place(x, x > 0, np.array([10, 20, 30]), inplace=False), placed)


@settings(max_examples=30)
@given(
    bits=st.lists(st.integers(0, 1), min_size=1, max_size=20),
    order=st.sampled_from(["big", "little"]),
)
def test_bits(bits, order):
    x = np.array(bits, np.int32)
    packed = np.packbits(x.astype(bool), bitorder=order)
    close(snp.packbits(x, bitorder=order), packed)
    close(snp.unpackbits(packed, bitorder=order), np.unpackbits(packed, bitorder=order))
    close(snp.unpackbits(packed, count=len(bits), bitorder=order), x)
    matrix = np.stack([packed, ~packed])
    close(snp.unpackbits(matrix, axis=0), np.unpackbits(matrix, axis=0))


def test_fill_diagonal():
    for shape, value in [((3, 5), 7), ((4, 4), [1, 2]), ((3, 3, 3), 7), ((2, 3), [1, 2, 3])]:
        x = np.zeros(shape, np.float32)
        expected = x.copy()
        np.fill_diagonal(expected, value)
        close(snp.fill_diagonal(x, np.asarray(value, np.float32), inplace=False), expected)


# operands -----------------------------------------------------------------------------------------


# some sums of complex numbers have a real dtype
@pytest.mark.filterwarnings("ignore:Casting complex values to real:numpy.exceptions.ComplexWarning")
def test_numpy_arrays_are_taken_everywhere(oracle_data):
    """Every recorded call gives the same with NumPy's arrays as operands, but for weak types."""
    scope = rest.names(sagax)
    arrays = {name: np.asarray(x) for name, x in scope.items() if isinstance(x, Array) and x.ndim}
    narrow = {"float64": "float32", "int64": "int32", "complex128": "complex64"}

    def arr(x, dtype=None):
        if dtype is not None:
            return np.asarray(snp.array(x, dtype))
        x = np.array(x)
        return x.astype(narrow.get(str(x.dtype), x.dtype))

    scope |= arrays | {
        "arr": arr, "ones": lambda s: np.ones(s, "float32"), "zeros": lambda s: np.zeros(s, "float32"),
        "arange": lambda *a: arr(np.arange(*a)),
    }  # fmt: skip
    recorded = oracle_data("numpy_rest")["values"]
    calls = rest.sections()
    left_out = rest.refused(sagax) | set(rest.DIFFERENT)
    wrong = []
    for section in ("shaping", "reductions", "products", "sorting", "choice"):
        for line in calls[section]:
            if line in left_out or isinstance(recorded[line], str):
                continue
            found = [rest._leaf(x, Array) for x in trees.leaves(eval(line, dict(scope)))]
            found, expected = (
                [[k.rstrip("*"), *r] for k, *r in v] for v in (found, recorded[line])
            )
            if not rest._same(found, expected):
                wrong.append(f"{line}\n  expected {expected}\n  found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: snp.sum([1, 2]), TypeError, "fix: make it an array first"),
        (lambda x: snp.concatenate([[1], x]), TypeError, "at position 0 of the sequence"),
        (lambda x: snp.sum(x, out=x), NotImplementedError, "arrays are immutable"),
        (lambda x: snp.sum(x, axis=2), ValueError, r"sum: argument axis .* \(-2 to 1\); got 2"),
        (lambda x: snp.max(x[:0]), ValueError, "fix: give a value for this case: initial="),
        (lambda x: snp.reshape(x, (4, 3)), TypeError, r"\(2, 3\) \(size 6\) into shape \(4, 3\)"),
        (lambda x: snp.split(x, 2, 1), ValueError, "fix: array_split allows"),
        (lambda x: snp.dot(x, x), TypeError, "size 3 .axis 1 of the first. and size 2"),
        (lambda x: snp.einsum("ij,jk", x, x), ValueError, "label 'j' has size 3 in operand 0"),
        (lambda x: snp.vstack([x, x[0, :2]]), TypeError, "^vstack: "),
        (lambda x: sagax.jit(snp.unique)(x), TypeError, "fix: give size="),
        (lambda x: sagax.jit(snp.nonzero)(x), TypeError, "fix: give size="),
        (lambda x: sagax.jit(lambda r: snp.repeat(x, r))(3), TypeError, "total_repeat_length"),
        (lambda x: sagax.jit(lambda a: snp.sum(x, a))(0), TypeError, "axis argument to jnp.sum"),
        (lambda x: snp.quantile(x, 0.5, method="q"), ValueError, "'hazen'"),
        (lambda x: snp.pad(x, 1, "foo"), NotImplementedError, "'symmetric'"),
        (lambda x: snp.cross(x[0, :2], x[0, :2]), ValueError, "third component"),
        (lambda x: snp.place(x, x, x), ValueError, "inplace=False"),
    ],
)
def test_errors_say_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call(snp.ones((2, 3)))


@pytest.mark.parametrize(
    "shape, labels",
    [((1, 5), "kk"), ((5, 1), "kk->k"), ((1, 5, 2), "iji->j"), ((2, 1, 3), "...ii")],
)
def test_the_diagonal_of_einsum_does_not_broadcast(shape, labels):
    with pytest.raises(ValueError):  # the reference
        np.einsum(labels, np.ones(shape))
    with pytest.raises(ValueError, match="for collapsing index"):
        snp.einsum(labels, snp.ones(shape))
