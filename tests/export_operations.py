"""Operations on arrays of symbolic size: what `sagax.export` can export. Each row is a test, and a line of the docs.

A row is (name, function, specifications of its arguments, constraints); arguments are float32 unless
the specification ends in a dtype: "b, 3: int32".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import sagax
import sagax.numpy as snp
import sagax.scipy.linalg
from sagax import lax, nn, random
from sagax.scipy import linalg, signal, stats


class Row(NamedTuple):
    name: str
    function: Callable[..., Any]
    specs: tuple[str, ...]
    constraints: tuple[str, ...] = ()


def _scan(x):
    return lax.scan(lambda c, row: (c + row.sum(), c * row), 0.0, x)


def _while(x):
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2.0), (0, x))[1]


def _fori(x):
    return lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i], snp.zeros(3))


def _attention(q, k, v):
    return nn.softmax(q @ k.T / 2.0, axis=-1) @ v


ROWS = [
    Row("sin, exp, log1p", lambda x: snp.log1p(snp.exp(snp.sin(x))), ("b, 3",)),
    Row("x + y", lambda x, y: x + y, ("b, 3", "b, 3")),
    Row("broadcasting x + y", lambda x, y: x + y, ("b, 3", "3")),
    Row("outer product by broadcasting", lambda x, y: x[:, None] * y[None, :], ("b", "c")),
    Row("where", lambda x: snp.where(x > 0, x, 0.0), ("b, 3",)),
    Row("clip, sign, abs", lambda x: snp.clip(snp.abs(x), 0.1, 0.5) * snp.sign(x), ("b",)),
    Row("astype", lambda x: x.astype("int32").astype("float32"), ("b, c",)),
    Row("sum over a symbolic axis", lambda x: x.sum(axis=0), ("b, 3",)),
    Row("mean, var, std", lambda x: (x.mean(), x.var(axis=0), x.std(axis=1)), ("b, 3",)),
    Row("max, min, argmax, argmin", lambda x: (x.max(0), x.min(), x.argmax(0), x.argmin(1)), ("b, 3",)),
    Row("any, all", lambda x: ((x > 0).any(0), (x > -9).all()), ("b, 3",)),
    Row("prod, cumsum along a known axis", lambda x: (x.prod(), snp.cumsum(x, 1), snp.cumprod(x, 1)), ("b, 3",)),
    Row("logsumexp, softmax", lambda x: (nn.logsumexp(x, 0), nn.softmax(x, 0)), ("b, 3",)),
    Row("reshape(-1)", lambda x: x.reshape(-1), ("b, 3",)),
    Row("reshape((-1, 2))", lambda x: x.reshape((-1, 2)), ("2*b, 3",)),
    Row("reshape((b, -1))", lambda x: x.reshape((x.shape[0], -1)), ("b, 3, c",)),
    Row("ravel, flatten", lambda x: (snp.ravel(x), x.flatten()), ("b, c",)),
    Row("transpose, swapaxes, moveaxis", lambda x: (x.T, snp.swapaxes(x, 0, 2), snp.moveaxis(x, 0, -1)), ("b, 3, c",)),
    Row("expand_dims, squeeze", lambda x: snp.squeeze(snp.expand_dims(x, 1), 1), ("b, 3",)),
    Row("broadcast_to", lambda x: snp.broadcast_to(x, (x.shape[0], *x.shape)), ("b",)),
    Row("concatenate", lambda x, y: snp.concatenate([x, y]), ("b, 3", "c, 3")),
    Row("stack, vstack, hstack", lambda x, y: (snp.stack([x, y]), snp.vstack([x, y]), snp.hstack([x, y])), ("b, 3", "b, 3")),
    Row("split of a known axis", lambda x: snp.split(x, 3, axis=1), ("b, 6",)),
    Row("split of a symbolic axis", lambda x: snp.split(x, 2, axis=0), ("2*b, 3",)),
    Row("tile, repeat", lambda x: (snp.tile(x, (2, 1)), snp.repeat(x, 2, axis=0)), ("b, 3",)),
    Row("flip, roll", lambda x: (snp.flip(x, 0), snp.roll(x, 1, axis=0)), ("b, 3",)),
    Row("pad", lambda x: snp.pad(x, ((1, 2), (0, 1)), constant_values=1.0), ("b, 3",)),
    Row("pad, edge", lambda x: snp.pad(x, ((1, 1), (0, 0)), mode="edge"), ("b, 3",)),
    Row("x[1:], x[:-1]", lambda x: (x[1:], x[:-1]), ("b, 3",)),
    Row("x[::2]", lambda x: x[::2], ("b, 3",)),
    Row("x[::-1]", lambda x: x[::-1], ("b, 3",)),
    Row("x[-1], x[0]", lambda x: (x[-1], x[0]), ("b, 3",)),
    Row("x[i] (gather)", lambda x, i: x[i], ("b, 3", "c: int32")),
    Row("x[:, i]", lambda x: x[:, snp.array([0, 2])], ("b, 3",)),
    Row("take, take_along_axis", lambda x, i: (snp.take(x, i, axis=0), snp.take_along_axis(x, i[:, None], axis=1)), ("b, 3", "b: int32")),
    Row("x.at[0].set", lambda x: x.at[0].set(1.0), ("b, 3",)),
    Row("x.at[i].add (scatter)", lambda x, i: x.at[i].add(1.0), ("b, 3", "c: int32")),
    Row("dynamic_slice", lambda x: lax.dynamic_slice(x, (1, 0), (2, 3)), ("b, 3",), ("b >= 3",)),
    Row("dynamic_update_slice", lambda x: lax.dynamic_update_slice(x, snp.ones((1, 3)), (0, 0)), ("b, 3",)),
    Row("arange, ones, zeros, full", lambda x: snp.arange(x.shape[0]) + snp.ones(x.shape[0]) + snp.full(x.shape[0], 2.0), ("b",)),
    Row("linspace", lambda x: snp.linspace(0.0, 1.0, x.shape[0]), ("b",), ("b >= 2",)),
    Row("eye, tri, triu, tril", lambda x: snp.eye(x.shape[0]) + snp.triu(x) + snp.tril(x), ("b, b",)),
    Row("diag, diagonal, trace", lambda x: (snp.diag(x), snp.diagonal(x), snp.trace(x)), ("b, b",)),
    Row("meshgrid, indices", lambda x, y: snp.meshgrid(x, y), ("b", "c")),
    Row("sort, argsort", lambda x: (snp.sort(x, axis=0), snp.argsort(x, axis=0)), ("b, 3",)),
    Row("top_k", lambda x: lax.top_k(x, 2), ("3, b",), ("b >= 2",)),
    Row("argpartition", lambda x: snp.partition(x, 1), ("b",), ("b >= 2",)),
    Row("searchsorted", lambda x, y: snp.searchsorted(snp.sort(x), y), ("b", "c")),
    Row("median, quantile", lambda x: (snp.median(x), snp.quantile(x, 0.25)), ("b",)),
    Row("interp", lambda x, y: snp.interp(y, snp.sort(x), x), ("b", "c"), ("b >= 2",)),
    Row("histogram of known bins", lambda x: snp.histogram(x, bins=snp.array([0.0, 0.3, 0.6, 1.0]))[0], ("b",)),
    Row("matmul", lambda x, y: x @ y, ("b, 3", "3, c")),
    Row("matmul over a symbolic axis", lambda x, y: x.T @ y, ("b, 3", "b, 2")),
    Row("batched matmul", lambda x, y: x @ y, ("b, 2, 3", "b, 3, 4")),
    Row("einsum", lambda x, y: snp.einsum("bij,bjk->ik", x, y), ("b, 2, 3", "b, 3, 4")),
    Row("tensordot, outer, vdot", lambda x, y: (snp.tensordot(x, y, 1), snp.outer(x[0], y[0])), ("b, c", "c, b")),
    Row("convolve", lambda x: snp.convolve(x, snp.array([1.0, 2.0, 1.0]), mode="same"), ("b",), ("b >= 3",)),
    Row("convolution", lambda x: lax.conv(x, snp.ones((2, 3, 3, 3)), (1, 1), "SAME"), ("b, 3, 8, 8",)),
    Row("convolution over a symbolic size", lambda x: lax.conv(x, snp.ones((2, 3, 3, 3)), (1, 1), "VALID"), ("2, 3, h, 8",), ("h >= 3",)),
    Row("max pooling", lambda x: lax.reduce_window(x, -snp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID"), ("b, 4, 4",)),
    Row("scan over a symbolic axis", _scan, ("b, 3",)),
    Row("while_loop", _while, ("b, 3",)),
    Row("fori_loop over a symbolic size", _fori, ("b, 3",)),
    Row("cond", lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v - 1, x), ("b",)),
    Row("map", lambda x: lax.map(lambda r: r * r.sum(), x), ("b, 3",)),
    Row("associative_scan along a known axis", lambda x: lax.associative_scan(snp.add, x, axis=1), ("b, 5",)),
    Row("vmap", lambda x: sagax.vmap(lambda r: r / r.sum())(x), ("b, 3",)),
    Row("grad", sagax.grad(lambda x: (snp.tanh(x) ** 2).sum()), ("b, 3",)),
    Row("value_and_grad through matmul and softmax", sagax.value_and_grad(lambda x: nn.log_softmax(x @ snp.ones((3, 4))).sum()), ("b, 3",)),
    Row("grad of scan", sagax.grad(lambda x: lax.scan(lambda c, r: (snp.sin(c) + r.sum(), None), 0.0, x)[0]), ("b, 3",)),
    Row("attention", _attention, ("b, 4", "c, 4", "c, 4")),
    Row("one_hot", lambda i: nn.one_hot(i, 4), ("b: int32",)),
    Row("layer norm", lambda x: nn.standardize(x, axis=-1), ("b, 8",)),
    Row("random bits", lambda x: random.bits(random.key(0), (x.shape[0], 3)), ("b",)),
    Row("random uniform, normal", lambda x: (random.uniform(random.key(1), x.shape), random.normal(random.key(2), x.shape)), ("b, 3",)),
    Row("fft along a known axis", lambda x: snp.abs(snp.fft.fft(x, axis=1)), ("b, 8",)),
    Row("cholesky", lambda x: snp.linalg.cholesky(x @ snp.swapaxes(x, 1, 2) + snp.eye(3)), ("b, 3, 3",)),
    Row("triangular_solve", lambda x, y: lax.linalg.triangular_solve(x + 5 * snp.eye(3), y, left_side=True, lower=True), ("b, 3, 3", "b, 3, 2")),
    Row("norm", lambda x: snp.linalg.norm(x, axis=1), ("b, 3",)),
    Row("segment_sum", lambda x, i: snp.zeros((4, 3)).at[i].add(x), ("b, 3", "b: int32")),
    Row("nonzero with size", lambda x: snp.nonzero(x > 0.5, size=x.shape[0])[0], ("b",)),
    Row("unique with size", lambda x: snp.unique(snp.round(x * 3), size=x.shape[0]), ("b",)),
    Row("bincount", lambda i: snp.bincount(i, length=4), ("b: int32",)),
    Row("isin, digitize", lambda x: snp.digitize(x, snp.array([0.2, 0.5])), ("b",)),
    Row("cumsum, cumprod, cummax along a symbolic axis", lambda x: (snp.cumsum(x, 0), snp.cumprod(x, 0), lax.cummax(x, 0, reverse=True)), ("b, 3",)),
    Row("grad of cumprod along a symbolic axis", sagax.grad(lambda x: (snp.cumprod(x, 0) ** 2).sum()), ("b, 3",), ("b <= 100",)),
    Row("associative_scan along a symbolic axis", lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x)), ("b",)),
    Row("pad, reflect, symmetric, wrap", lambda x: [snp.pad(x, (2, 3), mode=m) for m in ("reflect", "symmetric", "wrap")], ("b",)),
    Row("pad, reflect of odd type", lambda x: snp.pad(x, ((1, 7), (0, 0)), mode="reflect", reflect_type="odd"), ("b, 3",)),
    Row("random permutation", lambda x: (random.permutation(random.key(0), x), random.permutation(random.key(1), x, independent=True)), ("b, 3",), ("b <= 2000",)),
    Row("solve, inv, det of a batch", lambda x, y: (snp.linalg.solve(x + 4 * snp.eye(3), y), snp.linalg.inv(x + 4 * snp.eye(3)), snp.linalg.det(x)), ("b, 3, 3", "b, 3, 2")),
    Row("solve of symbolic size", lambda x, y: snp.linalg.solve(x @ x.T + snp.eye(x.shape[0]), y), ("b, b", "b, 2")),
    Row("qr, svd of a batch", lambda x: (snp.abs(snp.linalg.qr(x)[1]), snp.linalg.svd(x, compute_uv=False)), ("b, 3, 3",)),
    Row("eigh of a batch", lambda x: snp.linalg.eigvalsh(x + snp.swapaxes(x, 1, 2)), ("b, 3, 3",)),
    Row("shape arithmetic", lambda x: x * x.shape[0] / (x.shape[1] + 1), ("b, c",)),
    Row("fft, ifft along a symbolic axis", lambda x: snp.abs(snp.fft.ifft(snp.fft.fft(x) * 2, norm="ortho")), ("b",)),
    Row("rfft, irfft along symbolic axes", lambda x: (snp.abs(snp.fft.rfft2(x)), snp.fft.irfft(snp.fft.rfft(x), n=x.shape[1])), ("b, c",)),
    Row("grad of rfft along a symbolic axis", sagax.grad(lambda x: (snp.abs(snp.fft.rfft(x)) ** 4).sum()), ("b",)),
    Row("fftfreq, rfftfreq, fftshift", lambda x: (snp.fft.fftfreq(x.shape[0]), snp.fft.rfftfreq(x.shape[0], 0.5), snp.fft.fftshift(x)), ("b",)),
    Row("hamming, hanning, blackman, bartlett, kaiser", lambda x: [w(x.shape[0]) for w in (snp.hamming, snp.hanning, snp.blackman, snp.bartlett)] + [snp.kaiser(x.shape[0], 2.0)], ("b",)),
    Row("convolve, correlate of two symbolic sizes", lambda x, y: (snp.convolve(x, y), snp.correlate(x, y, mode="full")), ("b", "c")),
    Row("polymul, polyval", lambda x, y: (snp.polymul(x, y), snp.polyval(snp.array([1.0, 2.0]), x)), ("b", "c")),
    Row("jacfwd, jacrev, hessian", lambda x: (sagax.jacfwd(snp.sin)(x), sagax.jacrev(snp.sin)(x), sagax.hessian(lambda v: (v**3).sum())(x)), ("b",)),
    Row("nonzero, extract, argwhere with a known size", lambda x: (snp.nonzero(x > 0.5, size=4)[0], snp.extract(x > 0.5, x, size=1), snp.argwhere(x > 0.5, size=4)), ("b",)),
    Row("unique, union1d, intersect1d, setdiff1d with a known size", lambda i, j: (snp.unique(i, size=4), snp.union1d(i, j, size=5), snp.intersect1d(i, j, size=3, fill_value=9), snp.setdiff1d(i, j, size=3, fill_value=9)), ("b: int32", "c: int32")),
    Row("random choice", lambda x: (random.choice(random.key(0), x, (3,)), random.choice(random.key(1), x, (3,), p=x), random.choice(random.key(2), x, (2,), replace=False)), ("b",), ("b >= 2", "b <= 1000")),
    Row("random categorical, bernoulli, randint", lambda x: (random.categorical(random.key(0), x), random.bernoulli(random.key(1), x), random.randint(random.key(2), x.shape, 0, 9)), ("b, 3",)),
    Row("random split", lambda x: sagax.vmap(random.normal)(random.split(random.key(0), x.shape[0])), ("b",)),
    Row("random numbers summed in a jitted function", lambda x: sagax.jit(lambda k: random.uniform(k, x.shape).sum())(random.key(0)), ("b",)),
    Row("det, slogdet of symbolic size", lambda x: (snp.linalg.det(x), snp.linalg.slogdet(x + snp.eye(x.shape[0]))), ("b, b",)),
    Row("cholesky, inv, lu, eigh of symbolic size", lambda x: (snp.linalg.cholesky(x @ x.T + snp.eye(x.shape[0])), snp.linalg.inv(x + 4 * snp.eye(x.shape[0])), lax.linalg.lu(x)[0], snp.linalg.eigvalsh(x + x.T)), ("b, b",)),
    Row("svd of symbolic size", lambda x: snp.linalg.svd(x, compute_uv=False), ("b, c",)),
    Row("kron, cross, inner", lambda x, y: (snp.kron(x[:, 0], y), snp.cross(x, x + 1), snp.inner(x, x)), ("b, 3", "c")),
    Row("insert, append, diff, ediff1d", lambda x: (snp.insert(x, 1, 0.5), snp.append(x, x), snp.diff(x), snp.ediff1d(x)), ("b",)),
    Row("gradient, trapezoid, unwrap", lambda x: (snp.gradient(x), snp.trapezoid(x), snp.unwrap(x)), ("b",), ("b >= 2",)),
    Row("cov, corrcoef, average", lambda x: (snp.cov(x), snp.corrcoef(x, rowvar=False), snp.average(x, axis=0)), ("b, 3",), ("b >= 2",)),
    Row("nanmean, nanmax, nansum, nanmedian", lambda x: (snp.nanmean(x), snp.nanmax(x, 0), snp.nansum(x, 1), snp.nanmedian(x, 0)), ("b, c",)),
    Row("block, column_stack, rot90, fliplr", lambda x: (snp.block([[x, x], [x, x]]), snp.column_stack([x, x]), snp.rot90(x), snp.fliplr(x)), ("b, 3",)),
    Row("put_along_axis, fill_diagonal", lambda x: snp.fill_diagonal(x, 2.0, inplace=False), ("b, b",)),
    Row("lexsort, partition, percentile", lambda x: (snp.lexsort((x, -x)), snp.partition(x, 1)[1], snp.percentile(x, 30)), ("b",), ("b >= 2",)),
    Row("reduce_window with overlap, strided", lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (2,), "SAME"), ("b",)),
    Row("transposed and dilated convolution", lambda x: (lax.conv_transpose(x, snp.ones((3, 2, 3)), (2,), "SAME"), lax.conv_general_dilated(snp.swapaxes(x, 1, 2), snp.ones((3, 2, 2)), (1,), [(1, 1)], lhs_dilation=(2,))), ("b, c, 2",)),
    Row("collectives of vmap", lambda x: sagax.vmap(lambda v: v / lax.psum(v, "i") + lax.axis_index("i"), axis_name="i")(x), ("b",)),
    Row("dot_product_attention", lambda q, k: nn.dot_product_attention(q, k, k), ("b, c, 2, 4", "b, c, 2, 4")),
    Row("image.resize", lambda x: sagax.image.resize(x, (2 * x.shape[0], 4), "linear"), ("b, 3",)),
    Row("index_take, ragged_dot", lambda x, i: (lax.index_take(x, (i,), (0,)), lax.ragged_dot(x, snp.ones((2, 3, 2)), snp.array([1, 2]))), ("b, 3", "c: int32"), ("b >= 3",)),
    Row("qr of symbolic sizes", lambda x: (list(snp.linalg.qr(x)), list(snp.linalg.qr(x, mode="complete")), sagax.grad(lambda a: (snp.linalg.qr(a)[1] ** 2).sum())(x)), ("b, c",)),
    Row("pinv, matrix_rank, lstsq of symbolic sizes", lambda x, y: (snp.linalg.pinv(x), snp.linalg.matrix_rank(x), snp.linalg.lstsq(x, y)[0]), ("b, c", "b")),
    Row("reduce_window with symbolic windows", lambda x, y: (lax.reduce_window(x, 0.0, lax.add, x.shape, (1, 1), "VALID"), lax.reduce_window(x, -snp.inf, lax.max, (y.shape[0], 2), (y.shape[0], 1), "SAME"), lax.reduce_window(x, 1.0, lambda a, b: a * b, (y.shape[0], 1), (1, 1), "SAME")), ("b, c", "k")),
    Row("grad of reduce_window with symbolic windows", sagax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, x.shape, (1, 1), "SAME") ** 2).sum() + (lax.reduce_window(x, -snp.inf, lax.max, (x.shape[0], 2), (1, 1), "SAME") ** 2).sum()), ("b, c",)),
    Row("delete", lambda x: (snp.delete(x, 0, axis=0), snp.delete(x, -1), snp.delete(x, np.array([1, 1, 0]), axis=0), snp.delete(x, snp.argmax(x[:, 0]), axis=0)), ("b, 3",), ("b >= 2",)),
    Row("delete of slices", lambda x: [snp.delete(x, s) for s in (slice(1), slice(1, None), slice(None, None, 2), slice(None, None, -3), slice(4, 0, -2), slice(-2, None), slice(1, -1, 3))], ("b",)),
    Row("unravel_index, ravel_multi_index", lambda x: (snp.unravel_index(snp.argmax(x), x.shape), snp.unravel_index(snp.array([0, -1, 99, -99]), x.shape), [snp.ravel_multi_index((snp.array([0, 1, 5]), snp.array([-1, 0, 7])), x.shape, mode=mode, order=order) for mode in ("clip", "wrap") for order in "CF"]), ("b, c",)),
    Row("resize", lambda x: (snp.resize(x, (2, 3)), snp.resize(x, 5), snp.resize(x, (3, *x.shape))), ("b, c",)),
    Row("fft of a known length", lambda x: (snp.abs(snp.fft.fft(x, n=3, axis=0)), snp.abs(snp.fft.rfft(x, n=4)), snp.fft.irfft(x, n=6, axis=0)), ("b, c",)),
    Row("arange down, and from fractions", lambda x: (snp.arange(x.shape[0], 0, -1), snp.arange(x.shape[0] - 1, -1, -1), snp.arange(1.0, x.shape[0] + 1), snp.arange(x.shape[0], 2 * x.shape[0])), ("b",)),
    Row("linspace, logspace, also of one number", lambda x: (snp.linspace(0, 1, x.shape[0]), snp.linspace(x[:2], 3.0, x.shape[0], axis=1), snp.linspace(0, 9, x.shape[0], dtype=int), snp.logspace(0, 1, x.shape[0]), snp.linspace(0, 1, x.shape[0], endpoint=False)), ("b",)),
    Row("sizes that are multiples", lambda x: (x.reshape(x.shape[0], 2, x.shape[1] // 2), x.reshape(-1, 2), nn.glu(x), snp.split(x, 2, axis=1)[0]), ("b, c",), ("mod(c, 2) == 0",)),
    Row("slices of one array joined", lambda x: (snp.concatenate(x), snp.concatenate(x, axis=None), snp.vstack(x), snp.hstack(x), snp.dstack(x), snp.column_stack(x)), ("b, c",)),
    Row("toeplitz, hankel, circulant", lambda x, y: (linalg.toeplitz(x), linalg.toeplitz(x, y), linalg.hankel(x, y), linalg.circulant(x)), ("b", "c",)),
    Row("convolution_matrix", lambda x: [linalg.convolution_matrix(x, 3, mode) for mode in ("full", "same", "valid")], ("b",)),
    Row("fiedler_companion", lambda x: linalg.fiedler_companion(x + 1), ("b + 1",)),
    Row("polar", lambda x: linalg.polar(x + 2 * snp.eye(*x.shape)), ("b + c, b",)),
    Row("polyint", lambda x: (snp.polyint(x), snp.polyint(x, 3, k=2.0)), ("b",)),
    Row("tril_indices_from, triu_indices_from", lambda x: [f(x, k) for f in (snp.tril_indices_from, snp.triu_indices_from) for k in (-2, -1, 0, 1, 2)], ("b, c",)),
    Row("stats.sem", lambda x: (stats.sem(x), stats.sem(x, axis=None, ddof=0)), ("b, c",)),
]  # fmt: skip

# What needs sizes that are numbers, or an order between them, and says so.
REFUSED = [
    Row("lu of unordered sizes with permutation applied", lambda x: sagax.scipy.linalg.lu(x), ("b, c",)),
    Row("array_split", lambda x: snp.array_split(x, 2), ("b",)),
    Row("polyval of symbolic degree", lambda x: snp.polyval(x, 2.0), ("b",)),
    Row("delete of a position that may not exist", lambda x: snp.delete(x, 1), ("b",)),
    Row("unravel_index of narrow integers", lambda i: snp.unravel_index(i, (i.shape[0], 3)), ("b: int8",)),
    Row("detrend", signal.detrend, ("b",)),
    Row("polyder", snp.polyder, ("b",)),
    Row("unstack of a symbolic axis", snp.unstack, ("b, 3",)),
    Row("arange by fractions", lambda x: snp.arange(0.5, x.shape[0]), ("b",)),
]  # fmt: skip
