"""Provide `mha` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._attention import BlockSizes, mha, mha_reference

__all__ = ["BlockSizes", "mha", "mha_reference"]
