"""Keep objects beside accelerators: their methods run there.

>>> from sagax.experimental.colocated_python import obj
>>> class Count:
...     def __init__(self, start):
...         self.value = start
...     def add(self, x):
...         self.value = self.value + x
...         return self.value
>>> count = obj.wrap_class(Count)(snp.float32(1))
>>> float(count.add(snp.float32(2))), float(count.add(snp.float32(2)))
(3.0, 5.0)
"""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any

from sagax.experimental.colocated_python.func import make_callable

__all__ = ["wrap_class"]


def wrap_class(cls: type) -> type:
    """Return a class whose objects are made when a method is first called, and whose methods run colocated.

    >>> class Shift:
    ...     def by(self, x):
    ...         return x + 1
    >>> obj.wrap_class(Shift)().by(snp.zeros(1))
    Array([1.], dtype=float32)
    """

    class Wrapped:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            made: list[Any] = []
            lock = threading.Lock()

            def instance() -> Any:
                with lock:
                    if not made:
                        made.append(cls(*args, **kwargs))
                return made[0]

            for name, method in inspect.getmembers(cls, inspect.isfunction):
                if not name.startswith("__"):
                    setattr(self, name, _colocated_method(method, instance))

    functools.update_wrapper(Wrapped, cls, updated=())
    return Wrapped


def _colocated_method(method: Any, instance: Any) -> Any:
    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        return method(instance(), *args, **kwargs)

    return make_callable(run)
