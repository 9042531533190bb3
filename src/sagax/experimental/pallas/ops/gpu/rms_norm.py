"""Provide `rms_norm` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._normalization import rms_norm

__all__ = ["rms_norm"]
