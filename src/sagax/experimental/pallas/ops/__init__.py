"""Provide kernels ready-made: attention, normalization, softmax.

They run wherever kernels run. Derivatives are those of the same function written with sagax.numpy.
"""

from sagax.experimental.pallas.ops._attention import mha, mha_reference, paged_attention
from sagax.experimental.pallas.ops._decoding import gqa, mqa
from sagax.experimental.pallas.ops._normalization import layer_norm, rms_norm, softmax

__all__ = [
    "gqa",
    "layer_norm",
    "mha",
    "mha_reference",
    "mqa",
    "paged_attention",
    "rms_norm",
    "softmax",
]
