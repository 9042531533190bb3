"""Build neural networks: activations, normalizations, attention, initializers."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from sagax._src.core.value import Array
from sagax.nn import initializers as initializers
from sagax.nn.scaled import BlockScaleConfig
from sagax.typing import ArrayLike, DTypeLike

activations: Any

def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array: ...
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array: ...
def gelu(x: ArrayLike, approximate: bool = True) -> Array: ...
def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig: ...
def glu(x: ArrayLike, axis: int = -1) -> Array: ...
def hard_sigmoid(x: ArrayLike) -> Array: ...
def hard_silu(x: ArrayLike) -> Array: ...
def hard_swish(x: ArrayLike) -> Array: ...
def hard_tanh(x: ArrayLike) -> Array: ...
def identity(x: ArrayLike) -> Array: ...
def leaky_relu(x: ArrayLike, negative_slope: Any = 0.01) -> Array: ...
def log1mexp(x: ArrayLike) -> Array: ...
def log_sigmoid(x: ArrayLike) -> Array: ...
def log_softmax(
    x: ArrayLike, axis: int | Sequence[int] | None = -1, where: ArrayLike | None = None
) -> Array: ...
def logmeanexp(
    x: ArrayLike,
    axis: int | Sequence[int] | None = None,
    where: ArrayLike | None = None,
    keepdims: bool = False,
) -> Array: ...
def mish(x: ArrayLike) -> Array: ...

normalization: Any

def one_hot(
    x: ArrayLike,
    num_classes: int,
    *,
    dtype: DTypeLike | None = None,
    axis: int = -1,
    out_sharding: Any = None,
) -> Array: ...
def relu(x: ArrayLike) -> Array: ...
def relu6(x: ArrayLike) -> Array: ...
def scaled_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Any,
    preferred_element_type: DTypeLike | None = ...,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array: ...
def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: Any,
    rhs_scales: Any,
    preferred_element_type: DTypeLike | None = ...,
) -> Array: ...
def selu(x: ArrayLike) -> Array: ...
def sigmoid(x: ArrayLike) -> Array: ...
def silu(x: ArrayLike) -> Array: ...
def soft_sign(x: ArrayLike) -> Array: ...
def softmax(
    x: ArrayLike, axis: int | Sequence[int] | None = -1, where: ArrayLike | None = None
) -> Array: ...
def softplus(x: ArrayLike) -> Array: ...
def sparse_plus(x: ArrayLike) -> Array: ...
def sparse_sigmoid(x: ArrayLike) -> Array: ...
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array: ...
def standardize(
    x: ArrayLike,
    axis: int | Sequence[int] | None = -1,
    mean: ArrayLike | None = None,
    variance: Any = None,
    epsilon: Any = 1e-05,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array: ...
def swish(x: ArrayLike) -> Array: ...
def tanh(x: ArrayLike, /) -> Array: ...
@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | Array | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: Literal["xla", "cudnn"] | None = None,
    return_residual: Literal[False] = False,
) -> Array: ...
@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | Array | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: Literal["xla", "cudnn"] | None = None,
    return_residual: Literal[True],
) -> tuple[Array, Array]: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    where: ArrayLike | None = None,
) -> Array: ...
@overload
def logsumexp(
    a: ArrayLike,
    axis: int | Sequence[int] | None = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
    where: ArrayLike | None = None,
) -> tuple[Array, Array]: ...
