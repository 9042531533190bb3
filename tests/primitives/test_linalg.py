"""Linear algebra: values, derivatives and batching as the oracle recorded them; invariants; errors."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.lax.linalg
from linalg_cases import CASES, hermitian, matrices, numbers, positive
from sagax import lax
from slicing_cases import directions, mapped, on_inexact
from slicing_oracle import flat, recorded

linalg = sagax.lax.linalg
WIDE = {"double": np.float64, "complex double": np.complex128}


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("linalg")


def near(have, want, what, rtol=2e-4):
    have = np.asarray(have)
    assert have.shape == want.shape and have.dtype == want.dtype, (
        f"{what}: {have.dtype}{have.shape}, expected {want.dtype}{want.shape}"
    )
    finite = np.abs(want[np.isfinite(want)])
    scale = finite.max(initial=1.0)
    np.testing.assert_allclose(have, want, rtol=rtol, atol=rtol * scale, err_msg=what)


@pytest.mark.parametrize("name", CASES)
def test_values(name, data):
    want = recorded(data, name, "out")
    operands = CASES[name].operands
    for how, fun in (("at once", flat(CASES[name])), ("compiled", sagax.jit(flat(CASES[name])))):
        outs = fun(*operands)
        assert len(outs) == len(want) > 0
        for i, (h, w) in enumerate(zip(outs, want)):
            near(h, w, f"{how}, result {i}")


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.maps])
def test_maps(name, data):
    for k, in_axes in enumerate(CASES[name].maps):
        outs = sagax.vmap(flat(CASES[name]), in_axes)(*mapped(CASES[name], in_axes))
        want = recorded(data, name, f"map {k}")
        assert len(outs) == len(want) > 0
        for i, (h, w) in enumerate(zip(outs, want)):
            near(h, w, f"in_axes {in_axes}, result {i}")


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.derivative])
def test_derivatives(name, data):
    case = CASES[name]
    of_some, values = on_inexact(flat(case), tuple(map(sagax.device_put, case.operands)))
    _, tangents = sagax.jvp(of_some, values, directions(name, values))
    _, pull = sagax.vjp(of_some, *values)
    pulled = pull(directions(name + "/ct", recorded(data, name, "out")))
    for kind, have in (("jvp", tangents), ("vjp", pulled)):
        want = recorded(data, name, kind)
        assert len(have) == len(want) > 0
        for i, (h, w) in enumerate(zip(have, want)):
            near(h, w, f"{kind} {i}", rtol=2e-3)


# in double precision: what defines a factorisation ---------------------------------------------------


@pytest.fixture
def x64():
    with sagax.enable_x64(True):
        yield


def h(x):
    return np.swapaxes(np.conj(x), -1, -2)


def equal(have, want):
    np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", WIDE.values(), ids=WIDE)
def test_factors_in_double_precision(dtype, x64):
    a = matrices(2, 4, 3, dtype=dtype)
    square = matrices(2, 4, 4, dtype=dtype)
    definite = positive(2, 4, 4, dtype=dtype)
    q, r = map(np.asarray, linalg.qr(a))
    assert q.dtype == dtype
    equal(q @ r, a)
    equal(h(q) @ q, np.broadcast_to(np.eye(4), q.shape))
    packed, _, order = map(np.asarray, linalg.lu(square))
    low, up = np.tril(packed, -1) + np.eye(4), np.triu(packed)
    equal(low @ up, np.take_along_axis(square, order[..., None], 1))
    factor = np.asarray(linalg.cholesky(definite))
    equal(factor @ h(factor), definite)
    v, w = map(np.asarray, linalg.eigh(definite))
    equal((v * w[..., None, :]) @ h(v), definite)
    equal(w, np.linalg.eigvalsh(definite))
    u, s, vh = map(np.asarray, linalg.svd(a, full_matrices=False))
    equal((u * s[..., None, :]) @ vh, a)
    w, left, right = map(np.asarray, linalg.eig(square))
    equal(square @ right, right * w[..., None, :])
    equal(h(left) @ square, w[..., :, None] * h(left))
    t, z = map(np.asarray, linalg.schur(square))
    equal(z @ t @ h(z), square)
    packed, taus = linalg.hessenberg(square[0])
    reflections = np.asarray(packed)[1:, :-1]
    q = np.eye(4, dtype=dtype)
    q[1:, 1:] = np.asarray(linalg.householder_product(reflections, taus))
    equal(q @ np.triu(np.asarray(packed), -1) @ h(q), square[0])
    u, p, steps, converged = linalg.qdwh(a[0])
    equal(u @ p, a[0])
    equal(h(np.asarray(u)) @ u, np.eye(3))
    assert np.linalg.eigvalsh(np.asarray(p)).min() > 0
    assert bool(converged) and int(steps) == 6


def test_cholesky_update_is_the_factor_of_the_updated_matrix(x64):
    r, w = np.triu(matrices(5, 5, dtype=np.float64)), numbers(5, dtype=np.float64)
    new = np.asarray(linalg.cholesky_update(r, w))
    equal(new.T @ new, r.T @ r + np.outer(w, w))
    assert (new == np.triu(new)).all()


def differences(fun, x, t, step=1e-6):
    return [
        (np.asarray(hi) - np.asarray(lo)) / (2 * step)
        for hi, lo in zip(fun(x + step * t), fun(x - step * t))
    ]


def _of_eigh(x):
    v, w = linalg.eigh(x)
    return w, (v * lax.exp(w)[None, :]) @ lax.transpose(lax.conj(v), (1, 0))


def _of_svd(x):
    u, s, vh = linalg.svd(x, full_matrices=False)
    return s, (u * lax.sin(s)[None, :]) @ vh


def _of_qdwh(x):
    return linalg.qdwh(x)[:2]


def _of_wide_pivoted_qr(x):
    return linalg.qr(x, full_matrices=False, pivoting=True)[:2]


@pytest.mark.parametrize(
    ("fun", "x", "t"),
    [
        (_of_qdwh, matrices(4, 3, dtype=np.complex128), numbers(4, 3, dtype=np.complex128)),
        (_of_eigh, hermitian(4, 4, dtype=np.complex128), positive(4, 4, dtype=np.complex128)),
        (_of_svd, matrices(4, 2, dtype=np.complex128), numbers(4, 2, dtype=np.complex128)),
        (_of_svd, matrices(2, 4, dtype=np.complex128), numbers(2, 4, dtype=np.complex128)),
        (_of_wide_pivoted_qr, matrices(2, 4, dtype=np.float64), numbers(2, 4, dtype=np.float64)),
        (
            linalg.cholesky,
            positive(3, 3, dtype=np.complex128),
            hermitian(3, 3, dtype=np.complex128),
        ),
    ],
    ids=["qdwh", "eigh", "svd tall", "svd wide", "qr wide", "cholesky"],
)
def test_derivatives_are_limits_of_differences(fun, x, t, x64):
    def many(x):
        out = fun(x)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    _, tangents = sagax.jvp(many, (x,), (t,))
    for have, want in zip(tangents, differences(many, x, t)):
        np.testing.assert_allclose(np.asarray(have), want, rtol=1e-6, atol=1e-6)


def test_second_derivatives(x64):
    a, b = positive(3, 3, dtype=np.float64), numbers(3, dtype=np.float64)

    def energy(a):
        half = linalg.triangular_solve(linalg.cholesky(a), b, left_side=True, lower=True)
        return lax.reduce_sum(half * half, axes=[0])

    # b^T A^-1 b: its gradient is -y y^T for y = A^-1 b
    y = np.linalg.solve(a, b)
    equal(sagax.grad(energy)(a), -np.outer(y, y))
    t = hermitian(3, 3, dtype=np.float64)
    _, second = sagax.jvp(sagax.grad(energy), (a,), (t,))
    dy = -np.linalg.solve(a, t @ y)
    equal(second, -np.outer(dy, y) - np.outer(y, dy))


def test_large_stacks_and_loops_agree(x64):
    a = matrices(5, 3, 8, 8, dtype=np.float64)
    packed = np.asarray(linalg.lu(a)[0])
    for i in range(5):
        for j in range(3):
            equal(linalg.lu(a[i, j])[0], packed[i, j])


# what is refused ------------------------------------------------------------------------------------------

EYE = np.eye(3, dtype=np.float32)
VECTOR = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: linalg.cholesky(np.ones((2, 3), np.float32)), ValueError, "cholesky: argument x"),
        (lambda: linalg.eigh(VECTOR), ValueError, r"\(\.\.\., n, n\)"),
        (lambda: linalg.lu(EYE.astype(np.int32)), TypeError, "x has dtype int32"),
        (lambda: linalg.svd(EYE.astype(np.float16)), TypeError, "x has dtype float16"),
        (
            lambda: linalg.triangular_solve(EYE, np.ones((2, 2), np.float32)),
            ValueError,
            r"a of shape \(3, 3\) does not fit b of shape \(2, 2\)",
        ),
        (
            lambda: linalg.triangular_solve(EYE, EYE.astype(np.complex64)),
            TypeError,
            "a float32, b complex64",
        ),
        (
            lambda: linalg.triangular_solve(np.stack([EYE, EYE]), np.stack([EYE] * 3)),
            TypeError,
            "stacks of different shapes",
        ),
        (
            lambda: linalg.tridiagonal_solve(VECTOR, VECTOR, VECTOR[:2], EYE),
            TypeError,
            "argument du",
        ),
        (lambda: linalg.tridiagonal_solve(*[VECTOR] * 4), ValueError, "argument b"),
        (
            lambda: linalg.lu_pivots_to_permutation(np.zeros(3, np.int32), 2),
            ValueError,
            "at least 3",
        ),
        (
            lambda: linalg.householder_product(np.ones((2, 3), np.float32), VECTOR[:2]),
            ValueError,
            "at least as many rows",
        ),
        (lambda: linalg.ormqr(EYE, VECTOR, EYE[:2]), ValueError, "argument c"),
        (lambda: linalg.hessenberg(np.zeros((0, 0), np.float32)), ValueError, "size 1 or more"),
        (
            lambda: linalg.symmetric_product(np.ones((3, 2), np.float32), EYE[:2, :2]),
            ValueError,
            "argument c_matrix",
        ),
        (
            lambda: linalg.cholesky_update(EYE, VECTOR[:2]),
            TypeError,
            r"r_matrix \(3, 3\) and w_vector \(2,\)",
        ),
        (
            lambda: linalg.svd(EYE, algorithm=linalg.SvdAlgorithm.POLAR),
            NotImplementedError,
            "POLAR algorithm does not exist on the CPU",
        ),
        (
            lambda: linalg.eigh(EYE, implementation=linalg.EighImplementation.QDWH),
            NotImplementedError,
            "QDWH implementation does not exist on the CPU",
        ),
        (
            lambda: linalg.eig(EYE, implementation=linalg.EigImplementation.MAGMA),
            ValueError,
            "LAPACK on the CPU",
        ),
        (lambda: linalg.eigh(EYE, subset_by_index=(0, 1)), NotImplementedError, "subset_by_index"),
        (
            lambda: linalg.schur(EYE, sort_eig_vals=True),
            NotImplementedError,
            "eigenvalues cannot be sorted",
        ),
        (lambda: linalg.qdwh(np.ones((2, 3), np.float32)), ValueError, "m >= n"),
        (
            lambda: sagax.jvp(linalg.eig, (EYE,), (EYE,)),
            NotImplementedError,
            "enable_eigvec_derivs=True",
        ),
        (
            lambda: sagax.jvp(linalg.svd, (EYE[:2],), (EYE[:2],)),
            NotImplementedError,
            "full_matrices=False",
        ),
        (
            lambda: sagax.jvp(linalg.hessenberg, (EYE,), (EYE,)),
            NotImplementedError,
            "'hessenberg' has no jvp rule",
        ),
    ],
)
def test_refused(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert isinstance(caught.value, sagax.errors.SagaxError)
