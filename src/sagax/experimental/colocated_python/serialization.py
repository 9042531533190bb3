"""Hold the names that libraries look for: sagax runs colocated functions in this process, and serializes nothing for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["DeviceList"]

DeviceList = tuple[Any, ...] | Sequence[Any]
