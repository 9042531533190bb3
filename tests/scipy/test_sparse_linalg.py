"""sagax.scipy.sparse.linalg against NumPy's direct solution, and against SciPy's iterations."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
import scipy.sparse.linalg as theirs

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax.scipy.sparse import linalg as ours

RNG = np.random.RandomState(0)
N = 12
GENERAL = RNG.randn(N, N) + 6 * np.eye(N)
POSITIVE = GENERAL @ GENERAL.T
COMPLEX = GENERAL + 1j * RNG.randn(N, N)
HERMITIAN = COMPLEX @ COMPLEX.conj().T
B = RNG.randn(N)
METHODS = {"cg": ours.cg, "bicgstab": ours.bicgstab, "gmres": ours.gmres}


@pytest.fixture(autouse=True)
def precise():
    with sagax.config.context(x64=True):
        yield


def matrices(name):
    return [POSITIVE, HERMITIAN] if name == "cg" else [GENERAL, COMPLEX]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", ["matrix", "function"])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_solutions(name, form, preconditioned):
    for a in matrices(name):
        operator = a if form == "matrix" else (lambda x, a=a: snp.matmul(a, x))
        m = np.diag(1 / np.diag(a)) if preconditioned else None
        x, info = METHODS[name](operator, B.astype(a.dtype), tol=1e-10, M=m)
        assert info is None if name != "gmres" else info == 0
        np.testing.assert_allclose(x, np.linalg.solve(a, B), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_single_precision_and_compiled(name):
    a = np.asarray(matrices(name)[0], "f")
    x, _ = sagax.jit(METHODS[name])(a, np.asarray(B, "f"))
    assert x.dtype == np.float32
    residual = np.linalg.norm(a @ np.asarray(x) - B) / np.linalg.norm(B)
    assert residual < 5e-5


@pytest.mark.parametrize("name", ["cg", "bicgstab"])
def test_as_many_rounds_as_scipy(name):
    """After few rounds the approximations are those of the same method in SciPy."""
    a = matrices(name)[0]
    for rounds in (1, 2, 4):
        x, _ = METHODS[name](a, B, maxiter=rounds, tol=0.0)
        expected, _ = getattr(theirs, name)(a, B, maxiter=rounds, rtol=0.0)
        np.testing.assert_allclose(x, expected, rtol=1e-8)


def test_gmres_minimises_the_residual():
    basis = np.stack([np.linalg.matrix_power(GENERAL, k) @ B for k in range(4)], axis=1)
    best = np.linalg.lstsq(GENERAL @ basis, B, rcond=None)[0]
    x, _ = ours.gmres(GENERAL, B, restart=4, maxiter=1, tol=0.0)
    np.testing.assert_allclose(x, basis @ best, rtol=1e-7)
    x, _ = ours.gmres(GENERAL, B, restart=4, tol=1e-10)  # with new beginnings it gets there too
    np.testing.assert_allclose(x, np.linalg.solve(GENERAL, B), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_a_start_at_the_solution_is_kept(name):
    a = matrices(name)[0]
    x0 = np.linalg.solve(a, B)
    x, _ = METHODS[name](a, B, x0=x0, tol=1e-8)
    np.testing.assert_allclose(x, x0, rtol=1e-10)
    zero, _ = METHODS[name](a, np.zeros(N))
    np.testing.assert_array_equal(zero, np.zeros(N))


@pytest.mark.parametrize("name", METHODS)
def test_pytrees(name):
    a = POSITIVE if name == "cg" else GENERAL

    def operator(tree):
        x = snp.matmul(a, snp.concatenate([tree["u"].ravel(), tree["v"]]))
        return {"u": x[:6].reshape(2, 3), "v": x[6:]}

    b = {"u": B[:6].reshape(2, 3), "v": B[6:]}
    x, _ = METHODS[name](operator, b, tol=1e-10)
    got = np.concatenate([np.ravel(x["u"]), x["v"]])
    np.testing.assert_allclose(got, np.linalg.solve(a, B), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_derivatives(name):
    a = POSITIVE if name == "cg" else GENERAL
    w = RNG.randn(N)

    def loss(solve, a, b):
        a = (a + a.T) / 2 if name == "cg" else a
        return snp.sum(w * solve(a, b))

    iterative = functools.partial(loss, lambda a, b: METHODS[name](a, b, tol=1e-12)[0])
    direct = functools.partial(loss, snp.linalg.solve)
    for got, expected in zip(
        sagax.jit(sagax.grad(iterative, (0, 1)))(a, B),
        sagax.grad(direct, (0, 1))(a, B),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)
    tangent = sagax.jvp(lambda b: iterative(a, b), (B,), (w,))[1]
    np.testing.assert_allclose(tangent, sagax.jvp(lambda b: direct(a, b), (B,), (w,))[1], rtol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_batches(name):
    a, many = matrices(name)[0], RNG.randn(3, N)
    x = sagax.vmap(lambda b: METHODS[name](a, b, tol=1e-10)[0])(many)
    np.testing.assert_allclose(x, np.linalg.solve(a, many.T).T, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: ours.cg(np.ones((2, 3)), np.ones(3)),
            errors.ArgumentValueError,
            "a square matrix",
        ),
        (
            lambda: ours.cg(np.eye(2), np.ones(2), [np.ones(2)]),
            errors.ArgumentValueError,
            "tree structure",
        ),
        (
            lambda: ours.cg(np.eye(2), np.ones(2), np.ones(3)),
            errors.ArgumentValueError,
            "matching shapes",
        ),
        (
            lambda: ours.gmres(np.eye(2), np.ones(2), solve_method="x"),
            errors.ArgumentValueError,
            "solve_method",
        ),
    ],
)
def test_refused(call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call()
