"""Build neural networks: activations, normalizations, attention, initializers.

>>> from sagax import nn
>>> import sagax.numpy as snp
>>> nn.relu(snp.array([-1.0, 2.0]))
Array([0., 2.], dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import late_names as _late_names
from sagax.nn.activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    mish,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh,
)
from sagax.nn.normalization import log_softmax, logmeanexp, logsumexp, softmax, standardize

if TYPE_CHECKING:
    from sagax.nn import initializers as initializers
    from sagax.nn.attention import dot_product_attention as dot_product_attention
    from sagax.nn.scaled import get_scaled_dot_general_config as get_scaled_dot_general_config
    from sagax.nn.scaled import scaled_dot_general as scaled_dot_general
    from sagax.nn.scaled import scaled_matmul as scaled_matmul

_LAZY = ("initializers",)  # they need sagax.random
_LAZY_FUNCTIONS = {
    "attention": "dot_product_attention",
    "scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
}
__getattr__, __dir__ = _late_names(globals(), _LAZY_FUNCTIONS, _LAZY)
