"""Evaluate Bessel functions of the first kind of integer orders, all orders at once."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.jit import jit
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax.numpy._base import as_operand, dtype_of, promote_inexact, promotes_freely
from sagax.numpy._fused import fused_function

_LARGE, _SMALL = 1e10, 1e-2
_FEW = 16  # orders that are computed without a loop
_TERMS = 16  # of Hankel's expansion, enough for float64 beyond 50


def _near_zero(n: int, z: Any) -> Any:
    """The power series, DLMF 10.2.2, for |z| < 0.01."""
    half = 0.5 * z
    series = 0 * z + 1
    for k in (3, 2, 1):
        series = 1 - half * half / (k * (n + k)) * series
    power = 0 * z + 1
    for k in range(1, n + 1):
        power = power * (half / k)
    return power * series


def _hankel(z: Any, order: int) -> Any:
    """Hankel's expansion, DLMF 10.17.3, for z > 50."""
    parts = [0 * z, 0 * z]  # even and odd terms
    term, inverse = 0 * z + 1, 1 / z
    for k in range(_TERMS):
        parts[k % 2] = parts[k % 2] + (term if k % 4 < 2 else -term)
        term = term * inverse * ((4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1)))
    # cos(z - pi/4) and sin(z - pi/4), each written as the sum that loses no digits of a large z
    cos, sin = (snp.cos(z) + snp.sin(z)), (snp.sin(z) - snp.cos(z))
    if order:
        cos, sin = sin, -cos
    return (parts[0] * cos - parts[1] * sin) / snp.sqrt(math.pi * z)


def _backward(z: Any, v: int, top: int) -> Any:
    """Miller's algorithm, DLMF 3.6(v): recur from order `top` down, scale the sum of even orders to 1."""
    zero = 0 * z
    twice = 2 / z

    def step(carry: tuple, k: Any) -> tuple:
        above, here, total = carry
        below = k.astype(z.dtype) * twice * here - above
        # `below` has order k - 1
        total = total + snp.where(k % 2 == 1, snp.where(k == 1, below, 2 * below), 0.0)
        scale = snp.where(snp.abs(below) > _LARGE, 1 / _LARGE, 1.0).astype(z.dtype)
        return (here * scale, below * scale, total * scale), scale

    def stored(carry: tuple, k: Any) -> tuple:
        carry, scale = step(carry, k)
        return carry, (carry[1], scale)

    carry: Any = (zero, zero + 1e-10, zero)
    many = top - v - 1
    carry, _ = lax.scan(step, carry, top - snp.arange(many, dtype="int32"))
    last = snp.arange(v + 1, 0, -1, dtype="int32")
    (_, _, total), (values, scales) = lax.scan(stored, carry, last)
    # a value is scaled as often as those after it
    after = snp.concatenate([scales[1:], 0 * scales[:1] + 1])
    later = lax.cumprod(after, axis=0, reverse=True)
    return (values * later)[::-1] / total


def _forward(z: Any, v: int) -> Any:
    """Recur upwards, stable while the order is below z."""
    rows = [_hankel(z, 0), _hankel(z, 1)]
    inverse = 1 / z
    for n in range(1, v):
        rows.append(2 * n * inverse * rows[n] - rows[n - 1])
    return snp.stack(rows[: v + 1])


def _close(z: Any, v: int) -> Any:
    """Orders 0 to v for 0 <= z <= 2, by the quotients of successive orders, which are positive: DLMF 10.6.1 downwards."""
    quotients = [0 * z]  # from the highest order down
    for n in range(v + (20 if dtypes.itemsize(dtype_of(z)) == 8 else 12), 0, -1):
        quotients.append(z / (2 * n - z * quotients[-1]))
    quotients.reverse()
    pairs = [a * b for a, b in zip(quotients[::2], quotients[1::2], strict=False)]
    total = 0 * z + 1
    for pair in reversed(pairs):
        total = 1 + pair * total
    rows = [1 / (2 * total - 1)]  # the sum of the orders 0, 2, -2, 4, -4, ... is 1, DLMF 10.12.4
    for quotient in quotients[:v]:
        rows.append(rows[-1] * quotient)
    return snp.stack(rows)


def _anywhere(size: Any, v: int, n_iter: int) -> Any:
    """Orders 0 to v at size >= 0."""
    top = max(n_iter, 2 * v + 2, 100)
    small, large = size < _SMALL, size > 0.5 * top
    middle = _backward(snp.where(small | large, 1.0, size), v, top)
    beyond = _forward(snp.where(large, size, 0.5 * top), v)
    series = snp.stack([_near_zero(n, snp.where(small, size, 0.0)) for n in range(v + 1)])
    found = snp.where(small, series, snp.where(large, beyond, middle))
    return snp.where(snp.isinf(size), 0.0, snp.where(snp.isnan(size), snp.nan, found))


@functools.partial(jit, static_argnums=(1, 2))
@promotes_freely
def _values(z: Any, v: int, n_iter: int) -> Any:
    """Orders 0 to v at z, by the method that is accurate there."""
    size = snp.abs(z)
    if v > _FEW:
        found = _anywhere(size, v, n_iter)
    else:
        close = size <= 2
        near = _close(snp.where(close, size, 1.0), v)
        # a branch: a hundred iterations that small arguments do not need
        found = lax.cond(
            snp.all(close), lambda: near, lambda: snp.where(close, near, _anywhere(size, v, n_iter))
        )
    odd = (snp.arange(v + 1) % 2 == 1).reshape(-1, *[1] * z.ndim)
    return snp.where(odd & (z < 0), -found, found)


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
def _orders(z: Any, v: int, n_iter: int) -> Any:
    return _values(z, v, n_iter)


@_orders.defjvp
@promotes_freely
def _(v: int, n_iter: int, primals: tuple, tangents: tuple) -> tuple:
    found = _orders(primals[0], v + 1, n_iter)
    # DLMF 10.6.1: J'[n] = (J[n - 1] - J[n + 1]) / 2, where J[-1] = -J[1]
    below = snp.concatenate([-found[1:2], found[:v]])
    return found[:-1], 0.5 * (below - found[1:]) * tangents[0]


def _whole(argument: str, value: Any) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise ArgumentError.about(
            "bessel_jn", argument, value, "an int that is known while tracing"
        ) from None
    if found < 0:
        raise ArgumentValueError.about("bessel_jn", argument, found, "an int that is not negative")
    return found


@fused_function(1)
def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Array:
    """Compute the Bessel functions of the first kind of the integer orders 0 to v at real z.

    The result has shape (v + 1, *z.shape). Orders recur downwards from at least `n_iter`; more than are
    needed for full accuracy change nothing. Derivatives of all orders exist.

    Raises TypeError if v is no int or z is complex, ValueError if v is negative.

    >>> special.bessel_jn(0.0, v=1)
    Array([1., 0.], dtype=float32)
    """
    v, n_iter = _whole("v", v), _whole("n_iter", n_iter)
    (z,) = promote_inexact("bessel_jn", as_operand("bessel_jn", snp.asarray(z)))
    if dtypes.kind(dtype_of(z)) != "f":
        raise DtypeError(function="bessel_jn", got=z, expected="real numbers")
    narrow = dtypes.itemsize(dtype_of(z)) < 4
    found = _orders(z.astype(np.float32) if narrow else z, v, n_iter)
    return found.astype(dtype_of(z))
