"""Define attention by cuDNN's fused kernels, as primitives that other platforms compute from the formula.

Sizes as in `attention`: B, T, S, K, N, H. Names, operands and options of the calls are those that XLA expects.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import sagax.numpy as snp
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, f32
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.higher_order.custom_derivatives import custom_vjp
from sagax._src.lowering.text import quote
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.runtime import devices
from sagax.numpy._base import promotes_freely

_NAME = "dot_product_attention"
_F32, _I32 = np.dtype(np.float32), np.dtype(np.int32)
_ELEMENT_TYPES = {"bfloat16": "BF16", "float16": "F16"}
# What masks add to logits. cuDNN subtracts two of them, so that the greatest numbers are not for it.
_MASKED = {"bfloat16": -(2.0**41), "float16": -(2.0**15)}


class Options(NamedTuple):
    """Describe a call: which optional operands it has, and which keys a query sees."""

    scale: float
    causal: bool
    window: int  # a query sees so many keys up to its own position; 0: all
    has_bias: bool
    has_lengths: bool

    @property
    def mask_type(self) -> str:
        words = ["PADDING"] * self.has_lengths + ["CAUSAL"] * self.causal
        return "_".join(words) or "NO_MASK"


@promotes_freely
def attend(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    mask: Any,
    lengths: tuple[Any, Any],
    *,
    scale: Any,
    is_causal: bool,
    window: tuple[int, int] | None,
    return_residual: bool,
) -> Any:
    """Compute attention on checked operands, each with its axis of examples. Raises what cuDNN cannot do."""
    _check(query, key, scale)
    left = 0
    if window is not None:
        left, right = window[0] + 1, window[1]
        if right and not is_causal:
            raise UnsupportedError(
                "cuDNN has no window to the right of a query",
                function=_NAME,
                argument="local_window_size",
                got=window,
                expected="(left, 0), or is_causal=True",
                fix="pass implementation='xla'",
            )
        is_causal = True
    learned = bias is not None
    b, t, heads, _ = query.shape
    s = key.shape[1]
    if mask is not None:
        name = dtypes.name(query.dtype)
        masked = snp.where(mask, 0.0, _MASKED[name]).astype(query.dtype)
        bias = masked if bias is None else bias + masked
    if bias is not None:
        if bias.dtype not in (query.dtype, _F32):
            bias = bias.astype(query.dtype)
        bias = snp.broadcast_to(bias, (*bias.shape[:2], t, s))
    queries, keys = lengths
    has_lengths = queries is not None or keys is not None
    if has_lengths:
        queries = snp.full((b,), t, _I32) if queries is None else queries.astype(_I32)
        keys = snp.full((b,), s, _I32) if keys is None else keys.astype(_I32)
    options = Options(float(scale), is_causal, left, bias is not None, has_lengths)
    how = _How(options, learned, return_residual)
    out, stats = _attend(how, query, key, value, bias, queries, keys)
    if queries is not None:  # what the kernel leaves at other positions is not said anywhere
        seen = snp.arange(t) < queries[:, None]
        out = snp.where(seen[:, :, None, None], out, 0)
    if not return_residual:
        return out
    return out, snp.transpose(stats, (0, 2, 1)).astype(key.dtype)


def _check(query: Any, key: Any, scale: Any) -> None:
    name = dtypes.name(query.dtype)
    if name not in _ELEMENT_TYPES:
        raise ArgumentError(
            f"cuDNN's attention takes bfloat16 and float16, and query is {name}",
            function=_NAME,
            argument="query",
            fix="convert the operands, as with query.astype('bfloat16'), or pass implementation='xla'",
        )
    if not isinstance(scale, (int, float, np.number)):
        raise ArgumentValueError(
            function=_NAME,
            argument="scale",
            got="a traced or array value",
            expected="a Python number with implementation='cudnn': it is part of the kernel",
            fix="multiply the queries instead, and pass scale=1.0",
        )
    if not dims.is_static((*query.shape, *key.shape)):
        raise UnsupportedError(
            "cuDNN's attention needs known sizes",
            function=_NAME,
            argument="query",
            got=query.shape,
            fix="export with sizes that are numbers, or pass implementation='xla'",
        )
    width, limit = query.shape[-1], head_limit()
    if width > limit or width % 8:
        raise UnsupportedError(
            f"The head dim must be <= {limit} and a multiple of 8, but got {width}",
            function=_NAME,
            argument="query",
            got=query.shape,
            expected=f"(B, T, N, H) with H a multiple of 8 up to {limit}",
            fix="pad the heads with zeros, or pass implementation='xla'",
        )


def head_limit() -> int:
    """Return the greatest size of a head: 256 on GPUs of compute capability 9.0 or more, else 128."""
    capabilities = [
        float(getattr(device, "compute_capability", "0"))
        for b in devices.started_backends()
        if b.platform == "cuda"
        for device in b.local_devices
    ]
    return 256 if capabilities and min(capabilities) >= 9 else 128


class _How(NamedTuple):
    options: Options
    learned: bool  # the bias has a gradient
    return_residual: bool


@functools.partial(custom_vjp, nondiff_argnums=(0,))
def _attend(how: _How, *operands: Any) -> Any:
    return _forward(how.options, operands, how.return_residual)


def _forward(options: Options, operands: Sequence[Any], with_stats: bool) -> tuple:
    held = [x for x in operands if x is not None]
    out, *stats = cudnn_attention_p.bind(*held, options=options, with_stats=with_stats)
    return out, (stats[0] if stats else None)


def _fwd(how: _How, *operands: Any) -> tuple:
    query, key, _, bias = operands[:4]
    if bias is not None and (query.shape[1] % 2 or key.shape[1] % 2):
        raise UnsupportedError(
            "cuDNN has no gradient of attention with a bias or mask for odd lengths",
            function=_NAME,
            argument="query",
            got=f"{query.shape[1]} queries and {key.shape[1]} keys",
            expected="even numbers of both",
            fix="pad them, or pass implementation='xla'",
        )
    out, stats = _forward(how.options, operands, True)
    return (out, stats if how.return_residual else None), (operands, out, stats)


def _bwd(how: _How, kept: tuple, cotangents: tuple) -> tuple:
    (query, key, value, bias, *lengths), out, stats = kept
    held = [bias] if bias is not None else []
    held += [out, *[x for x in lengths if x is not None]]
    grads = cudnn_attention_grad_p.bind(
        query, key, value, stats, cotangents[0], *held, options=how.options, learned=how.learned
    )
    bias_grad = grads[3] if how.learned else None if bias is None else snp.zeros_like(bias)
    return (*grads[:3], bias_grad, None, None)


_attend.defvjp(_fwd, _bwd)


# The formula --------------------------------------------------------------------------------------


def _logits(query: Any, key: Any, rest: Sequence[Any], options: Options, np_: Any) -> Any:
    """Return the logits (B, N, T, S) in float32, with -inf where a query does not see a key."""
    heads, groups = query.shape[2], key.shape[2]
    keys = np_.repeat(key, heads // groups, axis=2)
    products = np_.einsum("btnh,bsnh->bnts", query.astype(_F32), keys.astype(_F32))
    logits = products * np.float32(options.scale)
    if options.has_bias:
        logits = logits + rest[0].astype(_F32)
    t, s = query.shape[1], key.shape[1]
    at, seen = np_.arange(t)[:, None], np_.arange(s)
    visible = np_.ones((1, 1, t, s), bool)
    if options.causal:
        visible = visible & (at >= seen)
    if options.window:
        visible = visible & (seen > at - options.window)
    if options.has_lengths:
        queries, keys = rest[-2:]
        visible = visible & (seen < keys[:, None, None, None])
        visible = visible & (at < queries[:, None, None, None])
    return np_.where(visible, logits, np.float32(-np.inf))


def _weights(logits: Any, stats: Any, np_: Any) -> Any:
    """Return exp(logits - stats), and zero where a query sees nothing."""
    finite = np_.isfinite(stats)[..., None]
    safe = np_.where(finite, stats[..., None], np.float32(0))
    return np_.where(finite, np_.exp(logits - safe), np.float32(0))


def _stats(logits: Any, np_: Any) -> Any:
    """Return the logarithms of the sums of the exponentials of logits."""
    top = np_.max(logits, axis=-1, keepdims=True)
    top = np_.where(np_.isfinite(top), top, np.float32(0))
    with np.errstate(divide="ignore"):
        return (np_.log(np_.sum(np_.exp(logits - top), axis=-1, keepdims=True)) + top)[..., 0]


@promotes_freely
def _formula(operands: Sequence[Any], options: Options, with_stats: bool, np_: Any) -> list:
    query, key, value, *rest = operands
    logits = _logits(query, key, rest, options, np_)
    stats = _stats(logits, np_)
    values = np_.repeat(value, query.shape[2] // key.shape[2], axis=2)
    weights = _weights(logits, stats, np_).astype(query.dtype).astype(_F32)
    out = np_.einsum("bnts,bsnh->btnh", weights, values.astype(_F32)).astype(query.dtype)
    return [out, stats] if with_stats else [out]


@promotes_freely
def _grad_formula(operands: Sequence[Any], options: Options, learned: bool, np_: Any) -> list:
    query, key, value, stats, ct, *rest = operands
    out = rest[1] if options.has_bias else rest[0]
    held = [rest[0]] if options.has_bias else []
    held += rest[-2:] if options.has_lengths else []
    groups = query.shape[2] // key.shape[2]
    weights = _weights(_logits(query, key, held, options, np_), stats, np_)
    ct, out, wide = ct.astype(_F32), out.astype(_F32), query.astype(_F32)
    keys, values = (np_.repeat(x, groups, axis=2).astype(_F32) for x in (key, value))
    by_value = np_.einsum("bnts,btnh->bsnh", weights, ct)
    of_weights = np_.einsum("btnh,bsnh->bnts", ct, values)
    of_rows = np_.einsum("btnh,btnh->bnt", ct, out)
    of_logits = weights * (of_weights - of_rows[..., None])
    scale = np.float32(options.scale)
    by_query = np_.einsum("bnts,bsnh->btnh", of_logits, keys) * scale
    by_key = np_.einsum("bnts,btnh->bsnh", of_logits, wide) * scale
    b, s, heads, h = by_key.shape

    def grouped(x: Any) -> Any:
        return np_.sum(x.reshape(b, s, heads // groups, groups, h), axis=3)

    found = [by_query, grouped(by_key), grouped(by_value)]
    if learned:
        bias = held[0]
        axes = tuple(i for i in (0, 1) if bias.shape[i] == 1)
        summed = np_.sum(of_logits, axis=axes, keepdims=True) if axes else of_logits
        found.append(summed)
    kept = [query, key, value, *held[:1]]
    return [x.astype(like.dtype) for x, like in zip(found, kept)]


# Primitives ------------------------------------------------------------------------------------------

_LENGTHS = [np.array([3, 4], np.int32), np.array([2, 4], np.int32)]


def _sample(options: Options, *more: Any, **params: Any) -> Sample:
    return Sample(*more, options=options, derivatives=False, **params)


cudnn_attention_p = Primitive("cudnn_attention", family=WHOLE, multiple_results=True)
cudnn_attention_p.samples = [
    _sample(Options(0.5, False, 0, False, False), *[bf16(2, 4, 2, 8)] * 3, with_stats=False),
    _sample(Options(0.5, True, 2, False, False), *[bf16(2, 4, 2, 8)] * 3, with_stats=True),
    _sample(
        Options(1.0, False, 0, True, False),
        bf16(2, 4, 4, 8),
        *[bf16(2, 4, 2, 8)] * 2,
        bf16(1, 4, 4, 4),
        with_stats=True,  # fmt: skip
    ),
    _sample(
        Options(1.0, True, 0, True, True),
        *[bf16(2, 4, 2, 8)] * 3,
        f32(2, 1, 4, 4),
        *_LENGTHS,
        with_stats=False,  # fmt: skip
    ),
]


@cudnn_attention_p.abstract
def _(
    query: ShapedArray, key: ShapedArray, *_: ShapedArray, options: Options, with_stats: bool
) -> list:
    if query.ndim != 4 or key.ndim != 4:
        raise ShapeError.about("cudnn_attention", "query", query, "4 axes: B, T, N, H")
    b, t, heads, _width = query.shape
    stats = intern_aval((b, heads, t), _F32, False, None)
    return [query.update(weak_type=False), stats] if with_stats else [query.update(weak_type=False)]


@cudnn_attention_p.reference
def _(*operands: np.ndarray, options: Options, with_stats: bool) -> list:
    return _formula(operands, options, with_stats, np)


@cudnn_attention_p.composite
def _(*operands: Any, options: Options, with_stats: bool) -> list:
    return _formula(operands, options, with_stats, snp)


cudnn_attention_grad_p = Primitive("cudnn_attention_grad", family=WHOLE, multiple_results=True)
cudnn_attention_grad_p.samples = [
    _sample(
        Options(0.5, True, 0, False, False),
        *[bf16(2, 4, 2, 8)] * 3,
        f32(2, 2, 4, low=2, high=3),
        *[bf16(2, 4, 2, 8)] * 2,
        learned=False,
        tolerance=0.05,  # fmt: skip
    ),
    _sample(
        Options(0.5, False, 0, True, True),
        bf16(2, 4, 4, 8),
        *[bf16(2, 4, 2, 8)] * 2,
        f32(2, 4, 4, low=2, high=3),
        bf16(2, 4, 4, 8),
        f32(1, 4, 4, 4),
        bf16(2, 4, 4, 8),
        *_LENGTHS,
        learned=True,
        tolerance=0.05,  # fmt: skip
    ),
]


@cudnn_attention_grad_p.abstract
def _(
    query: ShapedArray,
    key: ShapedArray,
    value: ShapedArray,
    stats: ShapedArray,
    ct: ShapedArray,
    *rest: ShapedArray,
    options: Options,
    learned: bool,
) -> list:
    return [x.update(weak_type=False) for x in (query, key, value, *(rest[:1] if learned else ()))]


@cudnn_attention_grad_p.reference
def _(*operands: np.ndarray, options: Options, learned: bool) -> list:
    return _grad_formula(operands, options, learned, np)


@cudnn_attention_grad_p.composite
def _(*operands: Any, options: Options, learned: bool) -> list:
    return _grad_formula(operands, options, learned, snp)


# Batching ----------------------------------------------------------------------------------------------


def _merged(x: Any, d: int | None, size: Any, examples: Any) -> Any:
    """Make the batch axis part of the axis of examples, where one may broadcast."""
    x = x[None] if d is None else snp.moveaxis(x, d, 0)
    x = snp.broadcast_to(x, (size, examples, *x.shape[2:]))
    return x.reshape(size * examples, *x.shape[2:])


def _split(x: Any, size: Any) -> Any:
    return x.reshape(size, x.shape[0] // size, *x.shape[1:])


def _examples(x: Any, d: int | None) -> Any:
    shape = list(x.shape)
    if d is not None:
        del shape[d]
    return shape[0]


@cudnn_attention_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, options: Options, with_stats: bool
) -> tuple:
    examples = _examples(args[0], in_dims[0])
    merged = []
    for i, (x, d) in enumerate(zip(args, in_dims, strict=True)):
        alone = options.has_bias and i == 3 and d is None and _examples(x, None) == 1
        merged.append(x if alone else _merged(x, d, axis.size, examples))
    outs = cudnn_attention_p.bind(*merged, options=options, with_stats=with_stats)
    return [_split(o, axis.size) for o in outs], [0] * len(outs)


@cudnn_attention_grad_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, options: Options, learned: bool
) -> tuple:
    examples = _examples(args[0], in_dims[0])
    merged = [_merged(x, d, axis.size, examples) for x, d in zip(args, in_dims, strict=True)]
    outs = cudnn_attention_grad_p.bind(*merged, options=options, learned=learned)
    outs = [_split(o, axis.size) for o in outs]
    if learned and _examples(args[5], in_dims[5]) == 1:  # one bias for all examples
        outs[3] = snp.sum(outs[3], axis=1, keepdims=True, dtype=_F32).astype(outs[3].dtype)
    return outs, [0] * len(outs)


# Lowering ----------------------------------------------------------------------------------------------


def _dot(contracted: tuple[int, int], batch: tuple[tuple, tuple]) -> dict[str, list[str]]:
    texts = [[str(i) for i in part] for part in batch]
    return {
        "lhs_contracting_dimensions": [str(contracted[0])],
        "rhs_contracting_dimensions": [str(contracted[1])],
        "lhs_batch_dimensions": texts[0],
        "rhs_batch_dimensions": texts[1],
    }


_OF_OPERANDS, _OF_LOGITS = (0, 2), (0, 1)  # the axes of examples and heads
_FORWARD_PRODUCTS = {
    "bmm1_dot_dimension_numbers": _dot((3, 3), (_OF_OPERANDS, _OF_OPERANDS)),
    "bmm2_dot_dimension_numbers": _dot((3, 1), (_OF_LOGITS, _OF_OPERANDS)),
}
_BACKWARD_PRODUCTS = {
    "bmm1_grad_gemm1_dot_dimension_numbers": _dot((2, 1), (_OF_LOGITS, _OF_OPERANDS)),
    "bmm1_grad_gemm2_dot_dimension_numbers": _dot((3, 1), (_OF_LOGITS, _OF_OPERANDS)),
    "bmm2_grad_gemm1_dot_dimension_numbers": _dot((2, 1), (_OF_LOGITS, _OF_OPERANDS)),
    "bmm2_grad_gemm2_dot_dimension_numbers": _dot((3, 3), (_OF_OPERANDS, _OF_OPERANDS)),
}


def _config(query: Any, key: Any, options: Options, products: dict) -> str:
    """Write what XLA asks of such a call: a `GpuBackendConfig` in JSON."""
    b, t, heads, _ = query.aval.shape
    shape = {
        "element_type": _ELEMENT_TYPES[dtypes.name(query.aval.dtype)],
        "dimensions": [str(n) for n in (b, heads, t, key.aval.shape[1])],
        "tuple_shapes": [],
        "layout": {
            "dim_level_types": [],
            "dim_unique": [],
            "dim_ordered": [],
            "minor_to_major": ["3", "2", "1", "0"],
            "tiles": [],
            "element_size_in_bits": "0",
            "memory_space": "0",
            "index_primitive_type": "PRIMITIVE_TYPE_INVALID",
            "pointer_primitive_type": "PRIMITIVE_TYPE_INVALID",
            "dynamic_shape_metadata_prefix_bytes": "0",
        },
        "is_dynamic_dimension": [False] * 4,
    }
    attention = {
        "algorithm": {
            "algo_id": "0",
            "math_type": "TENSOR_OP_MATH",
            "tuning_knobs": {"17": "1", "24": "0"},
            "is_cudnn_frontend": True,
            "workspace_size": "0",
        },
        "fmha_scale": options.scale,
        "intermediate_tensor_shape": shape,
        "is_flash_attention": True,
        "mask_type": options.mask_type,
        **products,
        "dropout_rate": 0.0,
        "seed": 42,
        "sliding_window_length": options.window,
        "max_seg_per_batch": 1,
        "is_paged_attention": False,
    }
    return json.dumps({"operation_queue_id": "0", "cudnn_fmha_backend_config": attention})


def _call(
    b: Any, target: str, operands: Sequence[Any], outs: Sequence[Any], turned: int, config: str
) -> list:
    """Call a kernel. Its first `turned` results have the axes B, N, T, H, in the memory of B, T, N, H."""

    def kernel_type(aval: Any) -> Any:
        x, y, z, w = aval.shape
        return aval.update(shape=(x, z, y, w))

    types = [kernel_type(a) for a in outs[:turned]] + list(outs[turned:])
    types.append(intern_aval((0,), np.dtype(np.uint8), False, None))  # the workspace
    layouts = [_layout([3, 1, 2, 0])] * turned + [_default(a) for a in types[turned:]]
    *found, _ = b.custom_call(
        target,
        operands,
        types,
        api_version="2 : i32",
        backend_config=quote(config),
        operand_layouts=f"[{', '.join(_default(x.aval) for x in operands)}]",
        result_layouts=f"[{', '.join(layouts)}]",
    )
    return [b.transpose(x, (0, 2, 1, 3)) if i < turned else x for i, x in enumerate(found)]


def _layout(order: list[int]) -> str:
    return f"dense<{order}> : tensor<{len(order)}xindex>"


def _default(aval: Any) -> str:
    return _layout(list(range(aval.ndim - 1, -1, -1)))


@cudnn_attention_p.lower_for("cuda")
def _(b: Any, *operands: Any, options: Options, with_stats: bool) -> list:
    target = f"__cudnn$fmha{'ScaleBias' if options.has_bias else ''}Softmax"
    config = _config(operands[0], operands[1], options, _FORWARD_PRODUCTS)
    return _call(b, target, operands, b.outs, 1, config)


@cudnn_attention_grad_p.lower_for("cuda")
def _(b: Any, *operands: Any, options: Options, learned: bool) -> list:
    target = f"__cudnn$fmha{'ScaleBias' if options.has_bias else ''}SoftmaxBackward"
    config = _config(operands[0], operands[1], options, _BACKWARD_PRODUCTS)
    return _call(b, target, operands, b.outs, 3, config)
