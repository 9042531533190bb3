"""Provide `layer_norm` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._normalization import layer_norm

__all__ = ["layer_norm"]
