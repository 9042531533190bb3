"""Axes of the grid that are folded back into dimensions of operands: no reshape is left, and results are equal."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.experimental import pallas as pl

Out = sagax.ShapeDtypeStruct
f32 = np.float32


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(f32)


def rows(kernel, *xs, out=(12, 8), interpret=False):
    """Run a kernel on 4 rows at a time of the first operand; it sees the others whole."""
    specs = [pl.BlockSpec((4, 8), lambda i: (i, 0)), *[pl.BlockSpec()] * (len(xs) - 1)]
    block = pl.BlockSpec((4, *out[1:]), lambda i: (i, *[0] * (len(out) - 1)))
    return pl.pallas_call(
        kernel, Out(out, f32), grid=(3,), in_specs=specs, out_specs=block, interpret=interpret
    )(*xs)


def softmax(x_ref, o_ref):
    e = snp.exp(x_ref[...] - x_ref[...].max(1, keepdims=True))
    o_ref[...] = e / e.sum(1, keepdims=True)


def scaled(x_ref, w_ref, o_ref):
    o_ref[...] = x_ref[...] * w_ref[...] + 1


def product(x_ref, w_ref, o_ref):
    o_ref[...] = snp.maximum(x_ref[...] @ w_ref[...], 0)


def running(x_ref, o_ref):
    o_ref[...] = lax.cumsum(x_ref[...], 1)


def selected(x_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = snp.where(x > 0, x, snp.zeros((4, 8)))


def chosen(x_ref, o_ref):
    o_ref[...] = snp.argmax(x_ref[...], 1).astype(f32)


def program(x_ref, o_ref):
    o_ref[...] = x_ref[...] + pl.program_id(0)


def within(x_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = (
        x - x.sum(0) + x[::-1] + x.reshape(2, 2, 8).sum(1, keepdims=True).reshape(2, 8).sum(0)
    )


def turned(x_ref, o_ref):
    o_ref[...] = (x_ref[...].T * 2).T + x_ref[...][:, :, None].sum(2)


def stepped(x_ref, o_ref):
    def body(i, total):
        return total + x_ref[...] * i

    o_ref[...] = lax.fori_loop(0, 3, body, snp.zeros((4, 8)))


def reshapes(kernel, *xs, **options):
    """Return the number of reshapes that change the number of dimensions."""
    (eqn,) = sagax.make_jaxpr(lambda *xs: rows(kernel, *xs, **options))(*xs).jaxpr.eqns
    return sum(
        e.primitive.name == "reshape" and 1 not in e.outvars[0].aval.shape
        for e in eqn.params["jaxpr"].jaxpr.eqns
    )


CASES = [
    (softmax, (), {}, 0),
    (scaled, (values(8, seed=1),), {}, 0),
    (product, (values(8, 5, seed=1),), {"out": (12, 5)}, 0),
    (running, (), {}, 0),
    (selected, (), {}, 0),
    (chosen, (), {"out": (12,)}, 0),
    (program, (), {}, None),
    (within, (), {}, None),
    (turned, (), {}, None),
    (stepped, (), {}, None),
]


@pytest.mark.parametrize(
    ("kernel", "more", "options", "left"), CASES, ids=lambda c: getattr(c, "__name__", None)
)
def test_folded_kernels(kernel, more, options, left):
    xs = (values(12, 8), *more)
    want = np.asarray(rows(kernel, *xs, **options, interpret=True))
    np.testing.assert_allclose(rows(kernel, *xs, **options), want, rtol=1e-5, atol=1e-6)
    if left is not None:
        assert reshapes(kernel, *xs, **options) == left


def test_two_axes_and_blocks_along_each():
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = snp.exp(x_ref[...] @ y_ref[...]) + x_ref[...].sum(1, keepdims=True)

    f = pl.pallas_call(
        kernel,
        Out((6, 8), f32),
        grid=(3, 2),
        in_specs=[
            pl.BlockSpec((2, 5), lambda i, j: (i, 0)),
            pl.BlockSpec((5, 4), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((2, 4), lambda i, j: (i, j)),
    )
    x, y = values(6, 5), values(5, 8, seed=1)
    np.testing.assert_allclose(f(x, y), np.exp(x @ y) + x.sum(1, keepdims=True), rtol=1e-4)


def test_derivatives_and_batches_of_folded_kernels():
    x = values(12, 8)
    weights = values(12, 8, seed=1)

    def loss(x, f):
        return (f(x) * weights).sum()

    got = sagax.grad(loss)(x, lambda x: rows(softmax, x))
    want = sagax.grad(loss)(x, lambda x: sagax.nn.softmax(x, -1))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    many = values(2, 12, 8)
    np.testing.assert_allclose(
        sagax.vmap(lambda x: rows(softmax, x))(many), sagax.nn.softmax(many, -1), rtol=1e-5
    )


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.own_promotion("dtype")
def test_random_chains_of_operations(seed):
    """Chains of elementwise operations, reductions and the like, as the interpreter runs them."""
    rng = np.random.default_rng(seed)

    def kernel(x_ref, w_ref, o_ref):
        x = x_ref[...]
        for _ in range(rng_steps):
            kind = steps.pop()
            if kind == 0:
                x = snp.tanh(x) + w_ref[...]
            elif kind == 1:
                x = x - x.mean(1, keepdims=True)
            elif kind == 2:
                x = x - x.max(0)
            elif kind == 3:
                x = (x.T + pl.program_id(0)).T
            elif kind == 4:
                x = x @ snp.outer(w_ref[...], w_ref[...])
            elif kind == 5:
                x = snp.where(x > x.sum(1)[:, None], x, w_ref[...][None] * snp.ones((4, 1)))
            elif kind == 6:
                x = lax.cumsum(x, 0) * snp.arange(8)
            else:
                x = x.reshape(4, 2, 4).transpose(0, 2, 1).reshape(4, 8)
        o_ref[...] = x

    rng_steps = int(rng.integers(1, 6))
    drawn = rng.integers(0, 8, rng_steps).tolist()
    x, w = values(12, 8, seed=seed), values(8, seed=seed + 1000)
    steps = list(drawn)
    got = np.asarray(rows(kernel, x, w))
    steps = list(drawn)
    want = np.asarray(rows(kernel, x, w, interpret=True))
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-4)
