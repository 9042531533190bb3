"""Pictures of how arrays are divided among devices, and looking at shardings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.control.words import kind_of
from sagax._src.core.shardings import Sharding
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.resharding import inspect_sharding_p
from sagax._src.runtime.array import as_array

_COLOURS = ("blue", "green", "magenta", "yellow", "cyan", "red", "bright_blue", "bright_green")


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Print which devices have which part of an array of one or two dimensions.

    Rows are the first dimension, columns the second. In a notebook the picture has colours too.

    Args:
      use_color: each part has a colour of its own.
      scale: the size of the picture, as a factor.
      min_width, max_width: characters that a column, or the whole picture, takes.
      color_map: a function from the number of a part to the name of a colour, or a sequence of names.

    Raises:
      ValueError: the array has more dimensions, or none.

    >>> import sagax
    >>> from sagax.sharding import Mesh, NamedSharding, PartitionSpec as P
    >>> mesh = Mesh(sagax.devices()[:1], ("x",))
    >>> sagax.debug.visualize_sharding((4,), NamedSharding(mesh, P("x")), use_color=False)
    ┌─────────┐
    │  CPU 0  │
    └─────────┘
    """
    shape = tuple(shape)
    if not isinstance(sharding, Sharding):
        raise ArgumentError(
            function="visualize_sharding",
            argument="sharding",
            got=kind_of(sharding),
            expected="a sharding",
        )
    if len(shape) not in (1, 2):
        raise ArgumentValueError(
            "only arrays of one or two dimensions can be drawn",
            function="visualize_sharding",
            argument="shape",
            got=shape,
            expected="one or two sizes",
            fix="draw a slice of the array",
        )
    sharding.check_shape(shape, function="visualize_sharding")
    names = _names(shape, sharding)
    cells = names if len(shape) == 2 else [names[0]]
    longest = max(len(name) for row in cells for name in row)
    rows, columns = len(cells), len(cells[0])
    width = max(min_width, int(longest * scale), longest)
    width = max(min(width, (max_width - 1) // columns - 1), longest)
    height = max(int(scale * (1 if rows > 1 or len(shape) == 1 else 3)), 1)
    _print(_drawn(cells, width, height), cells, color_map if use_color else (), width)


def _names(shape: tuple, sharding: Sharding) -> list[list[str]]:
    """For each part, by row and column, the devices that have it."""
    tiles = sharding.tiles(len(shape))
    parts = tiles.parts if len(shape) == 2 else (1, *tiles.parts)
    found: dict[tuple, list[Any]] = {place: [] for place in np.ndindex(*parts)}
    for device, tile in zip(sharding._device_assignment, tiles.of_device, strict=True):
        found[tile if len(shape) == 2 else (0, *tile)].append(device)
    platform = {"cpu": "CPU", "cuda": "GPU", "gpu": "GPU"}
    texts = [
        f"{platform.get(ds[0].platform, ds[0].platform.upper())} {','.join(str(d.id) for d in ds)}"
        for ds in found.values()
    ]
    return [texts[i * parts[1] : (i + 1) * parts[1]] for i in range(parts[0])]


def _drawn(cells: list[list[str]], width: int, height: int) -> list[list[str]]:
    """The lines of the picture, each as pieces: every second one is the inside of a cell."""
    columns = len(cells[0])

    def line(left: str, between: str, right: str) -> list[str]:
        return [left + between.join(["─" * width] * columns) + right]

    lines = [line("┌", "┬", "┐")]
    for i, row in enumerate(cells):
        if i:
            lines.append(line("├", "┼", "┤"))
        for k in range(height):
            inside = [name.center(width) if k == height // 2 else " " * width for name in row]
            pieces = []
            for text in inside:
                pieces += ["│", text]
            lines.append([*pieces, "│"])
    lines.append(line("└", "┴", "┘"))
    return lines


def _print(lines: list[list[str]], cells: list[list[str]], colours: Any, width: int) -> None:
    if colours == ():
        print("\n".join(["".join(pieces) for pieces in lines]))
        return
    from rich.console import Console  # loads slowly, and only who looks at a picture needs it
    from rich.text import Text

    number = {name: i for i, name in enumerate(dict.fromkeys(n for row in cells for n in row))}
    picture = Text(no_wrap=True)
    row = -1
    for pieces in lines:
        if len(pieces) == 1:
            row += 1
        for k, piece in enumerate(pieces):
            inside = len(pieces) > 1 and k % 2 == 1
            place = number[cells[row][k // 2]] if inside else 0
            picture.append(piece, f"on {_colour(colours, place)}" if inside else "")
        picture.append("\n")
    picture.rstrip()
    Console(width=max(sum(map(len, lines[0])), 20)).print(picture)


def _colour(colours: Any, number: int) -> str:
    if colours is None:
        return _COLOURS[number % len(_COLOURS)]
    return str(colours(number) if callable(colours) else colours[number % len(colours)])


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print which devices have which part of an array; options as for `visualize_sharding`.

    >>> import sagax, sagax.numpy as np
    >>> sagax.debug.visualize_array_sharding(np.ones(4), use_color=False)
    ┌─────────┐
    │  CPU 0  │
    └─────────┘
    """
    if not is_operand(arr):
        raise ArgumentError(
            function="visualize_array_sharding",
            argument="arr",
            got=kind_of(arr),
            expected="an array",
        )
    shape = aval_of(arr).shape
    inspect_array_sharding(arr, callback=lambda s: visualize_sharding(shape, s, **kwargs))


def inspect_array_sharding(value: Any, *, callback: Callable[[Any], Any]) -> None:
    """Call `callback` with the sharding of an array.

    For a value of a jitted function it is called each time the function is compiled, with what the
    compiler decided.

    >>> import sagax, sagax.numpy as np
    >>> sagax.debug.inspect_array_sharding(np.ones(4), callback=lambda s: print(s.num_devices))
    1
    """
    if not isinstance(value, Tracer):
        callback(as_array(value).sharding)
        return
    inspect_sharding_p.bind(value, callback=callback)
