"""The calls of sagax.nn that are compared with what jax.nn gives: expressions of arrays made here.

`oracle/nn.py` records jax's results in data/nn.npz, nn/test_nn.py compares ours with them.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}

_EDGES = [-np.inf, -3e4, -100, -20, -6, -3, -1, -0.5, -0.01, -0.0, 0.0, 1e-4, 0.3, 0.5, 1, 2.5, 3]
_EDGES += [6, 7.25, 20, 100, 3e4, np.inf, np.nan]

ELEMENTWISE = """relu relu6 sigmoid softplus silu swish elu selu celu leaky_relu hard_tanh hard_sigmoid
hard_silu hard_swish log_sigmoid soft_sign squareplus mish sparse_plus sparse_sigmoid tanh identity
log1mexp gelu""".split()

CALLS = [
    *[f"nn.{name}(edges)" for name in ELEMENTWISE],
    "nn.gelu(edges, approximate=False)",
    "nn.elu(edges, 0.5)",
    "nn.celu(edges, 0.5)",
    "nn.leaky_relu(edges, 0.25)",
    "nn.squareplus(edges, 2.0)",
    "nn.glu(matrix)",
    "nn.glu(matrix, axis=0)",
    "nn.softmax(matrix)",
    "nn.softmax(matrix, axis=0)",
    "nn.softmax(matrix, axis=None)",
    "nn.softmax(matrix, axis=(0, 1))",
    "nn.softmax(matrix, where=matrix > 0)",
    "nn.softmax(infinite)",
    "nn.log_softmax(matrix)",
    "nn.log_softmax(matrix, axis=0)",
    "nn.log_softmax(matrix, where=matrix > 0)",
    "nn.log_softmax(infinite)",
    "nn.logsumexp(matrix)",
    "nn.logsumexp(matrix, axis=1)",
    "nn.logsumexp(matrix, axis=0, keepdims=True)",
    "nn.logsumexp(matrix, b=matrix)",
    "nn.logsumexp(matrix, axis=1, b=matrix, return_sign=True)",
    "nn.logsumexp(matrix, axis=1, return_sign=True)",
    "nn.logsumexp(matrix, axis=1, where=matrix > 0)",
    "nn.logsumexp(matrix, axis=1, where=matrix > 0, b=matrix)",
    "nn.logsumexp(infinite, axis=1)",
    "nn.logsumexp(matrix[:0])",
    "nn.logmeanexp(matrix)",
    "nn.logmeanexp(matrix, axis=1, keepdims=True)",
    "nn.logmeanexp(matrix, axis=1, where=matrix > 0)",
    "nn.standardize(matrix)",
    "nn.standardize(matrix, axis=0)",
    "nn.standardize(matrix, axis=(0, 1))",
    "nn.standardize(matrix, algorithm='stable')",
    "nn.standardize(matrix, mean=0.5)",
    "nn.standardize(matrix, variance=matrix ** 2)",
    "nn.standardize(matrix, where=matrix > 0, epsilon=0.5)",
    "nn.dot_product_attention(q, k, v)",
    "nn.dot_product_attention(q, k, v, scale=0.5, implementation='xla')",
    "nn.dot_product_attention(q, k, v, is_causal=True)",
    "nn.dot_product_attention(q, k, v, local_window_size=1)",
    "nn.dot_product_attention(q, k, v, local_window_size=(2, 0), is_causal=True)",
    "nn.dot_product_attention(q, k, v, query_seq_lengths=lengths, key_value_seq_lengths=lengths)",
    "nn.dot_product_attention(q, k, v, bias, mask)",
    "nn.dot_product_attention(q, k, v, bias[:, :1, :1], mask[:1, :, :, :])",
    "nn.dot_product_attention(q[0], k[0], v[0], mask=mask[:1])",
    "nn.dot_product_attention(q, k, v, bias, return_residual=True)",
    "nn.dot_product_attention(q, k, v, mask=mask & False)",
]

# without arrays of the dtypes above
OTHERS = [
    *[f"nn.{name}(1.5)" for name in ELEMENTWISE],
    # jax refuses integers in those that are left out
    *[f"nn.{name}(integers)" for name in ELEMENTWISE if name not in ("sigmoid", "silu", "swish")],
    *[f"nn.{name}(integers)" for name in ("softmax", "logsumexp", "standardize")],
    "nn.relu(integers > 0)",
    "nn.logsumexp(1.0)",
    "nn.logsumexp(z, axis=1)",
    "nn.logsumexp(z, return_sign=True)",
    "nn.sigmoid(z)",
    "nn.selu(2)",
    "nn.one_hot(integers, 4)",
    "nn.one_hot(integers, 4, axis=0)",
    "nn.one_hot(integers, 4, axis=-2, dtype='int8')",
    "nn.one_hot(1, 3)",
    "nn.one_hot(integers * 1.0, 3)",
]

_SHAPES = ["(3, 4)", "(4, 3)", "(2, 3, 4)"]
INITIALIZERS = [
    "init.zeros(key, (2, 3))",
    "init.ones(key, (2, 3), 'bfloat16')",
    "init.constant(2, 'float16')(key, (2,))",
    "init.constant(np.float32([1, 2]))(key, (3, 2))",
    *[
        f"init.{name}({options})(key, {shape})"
        for name in ("uniform", "normal", "truncated_normal", "orthogonal")
        for options in ("", "0.5")
        for shape in _SHAPES
    ],
    *[
        f"init.{name}()(key, {shape}, {dtype!r})"
        for name in ("uniform", "normal", "truncated_normal", "he_normal", "lecun_uniform")
        for shape in _SHAPES[:1]
        for dtype in ("bfloat16", "float16")
    ],
    "init.truncated_normal(2.0, lower=-1.0, upper=0.5)(key, (4, 4))",
    *[
        f"init.{family}_{distribution}()(key, {shape})"
        for family in ("glorot", "xavier", "he", "kaiming", "lecun")
        for distribution in ("uniform", "normal")
        for shape in _SHAPES
    ],
    *[
        f"init.variance_scaling(1.5, {mode!r}, {distribution!r})(key, (2, 3, 4), {dtype!r})"
        for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
        for distribution in ("normal", "truncated_normal", "uniform")
        for dtype in ("float32", "complex64")
    ],
    "init.he_normal(in_axis=0, out_axis=1, batch_axis=2)(key, (2, 3, 4))",
    "init.he_normal(in_axis=(0, 1), out_axis=2)(key, (2, 3, 4))",
    "init.normal()(key, (2, 3), 'complex64')",
    "init.orthogonal(column_axis=0)(key, (2, 3, 4))",
    "init.delta_orthogonal()(key, (3, 2, 4))",
    "init.delta_orthogonal(2.0)(key, (2, 3, 2, 2))",
]


def cases() -> list[tuple[str, str]]:
    """Expressions, and the dtype of the arrays in them."""
    typed = [(call, dtype) for dtype in DTYPES for call in CALLS]
    return typed + [(call, "f32") for call in OTHERS + INITIALIZERS]


def arrays(dtype: str, asarray: Any) -> dict[str, Any]:
    """What the expressions refer to."""
    generator = np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return asarray(generator.standard_normal(shape).astype(DTYPES[dtype]))

    with np.errstate(over="ignore"):
        edges = np.asarray(_EDGES).astype(DTYPES[dtype])
    infinite = np.float32([[-np.inf, 1, 2], [-np.inf, -np.inf, 0], [-200, -np.inf, 100]])
    return {
        "np": np,
        "edges": asarray(edges),
        "matrix": some(4, 6),
        "infinite": asarray(infinite.astype(DTYPES[dtype])),
        "q": some(2, 3, 4, 5),
        "k": some(2, 6, 2, 5),
        "v": some(2, 6, 2, 5),
        "bias": some(2, 4, 3, 6),
        "mask": asarray(generator.random((2, 1, 3, 6)) < 0.7),
        "lengths": asarray(np.int32([2, 3])),
        "integers": asarray(np.int32([[-2, 0, 1, 3]])),
        "z": asarray(generator.standard_normal((2, 3)).astype(np.complex64) * (1 + 2j)),
    }


def evaluate(call: str, dtype: str, nn: Any, key: Any, asarray: Any) -> list[Any]:
    """The results of a call."""
    names = arrays(dtype, asarray) | {"nn": nn, "init": nn.initializers, "key": key}
    out = eval(call, names)
    return list(out) if isinstance(out, tuple) else [out]
