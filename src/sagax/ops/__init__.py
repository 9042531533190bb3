"""Reduce over segments; update by index (deprecated)."""

from sagax.ops._index import index, index_add, index_max, index_min, index_mul, index_update
from sagax.ops._segments import segment_max, segment_min, segment_prod, segment_sum
