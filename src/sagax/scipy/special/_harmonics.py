"""Evaluate associated Legendre functions and spherical harmonics, by recurrences."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax.numpy._base import (
    as_array,
    as_operand,
    dtype_of,
    promote_inexact,
    promotes_freely,
    strong,
)
from sagax.numpy._fused import fused_function


def _size(function: str, argument: str, value: Any) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise ArgumentError.about(
            function, argument, value, "an int that is known while tracing"
        ) from None
    if found < 0:
        raise ArgumentValueError.about(function, argument, found, "an int that is not negative")
    return found


def _legendre(m_max: int, n_max: int, z: Any, normalized: bool) -> list[list[Any]]:
    """P[m][n] at the points z, up to n_max; DLMF 14.10.3, started from P[m][m].

    Normalized, they are those of the spherical harmonics, with the sign (-1)**m.
    """
    root = snp.sqrt(snp.maximum(1 - z * z, 0.0))
    zero = 0 * z
    table = [[zero for _ in range(n_max + 1)] for _ in range(m_max + 1)]
    diagonal = zero + (math.sqrt(0.25 / math.pi) if normalized else 1.0)
    for m in range(min(m_max, n_max) + 1):
        if m:
            factor = math.sqrt((2 * m + 1) / (2 * m)) if normalized else 2 * m - 1
            diagonal = -factor * root * diagonal
        table[m][m] = diagonal
        for n in range(m + 1, n_max + 1):
            before = table[m][n - 2] if n - 2 >= m else zero
            if normalized:
                scale = math.sqrt((4 * n * n - 1) / (n * n - m * m))
                lag = math.sqrt(((n - 1) ** 2 - m * m) / (4 * (n - 1) ** 2 - 1))
                table[m][n] = scale * (z * table[m][n - 1] - lag * before)
            else:
                table[m][n] = ((2 * n - 1) * z * table[m][n - 1] - (n + m - 1) * before) / (n - m)
    return table


def _points(function: str, z: Any) -> Any:
    (z,) = promote_inexact(function, as_operand(function, z))
    z = as_array(function, z)
    if z.ndim != 1:
        raise ArgumentValueError.about(function, "z", z, "an array of one dimension")
    return z


@fused_function(0)
def lpmn_values(m: int, n: int, z: Any, is_normalized: bool) -> Array:
    """Compute associated Legendre functions of orders to m and degrees to n at the points z (1-D).

    The result has shape (m + 1, n + 1, len(z)). With `is_normalized` they carry the factor of the
    spherical harmonics, so that these are exp(i m theta) times them.

    >>> special.lpmn_values(1, 1, np.array([0.0]), False)[1, 1]
    Array([-1.], dtype=float32)
    """
    m, n = _size("lpmn_values", "m", m), _size("lpmn_values", "n", n)
    z = _points("lpmn_values", z)
    table = _legendre(m, n, z, bool(is_normalized))
    return strong(snp.stack([snp.stack(row) for row in table]))


@fused_function(0)
def lpmn(m: int, n: int, z: Any) -> tuple[Array, Array]:
    """Compute associated Legendre functions, not normalized, and their derivatives in z.

    >>> special.lpmn(1, 1, np.array([0.5]))[1][0, 1]
    Array([1.], dtype=float32)
    """
    m, n = _size("lpmn", "m", m), _size("lpmn", "n", n)
    z = _points("lpmn", z)
    table = _legendre(m, n, z, False)
    slopes = []
    for order, row in enumerate(table):
        # (z**2 - 1) P' = n z P[n] - (n + m) P[n - 1]: DLMF 14.10.5
        out = []
        for degree, value in enumerate(row):
            before = row[degree - 1] if degree else 0 * z
            out.append((degree * z * value - (degree + order) * before) / (z * z - 1))
        slopes.append(snp.stack(out))
    return snp.stack([snp.stack(row) for row in table]), snp.stack(slopes)


@fused_function(4)
@promotes_freely
def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Array:
    """Compute complex spherical harmonics of degree n, order m at polar theta and azimuth phi.

    n, m, theta and phi broadcast. Under `jit`, where n is not known, `n_max` says how large it can be.
    Entries with |m| > n are 0. `diff_n` must be None.

    Raises TypeError if n_max is needed, ValueError for `diff_n`.

    >>> special.sph_harm_y(np.array([0]), np.array([0]), np.array([0.0]), np.array([0.0])).round(4)
    Array([0.2821+0.j], dtype=complex64)
    """
    name = "sph_harm_y"
    if diff_n is not None:
        raise ArgumentValueError.about(
            name, "diff_n", diff_n, "None", fix="use grad for derivatives"
        )
    n, m = as_array(name, as_operand(name, n)), as_array(name, as_operand(name, m, 1))
    theta, phi = promote_inexact(name, as_operand(name, theta, 2), as_operand(name, phi, 3))
    for argument, x in (("n", n), ("m", m)):
        if dtypes.kind(dtype_of(x)) not in "iu":
            raise ArgumentError.about(name, argument, x, "integers")
    most = _size(name, "n_max", np.max(np.asarray(n), initial=0) if n_max is None else n_max)
    n, m, theta, phi = snp.broadcast_arrays(n, m, theta, phi)
    shape = n.shape
    n, m, theta, phi = (x.reshape(-1) for x in (n, m, theta, phi))
    table = _legendre(most, most, snp.cos(theta), True)
    stacked = snp.stack([snp.stack(row) for row in table])
    size = snp.abs(m)
    points = snp.arange(n.shape[0])
    chosen = stacked[snp.minimum(size, most), snp.clip(n, 0, most), points]
    chosen = snp.where((size > n) | (n > most) | (n < 0), 0.0, chosen)
    sign = snp.where((m < 0) & (size % 2 == 1), -1.0, 1.0).astype(chosen.dtype)
    angle = m.astype(phi.dtype) * phi
    out = (sign * chosen) * (snp.cos(angle) + 1j * snp.sin(angle))
    return out.reshape(shape)
