"""Compute window geometry: sizes, strides, padding, dilations, and indices.

Convolutions and reductions over windows share it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.frozen_class import record
from sagax._src.primitives.shaping import stack
from sagax._src.primitives.slicing import pad, pad_p, sizes_of, slice, slice_in_dim

# Windows ------------------------------------------------------------------------------------------

REDUCTION_NAMES = (
    "window_dimensions",
    "window_strides",
    "padding",
    "base_dilation",
    "window_dilation",
)


@record(slots=True)
class Window:
    """Describe how a window slides over an array; each field has one entry for each dimension.

    The array is dilated by `base_dilation`, then padded (negative padding removes elements). Window number o of a
    dimension covers the indices `o * stride + k * window_dilation`, for each k below its size.
    """

    sizes: tuple
    strides: tuple
    padding: tuple
    base_dilation: tuple
    window_dilation: tuple

    @property
    def extents(self) -> tuple:
        """Return the extent of a window in each dimension."""
        return tuple([dims.dilate_dim(k, d) for k, d in zip(self.sizes, self.window_dilation)])

    @property
    def padding_config(self) -> tuple:
        """Return the configuration with which `lax.pad` dilates and pads the array."""
        return tuple([(lo, hi, d - 1) for (lo, hi), d in zip(self.padding, self.base_dilation)])

    @property
    def is_padded(self) -> bool:
        return any(not dims.same(p, 0) for pair in self.padding for p in pair)

    @property
    def is_dilated(self) -> bool:
        return any(d != 1 for d in (*self.base_dilation, *self.window_dilation))

    def padded(self, shape: tuple) -> tuple:
        """Return the shape of the dilated and padded array."""
        return tuple(
            [
                lo + hi + dims.dilate_dim(n, d)
                for n, (lo, hi), d in zip(shape, self.padding, self.base_dilation)
            ]
        )

    def result(self, shape: tuple) -> tuple:
        """Return the number of windows in each dimension, for an array of that shape."""
        return tuple(
            [dims.stride_dim(*e) for e in zip(self.padded(shape), self.extents, self.strides)]
        )

    def without_padding(self) -> Window:
        """Return the window that slides likewise over the array already dilated and padded."""
        none, one = ((0, 0),) * len(self.sizes), (1,) * len(self.sizes)
        return Window(self.sizes, self.strides, none, one, self.window_dilation)

    def with_dimension(self, d: int) -> Window:
        """Return the window with a new dimension `d`, along which each element is a window of its own."""

        def put(entries: tuple, entry: Any) -> tuple:
            return (*entries[:d], entry, *entries[d:])

        return Window(
            put(self.sizes, 1),
            put(self.strides, 1),
            put(self.padding, (0, 0)),
            put(self.base_dilation, 1),
            put(self.window_dilation, 1),
        )

    def reversed(self, shape: tuple) -> Window:
        """Return the window over the results, backwards from an array of that shape.

        Index o * stride + k * window_dilation holds element i if it is low + i * base_dilation. The windows with
        element i are therefore those with o * stride = low + i * base_dilation - k * window_dilation: strides and
        base dilations are swapped, and k runs backwards.
        """
        padding = []
        for n, m, extent, (lo, _), base, stride in zip(
            shape, self.result(shape), self.extents, self.padding, self.base_dilation, self.strides
        ):
            high = dims.dilate_dim(n, base) - dims.dilate_dim(m, stride) + lo
            padding.append((extent - 1 - lo, high))
        return Window(
            self.sizes, self.base_dilation, tuple(padding), self.strides, self.window_dilation
        )

    def over_kernel(self, shape: tuple) -> Window:
        """Return the window whose results are the window's own elements, for an array of that shape.

        Its elements are the results of this one: strides and window dilations are swapped.
        """
        counts = self.result(shape)
        padding = []
        for n, m, extent, (lo, _), base, stride in zip(
            shape, counts, self.extents, self.padding, self.base_dilation, self.strides
        ):
            whole = dims.dilate_dim(m, stride) + extent - 1
            padding.append((lo, whole - dims.dilate_dim(n, base) - lo))
        return Window(
            counts, self.window_dilation, tuple(padding), self.base_dilation, self.strides
        )

    def scatter_padding(self, offset: Sequence[int], shape: tuple) -> tuple:
        """Return the configuration with which `lax.pad` scatters one element of each window.

        That is element `offset` of the windows, in the dilated and padded form of an array of that shape. The
        targets are distinct.
        """
        config = []
        for k, dilation, whole, count, stride in zip(
            offset, self.window_dilation, self.padded(shape), self.result(shape), self.strides
        ):
            low = int(k) * dilation
            config.append((low, whole - low - dims.dilate_dim(count, stride), stride - 1))
        return tuple(config)

    @property
    def without_pad(self) -> tuple:
        """Return the configuration with which `lax.pad` removes the padding (zeros for removed elements)."""
        return tuple([(-lo, -hi, 0) for lo, hi in self.padding])

    def check(
        self, function: str, shape: tuple, arguments: Sequence[str] = REDUCTION_NAMES
    ) -> None:
        """Raise unless the window can slide over an array of that shape."""
        fields = (self.sizes, self.strides, self.padding, self.base_dilation, self.window_dilation)
        for argument, entries in zip(arguments, fields):
            if len(entries) != len(shape):
                raise ShapeError(
                    function=function,
                    argument=argument,
                    got=entries,
                    expected=f"{len(shape)} entries, one for each dimension of shape {shape}",
                )
            if argument == arguments[2]:
                continue
            for axis, entry in enumerate(entries):
                if not dims.is_dim(entry) and entry < 1:
                    raise ShapeError(
                        function=function,
                        argument=argument,
                        path=f"[{axis}]",
                        got=entry,
                        expected="at least 1",
                    )
        for axis, (size, padded) in enumerate(zip(shape, self.padded(shape))):
            if not dims.is_dim(padded) and padded < 0:
                raise ArgumentValueError(
                    f"dimension {axis} of size {size} would get the negative size {padded}",
                    function=function,
                    argument=arguments[2],
                    got=self.padding,
                    expected="padding that removes no more than there is",
                )

    def params(self) -> dict:
        """Return the parameters of the primitives of this family."""
        fields = (self.sizes, self.strides, self.padding, self.base_dilation, self.window_dilation)
        return dict(zip(REDUCTION_NAMES, fields))


def window_of(
    window_dimensions: tuple,
    window_strides: tuple,
    padding: tuple,
    base_dilation: tuple | None = None,
    window_dilation: tuple | None = None,
) -> Window:
    """Return the window of a primitive's parameters."""
    ones = (1,) * len(window_dimensions)
    return Window(
        window_dimensions, window_strides, padding, base_dilation or ones, window_dilation or ones
    )


def padding_pairs(function: str, padding: Any) -> tuple:
    """Normalize explicit padding to a tuple of pairs (low, high)."""
    try:
        pairs = [sizes_of(function, "padding", pair) for pair in padding]
        if all(len(pair) == 2 for pair in pairs):
            return tuple(pairs)
    except (TypeError, ArgumentError):
        pass
    raise ArgumentError(
        function=function,
        argument="padding",
        got=padding,
        expected="'SAME', 'SAME_LOWER', 'VALID', or a pair of ints (low, high) for each dimension",
    )


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]:
    """Compute the pairs (low, high) of each dimension for padding given by name.

    'VALID' pads nothing. 'SAME' pads such that the number of windows is ceil(size / stride); of an odd
    total the larger half goes after, for 'SAME_LOWER' before. Explicit pairs are unchanged.

    >>> from sagax import lax
    >>> lax.padtype_to_pads((8, 7), (3, 2), (2, 2), 'SAME')
    [(0, 1), (0, 1)]
    """
    if not isinstance(padding, str):
        return list(padding_pairs("padtype_to_pads", padding))
    return named_padding("padtype_to_pads", in_shape, window_shape, window_strides, padding)


def named_padding(
    function: str, shape: Sequence, window: Sequence, strides: Sequence, padding: str
) -> list[tuple]:
    """Return the pairs of a named padding."""
    name = padding.upper()
    if name not in ("SAME", "SAME_LOWER", "VALID"):
        raise ArgumentValueError(
            function=function,
            argument="padding",
            got=repr(padding),
            expected="'SAME', 'SAME_LOWER', 'VALID', or pairs (low, high)",
        )
    if not len(shape) == len(window) == len(strides):
        raise ShapeError(
            "shape, window and strides differ in their number of dimensions",
            function=function,
            got=f"{len(shape)}, {len(window)} and {len(strides)}",
            expected="equal numbers",
        )
    if name == "VALID":
        return [(0, 0)] * len(shape)
    pairs = []
    for n, k, stride in zip(shape, window, strides):
        if not dims.is_dim(stride) and stride < 1:
            raise ShapeError(
                function=function,
                argument="window_strides",
                got=tuple(strides),
                expected="strides of at least 1",
            )
        total = dims.non_negative((dims.ceil_div(n, stride) - 1) * stride + k - n)
        less = total // 2
        pairs.append((less, total - less) if name == "SAME" else (total - less, less))
    return pairs


def window_params(
    function: str,
    shape: tuple,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> dict:
    """Convert the arguments of a reduction over windows to parameters of its primitive."""
    ones = (1,) * len(shape)

    def entries(argument: str, values: Any) -> tuple:
        return ones if values is None else sizes_of(function, argument, values)

    sizes = entries("window_dimensions", window_dimensions)
    strides = entries("window_strides", window_strides)
    base = entries("base_dilation", base_dilation)
    dilation = entries("window_dilation", window_dilation)
    named = isinstance(padding, str)
    pairs = ((0, 0),) * len(shape) if named else padding_pairs(function, padding)
    window = Window(sizes, strides, pairs, base, dilation)
    window.check(function, shape)
    if named:
        pairs = named_padding(function, window.padded(shape), window.extents, strides, padding)
        window = Window(sizes, strides, tuple(pairs), base, dilation)
    return window.params()


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Return the shape of a reduction over windows of an array of shape `operand_shape`.

    >>> from sagax import lax
    >>> lax.reduce_window_shape_tuple((8, 8), (3, 3), (2, 2), [(0, 0), (1, 1)])
    (3, 4)
    """
    shape = tuple(operand_shape)
    params = window_params(
        "reduce_window_shape_tuple",
        shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    return window_of(**params).result(shape)


def numpy_windows(x: np.ndarray, window: Window, fill: Any) -> np.ndarray:
    """Return a view of all windows of a NumPy array: window dimensions first, then elements."""
    padded = pad_p.rule("reference")(
        x, np.asarray(fill, x.dtype), padding_config=window.padding_config
    )
    counts = window.result(x.shape)
    if 0 in counts:
        return np.empty((*counts, *window.sizes), x.dtype)
    windows = np.lib.stride_tricks.sliding_window_view(padded, window.extents)
    steps = (*window.strides, *window.window_dilation)
    return windows[tuple([np.s_[::step] for step in steps])]


def window_elements(x: Any, window: Window, fill: Any) -> list:
    """Return for each element of a window, in order, the array of that element in all windows."""
    x = pad(x, fill, window.padding_config)
    window = window.without_padding()
    counts = window.result(aval_of(x).shape)
    reaches = [dims.dilate_dim(m, stride) for m, stride in zip(counts, window.strides)]
    out = []
    for offset in np.ndindex(*window.sizes):
        starts = [int(k) * d for k, d in zip(offset, window.window_dilation)]
        limits = [start + reach for start, reach in zip(starts, reaches)]
        out.append(slice(x, starts, limits, window.strides))
    return out


def stacked_windows(x: Any, window: Window, fill: Any) -> Any:
    """Return all windows of an array, by other operations: elements first, then window dimensions."""
    x = pad(x, fill, window.padding_config)
    n = len(window.sizes)
    counts = window.without_padding().result(aval_of(x).shape)
    for done, d in enumerate(reversed(range(n))):
        axis = done + d  # those after it have their elements in front already
        reach = dims.dilate_dim(counts[d], window.strides[d])
        starts = [k * window.window_dilation[d] for k in range(window.sizes[d])]
        x = stack([slice_in_dim(x, i, i + reach, window.strides[d], axis) for i in starts], 0)
    return x


def lower_windows(
    b: Any,
    xs: Sequence[Any],
    inits: Sequence[Any],
    window: Window,
    avals: Sequence[Any],
    body: Callable[..., Sequence[Any]],
    outs: Sequence[Any],
) -> list:
    """Lower to a StableHLO reduction over windows; `body(builder, *values)` combines values of types `avals`.

    Symbolic or negative padding becomes a separate operation: XLA would treat windows of size 1 as a copy,
    find that the shapes differ, and abort the process.
    """
    if any(dims.is_dim(p) or p < 0 for pair in window.padding for p in pair):
        low, high, interior = zip(*window.padding_config)
        xs = [b.padded(x, init, low, high, interior) for x, init in zip(xs, inits)]
        window = window.without_padding()
    fixed = (window.sizes, window.strides, window.base_dilation, window.window_dilation)
    if not dims.is_static([e for entries in fixed for e in entries]):
        return _lower_symbolic_windows(b, [*xs, *inits], window, avals, body, outs)
    return b.op(
        "reduce_window",
        [*xs, *inits],
        list(outs),
        regions=[b.region(avals, functools.partial(body, b))],
        window_dimensions=b.ints(window.sizes),
        window_strides=b.ints(window.strides),
        base_dilations=b.ints(window.base_dilation),
        window_dilations=b.ints(window.window_dilation),
        padding=b.dense_ints(np.reshape(window.padding, (-1, 2))),
    )


def _lower_symbolic_windows(
    b: Any,
    operands: Sequence[Any],
    window: Window,
    avals: Sequence[Any],
    body: Callable[..., Sequence[Any]],
    outs: Sequence[Any],
) -> list:
    """Emit a call that XLA replaces by a reduction over windows once the sizes are known.

    It names a function of the module, where a `reduce_window` has a region.
    """
    name = b.module.function_name("reducer")
    inner = type(b)(b.module)  # does not see values of the enclosing function
    region = inner.region(avals, functools.partial(body, inner), terminator="func.return")
    of = [b.spell(a) for a in avals]
    b.module.functions.append(
        f'  "func.func"() ({{{region[1:]}) {{sym_name = "{name}", sym_visibility = "private", '
        f"function_type = ({', '.join(of)}) -> ({', '.join(of[: len(of) // 2])})}} : () -> ()"
    )
    shapes = (window.sizes, window.strides, window.base_dilation, window.window_dilation)
    pads = np.reshape(np.asarray(window.padding, np.int32), (-1, 2))
    return b.custom_call(
        "stablehlo.dynamic_reduce_window",
        [*operands, *[b.shape_value(s) for s in shapes], b.constant(pads)],
        outs,
        api_version="2 : i32",
        called_computations=f"[@{name}]",
    )


__all__ = [
    "REDUCTION_NAMES",
    "Window",
    "lower_windows",
    "named_padding",
    "numpy_windows",
    "padding_pairs",
    "padtype_to_pads",
    "reduce_window_shape_tuple",
    "stacked_windows",
    "window_elements",
    "window_of",
    "window_params",
]
