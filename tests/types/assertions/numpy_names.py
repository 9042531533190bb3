"""Types of results of `sagax.numpy`, with the flags that change them."""

from typing import assert_type

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array
from sagax.typing import ArrayLike

x = snp.ones((3, 3))
v = snp.arange(3.0)

assert_type(snp.zeros(3), Array)
assert_type(snp.ones((2, 3), snp.float32), Array)
assert_type(snp.full((2,), 1.0, dtype="float16"), Array)
assert_type(snp.array([1, 2, 3]), Array)
assert_type(snp.asarray(np.ones(3)), Array)
assert_type(snp.array([[1.0, v[0]], [2, 3]]), Array)
assert_type(snp.arange(10), Array)
assert_type(snp.eye(3), Array)
assert_type(snp.zeros_like(x), Array)
assert_type(snp.linspace(0, 1, 5), Array)
assert_type(snp.linspace(0, 1, 5, retstep=True), tuple[Array, Array])
assert_type(snp.float32(1), Array)
assert_type(snp.int32(v), Array)
assert_type(snp.pi, float)
assert_type(snp.inf, float)
assert_type(snp.newaxis, None)

assert_type(snp.sin(x), Array)
assert_type(snp.exp(1.0), Array)
assert_type(snp.abs(x), Array)
assert_type(snp.maximum(x, 0), Array)
assert_type(snp.add(x, 1), Array)
assert_type(snp.logaddexp(x, x), Array)
assert_type(snp.divmod(x, 2), tuple[Array, Array])
assert_type(snp.modf(x), tuple[Array, Array])
assert_type(snp.clip(x, 0, 1), Array)
assert_type(snp.where(x > 0, x, 0), Array)
assert_type(snp.where(x > 0), tuple[Array, ...])
assert_type(snp.select([x > 0], [x], 0), Array)
assert_type(snp.isnan(x), Array)
assert_type(snp.allclose(x, x), Array)
assert_type(snp.array_equal(x, x), Array)

assert_type(snp.sum(x), Array)
assert_type(snp.mean(x, axis=0), Array)
assert_type(snp.max(x, axis=(0, 1), keepdims=True), Array)
assert_type(snp.std(x, ddof=1), Array)
assert_type(snp.argmax(x, axis=-1), Array)
assert_type(snp.median(x), Array)
assert_type(snp.quantile(x, 0.5, method="nearest"), Array)
assert_type(snp.average(x, weights=v, axis=0), Array)
assert_type(snp.average(x, returned=True), tuple[Array, Array])
assert_type(snp.cumsum(x), Array)
assert_type(snp.histogram(x, bins=3), tuple[Array, Array])
assert_type(snp.cov(x), Array)

assert_type(snp.concatenate([x, x]), Array)
assert_type(snp.stack((v, v), axis=1), Array)
assert_type(snp.vstack([v, v]), Array)
assert_type(snp.split(x, 3), list[Array])
assert_type(snp.meshgrid(v, v, indexing="ij"), tuple[Array, ...])
assert_type(snp.broadcast_arrays(x, v), tuple[Array, ...])
assert_type(snp.broadcast_to(v, (3, 3)), Array)
assert_type(snp.reshape(x, (9,)), Array)
assert_type(snp.transpose(x), Array)
assert_type(snp.pad(x, 1, mode="reflect"), Array)
assert_type(snp.roll(x, 1, axis=0), Array)
assert_type(snp.tril(x), Array)
assert_type(snp.diag(v), Array)
assert_type(snp.tile(v, 2), Array)
assert_type(snp.expand_dims(v, 0), Array)
assert_type(snp.atleast_2d(v), Array)
assert_type(snp.atleast_2d(v, x), tuple[Array, ...])
assert_type(snp.indices((2, 3)), Array)
assert_type(snp.indices((2, 3), sparse=True), tuple[Array, ...])
assert_type(snp.unravel_index(v, (3,)), tuple[Array, ...])

assert_type(snp.unique(v), Array)
assert_type(snp.unique(v, return_index=True), tuple[Array, Array])
assert_type(snp.unique(v, return_inverse=True, return_counts=True), tuple[Array, Array, Array])
assert_type(
    snp.unique(v, return_index=True, return_inverse=True, return_counts=True),
    tuple[Array, Array, Array, Array],
)
assert_type(snp.unique(v, True), tuple[Array, Array])
assert_type(snp.intersect1d(v, v), Array)
assert_type(snp.intersect1d(v, v, return_indices=True), tuple[Array, Array, Array])
assert_type(snp.nonzero(v), tuple[Array, ...])
assert_type(snp.sort(v), Array)
assert_type(snp.argsort(v, stable=True), Array)
assert_type(snp.searchsorted(v, 1.0, side="right"), Array)

assert_type(x @ v, Array)
assert_type(snp.dot(x, v), Array)
assert_type(snp.matmul(x, x), Array)
assert_type(snp.einsum("ij,jk->ik", x, x), Array)
assert_type(snp.tensordot(x, x, axes=1), Array)
assert_type(snp.linalg.norm(x), Array)
assert_type(snp.linalg.inv(x), Array)
assert_type(snp.linalg.solve(x, v), Array)
assert_type(snp.linalg.cholesky(x), Array)
u, s, vt = snp.linalg.svd(x)
assert_type(u, Array)
assert_type(snp.linalg.svd(x, full_matrices=False).S, Array)
assert_type(snp.linalg.svd(x, compute_uv=False), Array)
assert_type(snp.linalg.svd(x, True, False), Array)
q, r = snp.linalg.qr(x)
assert_type(q, Array)
assert_type(snp.linalg.qr(x, mode="r"), Array)
assert_type(snp.linalg.eigh(x).eigenvalues, Array)
sign, logdet = snp.linalg.slogdet(x)
assert_type(logdet, Array)
assert_type(snp.polyfit(v, v, 1), Array)
assert_type(snp.polyfit(v, v, 1, cov=True), tuple[Array, Array])
assert_type(snp.fft.fft(v), Array)
assert_type(snp.fft.rfftfreq(4), Array)

assert_type(snp.shape(x), tuple[int, ...])
assert_type(snp.ndim(x), int)
assert_type(snp.size(x), int)
assert_type(snp.result_type(x, 1.0), np.dtype)
assert_type(snp.promote_types("int8", snp.float32), np.dtype)
assert_type(snp.dtype("int8"), np.dtype[np.int8])
assert_type(snp.issubdtype(x.dtype, snp.floating), bool)
assert_type(snp.iscomplexobj(x), bool)
assert_type(snp.isscalar(1), bool)
assert_type(snp.finfo(snp.float32).bits, int)
assert_type(snp.iinfo("int8").max, int)


def norm(v: Array) -> Array:
    return snp.sqrt(snp.sum(v * v))


assert_type(snp.vectorize(norm, signature="(n)->()")(x), Array)
assert_type(snp.apply_along_axis(norm, 0, x), Array)


def scaled(x: ArrayLike, by: float) -> Array:
    return snp.asarray(x) * by


assert_type(scaled(1, 2.0), Array)
assert_type(scaled(np.ones(3), 2.0), Array)
assert_type(scaled(sagax.random.normal(sagax.random.key(0)), 2.0), Array)
