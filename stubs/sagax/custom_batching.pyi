"""Define batching rules of functions."""

from collections.abc import Callable
from typing import Any

from sagax._src.higher_order.custom_batching import custom_vmap as custom_vmap

def sequential_vmap(f: Callable[..., Any]) -> custom_vmap: ...
