"""Define batching rules of functions."""

from sagax._src.higher_order.custom_batching import custom_vmap, sequential_vmap
