"""Optimization, interpolation and rotations against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.interpolate
import scipy.stats
from scipy.spatial.transform import Rotation as Expected
from scipy.spatial.transform import Slerp as ExpectedSlerp

import sagax
import sagax.numpy as snp
from sagax.errors import SagaxError
from sagax.scipy.interpolate import RegularGridInterpolator
from sagax.scipy.optimize import minimize
from sagax.scipy.spatial.transform import Rotation, Slerp
from sagax.scipy.stats import poisson

RNG = np.random.default_rng(3)


def close(a, b, tolerance=2e-5):
    np.testing.assert_allclose(np.asarray(a), b, rtol=tolerance, atol=tolerance)


# Optimization ----------------------------------------------------------------------------------------


def rosenbrock(x):
    return snp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def matyas(x):
    return 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1]


def eggholder(x):
    a, b = x[0], x[1] + 47
    return -b * snp.sin(snp.sqrt(snp.abs(a / 2 + b))) - a * snp.sin(snp.sqrt(snp.abs(a - b)))


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS", "l-bfgs-experimental-do-not-rely-on-this"])
@pytest.mark.parametrize(
    ("fun", "start", "minimum"),
    [
        (rosenbrock, [0.0, 0.0], 0.0),
        (rosenbrock, [-1.2, 1.0, -0.5, 2.0], 0.0),
        (himmelblau, [1.0, 1.0], 0.0),
        (matyas, [1.0, 2.0], 0.0),
        (eggholder, [100.0, 100.0], None),
    ],
)
def test_minima(fun, start, minimum, method):
    with sagax.enable_x64():
        x0 = snp.array(start)
        run = sagax.jit(lambda x: minimize(fun, x, method=method))
        result = run(x0)
        assert result.success and int(result.status) == 0
        assert float(snp.abs(result.jac).max()) < 2e-3
        assert float(result.fun) < float(fun(x0))
        if minimum is not None:
            close(result.fun, minimum)
        close(result.fun, fun(result.x))
        several = sagax.vmap(run)(snp.stack([x0, x0 + 0.1]))
        close(several.fun[0], result.fun)


def test_options_of_minimize():
    x = snp.zeros(2)
    few = minimize(rosenbrock, x, method="BFGS", options={"maxiter": 2})
    assert not few.success and int(few.status) == 1 and int(few.nit) == 2
    assert few.hess_inv.shape == (2, 2)
    shifted = minimize(lambda x, c: snp.sum((x - c) ** 2), x, (2.0,), method="BFGS", tol=1e-3)
    close(shifted.x, [2, 2], 1e-3)
    done = minimize(lambda x: snp.sum(x**2), x, method="L-BFGS")
    assert done.success and int(done.nit) == 0 and done.hess_inv is None
    for wrong, text in [
        (lambda: minimize(rosenbrock, x, method="Newton"), "'BFGS' or 'L-BFGS'"),
        (lambda: minimize(rosenbrock, x, [1], method="BFGS"), "a tuple"),
        (lambda: minimize(rosenbrock, snp.zeros((2, 2)), method="BFGS"), "ravel"),
        (lambda: minimize(rosenbrock, x, method="BFGS", options={"tolx": 1}), "gtol"),
    ]:
        with pytest.raises(SagaxError, match=text):
            wrong()


# Interpolation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, -1.0, None])
def test_interpolates_as_scipy(method, fill):
    grid = (np.array([0.0, 1.0, 2.5, 4.0]), np.array([-1.0, 0.5, 2.0]), np.array([0.0, 2.0]))
    values = RNG.normal(size=(4, 3, 2, 2))
    points = RNG.uniform([-1, -2, -1], [5, 3, 3], (40, 3))
    args = {"method": method, "bounds_error": False, "fill_value": fill}
    expected = scipy.interpolate.RegularGridInterpolator(grid, values, **args)(points)
    f = RegularGridInterpolator(grid, values, **args)
    close(f(points), expected, 1e-4)
    close(sagax.jit(lambda f, p: f(p))(f, points), expected, 1e-4)


def test_interpolation_has_derivatives_and_checks():
    f = RegularGridInterpolator((snp.arange(3.0),), snp.array([0.0, 1.0, 4.0]))
    assert float(sagax.grad(lambda x: f(x[None])[0])(snp.array([1.5]))[0]) == 3.0
    with pytest.raises(SagaxError, match="strictly increasing"):
        RegularGridInterpolator((snp.array([1.0, 0.0]),), snp.zeros(2))
    with pytest.raises(SagaxError, match="'linear' or 'nearest'"):
        RegularGridInterpolator((snp.arange(2.0),), snp.zeros(2), method="cubic")
    with pytest.raises(SagaxError, match="a vector of 2 coordinates"):
        RegularGridInterpolator((snp.arange(3.0),), snp.zeros(2))


# Rotations -------------------------------------------------------------------------------------------

QUATS = RNG.normal(size=(6, 4)).astype(np.float32)
SEQUENCES = ["xyz", "zxz", "XYZ", "ZYX", "yxy", "YZY", "zyx"]


def test_conversions_are_those_of_scipy():
    have, want = Rotation.from_quat(QUATS), Expected.from_quat(QUATS)
    close(have.as_matrix(), want.as_matrix())
    close(have.as_rotvec(), want.as_rotvec())
    close(have.as_rotvec(degrees=True), want.as_rotvec(degrees=True), 1e-3)
    close(have.as_mrp(), want.as_mrp())
    close(have.as_quat(canonical=True), want.as_quat(canonical=True))
    close(have.as_quat(scalar_first=True), want.as_quat(scalar_first=True))
    close(have.magnitude(), want.magnitude())
    close(have.inv().as_quat(), want.inv().as_quat())
    close(have.mean().as_matrix(), want.mean().as_matrix())
    for make in ("rotvec", "mrp", "matrix"):
        value = getattr(want, f"as_{make}")()
        close(getattr(Rotation, f"from_{make}")(value).as_matrix(), want.as_matrix())
    vectors = RNG.normal(size=(6, 3)).astype(np.float32)
    close(have.apply(vectors), want.apply(vectors))
    close(have.apply(vectors, inverse=True), want.apply(vectors, inverse=True))
    close((have * have[::-1]).as_matrix(), (want * want[::-1]).as_matrix())
    assert len(Rotation.concatenate([have, have[0]])) == 7


@pytest.mark.parametrize("seq", SEQUENCES)
def test_euler_angles_are_those_of_scipy(seq):
    close(Rotation.from_quat(QUATS).as_euler(seq), Expected.from_quat(QUATS).as_euler(seq), 1e-4)
    angles = RNG.uniform(-100, 100, (5, 3)).astype(np.float32)
    have = Rotation.from_euler(seq, angles, degrees=True)
    close(have.as_matrix(), Expected.from_euler(seq, angles, degrees=True).as_matrix())
    again = Rotation.from_euler(seq, have.as_euler(seq))
    close(again.as_matrix(), have.as_matrix(), 1e-4)


def test_slerp_is_that_of_scipy():
    times, at = [0.0, 1.0, 2.5, 3.0, 4.0, 6.0], [0.0, 0.3, 1.7, 2.9, 5.5, 6.0]
    want = ExpectedSlerp(times, Expected.from_quat(QUATS))(at)
    slerp = Slerp.init(times, Rotation.from_quat(QUATS))
    close(slerp(at).as_matrix(), want.as_matrix(), 1e-4)
    close(sagax.jit(lambda s, t: s(t).as_matrix())(slerp, 1.7), want[2].as_matrix(), 1e-4)


def test_rotations_have_derivatives_at_the_identity_and_check_arguments():
    jacobian = sagax.jacfwd(lambda v: Rotation.from_rotvec(v).as_rotvec())(snp.zeros(3))
    close(jacobian, np.eye(3))
    assert Rotation.random(sagax.random.key(0), 3).quat.shape == (3, 4)
    assert len(Rotation.identity(2)) == 2
    for wrong in (
        lambda: Rotation.from_euler("xx", snp.zeros(2)),
        lambda: Rotation.from_euler("xY", snp.zeros(2)),
        lambda: Rotation.from_euler("xyz", snp.zeros(2)),
        lambda: Rotation.identity().as_euler("x"),
        lambda: Rotation.identity()[0],
        lambda: Rotation.from_quat(snp.zeros(3)),
        lambda: Slerp.init([0.0], Rotation.identity()),
    ):
        with pytest.raises(SagaxError):
            wrong()


def test_entropy_of_poisson():
    mu = np.array([0.01, 0.5, 1, 5, 9.99, 30, 99, 101, 800])
    close(poisson.entropy(mu.astype(np.float32)), scipy.stats.poisson.entropy(mu), 1e-5)
    assert float(poisson.entropy(0.0)) == 0 and np.isnan(poisson.entropy(-1.0))
    step = 1e-3
    slope = (scipy.stats.poisson.entropy(5 + step) - scipy.stats.poisson.entropy(5 - step)) / (
        2 * step
    )
    close(sagax.grad(poisson.entropy)(5.0), slope, 1e-3)
