"""Define attention of one query per sequence to ragged ranges of keys, as decoding needs it.

Programs along the last axis of the grid walk over blocks of keys, with a running softmax (Dao et al., FlashAttention,
2022).
"""

from __future__ import annotations

import functools
from typing import Any

import sagax.numpy as snp
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.experimental.pallas._blocks import BlockSpec, PrefetchScalarGridSpec
from sagax.experimental.pallas._call import pallas_call
from sagax.experimental.pallas._frames import num_programs, program_id
from sagax.experimental.pallas._memory import MemorySpace
from sagax.experimental.pallas._operations import cdiv, next_power_of_2, when

_MASKED = -1e30


def _kernel(
    starts_ref: Any, ends_ref: Any, q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, weight_ref: Any,
    most_ref: Any, total_ref: Any, *, scale: float, normalize: bool,
) -> None:  # fmt: skip
    b, j = program_id(0), program_id(2)
    block = k_ref.shape[0]

    @when(j == 0)
    def _() -> None:
        total_ref[...] = snp.zeros_like(total_ref)
        most_ref[...] = snp.full_like(most_ref, _MASKED)
        weight_ref[...] = snp.zeros_like(weight_ref)

    at = j * block + snp.arange(block)
    inside = (at >= starts_ref[b]) & (at < ends_ref[b])
    scores = q_ref[...].astype(snp.float32) @ k_ref[...].astype(snp.float32).T * scale
    scores = snp.where(inside[None], scores, _MASKED)
    new = snp.maximum(most_ref[...], scores.max(-1))
    p = snp.where(inside[None], snp.exp(scores - new[:, None]), 0.0)
    v = snp.where(
        inside[:, None], v_ref[...].astype(snp.float32), 0.0
    )  # the last block may leave the array
    fade = snp.exp(most_ref[...] - new)
    total_ref[...] = total_ref[...] * fade[:, None] + p @ v
    weight_ref[...] = weight_ref[...] * fade + p.sum(-1)
    most_ref[...] = new

    @when(j == num_programs(2) - 1)
    def _() -> None:
        found = total_ref[...]
        if normalize:
            found = found / snp.maximum(weight_ref[...], 1e-30)[:, None]
        o_ref[...] = found.astype(o_ref.dtype)


def gqa(
    q: Any,
    k: Any,
    v: Any,
    start_idx: Any = None,
    kv_seq_len: Any = None,
    sm_scale: float | None = None,
    block_h: int = 16,
    block_k: int = 128,
    k_splits: int = 16,
    num_warps: int | None = None,
    num_stages: int = 2,
    grid: Any = None,
    interpret: bool = False,
    debug: bool = False,
    return_residuals: bool = False,
    normalize_output: bool = True,
) -> Any:
    """Let one query per sequence attend to a range of its keys; several heads of queries share one of keys.

    Args:
      q: of shape (batch, heads, size).
      k, v: of shape (batch, keys, key heads, size); heads is a multiple of key heads.
      start_idx, kv_seq_len: of shape (batch,): each sequence attends to its keys from the first to before the
        second; by default to all. So batches may be ragged.
      sm_scale: multiplies scores; by default 1 / sqrt(size).
      block_k: how many keys a program sees.
      return_residuals: whether to return also the sums of exponentials and the greatest scores, of shape
        (batch, heads), by which results over several ranges are combined.
      normalize_output: whether to divide by the sums of exponentials.
      block_h, k_splits, num_warps, num_stages, grid, debug: accepted, without effect.

    >>> q, k = snp.ones((1, 4, 8)), snp.ones((1, 32, 2, 8))
    >>> gqa(q, k, k, kv_seq_len=snp.array([20])).shape
    (1, 4, 8)
    """
    (batch, heads, size), (_, keys, key_heads, _) = q.shape, k.shape
    if heads % key_heads:
        raise ArgumentValueError(
            "the heads of q are no multiple of those of the keys",
            function="gqa",
            argument="q",
            got=q,
            expected=f"a multiple of {key_heads} heads",
        )
    group, block = (
        heads // key_heads,
        min(block_k, next_power_of_2(keys)),
    )  # Triton wants powers of 2
    starts = snp.zeros(batch, int) if start_idx is None else start_idx
    ends = snp.full(batch, keys) if kv_seq_len is None else kv_seq_len
    rows = BlockSpec((None, None, group, size), lambda b, h, j, *_: (b, h, 0, 0))
    vector = BlockSpec((None, None, group), lambda b, h, j, *_: (b, h, 0))
    blocks = BlockSpec((None, block, None, size), lambda b, h, j, *_: (b, j, h, 0))
    shape = (batch, key_heads, group)
    out, weight, most = pallas_call(
        functools.partial(
            _kernel,
            scale=size**-0.5 if sm_scale is None else sm_scale,
            normalize=normalize_output,
        ),
        (
            ShapeDtypeStruct((*shape, size), q.dtype),
            ShapeDtypeStruct(shape, snp.float32),
            ShapeDtypeStruct(shape, snp.float32),
        ),
        grid_spec=PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            grid=(batch, key_heads, cdiv(keys, block)),
            in_specs=[rows, blocks, blocks],
            out_specs=(rows, vector, vector),
            scratch_shapes=[MemorySpace.ANY((group, size), snp.float32)],
        ),
        interpret=interpret,
        name="gqa",
    )(
        snp.asarray(starts, snp.int32),
        snp.asarray(ends, snp.int32),
        snp.reshape(q, (*shape, size)),
        k,
        v,
    )
    out = snp.reshape(out, q.shape)
    residuals = snp.reshape(weight, q.shape[:2]), snp.reshape(most, q.shape[:2])
    return (out, residuals) if return_residuals else out


def mqa(
    q: Any,
    k: Any,
    v: Any,
    start_idx: Any = None,
    kv_seq_len: Any = None,
    sm_scale: float | None = None,
    block_h: int = 16,
    block_k: int = 256,
    k_splits: int = 16,
    num_warps: int | None = None,
    num_stages: int = 2,
    grid: Any = None,
    interpret: bool = False,
    debug: bool = False,
    return_residuals: bool = False,
    normalize_output: bool = True,
) -> Any:
    """Let one query per sequence attend to a range of keys that all heads share; arguments as in `gqa`.

    Args:
      k, v: of shape (batch, keys, size).

    >>> q, k = snp.ones((1, 4, 8)), snp.ones((1, 32, 8))
    >>> mqa(q, k, k).shape
    (1, 4, 8)
    """
    return gqa(
        q, k[:, :, None], v[:, :, None], start_idx, kv_seq_len, sm_scale, block_k=block_k,
        interpret=interpret, return_residuals=return_residuals, normalize_output=normalize_output,
    )  # fmt: skip
