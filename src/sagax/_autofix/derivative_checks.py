"""Compare derivatives that a script takes with finite differences along one direction.

The derivative of f at x along d is compared with (f(x + h d) - f(x - h d)) / 2h, with several h, in
the precision of the script. Only derivatives at known values are compared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from sagax._autofix.probes import Recorder
from sagax._src.core.trace import Tracer
from sagax._src.trees import leaves
from sagax.tree_util import tree_map

_MAX_CHECKS = 12
_STEPS = (1e-2, 3e-3, 1e-3)  # relative to the size of x
_TOLERANCE = 0.03


@dataclass(frozen=True)
class DerivativeCheck:
    """Hold one comparison; `agrees` is None where finite differences do not converge."""

    agrees: bool | None
    exact: float
    difference: float


class _Checks:
    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.found: list[DerivativeCheck] = []
        self.busy = False

    def should_check(self, arguments: Any) -> bool:
        return (
            not self.busy
            and len(self.found) < _MAX_CHECKS
            and not any(isinstance(x, Tracer) for x in leaves(arguments))
        )

    def compare(self, along: Callable[[float], float], exact: float, size: float) -> None:
        """Compare an exact derivative with differences of `along`, a function of the step."""
        self.busy = self.recorder.paused = True
        try:
            value = along(0.0)
            differences = [
                ((along(h) - along(-h)) / (2 * h), 1e-6 * (abs(value) + 1e-3) / h) for h in _STEPS
            ]
        except Exception:  # the script's own function fails beside the point that it is made for
            self.found.append(DerivativeCheck(None, exact, np.nan))
            return
        finally:
            self.busy = self.recorder.paused = False
        self.found.append(_verdict(exact, differences, size))


def _verdict(exact: float, differences: list[tuple[float, float]], size: float) -> DerivativeCheck:
    finite = [(d, noise) for d, noise in differences if np.isfinite(d)]
    if not finite:
        return DerivativeCheck(None, exact, np.nan)
    for found, noise in finite:
        if abs(found - exact) <= _TOLERANCE * max(abs(found), abs(exact)) + 4 * noise + 1e-6 * size:
            return DerivativeCheck(True, exact, found)
    (first, noise), *others = finite
    gap = min([abs(d - exact) for d, _ in finite])
    # what the differences differ by from one another is not the derivative's fault
    converge = len(others) > 0 and all(
        abs(d - first) <= min(2 * _TOLERANCE * max(abs(d), abs(first)), gap / 3) + 4 * (noise + n)
        for d, n in others
    )
    return DerivativeCheck(False if converge else None, exact, first)


def _direction(x: Any, seed: int) -> Any:
    """Return a direction for each floating leaf, as large as its numbers."""
    rng = np.random.Generator(np.random.PCG64(seed))

    def leaf(v: Any) -> Any:
        value = np.asarray(v)
        if not _is_float(value):
            return None
        scale = max(float(np.max(np.abs(value.astype(np.float64)), initial=0.0)), 1e-2)
        return (scale * rng.choice([-1.0, -0.7, 0.6, 1.0], size=value.shape)).astype(value.dtype)

    return [leaf(v) for v in leaves(x)]


def _is_float(value: np.ndarray) -> bool:
    return value.dtype.kind == "f" or "float" in value.dtype.name


def _moved(x: Any, direction: list[Any], step: float) -> Any:
    parts = iter(direction)

    def leaf(v: Any) -> Any:
        d = next(parts)
        return v if d is None else (v + np.asarray(step * d).astype(d.dtype))

    return tree_map(leaf, x)


def _dot(direction: list[Any], gradient: Any) -> float:
    pairs = zip(direction, leaves(gradient), strict=True)
    return float(sum(np.sum(d * np.asarray(g, np.float64)) for d, g in pairs if d is not None))


def install(package: ModuleType, recorder: Recorder) -> list[DerivativeCheck]:
    """Check `grad`, `value_and_grad` and `jvp` of `package`; return the list of what is found."""
    checks = _Checks(recorder)

    def check_gradient(
        fun: Callable[..., Any], argnums: Any, has_aux: bool, args: Any, kwargs: Any, gradient: Any
    ) -> None:
        if not checks.should_check((args, kwargs)):
            return
        positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        gradients = (gradient,) if isinstance(argnums, int) else tuple(gradient)
        directions = [_direction(args[i], 7 + i) for i in positions]

        def along(step: float) -> float:
            moved = list(args)
            for i, direction in zip(positions, directions, strict=True):
                moved[i] = _moved(args[i], direction, step)
            out = fun(*moved, **kwargs)
            return float(np.asarray(out[0] if has_aux else out))

        pairs = list(zip(directions, gradients, strict=True))
        exact = sum(_dot(d, g) for d, g in pairs)
        size = sum(float(np.sum(np.abs(p))) for d in directions for p in d if p is not None)
        checks.compare(along, exact, size)

    def checked(real: Callable[..., Any], with_value: bool) -> Callable[..., Any]:
        @functools.wraps(real)
        def transform(
            fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, **options: Any
        ) -> Callable[..., Any]:
            derivative = real(fun, argnums, has_aux, **options)

            @functools.wraps(derivative)
            def call(*args: Any, **kwargs: Any) -> Any:
                out = derivative(*args, **kwargs)
                if with_value:
                    gradient = out[1]
                else:
                    gradient = out[0] if has_aux else out
                check_gradient(fun, argnums, has_aux, args, kwargs, gradient)
                return out

            return call

        return transform

    def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
        found = real_jvp(fun, primals, tangents, has_aux)
        if checks.should_check((primals, tangents)):
            tangent_parts = [
                np.asarray(t) if _is_float(np.asarray(t)) else None for t in leaves(tangents)
            ]
            weights = [
                np.random.Generator(np.random.PCG64(3)).choice([-1.0, 0.7], size=np.shape(t))
                for t in leaves(found[1])
            ]

            def along(step: float) -> float:
                moved = _moved(primals, tangent_parts, step)
                out = fun(*moved)
                out = leaves(out[0] if has_aux else out)
                return float(
                    sum(np.sum(w * np.asarray(o)) for w, o in zip(weights, out, strict=True))
                )

            exact = float(
                sum(
                    np.sum(w * np.asarray(t))
                    for w, t in zip(weights, leaves(found[1]), strict=True)
                )
            )
            checks.compare(along, exact, 1.0)
        return found

    real_jvp: Any = package.__dict__["jvp"]
    package.__dict__["grad"] = checked(package.__dict__["grad"], with_value=False)
    package.__dict__["value_and_grad"] = checked(
        package.__dict__["value_and_grad"], with_value=True
    )
    package.__dict__["jvp"] = jvp
    return checks.found
