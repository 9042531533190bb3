"""Convert the operands of jitted calls: static ones to parts of a key, host values to arrays.

The general path of a call asks many questions about each operand. Here the answers that depend on type, dtype and
shape alone are looked up; what is not known here is left to the general path, which gives the errors.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sagax._src import trees, tuning, xla
from sagax._src.api import arguments
from sagax._src.argument_checks.functions import kind_of
from sagax._src.callbacks import active_calls
from sagax._src.config import Settings
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.references import Ref
from sagax._src.core.value import Array, numpy_aval
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.runtime import devices, effect_tokens
from sagax._src.runtime.array import ConcreteArray, aligned_empty, as_array, from_scalar, is_aligned

# ------------------------------------------------------------------------------- static operands

EQUAL_BY_VALUE = frozenset(
    {int, bool, str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType}
)


class SimpleStatic(tuple):
    """A static operand in a key, of a type whose `==` and hash distinguish what gives another jaxpr."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        return self[1]


class _Static:
    """A static operand in a key, equal to those that give the same jaxpr."""

    __slots__ = ("hash", "value")

    def __init__(self, value: Any, what: str, fun: Any) -> None:
        self.value = value
        try:
            self.hash = hash(value)
        except TypeError:
            raise ArgumentValueError(
                f"Non-hashable static arguments are used in a jit function: {what} of {function_name(fun)} is static, and a "
                f"value of type {type(value).__name__} cannot be hashed",
                function="jit",
                argument=what,
                got=kind_of(value),
                expected="a hashable value",
                fix="pass a tuple instead of a list"
                if isinstance(value, list)
                else "pass the array as an ordinary (traced) argument"
                if hasattr(value, "dtype")
                else "pass something hashable, such as a tuple or a frozen dataclass",
                about=((what,), function_name(fun)),
            ) from None

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Static:
            return False
        try:
            return _interchangeable(self.value, other.value)
        except Exception as error:
            raise ArgumentValueError(
                "static arguments should be comparable using __eq__: comparing two values of type "
                f"{type(self.value).__name__} raised {type(error).__name__}: {error}",
                function="jit",
                expected="values whose == gives True or False, such as tuples and frozen dataclasses",
                got=kind_of(self.value),
                fix="keep arrays out of static arguments",
            ) from error


def _interchangeable(a: Any, b: Any) -> bool:
    """Return whether static values `a` and `b` may share a jaxpr; 1, 1.0 and True, or 0.0 and -0.0, may not."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, complex, np.inexact)):
        return repr(a) == repr(b)
    if isinstance(a, tuple) and type(a).__eq__ is tuple.__eq__:
        return len(a) == len(b) and all(map(_interchangeable, a, b))
    return bool(a == b)


def static_part(value: Any, where: int | str, count: int, fun: Any) -> SimpleStatic | _Static:
    """Return the part of a key for a static operand; `.value` is the operand.

    `where` is its position among `count` arguments, or its name: ArgumentValueError names it, if it cannot be hashed.
    """
    kind = type(value)
    if kind in EQUAL_BY_VALUE or (kind is float and value and value == value):
        return SimpleStatic((kind, value))
    if kind is tuple and EQUAL_BY_VALUE.issuperset(kinds := [type(x) for x in value]):
        return SimpleStatic((kind, value, *kinds))
    name = where if isinstance(where, str) else arguments.positional_names(fun, count)[where]
    return _Static(value, name, fun)


# --------------------------------------------------------------------------------- host operands

_NUMPY_SCALARS = frozenset(
    dtype.type for dtype in map(np.dtype, "? b h i l q B H I L Q e f d F D".split())
)
# Those whose `==` tells all but the sign of a zero apart.
_HASHED_SCALARS = frozenset(np.dtype(c).type for c in "?bhilqBHILQefd")
# What is a leaf of any pytree, and an operand.
LEAVES = frozenset({ConcreteArray, np.ndarray, bool, int, float, complex, *_NUMPY_SCALARS})

_LIMIT = 1024
_MOST_LENT = 8
_Known = tuple[Any, Callable[[Any], Any], np.dtype | None, "_Lent | None"]
_types: dict[tuple, _Known] = {}  # by dtype, shape, setting of x64
_numbers: dict[tuple, ConcreteArray] = {}  # by type and value, setting of x64


def note_types(leaves: Iterable[Any], settings: Settings) -> None:
    """Remember the types of the NumPy operands of a call that succeeded."""
    if settings.default_device is not None:
        return
    for x in leaves:
        if type(x) is np.ndarray or type(x) in _NUMPY_SCALARS:
            aval = numpy_aval(np.asarray(x), settings.x64)
            if aval.dtype == dtypes.float0 or not x.dtype.isnative:
                continue
            if len(_types) >= _LIMIT:
                _types.clear()
            narrowed = None if x.dtype == aval.dtype else aval.dtype
            device = devices.default_device()
            put = xla.put_of_type(aval.shape, aval.dtype, device, share=narrowed is not None)
            lent = _Lent(aval, device) if device.platform == "cpu" else None
            _types[x.dtype, x.shape, settings.x64] = aval, put, narrowed, lent


class _Lent:
    """Host memory that XLA reads without a copy, lent to calls one after the other; for one type.

    Copying contents into it takes a tenth of the time of putting an array on a device. It may be written again once a
    result of the call is ready: then its operands are read no more.
    """

    __slots__ = ("aval", "free", "left", "share")

    def __init__(self, aval: Any, device: Any) -> None:
        self.aval = aval
        self.share = xla.put_of_type(aval.shape, aval.dtype, device, share=True)
        self.free: list[tuple[np.ndarray, Any]] = []
        self.left = _MOST_LENT  # pieces of memory that may still be made

    def take(self, x: np.ndarray) -> tuple[np.ndarray, Any] | None:
        """Return memory with the contents of `x`, and its buffer; None if too many calls were not over soon."""
        try:
            piece = self.free.pop()  # one step, in threads too
        except IndexError:
            if not self.left:
                return None
            self.left -= 1
            memory = aligned_empty(self.aval.shape, self.aval.dtype)
            piece = memory, self.share(memory)
        np.copyto(piece[0], x)
        return piece


def give_back(lent: list[tuple[_Lent | None, Any]], result: Any) -> None:
    """Take back what was lent to a call; wait for its end if that was memory of the caller."""
    first: Any = result
    while type(first) is not ConcreteArray:
        if isinstance(first, (list, tuple)) and first:
            first = first[0]
        elif type(first) is dict and first:
            first = next(iter(first.values()))
        else:  # another container
            first = next((x for x in trees.leaves(first) if type(x) is ConcreteArray), None)
            break
    buffer: Any = None if first is None else first._buffer
    is_over = buffer is not None and buffer.is_ready()
    for lender, piece in lent:
        if lender is not None:
            if is_over:
                lender.free.append(piece)
        elif not is_over:
            leaves = trees.leaves(result)
            if not leaves:
                effect_tokens.effects_barrier()
            for x in leaves:
                if isinstance(x, Array):
                    x.block_until_ready()


def clear() -> None:
    """Forget all types, and the arrays of numbers."""
    _types.clear()
    _numbers.clear()


def from_host(
    x: Any, settings: Settings, lent: list[tuple[_Lent | None, Any]] | None = None
) -> ConcreteArray | Ref | None:
    """Convert a host operand to an array; None: the general path has to do it. A reference stays one.

    Equal numbers may be the same array: donate `unshared` of it. With a list `lent` the array may use memory
    that is needed again after the call: pass both to `give_back`.
    """
    if settings.default_device is not None or settings.transfer_guard_host_to_device is not None:
        return None
    kind = type(x)
    if kind is np.ndarray:
        found = _types.get((x.dtype, x.shape, settings.x64))
        if found is None:
            return None
        aval, put, narrowed, lender = found
        if narrowed is not None:
            x = dtype_predicates.convert_data(x, narrowed)
        if lent is not None and lender is not None:
            size = x.nbytes
            if size <= tuning.LENT_MEMORY_MAX_BYTES:
                piece = lender.take(x)
                if piece is not None:
                    lent.append((lender, piece))
                    return ConcreteArray(aval, None, piece[1], None)
            elif narrowed is None and size >= tuning.ALIGNED_COPY_MIN_BYTES:
                if active_calls.active_calls or not is_aligned(x):
                    return as_array(x)  # a callback cannot wait
                lent.append((None, x))
                array = ConcreteArray(aval, None, lender.share(x), None)
                array._is_shared = True  # with the caller
                return array
        elif narrowed is None and x.nbytes >= tuning.ALIGNED_COPY_MIN_BYTES:
            return as_array(x)
        return ConcreteArray(aval, None, put(x), None)
    if kind in _NUMPY_SCALARS:
        scalar = None
        if kind in _HASHED_SCALARS:
            scalar = kind, x or repr(x), settings.x64  # zeros have a sign
            array = _numbers.get(scalar)
            if array is not None:
                return array
        found = _types.get((x.dtype, x.shape, settings.x64))
        if found is None:
            return None
        aval, put, narrowed, _ = found
        x = np.asarray(x) if narrowed is None else dtype_predicates.convert_data(x, narrowed)
        result = ConcreteArray(aval, None, put(x), None)
        if scalar is not None and scalar[1] == scalar[1]:  # nan would be added each time
            _remember(scalar, result)
        return result
    if kind is Ref and x._trace is None:
        return x
    if kind is not float and kind is not int and kind is not bool:
        return None
    key = kind, x or repr(x), settings.x64  # zeros have a sign
    array = _numbers.get(key)
    if array is None:
        try:
            array = from_scalar(x, kind, settings.x64)
        except OverflowError:  # the general path raises it, and names the argument
            return None
        array.buffer()
        if x == x:  # nan would be added each time
            _remember(key, array)
    return array


def _remember(key: tuple, array: ConcreteArray) -> None:
    if len(_numbers) >= _LIMIT:
        _numbers.clear()
    array._is_shared = True
    _numbers[key] = array


def outliving(arrays: Iterable[Any]) -> list[Any]:
    """Return the operands of a call whose end nothing tells; copies of large arrays, which the caller may change then."""
    found = []
    for x in arrays:
        if type(x) is ConcreteArray and x.size > 1 and getattr(x, "_is_shared", False):
            x = x.copied()
            x.block_until_ready()  # it is read until then
        found.append(x)
    return found


def unshared(array: ConcreteArray) -> ConcreteArray:
    """Return an array that may be donated: a copy, if other calls are given `array` for an equal number."""
    return array.copied() if getattr(array, "_is_shared", False) else array


__all__ = [
    "EQUAL_BY_VALUE",
    "LEAVES",
    "SimpleStatic",
    "clear",
    "from_host",
    "note_types",
    "static_part",
    "unshared",
]
