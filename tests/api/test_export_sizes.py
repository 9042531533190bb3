"""Exported programs of symbolic sizes give what they give for known ones: also for sizes that leave a loop no round."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import export, lax, random
from sagax.experimental.ode import odeint
from sagax.flatten_util import ravel_pytree
from sagax.scipy import fft, stats
from sagax.scipy.sparse.linalg import bicgstab, cg


def _running(unroll=1, reverse=False):
    def f(x):
        start = snp.zeros(x.shape[1:])
        return lax.scan(
            lambda c, y: (0.9 * c + y, c.sum() + y), start, x, unroll=unroll, reverse=reverse
        )

    return f


def _decay(y, t):
    return odeint(lambda y, t: -y, y, snp.cumsum(t))


def _system(x):
    return x @ x.T + 5 * snp.eye(x.shape[0])


def _raveled(x):
    flat, unravel = ravel_pytree({"x": x, "y": (x[0], 1.0)})
    return unravel(2 * flat)


PROGRAMS = {
    # name: function, specifications of its arguments
    **{
        f"scan, unroll={u}, reverse={r}": (_running(u, r), ["k, n"])
        for u in (1, 2, 3, True)
        for r in (False, True)
    },
    "scan of all but the first": (lambda x: _running()(x[1:]), ["k, n"]),
    "scan of even length": (_running(2), ["2*k, n"]),
    "slope of a scan": (
        sagax.grad(lambda x: _running(2, True)(x[1:])[1].sum()),
        ["k, n"],
    ),
    "scan of keys": (
        lambda x: lax.scan(
            lambda c, key: (c + random.normal(key), c),
            0.0,
            random.split(random.key(0), x.shape[0])[1:],
        ),
        ["k"],
    ),
    "scan within scan": (
        lambda x: lax.scan(
            lambda c, r: (c + lax.scan(lambda a, b: (a + b, a), 0.0, r[1:])[0], c), 0.0, x[1:]
        ),
        ["k, n"],
    ),
    "scan mapped": (
        sagax.vmap(lambda r: lax.scan(lambda c, y: (c + y, c * y), r[0], r[1:])),
        ["k, n"],
    ),
    **{
        f"map by {b}": (
            lambda x, b=b: lax.map(lambda y: snp.sort(y) * 2, x, batch_size=b),
            ["k, n"],
        )
        for b in (1, 2, 3, 7)
    },
    "slope of map by 2": (
        sagax.grad(lambda x: lax.map(lambda y: (y**2).sum(), x, batch_size=2).sum()),
        ["k, n"],
    ),
    "odeint": (_decay, ["k", "n"]),
    "slope of odeint": (sagax.grad(lambda y, t: _decay(y, t).sum()), ["k", "n"]),
    "ravel_pytree": (_raveled, ["k, n"]),
    "cg": (lambda x: cg(_system(x), x[:, 0])[0], ["k, k"]),
    "bicgstab": (lambda x: bicgstab(_system(x), x[:, 0])[0], ["k, k"]),
    "slogdet": (lambda x: tuple(snp.linalg.slogdet(_system(x), method="qr")), ["k, k"]),
    "dct": (lambda x: fft.dct(x, n=4, norm="ortho"), ["k, n"]),
}


@pytest.mark.parametrize(
    "f",
    [
        lambda x: snp.linspace(0, 1, x.shape[0]),
        lambda x: snp.linspace(x[:1], 3.0, x.shape[0], axis=1),
        lambda x: snp.linspace(0, 9, x.shape[0], dtype=int),
        lambda x: snp.logspace(0, 1, x.shape[0]),
        lambda x: snp.geomspace(1, 8, x.shape[0], endpoint=False),
        lambda x: snp.digitize(x, x),
        lambda x: stats.sem(x, ddof=0),
        lambda x: stats.sem(x, ddof=0, nan_policy="omit"),
    ],
)
def test_sizes_that_are_64_bits_wide(f):
    with sagax.enable_x64(True):
        (k,) = export.symbolic_shape("k")
        exported = export.export(sagax.jit(f))(sagax.ShapeDtypeStruct((k,), "float32"))
        for n in (1, 2, 5):
            x = np.arange(n, dtype=np.float32)
            got, expected = exported.call(x), f(x)
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_known_sizes(name):
    f, texts = PROGRAMS[name]
    scope = export.SymbolicScope()
    shapes = [export.symbolic_shape(text, scope=scope) for text in texts]
    exported = export.export(sagax.jit(f))(*[sagax.ShapeDtypeStruct(s, "float32") for s in shapes])
    exported = export.deserialize(exported.serialize())
    for k, n in ((5, 6), (2, 2), (1, 1), (7, 3)):
        sizes = [tuple(eval(f"({text},)", {"k": k, "n": n})) for text in texts]
        rng = np.random.default_rng(k)
        args = [rng.uniform(0.1, 1, s).astype(np.float32) for s in sizes]
        got, expected = exported.call(*args), f(*args)
        assert sagax.tree.structure(got) == sagax.tree.structure(expected)
        for a, b in zip(sagax.tree.leaves(got), sagax.tree.leaves(expected), strict=True):
            assert a.shape == np.shape(b) and a.dtype == b.dtype, (k, n)
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
