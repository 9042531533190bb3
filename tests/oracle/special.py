"""Records jax's transcendental and special functions: values and derivatives where they are delicate.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/special.py

It rewrites tests/data/special.npz, which tests/primitives/test_transcendental.py and tests/primitives/test_special.py compare
sagax with. `name/x0`, `name/x1`, ... are the arguments of the function `name`; `name/value`; `name/d1` the
derivative in the argument x1 and `name/d11` the second one. Names ending in `.c64` are complex. All are
taken with float32 or complex64.
"""

import warnings
from pathlib import Path

import jax
import numpy as np
from jax import lax

DATA = Path(__file__).resolve().parents[1] / "data" / "special.npz"
inf, nan = np.inf, np.nan

# Zeros of either sign, ends of domains, poles, infinities, numbers whose squares leave the range.
POINTS = [
    nan,
    inf,
    -inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    -3.0,
    0.5,
    -0.5,
    1e30,
    -1e30,
    1e-30,
    -1e-30,
]
POINTS += [3.7, -3.7, 9.2, -9.2, 20.0, -20.0, 100.0, -100.0]
ELEMENTARY = """
    exp exp2 expm1 log log1p logistic sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
""".split()
SPECIAL = "erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e".split()

PLANE = [
    0j,
    1 + 0j,
    -1 + 0j,
    1j,
    -1j,
    0.5 + 0.5j,
    -0.5 + 2j,
    2 - 0.5j,
    -2 - 2j,
    3 + 0.1j,
    0.01 - 0.02j,
]

PAIRS = {
    "atan2": [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (-0.0, -1), (inf, 1), (1, inf), (1, -inf)]
    + [(inf, inf), (nan, 1), (0.5, -2.0), (3.0, 0.25)],
    "igamma": [(0, 0), (0, 1), (0, inf), (0, -1), (1, 0), (1, inf), (1, -1), (-1, 1), (-1, 0)]
    + [(inf, 1), (inf, inf), (inf, 0), (1, nan), (nan, 1), (-inf, 1), (2.5, -0.0), (1e-30, 1)]
    + [(0.5, 0.25), (0.5, 3.0), (3.0, 1.0), (3.0, 9.0), (8.0, 8.0), (30.0, 20.0), (30.0, 40.0)],
    "zeta": [(1, 1), (1, 0), (0.5, 2), (-1, 2), (2, 0), (2, -1), (2, -0.5), (3, -1.5), (2.5, -1.5)]
    + [(3, -1), (nan, 1), (2, nan), (2, 1), (3, 0.25), (7.5, 2.5)],
    "polygamma": [(0, 0), (0, -1), (1, 0), (1, -1), (2, -1), (1, inf), (2, nan), (0.5, 2), (-1, 2)]
    + [(1, -0.5), (3, 0), (0, 2.5), (1, 2.5), (4, 0.75)],
}
PAIRS["igammac"] = PAIRS["igamma_grad_a"] = PAIRS["random_gamma_grad"] = PAIRS["igamma"]
# which derivatives jax has
IN_BOTH, IN_SECOND, NOWHERE = (0, 1), (1,), ()
ARGUMENTS = {"atan2": IN_BOTH, "igamma": IN_BOTH, "igammac": IN_BOTH, "polygamma": IN_SECOND}

TRIPLES = [(0, 1, 0.5), (1, 0, 0.5), (0, 0, 0.5), (0, 0, 0), (1, 1, 0), (1, 1, 1), (1, 1, -0.1)]
TRIPLES += [(1, 1, 1.1), (-1, 1, 0.5), (1, -1, 0.5), (inf, 1, 0.5), (1, inf, 0.5), (inf, inf, 0.5)]
TRIPLES += [(nan, 1, 0.5), (1, nan, 0.5), (1, 1, nan), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)]
TRIPLES += [(inf, 1, 1), (1, inf, 0), (0.5, 0.5, 0.3), (3, 0.2, 0.9), (2, 5, 0.25), (20, 30, 0.5)]


def derivative(f, i):
    return jax.jacfwd(f, argnums=i)


def record(found: dict, name: str, f, arguments: list[np.ndarray], wanted: tuple[int, ...]) -> None:
    """The values and derivatives of `f`, element by element."""
    for i, x in enumerate(arguments):
        found[f"{name}/x{i}"] = x
    found[f"{name}/value"] = np.asarray(f(*arguments))
    for i in wanted:
        first = derivative(f, i)
        found[f"{name}/d{i}"] = np.asarray(jax.vmap(first)(*arguments))
    for i in wanted:
        if name not in ("igamma", "igammac") or i == 1:  # jax has no second derivative in a
            second = derivative(derivative(f, i), i)
            found[f"{name}/d{i}{i}"] = np.asarray(jax.vmap(second)(*arguments))


def complex_derivative(f):
    return lambda z: jax.jvp(f, (z,), (np.complex64(1),))[1]


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, np.ndarray] = {}
    points = np.array(POINTS, np.float32)
    for name in ELEMENTARY + SPECIAL:
        record(found, name, getattr(lax, name), [points], (0,))
    plane = np.array(PLANE, np.complex64)
    for name in ELEMENTARY:
        f = getattr(lax, name)
        found[f"{name}.c64/x0"] = plane
        found[f"{name}.c64/value"] = np.asarray(f(plane))
        found[f"{name}.c64/d0"] = np.asarray(jax.vmap(complex_derivative(f))(plane))
    for name, pairs in PAIRS.items():
        arguments = list(np.array(pairs, np.float32).T)
        record(found, name, getattr(lax, name), arguments, ARGUMENTS.get(name, NOWHERE))
    arguments = list(np.array(TRIPLES, np.float32).T)
    record(found, "betainc", lax.betainc, arguments, (2,))
    np.savez_compressed(DATA, **found)


if __name__ == "__main__":
    main()
