"""The ready-made kernels, compared with formulas in NumPy and with their own derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental.pallas import ops
from sagax.experimental.pallas.ops.gpu import attention, layer_norm, rms_norm, softmax

f32 = np.float32
modes = pytest.mark.parametrize("interpret", [False, True], ids=["compiled", "interpreted"])


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(f32)


@modes
def test_normalized_rows(interpret):
    x, weight, bias = values(3, 10, 8), values(8, seed=1), values(8, seed=2)
    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(
        ops.softmax(x, interpret=interpret), e / e.sum(-1, keepdims=True), rtol=1e-5
    )
    centered = x - x.mean(-1, keepdims=True)
    normal = centered / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    found = ops.layer_norm(x, weight, bias, interpret=interpret)
    np.testing.assert_allclose(found, normal * weight + bias, rtol=1e-4, atol=1e-5)
    scaled = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * weight
    np.testing.assert_allclose(ops.rms_norm(x, weight, interpret=interpret), scaled, rtol=1e-4)
    found = ops.rms_norm(x, weight, bias, interpret=interpret)
    np.testing.assert_allclose(found, scaled + bias, rtol=1e-4, atol=1e-5)


def test_names_of_modules():
    assert attention.mha is ops.mha and softmax.softmax is ops.softmax
    assert layer_norm.layer_norm is ops.layer_norm and rms_norm.rms_norm is ops.rms_norm


def weights(q, k, causal, ids, scale):
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if ids is not None:
        scores = np.where(ids[:, None, :, None] == ids[:, None, None, :], scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@modes
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("segmented", [False, True])
def test_attention(interpret, causal, segmented):
    q, k, v = (values(2, 192, 3, 16, seed=i) for i in range(3))
    ids = np.repeat([[0, 1, 2], [0, 0, 1]], 64, 1).astype(np.int32) if segmented else None
    want = np.einsum("bhqk,bkhd->bqhd", weights(q, k, causal, ids, 0.25), v)
    got = ops.mha(q, k, v, ids, sm_scale=0.25, causal=causal, interpret=interpret)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5)


def test_derivatives_of_attention():
    q, k, v = (values(1, 64, 2, 8, seed=i) for i in range(3))

    def loss(function):
        return lambda *qkv: (function(*qkv, None, 0.3, True) ** 2).sum()

    for a, b in zip(
        sagax.grad(loss(ops.mha), (0, 1, 2))(q, k, v),
        sagax.grad(loss(ops.mha_reference), (0, 1, 2))(q, k, v),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@modes
def test_keys_in_pages(interpret):
    q = values(2, 4, 8)
    k_pages, v_pages = values(2, 5, 4, 8, seed=1), values(2, 5, 4, 8, seed=2)
    tables = np.array([[3, 1, 0], [4, 2, 2]], np.int32)
    lengths = np.array([10, 3], np.int32)
    got = ops.paged_attention(q, k_pages, v_pages, tables, lengths, interpret=interpret)
    for b in range(2):
        k = np.concatenate(list(k_pages[:, tables[b]].swapaxes(0, 1)), 1)[:, : lengths[b]]
        v = np.concatenate(list(v_pages[:, tables[b]].swapaxes(0, 1)), 1)[:, : lengths[b]]
        for h in range(4):
            e = np.exp(q[b, h] @ k[h // 2].T)
            np.testing.assert_allclose(got[b, h], (e / e.sum()) @ v[h // 2], rtol=1e-4, atol=1e-5)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="weight has another length"):
        ops.layer_norm(snp.ones((2, 3)), snp.ones(2), snp.ones(3))
    with pytest.raises(ValueError, match="last axis"):
        ops.softmax(snp.ones((2, 3)), axis=0)


def decoded(q, k, v, starts=0, ends=None, scale=0.25):
    """Return attention of one query to a range of keys, its sums of exponentials and greatest scores."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[2], 2) for x in (k, v))
    at = np.arange(k.shape[1])
    inside = (at >= np.reshape(starts, (-1, 1))) & (
        at < np.reshape(k.shape[1] if ends is None else ends, (-1, 1))
    )
    scores = np.where(inside[:, None], np.einsum("bhd,bkhd->bhk", q, k) * scale, -np.inf)
    most = scores.max(-1)
    weights = np.exp(scores - most[..., None])
    return np.einsum("bhk,bkhd->bhd", weights, v), weights.sum(-1), most


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, {}),
        ({"start_idx": [3, 0], "kv_seq_len": [50, 20]}, {"starts": [3, 0], "ends": [50, 20]}),
        ({"kv_seq_len": [50, 20], "block_k": 7}, {"ends": [50, 20]}),
        ({"sm_scale": 0.3, "block_k": 16, "interpret": True}, {"scale": 0.3}),
    ],
)
def test_decoding_attends_to_a_range_of_keys(options, arguments):
    q, k, v = values(2, 8, 16), values(2, 60, 2, 16, seed=1), values(2, 60, 2, 16, seed=2)
    options = {n: np.array(x) if isinstance(x, list) else x for n, x in options.items()}
    total, weight, most = decoded(q, k, v, **arguments)
    found, residuals = ops.gqa(q, k, v, **options, return_residuals=True)
    np.testing.assert_allclose(found, total / weight[..., None], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(residuals[0], weight, rtol=1e-4)
    np.testing.assert_allclose(residuals[1], most, rtol=1e-4, atol=1e-5)
    plain = ops.gqa(q, k, v, **options, normalize_output=False)
    np.testing.assert_allclose(plain, total, rtol=1e-4, atol=1e-4)


def test_decoding_with_keys_that_all_heads_share():
    q, k = values(2, 8, 16), values(2, 60, 16, seed=1)
    total, weight, _ = decoded(q, k[:, :, None], k[:, :, None])
    np.testing.assert_allclose(ops.mqa(q, k, k), total / weight[..., None], rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="no multiple"):
        ops.gqa(q, k.reshape(2, 60, 1, 16).repeat(3, 2), k.reshape(2, 60, 1, 16).repeat(3, 2))
