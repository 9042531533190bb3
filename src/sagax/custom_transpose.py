"""Transposes of one's own for linear functions."""

from sagax._src.control.linear_calls import custom_transpose

__all__ = ["custom_transpose"]
