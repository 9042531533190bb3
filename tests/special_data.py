"""What primitives/test_transcendental.py and primitives/test_special.py share: recorded values, and comparisons with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sagax
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.core.value import aval_of
from sagax._src.primitives import transcendental
from sagax._src.primitives.special import bessel, beta, erf, gamma, incomplete
from sagax._src.runtime import devices
from sagax._src.runtime.array import as_array
from sagax._src.runtime.compile import Compiled, Lowered, execute

DATA = Path(__file__).resolve().parent / "data"
EXACT = dict(np.load(DATA / "special_exact.npz"))
JAX = dict(np.load(DATA / "special.npz"))


MODULES = (transcendental, bessel, beta, erf, gamma, incomplete)
DEFINED = {name: value for module in reversed(MODULES) for name, value in vars(module).items()}


def names_in(data: dict[str, np.ndarray]) -> list[str]:
    return list(dict.fromkeys(key.split("/")[0] for key in data))


def arguments_in(data: dict[str, np.ndarray], name: str) -> list[np.ndarray]:
    return [data[f"{name}/x{i}"] for i in range(3) if f"{name}/x{i}" in data]


def function(name: str) -> Callable[..., Any]:
    """The function called `name`, which may carry an ending such as `.c64`."""
    return DEFINED[name.split(".")[0]]


def primitive(name: str) -> Primitive:
    return DEFINED[f"{name}_p"]


def everything() -> list[Primitive]:
    """All primitives of the two families."""
    return list(dict.fromkeys(p for p in DEFINED.values() if isinstance(p, Primitive)))


def ulps(have: Any, exact: np.ndarray) -> np.ndarray:
    """How far results are from exact values, in units of the last place of their dtype.

    Where the exact value is no normal number of the dtype there is nothing to measure: 0.
    """
    have = np.asarray(have)
    info = np.finfo(have.dtype)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(exact).astype(have.dtype)).astype(np.float64)
        out = np.abs(have.astype(np.float64) - exact) / unit
    normal = (np.abs(exact) >= info.tiny) & (np.abs(exact) <= info.max)
    return np.where(normal, out, 0)


def assert_within_ulps(name: str, have: Any, limit: float) -> None:
    """Results of the function `name` on its recorded arguments are `limit` units from the exact values."""
    error = ulps(have, EXACT[f"{name}/value"])
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    at = [float(x[worst]) for x in arguments_in(EXACT, name)]
    assert error[worst] <= limit, f"{name}{tuple(at)}: {error[worst]:.3g} units of the last place"


def run_as_elsewhere(p: Primitive, *arguments: np.ndarray) -> np.ndarray:
    """The result of the program that is made for devices other than CPUs, run here."""
    jaxpr, _ = stage(lambda *xs: [p.bind(*xs)], [aval_of(x) for x in arguments])
    compiled = Compiled(Lowered(jaxpr, "cuda", p.name), devices.default_device())
    (out,) = execute(compiled, [as_array(x) for x in arguments], None)
    return np.asarray(out)


def derivative_at_each(f: Callable[..., Any], orders: Sequence[int]) -> Callable[..., Any]:
    """The derivative of an elementwise function in the arguments `orders`, one after the other."""
    for i in orders:
        f = sagax.jacfwd(f, argnums=i)
    return sagax.vmap(f)


def assert_same_as_jax(
    name: str, key: str, have: Any, rtol: float, atol: float, but: Callable[..., Any] | None = None
) -> None:
    """Results on the recorded arguments are jax's: the same NaN and infinities, finite ones close.

    `but(want, *arguments)` tells at which points sagax differs on purpose.
    """
    want, have = JAX[f"{name}/{key}"], np.asarray(have)
    arguments = arguments_in(JAX, name)
    assert have.dtype == want.dtype
    if but is not None:
        kept = ~but(want, *arguments)
        have, want, arguments = have[kept], want[kept], [x[kept] for x in arguments]
    with np.errstate(all="ignore"):
        close = np.isclose(have, want, rtol=rtol, atol=atol, equal_nan=True)
    bad = [(*[x[i] for x in arguments], have[i], want[i]) for i in np.flatnonzero(~close)]
    assert not bad, f"{name} {key}: (arguments, sagax, jax) {bad}"
