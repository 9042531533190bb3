"""Sparse arrays: each operation equals that on the dense array, for all layouts, jitted and differentiated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import sagax
import sagax.numpy as snp
from sagax import export, lax
from sagax.errors import SagaxError
from sagax.experimental import sparse

RNG = np.random.default_rng(7)
LAYOUTS = [(b, d) for b, d in itertools.product(range(3), range(3)) if b + d <= 3]


def dense_of(shape, density=0.4):
    x = RNG.normal(size=shape).astype(np.float32)
    return np.where(RNG.uniform(size=shape) < density, x, 0).astype(np.float32)


def close(a, b):
    a = a.todense() if isinstance(a, sparse.JAXSparse) else a
    np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=1e-5)


CUBE = dense_of((3, 4, 5))


@pytest.fixture(params=LAYOUTS, ids=lambda p: f"batch{p[0]}-dense{p[1]}")
def cube(request):
    b, d = request.param
    m = sparse.BCOO.fromdense(CUBE, n_batch=b, n_dense=d)
    assert (m.n_batch, m.n_dense, m.n_sparse) == (b, d, 3 - b - d)
    return m


def test_conversions(cube):
    close(cube, CUBE)
    close(sagax.jit(lambda m: m.todense())(cube), CUBE)
    close(cube.sort_indices(), CUBE)
    close(cube.sum_duplicates(), CUBE)
    close(cube.astype(np.float16).astype(np.float32).todense() * 0 + CUBE, CUBE)
    flat = cube.update_layout(n_batch=0, n_dense=0)
    assert flat.n_sparse == 3
    close(flat, CUBE)
    for b, d in LAYOUTS:
        close(cube.update_layout(n_batch=b, n_dense=d, on_inefficient=None), CUBE)
    doubled = sparse.bcoo_concatenate([flat, flat], dimension=0)
    close(doubled, np.concatenate([CUBE, CUBE]))
    twice = (flat + flat).sum_duplicates()
    assert cube.n_dense or twice.nse == int((CUBE != 0).sum())
    close(twice, 2 * CUBE)
    close(
        sparse.bcoo_extract(cube, CUBE * 3),
        np.asarray(CUBE * 3) * (np.asarray(cube._with_data(cube.data * 0 + 1).todense()) != 0),
    )


def test_shapes(cube):
    b, d = cube.n_batch, cube.n_dense
    order = [*range(b), *reversed(range(b, 3 - d)), *range(3 - d, 3)]
    close(cube.transpose(tuple(order)), CUBE.transpose(order))
    close(cube.reshape(4, 15), CUBE.reshape(4, 15))
    close(cube.reshape(3, 2, 2, 5), CUBE.reshape(3, 2, 2, 5))
    close(cube.reshape(-1), CUBE.reshape(-1))
    for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2), (1, 2)):
        close(cube.sum(axes), CUBE.sum(axes))
    close(cube[1], CUBE[1])
    close(cube[:, 2], CUBE[:, 2])
    close(cube[0:2, 1:4:2, -1], CUBE[0:2, 1:4:2, -1])
    close(cube[..., None, 2], CUBE[..., None, 2])
    close(sagax.jit(lambda m, i: m[i])(cube, 2), CUBE[2])
    close(sparse.bcoo_dynamic_slice(cube, [1, 9, 0], [2, 2, 4]), CUBE[1:3, 2:4, 0:4])
    close(
        sparse.bcoo_broadcast_in_dim(cube, shape=(2, 3, 4, 5), broadcast_dimensions=(1, 2, 3)),
        np.broadcast_to(CUBE, (2, 3, 4, 5)),
    )
    for k in range(3):
        close(sparse.bcoo_concatenate([cube, cube], dimension=k), np.concatenate([CUBE, CUBE], k))


def test_elementwise(cube):
    other = dense_of((3, 4, 5))
    close(cube * 2, CUBE * 2)
    close(-cube / 2, -CUBE / 2)
    close(cube * other, CUBE * other)
    close(other * cube, CUBE * other)
    close(cube * other[:, :1], CUBE * other[:, :1])
    close(cube * other[0, 0], CUBE * other[0, 0])
    close(cube + other, CUBE + other)
    close(other - cube, other - CUBE)
    right = sparse.BCOO.fromdense(other)
    close(cube + right, CUBE + other)
    close(cube - right, CUBE - other)
    close(cube * right, CUBE * other)


NUMBERS = [
    (((2,), (0,)), ((), ())),
    (((1,), (1,)), ((), ())),
    (((2,), (1,)), ((0,), (2,))),
    (((0, 2), (2, 1)), ((), ())),
    (((), ()), ((0,), (0,))),
    (((), ()), ((), ())),
    (((0, 1, 2), (0, 1, 2)), ((), ())),
]


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_products(cube, numbers):
    (lc, rc), (lb, rb) = numbers
    sizes = [2, 3, 4]
    for a, b in zip((*lc, *lb), (*rc, *rb), strict=True):
        sizes[b] = CUBE.shape[a]
    other = dense_of(tuple(sizes))
    expected = np.asarray(lax.dot_general(snp.asarray(CUBE), snp.asarray(other), numbers))
    swapped = ((rc, lc), (rb, lb))
    expected_swapped = np.asarray(lax.dot_general(snp.asarray(other), snp.asarray(CUBE), swapped))
    right = sparse.BCOO.fromdense(other)
    close(sparse.bcoo_dot_general(cube, other, dimension_numbers=numbers), expected)
    close(sparse.bcoo_dot_general(other, cube, dimension_numbers=swapped), expected_swapped)
    close(sparse.bcoo_dot_general(cube, right, dimension_numbers=numbers), expected)
    run = sagax.jit(lambda a, b: sparse.bcoo_dot_general(a, b, dimension_numbers=numbers))
    close(run(cube, other), expected)
    close(run(cube, right), expected)


def test_products_have_derivatives():
    a, b = dense_of((4, 5)), dense_of((5, 3))
    m = sparse.BCOO.fromdense(a)

    def loss(m, x):
        return snp.sum(snp.sin(m @ x))

    by_m, by_x = sparse.grad(loss, argnums=(0, 1))(m, snp.asarray(b))
    dense_m, dense_x = sagax.grad(loss, argnums=(0, 1))(snp.asarray(a), snp.asarray(b))
    close(by_x, dense_x)
    close(by_m, np.where(a != 0, dense_m, 0))
    value, again = sparse.value_and_grad(sagax.jit(loss))(m, snp.asarray(b))
    close(value, loss(a, b))
    close(again, by_m.todense())
    rows = sagax.vmap(lambda x: m @ x)(snp.asarray(b.T))
    close(rows, (a @ b).T)
    batch = sparse.BCOO.fromdense(dense_of((2, 4, 5)), n_batch=1)
    close(sagax.vmap(lambda m: m @ b)(batch), batch.todense() @ b)


def test_matmul_takes_all_ranks():
    shapes = [((4, 5), (5,)), ((5,), (5, 3)), ((2, 4, 5), (2, 5, 3)), ((4, 5), (2, 5, 3))]
    shapes += [((2, 4, 5), (5, 3)), ((5,), (5,))]
    for a_shape, b_shape in shapes:
        a, b = dense_of(a_shape, 0.8), dense_of(b_shape, 0.8)
        expected = a @ b
        sparse_a, sparse_b = sparse.BCOO.fromdense(a), sparse.BCOO.fromdense(b)
        close(sparse_a @ b, expected)
        close(a @ sparse_b, expected)
        if len(b_shape) < 3 or len(a_shape) == 3:
            close(sparse_a @ sparse_b, expected)


def test_sampled_products():
    a, b = dense_of((4, 5), 1), dense_of((5, 3), 1)
    at = np.array([[0, 0], [3, 2], [1, 1]])
    numbers = (((1,), (0,)), ((), ()))
    found = sparse.bcoo_dot_general_sampled(a, b, at, dimension_numbers=numbers)
    close(found, (a @ b)[at[:, 0], at[:, 1]])
    a, b = dense_of((2, 4, 5), 1), dense_of((2, 5, 3), 1)
    found = sparse.bcoo_dot_general_sampled(
        a, b, np.stack([at, at]), dimension_numbers=(((2,), (1,)), ((0,), (0,)))
    )
    close(found, (a @ b)[:, at[:, 0], at[:, 1]])


@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR, sparse.COO, sparse.CSR, sparse.CSC])
def test_matrices_of_all_formats(kind):
    a, x, y = dense_of((4, 6)), dense_of((6,), 1), dense_of((6, 2), 1)
    m = kind.fromdense(a)
    assert m.nse == int((a != 0).sum())
    assert kind.__name__ in repr(m)
    for run in (lambda f: f, sagax.jit):
        close(run(lambda m: m.todense())(m), a)
        close(run(lambda m: m @ x)(m), a @ x)
        close(run(lambda m: m @ y)(m), a @ y)
        close(run(lambda m: y.T @ m.T)(m), y.T @ a.T)
        close(run(lambda m: (m.T @ a[:, 0], m * 2, m + m)[0])(m), a.T @ a[:, 0])
    close(m * 2, a * 2)
    close(m - m.todense(), 0 * a)
    assert sagax.tree.structure(m) == sagax.tree.structure(m * 1.0) or kind is sparse.BCOO
    name = kind.__name__.lower()
    for shape, k in (((3, 5), 1), ((5, 3), -2), ((4, 4), 0)):
        close(sparse.eye(*shape, k=k, sparse_format=name), np.eye(*shape, k))
    close(sparse.empty((2, 3), sparse_format=name), np.zeros((2, 3)))


def test_scipy_and_batches_of_rows():
    a = dense_of((4, 6))
    for kind in (sparse.BCOO, sparse.BCSR):
        close(kind.from_scipy_sparse(scipy.sparse.csr_matrix(a)), a)
    stack = dense_of((3, 4, 6))
    m = sparse.BCSR.fromdense(stack, n_batch=1)
    close(m, stack)
    numbers = (((2,), (1,)), ((0,), (0,)))
    other = dense_of((3, 6, 2), 1)
    close(sparse.bcsr_dot_general(m, other, dimension_numbers=numbers), stack @ other)
    close(sparse.bcsr_extract(m.indices, m.indptr, stack), m.data)
    drawn = sparse.random_bcoo(sagax.random.key(0), (3, 20, 10), nse=0.3, n_batch=1)
    assert drawn.nse == 60
    assert int((drawn.todense() != 0).sum()) == 180


def test_sparsify():
    a, x = dense_of((4, 5)), dense_of((5,), 1)
    m = sparse.BCOO.fromdense(a)

    def f(m, x):
        y = snp.sin(m).T * 3
        return (y.sum(1) + x) @ x, snp.concatenate([m, -m], 1), m[1:3].reshape(10), m - m.mean()

    found, expected = sparse.sparsify(f)(m, x), f(snp.asarray(a), x)
    for have, want in zip(found, expected, strict=True):
        close(have, want)
    assert isinstance(found[1], sparse.BCOO)
    jitted = sagax.jit(sparse.sparsify(lambda m, x: sagax.jit(snp.tanh)(m) @ x))
    close(jitted(m, x), np.tanh(a) @ x)
    with pytest.raises(NotImplementedError, match="sparse rule for cos is not implemented"):
        sparse.sparsify(snp.cos)(m)


def test_spsolve_and_its_derivatives():
    a = (dense_of((6, 6)) + 4 * np.eye(6)).astype(np.float32)
    b = dense_of((6,), 1)
    m = sparse.CSR.fromdense(a)

    def solve(data, b):
        return sparse.linalg.spsolve(data, m.indices, m.indptr, b)

    close(solve(m.data, b), np.linalg.solve(a, b))
    close(sagax.jit(solve)(m.data, b), np.linalg.solve(a, b))
    rows, columns = np.nonzero(a)

    def dense_solve(data, b):
        return snp.linalg.solve(snp.zeros((6, 6)).at[rows, columns].set(data), b)

    for k in (0, 1):
        have, want = (
            sagax.grad(lambda *args, f=f: snp.sum(f(*args) ** 2), argnums=k)(m.data, snp.asarray(b))
            for f in (solve, dense_solve)
        )
        np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rank", ["allow", "raise"])
def test_largest_eigenvalues(rank):
    q, _ = np.linalg.qr(RNG.normal(size=(40, 40)))
    values = np.linspace(1, 40, 40) ** 1.5
    a = (q * values) @ q.T
    with sagax.enable_x64(), sagax.numpy_rank_promotion(rank):
        start = snp.asarray(RNG.normal(size=(40, 3)))
        found, vectors, steps = sparse.linalg.lobpcg_standard(snp.asarray(a), start, tol=1e-12)
        np.testing.assert_allclose(found, values[::-1][:3], rtol=1e-9)
        vectors = np.asarray(vectors)
        np.testing.assert_allclose(a @ vectors, vectors * np.asarray(found), atol=1e-4)
        assert 1 <= int(steps) <= 100
    with pytest.raises(SagaxError, match="5"):
        sparse.linalg.lobpcg_standard(snp.eye(4), snp.eye(4)[:, :2])


MISTAKES = {
    "nse of a traced array": (lambda: sagax.jit(sparse.BCOO.fromdense)(CUBE), "nse"),
    "layout": (lambda: sparse.BCOO.fromdense(CUBE).update_layout(n_batch=1), "store more zeros"),
    "mixed": (
        lambda: sparse.BCOO.fromdense(CUBE, n_batch=1).transpose(),
        "mixes batch, sparse and dense",
    ),
    "as numpy": (lambda: np.asarray(sparse.eye(2)), "todense"),
    "format": (lambda: sparse.eye(2, sparse_format="dia"), "'bcoo'"),
    "sizes": (lambda: sparse.eye(2) @ snp.ones(3), "size 2"),
    "index": (lambda: sparse.eye(2)[3], "within the shape"),
    "data": (lambda: sparse.BCOO((snp.ones(3), snp.zeros((2, 1), int)), shape=(4,)), "shape"),
    "indices": (lambda: sparse.BCOO((snp.ones(2), snp.zeros((2, 1))), shape=(4,)), "integers"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    run, message = MISTAKES[mistake]
    with pytest.raises(SagaxError, match=message):
        run()


def test_indices_out_of_bounds_are_padding_and_need_no_order():
    indices = snp.array([[5], [1], [0], [1]])
    m = sparse.BCOO((snp.array([9.0, 1.0, 2.0, 3.0]), indices), shape=(3,))
    assert m.todense().tolist() == [2.0, 4.0, 0.0]
    assert (m @ snp.ones(3)).tolist() == 6.0
    assert float(m.sum()) == 6.0
    assert m.sum_duplicates().data.tolist() == [2.0, 4.0]
    assert m.reshape(3, 1).todense().ravel().tolist() == [2.0, 4.0, 0.0]
    assert m[1:].todense().tolist() == [4.0, 0.0]


# Products by rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [None, 1, 7, 8, 20])
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "int32"])
def test_products_of_rows_in_order(columns, dtype):
    a = np.round(dense_of((12, 9)) * 4).astype(dtype)
    x = np.round(RNG.normal(size=(9,) if columns is None else (9, columns)) * 3).astype(dtype)
    for m in (sparse.BCOO.fromdense(a, nse=80), sparse.BCSR.fromdense(a), sparse.CSR.fromdense(a)):
        np.testing.assert_array_equal(np.asarray(m @ x), a @ x)
        np.testing.assert_array_equal(np.asarray(sagax.jit(lambda m, x: m @ x)(m, x)), a @ x)


def test_derivatives_of_products_of_rows():
    a, x = dense_of((6, 5)), RNG.normal(size=(5, 3)).astype(np.float32)
    m = sparse.BCSR.fromdense(a)

    def loss(data, x):
        return (sparse.BCSR((data, m.indices, m.indptr), shape=a.shape) @ x) ** 2

    g, h = sagax.jacrev(loss, (0, 1))(m.data, x)
    f, k = sagax.jacfwd(loss, (0, 1))(m.data, x)
    np.testing.assert_allclose(g, f, rtol=1e-5)
    np.testing.assert_allclose(h, k, rtol=1e-5)
    want = 2 * (a @ x)[:, :, None, None] * np.einsum("ij,kl->ikjl", a, np.eye(3))
    np.testing.assert_allclose(h, want, rtol=1e-5, atol=1e-6)
    batch = sagax.vmap(lambda x: m @ x)(np.stack([x, 2 * x]))
    np.testing.assert_allclose(batch, [a @ x, 2 * (a @ x)], rtol=1e-5)


def test_indices_out_of_bounds_add_nothing():
    indices = snp.array([[0, 1], [1, 7], [2, 2], [9, 0]])
    m = sparse.BCOO((snp.ones(4), indices), shape=(3, 3), indices_sorted=True)
    np.testing.assert_array_equal(m @ snp.ones((3, 9)), m.todense() @ snp.ones((3, 9)))


# The rest ------------------------------------------------------------------------------------------------


def test_reversed(cube):
    for axes in ((0,), (1,), (2,), (0, 2)):
        close(sparse.bcoo_rev(cube, axes), np.flip(CUBE, axes))
        close(sparse.sparsify(lambda m, axes=axes: snp.flip(m, axes))(cube), np.flip(CUBE, axes))


@pytest.mark.parametrize(
    "options",
    [
        {"window_strides": (1,), "padding": "SAME"},
        {"window_strides": (2,), "padding": [(1, 2)]},
        {"window_strides": (1,), "padding": "VALID", "rhs_dilation": (2,)},
        {"window_strides": (2,), "padding": [(0, 3)], "lhs_dilation": (3,)},
        {"window_strides": (1,), "padding": "VALID", "feature_group_count": 2},
        {"window_strides": (1,), "padding": "SAME", "dimension_numbers": ("NWC", "WIO", "NWC")},
    ],
)
def test_convolutions(options):
    groups, channels_last = options.get("feature_group_count", 1), "dimension_numbers" in options
    x = dense_of((2, 10, 4) if channels_last else (2, 4, 10))
    k = dense_of((3, 4, 6) if channels_last else (6, 4 // groups, 3), 0.7)
    want = lax.conv_general_dilated(x, k, **options)
    sparse_x, sparse_k = sparse.BCOO.fromdense(x), sparse.BCOO.fromdense(k)
    close(sparse.bcoo_conv_general_dilated(sparse_x, sparse_k, **options), want)
    convolve = sparse.sparsify(lambda x, k: lax.conv_general_dilated(x, k, **options))
    close(convolve(sparse_x, k), want)


def test_compressed_rows_are_joined():
    a = dense_of((3, 4))
    m = sparse.BCSR.fromdense(a)
    wide = sparse.bcsr_broadcast_in_dim(m, shape=(2, 3, 4), broadcast_dimensions=(1, 2))
    assert isinstance(wide, sparse.BCSR) and wide.n_batch == 1
    close(wide, np.stack([a, a]))
    close(sparse.bcsr_concatenate([m, m], dimension=0), np.concatenate([a, a]))
    close(sparse.bcsr_concatenate([m, m], dimension=1), np.concatenate([a, a], 1))
    close(sparse.bcsr_sum_duplicates(m), a)
    close(abs(m), np.abs(a))
    close(m**3, a**3)


@pytest.mark.parametrize("jacobian", [sparse.jacfwd, sparse.jacrev, sparse.jacobian])
def test_jacobians(jacobian):
    a, x = dense_of((3, 4)), RNG.normal(size=4).astype(np.float32)
    m = sparse.BCOO.fromdense(a)
    by_m, by_x = jacobian(lambda m, x: m @ x, argnums=(0, 1))(m, x)
    stored = np.einsum("ij,k->ijk", np.eye(3), x) * (a != 0)
    assert by_m.shape == (3, 3, 4)
    close(by_m, stored)
    close(by_x, a)
    found, aux = jacobian(lambda m: ({"sum": m @ x}, 7), has_aux=True)(m)
    assert aux == 7
    close(found["sum"], stored)
    with pytest.raises(NotImplementedError, match="sparse result"):
        jacobian(lambda m: m * 2)(m)


def test_loops_and_branches_of_sparse_arrays():
    a, x = dense_of((4, 4)), RNG.normal(size=4).astype(np.float32)
    m = sparse.BCOO.fromdense(a)
    power = sparse.sparsify(lambda m, x: lax.fori_loop(0, 3, lambda i, c: m @ c, x))
    close(power(m, x), a @ (a @ (a @ x)))
    close(sagax.jit(power)(m, x), a @ (a @ (a @ x)))
    grown = sparse.sparsify(
        lambda m, x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, m @ c[1]), (0, x))
    )
    close(grown(m, x)[1], a @ (a @ (a @ x)))
    chosen = sparse.sparsify(
        lambda m, x: lax.cond(x[0] > 0, lambda m: m @ x, lambda m: 2 * (m @ x), m)
    )
    close(chosen(m, x), a @ x if x[0] > 0 else 2 * (a @ x))


def test_wasteful_layouts_are_told():
    m = sparse.BCOO.fromdense(dense_of((3, 4)))
    with pytest.raises(sparse.SparseEfficiencyError, match="more zeros"):
        m.update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning):
        assert repr(m.update_layout(n_batch=1, on_inefficient="warn")).endswith("n_batch=1)")


def test_modules_have_the_names_of_jax():
    from sagax.experimental.sparse import bcoo, bcsr, coo, csr, util

    assert bcoo.bcoo_rev is sparse.bcoo_rev and bcsr.BCSR is sparse.BCSR
    assert coo.COO is sparse.COO and csr.CSC is sparse.CSC
    info = util.SparseInfo((2, 2), True, True)
    assert sparse.eye(2)._info == info


# products with many elements in each row ----------------------------------------------------------------


@pytest.mark.parametrize(("rows", "count"), [(3, 900), (40, 100)])
def test_products_of_long_rows(rows, count):
    rng = np.random.default_rng(rows)
    # some elements lie beyond the last row or column: padding
    at = np.sort(rng.integers(0, rows + 1, count)).astype(np.int32)
    columns = rng.integers(0, 8, count).astype(np.int32)
    columns = columns[np.lexsort((columns, at))]  # in order within each row
    data = rng.normal(size=count).astype(np.float32)
    inside = (at < rows) & (columns < 7)
    dense = np.zeros((rows, 7))
    np.add.at(dense, (at[inside], columns[inside]), data[inside])
    indices = snp.stack([at, columns], 1)

    def matrix(data):
        return sparse.BCOO((data, indices), shape=(rows, 7), indices_sorted=True)

    near = {"rtol": 1e-4, "atol": 1e-3}
    for x in (rng.normal(size=7).astype("float32"), rng.normal(size=(7, 2)).astype("float32")):
        w = rng.normal(size=np.shape(dense @ x)).astype("float32")
        product = sagax.jit(lambda data, x: matrix(data) @ x)
        np.testing.assert_allclose(product(data, x), dense @ x, **near)
        loss = lambda d, x, w: ((matrix(d) @ x) * w).sum()  # noqa: E731
        of_data, of_x = sagax.jit(sagax.grad(loss, (0, 1)))(data, x, w)
        np.testing.assert_allclose(of_x, dense.T @ w, **near)
        both = (
            w.reshape(rows, -1)[np.minimum(at, rows - 1)] * x.reshape(7, -1)[np.minimum(columns, 6)]
        )
        np.testing.assert_allclose(of_data, np.where(inside, both.sum(1), 0), **near)
        batched = sagax.vmap(lambda s: matrix(data) @ (s * x))(snp.arange(3.0))  # noqa: B023
        np.testing.assert_allclose(batched[2], 2 * (dense @ x), **near)


@pytest.mark.parametrize(
    ("indices", "declared", "words"),
    [
        ([[0, 5], [1, 1]], {}, r"indices\[..., 0, :\] must be indices below the shape \(3, 3\)"),
        ([[2, 0], [0, 1]], {"indices_sorted": True}, r"got \(0, 1\) after \(2, 0\)"),
        ([[0, 1], [0, 1]], {"unique_indices": True}, "distinct indices"),
    ],
)
def test_checks_of_indices(indices, declared, words):
    data, indices = snp.ones(2), snp.array(indices)
    with sagax.enable_checks(False):
        sparse.BCOO((data, indices), shape=(3, 3), **declared)  # as in jax
    with sagax.enable_checks(True):
        with pytest.raises(ValueError, match=words):
            sparse.BCOO((data, indices), shape=(3, 3), **declared)
        padded = snp.array([[0, 1], [3, 3]])
        found = sparse.BCOO((data, padded), shape=(3, 3), indices_sorted=True, unique_indices=True)
        assert found.todense().sum() == 1


def test_padding_that_loses_its_mark_is_not_said_to_be_unique():
    ones = snp.ones((3, 4), np.float32)
    batches = sparse.BCOO.fromdense(CUBE, n_batch=2)[
        ..., 2
    ]  # three stored elements each, of no index
    close(batches, CUBE[..., 2])
    close(sparse.bcoo_extract(batches, ones), ones)
    parts = (
        snp.array([1.0, 2.0]),
        snp.array([[0, 0], [0, 1]]),
    )  # the second is padding by its column
    column = sparse.BCOO(parts, shape=(2, 1), unique_indices=True)
    row = sparse.bcoo_squeeze(column, dimensions=(1,))
    close(row, [1, 0])
    close(sparse.bcoo_extract(row, ones[0, :2]), [1, 0])


@pytest.mark.parametrize("name", ["bcoo", "bcsr", "csr", "csc", "coo"])
def test_arrays_that_store_nothing_pass_the_checks(name):
    with sagax.enable_checks(True):
        close(sparse.empty((2, 3), sparse_format=name), np.zeros((2, 3)))


def _gradients_by_stored_elements(data, indices, x):
    """Return the derivatives of `sin(m @ x).sum()` by the stored elements and by `x`, in NumPy."""
    dense = np.zeros((3, len(x)), np.float32)
    np.add.at(dense, tuple(indices.T), data)
    c = np.cos(dense @ x)
    by_data = [(c[i] * x[j]).sum() for i, j in indices]
    return np.array(by_data, np.float32), dense.T @ c


def _stored(count, rows):
    rng = np.random.default_rng(1)
    indices = np.stack([rng.integers(0, 3, count), rng.integers(0, rows, count)], 1)
    return rng.normal(size=count).astype(np.float32), indices.astype(np.int32)


@pytest.mark.parametrize(("count", "columns"), [(0, 2), (5, 0), (0, 0), (5, 1)])
def test_gradients_of_products_with_empty_arrays(count, columns):
    data, indices = _stored(count, 4)
    x = np.random.default_rng(2).normal(size=(4, columns)).astype(np.float32)

    def loss(data, x):
        return snp.sin(sparse.BCOO((data, indices), shape=(3, 4)) @ x).sum()

    for slopes in (sagax.grad(loss, (0, 1)), sagax.jit(sagax.grad(loss, (0, 1)))):
        for got, expected in zip(
            slopes(data, x), _gradients_by_stored_elements(data, indices, x), strict=True
        ):
            close(got, expected)


@pytest.mark.parametrize(("count", "columns"), [(5, 2), (1, 3), (4, 1)])
def test_gradients_of_products_of_symbolic_sizes(count, columns):
    n, k = export.symbolic_shape("n, k")

    def loss(data, indices, x):
        return snp.sin(sparse.BCOO((data, indices), shape=(3, 4)) @ x).sum()

    shapes = [((n,), np.float32), ((n, 2), np.int32), ((4, k), np.float32)]
    e = export.export(sagax.jit(sagax.grad(loss, (0, 2))))(
        *[sagax.ShapeDtypeStruct(*s) for s in shapes]
    )
    data, indices = _stored(count, 4)
    x = np.random.default_rng(2).normal(size=(4, columns)).astype(np.float32)
    for got, expected in zip(
        e.call(data, indices, x), _gradients_by_stored_elements(data, indices, x), strict=True
    ):
        close(got, expected)


_SYMBOLIC = {
    "vector": lambda m, x: m @ x,
    "columns": lambda m, x: m @ snp.stack([x, 2 * x], 1),
    "transposed": lambda m, x: m.T @ x,
    "from the left": lambda m, x: x @ m,
    "slope": lambda m, x: sagax.grad(lambda x: snp.sum((m @ x) ** 2))(x),
    "times": lambda m, x: m * x,
    "sum": lambda m, x: (m + m) @ x,
    "in order": lambda m, x: m.sort_indices() @ x,
}


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        *itertools.product(["BCOO", "sorted BCOO"], _SYMBOLIC),
        *itertools.product(["BCSR"], ["vector", "columns"]),
    ],
)
def test_operations_of_symbolic_sizes(layout, name):
    """All sizes are known by the call only: the side, and the number of stored elements."""
    f, dense = _SYMBOLIC[name], dense_of((6, 6))
    n, m = export.symbolic_shape("n, m")

    def of_parts(data, indices, ends, x):
        shape = (x.shape[0], x.shape[0])
        if layout == "BCSR":
            return f(sparse.BCSR((data, indices, ends), shape=shape), x)
        ordered = layout == "sorted BCOO"
        matrix = sparse.BCOO(
            (data, indices), shape=shape, indices_sorted=ordered, unique_indices=ordered
        )
        out = f(matrix, x)
        return out.todense() if isinstance(out, sparse.JAXSparse) else out

    made = (sparse.BCSR if layout == "BCSR" else sparse.BCOO).fromdense(dense)
    x = np.arange(6, dtype=np.float32)
    ends = np.asarray(made.indptr) if layout == "BCSR" else np.arange(7, dtype=np.int32)
    columns = () if layout == "BCSR" else (2,)
    specs = [((n,), "float32"), ((n, *columns), "int32"), ((m + 1,), "int32"), ((m,), "float32")]
    e = export.export(sagax.jit(of_parts))(*[sagax.ShapeDtypeStruct(*s) for s in specs])
    expected = {
        "vector": dense @ x,
        "columns": dense @ np.stack([x, 2 * x], 1),
        "transposed": dense.T @ x,
        "from the left": x @ dense,
        "slope": 2 * dense.T @ (dense @ x),
        "times": dense * x,
        "sum": 2 * dense @ x,
        "in order": dense @ x,
    }[name]
    close(e.call(made.data, made.indices, ends, x), expected)


_ROW_LENGTHS = {
    "even": [40] * 30,
    "one long": [3] * 10 + [600] + [0] * 19,
    "long ones at the ends": [300, *[0] * 28, 300],
    "few": [1, 0, 2] * 10,
    "many": [70, 90, 60, 100, 65, 80, 75, 400],
    "all in the last": [0] * 29 + [500],
}


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "bfloat16", "bool"])
@pytest.mark.parametrize("lengths", list(_ROW_LENGTHS))
def test_rows_of_all_lengths_by_a_vector(lengths, dtype):
    """Windows hold a row of mean length; what longer ones hold beyond is not lost, nor counted twice."""
    counts = np.array(_ROW_LENGTHS[lengths])
    rng = np.random.default_rng(len(lengths))
    size = 700
    rows = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    columns = np.concatenate([np.sort(rng.permutation(size)[:c]) for c in counts]).astype(np.int32)
    data = rng.integers(-2, 3, len(rows)).astype(dtype)
    x = rng.integers(-2, 3, size).astype(dtype)
    dense = np.zeros((len(counts), size), dtype)
    dense[rows, columns] = data
    wide = dense.astype("float64" if dtype == "bfloat16" else dense.dtype)
    expected = wide @ x.astype(wide.dtype)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    order = {"indices_sorted": True, "unique_indices": True}
    # elements before the first row, behind the last one, and of columns that do not exist
    more = np.array([[-1, 2], [len(counts), 1]], np.int32)
    padded = np.concatenate([more[:1], np.stack([rows, columns], -1), more[1:]])
    beyond = np.where(columns == columns[0], size + 3, columns)
    without = wide.copy()
    without[:, columns[0]] = 0
    one = np.ones(1, dtype)
    matrices = [
        (sparse.BCSR((data, columns, starts), shape=dense.shape), expected),
        (sparse.BCOO((data, np.stack([rows, columns], -1)), shape=dense.shape, **order), expected),
        (sparse.BCOO((np.concatenate([one, data, one]), padded), shape=dense.shape, **order), expected),
        (sparse.BCSR((data, beyond, starts), shape=dense.shape), without @ x.astype(wide.dtype)),
    ]  # fmt: skip
    for matrix, product in matrices:
        found = sagax.jit(lambda m, x: m @ x)(matrix, snp.asarray(x))
        assert found.dtype == snp.asarray(x).dtype
        np.testing.assert_array_equal(np.asarray(found).astype(product.dtype), product)
    matrix = matrices[1][0]
    if dtype == "float32":
        stack = snp.stack([snp.asarray(x), 2 * snp.asarray(x)])
        both = sagax.vmap(lambda x: matrix @ x)(stack)
        np.testing.assert_array_equal(both, [expected, 2 * expected])
        weights = rng.integers(-2, 3, len(counts)).astype(dtype)
        slope = sagax.jit(sagax.grad(lambda x: weights @ (matrix @ x)))(snp.asarray(x))
        np.testing.assert_array_equal(slope, weights @ dense)
        of_data = sagax.grad(lambda d: weights @ (matrix._with_data(d) @ x))(snp.asarray(data))
        np.testing.assert_array_equal(of_data, weights[rows] * x[columns])
