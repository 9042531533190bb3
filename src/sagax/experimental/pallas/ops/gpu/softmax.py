"""Provide `softmax` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._normalization import softmax

__all__ = ["softmax"]
