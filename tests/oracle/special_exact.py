"""Records exact values of transcendental and special functions, computed with mpmath.

Run with an interpreter that has mpmath and numpy, from any folder:

    python tests/oracle/special_exact.py

It rewrites tests/data/special_exact.npz, which tests/primitives/test_transcendental.py and tests/primitives/test_special.py
compare sagax with in units of the last place. `name/x0`, `name/x1`, ... are the arguments, numbers of
float32 stored as float64; `name/value` is the value, rounded to float64.
"""

from pathlib import Path

import mpmath as mp
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "special_exact.npz"
rng = np.random.default_rng(1)
mp.mp.dps = 50


def between(low: float, high: float, count: int = 12) -> np.ndarray:
    return rng.uniform(low, high, count)


def magnitudes(low: float, high: float, count: int = 12) -> np.ndarray:
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


def points(*parts: np.ndarray) -> np.ndarray:
    """All parts, rounded to float32."""
    return np.concatenate(parts).astype(np.float32).astype(np.float64)


# One argument ------------------------------------------------------------------------------------------

UNARY = {
    "exp": (mp.exp, points(between(-1, 1), between(-80, 80))),
    "exp2": (lambda x: mp.power(2, x), points(between(-1, 1), between(-120, 120))),
    "expm1": (mp.expm1, points(between(-1e-3, 1e-3), between(-1, 1), between(-20, 80))),
    "log": (mp.log, points(between(0.5, 2), magnitudes(1e-30, 1e30))),
    "log1p": (mp.log1p, points(between(-1e-3, 1e-3), between(-0.99, 2), magnitudes(1, 1e30))),
    "logistic": (lambda x: 1 / (1 + mp.exp(-x)), points(between(-5, 5), between(-80, 80))),
    "sin": (mp.sin, points(between(-3, 3), between(-1e4, 1e4))),
    "cos": (mp.cos, points(between(-3, 3), between(-1e4, 1e4))),
    "tan": (mp.tan, points(between(-3, 3), between(-1e4, 1e4))),
    "asin": (mp.asin, points(between(-1e-3, 1e-3), between(-1, 1), between(0.99, 1))),
    "acos": (mp.acos, points(between(-1, 1), between(0.99, 1))),
    "atan": (mp.atan, points(between(-1e-3, 1e-3), between(-3, 3), between(-1e4, 1e4))),
    "sinh": (mp.sinh, points(between(-1e-3, 1e-3), between(-3, 3), between(-80, 80))),
    "cosh": (mp.cosh, points(between(-3, 3), between(-80, 80))),
    "tanh": (mp.tanh, points(between(-1e-3, 1e-3), between(-3, 3), between(-20, 20))),
    "asinh": (mp.asinh, points(between(-1e-3, 1e-3), between(-3, 3), magnitudes(1, 1e30))),
    "acosh": (mp.acosh, points(between(1, 1.001), between(1, 3), magnitudes(1, 1e30))),
    "atanh": (mp.atanh, points(between(-1e-3, 1e-3), between(-1, 1), between(0.99, 0.999))),
    "erf": (mp.erf, points(between(-1e-3, 1e-3), between(-1, 1), between(-4, 4))),
    "erfc": (mp.erfc, points(between(-1, 1), between(-4, 4), between(1, 9))),
    "erf_inv": (mp.erfinv, points(between(-1e-3, 1e-3), between(-0.9, 0.9))),
    "exp_neg_square": (lambda x: mp.exp(-x * x), points(between(-1, 1), between(-9, 9))),
    "lgamma": (
        lambda x: mp.log(abs(mp.gamma(x))) if x < 1e3 else mp.loggamma(x),
        points(
            magnitudes(1e-30, 1),
            between(0.9, 1.1),
            between(1.9, 2.1),
            between(0, 10),
            magnitudes(8, 1e30),
            between(-5, 0),
            between(-50, 0),
        ),
    ),
    "digamma": (mp.digamma, points(between(0, 1.4), between(1.55, 20), magnitudes(20, 1e30))),
    "bessel_i0e": (
        lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
        points(between(-1, 1), between(-30, 30), magnitudes(20, 1e5)),
    ),
    "bessel_i1e": (
        lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
        points(between(-1, 1), between(-30, 30), magnitudes(20, 1e5)),
    ),
}

# Gamma distribution, by the integral of the density in log t ---------------------------------------------


def gamma_density(a, x):
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def gamma_tail(a, x, moment=0):
    """The integral of the density times (log t - digamma(a))**moment over the tail away from the mode."""
    up = x > max(a, 1)
    if not up and a < 20:
        if moment == 0:
            return mp.gammainc(a, 0, x, regularized=True)
        h = a * mp.mpf(10) ** -12
        f = lambda y: mp.gammainc(y, 0, x, regularized=True)  # noqa: E731
        return (f(a + h) - f(a - h)) / (2 * h)
    sign = 1 if up else -1
    shift = mp.log(x) - mp.digamma(a)

    def integrand(w):
        return mp.exp(-(x * mp.expm1(sign * w) - sign * a * w)) * (shift + sign * w) ** moment

    scale = min(1 / mp.sqrt(x), 1 / abs(x - a) if x != a else mp.mpf(1))
    edges = [0, *[scale * k for k in (0.5, 1, 2, 4, 8, 16, 32, 64)]]
    return x * gamma_density(a, x) * mp.quad(integrand, edges)


def lower(a, x):
    tail = gamma_tail(a, x)
    return 1 - tail if x > max(a, 1) else tail


def upper(a, x):
    tail = gamma_tail(a, x)
    return tail if x > max(a, 1) else 1 - tail


def lower_slope(a, x):
    slope = gamma_tail(a, x, 1)
    return -slope if x > max(a, 1) else slope


def gamma_arguments() -> tuple[np.ndarray, np.ndarray]:
    small, middle, large = magnitudes(1e-4, 1), between(0.5, 8), magnitudes(8, 100)
    huge = magnitudes(100, 1e6)
    a = np.concatenate([small, middle, large, huge])
    near = lambda c, s: c + s * np.sqrt(c) * rng.normal(size=c.shape)  # noqa: E731
    x = [
        magnitudes(1e-3, 20),
        middle * np.exp(0.7 * rng.normal(size=12)),
        near(large, 2),
        near(huge, 2),
    ]
    return points(a), points(np.maximum(np.concatenate(x), 0.01))


# Beta distribution, by the integral of the density in the logit ---------------------------------------------


def beta_density(a, b, x):
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta)


def beta_lower(a, b, x):
    if x > a / (a + b):
        return 1 - beta_part(b, a, 1 - x)
    return beta_part(a, b, x)


def beta_part(a, b, x):
    if min(a, b) < 20:
        return (
            x * (1 - x) * beta_density(a, b, x) / a * mp.hyp2f1(1, a + b, a + 1, x, maxterms=10**6)
        )
    scale = 1 / mp.sqrt((a + b) * x * (1 - x))
    edges = [0, *[scale * k for k in (0.5, 1, 2, 4, 8, 16, 32, 64)]]
    f = lambda w: mp.exp(-(a * w + (a + b) * mp.log1p(x * mp.expm1(-w))))  # noqa: E731
    return x * (1 - x) * beta_density(a, b, x) * mp.quad(f, edges)


def beta_arguments() -> tuple[np.ndarray, ...]:
    a = [
        magnitudes(1e-3, 1),
        between(0.5, 8),
        between(8, 60),
        magnitudes(0.01, 10),
        magnitudes(60, 1e6),
    ]
    b = [
        magnitudes(1e-3, 1),
        between(0.5, 8),
        between(8, 60),
        magnitudes(8, 1e5),
        magnitudes(60, 1e6),
    ]
    a, b = np.concatenate(a), np.concatenate(b)
    mean = a / (a + b)
    x = mean + 1.5 * np.sqrt(mean * (1 - mean) / (a + b + 1)) * rng.normal(size=a.shape)
    x[:12] = between(0.05, 0.95)
    inside = np.clip(x, 1e-6, 1 - 2e-6)
    return points(a), points(b), points(inside)


# Several arguments ----------------------------------------------------------------------------------------

GAMMA = gamma_arguments()
BETA = beta_arguments()
ORDERS = points(np.repeat([1.0, 2, 3, 6], 10))
BINARY = {
    "atan2": (mp.atan2, (points(between(-3, 3), magnitudes(1e-9, 1e9)), points(between(-3, 3), magnitudes(1e-9, 1e9)))),
    "igamma": (lower, GAMMA),
    "igammac": (upper, GAMMA),
    "gamma_density": (gamma_density, GAMMA),
    "igamma_grad_a": (lower_slope, GAMMA),
    "random_gamma_grad": (lambda a, x: -lower_slope(a, x) / gamma_density(a, x), GAMMA),
    "zeta": (mp.zeta, (points(between(1.01, 9, 24)), points(between(0.05, 3), between(3, 30)))),
    "polygamma": (mp.polygamma, (ORDERS, points(between(0.05, 3, 20), between(3, 30, 20)))),
    "betainc": (beta_lower, BETA),
    "beta_density": (beta_density, BETA),
}  # fmt: skip
# with whole exponents zeta goes on to negative arguments
NEGATIVE = (points(np.repeat([2.0, 3, 5], 6)), points(between(-10, 0, 18)))


def main() -> None:
    found: dict[str, np.ndarray] = {}
    table = {name: (f, (x,)) for name, (f, x) in UNARY.items()} | BINARY
    table["zeta.negative"] = (
        lambda s, q: (-1) ** int(s) * mp.polygamma(int(s) - 1, q) / mp.factorial(int(s) - 1),
        NEGATIVE,
    )
    for name, (f, arguments) in table.items():
        values = []
        for xs in zip(*arguments, strict=True):
            exact = [mp.mpf(float(x)) for x in xs]
            if name == "polygamma":
                exact[0] = int(xs[0])
            values.append(float(mp.re(f(*exact))))
        for i, x in enumerate(arguments):
            found[f"{name}/x{i}"] = x
        found[f"{name}/value"] = np.array(values)
        print(name, len(values), flush=True)
    np.savez_compressed(DATA, **found)


if __name__ == "__main__":
    main()
