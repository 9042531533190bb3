"""Define static attributes of operations for the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sagax._src.diagnostics.errors import ArgumentError


class Attributes(Mapping):
    """Attributes by name, hashable by value, arrays included.

    Values are numbers, strings, dtypes, arrays, and sequences and mappings of those.
    """

    __slots__ = ("_key", "_values")

    def __init__(self, function: str, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._key = tuple((k, _frozen(function, k, v)) for k, v in self._values.items())

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self._key == other._key

    def __repr__(self) -> str:
        return repr(tuple(self._values.items()))


def _frozen(function: str, name: str, value: Any) -> Any:
    """Return a hashable form of a value, with its type, since 1 == 1.0 == True."""
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tobytes())
    if isinstance(value, np.generic):
        return (value.dtype, value.tobytes())
    if isinstance(value, Mapping):
        return (dict, *((k, _frozen(function, name, v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return (list, *(_frozen(function, name, v) for v in value))
    if isinstance(value, (bool, int, float, str, np.dtype)):
        return (type(value), value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    raise ArgumentError(
        f"the attribute {name} cannot be handed to the compiler",
        function=function,
        argument=name,
        got=value,
        expected="a number, string, dtype or NumPy array, or a list, tuple or dict of such",
        fix="pass what is an array of the computation by position",
    )
