"""Represent rotations in three dimensions by unit quaternions.

A quaternion is (x, y, z, w), with the scalar w last. All functions take stacks of rotations.

>>> from sagax.scipy.spatial.transform import Rotation
>>> turn = Rotation.from_euler("z", 90, degrees=True)
>>> turn.apply(snp.array([1.0, 0.0, 0.0])).round(4).tolist()
[0.0, 1.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import sagax.numpy as snp
import sagax.numpy._base as _base
import sagax.random as sagax_random
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError

__all__ = ["Rotation", "Slerp"]


def _inexact(x: Any) -> Any:
    x = _base.strong(snp.asarray(x))
    return x if snp.issubdtype(x.dtype, snp.floating) else x.astype(snp.result_type(x, 1.0))


def _norm(x: Any) -> Any:
    """Return the lengths of vectors, with derivative zero at zero."""
    squared = snp.sum(x * x, -1, keepdims=True)
    zero = squared == 0
    return snp.where(zero, 0, snp.sqrt(snp.where(zero, 1, squared)))


def _product(p: Any, q: Any) -> Any:
    """Multiply quaternions (Hamilton's product)."""
    v, w = p[..., :3], p[..., 3:]
    u, s = q[..., :3], q[..., 3:]
    vector = w * u + s * v + snp.cross(v, u)
    return snp.concatenate([vector, w * s - snp.sum(v * u, -1, keepdims=True)], -1)


def _axes(seq: Any, least: int, function: str) -> tuple[list[int], bool]:
    """Return the numbers of the axes of a sequence such as "xyz", and whether they turn with the body."""
    ok = isinstance(seq, str) and least <= len(seq) <= 3 and seq in (seq.lower(), seq.upper())
    numbers = ["xyz".find(c) for c in seq.lower()] if ok else [-1]
    if min(numbers) < 0 or any(a == b for a, b in zip(numbers, numbers[1:])):
        raise ArgumentValueError.about(
            function,
            "seq",
            repr(seq),
            "different neighbors among x, y, z (fixed axes), or X, Y, Z (axes of the body)",
        )
    return numbers, seq.isupper()


class Rotation(NamedTuple):
    """A rotation in three dimensions, or a stack of them, as unit quaternions `quat`.

    Create it by `from_quat`, `from_matrix`, `from_euler`, `from_rotvec` or `from_mrp`; `a * b` applies b first.

    >>> r = Rotation.from_rotvec(snp.array([0.0, 0.0, snp.pi / 2]))
    >>> r.as_matrix().round(4).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    quat: Any

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """Normalize quaternions (x, y, z, w)."""
        quat = _inexact(quat)
        if quat.ndim == 0 or quat.shape[-1] != 4:
            raise ArgumentValueError.about("from_quat", "quat", quat, "shape (..., 4)")
        return cls(quat / _norm(quat))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """Convert orthogonal matrices, by the largest of the four squared components."""
        m = _inexact(matrix)
        if m.shape[-2:] != (3, 3):
            raise ArgumentValueError.about("from_matrix", "matrix", m, "shape (..., 3, 3)")
        trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
        diagonal = [m[..., i, i] for i in range(3)]
        # row k is the quaternion times four times its component k
        rows = []
        for i in range(3):
            row: list[Any] = [None] * 4
            for j in range(3):
                row[j] = m[..., j, i] + m[..., i, j]
            row[i] = 1 - trace + 2 * diagonal[i]
            j, k = (i + 1) % 3, (i + 2) % 3
            row[3] = m[..., k, j] - m[..., j, k]
            rows.append(snp.stack(row, -1))
        last = [
            m[..., (i + 2) % 3, (i + 1) % 3] - m[..., (i + 1) % 3, (i + 2) % 3] for i in range(3)
        ]
        rows.append(snp.stack([*last, 1 + trace], -1))
        largest = snp.argmax(snp.stack([*diagonal, trace], -1), -1)
        chosen = rows[3]
        for i in range(3):
            chosen = snp.where((largest == i)[..., None], rows[i], chosen)
        return cls(chosen / _norm(chosen))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """Convert vectors along the axis, whose length is the angle."""
        v = _inexact(rotvec)
        if degrees:
            v = snp.deg2rad(v)
        angle = _norm(v)
        small = angle < 1e-3
        scale = snp.sin(angle / 2) / snp.where(small, 1, angle)
        scale = snp.where(small, 0.5 - angle**2 / 48, scale)
        return cls(snp.concatenate([scale * v, snp.cos(angle / 2)], -1))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """Convert modified Rodrigues parameters: the axis times tan(angle / 4)."""
        v = _inexact(mrp)
        squared = snp.sum(v * v, -1, keepdims=True)
        return cls(snp.concatenate([2 * v, 1 - squared], -1) / (1 + squared))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """Compose rotations about axes: of space for "xyz", of the turning body for "XYZ"."""
        axes, intrinsic = _axes(seq, 1, "from_euler")
        angles = _inexact(angles)
        if degrees:
            angles = snp.deg2rad(angles)
        if len(axes) == 1 and (angles.ndim == 0 or angles.shape[-1] != 1):
            angles = angles[..., None]
        if angles.shape[-1] != len(axes):
            raise ArgumentValueError.about(
                "from_euler", "angles", angles, f"{len(axes)} angles along the last dimension"
            )
        quat = None
        for k, axis in enumerate(axes):
            half = angles[..., k] / 2
            zero = snp.zeros_like(half)
            parts = [snp.sin(half) if i == axis else zero for i in range(3)]
            one = snp.stack([*parts, snp.cos(half)], -1)
            quat = one if quat is None else _product(*((quat, one) if intrinsic else (one, quat)))
        return cls(quat)

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """Return the rotation by nothing, or `num` of them."""
        quat = snp.array([0, 0, 0, 1], dtype)
        return cls(quat if num is None else snp.tile(quat, (num, 1)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Draw rotations uniformly: normal quaternions, normalized."""
        return cls.from_quat(sagax_random.normal(random_key, (4,) if num is None else (num, 4)))

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Stack rotations along the first dimension."""
        return cls(snp.concatenate([snp.atleast_2d(r.quat) for r in rotations]))

    @property
    def single(self) -> bool:
        """True for one rotation, False for a stack."""
        return self.quat.ndim == 1

    def __getitem__(self, index: Any) -> Any:
        if self.single:
            raise ArgumentError(
                "a single rotation cannot be indexed", function="Rotation", got=self.quat
            )
        return Rotation(self.quat[index])

    def __len__(self) -> int:
        if self.single:
            raise ArgumentError("a single rotation has no len()", function="len", got=self.quat)
        return self.quat.shape[0]

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation.from_quat(_product(self.quat, other.quat))

    def inv(self) -> Rotation:
        """Return the rotation back."""
        return Rotation(self.quat * snp.array([-1, -1, -1, 1], self.quat.dtype))

    def apply(self, vectors: Any, inverse: bool = False) -> Array:
        """Rotate vectors."""
        matrix = (self.inv() if inverse else self).as_matrix()
        return snp.einsum("...ij,...j->...i", matrix, snp.asarray(vectors))

    def magnitude(self) -> Array:
        """Return the angles, from 0 to pi."""
        return 2 * snp.arctan2(_norm(self.quat[..., :3])[..., 0], snp.abs(self.quat[..., 3]))

    def mean(self, weights: Any = None) -> Rotation:
        """Return the mean: the quaternion with the largest sum of squared products with the others."""
        q = self.quat.reshape(-1, 4)
        w = snp.ones(q.shape[0], q.dtype) if weights is None else snp.asarray(weights, q.dtype)
        if w.shape != (q.shape[0],):
            raise ArgumentValueError.about("mean", "weights", w, f"{q.shape[0]} numbers")
        return Rotation(snp.linalg.eigh(snp.einsum("n,ni,nj->ij", w, q, q))[1][:, -1])

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Return the quaternions; `canonical` makes the first nonzero of w, x, y, z positive."""
        q = self.quat
        if canonical:
            sign: Any = 0
            for i in (3, 0, 1, 2):
                sign = snp.where(sign == 0, snp.sign(q[..., i : i + 1]), sign)
            q = q * snp.where(sign < 0, -1, 1).astype(q.dtype)
        return snp.roll(q, 1, -1) if scalar_first else q

    def as_matrix(self) -> Array:
        """Return the orthogonal matrices."""
        x, y, z, w = [self.quat[..., i] for i in range(4)]
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
        ]
        return snp.stack([snp.stack(row, -1) for row in rows], -2)

    def as_mrp(self) -> Array:
        """Return modified Rodrigues parameters, of length at most 1."""
        sign = snp.where(self.quat[..., 3:] < 0, -1, 1).astype(self.quat.dtype)
        return sign * self.quat[..., :3] / (1 + sign * self.quat[..., 3:])

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Return the vectors along the axis, whose length is the angle, at most pi."""
        q = snp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        length = _norm(q[..., :3])
        angle = 2 * snp.arctan2(length, q[..., 3:])
        small = length < 5e-4
        scale = snp.where(small, 2 + angle**2 / 12, angle / snp.where(small, 1, length))
        vector = scale * q[..., :3]
        return snp.rad2deg(vector) if degrees else vector

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Return angles about three axes, as `from_euler` takes them.

        Bernardes and Viollet, PLoS ONE 17 (2022). Where the second angle leaves only the sum of the others, one
        of them is zero: the third of fixed axes, the first of the body's.
        """
        (i, j, k), intrinsic = _axes(seq, 3, "as_euler")
        if intrinsic:
            i, k = k, i
        symmetric = i == k
        if symmetric:
            k = 3 - i - j
        sign = (i - j) * (j - k) * (k - i) // 2
        x, y, z, w = (
            self.quat[..., i],
            self.quat[..., j],
            self.quat[..., k] * sign,
            self.quat[..., 3],
        )
        a, b, c, d = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
        middle = 2 * snp.arctan2(snp.hypot(c, d), snp.hypot(a, b))
        plus, minus = snp.arctan2(b, a), snp.arctan2(d, c)
        near = 1e-7
        at_zero, at_pi = snp.abs(middle) <= near, snp.abs(middle - np.pi) <= near
        first, third = plus - minus, plus + minus
        alone = snp.where(at_zero, 2 * plus, 2 * minus * (1 if intrinsic else -1))
        degenerate = at_zero | at_pi
        if intrinsic:
            first, third = snp.where(degenerate, 0, first), snp.where(degenerate, alone, third)
        else:
            first, third = snp.where(degenerate, alone, first), snp.where(degenerate, 0, third)
        if not symmetric:
            third, middle = third * sign, middle - np.pi / 2
        angles = [third, middle, first] if intrinsic else [first, middle, third]
        found = (snp.stack(angles, -1) + np.pi) % (2 * np.pi) - np.pi
        return snp.rad2deg(found) if degrees else found


class Slerp(NamedTuple):
    """Interpolate between rotations at constant angular speed; made by `Slerp.init(times, rotations)`.

    >>> ends = Rotation.from_euler("z", snp.array([0.0, 90.0]), degrees=True)
    >>> round(float(Slerp.init([0, 1], ends)(0.5).magnitude()), 4)
    0.7854
    """

    times: Any
    timedelta: Any
    rotations: Any
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """Take two or more rotations at increasing times."""
        if not isinstance(rotations, Rotation):
            raise ArgumentError.about(
                "Slerp.init", "rotations", type(rotations).__name__, "a Rotation"
            )
        if rotations.single or len(rotations) == 1:
            raise ArgumentValueError.about(
                "Slerp.init", "rotations", rotations.quat, "at least two rotations"
            )
        times = snp.asarray(times, rotations.quat.dtype)
        if times.shape != (len(rotations),):
            raise ArgumentValueError.about(
                "Slerp.init", "times", times, f"a time for each of {len(rotations)} rotations"
            )
        start, end = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(times, snp.diff(times), start, (start.inv() * end).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """Return the rotations at these times."""
        t = snp.asarray(times, self.times.dtype)
        if t.ndim > 1:
            raise ArgumentValueError.about("Slerp", "times", t, "a number or a vector")
        i = snp.clip(snp.searchsorted(self.times, t) - 1, 0, len(self.rotations) - 1)
        part = (t - self.times[i]) / self.timedelta[i]
        return self.rotations[i] * Rotation.from_rotvec(self.rotvecs[i] * part[..., None])
