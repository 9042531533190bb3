"""Build neural networks: activations, normalizations, attention, initializers.

>>> from sagax import nn
>>> import sagax.numpy as snp
>>> nn.relu(snp.array([-1.0, 2.0]))
Array([0., 2.], dtype=float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.api.stageable import stageable as _stageable
from sagax._src.lazy_import import lazy_names as _lazy_names
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
    from sagax.nn._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__, _stageable)

_stageable(list(globals().values()))
