"""Define the common base class of arrays and tracers.

Concrete arrays and tracers derive from `Array`, so `isinstance(x, sagax.Array)` holds for both. The numpy
layer installs their operators here, so that they cannot diverge.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config
from sagax._src.core import avals, dtypes, high_types
from sagax._src.core.avals import ShapedArray
from sagax._src.core.references import AbstractRef, Ref
from sagax._src.diagnostics import errors
from sagax._src.diagnostics.callers import find_operand_argument
from sagax._src.languages.choice import worded

NUMBERS = (bool, int, float, complex)  # Python's


class Array:
    """The type of all arrays: concrete arrays and tracers.

    Use it for `isinstance` checks and annotations; create arrays with `sagax.numpy`.
    """

    __slots__ = ()
    # NumPy must leave `np_array + x` to our reflected operators
    __array_priority__ = 100
    # compared element by element; a method that raises would pass as `collections.abc.Hashable`
    __hash__ = None  # type: ignore[assignment]

    aval: ShapedArray

    @property
    def shape(self) -> tuple:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> Any:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        return dtypes.itemsize(self.aval.dtype)

    @property
    def nbytes(self) -> Any:
        return self.aval.size * dtypes.itemsize(self.aval.dtype)

    if TYPE_CHECKING:  # the numpy layer installs operators and methods

        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __divmod__(self, other: Any) -> Any: ...
        def __rdivmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __rand__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __ror__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __rxor__(self, other: Any) -> Any: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rlshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...
        def __rrshift__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...
        def __getitem__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __pos__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __invert__(self) -> Any: ...
        def __iter__(self) -> Any: ...
        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...

    # Contents and placement: concrete arrays define these; tracers define the statically known ones.

    def item(self, *args: Any) -> Any:
        """Return the only element (or the one at the given index) as a Python number."""
        raise errors.ConcretizationTypeError(self, "The problem arose with `.item()`.")

    def copy_to_host_async(self) -> None:
        """Start copying the contents to host memory."""
        raise self._not_available("copy_to_host_async")

    @property
    def device(self) -> Any:
        """The device that holds the array, or its sharding if there are several."""
        raise self._not_available("device")

    @property
    def sharding(self) -> Any:
        """The sharding of the array over devices."""
        raise self._not_available("sharding")

    @property
    def committed(self) -> bool:
        """True if the array is committed to its devices, so that computations with it run there."""
        raise self._unknown("committed")

    @property
    def is_fully_addressable(self) -> bool:
        """True if all shards are on devices of this process."""
        raise self._unknown("is_fully_addressable")

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device holds the whole array."""
        raise self._unknown("is_fully_replicated")

    @property
    def addressable_shards(self) -> list:
        """The shards on devices of this process."""
        raise self._unknown("addressable_shards")

    @property
    def global_shards(self) -> list:
        """The shards on all devices."""
        raise self._unknown("global_shards")

    def addressable_data(self, index: int) -> Any:
        """Return the data of one shard on a device of this process."""
        raise self._unknown("addressable_data")

    def devices(self) -> set:
        """Return the devices that hold the array."""
        raise self._unknown("devices")

    def _not_available(self, name: str) -> AttributeError:
        return worded(
            AttributeError(
                f"The '{name}' attribute is not available on {type(self).__name__} with shape "
                f"{self.aval.str_short(short_dtypes=False)}"
            )
        )

    def _unknown(self, name: str) -> errors.ConcretizationTypeError:
        return errors.ConcretizationTypeError(
            self, f"The '{name}' attribute is not available while tracing."
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise errors.ArgumentError(
            "arrays are immutable, so an item cannot be assigned in place",
            function="x[index] = value",
            got=self,
            fix="use the updated copy: x = x.at[index].set(value)",
            of=(self,),
            index=index,
            value=value,
        )


class Sockets:
    """Hooks by which higher layers install functions that core calls but may not import."""

    @staticmethod
    def concrete(x: Any) -> Any:
        """Convert `x` (array or scalar) to a concrete value with an aval; set by the runtime."""
        return np.asarray(x)

    # (start, size, stride) -> index of a window; and whether an index is one
    window: Any = None
    is_window: Any = None

    # (reference, value, operands, transforms, whether to add) -> the part as it was
    write_in_place: Any = None

    # (higher-order primitive, operands, parameters) -> results, where types of libraries occur; or
    # NotImplemented. None until such a type is registered.
    evaluate_high: Any = None

    # (name, operation, operands, sharding of the result) -> the result, compiled as one
    compiled_with_out_sharding: Any = None

    # (trace that records) -> context in which traced masks become views (the option `masks`)
    enter_mask_trace: Any = None


sockets = Sockets


# The functions that give the types of values of a class, for classes that libraries add; those of NumPy and
# Python are there so that libraries find them.
pytype_aval_mappings: dict[type, Any] = {}


def aval_of(x: Any) -> ShapedArray:
    """Return the aval of an array, tracer, NumPy array or Python scalar.

    Raises a TypeError that names the type of any other `x`.
    """
    if high_types.value_types:  # first: their values may have an attribute `aval` of their own
        typed = high_types.value_types.get(type(x))
        if typed is not None:
            return high_types.interned(typed(x))
    try:
        return x.aval
    except AttributeError:
        pass
    kind = type(x)
    if kind in NUMBERS:
        return avals.scalar_aval(kind, config.current().x64)
    if isinstance(x, (np.ndarray, np.generic)):
        return numpy_aval(x, config.current().x64)
    if hasattr(x, "__jax_array__"):
        return aval_of(x.__jax_array__())
    for scalar in NUMBERS:  # subclasses: IntEnum, np.float64 is handled above
        if isinstance(x, scalar):
            return avals.scalar_aval(scalar, config.current().x64)
    found = pytype_aval_mappings.get(kind)
    if found is not None:
        return high_types.interned(found(x))
    raise not_an_array(x)


def numpy_aval(x: Any, x64: bool) -> ShapedArray:
    """Return the aval of a NumPy array or scalar as an operand: 64-bit types narrow unless `x64`."""
    if type(x) is not np.ndarray and _has_mask(x):
        raise errors.ArgumentValueError(
            "Numpy masked arrays are not supported as direct inputs to JAX functions: the mask would "
            "be lost",
            got=f"a masked array of type {dtypes.name(x.dtype)}{list(x.shape)}",
            expected="an array without a mask",
            fix="fill in what is masked, x.filled(0), and pass the mask, x.mask, as another argument",
        )
    dtype = x.dtype
    if dtype.kind in "OSUMmVc" and not dtypes.is_numeric_dtype(dtype):
        raise not_an_array(x)
    # Formulas hold their constants as NumPy scalars, which keep the type that they were made with.
    narrowed = dtypes.canonicalize if isinstance(x, np.generic) else dtypes.canonicalize_given
    return avals.intern_aval(x.shape, narrowed(dtype, x64), False, None)


def _has_mask(x: Any) -> bool:
    """Return whether `x` is a masked array, without importing `numpy.ma`."""
    masked = sys.modules.get("numpy.ma")
    return isinstance(x, getattr(masked, "MaskedArray", ()))


def not_an_array(x: Any) -> errors.SagaxError:
    """Return the error for a value that cannot be an operand."""
    error = errors.NotAnArrayError(x)
    if isinstance(getattr(x, "aval", None), AbstractRef):
        return error.attach(fix="read the reference first: ref[...]", got=repr(x.aval))
    called = find_operand_argument(x)
    if called:
        error.attach(**called)
    if isinstance(x, (list, tuple)):
        return error.attach(fix="make an array of it first: sagax.numpy.asarray(...)")
    return error


def is_argument(x: Any) -> bool:
    """Return whether a transformed function can take `x`: an operand, or a reference."""
    return type(x) is Ref or is_operand(x)


def is_operand(x: Any) -> bool:
    """Return whether `x` can be an operand: array, tracer, NumPy array or scalar, Python number."""
    if isinstance(x, (Array, *NUMBERS)):
        return True
    if isinstance(x, (np.ndarray, np.generic)):
        return dtypes.is_numeric_dtype(x.dtype) and not (type(x) is not np.ndarray and _has_mask(x))
    return hasattr(x, "__jax_array__") or type(x) in high_types.value_types


for _kind in (*NUMBERS, np.ndarray, np.generic):
    pytype_aval_mappings[_kind] = aval_of
