"""Derivatives checked by differences, in both modes and to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax

STEP = 1e-4


def check_derivatives(
    f: Callable, args: Sequence[Any], order: int = 2, modes: str = "fr", rtol: float = 1e-5
) -> None:
    """Forward (f) and reverse (r) derivatives of `f` at `args`, and theirs, against central differences.

    `args` are pytrees of floating point arrays, `f` returns such a pytree. Works in double precision.
    """
    with sagax.enable_x64(True):
        wide = sagax.tree.map(lambda x: np.asarray(x, np.float64), tuple(args))
        _check(sagax.jit(f), wide, order, modes, rtol, np.random.default_rng(0))


def _like(rng: np.random.Generator, tree: Any) -> Any:
    return sagax.tree.map(lambda x: rng.normal(size=np.shape(x)), tree)


def _dot(a: Any, b: Any) -> float:
    pairs = zip(sagax.tree.leaves(a), sagax.tree.leaves(b), strict=True)
    return sum(float(np.sum(np.asarray(x) * np.asarray(y))) for x, y in pairs)


def _check(
    f: Callable, args: tuple, order: int, modes: str, rtol: float, rng: np.random.Generator
) -> None:
    direction = _like(rng, args)
    ahead, behind = (
        f(*sagax.tree.map(lambda x, d, s=s: x + s * STEP * d, args, direction)) for s in (1, -1)
    )
    want = sagax.tree.map(lambda a, b: (np.asarray(a) - np.asarray(b)) / (2 * STEP), ahead, behind)
    if "f" in modes:
        _, got = sagax.jit(lambda *xs: sagax.jvp(f, xs, direction))(*args)
        for g, w in zip(sagax.tree.leaves(got), sagax.tree.leaves(want), strict=True):
            assert np.asarray(g).dtype == np.float64
            np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol, err_msg=f"jvp, order {order}")
    if "r" in modes:
        ct = _like(rng, ahead)
        pulled = sagax.jit(lambda *xs: sagax.vjp(f, *xs)[1](ct))(*args)
        np.testing.assert_allclose(
            _dot(pulled, direction),
            _dot(ct, want),
            rtol=rtol,
            atol=rtol,
            err_msg=f"vjp, order {order}",
        )
    if order > 1:
        if "f" in modes:
            pushed = sagax.jit(lambda *xs: sagax.jvp(f, xs, direction)[1])
            _check(pushed, args, order - 1, modes, rtol, rng)
        if "r" in modes:
            pulled_back = sagax.jit(lambda *xs: sagax.vjp(f, *xs)[1](ct))
            _check(pulled_back, args, order - 1, modes, rtol, rng)
