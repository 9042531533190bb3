"""Functions whose lowering for CUDA is compared with what jax records: kernels of libraries, and products.

`cases(jax)` takes the package under test; `operations` reads a module of MLIR.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

F32, C64, BF16, F16 = np.float32, np.complex64, ml_dtypes.bfloat16, np.float16
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
NAMES = {
    "stablehlo.custom_call",
    "stablehlo.dot_general",
    "stablehlo.convolution",
    "stablehlo.fft",
    "stablehlo.triangular_solve",
    "stablehlo.rng_bit_generator",
}
# how devices share the work, and the count of batch dimensions that the partitioner reads
_LEFT_OUT = {"sdy.sharding_rule", "api_version", "call_target_name", "called_computations"}
# attributes that say the default, which a module may leave out
_DEFAULTS = {
    "backend_config": ("", "{}"),
    "has_side_effect": ("false",),
    "output_operand_aliases": ("[]",),
    "precision_config": ("[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]",),
    "window_strides": ("array<i64: 1, 1>",),
    "padding": ("dense<0> : tensor<2x2xi64>",),
    "lhs_dilation": ("array<i64: 1, 1>",),
    "rhs_dilation": ("array<i64: 1, 1>",),
    "window_reversal": ("array<i1: false, false>",),
}


def cases(jax: Any) -> Iterator[tuple[str, Callable[..., Any], tuple]]:
    """(name, function, operands)."""
    yield from _linear_algebra(jax.lax.linalg)
    yield from _attention(jax)
    yield from _products(jax)


def _zeros(*shape: int, dtype: Any = F32) -> np.ndarray:
    return np.zeros(shape, dtype)


def _linear_algebra(la: Any) -> Iterator[tuple[str, Callable[..., Any], tuple]]:
    for dtype, letter in ((F32, "s"), (C64, "c")):
        for stack in ((), (2,)):

            def x(*shape: int, stack: Any = stack, dtype: Any = dtype) -> np.ndarray:
                return _zeros(*stack, *shape, dtype=dtype)

            square = x(4, 4)
            named = {
                "cholesky": (lambda a: la.cholesky(a, symmetrize_input=False), square),
                "lu": (la.lu, square),
                "lu-wide": (la.lu, x(2, 5)),
                "qr": (la.qr, x(5, 3)),
                "qr-pivots": (lambda a: la.qr(a, pivoting=True), square),
                "qr-magma": (lambda a: la.qr(a, pivoting=True, use_magma=True), square),
                "eigh": (lambda a: la.eigh(a, symmetrize_input=False), square),
                "eigh-upper": (
                    lambda a: la.eigh(a, symmetrize_input=False, lower=False),
                    square,
                ),
                "tridiagonal": (la.tridiagonal, square),
                "tridiagonal-upper": (lambda a: la.tridiagonal(a, lower=False), square),
                "householder_product": (la.householder_product, x(5, 3), x(3)),
                "tridiagonal_solve": (la.tridiagonal_solve, x(5), x(5), x(5), x(5, 2)),
                "tridiagonal_solve-perturbed": (
                    lambda *a: la.tridiagonal_solve(*a, perturb_singular=True),
                    *[x(5)] * 3,
                    x(5, 2),
                ),
                "triangular_solve": (
                    lambda a, b: la.triangular_solve(
                        a, b, left_side=True, lower=True, transpose_a=True, unit_diagonal=True
                    ),
                    square,
                    x(4, 2),
                ),
            }
            for choice in ("QR", "JACOBI"):
                how = la.EighImplementation[choice]
                named[f"eigh-{choice}"] = (
                    lambda a, how=how: la.eigh(a, symmetrize_input=False, implementation=how),
                    square,
                )
            for choice, left, right in (
                ("MAGMA", True, True),
                ("LAPACK", False, True),
                ("LAPACK", False, False),
                ("CUSOLVER", False, True),
                ("CUSOLVER", False, False),
            ):
                named[f"eig-{choice}-{left:d}{right:d}"] = (
                    lambda a, how=la.EigImplementation[choice], left=left, right=right: la.eig(
                        a,
                        compute_left_eigenvectors=left,
                        compute_right_eigenvectors=right,
                        implementation=how,
                    ),
                    square,
                )
            for size in ((3, 3), (3, 5), (33, 40), (40, 33), (1025, 3), (3, 1025)):
                for full, vectors in ((True, True), (False, True), (False, False)):
                    named[f"svd-{size[0]}x{size[1]}-{full:d}{vectors:d}"] = (
                        lambda a, full=full, vectors=vectors: la.svd(
                            a, full_matrices=full, compute_uv=vectors
                        ),
                        x(*size),
                    )
            for choice in ("QR", "JACOBI", "POLAR"):
                named[f"svd-{choice}"] = (
                    lambda a, how=la.SvdAlgorithm[choice]: la.svd(
                        a, full_matrices=False, algorithm=how
                    ),
                    x(3, 5),
                )
            if letter == "s":
                named["symmetric_product"] = (
                    lambda a, c: la.symmetric_product(a, c, alpha=2.0, beta=0.5),
                    x(4, 3),
                    square,
                )
                if not stack:
                    named["cholesky_update"] = (la.cholesky_update, square, x(4))
            for name, (function, *operands) in named.items():
                yield f"{name}-{letter}{len(stack)}", function, tuple(operands)
    pivots = np.zeros((2, 3), np.int32)
    yield "pivots", lambda p: la.lu_pivots_to_permutation(p, 4), (pivots,)


def _attention(jax: Any) -> Iterator[tuple[str, Callable[..., Any], tuple]]:
    def attend(*names: str, **options: Any) -> Callable[..., Any]:
        def function(q: Any, k: Any, v: Any, *more: Any) -> Any:
            return jax.nn.dot_product_attention(
                q, k, v, implementation="cudnn", **dict(zip(names, more)), **options
            )

        return function

    def gradient(function: Callable[..., Any], count: int) -> Callable[..., Any]:
        def loss(*operands: Any) -> Any:
            return function(*operands).astype(F32).sum()

        return jax.grad(loss, argnums=tuple(range(count)))

    def x(*shape: int, dtype: Any = BF16) -> np.ndarray:
        return _zeros(*shape, dtype=dtype)

    same = (x(2, 64, 4, 32),) * 3
    few = (same[0], *[x(2, 64, 2, 32)] * 2)
    bias = x(1, 4, 64, 64)
    mask = np.ones((1, 4, 64, 64), bool)
    lengths = (np.full(2, 9, np.int32),) * 2
    both = ("query_seq_lengths", "key_value_seq_lengths")
    yield "attention", attend(), same
    yield "attention-f16", attend(), (x(2, 64, 4, 32, dtype=F16),) * 3
    yield "attention-causal", attend(is_causal=True), same
    yield "attention-cross", attend(), (same[0], *[x(2, 128, 4, 32)] * 2)
    yield "attention-scale", attend(scale=2.0), same
    yield "attention-few", attend(), few
    yield "attention-alone", attend(), (x(64, 4, 32),) * 3
    yield "attention-128", attend(), (x(2, 64, 4, 128),) * 3
    yield "attention-bias", attend("bias"), (*same, bias)
    yield "attention-bias-f32", attend("bias"), (*same, bias.astype(F32))
    yield "attention-mask", attend("mask"), (*same, mask)
    yield "attention-both", attend("bias", "mask"), (*same, bias, mask)
    yield "attention-window", attend(local_window_size=(8, 0), is_causal=True), same
    yield "attention-grad", gradient(attend(), 3), same
    yield "attention-grad-causal", gradient(attend(is_causal=True), 3), same
    yield "attention-grad-few", gradient(attend(), 3), few
    yield "attention-grad-bias", gradient(attend("bias"), 4), (*same, bias)
    yield "attention-grad-mask", gradient(attend("mask"), 3), (*same, mask)
    yield "attention-vmap", jax.vmap(attend()), (x(3, 2, 64, 4, 32),) * 3
    yield "attention-lengths", attend(*both), (*same, *lengths)
    yield "attention-lengths-causal", attend(*both, is_causal=True), (*same, *lengths)
    yield "attention-lengths-grad", gradient(attend(*both), 3), (*same, *lengths)


def _products(jax: Any) -> Iterator[tuple[str, Callable[..., Any], tuple]]:
    lax = jax.lax
    plain = (((1,), (0,)), ((), ()))

    def product(**options: Any) -> Callable[..., Any]:
        return lambda x, y: lax.dot_general(x, y, plain, **options)

    pair = [_zeros(16, 32), _zeros(32, 8)]

    def typed(*both: Any) -> tuple:
        return tuple([x.astype(t) for x, t in zip(pair, both)])

    yield "dot-f32", product(), typed(F32, F32)
    yield "dot-f32-highest", product(precision=lax.Precision.HIGHEST), typed(F32, F32)
    yield "dot-bf16", product(), typed(BF16, BF16)
    yield "dot-bf16-f32", product(preferred_element_type=F32), typed(BF16, BF16)
    yield "dot-f16-f32", product(preferred_element_type=F32), typed(F16, F16)
    for name, types in (("e4m3", (E4M3, E4M3)), ("mixed", (E4M3, E5M2))):
        for out in (F32, BF16):
            yield (
                f"dot-{name}-{np.dtype(out).name}",
                product(preferred_element_type=out),
                typed(*types),
            )
    for preset in ("TF32_TF32_F32", "BF16_BF16_F32_X3", "F32_F32_F32", "ANY_F8_ANY_F8_F32"):
        algorithm = lax.DotAlgorithmPreset[preset]
        types = (E4M3, E4M3) if "F8" in preset else (F32, F32)
        yield (
            f"dot-{preset}",
            product(precision=algorithm, preferred_element_type=F32),
            typed(*types),
        )
    image, kernel = _zeros(2, 3, 8, 8), _zeros(4, 3, 3, 3)
    for name, dtype in (("f32", F32), ("bf16", BF16), ("c64", C64)):
        if name != "c64":
            operands = (image.astype(dtype), kernel.astype(dtype))
            yield f"conv-{name}", lambda x, k: lax.conv(x, k, (1, 1), "SAME"), operands
    yield "fft", jax.numpy.fft.fft, (_zeros(4, 8, dtype=C64),)
    yield "rfft2", jax.numpy.fft.rfft2, (_zeros(4, 8),)
    yield "irfft", lambda x: jax.numpy.fft.irfft(x, 8), (_zeros(4, 5, dtype=C64),)


# Facts of a module -------------------------------------------------------------------------------------


def operations(module: Any) -> list[dict[str, Any]]:
    """List what is compared of a module: names, types and attributes of the operations of `NAMES`."""
    return [_facts(op) for op in _walk(module.operation) if op.name in NAMES]


def _walk(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from _walk(inner.operation)


def _facts(op: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name in op.attributes:
        value = op.attributes[name if isinstance(name, str) else name.name]
        key = name if isinstance(name, str) else name.name
        if key in _LEFT_OUT:
            continue
        text = str(value)
        if key in ("backend_config", "mhlo.backend_config"):
            key, text = "backend_config", _config(value)
            if not text:
                continue
        attributes[key] = text
    for key, texts in _DEFAULTS.items():
        if attributes.get(key) in texts:
            del attributes[key]
    found = {
        "name": op.name.removeprefix("stablehlo."),
        "operands": [str(x.type) for x in op.operands],
        "results": [str(x.type) for x in op.results],
        "attributes": attributes,
    }
    if "call_target_name" in op.attributes:
        found["target"] = str(op.attributes["call_target_name"]).strip('"')
    return found


def _config(value: Any) -> Any:
    text = str(value)
    if text in ('""', "{}"):
        return ""
    if text.startswith('"'):
        return json.loads(value.value)
    return re.sub(r"\s+", " ", text)
