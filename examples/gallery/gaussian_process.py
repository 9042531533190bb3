"""Fit a Gaussian process to 40 noisy values: its hyperparameters by gradients of the marginal likelihood.

The judges are the true function, the noise that was added, and how often the truth lies in the 95 % band.
"""

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax.scipy.linalg import cho_solve, cholesky, solve_triangular
from sagax.scipy.optimize import minimize

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NOISE = 0.2


def truth(x):
    return np.sin(3 * x) + 0.3 * x


def kernel(a, b, scale, width):
    return scale**2 * snp.exp(-0.5 * ((a - b) / width) ** 2)


# from two numbers to a matrix: over the first argument, and within that over the second
matrix = sagax.vmap(sagax.vmap(kernel, (None, 0, None, None)), (0, None, None, None))


def factor(logs, x):
    """Cholesky factor of the covariance of the observations."""
    scale, width, noise = snp.exp(logs)
    return cholesky(matrix(x, x, scale, width) + noise**2 * snp.eye(len(x)), lower=True)


def negative_log_likelihood(logs, x, y):
    root = factor(logs, x)
    residual = solve_triangular(root, y, lower=True)
    return (
        0.5 * residual @ residual + snp.log(snp.diag(root)).sum() + len(x) * snp.log(2 * snp.pi) / 2
    )


@sagax.jit
def fit(x, y):
    """Minimize over the logarithms of scale, width and noise."""
    return minimize(negative_log_likelihood, snp.zeros(3), args=(x, y), method="BFGS")


@sagax.jit
def predict(logs, x, y, new):
    """Mean and standard deviation of the function at new points."""
    scale, width, _ = snp.exp(logs)
    root = factor(logs, x)
    cross = matrix(new, x, scale, width)
    mean = cross @ cho_solve((root, True), y)
    explained = snp.sum(solve_triangular(root, cross.T, lower=True) ** 2, axis=0)
    return mean, snp.sqrt(scale**2 - explained)


def main():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-3, 3, 40)).astype(np.float32)
    x = x[(x < 0.4) | (x > 1.3)]  # a gap, where the band must widen
    y = truth(x) + NOISE * rng.normal(size=len(x)).astype(np.float32)

    found = fit(x, y)
    scale, width, noise = snp.exp(found.x)
    new = np.linspace(-3, 3, 300, dtype=np.float32)
    mean, deviation = predict(found.x, x, y, new)
    inside = abs(mean - truth(new)) < 1.96 * deviation
    print(f"log marginal likelihood  {-found.fun:.3f}")
    print(f"scale, width             {scale:.3f}, {width:.3f}")
    print(f"noise, true {NOISE}          {noise:.3f}")
    print(f"truth within the band    {inside.mean():.3f}")

    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    ax.fill_between(new, mean - 1.96 * deviation, mean + 1.96 * deviation, alpha=0.3, label="95 %")
    ax.plot(new, mean, label="mean")
    ax.plot(new, truth(new), "k--", linewidth=1, label="truth")
    ax.plot(x, y, "k.", label="observed")
    ax.legend(ncols=4, loc="upper left")
    ax.set(ylim=(-2.4, 2.6), title=f"Gaussian process, width {width:.2f}, noise {noise:.2f}")
    figure.savefig("gaussian_process.png", dpi=100)


main()
