"""What JAX keeps under `jax.experimental` and programs use."""

from __future__ import annotations

from sagax._src.config import enable_x64
from sagax._src.control.callbacks import io_callback

__all__ = ["enable_x64", "io_callback"]
