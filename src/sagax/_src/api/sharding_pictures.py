"""Draw the sharding of arrays, and inspect shardings."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core.shardings import Sharding
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.resharding import inspect_sharding_p
from sagax._src.runtime.array import as_array

# Colors that every terminal tells apart, and their HTML equivalents.
_COLORS = {
    "blue": "#4c78a8",
    "green": "#54a24b",
    "magenta": "#b279a2",
    "yellow": "#eeca3b",
    "cyan": "#72b7b2",
    "red": "#e45756",
    "bright_blue": "#9ecae9",
    "bright_green": "#b6e880",
}


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
    """Print which devices hold which shard of an array of one or two dimensions.

    Rows are the first dimension, columns the second. A notebook shows it as a table.

    Args:
      use_color: each shard has its own color.
      scale: the size of the picture, as a factor.
      min_width, max_width: characters that a column, or the whole picture, takes.
      color_map: a sequence of color names, one for each shard, or a function from numbers between 0 and 1 to a
        name or to amounts of red, green and blue between 0 and 1, such as a color map of matplotlib.

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
    checks.instance(
        "visualize_sharding", "sharding", sharding, Sharding, "a sharding", show=kind_of
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
    colours = _colors(cells, color_map) if use_color else {}
    lines = _drawn(cells, width, height)
    picture = _Picture(lines, cells, colours, width)
    if not _shown_in_notebook(picture):
        _print(lines, cells, colours)


def _names(shape: tuple, sharding: Sharding) -> list[list[str]]:
    """Return for each shard, by row and column, its devices."""
    tiles = sharding.tiles(len(shape))
    parts = tiles.parts if len(shape) == 2 else (1, *tiles.parts)
    found: dict[tuple, list[Any]] = {position: [] for position in np.ndindex(*parts)}
    for device, tile in zip(sharding._device_assignment, tiles.of_device, strict=True):
        found[tile if len(shape) == 2 else (0, *tile)].append(device)
    platform = {"cpu": "CPU", "cuda": "GPU", "gpu": "GPU"}
    texts = [
        f"{platform.get(ds[0].platform, ds[0].platform.upper())} {','.join(str(d.id) for d in ds)}"
        for ds in found.values()
    ]
    return [texts[i * parts[1] : (i + 1) * parts[1]] for i in range(parts[0])]


def _drawn(cells: list[list[str]], width: int, height: int) -> list[list[str]]:
    """Draw the lines of the picture, each as segments: every second one is the inside of a cell."""
    columns = len(cells[0])

    def line(left: str, between: str, right: str) -> list[str]:
        return [left + between.join(["─" * width] * columns) + right]

    lines = [line("┌", "┬", "┐")]
    for i, row in enumerate(cells):
        if i:
            lines.append(line("├", "┼", "┤"))
        for k in range(height):
            inside = [name.center(width) if k == height // 2 else " " * width for name in row]
            segments = []
            for text in inside:
                segments += ["│", text]
            lines.append([*segments, "│"])
    lines.append(line("└", "┴", "┘"))
    return lines


def _colors(cells: list[list[str]], color_map: Any) -> dict[str, str]:
    """Return a color name, or "#rrggbb", for the devices of each shard."""
    names = list(dict.fromkeys(name for row in cells for name in row))
    found = {}
    for i, name in enumerate(names):
        color = _picked(tuple(_COLORS) if color_map is None else color_map, i, len(names))
        if not isinstance(color, str):  # red, green and blue from 0 to 1, as in matplotlib
            color = "#" + "".join([f"{round(255 * float(c)):02x}" for c in color[:3]])
        found[name] = color
    return found


def _picked(color_map: Any, i: int, count: int) -> Any:
    return (
        color_map(i / max(count - 1, 1)) if callable(color_map) else color_map[i % len(color_map)]
    )


def _hex_colors(color: str) -> tuple[str, str]:
    """Return a color as "#rrggbb", and black or white, the more legible text color on it."""
    from rich.color import Color  # slow to load, only for pictures

    red, green, blue = ground = Color.parse(_COLORS.get(color, color)).get_truecolor()
    ink = "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else "#ffffff"
    return ground.hex, ink


def _print(lines: list[list[str]], cells: list[list[str]], colours: dict[str, str]) -> None:
    if not colours:
        print(_text(lines))
        return
    from rich.console import Console  # slow to load, as above
    from rich.text import Text

    picture = Text(no_wrap=True)
    row = -1
    for segments in lines:
        if len(segments) == 1:
            row += 1
        for k, segment in enumerate(segments):
            style = ""
            if len(segments) > 1 and k % 2 == 1:
                color = colours[cells[row][k // 2]]
                style = f"{_hex_colors(color)[1]} on {color}"
            picture.append(segment, style)
        picture.append("\n")
    picture.rstrip()
    Console(width=max(sum(map(len, lines[0])), 20)).print(picture)


def _text(lines: list[list[str]]) -> str:
    return "\n".join(["".join(segments) for segments in lines])


class _Picture:
    """A picture for a notebook, as HTML or text."""

    def __init__(
        self, lines: list[list[str]], cells: list[list[str]], colours: dict[str, str], width: int
    ) -> None:
        self._lines, self._cells, self._colors, self._width = lines, cells, colours, width

    def __repr__(self) -> str:
        return _text(self._lines)

    def _repr_html_(self) -> str:
        height = (len(self._lines) - 1) // len(self._cells)  # lines of a cell, with one border
        rows = "".join([f"<tr>{''.join(map(self._cell, row))}</tr>" for row in self._cells])
        style = f"border-collapse:collapse;font-family:monospace;line-height:{1.4 * height:.3g}em"
        return f'<table style="{style}">{rows}</table>'

    def _cell(self, name: str) -> str:
        style = (
            f"border:1px solid #888888;text-align:center;padding:0 0.5ch;min-width:{self._width}ch"
        )
        if self._colors:
            ground, ink = _hex_colors(self._colors[name])
            style += f";background:{ground};color:{ink}"
        return f'<td style="{style}">{html.escape(name)}</td>'


def _shown_in_notebook(picture: _Picture) -> bool:
    """Show the picture in a notebook; return False if there is none (a terminal shell has no kernel)."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None:
        return False
    from IPython.display import display  # type: ignore[import-not-found]  # there only in notebooks

    display(picture)
    return True


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print which devices hold which shard of an array; options as for `visualize_sharding`.

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

    For a value of a jitted function it is called at each compilation, with the compiler's decision.

    >>> import sagax, sagax.numpy as np
    >>> sagax.debug.inspect_array_sharding(np.ones(4), callback=lambda s: print(s.num_devices))
    1
    """
    if not isinstance(value, Tracer):
        callback(as_array(value).sharding)
        return
    inspect_sharding_p.bind(value, callback=callback)
