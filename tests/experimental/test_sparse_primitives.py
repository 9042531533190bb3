"""The primitives of sparse arrays, against jax (tests/oracle/sparse_primitives.py records it)."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
import sparse_cases
from sagax._src.transforms import transpose
from sagax.experimental import sparse
from sagax.interpreters import batching

DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "sparse_primitives.json").read_text()
)
FUNCTIONS = sparse_cases.functions(snp, sparse)
BINDS = sparse_cases.binds(snp, sparse)
NAMES = sorted(n for n in dir(sparse) if n.endswith("_p"))


def test_all_primitives_are_tested():
    assert {n.removesuffix("_p") for n in NAMES} == {*BINDS, "todense"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jaxprs(name):
    fun, *args = FUNCTIONS[name]
    assert sparse_cases.equations(sagax.make_jaxpr(fun)(*args)) == DATA["jaxprs"][name]


@pytest.mark.parametrize("name", BINDS)
def test_binds(name):
    args, params = BINDS[name]
    if "index_dtype" in params:
        params = {**params, "index_dtype": np.dtype(params["index_dtype"])}
    p = getattr(sparse, f"{name}_p")
    for bind in (lambda *xs: p.bind(*xs, **params), sagax.jit(lambda *xs: p.bind(*xs, **params))):
        out = bind(*args)
        outs = out if p.multiple_results else [out]
        expected = [np.array(values, dtype) for dtype, values in DATA["binds"][name]]
        assert [(x.dtype, x.shape) for x in outs] == [(e.dtype, e.shape) for e in expected]
        if name == "bcoo_spdot_general":  # here sorted, and padding at the end
            outs, expected = [[_dense(*x)] for x in (outs, expected)]
        for x, e in zip(outs, expected, strict=True):
            np.testing.assert_array_equal(x, e)


def _dense(data, indices):
    return sparse.BCOO((data, indices), shape=(2, 2)).todense()


def test_sparsify_sees_where_arrays_become_dense():
    m = sparse.BCOO.fromdense(snp.array(sparse_cases.MATRIX))
    found = sparse.sparsify(lambda m, x: snp.cos(sparse.todense(m)) + x)(m, snp.ones((2, 3)))
    np.testing.assert_allclose(found, np.cos(sparse_cases.MATRIX) + 1, rtol=1e-6)


def test_rules_of_libraries_are_used():
    p = sparse.bcoo_todense_p
    m = sparse.BCOO.fromdense(snp.stack([snp.eye(2), 2 * snp.eye(2)]), n_batch=1)
    before = p.batch_rule
    calls = []

    def rule(args, dims, *, spinfo):
        calls.append(dims)
        return p.bind(*args, spinfo=spinfo._replace(shape=(2, *spinfo.shape))), 0

    try:
        batching.primitive_batchers[p] = rule
        found = sagax.vmap(lambda m: m.todense())(m)
    finally:
        p.batch_rule = before
    assert [tuple(dims) for dims in calls] == [(0, 0)]
    np.testing.assert_array_equal(found, m.todense())


def test_explicit_shardings_pass():
    mesh = sagax.make_mesh((1,), ("x",), axis_types=(sagax.sharding.AxisType.Explicit,))
    m = sparse.BCOO.fromdense(snp.array(sparse_cases.MATRIX))
    m = sparse.BCOO((m.data, m.indices), shape=m.shape)  # rows in any order
    with sagax.set_mesh(mesh):
        x = sagax.device_put(snp.ones((3, 2)), sagax.sharding.PartitionSpec(None, "x"))
        out = sagax.jit(lambda m, x: m @ x)(m, x)
    np.testing.assert_array_equal(out, np.array(sparse_cases.MATRIX) @ np.ones((3, 2)))


def test_sum_duplicates_removes_zeros():
    data, indices = snp.array([0.0, 1.0, 0.0]), snp.array([[0], [1], [1]])
    m = sparse.BCOO((data, indices), shape=(3,))
    assert m.sum_duplicates().indices.tolist() == [[1]]
    assert m.sum_duplicates(remove_zeros=False).indices.tolist() == [[0], [1]]
    assert sparse.bcoo_sum_duplicates(m).indices.tolist() == [[0], [1]]
    assert m.sum_duplicates(nse=3).indices.tolist() == [[1], [3], [3]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda d: sparse.CSR((d, np.array([0, 7]), np.array([0, 1, 2])), shape=(2, 3)),
            r"CSR: argument indices\[1\] must be columns below 3; got 7",
        ),
        (
            lambda d: sparse.CSC((d, np.array([0, 2]), np.array([0, 1, 1, 2])), shape=(2, 3)),
            r"CSC: argument indices\[1\] must be rows below 2; got 2",
        ),
        (
            lambda d: sparse.BCSR((d, np.array([0, 1]), np.array([0, 5, 1])), shape=(2, 3)),
            r"BCSR: argument indptr\[2\] must be pointers that rise from 0 to at most 2; got 1",
        ),
        (
            lambda d: sparse.CSR((d, np.array([0, 1]), np.array([1, 1, 2])), shape=(2, 3)),
            r"CSR: argument indptr\[0\] must be .*; got 1",
        ),
        (
            lambda d: sparse.COO((d, np.array([0, 7]), np.array([0, 1])), shape=(2, 3)),
            r"COO: argument row\[1\] must be below 2, or equal for padding; got 7",
        ),
        (
            lambda d: sparse.COO(
                (d, np.array([1, 0]), np.array([0, 1])), shape=(2, 3), rows_sorted=True
            ),
            r"COO: argument row\[1\] must be in order, as rows_sorted=True says; got 0 after 1",
        ),
    ],
)
def test_indices_are_checked(make, message):
    data = snp.ones(2)
    with sagax.enable_checks(False):
        make(data)  # as in jax, without a word
    with sagax.enable_checks(True), pytest.raises(ValueError, match=message):
        make(data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda d: sparse.CSR((d, np.array([0, 1]), np.array([0, 2])), shape=(2, 3)),
            "CSR: argument indptr must be 3 integers",
        ),
        (
            lambda d: sparse.CSC((d, np.array([0, 1]), np.array([0, 2])), shape=(2, 3)),
            "CSC: argument indptr must be 4 integers",
        ),
        (
            lambda d: sparse.COO((d, np.array([0]), np.array([0, 1])), shape=(2, 3)),
            "COO: argument row must be 2 integers",
        ),
        (
            lambda d: sparse.coo_matvec(sparse.COO.fromdense(np.eye(2)), np.ones(3)),
            "coo_matvec: argument v must be a vector of 2 rows",
        ),
        (
            lambda d: sparse.csr_matmat(sparse.CSR.fromdense(np.eye(2)), np.ones(2)),
            "csr_matmat: argument B must be a matrix of 2 rows",
        ),
    ],
)
def test_wrong_shapes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make(snp.ones(2))


def test_staged_composites_are_kept_until_caches_are_cleared():
    matrix = sparse.BCOO.fromdense(snp.array([[1.0, 0.0], [2.0, 3.0]]))
    slope = sagax.grad(lambda x: (matrix @ x).sum())
    sagax.clear_caches()
    for _ in range(2):
        assert slope(snp.ones(2)).tolist() == [3.0, 3.0]
        assert len(transpose._staged_composites) == 1
    sagax.clear_caches()
    assert not transpose._staged_composites
