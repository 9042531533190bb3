"""Define calls of which an argument that is usually an int is traced: axes, lengths, shapes, orders.

Each is an expression of `lib`, `np` (its NumPy module), the traced `n` (1, an int32) and arrays.
"""

from __future__ import annotations

from typing import Any

CASES = """
np.fft.fft(x, n)
np.fft.rfft(x, n=n)
np.fft.irfft(x + 0j, n)
np.fft.hfft(x + 0j, n)
np.fft.ihfft(x, n)
np.fft.fft2(m, s=(n, 2))
np.fft.fftfreq(n)
np.fft.rfftfreq(n)
np.fft.fft(x, axis=n)
np.fft.fftn(m, axes=(0, n))
np.fft.fftshift(x, axes=n)
np.eye(n)
np.eye(3, k=n)
np.tri(n)
np.tri(3, k=n)
np.arange(n)
np.arange(0, n)
np.linspace(0, 1, n)
np.geomspace(1, 2, n)
np.logspace(1, 2, n)
np.zeros(n)
np.ones((n, 2))
np.full((n,), 1.0)
np.empty(n)
np.identity(n)
np.vander(x, n)
np.repeat(x, n)
np.tile(x, n)
np.roll(x, n)
np.roll(m, 1, n)
np.expand_dims(x, n)
np.squeeze(m[None], n)
np.sum(m, n)
np.max(m, axis=n)
np.argmax(m, n)
np.mean(m, n)
np.median(m, n)
np.std(m, n)
np.sort(m, n)
np.argsort(m, n)
np.cumsum(m, n)
np.split(m, n)
np.array_split(x, n)
np.bincount(i, length=n)
np.diag(x, n)
np.diagonal(m, n)
np.trace(m, n)
np.trace(m, -n)
np.trace(m > 2, n)
np.triu(m, n)
np.tril(m, n)
np.reshape(x, (n, -1))
np.broadcast_to(x, (n, 6))
np.pad(x, n)
np.hanning(n)
np.kaiser(n, 1.0)
np.indices((n, 2))
np.tril_indices(n)
np.diag_indices(n)
np.unique(x, size=n)
np.nonzero(x, size=n)
np.histogram(x, bins=n)
np.concatenate([x, x], axis=n)
np.stack([x, x], axis=n)
np.moveaxis(m, n, 0)
np.swapaxes(m, n, 0)
np.transpose(m, (n, 0))
np.rot90(m, n)
np.flip(m, n)
np.polyfit(x, x, n)
np.diff(x, n)
np.diff(m, axis=n)
np.take(m, 0, axis=n)
np.take(x, n)
np.delete(x, n)
np.insert(x, n, 0.0)
np.average(m, axis=n)
np.packbits(b, axis=n)
np.partition(x, n)
np.resize(x, n)
np.round(x, n)
np.linalg.matrix_power(np.eye(2), n)
np.linalg.norm(x, n)
np.linalg.norm(m, axis=n)
np.apply_along_axis(np.sum, n, m)
np.quantile(m, 0.5, axis=n)
np.gradient(x, n)
np.gradient(m, axis=n)
np.cross(m[:, :3], m[:, :3], axis=n)
np.array([1, 2, 3])[n]
x[n]
x[:n]
x[n:]
x.at[n].set(0.0)
[1, 2, 3][n]
list(range(n))
'a' * n
float(n)
int(n)
complex(n)
hex(n)
bool(n)
f'{n:d}'
lib.lax.top_k(x, n)
lib.lax.iota('int32', n)
lib.lax.dynamic_slice(x, (n,), (2,))
lib.lax.dynamic_slice(x, (0,), (n,))
lib.lax.slice(x, (n,), (2,))
lib.lax.fori_loop(0, n, lambda i, c: c + i, 0)
lib.lax.scan(lambda c, _: (c, None), 0.0, None, length=n)
lib.lax.concatenate([m, m], n)
lib.lax.cumsum(m, n)
lib.lax.sort(m, dimension=n)
lib.lax.rev(m, (n,))
lib.lax.transpose(m, (n, 0))
lib.lax.squeeze(m[None], (n,))
lib.lax.argmax(m, n, 'int32')
lib.lax.reduce_sum(m, (n,))
lib.nn.one_hot(i, n)
lib.nn.softmax(m, axis=n)
lib.nn.log_softmax(m, n)
lib.nn.logsumexp(m, n)
lib.nn.standardize(m, axis=n)
lib.random.split(key, n)
lib.random.fold_in(key, n)
lib.random.normal(key, (n,))
lib.random.permutation(key, n)
lib.random.choice(key, n)
lib.random.permutation(key, m, axis=n)
lib.ops.segment_sum(x, i6, num_segments=n)
lib.scipy.special.logsumexp(m, axis=n)
lib.scipy.linalg.toeplitz(x)[n]
lib.image.resize(m, (n, 2), 'linear')
""".strip().splitlines()


def outcome(lib: Any, case: str) -> str:
    """ "a result", or the name of the class that is raised."""
    np = lib.numpy
    names = {
        "lib": lib,
        "np": np,
        "x": np.arange(6.0),
        "m": np.arange(12.0).reshape(3, 4),
        "i": np.arange(4),
        "i6": np.arange(6),
        "b": np.ones((3, 8), "uint8"),
        "key": lib.random.key(0),
    }
    try:
        lib.jit(lambda n: eval(case, {**names, "n": n}))(1)
    except Exception as error:
        return " ".join(c.__name__ for c in type(error).__mro__)
    return "a result"
