"""Define array layouts and formats; arrays themselves are in row-major order."""

from __future__ import annotations

from typing import Any, ClassVar

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

    AUTO: ClassVar[Any]  # as a layout in a `Format`: that which the compiler chooses

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


class _AutoLayout:
    """Leave the layout to the compiler: arrays are in row-major order in any case."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> tuple:
        return _auto_layout, ()


def _auto_layout() -> Any:
    return Layout.AUTO


Layout.AUTO = _AutoLayout()


class Format(_Record):
    """A layout in memory and a sharding; None means any.

    Arrays lie in memory in row-major order, which an array's own format tells; another layout that is asked for is
    taken as a hint, and changes no result.

    >>> snp.ones((2, 3)).format.layout.major_to_minor
    (0, 1)
    """

    __slots__ = ("layout", "sharding")

    def __init__(self, layout: Any = None, sharding: Any = None) -> None:
        if layout is not None and not isinstance(layout, (Layout, _AutoLayout)):
            raise ArgumentError.about("Format", "layout", layout, "a Layout, Layout.AUTO, or None")
        if sharding is not None and not isinstance(sharding, Sharding):
            raise ArgumentError.about("Format", "sharding", sharding, "a sharding, or None")
        self.layout = layout
        self.sharding = sharding
