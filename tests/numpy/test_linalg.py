"""numpy.linalg and numpy.fft: factorisations, systems of equations, transforms."""

from __future__ import annotations

import numpy as np
import pytest

import numpy_rest_cases as rest
import sagax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array


@pytest.mark.parametrize("section", ["factors", "fourier"])
def test_as_recorded(section, oracle_data):
    lines = rest.sections()[section]
    recorded = oracle_data("numpy_rest")["values"]
    wrong = rest.differences(sagax, Array, trees.leaves, lines, recorded)
    assert not wrong, "\n".join(wrong)


def close(found, expected, tolerance=2e-5):
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


def random(*shape, dtype="float32"):
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def well_conditioned(n, *stack, dtype="float32"):
    return random(*stack, n, n, dtype=dtype) + 3 * np.eye(n, dtype=dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


DTYPES = ["float32", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stack", [(), (2,)])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_square_matrices(n, stack, dtype):
    a = well_conditioned(n, *stack, dtype=dtype)
    close(snp.linalg.inv(a), np.linalg.inv(a))
    close(snp.linalg.det(a), np.linalg.det(a), 1e-4)
    sign, size = np.linalg.slogdet(a)
    for method in ("lu", "qr"):
        found = snp.linalg.slogdet(a, method=method)
        close(found.sign, sign)
        close(found.logabsdet, size)
    b = random(*stack, n, 2, dtype=dtype)
    close(snp.linalg.solve(a, b), np.linalg.solve(a, b))
    close(snp.linalg.matrix_power(a, -3), np.linalg.matrix_power(a, -3))
    for p in (None, 1, -2, np.inf, "fro", "nuc"):
        close(snp.linalg.cond(a, p), np.linalg.cond(a, p), 1e-3)
    values, vectors = snp.linalg.eig(a)
    close(a @ np.asarray(vectors), np.asarray(vectors) * np.asarray(values)[..., None, :], 1e-4)
    close(snp.sort(snp.linalg.eigvals(a)), np.sort(np.asarray(values)), 1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_factors_multiply_to_the_matrix(shape, dtype):
    a = random(*shape, dtype=dtype)
    for full in (False, True):
        u, s, vh = (np.asarray(x) for x in snp.linalg.svd(a, full_matrices=full))
        k = s.shape[-1]
        close(snp.asarray((u[..., :k] * s[..., None, :]) @ vh[..., :k, :]), a)
        close(snp.linalg.svdvals(a), np.linalg.svd(a, compute_uv=False))
    for mode in ("reduced", "complete"):
        q, r = (np.asarray(x) for x in snp.linalg.qr(a, mode))
        close(snp.asarray(q @ r), a)
        close(
            snp.asarray(adjoint(q) @ q),
            np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *[q.shape[-1]] * 2)),
        )
        assert np.allclose(r, np.triu(r), atol=1e-5)
    close(snp.linalg.pinv(a), np.linalg.pinv(a))
    close(snp.linalg.matrix_rank(a), np.linalg.matrix_rank(a))
    for order in (2, -2, "nuc"):
        close(snp.linalg.norm(a, order, axis=(-2, -1)), np.linalg.norm(a, order, axis=(-2, -1)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian_matrices(dtype):
    x = random(4, 4, dtype=dtype)
    a = x + adjoint(x)
    values, vectors = (np.asarray(v) for v in snp.linalg.eigh(a))
    close(snp.asarray(values), np.linalg.eigvalsh(a))
    close(snp.asarray((vectors * values) @ adjoint(vectors)), a)
    for triangle, half in (("L", np.tril(a)), ("U", np.triu(a))):
        found = snp.linalg.eigvalsh(half, triangle, symmetrize_input=False)
        close(found, values)
    u, s, vh = (np.asarray(v) for v in snp.linalg.svd(a, hermitian=True))
    close(snp.asarray((u * s) @ vh), a)
    close(snp.linalg.svd(a, hermitian=True, compute_uv=False), np.linalg.svd(a, compute_uv=False))
    close(snp.linalg.pinv(a, hermitian=True), np.linalg.pinv(a), 1e-4)
    positive = x @ adjoint(x) + np.eye(4, dtype=dtype)
    low = np.asarray(snp.linalg.cholesky(positive))
    close(snp.asarray(low @ adjoint(low)), positive, 1e-4)
    close(snp.linalg.cholesky(positive, upper=True), adjoint(low))
    close(snp.linalg.cholesky(np.triu(positive), upper=True, symmetrize_input=False), adjoint(low))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_least_squares(shape):
    a, b = random(*shape), random(shape[0], 2)
    found = snp.linalg.lstsq(a, b, numpy_resid=True)
    for x, y in zip(found, np.linalg.lstsq(a, b)):
        close(x, y)
    close(snp.linalg.lstsq(a, b[:, 0])[0], np.linalg.lstsq(a, b[:, 0])[0])
    flat = np.ones(shape, np.float32)
    close(snp.linalg.lstsq(flat, b)[0], np.linalg.lstsq(flat, b)[0])
    assert int(snp.linalg.lstsq(flat, b)[2]) == 1


def test_tensors():
    a = well_conditioned(6).reshape(2, 3, 6)
    b = random(2, 3)
    close(snp.linalg.tensorsolve(a, b), np.linalg.tensorsolve(a, b))
    close(snp.linalg.tensorinv(a), np.linalg.tensorinv(a))
    moved = np.moveaxis(a, 2, 0)
    close(snp.linalg.tensorsolve(moved, b, (0,)), np.linalg.tensorsolve(moved, b, (0,)))


@pytest.mark.parametrize(
    "fun",
    [
        snp.linalg.inv,
        snp.linalg.det,
        lambda a: snp.linalg.slogdet(a)[1],
        lambda a: snp.linalg.solve(a, a[:, :2] ** 2),
        lambda a: snp.linalg.pinv(a[:, :2]),
        lambda a: snp.linalg.pinv(a[:2]),
        lambda a: snp.linalg.lstsq(a[:, :2], a[:, 2])[0],
        lambda a: snp.linalg.cholesky(a @ a.T),
        lambda a: snp.linalg.eigvalsh(a),
        lambda a: snp.linalg.svdvals(a),
        lambda a: snp.linalg.qr(a)[1],
        lambda a: snp.linalg.norm(a, 2),
        lambda a: snp.linalg.matrix_power(a, -2),
        lambda a: snp.linalg.cond(a),
    ],
)
def test_derivatives(fun):
    with sagax.enable_x64(True):
        a = well_conditioned(4, dtype="float64")
        a += np.diag([0.0, 1, 2, 4])
        t = random(4, 4, dtype="float64")
        out, tangent = sagax.jvp(fun, (a,), (t,))
        h = 1e-6
        differences = (np.asarray(fun(a + h * t)) - np.asarray(fun(a - h * t))) / (2 * h)
        np.testing.assert_allclose(np.asarray(tangent), differences, rtol=1e-5, atol=1e-7)
        weights = random(*out.shape, dtype="float64")
        _, back = sagax.vjp(fun, a)
        (gradient,) = back(snp.asarray(weights))
        np.testing.assert_allclose(np.vdot(gradient, t), np.vdot(weights, tangent), rtol=1e-8)


@pytest.mark.parametrize("zero", [0, 2, 4])
def test_derivative_of_singular_determinants(zero):
    """The gradient is the matrix of cofactors, which are polynomials."""
    a = np.diag([2.0, 3, 5, 7, 11]).astype(np.float32)
    a[zero, zero] = 0
    a[0, 4] = a[1, 2] = 1
    minors = np.array(
        [[np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(5)] for i in range(5)]
    )
    signs = (-1.0) ** np.add.outer(range(5), range(5))
    assert np.linalg.det(a) == 0 and np.abs(minors).max() > 100
    close(sagax.grad(snp.linalg.det)(a), signs * minors, 1e-4)


def test_several_pivots_of_zero_are_not_passed_over():
    """This matrix has a cofactor of 1; what is not computed is NaN, not 0."""
    shift = np.eye(4, k=1, dtype=np.float32)
    assert np.isnan(np.asarray(sagax.grad(snp.linalg.det)(shift))).any()


def test_sharing_a_factorisation():
    """A derivative of solve factors the matrix once."""
    a, b = well_conditioned(3), random(3)
    jaxpr = str(sagax.make_jaxpr(lambda a, b: sagax.jvp(snp.linalg.solve, (a, b), (a, b)))(a, b))
    assert jaxpr.count(" = lu") == 1


SIZES = [(4,), (5,), (3, 4), (2, 3, 4), (2, 3, 2, 2)]
NORMS = [None, "backward", "ortho", "forward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", SIZES)
def test_fourier_transforms(shape, norm):
    x, z = random(*shape), random(*shape, dtype="complex64")
    for axis in {0, len(shape) - 1}:
        for n in (None, 3, 7):
            for name in ("fft", "ifft", "irfft", "hfft"):
                close(
                    getattr(snp.fft, name)(z, n, axis, norm),
                    getattr(np.fft, name)(z, n, axis, norm),
                )
            for name in ("rfft", "ihfft"):
                close(
                    getattr(snp.fft, name)(x, n, axis, norm),
                    getattr(np.fft, name)(x, n, axis, norm),
                )
    axes = tuple(range(len(shape)))[::-1]
    for name in ("fftn", "ifftn", "irfftn"):
        close(
            getattr(snp.fft, name)(z, None, axes, norm), getattr(np.fft, name)(z, None, axes, norm)
        )
    close(snp.fft.rfftn(x, None, axes, norm), np.fft.rfftn(x, None, axes, norm))
    if len(shape) > 1:
        for name in ("fft2", "ifft2", "irfft2"):
            close(
                getattr(snp.fft, name)(z, (5, 2), norm=norm),
                getattr(np.fft, name)(z, (5, 2), norm=norm),
            )
        close(snp.fft.rfft2(x, (5, 2), norm=norm), np.fft.rfft2(x, (5, 2), norm=norm))
    close(snp.fft.ifftshift(snp.fft.fftshift(x)), x)
    close(snp.fft.fftshift(x), np.fft.fftshift(x))


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        if n:
            close(getattr(snp.fft, name)(n, 0.5), getattr(np.fft, name)(n, 0.5))
        assert getattr(snp.fft, name)(n, dtype="float16").dtype == "float16"


def test_inverse_of_a_real_transform_is_its_transpose_scaled():
    x, y = random(6), random(4, dtype="complex64")
    _, back = sagax.vjp(snp.fft.rfft, x)
    (gradient,) = back(snp.asarray(y))
    expected = [np.sum(np.fft.rfft(np.eye(6)[i]) * y).real for i in range(6)]
    close(gradient, expected)


@pytest.mark.parametrize("shape", [(5, 3), (4, 1), (2, 5, 2), (3, 3), (2, 4)])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_derivatives_of_all_columns_of_a_complete_qr(shape, kind):
    rng = np.random.default_rng(0)
    a, t = rng.standard_normal((2, *shape))
    if kind == "complex":
        a, t = (x + 1j * y for x, y in zip((a, t), rng.standard_normal((2, *shape)), strict=True))
    step = 1e-6
    after, before = (np.linalg.qr(a + d * t, mode="complete") for d in (step, -step))
    with sagax.config.context(x64=True):
        _, tangents = sagax.jvp(lambda x: tuple(snp.linalg.qr(x, mode="complete")), (a,), (t,))
    for found, x, y in zip(tangents, after, before, strict=True):
        np.testing.assert_allclose(found, (x - y) / (2 * step), atol=1e-7)


def test_a_complete_qr_whose_reflections_are_identities_has_finite_derivatives():
    x = snp.eye(4)[:, :2]
    found = sagax.jacrev(lambda x: snp.linalg.qr(x, mode="complete")[0])(x)
    assert snp.isfinite(found).all()
    # Q stays orthogonal: Q^T dQ is skew
    inside = np.asarray(found).reshape(4, 4, 8)
    np.testing.assert_allclose(inside + inside.swapaxes(0, 1), 0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_determinants_by_qr_have_derivatives(dtype):
    x = np.random.default_rng(0).normal(size=(4, 4)).astype(dtype)
    if dtype == np.complex64:
        x = x + 1j * x[::-1] ** 2
    dx = x.T * x
    with_qr = sagax.jvp(lambda a: snp.linalg.slogdet(a, method="qr"), (x,), (dx,))
    h = 1e-6
    exact = np.linalg.slogdet(x.astype(complex))
    moved = np.linalg.slogdet(x.astype(complex) + h * dx)
    change = with_qr[1]
    np.testing.assert_allclose(change.logabsdet, (moved[1] - exact[1]) / h, rtol=1e-3)
    np.testing.assert_allclose(change.sign, (moved[0] - exact[0]) / h, atol=1e-3)
