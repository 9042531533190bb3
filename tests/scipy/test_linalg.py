"""sagax.scipy.linalg against SciPy itself, in single and double precision."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pytest
import scipy.linalg as theirs

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax.scipy import linalg as ours

RNG = np.random.RandomState(0)
N = 5
GENERAL = RNG.randn(3, N, N) + 2 * np.eye(N)
COMPLEX = GENERAL + 1j * RNG.randn(3, N, N)
POSITIVE = GENERAL @ GENERAL.transpose(0, 2, 1) + np.eye(N)
HERMITIAN = COMPLEX + COMPLEX.conj().transpose(0, 2, 1)
COMPLEX_POSITIVE = COMPLEX @ COMPLEX.conj().transpose(0, 2, 1) + np.eye(N)
VECTOR = RNG.randn(N)
TALL = RNG.randn(3, 6, 4)
TOLERANCE = {"f": 2e-4, "F": 2e-4, "d": 1e-9, "D": 1e-9}


@pytest.fixture(params=[False, True], ids=["32", "64"])
def cast(request):
    """Arrays in the precision of the test, which is on while it runs."""
    with sagax.config.context(x64=request.param):
        kinds = {"f": "d", "c": "D"} if request.param else {"f": "f", "c": "F"}
        yield lambda x: np.asarray(x, kinds.get(x.dtype.kind, x.dtype))


def close(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    tolerance = TOLERANCE[got.dtype.char] * scale if got.dtype.char in TOLERANCE else 0
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 10)


def adjoint(x):
    return np.swapaxes(np.conj(x), -1, -2)


# --- systems -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.own_promotion("dtype")
def test_solve_triangular(cast, trans, lower, unit):
    for a, b in [(GENERAL[0], VECTOR), (COMPLEX[0], GENERAL[1])]:
        a, b = cast(a), cast(b)
        got = ours.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)
        close(got, theirs.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit), 50)


SYSTEMS = {
    "triangular": (np.triu(GENERAL), lambda a, b: ours.solve_triangular(a, b)),
    "general": (GENERAL, lambda a, b: ours.solve(a, b)),
    "positive": (POSITIVE, lambda a, b: ours.solve(a, b, assume_a="pos")),
    "positive, lower": (POSITIVE, lambda a, b: ours.solve(a, b, lower=True, assume_a="pos")),
    "cho": (POSITIVE, lambda a, b: ours.cho_solve(ours.cho_factor(a), b)),
    "cho, lower": (
        COMPLEX_POSITIVE,
        lambda a, b: ours.cho_solve(ours.cho_factor(a, lower=True), b),
    ),
    "lu": (GENERAL, lambda a, b: ours.lu_solve(ours.lu_factor(a), b)),
    "lu of complex": (COMPLEX, lambda a, b: ours.lu_solve(ours.lu_factor(a), b)),
}


# The shapes of a and b, and of the result in jax 0.12.
@pytest.mark.parametrize(
    ("a_shape", "b_shape", "expected"),
    [
        ((N, N), (N,), (N,)),
        ((N, N), (N, 2), (N, 2)),
        ((3, N, N), (N,), (3, N)),
        ((3, N, N), (N, 2), (3, N, 2)),
        ((3, N, N), (3, N, 2), (3, N, 2)),
        ((N, N), (3, N, 2), (3, N, 2)),
    ],
)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(cast, name, a_shape, b_shape, expected):
    a, solve = SYSTEMS[name]
    a = cast(a if len(a_shape) == 3 else a[0])
    b = cast(np.random.RandomState(1).randn(*b_shape))
    got = np.asarray(solve(a, b))
    assert got.shape == expected
    vectors = got if len(b_shape) > 1 else got[..., None]
    right = b if len(b_shape) > 1 else b[:, None]
    close(a @ vectors, np.broadcast_to(right, (a @ vectors).shape), 20)


def test_stacks_of_vectors():
    a, b = np.asarray(POSITIVE, "f"), np.asarray(GENERAL[:, 0], "f")
    for name, (_, solve) in SYSTEMS.items():
        if name in ("general", "triangular", "lu of complex", "cho, lower"):
            continue
        close((a @ np.asarray(solve(a, b))[..., None])[..., 0], b, 20)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_solve_transposed(cast, trans):
    a, b = cast(COMPLEX[0]), cast(COMPLEX[1])
    close(
        ours.lu_solve(ours.lu_factor(a), b, trans),
        theirs.lu_solve(theirs.lu_factor(a), b, trans),
        20,
    )


@pytest.mark.parametrize("lower", [False, True])
def test_triangles_of_which_the_other_is_not_read(cast, lower):
    a = cast(COMPLEX_POSITIVE[0])
    spoiled = np.where(
        np.tril(np.ones((N, N)), -1) if not lower else np.triu(np.ones((N, N)), 1), 99, a
    )
    close(ours.cholesky(spoiled, lower=lower), theirs.cholesky(a, lower=lower))
    c, flag = ours.cho_factor(spoiled, lower=lower)
    assert flag is lower
    close(c, theirs.cholesky(a, lower=lower))


def test_inv_and_det(cast):
    a = cast(GENERAL[0])
    close(ours.inv(a), theirs.inv(a), 10)
    close(ours.det(a), theirs.det(a), 10)


# --- factors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 4), (4, 6), (6, 4)])
def test_lu(cast, shape):
    a = cast(np.random.RandomState(2).randn(2, *shape))
    found, expected = ours.lu(a), theirs.lu(a)
    for x, y in zip(found, expected, strict=True):
        close(x, y)
    for x, y in zip(ours.lu(a, permute_l=True), theirs.lu(a, permute_l=True), strict=True):
        close(x, y)
    packed, pivots = ours.lu_factor(a)
    for i in range(2):
        close(packed[i], theirs.lu_factor(a[i])[0])
        np.testing.assert_array_equal(pivots[i], theirs.lu_factor(a[i])[1])


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("pivoting", [False, True])
def test_qr(cast, mode, pivoting):
    for a in (cast(TALL[0]), cast(TALL[0].T), cast(COMPLEX[0])):
        found = ours.qr(a, mode=mode, pivoting=pivoting)
        expected = theirs.qr(a, mode=mode, pivoting=pivoting)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert [np.shape(x) for x in found] == [np.shape(x) for x in expected]
        for x, y in zip(found, expected, strict=True):
            close(x, y)


@pytest.mark.parametrize("mode", ["left", "right"])
@pytest.mark.parametrize("pivoting", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_qr_multiply(cast, mode, pivoting, conjugate):
    for a, c in [
        (COMPLEX[0], COMPLEX[1]),
        (COMPLEX[0], COMPLEX[1, 0]),
        (TALL[0], RNG.randn(4, 3) if mode == "left" else RNG.randn(3, 6)),
    ]:
        options = {"mode": mode, "pivoting": pivoting, "conjugate": conjugate}
        a, c = cast(a), cast(c)
        for x, y in zip(
            ours.qr_multiply(a, c, **options), theirs.qr_multiply(a, c, **options), strict=True
        ):
            close(x, y)


@pytest.mark.own_promotion("rank")
def test_svd(cast):
    a = cast(TALL[0])
    u, s, vh = ours.svd(a, full_matrices=False)
    close(s, theirs.svdvals(a))
    close((np.asarray(u) * s) @ vh, a)
    close(ours.svd(a, compute_uv=False), theirs.svdvals(a))
    assert [x.shape for x in ours.svd(a)] == [(6, 6), (4,), (4, 4)]


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("lower", [False, True])
def test_eigh_generalised(cast, kind, lower):
    a, b = cast(HERMITIAN[0]), cast(COMPLEX_POSITIVE[0])
    w, v = map(np.asarray, ours.eigh(a, b, lower=lower, type=kind))
    close(w, theirs.eigh(a, b, type=kind, eigvals_only=True), 20)
    close(ours.eigh(a, b, lower=lower, type=kind, eigvals_only=True), w)
    left, right = {1: (a @ v, b @ v), 2: (a @ b @ v, v), 3: (b @ a @ v, v)}[kind]
    close(left, right * w, 50 * np.abs(left).max())


def test_eigh_tridiagonal(cast):
    d, e = cast(VECTOR), cast(RNG.randn(N - 1))
    w, v = map(np.asarray, ours.eigh_tridiagonal(d, e))
    expected = theirs.eigh_tridiagonal(d, e, eigvals_only=True)
    close(w, expected, 5)
    close((np.diag(d) + np.diag(e, 1) + np.diag(e, -1)) @ v, v * w, 5)
    some = ours.eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(1, 2))
    close(some, expected[1:3], 5)


def test_schur(cast):
    for a, output in [(GENERAL, "real"), (GENERAL, "complex"), (COMPLEX, "real")]:
        a = cast(a)
        t, z = map(np.asarray, ours.schur(a, output))
        close(z @ t @ adjoint(z), a, 10)
        close(z @ adjoint(z), np.broadcast_to(np.eye(N), z.shape))
        below = np.tril(t, -1 if np.iscomplexobj(t) else -2)
        assert np.abs(below).max() == 0
    a = cast(GENERAL[0])
    t, z = map(np.asarray, ours.rsf2csf(*ours.schur(a)))
    close(z @ t @ adjoint(z), a, 10)
    assert np.abs(np.tril(t, -1)).max() == 0
    for got, expected in zip((t, z), theirs.rsf2csf(*map(np.asarray, ours.schur(a))), strict=True):
        close(got, expected, 10)


def test_rsf2csf_has_derivatives():
    with sagax.enable_x64():
        t, z = theirs.schur(np.asarray(GENERAL[0], float))

        def f(t):
            return sagax.numpy.abs(ours.rsf2csf(t, z)[0]).sum()

        step = np.triu(np.ones_like(t)) * 1e-6
        difference = (f(t + step) - f(t - step)) / 2
        assert np.sum(sagax.grad(f)(t) * step) == pytest.approx(float(difference), rel=1e-6)


def test_hessenberg(cast):
    a = cast(COMPLEX)
    h, q = map(np.asarray, ours.hessenberg(a, calc_q=True))
    close(ours.hessenberg(a), h)
    for i in range(3):
        for x, y in zip((h[i], q[i]), theirs.hessenberg(a[i], calc_q=True), strict=True):
            close(x, y, 10)


@pytest.mark.parametrize("method", ["qdwh", "svd"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_polar(cast, method, side):
    a = cast(COMPLEX[0])
    for x, y in zip(ours.polar(a, side, method=method), theirs.polar(a, side), strict=True):
        close(x, y, 10)
    wide = cast(TALL[0] if side == "left" else TALL[0].T)
    for x, y in zip(ours.polar(wide, side, method="svd"), theirs.polar(wide, side), strict=True):
        close(x, y, 10)


# --- functions of matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 5.0])
def test_expm(cast, scale):
    for a in (GENERAL * scale, COMPLEX * scale):
        a = cast(a)
        expected = theirs.expm(np.asarray(a, "D"))
        got = np.asarray(ours.expm(a))
        assert np.abs(got - expected).max() < TOLERANCE[got.dtype.char] * np.abs(expected).max()
    a = cast(np.triu(GENERAL[0]))
    close(ours.expm(a, upper_triangular=True), theirs.expm(a), 5)


def test_expm_limits():
    close(ours.expm(np.zeros((2, 2), "f")), np.eye(2))
    close(ours.expm(np.eye(3, dtype=int)), np.e * np.eye(3))
    assert np.isnan(ours.expm(np.full((2, 2), 1e8, "f"))).all()
    assert ours.expm(np.zeros((0, 0), "f")).shape == (0, 0)


def test_expm_frechet(cast):
    a, e = cast(GENERAL[0]), cast(GENERAL[1])
    for x, y in zip(ours.expm_frechet(a, e), theirs.expm_frechet(a, e), strict=True):
        close(x, y, 10)
    close(
        ours.expm_frechet(a, e, compute_expm=False),
        theirs.expm_frechet(a, e, compute_expm=False),
        10,
    )


def test_gradient_of_expm():
    with sagax.config.context(x64=True):
        a, e, w = GENERAL[0] * 3, GENERAL[1], GENERAL[2]
        gradient = sagax.grad(lambda a: (ours.expm(a) * w).sum())(a)
        change = (theirs.expm_frechet(a, e, compute_expm=False) * w).sum()
        np.testing.assert_allclose((gradient * e).sum(), change, rtol=1e-8)


def test_sqrtm(cast):
    for a in (COMPLEX, POSITIVE):
        a = cast(a)
        root = np.asarray(ours.sqrtm(a))
        close(root @ root, a, 20)
        close(root[0], theirs.sqrtm(a[0]), 20)


def test_funm(cast):
    a = cast(COMPLEX[0])
    close(ours.funm(a, snp.sin), theirs.sinm(a), 50)
    value, error = ours.funm(a, snp.exp, disp=False)
    close(value, theirs.expm(a), 50)
    assert 0 < float(error) < 1e-3


@pytest.mark.parametrize("method", ["schur", "eigen"])
def test_solve_sylvester(cast, method):
    for a, b, c in [
        (GENERAL[0], GENERAL[1][:3, :3], RNG.randn(N, 3)),
        (COMPLEX[0], COMPLEX[1], GENERAL[2]),
    ]:
        a, b, c = cast(a), cast(b), cast(c)
        close(ours.solve_sylvester(a, b, c, method=method), theirs.solve_sylvester(a, b, c), 50)
    eye = np.eye(2, dtype="f")
    assert np.isnan(ours.solve_sylvester(eye, -eye, eye)).all()


# --- special matrices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("toeplitz", (np.arange(4),)),
        ("toeplitz", (np.arange(3) + 1j, np.arange(5.0))),
        ("toeplitz", (np.arange(3) + 1j,)),
        ("hankel", (np.arange(4),)),
        ("hankel", (np.arange(3), np.arange(5.0))),
        ("circulant", (np.arange(4),)),
        ("companion", (np.array([2.0, 3.0, 4.0, 5.0]),)),
        ("fiedler", (np.array([1, 4, 12, 45]),)),
        ("fiedler_companion", (np.array([1.0, -16.0, 86.0]),)),
        ("fiedler_companion", (np.array([2.0, -16.0, 86.0, -176.0]),)),
        ("fiedler_companion", (np.array([2.0, -16.0, 86.0, -176.0, 105.0, 7.0]),)),
        ("leslie", (np.array([0.1, 2.0, 1.0, 0.1]), np.array([0.2, 0.8, 0.7]))),
        ("convolution_matrix", (np.array([-1, 4, -2]), 5, "same")),
        ("convolution_matrix", (np.array([-1, 4, -2]), 5, "valid")),
        ("convolution_matrix", (np.array([-1, 4, -2]), 2, "valid")),
        ("convolution_matrix", (np.array([-1, 4, -2]), 2)),
        ("block_diag", (2.0, np.ones(2), np.ones((2, 3)), np.ones((0, 1)))),
        ("dft", (5,)),
        ("dft", (4, "sqrtn")),
        ("hadamard", (8,)),
        ("helmert", (4,)),
        ("helmert", (4, True)),
        ("hilbert", (4,)),
        ("invhilbert", (4,)),
        ("pascal", (5,)),
        ("pascal", (4, "lower")),
        ("invpascal", (5,)),
        ("invpascal", (4, "upper")),
    ],
)
def test_special_matrices(name, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about SciPy's own future
        expected = getattr(theirs, name)(*args)
    got = getattr(ours, name)(*args)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_types_of_special_matrices():
    """The dtypes of jax 0.12."""
    assert ours.toeplitz(np.arange(3)).dtype == np.int32
    assert ours.companion(np.arange(1, 4)).dtype == np.float32
    assert ours.pascal(3).dtype == np.float32
    assert ours.hadamard(4).dtype == np.int32
    assert ours.hadamard(4, np.float32).dtype == np.float32
    assert ours.dft(3).dtype == np.complex64
    assert ours.block_diag().shape == (1, 0)
    assert ours.toeplitz(np.ones((2, 3))).shape == (2, 3, 3)
    assert ours.circulant(np.ones((2, 3))).shape == (2, 3, 3)


# --- under transformations -------------------------------------------------------------------------------

TRACED = {
    "solve_triangular": lambda a: ours.solve_triangular(a, a[0]),
    "cho_solve": lambda a: ours.cho_solve(ours.cho_factor(a @ a.T), a),
    "lu_solve": lambda a: ours.lu_solve(ours.lu_factor(a), a[0], 1),
    "qr": lambda a: ours.qr(a)[1] ** 2,
    "eigh": lambda a: ours.eigh(a + a.T, a @ a.T + snp.eye(N), eigvals_only=True),
    "expm": ours.expm,
    "polar": lambda a: ours.polar(a, method="svd")[1],
    "block_diag": lambda a: ours.block_diag(a, a[0]) ** 2,
    "toeplitz": lambda a: ours.toeplitz(a[0]) ** 2,
    "companion": lambda a: ours.companion(a[0]) ** 2,
}


@pytest.mark.parametrize("name", TRACED)
def test_derivatives_and_batches(name):
    f = TRACED[name]
    with sagax.config.context(x64=True):
        a = GENERAL[0]
        total = functools.partial(lambda f, a: snp.sum(snp.real(f(a))), f)
        gradient = sagax.jit(sagax.grad(total))(a)
        e, h = GENERAL[1], 1e-6
        expected = (total(a + h * e) - total(a - h * e)) / (2 * h)
        np.testing.assert_allclose((gradient * e).sum(), expected, rtol=1e-5, atol=1e-6)
        batched = sagax.vmap(f)(GENERAL)
        for i in range(3):
            np.testing.assert_allclose(batched[i], f(GENERAL[i]), rtol=1e-8, atol=1e-9)


# --- refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ours.solve_triangular(np.ones((2, 3)), np.ones(2)), "square matrices"),
        (lambda: ours.solve_triangular(np.eye(2), np.ones(3)), "shapes (2, 2) and (3,) do not fit"),
        (lambda: ours.solve_triangular(np.eye(2), np.ones(2), trans="X"), "trans must be one of"),
        (lambda: ours.solve(np.eye(2), np.ones(2), assume_a="tri"), "assume_a must be one of"),
        (lambda: ours.cholesky(np.ones((2, 3))), "square matrices"),
        (lambda: ours.qr(np.eye(2), mode="raw"), "mode must be one of"),
        (lambda: ours.polar(np.ones((2, 3))), "at least as many rows as columns"),
        (lambda: ours.eigh(np.eye(2), type=4), "type must be one of"),
        (lambda: ours.block_diag(np.ones((2, 2, 2))), "at most 2 dimensions"),
        (lambda: ours.hadamard(3), "power of 2"),
        (lambda: ours.companion(np.ones(1)), "at least two coefficients"),
        (lambda: ours.leslie(np.ones(3), np.ones(3)), "n - 1"),
        (lambda: ours.solve_sylvester(np.eye(2), np.eye(3), np.ones((3, 2))), "do not fit"),
        (lambda: ours.lu_solve(ours.lu_factor(np.eye(2)), np.ones(2), 5), "trans must be one of"),
    ],
)
def test_refused(call, text):
    with pytest.raises(errors.ArgumentValueError, match=re.escape(text)):
        call()


def test_eigenvalues_of_a_range_are_not_there():
    with pytest.raises(NotImplementedError, match="eigvals=None"):
        ours.eigh(np.eye(2), eigvals=(0, 0))


def test_a_positive_definite_system_has_the_derivatives_of_any_other():
    a = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]], np.float32)

    def total(a, kind):
        return ours.solve(a, snp.ones(3), assume_a=kind).sum()

    for lower in (False, True):
        solve = functools.partial(ours.solve, b=snp.ones(3), lower=lower, assume_a="pos")
        found = sagax.grad(lambda a, solve=solve: solve(a).sum())(a)
        close(found, sagax.grad(total)(a, "gen"))


@pytest.mark.parametrize("name", ["lu", "qr"])
def test_vectors_of_a_vmap_are_no_matrices(name):
    with pytest.raises(ValueError, match="matrices"):
        sagax.vmap(getattr(sagax.lax.linalg, name))(snp.ones((2, 3)))


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30, 0.0])
def test_eigenvalues_of_tridiagonal_matrices_by_bisection(scale):
    rng = np.random.default_rng(0)
    d, e, c = (rng.normal(size=n).astype(np.float32) for n in (40, 39, 40))
    d, e = d * np.float32(scale), e * np.float32(scale)

    def values(d, e):
        return ours.eigh_tridiagonal(d, e, eigvals_only=True)

    expected = np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
    found = sagax.jit(values)(d, e)
    np.testing.assert_allclose(found, expected, atol=5e-7 * max(abs(expected).max(), 1e-37))
    some = ours.eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(2, 5))
    np.testing.assert_array_equal(some, found[2:6])
    if scale == 1:
        for wanted in ((0,), (1,)):
            a = sagax.grad(lambda *x: (values(*x) * c).sum(), wanted)(d, e)
            b = sagax.grad(lambda *x: (ours.eigh_tridiagonal(*x)[0] * c).sum(), wanted)(d, e)
            np.testing.assert_allclose(a[0], b[0], atol=1e-5)
        d[3] = np.nan
        assert np.isnan(values(d, e)).all()
