"""Define attention kernels: blocks of queries walk over blocks of keys, with a running softmax.

Dao et al., FlashAttention (2022): the sum of exponentials is rescaled when a greater score is met, so that no
matrix of all scores is needed.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.derivatives import vjp
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.higher_order.custom_derivatives import custom_vjp
from sagax.experimental.pallas._blocks import BlockSpec, PrefetchScalarGridSpec
from sagax.experimental.pallas._call import pallas_call
from sagax.experimental.pallas._frames import program_id
from sagax.experimental.pallas._memory import MemorySpace
from sagax.experimental.pallas._operations import cdiv, ds, when
from sagax.experimental.pallas.triton import CompilerParams
from sagax.numpy._base import promotes_freely

_BLOCK = 128
_BACKWARD_BLOCK = 64  # these hold more values at a time
_MASKED = -1e30


@promotes_freely
def mha_reference(
    q: Any,
    k: Any,
    v: Any,
    segment_ids: Any = None,
    sm_scale: float = 1.0,
    causal: bool = False,
) -> Any:
    """Return multi-head attention, written with sagax.numpy; arguments as in `mha`.

    >>> x = snp.ones((1, 2, 1, 4))
    >>> mha_reference(x, x, x).shape
    (1, 2, 1, 4)
    """
    scores = snp.einsum("bqhd,bkhd->bhqk", q, k).astype(snp.float32) * sm_scale
    if segment_ids is not None:
        same = segment_ids[:, None, :, None] == segment_ids[:, None, None, :]
        scores = snp.where(same, scores, _MASKED)
    if causal:
        rows, columns = snp.arange(q.shape[1])[:, None], snp.arange(k.shape[1])
        scores = snp.where(rows >= columns, scores, _MASKED)
    weights = snp.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return snp.einsum("bhqk,bkhd->bqhd", weights, v.astype(snp.float32)).astype(q.dtype)


@record
class BlockSizes:
    """Say how many queries and keys a program of each kernel sees; None: up to 128, and 64 for derivatives.

    `block_q` and `block_k` are those of the forward pass, the others of the kernels for the derivatives by keys and
    values (`_dkv`) and by queries (`_dq`).

    >>> BlockSizes(block_q=64, block_k=64).block_q_dq
    """

    block_q: int | None = None
    block_k: int | None = None
    block_q_dkv: int | None = None
    block_kv_dkv: int | None = None
    block_q_dq: int | None = None
    block_kv_dq: int | None = None

    @classmethod
    def get_default(cls) -> BlockSizes:
        """Return the sizes that jax chooses."""
        return cls(128, 128, 32, 32, 32, 32)


@record
class _Options:
    """Hold the options that all kernels of an attention share."""

    scale: float
    causal: bool
    interpret: Any
    blocks: BlockSizes
    num_warps: int | None
    num_stages: int
    kernels_for_derivatives: bool

    def compiler_params(self, size: int) -> CompilerParams:
        """Return Triton's options for heads of `size`."""
        return CompilerParams(self.num_warps or (4 if size <= 64 else 8), self.num_stages)

    def rows(self, length: int, size: int | None, usual: int = _BLOCK) -> int:
        """Return how many of `length` positions a block has: a divisor."""
        return math.gcd(length, size or usual)


def _scores(q: Any, k: Any, ids: tuple, rows: Any, columns: Any, options: _Options) -> Any:
    """Return the scaled scores of queries with keys; those that are masked are very small."""
    scores = q @ k.T * options.scale
    if ids:
        scores = snp.where(ids[0][:, None] == ids[1][None], scores, _MASKED)
    if options.causal:
        scores = snp.where(rows[:, None] >= columns[None], scores, _MASKED)
    return scores


def _forward_kernel(*refs: Any, options: _Options, block: int) -> None:
    q_ref, k_ref, v_ref, *ids, o_ref, lse_ref = refs
    q = q_ref[...].astype(snp.float32)
    n_rows, n_keys = q.shape[0], k_ref.shape[0]
    first = program_id(2) * n_rows
    rows = first + snp.arange(n_rows)

    def step(j: Any, carry: tuple) -> tuple:
        total, most, weight = carry
        at = ds(j * block, block)
        same = (ids[0][ds(first, n_rows)], ids[0][at]) if ids else ()
        columns = j * block + snp.arange(block)
        scores = _scores(q, k_ref[at].astype(snp.float32), same, rows, columns, options)
        new = snp.maximum(most, scores.max(-1))
        p, fade = snp.exp(scores - new[:, None]), snp.exp(most - new)
        total = total * fade[:, None] + p @ v_ref[at].astype(snp.float32)
        return total, new, weight * fade + p.sum(-1)

    most, weight = snp.full(n_rows, _MASKED, snp.float32), snp.zeros(n_rows, snp.float32)
    start = snp.zeros_like(q), most, weight
    # later blocks of keys are masked for all rows of this block
    count = (
        snp.minimum(cdiv(first + n_rows, block), n_keys // block)
        if options.causal
        else n_keys // block
    )
    total, most, weight = lax.fori_loop(0, count, step, start)
    o_ref[...] = (total / weight[:, None]).astype(o_ref.dtype)
    lse_ref[...] = most + snp.log(weight)


def _attend(q: Any, k: Any, v: Any, segment_ids: Any, options: _Options) -> tuple:
    """Return the result, and the logarithm of the sum of exponentials of each row of scores."""
    batch, length, heads, size = q.shape
    block = options.rows(length, options.blocks.block_q)
    rows = BlockSpec((None, block, None, size), lambda b, h, i: (b, i, h, 0))
    keys = BlockSpec((None, k.shape[1], None, size), lambda b, h, i: (b, 0, h, 0))
    ids = [] if segment_ids is None else [segment_ids]
    kernel = functools.partial(
        _forward_kernel, options=options, block=options.rows(k.shape[1], options.blocks.block_k)
    )
    return pallas_call(
        kernel,
        (ShapeDtypeStruct(q.shape, q.dtype), ShapeDtypeStruct((batch, heads, length), snp.float32)),
        grid=(batch, heads, length // block),
        in_specs=[rows, keys, keys, *[BlockSpec((None, length), lambda b, h, i: (b, 0))] * len(ids)],
        out_specs=(rows, BlockSpec((None, None, block), lambda b, h, i: (b, h, i))),
        interpret=options.interpret,
        compiler_params=options.compiler_params(size),
        name="mha",
    )(q, k, v, *ids)  # fmt: skip


@functools.partial(custom_vjp, nondiff_argnums=(4,))
def _mha(q: Any, k: Any, v: Any, segment_ids: Any, options: _Options) -> Any:
    return _attend(q, k, v, segment_ids, options)[0]


def _forward(q: Any, k: Any, v: Any, ids: Any, options: _Options) -> tuple:
    out, lse = _attend(q, k, v, ids, options)
    return out, (q, k, v, ids, out, lse)


# Derivatives: scores are computed again. With p = exp(scores - lse), the softmax of a row has the derivative
# p * (dp - sum(p * dp)), and that sum is the product of the result with its cotangent.


def _keys_kernel(*refs: Any, options: _Options, block: int) -> None:
    """Add up the derivatives by a block of keys and values over blocks of queries."""
    q_ref, k_ref, v_ref, g_ref, lse_ref, delta_ref, *ids, dk_ref, dv_ref = refs
    k, v = k_ref[...].astype(snp.float32), v_ref[...].astype(snp.float32)
    n_keys, n_rows = k.shape[0], q_ref.shape[0]
    first = program_id(2) * n_keys
    columns = first + snp.arange(n_keys)

    def step(i: Any, carry: tuple) -> tuple:
        dk, dv = carry
        at = ds(i * block, block)
        q, g = q_ref[at].astype(snp.float32), g_ref[at].astype(snp.float32)
        same = (ids[0][at], ids[0][ds(first, n_keys)]) if ids else ()
        scores = _scores(q, k, same, i * block + snp.arange(block), columns, options)
        p = snp.exp(scores - lse_ref[at][:, None])
        dp = g @ v.T
        dscores = p * (dp - delta_ref[at][:, None]) * options.scale
        return dk + dscores.T @ q, dv + p.T @ g

    # earlier blocks of queries attend to none of these keys
    start = first // block if options.causal else 0
    dk, dv = lax.fori_loop(start, n_rows // block, step, (snp.zeros_like(k), snp.zeros_like(v)))
    dk_ref[...] = dk.astype(dk_ref.dtype)
    dv_ref[...] = dv.astype(dv_ref.dtype)


def _queries_kernel(*refs: Any, options: _Options, block: int) -> None:
    """Add up the derivatives by a block of queries over blocks of keys."""
    q_ref, k_ref, v_ref, g_ref, lse_ref, delta_ref, *ids, dq_ref = refs
    q, g = q_ref[...].astype(snp.float32), g_ref[...].astype(snp.float32)
    n_rows, n_keys = q.shape[0], k_ref.shape[0]
    first = program_id(2) * n_rows
    rows = first + snp.arange(n_rows)
    lse, delta = lse_ref[...], delta_ref[...]

    def step(j: Any, dq: Any) -> Any:
        at = ds(j * block, block)
        k, v = k_ref[at].astype(snp.float32), v_ref[at].astype(snp.float32)
        same = (ids[0][ds(first, n_rows)], ids[0][at]) if ids else ()
        scores = _scores(q, k, same, rows, j * block + snp.arange(block), options)
        p = snp.exp(scores - lse[:, None])
        dscores = p * (g @ v.T - delta[:, None]) * options.scale
        return dq + dscores @ k

    count = (
        snp.minimum(cdiv(first + n_rows, block), n_keys // block)
        if options.causal
        else n_keys // block
    )
    dq_ref[...] = lax.fori_loop(0, count, step, snp.zeros_like(q)).astype(dq_ref.dtype)


def _backward(options: _Options, saved: tuple, g: Any) -> tuple:
    q, k, v, ids, out, lse = saved
    if not options.kernels_for_derivatives:
        scale, causal = options.scale, options.causal
        _, pull = vjp(lambda q, k, v: mha_reference(q, k, v, ids, scale, causal), q, k, v)
        return (*pull(g), None)
    batch, length, heads, size = q.shape
    n_keys, blocks = k.shape[1], options.blocks
    delta = snp.einsum("bqhd,bqhd->bhq", out.astype(snp.float32), g.astype(snp.float32))
    operands = (q, k, v, g, lse, delta, *([] if ids is None else [ids]))

    def spec(block: int, moving: bool) -> Any:
        shape = (None, block, None, size)
        return BlockSpec(shape, lambda b, h, i: (b, i if moving else 0, h, 0))

    def vector(block: int, moving: bool) -> Any:
        return BlockSpec((None, None, block), lambda b, h, i: (b, h, i if moving else 0))

    def call(kernel: Any, outs: Any, mine: int, theirs: int, over_keys: bool, specs: Any) -> Any:
        n_blocks = (n_keys if over_keys else length) // mine
        rows, keys = (length, mine) if over_keys else (mine, n_keys)
        per_row = [
            spec(rows, not over_keys),
            spec(keys, over_keys),
            spec(keys, over_keys),
            spec(rows, not over_keys),
        ]
        per_row += [vector(rows, not over_keys)] * 2
        per_row += [BlockSpec((None, length), lambda b, h, i: (b, 0))] * (ids is not None)
        return pallas_call(
            functools.partial(kernel, options=options, block=theirs),
            outs,
            grid=(batch, heads, n_blocks),
            in_specs=per_row,
            out_specs=specs,
            interpret=options.interpret,
            compiler_params=options.compiler_params(size),
            name="mha_backward_keys" if over_keys else "mha_backward_queries",
        )(*operands)

    mine = options.rows(n_keys, blocks.block_kv_dkv, _BACKWARD_BLOCK)
    kv = ShapeDtypeStruct(k.shape, k.dtype), ShapeDtypeStruct(v.shape, v.dtype)
    theirs = options.rows(length, blocks.block_q_dkv, _BACKWARD_BLOCK)
    dk, dv = call(_keys_kernel, kv, mine, theirs, True, (spec(mine, True), spec(mine, True)))
    mine = options.rows(length, blocks.block_q_dq, _BACKWARD_BLOCK)
    theirs = options.rows(n_keys, blocks.block_kv_dq, _BACKWARD_BLOCK)
    out_q = ShapeDtypeStruct(q.shape, q.dtype)
    dq = call(_queries_kernel, out_q, mine, theirs, False, spec(mine, True))
    return dq, dk, dv, None


_mha.defvjp(_forward, _backward)


def mha(
    q: Any,
    k: Any,
    v: Any,
    segment_ids: Any = None,
    sm_scale: float = 1.0,
    causal: bool = False,
    block_sizes: BlockSizes | None = None,
    backward_pass_impl: str = "triton",
    num_warps: int | None = None,
    num_stages: int = 2,
    grid: Any = None,
    interpret: Any = False,
    debug: bool = False,
    return_residuals: bool = False,
) -> Any:
    """Return multi-head attention, as a kernel that holds no matrix of all scores; nor do those of its derivatives.

    Args:
      q, k, v: of shape (batch, length, heads, size).
      segment_ids: of shape (batch, length); positions with different numbers do not attend to each other.
      sm_scale: the factor of scores; often 1 / sqrt(size).
      causal: whether positions attend to earlier ones and themselves only.
      block_sizes: how many queries and keys a program sees, a `BlockSizes`.
      backward_pass_impl: "triton" computes derivatives by kernels, "xla" by the derivative of `mha_reference`.
      num_warps, num_stages: options of Triton, on GPUs.
      return_residuals: return also, of shape (batch, heads, length), the binary logarithm of the sum of exponentials
        of each row of scores; then without derivatives of kernels.
      grid, debug: accepted as in jax, without effect.

    >>> x = sagax.random.normal(sagax.random.key(0), (1, 4, 2, 8))
    >>> same = mha_reference(x, x, x, causal=True)
    >>> bool(snp.allclose(mha(x, x, x, causal=True), same, atol=1e-5))
    True
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim != 4 or x.shape[-2:] != q.shape[-2:] or x.shape[0] != q.shape[0]:
            raise ArgumentValueError(
                f"{name} has no heads as q has",
                function="mha",
                argument=name,
                got=x,
                expected="an array of shape (batch, length, heads, size)",
            )
    if backward_pass_impl not in ("triton", "xla"):
        raise ArgumentValueError.about(
            "mha", "backward_pass_impl", repr(backward_pass_impl), "'triton' or 'xla'"
        )
    options = _Options(
        float(sm_scale), bool(causal), interpret, block_sizes or BlockSizes(), num_warps, num_stages,
        backward_pass_impl == "triton",
    )  # fmt: skip
    if return_residuals:
        out, lse = _attend(q, k, v, segment_ids, options)
        return out, lse / math.log(2)
    return _mha(q, k, v, segment_ids, options)


# Attention of one query to keys in pages -------------------------------------------------------------


def _paged_kernel(
    tables_ref: Any, lengths_ref: Any, q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any,
    total_ref: Any, most_ref: Any, weight_ref: Any, *, pages: int,
) -> None:  # fmt: skip
    b, page = program_id(0), program_id(2)
    size = k_ref.shape[0]

    @when(page == 0)
    def _() -> None:
        total_ref[...] = snp.zeros_like(total_ref)
        most_ref[...] = snp.full_like(most_ref, _MASKED)
        weight_ref[...] = snp.zeros_like(weight_ref)

    q = q_ref[...].astype(snp.float32)
    scores = q @ k_ref[...].astype(snp.float32).T
    inside = page * size + snp.arange(size) < lengths_ref[b]
    scores = snp.where(inside[None], scores, _MASKED)
    new = snp.maximum(most_ref[...], scores.max(-1))
    p = snp.where(inside[None], snp.exp(scores - new[:, None]), 0.0)
    fade = snp.exp(most_ref[...] - new)
    total_ref[...] = total_ref[...] * fade[:, None] + p @ v_ref[...].astype(snp.float32)
    weight_ref[...] = weight_ref[...] * fade + p.sum(-1)
    most_ref[...] = new

    @when(page == pages - 1)
    def _() -> None:
        found = total_ref[...] / snp.maximum(weight_ref[...], 1e-30)[:, None]
        o_ref[...] = found.astype(o_ref.dtype)


def paged_attention(
    q: Any,
    k_pages: Any,
    v_pages: Any,
    block_tables: Any,
    lengths: Any,
    *,
    interpret: Any = False,
    **options: Any,
) -> Any:
    """Let one query per sequence attend to keys and values that lie in pages; scores are not scaled.

    Args:
      q: of shape (batch, heads, size).
      k_pages, v_pages: of shape (key heads, pages, page size, size); heads is a multiple of key heads.
      block_tables: of shape (batch, pages per sequence): the pages of each sequence, in order.
      lengths: of shape (batch,): how many keys each sequence has; batches are ragged.

    >>> q, pages = snp.ones((1, 2, 4)), snp.ones((1, 3, 8, 4))
    >>> paged_attention(q, pages, pages, snp.array([[2, 0]]), snp.array([5])).shape
    (1, 2, 4)
    """
    batch, heads, size = q.shape
    key_heads, _, page, _ = k_pages.shape
    if heads % key_heads:
        raise ArgumentValueError(
            "the heads of q are no multiple of those of the keys",
            function="paged_attention",
            argument="q",
            got=q,
            expected=f"a multiple of {key_heads} heads",
        )
    group, pages = heads // key_heads, block_tables.shape[1]
    rows = BlockSpec((None, None, group, size), lambda b, h, p, tables, lengths: (b, h, 0, 0))
    keys = BlockSpec(
        (None, None, page, size), lambda b, h, p, tables, lengths: (h, tables[b, p], 0, 0)
    )
    spec = PrefetchScalarGridSpec(
        num_scalar_prefetch=2,
        grid=(batch, key_heads, pages),
        in_specs=[rows, keys, keys],
        out_specs=rows,
        scratch_shapes=[
            MemorySpace.ANY((group, size), snp.float32),
            MemorySpace.ANY((group,), snp.float32),
            MemorySpace.ANY((group,), snp.float32),
        ],
    )
    out = pallas_call(
        functools.partial(_paged_kernel, pages=pages),
        ShapeDtypeStruct((batch, key_heads, group, size), q.dtype),
        grid_spec=spec,
        interpret=interpret,
        name="paged_attention",
    )(
        snp.asarray(block_tables, snp.int32),
        snp.asarray(lengths, snp.int32),
        snp.reshape(q, (batch, key_heads, group, size)),
        k_pages,
        v_pages,
    )
    return snp.reshape(out, q.shape)
