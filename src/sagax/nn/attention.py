"""Compute scaled dot-product attention.

The names of sizes: B examples, T queries, S keys and values, K heads of keys and values, G heads of
queries for each of these (N = K G in all), H numbers a head.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy as snp
from sagax._src.core import dims, dtypes
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.identities import stop_gradient
from sagax.nn.normalization import logsumexp, softmax
from sagax.numpy._base import as_array, promotes_freely
from sagax.numpy._fused import fused

if TYPE_CHECKING or lazy_imports():
    from sagax.nn import _cudnn_attention

_NAME = "dot_product_attention"


@promotes_freely
def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Compute softmax(scale query key^T + bias) value: weighted means of the values.

    Args:
      query: of shape (B, T, N, H), or (T, N, H) if there are no examples, as for all that follow.
      key: of shape (B, S, K, H). Every head of keys and values serves N / K heads of queries, in a row.
      value: of shape (B, S, K, H).
      bias: to add to the logits; it broadcasts to (B, N, T, S).
      mask: booleans that broadcast to (B, N, T, S): queries see keys only where they are true.
      scale: of the logits before the bias is added; 1 / sqrt(H) by default.
      is_causal: whether the query at position t sees only keys at positions up to t.
      query_seq_lengths: integers of shape (B,): results of queries at later positions are 0.
      key_value_seq_lengths: integers of shape (B,): keys at later positions are not seen.
      local_window_size: (left, right), or one number for both: the query at t sees only keys at
        positions from t - left to t + right.
      implementation: None or "xla", or "cudnn": the fused kernels of that library on NVIDIA's GPUs, for bfloat16
        and float16, heads of a multiple of 8 numbers up to 128 (256 from compute capability 9.0 on), and windows
        without a right side. Other platforms compute the same. No forward-mode derivatives.
      return_residual: to return as well the log-sum-exp of the logits, of shape (B, T, N) and without
        derivative.

    The result has the shape of the queries and the dtype of the values. Logits are float32 or wider. A
    query that sees no key at all gets the plain mean of the values.

    Raises ShapeError, a TypeError, for shapes that do not fit together, and other TypeErrors and
    ValueErrors for what else is wrong.

    >>> x = snp.eye(2)[:, None]
    >>> nn.dot_product_attention(x, x, x, is_causal=True, scale=0.0)[:, 0]
    Array([[1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    _check_implementation(implementation)
    query, key, value = [_array(n, x) for n, x in zip(_OPERANDS, (query, key, value))]
    alone = query.ndim == 3
    if alone:
        query, key, value = query[None], key[None] if key.ndim == 3 else key, _batched(value)
    _check_shapes(query, key, value)
    b, t, heads, width = query.shape
    s = key.shape[1]
    arrays: dict[str, Any] = {}
    if bias is not None:
        arrays["bias"] = _over_logits("bias", bias, (b, heads, t, s))
    if mask is not None:
        arrays["mask"] = _over_logits("mask", mask, (b, heads, t, s))
        if arrays["mask"].dtype != np.bool_:
            raise ArgumentValueError(
                f"mask dtype should be bool, but got {dtypes.name(arrays['mask'].dtype)}",
                function=_NAME,
                argument="mask",
                fix="compare first, as in mask=x > 0; an array to add is the argument bias",
            )
    for name, lengths in (
        ("query_seq_lengths", query_seq_lengths),
        ("key_value_seq_lengths", key_value_seq_lengths),
    ):
        if lengths is not None:
            arrays[name] = _lengths(name, lengths, b)
    if implementation == "cudnn":
        out = _cudnn_attention.attend(
            query,
            key,
            value,
            arrays.get("bias"),
            arrays.get("mask"),
            (arrays.get("query_seq_lengths"), arrays.get("key_value_seq_lengths")),
            scale=1 / math.sqrt(width) if scale is None else scale,
            is_causal=bool(is_causal),
            window=_window(local_window_size),
            return_residual=bool(return_residual),
        )
        return out if not alone else (out[0][0], out[1][0]) if return_residual else out[0]
    out = _attention(
        query,
        key,
        value,
        width**-0.5 if scale is None else scale,
        *arrays.values(),
        names=tuple(arrays),
        is_causal=bool(is_causal),
        window=_window(local_window_size),
        return_residual=bool(return_residual),
    )
    if not alone:
        return out
    return (out[0][0], out[1][0]) if return_residual else out[0]


@fused
def _attention(
    query: Any,
    key: Any,
    value: Any,
    scale: Any,
    *arrays: Any,
    names: tuple,
    is_causal: bool,
    window: tuple | None,
    return_residual: bool,
) -> Any:
    optional = dict(zip(names, arrays))
    b, t, heads, width = query.shape
    s, groups = key.shape[1], key.shape[2]
    grouped = query.reshape(b, t, groups, heads // groups, width)
    wide = dtypes.float32 if query.dtype.itemsize < 4 else query.dtype
    logits = snp.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=wide)
    logits = (logits * scale).astype(wide)
    if "bias" in optional:
        logits = (logits + _in_groups(optional["bias"], groups)).astype(wide)
    attended = _attention_mask(t, s, optional, groups, is_causal, window)
    if attended is not None:
        logits = snp.where(attended, logits, -0.7 * float(dtypes.finfo(wide).max))
    weights = softmax(logits).astype(key.dtype)
    out = snp.einsum("bkgts,bskh->btkgh", weights, value).reshape(b, t, heads, width)
    if "query_seq_lengths" in optional:
        in_sequence = snp.arange(t) < optional["query_seq_lengths"][:, None]
        out = snp.where(in_sequence[:, :, None, None], out, 0)
    if not return_residual:
        return out
    residual = logsumexp(stop_gradient(logits), axis=-1)
    return out, snp.transpose(residual, (0, 3, 1, 2)).reshape(b, t, heads).astype(key.dtype)


def _in_groups(x: Any, groups: int) -> Any:
    """Reshape an array that broadcasts to (B, N, T, S) to one that broadcasts to (B, K, G, T, S)."""
    b, heads, t, s = x.shape
    return x.reshape(b, 1, 1, t, s) if heads == 1 else x.reshape(b, groups, heads // groups, t, s)


def _attention_mask(
    t: Any, s: Any, optional: dict, groups: int, is_causal: bool, window: tuple | None
) -> Any:
    """Build the mask of keys that each query attends to, or None; broadcasts to (B, K, G, T, S)."""
    masks = []
    at = snp.arange(t)[:, None]
    keys = snp.arange(s)
    if is_causal:
        masks.append(at >= keys)
    if window is not None:
        left, right = window
        masks.append(snp.logical_and(keys >= at - left, keys <= at + right))
    if "key_value_seq_lengths" in optional:
        masks.append(keys < optional["key_value_seq_lengths"][:, None, None, None, None])
    if "query_seq_lengths" in optional:
        masks.append(at < optional["query_seq_lengths"][:, None, None, None, None])
    if "mask" in optional:
        masks.append(_in_groups(optional["mask"], groups))
    if not masks:
        return None
    attended = masks[0]
    for mask_term in masks[1:]:
        attended = snp.logical_and(attended, mask_term)
    return attended


# arguments ----------------------------------------------------------------------------------------

_OPERANDS = ("query", "key", "value")


def _array(argument: str, x: Any) -> Any:
    x = as_array(_NAME, x, _OPERANDS.index(argument))
    if x.ndim not in (3, 4):
        raise ShapeError.about(
            _NAME, argument, x, "4 axes (example, position, head, width), or 3 without examples"
        )
    if not dtypes.is_inexact(x.dtype) or dtypes.is_complex(x.dtype):
        raise ArgumentError.about(_NAME, argument, x, "real floating point numbers")
    return x


def _batched(x: Any) -> Any:
    return x[None] if x.ndim == 3 else x


def _check_shapes(query: Any, key: Any, value: Any) -> None:
    b, _, heads, width = query.shape
    if key.ndim != 4 or (key.shape[0], key.shape[3]) != (b, width):
        raise ShapeError(
            f"key shape should be [{b}, S, K, {width}] beside queries of shape {query.shape}: but got"
            f" {key.shape}",
            function=_NAME,
            argument="key",
        )
    if value.shape != key.shape:
        raise ShapeError(
            f"value shape should be that of the keys, {key.shape}: but got {value.shape}",
            function=_NAME,
            argument="value",
        )
    groups = key.shape[2]
    if heads % groups != 0:
        raise ShapeError(
            "The number of query heads must be a multiple of key/value heads, but got"
            f" {heads} vs {groups}",
            function=_NAME,
            argument="query",
        )
    for argument, x in (("key", key), ("value", value)):
        if x.dtype != query.dtype:
            raise ArgumentError(
                f"{argument} dtype should be that of the queries, {dtypes.name(query.dtype)}, but got"
                f" {dtypes.name(x.dtype)}",
                function=_NAME,
                argument=argument,
                fix=f"convert it with astype({dtypes.name(query.dtype)!r})",
            )


def _over_logits(argument: str, x: Any, shape: tuple) -> Any:
    """Check a bias or mask with 4 axes."""
    x = as_array(_NAME, x, 3 if argument == "bias" else 4)
    if x.ndim < 4:
        x = x.reshape((1,) * (4 - x.ndim) + x.shape)
    if x.ndim != 4 or not all(
        dims.same(have, 1) or dims.same(have, want) for have, want in zip(x.shape, shape)
    ):
        raise ShapeError.about(
            _NAME, argument, x, f"an array that broadcasts to (B, N, T, S) = {shape}"
        )
    return x


def _lengths(argument: str, x: Any, count: Any) -> Any:
    x = as_array(_NAME, x)
    if x.shape != (count,):
        raise ShapeError(
            f"{argument} shape should be ({count},), one for every example: but got {x.shape}",
            function=_NAME,
            argument=argument,
        )
    if dtypes.kind(x.dtype) not in "iu":
        raise ArgumentError.about(_NAME, argument, x, "integers")
    return x


def _window(size: Any) -> tuple | None:
    if size is None:
        return None
    pair = (size, size) if isinstance(size, (int, np.integer)) else size
    ok = isinstance(pair, (tuple, list)) and len(pair) == 2
    if not ok or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in pair):
        raise ArgumentValueError(
            function=_NAME,
            argument="local_window_size",
            got=size,
            expected="a number of positions, or a pair (left, right) of them, not negative",
        )
    return int(pair[0]), int(pair[1])


def _check_implementation(implementation: Any) -> None:
    if implementation not in (None, "xla", "cudnn"):
        raise ArgumentValueError(
            f"Unsupported implementation option: {implementation!r}",
            function=_NAME,
            argument="implementation",
            expected="None, 'xla' or 'cudnn'",
        )
