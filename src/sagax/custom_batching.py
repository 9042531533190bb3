"""Batching rules of one's own."""

from sagax._src.higher_order.custom_batching import custom_vmap, sequential_vmap
