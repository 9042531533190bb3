"""Name groups of operations that XLA schedules together.

>>> from sagax.experimental.scheduling_groups import scheduling_group
>>> f = scheduling_group("layer1")(lambda x: x + 1)
>>> 'scheduling_group = "layer1"' in sagax.jit(f).lower(1.0).as_text()
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.higher_order.marked_calls import xla_metadata_call

__all__ = ["scheduling_group"]


def scheduling_group(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that puts all operations of a function into the scheduling group `name`.

    >>> float(scheduling_group("a")(lambda x: x + 1)(1.0))
    2.0
    """
    return xla_metadata_call(scheduling_group=name)
