"""Provide the modules of `jax.experimental` that libraries use."""

from sagax._src.callbacks.callbacks import io_callback
from sagax._src.config import enable_x64
