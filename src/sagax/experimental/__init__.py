"""What JAX keeps under `jax.experimental` and programs use."""

from __future__ import annotations

from sagax._src.callbacks.callbacks import io_callback
from sagax._src.config import enable_x64

__all__ = ["enable_x64", "io_callback"]
