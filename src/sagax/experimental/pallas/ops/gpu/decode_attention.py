"""Provide `gqa` and `mqa` under the name of the module that jax has."""

from sagax.experimental.pallas.ops._decoding import gqa, mqa

__all__ = ["gqa", "mqa"]
