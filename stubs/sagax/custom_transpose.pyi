"""Define transposes of linear functions."""

from sagax._src.higher_order.custom_transpose import custom_transpose as custom_transpose
