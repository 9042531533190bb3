"""Update by index: `x.at[index].set(values)` and its relatives."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.diagnostics.wording import bilingual
from sagax._src.primitives import scattering
from sagax._src.primitives.gathering import GatherScatterMode
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.shaping import full_like, rev
from sagax._src.primitives.slicing import dynamic_update_slice
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    convert,
    convert_given,
    expand_dims,
    squeeze,
)
from sagax.numpy._arithmetic import power, true_divide
from sagax.numpy._base import as_operand, number
from sagax.numpy._conversion import asarray
from sagax.numpy._indexing.get import check_bounds, getitem
from sagax.numpy._indexing.host import is_concrete, update_on_host
from sagax.numpy._indexing.lazy import lazily, lazy_update
from sagax.numpy._indexing.parse import AxisSlice, Index, Point, clamped, inside, parse
from sagax.numpy._indexing.plan import Plan, plan_of

_SCALARS = (bool, int, float, complex)


class IndexUpdateHelper:
    """Make `x.at[index]`: a reference to a part of `x`, to read or to update it.

    >>> snp.arange(4).at[1:3].set(7)
    Array([0, 7, 7, 3], dtype=int32)
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> IndexUpdateRef:
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdateHelper({self.array!r})"


def _update_method(method: str, doc: str, by_factors: Callable[[Any, Any], Any] | None = None):
    """Make a method of `x.at[index]`.

    `by_factors(x, factors)` updates all of `x`: the factors are 1 outside of `x[index]`, and the
    products of `values` in it.
    """

    def update(
        self: IndexUpdateRef,
        values: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        if out_sharding is not None:
            return self._sharded(method, values, mode, wrap_negative_indices, out_sharding)
        flags = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        if by_factors is None:
            return _update(method, self.array, self.index, values, flags)
        factors = _update("multiply", full_like(self.array, 1), self.index, values, flags)
        return by_factors(self.array, factors)

    update.__name__ = method
    update.__qualname__ = f"IndexUpdateRef.{method}"
    update.__doc__ = doc
    return update


class IndexUpdateRef:
    """Refer to the part `x[index]` of an array: methods read it, or return an updated copy of `x`.

    The methods take `indices_are_sorted` and `unique_indices` (promises), `mode` (what an index out
    of bounds means: 'drop' or 'fill', 'clip', 'promise_in_bounds'; by default its update is
    dropped), and `wrap_negative_indices` (whether negative indices count from the end). The values
    broadcast to the shape of `x[index]`, and take the dtype of `x`. Where an index occurs several
    times, all its updates are applied, in no defined order; of several `set` one wins.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.index!r})"

    def _sharded(
        self, method: str, values: Any, mode: Any, wrap_negative_indices: bool, out_sharding: Any
    ) -> Array:
        """Apply a method, and shard its result as `out_sharding`."""

        def within(x: Any, values: Any) -> Array:
            changed = getattr(IndexUpdateRef(x, self.index), method)
            return changed(values, mode=mode, wrap_negative_indices=wrap_negative_indices)

        return with_out_sharding(method, within, (self.array, values), out_sharding)

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
        strategy: str = "auto",
    ) -> Array:
        """Read `x[index]`, with a choice of what indices out of bounds mean.

        Args:
          mode: 'clip' (and None) takes the closest element; 'fill' gives `fill_value`.
          fill_value: by default NaN for inexact dtypes, the least value of signed integers, the
            greatest of unsigned ones, and True.
          strategy: the operation to read with: 'gather', 'static_slice' or 'dynamic_slice'. The
            result is the same; those that cannot do it raise TypeError.

        >>> snp.arange(4.).at[snp.array([1, 9])].get(mode='fill', fill_value=-1)
        Array([ 1., -1.], dtype=float32)
        """
        if out_sharding is not None:
            forwarded = {"mode": mode, "fill_value": fill_value, "strategy": strategy}
            forwarded["wrap_negative_indices"] = wrap_negative_indices

            def within(x: Any) -> Array:
                return IndexUpdateRef(x, self.index).get(**forwarded)

            return with_out_sharding("get", within, (self.array,), out_sharding)
        return getitem(
            self.array,
            self.index,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            fill_value=fill_value,
            wrap_negative_indices=wrap_negative_indices,
            strategy=strategy,
        )

    set = _update_method(
        "set",
        """Return a copy of `x` in which `x[index]` is `values`.

        >>> import sagax.numpy as snp
        >>> snp.zeros(3).at[-1].set(5)
        Array([0., 0., 5.], dtype=float32)
        """,
    )
    add = _update_method(
        "add",
        """Return a copy of `x` in which `values` are added to `x[index]`.

        >>> import sagax.numpy as snp
        >>> snp.zeros(3).at[snp.array([0, 0, 2])].add(1)
        Array([2., 0., 1.], dtype=float32)
        """,
    )
    subtract = _update_method(
        "subtract", "Return a copy of `x` in which `values` are subtracted from `x[index]`."
    )
    multiply = mul = _update_method(
        "multiply", "Return a copy of `x` in which `x[index]` is multiplied by `values`."
    )
    divide = _update_method(
        "divide",
        "Return a copy of `x` in which `x[index]` is divided by `values`, of the dtype of `x / x`.",
        by_factors=true_divide,
    )
    power = _update_method(
        "power",
        "Return a copy of `x` in which `x[index]` is raised to the power `values`.",
        by_factors=power,
    )
    min = _update_method(
        "min", "Return a copy of `x` in which `x[index]` is the lesser of itself and `values`."
    )
    max = _update_method(
        "max", "Return a copy of `x` in which `x[index]` is the greater of itself and `values`."
    )

    def apply(
        self,
        func: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """Copy `x` with `func` applied to each element of `x[index]`.

        `func` takes and gives a scalar; it is applied once for each time that an index occurs.

        >>> snp.arange(4).at[snp.array([3, 3])].apply(lambda v: v * v)
        Array([ 0,  1,  2, 81], dtype=int32)
        """
        if out_sharding is not None:
            return self._sharded("apply", func, mode, wrap_negative_indices, out_sharding)
        flags = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return _update("apply", self.array, self.index, func, flags)


_SCATTERS = {
    "set": scattering.scatter,
    "add": scattering.scatter_add,
    "subtract": scattering.scatter_sub,
    "multiply": scattering.scatter_mul,
    "min": scattering.scatter_min,
    "max": scattering.scatter_max,
}


def _update(method: str, x: Any, index: Any, values: Any, flags: tuple) -> Any:
    """Update the part `index` of `x`; `values` is a function for the method 'apply'."""
    is_sorted, is_unique, mode, wrap = flags
    aval = aval_of(x)
    function = f"ndarray.at[...].{method}"
    if method != "apply":
        values = as_updates(function, values, aval, widen=method != "set")
        dtype = aval_of(values).dtype
        if dtype != aval.dtype:  # computed in the dtype that holds both, and cut back
            changed = _update(method, convert(x, dtype), index, values, flags)
            return convert_given(changed, aval.dtype, aval.weak_type)
    index_mode = GatherScatterMode.from_any(mode)
    if lazily() and method != "apply":
        everywhere = functools.partial(_update, method, index=..., flags=flags)
        found = lazy_update(x, index, values, lambda x, v: everywhere(x=x, values=v))
        if found is not None:
            return found
    read = parse(aval.shape, index, wrap)
    if mode is None and config.thread.settings.check_bounds and is_concrete(x):
        check_bounds(read.items, aval.shape, wrap)
    if index_mode is GatherScatterMode.CLIP:
        read = Index([_clipped(item, aval.shape) for item in read.items], read.separated)
    items = read.items
    plan = plan_of(aval.shape, read)
    if method != "apply":
        check_shape(function, values, plan.out_shape)
    if plan.is_empty:
        return x
    if is_concrete(x):
        found = update_on_host(method, x, read, values)
        if found is not None:
            return found
    if method == "set" and all(_in_place(item, aval.shape) for item in items):
        return _write(x, values, items, plan)
    numbers = plan.scatter_numbers
    options = {
        "indices_are_sorted": is_sorted or plan.is_sorted,
        "unique_indices": is_unique or plan.is_unique,
        "mode": index_mode,
    }
    if method == "apply":
        return scattering.scatter_apply(
            x, plan.indices(items), values, numbers, update_shape=plan.core_shape, **options
        )
    return _SCATTERS[method](x, plan.indices(items), _spread(values, plan), numbers, **options)


def _clipped(item: Any, shape: tuple) -> Any:
    if type(item) is Point:
        return Point(item.axis, clamped(item.at, shape[item.axis]))
    return item


def _in_place(item: Any, shape: tuple) -> bool:
    """Return whether an item is a static window that lies inside of the array."""
    if type(item) is Point:
        return inside(item.at, shape[item.axis])
    return item is None or (type(item) is AxisSlice and not item.is_dynamic and abs(item.step) == 1)


def _write(x: Any, values: Any, items: list, plan: Plan) -> Any:
    """Overwrite a static window of `x` with `values`."""
    shape = aval_of(x).shape
    starts: list[Any] = [0] * len(shape)
    single = []
    for item in items:
        if type(item) is Point:
            starts[item.axis] = item.at
            single.append(item.axis)
        elif item is not None:
            axis, start, size, step = item
            starts[axis] = start if step > 0 else start - (size - 1)
    if not aval_of(values).shape:
        block = broadcast_in_dim(values, plan.window)
    else:
        block = _spread(values, plan)
        if single:
            block = expand_dims(block, single)
    if dims.same_shape(plan.window, shape):  # nothing of x is left
        return convert(block, aval_of(x).dtype, x.weak_type)
    found = dynamic_update_slice(x, block, starts)
    if aval_of(x).weak_type and aval_of(block).weak_type:
        return convert(found, aval_of(x).dtype, True)
    return found


# -- the values -----------------------------------------------------------------------------------


def as_updates(function: str, values: Any, target: Any, widen: bool = False) -> Any:
    """Convert the values to the dtype of the array that is updated.

    With `widen`, those that this dtype cannot hold come in the common dtype of both.
    """
    if values is None:
        raise ArgumentValueError(
            "None is not a valid value for an array", function=function, argument="values"
        )
    if isinstance(values, (list, tuple)):
        values = asarray(values)
    values = as_operand(function, values)
    aval = aval_of(values)
    dtype, weak = target.dtype, target.weak_type
    scalar = type(values) in _SCALARS and not weak
    if aval.dtype == dtype and not scalar and weak <= aval.weak_type:
        return values
    if dtypes.is_extended(dtype) or dtypes.is_extended(aval.dtype):
        raise ArgumentError(
            function=function,
            argument="values",
            got=values,
            expected=f"an array of dtype {dtypes.name(dtype)}, as the array to update is",
        )
    common = _common((dtype, weak), (aval.dtype, aval.weak_type), config.current())
    if common != dtype:
        text = (
            f"scatter inputs have incompatible types: {function} casts values of dtype "
            f"{dtypes.name(aval.dtype)} to {dtypes.name(dtype)}, the dtype of the array, which "
            "cannot hold all of them. This will be an error one day: cast them with "
            f".astype({dtypes.name(dtype)}), or the array to {dtypes.name(common)}"
        )
        warnings.warn(bilingual(text), FutureWarning, stacklevel=dtypes.users_level())
        if widen:
            return convert(asarray(values), common, False)
    if scalar:
        try:
            return number(values, type(values), dtype)
        except OverflowError:  # its bits are cut to those of the dtype, unless there are too many
            dtypes.check_python_int(values, aval.dtype)
        return dtype_predicates.convert_numpy(np.asarray(values, aval.dtype), dtype)[()]
    return convert_given(values, dtype, weak)


@functools.lru_cache(maxsize=1024)
def _common(x: tuple, y: tuple, settings: Any) -> Any:
    """Return the common dtype of two operands, each given as (dtype, weak)."""
    return dtypes.promote((x, y), settings.x64, settings.numpy_dtype_promotion)[0]


def check_shape(function: str, values: Any, shape: tuple) -> None:
    """Raise unless the values broadcast to the shape of `x[index]`."""
    values_shape = aval_of(values).shape
    lead = len(shape) - len(values_shape)
    if lead < 0 or not all(
        dims.same(h, s) or dims.same(h, 1) for h, s in zip(values_shape, shape[lead:])
    ):
        raise ArgumentValueError(
            f"Incompatible shapes for broadcasting: values of shape {dims.shape_text(values_shape)} and "
            f"requested shape {dims.shape_text(shape)}, that of x[index]",
            function=function,
            argument="values",
            got=values,
            expected=f"an array that broadcasts to {dims.shape_text(shape)}",
        )


def _spread(values: Any, plan: Plan) -> Any:
    """Broadcast the values to the shape that the scatter of the plan takes."""
    shape = plan.out_shape
    values_shape = aval_of(values).shape
    if not values_shape:
        return broadcast_in_dim(values, plan.core_shape)
    values = broadcast_in_dim(values, shape, range(len(shape) - len(values_shape), len(shape)))
    if plan.new_axes:
        values = squeeze(values, plan.new_axes)
    return rev(values, plan.reversed_dims) if plan.reversed_dims else values
