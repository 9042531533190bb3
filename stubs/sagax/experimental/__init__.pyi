"""Provide the modules of `jax.experimental` that libraries use."""

from collections.abc import Callable
from typing import Any

from sagax._src.config import enable_x64 as enable_x64

def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any: ...
