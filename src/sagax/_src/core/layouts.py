"""Define array layouts and formats; only row-major order is supported."""

from __future__ import annotations

from typing import Any

from sagax._src.core.shardings import Sharding
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError


class _Record:
    """Base class of small immutable values."""

    __slots__ = ()

    def _fields(self) -> tuple:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __reduce__(self) -> tuple:
        return type(self), self._fields()

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({shown})"


class Layout(_Record):
    """The order of dimensions in memory, the slowest first.

    Only row-major order can be requested. Inside of executables, the compiler chooses layouts.

    >>> from sagax.experimental.layout import Layout
    >>> Layout((0, 1))
    Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)
    """

    __slots__ = ("major_to_minor", "tiling", "sub_byte_element_size_in_bits")

    def __init__(
        self,
        major_to_minor: Any,
        tiling: Any = (),
        sub_byte_element_size_in_bits: int = 0,
    ) -> None:
        self.major_to_minor = tuple(major_to_minor)
        self.tiling = tuple(tiling or ())
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits
        expected = tuple(range(len(self.major_to_minor)))
        if self.major_to_minor != expected or self.tiling:
            raise ArgumentValueError(
                "arrays lie in memory in row-major order, without tiles",
                function="Layout",
                argument="major_to_minor",
                got=f"{self.major_to_minor}, tiling={self.tiling}",
                expected=f"{expected}, and no tiling",
                fix="transpose the array instead",
            )


class Format(_Record):
    """A layout in memory and a sharding; None means any.

    >>> import sagax.numpy as np
    >>> np.ones((2, 3)).format.layout.major_to_minor
    (0, 1)
    """

    __slots__ = ("layout", "sharding")

    def __init__(self, layout: Layout | None = None, sharding: Any = None) -> None:
        if layout is not None and not isinstance(layout, Layout):
            raise ArgumentError(
                function="Format", argument="layout", got=layout, expected="a Layout, or None"
            )
        if sharding is not None and not isinstance(sharding, Sharding):
            raise ArgumentError(
                function="Format", argument="sharding", got=sharding, expected="a sharding, or None"
            )
        self.layout = layout
        self.sharding = sharding
