"""Provide `paged_attention` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._attention import paged_attention

__all__ = ["paged_attention"]
