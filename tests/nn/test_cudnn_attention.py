"""Attention with `implementation='cudnn'`: the formula on CPUs, what the kernels refuse, laws of the primitives.

What is lowered for GPUs is compared with jax in lowering/test_cuda.py.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import laws
import sagax
import sagax.numpy as snp
from sagax import export, nn
from sagax._src.core.primitive import Primitive
from sagax.nn import _cudnn_attention as cudnn

BF16 = ml_dtypes.bfloat16
PRIMITIVES = [cudnn.cudnn_attention_p, cudnn.cudnn_attention_grad_p]
CASES = [(f"{p.name}-{i}", p, s) for p in PRIMITIVES for i, s in enumerate(p.samples)]
rng = np.random.default_rng(3)


def random(*shape, dtype=BF16):
    return rng.normal(size=shape).astype(dtype)


Q, K, V = random(2, 6, 4, 8), random(2, 8, 2, 8), random(2, 8, 2, 8)
BIAS, MASK = random(1, 4, 6, 8), rng.random((2, 1, 6, 8)) > 0.3
MASK[..., 0] = True
LENGTHS = {
    "query_seq_lengths": np.array([3, 6], np.int32),
    "key_value_seq_lengths": np.array([5, 8], np.int32),
}
WAYS = {
    "plain": {},
    "short-bias": {"bias": random(1, 1, 1, 8)},
    "both": {"bias": BIAS.astype(np.float32), "mask": MASK},
    "lengths": LENGTHS,
    "window": {"local_window_size": (2, 0), "scale": 2.0},
    "causal-window": {"local_window_size": (2, 3), "is_causal": True},
}


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("name", "primitive", "sample"), CASES, ids=[c[0] for c in CASES])
def test_law(law, name, primitive, sample):
    law(primitive, sample, name)


def test_the_primitives_answer_every_slot():
    assert set(PRIMITIVES) == {p for p in vars(cudnn).values() if isinstance(p, Primitive)}
    for primitive in PRIMITIVES:
        laws.answers_every_slot(primitive)


@pytest.mark.parametrize("way", list(WAYS))
def test_values_and_gradients_are_those_of_xla(way):
    options = dict(WAYS[way])
    operands = [Q, K, V] + ([options.pop("bias")] if "bias" in options else [])

    def both(implementation):
        def loss(q, k, v, bias=None):
            out = nn.dot_product_attention(q, k, v, bias, implementation=implementation, **options)
            return (out.astype(np.float32) ** 2).sum(), out

        grad = sagax.grad(loss, argnums=tuple(range(len(operands))), has_aux=True)
        return sagax.jit(grad)(*operands)

    (have, out), (want, expected) = both("cudnn"), both("xla")
    assert out.dtype == BF16
    close(out, expected, 1e-6)
    for x, y in zip(have, want, strict=True):
        assert x.dtype == y.dtype
        close(x, y, 0.02)


def close(x, y, part):
    """Within a part of the greatest element: bfloat16 has 8 bits."""
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    assert np.abs(y).max() > 0
    np.testing.assert_allclose(x, y, rtol=0, atol=part * np.abs(y).max())


def test_the_residual_and_arrays_without_examples():
    for q, k in ((Q, K), (Q[0], K[0])):
        have, want = (
            nn.dot_product_attention(q, k, k, implementation=i, return_residual=True)
            for i in ("cudnn", "xla")
        )
        for x, y in zip(have, want, strict=True):
            assert x.shape == y.shape and x.dtype == y.dtype
            close(x, y, 0.01)


def test_batched_gradients_of_a_shared_bias():
    queries, keys = random(3, 2, 6, 4, 8), random(3, 2, 8, 2, 8)

    def gradient(implementation):
        def loss(bias, q, k):
            out = nn.dot_product_attention(q, k, k, bias, implementation=implementation)
            return (out.astype(np.float32) ** 2).sum()

        return sagax.vmap(sagax.grad(loss), in_axes=(None, 0, 0))(BIAS, queries, keys)

    assert gradient("cudnn").shape == (3, 1, 4, 6, 8)
    close(gradient("cudnn"), gradient("xla"), 0.02)


@pytest.mark.parametrize(
    ("operands", "options", "kind", "words"),
    [
        ([Q.astype(np.float32)] * 3, {}, TypeError, "bfloat16 and float16, and query is float32"),
        ([random(2, 4, 2, 12)] * 3, {}, NotImplementedError, "multiple of 8, but got 12"),
        ([random(2, 4, 2, 136)] * 3, {}, NotImplementedError, "must be <= 128"),
        ([Q, K, V], {"local_window_size": 2}, NotImplementedError, "window to the right"),
        ([Q, K, V], {"scale": snp.float32(2)}, ValueError, "Python number"),
    ],
)
def test_what_the_kernels_do_not_do_is_refused(operands, options, kind, words):
    with pytest.raises(kind, match=words):
        nn.dot_product_attention(*operands, implementation="cudnn", **options)


def test_odd_lengths_have_no_gradient_with_a_mask():
    q = random(1, 5, 2, 8)

    def loss(q, mask):
        return nn.dot_product_attention(q, q, q, mask=mask, implementation="cudnn").sum()

    mask = np.ones((1, 1, 5, 5), bool)
    assert np.isfinite(float(loss(q, mask)))
    with pytest.raises(NotImplementedError, match="odd lengths"):
        sagax.grad(loss)(q, mask)


def test_hopper_has_heads_of_256(monkeypatch):
    class Gpu:
        platform = "cuda"

        def __init__(self, capability):
            self.local_devices = [self]
            self.compute_capability = capability

    for capability, limit in (("8.0", 128), ("9.0", 256), ("10.3", 256)):
        monkeypatch.setattr(cudnn.devices, "started_backends", lambda c=capability: [Gpu(c)])
        assert cudnn.head_limit() == limit


def test_symbolic_sizes_are_refused():
    (b,) = export.symbolic_shape("b")
    x = sagax.ShapeDtypeStruct((b, 4, 2, 8), BF16)

    def function(x):
        return nn.dot_product_attention(x, x, x, implementation="cudnn")

    with pytest.raises(NotImplementedError, match="known sizes"):
        export.export(sagax.jit(function))(x)
