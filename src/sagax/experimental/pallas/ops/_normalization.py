"""Define kernels that normalize the rows of an array: softmax, layer norm, RMS norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.experimental.pallas._blocks import BlockSpec
from sagax.experimental.pallas._call import pallas_call
from sagax.experimental.pallas.triton import CompilerParams
from sagax.numpy._base import promotes_freely

_ROWS = 64


def _row_kernel(
    body: Callable,
    x: Any,
    *vectors: Any,
    name: str,
    interpret: Any,
    num_warps: int | None = None,
    num_stages: int | None = None,
) -> Any:
    """Apply `body` to blocks of rows of `x`, which is seen as a matrix; `vectors` have the length of a row."""
    size = x.shape[-1]
    rows = snp.reshape(x, (-1, size))
    block = math.gcd(rows.shape[0], _ROWS)
    spec = BlockSpec((block, size), lambda i: (i, 0))
    whole = BlockSpec((size,), lambda i: (0,))

    def kernel(x_ref: Any, *refs: Any) -> None:
        *vector_refs, o_ref = refs
        found = body(x_ref[...].astype(snp.float32), *[v[...] for v in vector_refs])
        o_ref[...] = found.astype(o_ref.dtype)

    found = pallas_call(
        kernel,
        ShapeDtypeStruct(rows.shape, x.dtype),
        grid=(rows.shape[0] // block,),
        in_specs=[spec, *[whole] * len(vectors)],
        out_specs=spec,
        interpret=interpret,
        compiler_params=CompilerParams(num_warps, num_stages),
        name=name,
    )(rows, *vectors)
    return snp.reshape(found, x.shape)


def softmax(
    x: Any, *, axis: int = -1, num_warps: int = 4, interpret: Any = False, debug: bool = False
) -> Any:
    """Return exp(x) / sum(exp(x)) along the last axis, as a kernel over blocks of rows.

    >>> x = snp.array([[0.0, 1.0], [2.0, 2.0]])
    >>> bool(snp.allclose(softmax(x), nn.softmax(x)))
    True
    """
    axis = axis if axis >= 0 else axis + x.ndim
    if axis != x.ndim - 1:
        raise ArgumentValueError(
            "this softmax is along the last axis",
            function="softmax",
            argument="axis",
            got=axis,
            expected=f"{x.ndim - 1} or -1",
            fix="move the axis: snp.moveaxis(softmax(snp.moveaxis(x, axis, -1)), -1, axis)",
        )

    def body(x: Any) -> Any:
        e = snp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return _row_kernel(body, x, name="softmax", interpret=interpret, num_warps=num_warps)


def _check_vectors(function: str, x: Any, **vectors: Any) -> None:
    for name, v in vectors.items():
        if v is not None and v.shape != x.shape[-1:]:
            raise ArgumentValueError(
                f"{name} has another length than the rows of x",
                function=function,
                argument=name,
                got=v,
                expected=f"an array of shape {x.shape[-1:]}",
            )


def layer_norm(
    x: Any,
    weight: Any,
    bias: Any,
    num_warps: int | None = None,
    num_stages: int | None = 3,
    eps: float = 1e-5,
    backward_pass_impl: str = "triton",
    interpret: Any = False,
) -> Any:
    """Normalize the rows along the last axis to mean 0 and variance 1; then scale by `weight` and add `bias`.

    Ba, Kiros and Hinton, Layer Normalization (2016).

    >>> y = layer_norm(snp.arange(8.0).reshape(2, 4), snp.ones(4), snp.zeros(4))
    >>> bool(snp.allclose(y.mean(-1), 0, atol=1e-6)), y.shape
    (True, (2, 4))
    """
    _check_vectors("layer_norm", x, weight=weight, bias=bias)

    @promotes_freely
    def body(x: Any, weight: Any, bias: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + eps) * weight + bias

    return _row_kernel(
        body,
        x,
        weight,
        bias,
        name="layer_norm",
        interpret=interpret,
        num_warps=num_warps,
        num_stages=num_stages,
    )


def rms_norm(
    x: Any,
    weight: Any,
    bias: Any = None,
    num_warps: int | None = None,
    num_stages: int | None = 3,
    eps: float = 1e-5,
    backward_pass_impl: str = "triton",
    interpret: Any = False,
) -> Any:
    """Divide the rows along the last axis by the root of their mean square; then scale, and add `bias` if given.

    Zhang and Sennrich, Root Mean Square Layer Normalization (2019).

    >>> rms_norm(snp.array([[3.0, 3.0]]), snp.ones(2)).round(4).tolist()
    [[1.0, 1.0]]
    """
    _check_vectors("rms_norm", x, weight=weight, bias=bias)

    @promotes_freely
    def body(x: Any, weight: Any, *bias: Any) -> Any:
        scaled = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + eps) * weight
        return scaled + bias[0] if bias else scaled

    vectors = (weight,) if bias is None else (weight, bias)
    return _row_kernel(
        body,
        x,
        *vectors,
        name="rms_norm",
        interpret=interpret,
        num_warps=num_warps,
        num_stages=num_stages,
    )


__all__ = ["layer_norm", "rms_norm", "softmax"]
