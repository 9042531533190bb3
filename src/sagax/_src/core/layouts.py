"""Define array layouts and formats; arrays themselves are in row-major order."""

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

    Arrays are in row-major order. `with_layout_constraint` requests others inside of executables.

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
        if sorted(self.major_to_minor) != list(range(len(self.major_to_minor))):
            raise ArgumentValueError(
                function="Layout",
                argument="major_to_minor",
                got=self.major_to_minor,
                expected="each dimension once, the slowest first",
            )


class Format(_Record):
    """A layout in memory and a sharding; None means any.

    >>> snp.ones((2, 3)).format.layout.major_to_minor
    (0, 1)
    """

    __slots__ = ("layout", "sharding")

    def __init__(self, layout: Layout | None = None, sharding: Any = None) -> None:
        if layout is not None and not isinstance(layout, Layout):
            raise ArgumentError.about("Format", "layout", layout, "a Layout, or None")
        if sharding is not None and not isinstance(sharding, Sharding):
            raise ArgumentError.about("Format", "sharding", sharding, "a sharding, or None")
        if layout is not None:
            expected = tuple(range(len(layout.major_to_minor)))
            if layout.major_to_minor != expected or layout.tiling:
                raise ArgumentValueError(
                    "arrays lie in memory in row-major order, without tiles",
                    function="Format",
                    argument="layout",
                    got=f"{layout.major_to_minor}, tiling={layout.tiling}",
                    expected=f"{expected}, and no tiling",
                    fix="transpose the array instead",
                )
        self.layout = layout
        self.sharding = sharding
