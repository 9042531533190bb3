"""Check, promote and align the operands of sagax.numpy.

Arrays of different dtypes are promoted by the lattice in core.dtypes; Python numbers are weak and
become scalars of the array's dtype. Arrays of different rank get leading dimensions of size 1, which the
primitives stretch; scalars stay scalars. So a traced program holds no needless conversions or broadcasts.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.references import AbstractRef
from sagax._src.core.trace import evaluation as _evaluation
from sagax._src.core.trace import state as _state
from sagax._src.core.value import Array, aval_of, not_an_array, sockets
from sagax._src.diagnostics.errors import ArgumentError, DtypeError, ShapeError, TypePromotionError
from sagax._src.diagnostics.wording import bilingual
from sagax._src.primitives.arithmetic import strong as strong
from sagax._src.primitives.arithmetic import strong_array as strong_array
from sagax._src.primitives.resharding import reshard_p
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    convert,
    expand_dims,
    full_of,
)
from sagax._src.runtime import eager
from sagax._src.runtime.array import from_host
from sagax._src.source_stacks import apart

_thread = config.thread
_KINDS: tuple[Any, ...] = (bool, int, float, complex)
_SCALARS = frozenset(_KINDS)
_NUMBERS_LIMIT = 4096


# --- what may be an operand ----------------------------------------------------------------------


def refused(function: str, x: Any, position: int) -> ArgumentError:
    """Build the error for an argument that is no array: lists and tuples above all."""
    if isinstance(x, (list, tuple)):
        fix = "make it an array first: numpy.asarray(...)"
    elif x is None:
        fix = None
    elif isinstance(getattr(x, "aval", None), AbstractRef):
        fix = "read the reference first: ref[...]"
    else:
        fix = "convert it to an array first"
    return ArgumentError(
        f"{function} requires ndarray or scalar arguments, got {type(x)} at position {position}.",
        function=function,
        argument=f"at position {position}",
        got=x,
        expected="an array or a number",
        fix=fix,
    )


def as_operand(function: str, x: Any, position: int = 0) -> Any:
    """Convert `x` to an array, tracer or scalar that primitives accept."""
    if isinstance(x, Array) or type(x) in _SCALARS:
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        if not dtypes.is_numeric_dtype(x.dtype):
            raise not_an_array(x).attach(function=function)
        if isinstance(x, np.generic) and _thread.settings.x64 is config.ALLOWED:
            return dtypes.convert_numpy(x, dtypes.canonicalize(x.dtype, False))[()]
        return x
    if hasattr(x, "__jax_array__"):
        return apart(x.__jax_array__)
    for kind in _KINDS:  # subclasses, such as IntEnum
        if isinstance(x, kind):
            return kind(x)
    raise refused(function, x, position)


def as_array(function: str, x: Any, position: int = 0) -> Any:
    """Convert `x` to an array or tracer, for functions that return an operand or read its shape."""
    if isinstance(x, Array):
        return x
    return sockets.concrete(as_operand(function, x, position))


def x64() -> bool:
    """Return whether 64-bit dtypes are allowed."""
    return _thread.settings.x64


# --- scalars combined with arrays ----------------------------------------------------------------

_numbers: dict[tuple, tuple] = eager.new_table()
_scalars_like: dict[tuple, tuple] = eager.new_table()
_pairs: dict[tuple, tuple] = eager.new_table()


def scalar_operand(scalar: Any) -> Any:
    """Convert a NumPy scalar to an operand of the same dtype, of 64 bits too where x64 is off."""
    return _scalar_and_array(scalar)[0]


def number(value: Any, kind: type, dtype: Any) -> Any:
    """Convert a Python number of type `kind` to a scalar of `dtype`. Raises if an int does not fit.

    It is a NumPy scalar, which a traced program holds as a literal; where operations are evaluated at
    once it is an array, made once and cached.
    """
    if value or kind is int or kind is bool:
        key = (value, kind, dtype, _thread.settings.x64)
    else:  # 0.0 and -0.0 are equal, but not the same
        key = (repr(value), kind, dtype, _thread.settings.x64)
    found = _numbers.get(key)
    if found is None:
        found = _scalar_and_array(_new_number(value, kind, dtype))
        if len(_numbers) >= _NUMBERS_LIMIT:
            _numbers.clear()
        _numbers[key] = found
    return found[1] if _state.trace is _evaluation else found[0]


def _new_number(value: Any, kind: type, dtype: Any) -> Any:
    if not dtypes.is_numeric_dtype(dtype):
        raise DtypeError(f"the elements of {dtypes.name(dtype)} are not numbers", got=value)
    if kind is int:
        dtypes.check_python_int(value, dtype)
        try:
            return np.asarray(value, dtype)[()]
        except OverflowError:  # an int beyond the greatest float
            return np.asarray(np.inf if value > 0 else -np.inf, dtype)[()]
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(dtype)[()]


def _scalar_like(function: str, a: Any, value: Any, kind: type) -> Any:
    """Convert a Python number to an operand for an array; None if the array must be converted too."""
    if value or kind is int:
        key = (a, kind, value, _thread.settings)
    else:
        key = (a, kind, repr(value), _thread.settings)
    found = _scalars_like.get(key)
    if found is None:
        if kind is int and value < 0 and function in _MODULAR and a.dtype in _UNSIGNED:
            limit = 1 << dtypes.itemsize_bits(a.dtype)
            if -value < limit:
                return _scalar_like(function, a, value + limit, kind)
        found = _new_scalar_like(function, a, value, kind)
        if len(_scalars_like) >= _NUMBERS_LIMIT:
            _scalars_like.clear()
        _scalars_like[key] = found
    return found[1] if _state.trace is _evaluation else found[0]


# Unsigned integers count modulo a power of two. These operations commute with that, so a negative number beside
# them has a right answer: `x + -1` is `x - 1`, and `x * -1` is `-x`.
_MODULAR = frozenset({"add", "multiply", "subtract"})
_UNSIGNED = frozenset(map(np.dtype, ("uint8", "uint16", "uint32", "uint64")))


def _new_scalar_like(function: str, a: Any, value: Any, kind: type) -> tuple:
    scalar = dtypes.canonicalize(kind, x64()), kind is not bool
    dtype, weak = _common_numbers(function, ((a.dtype, a.weak_type), scalar))
    if dtype is not a.dtype:
        return None, None
    if weak:
        same = _python_number(value, dtype)
        return (same, same) if aval_of(same).dtype == dtype else (None, None)
    return _scalar_and_array(_new_number(value, kind, dtype))


def array_like(function: str, a: Any, value: Any) -> Any:
    """Convert a Python number to an array that combines with `a`, in its dtype if that can hold it."""
    _, found = _new_scalar_like(function, a.aval, value, type(value))
    return sockets.concrete(value if found is None else found)


def _scalar_and_array(scalar: Any) -> tuple:
    """Return a scalar for traced functions, and the same as an array, for evaluation."""
    if isinstance(scalar, np.generic) and dtypes.canonicalize(scalar.dtype, x64()) != scalar.dtype:
        # Beside an array that was made while x64 was on. As a scalar it would be cut to 32 bits.
        wide = from_host(np.asarray(scalar))
        return wide, wide
    return scalar, sockets.concrete(scalar)


def number_like(value: Any, x: Any) -> Any:
    """Convert a Python number to a scalar in the dtype of the operand `x`, weak if that is weak."""
    aval = aval_of(x)
    if not aval.weak_type:
        return number(value, type(value), aval.dtype)
    same = _PYTHON[dtypes.kind(aval.dtype)](value)
    if aval_of(same).dtype == aval.dtype:
        return same
    return convert(sockets.concrete(same), aval.dtype, True)


def zero_like(x: Any) -> Any:
    """Zero as a scalar that goes with the operand `x`."""
    return number_like(0, x)


def _common_pair(function: str, a: Any, b: Any, settings: Any) -> tuple:
    """Return the common (dtype, weak) of two arrays."""
    key = (a, b, settings)
    found = _pairs.get(key)
    if found is None:
        found = _common_numbers(function, ((a.dtype, a.weak_type), (b.dtype, b.weak_type)))
        if len(_pairs) >= _NUMBERS_LIMIT:
            _pairs.clear()
        _pairs[key] = found
    return found


# --- promotion -----------------------------------------------------------------------------------

_P = ParamSpec("_P")
_R = TypeVar("_R")


def promotes_freely(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let `function` combine values of unlike dtypes and ranks whatever the user's settings are.

    `numpy_dtype_promotion` and `numpy_rank_promotion` are about the user's operations, and this one's formula is
    not written by the user.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        settings = _thread.settings
        if (
            settings.numpy_dtype_promotion == "standard"
            and settings.numpy_rank_promotion == "allow"
        ):
            return function(*args, **kwargs)
        with config.context(numpy_dtype_promotion="standard", numpy_rank_promotion="allow"):
            return function(*args, **kwargs)

    return call


@functools.lru_cache(maxsize=4096)
def _common(operands: tuple, settings: Any) -> tuple[Any, bool]:
    if not operands:
        raise ArgumentError("an operand is missing")
    return dtypes.promote(operands, settings.x64, settings.numpy_dtype_promotion)


def _typed(x: Any) -> tuple[Any, bool]:
    aval = aval_of(x)
    return aval.dtype, aval.weak_type


def cast(x: Any, dtype: Any, weak: bool) -> Any:
    """Cast an operand to `dtype`; a Python number becomes a scalar of it without any operation."""
    kind = type(x)
    if kind in _SCALARS:
        if weak:  # all operands are weak: a Python number of the right kind stays one
            same = _python_number(x, dtype)
            if aval_of(same).dtype == dtype:
                return same
            return convert(sockets.concrete(same), dtype, True)  # traced under another width
        return number(x, kind, dtype)
    if isinstance(x, np.generic) and not weak:
        return scalar_operand(dtypes.convert_numpy(np.asarray(x), dtype)[()])
    # weakness alone does not matter to an operation whose other operand is strong
    return x if aval_of(x).dtype == dtype else convert(x, dtype, weak)


_PYTHON: dict[str, Any] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def _python_number(x: Any, dtype: Any) -> Any:
    """Convert a Python number to the kind of `dtype`, which it must fit."""
    kind = dtypes.kind(dtype)
    if kind == "i" and type(x) is int:
        dtypes.check_python_int(x, dtype)
    return _PYTHON[kind](x)


def common_dtype(function: str, args: Sequence[Any]) -> tuple[Any, bool]:
    """Return the common (dtype, weak) of operands."""
    return common_of(function, tuple([_typed(x) for x in args]))


def common_of(function: str, typed: tuple) -> tuple[Any, bool]:
    """Return the common (dtype, weak) of several (dtype, weak)."""
    try:
        return _common(typed, _thread.settings)
    except dtypes.errors.TypePromotionError as error:
        raise error.attach(function=function) from None


def _common_numbers(function: str, typed: tuple) -> tuple[Any, bool]:
    """Return the common (dtype, weak) of operands of arithmetic; others than numbers are a TypeError."""
    try:
        return common_of(function, typed)
    except dtypes.errors.TypePromotionError:
        if not any(isinstance(dtype, dtypes.ExtendedDType) for dtype, _ in typed):
            raise
        raise DtypeError(dtypes.no_numbers(typed), function=function, operands=typed) from None


def promote_dtypes(function: str, *args: Any) -> list:
    """Promote the operands to their common dtype."""
    dtype, weak = common_dtype(function, args)
    return [cast(x, dtype, weak) for x in args]


def promote_inexact(function: str, *args: Any) -> list:
    """Promote the operands to their common dtype, or to floating point if that is not inexact."""
    dtype, weak = common_dtype(function, args)
    if not dtypes.is_inexact(dtype):
        if not dtypes.is_numeric_dtype(dtype):
            raise DtypeError(
                f"the elements of {dtypes.name(dtype)} are not numbers",
                function=function,
                got=args[0],
            )
        dtype = inexact(dtype)
    return [cast(x, dtype, weak) for x in args]


def inexact(dtype: Any) -> Any:
    """Return the floating point dtype in which numbers of a dtype are computed with."""
    if dtypes.is_inexact(dtype):
        return dtype
    return dtypes.canonicalize(dtypes.to_inexact(dtype), _thread.settings.x64)


def number_type(x: Any, x64: bool) -> tuple[Any, bool]:
    """Return the (dtype, weak) of a number: of Python's, of NumPy's, or a symbolic size."""
    if dims.is_dim(x):
        return dtypes.default_int(x64), True
    return dtypes.dtype_and_weak(x, x64)


# --- ranks ---------------------------------------------------------------------------------------


def rank_of(function: str, args: Sequence[Any]) -> int:
    """Return the greatest rank of the operands; report rank promotion if the settings ask for it."""
    ranks = {len(shape_of(x)) for x in args}
    ranks.discard(0)
    if len(ranks) > 1:
        _check_rank_promotion(function, args)
    return max(ranks, default=0)


def check_ranks(function: str, args: Sequence[Any]) -> None:
    """Speak up about operands of different ranks if the settings ask for that."""
    if _thread.settings.numpy_rank_promotion != "allow":
        rank_of(function, args)


def align_ranks(function: str, args: Sequence[Any]) -> list:
    """Reshape the operands to equal ranks (or rank 0): leading dimensions of size 1 are added."""
    rank = rank_of(function, args)
    if not rank:
        return list(args)
    if any(0 < len(shape_of(x)) < rank for x in args):
        _check_aligned(function, args, rank)
    return [
        expand_dims(x, tuple(range(rank - x.ndim)))
        if type(x) not in _SCALARS and 0 < x.ndim < rank
        else x
        for x in args
    ]


def _check_aligned(function: str, args: Sequence[Any], rank: int) -> None:
    """Speak up, with the shapes as they were given, if operands of different ranks do not broadcast."""
    shapes = [shape_of(x) for x in args]
    differing = _differing(shapes)
    if differing is None:
        return
    axis, sizes = differing
    padded = [s + (1,) * (rank - len(s)) if s else s for s in shapes]
    low = next(s for s in shapes if 0 < len(s) < rank)
    axes = ", ".join([":"] * len(low) + ["None"] * (rank - len(low)))
    raise ShapeError(
        f"the operands differ in size along axis {axis}: {' and '.join(map(str, sizes))}",
        function=function,
        got=" and ".join(map(str, shapes)),
        expected="equal sizes, or size 1, where shapes are lined up at the last axis",
        fix=f"line them up at the first axis: y[{axes}] for the one of shape {low}"
        if _differing(padded) is None
        else None,
    ).about_operands(tuple(args))


def _differing(shapes: Sequence[tuple]) -> tuple[int, list] | None:
    """Find the last axis (negative) along which shapes do not broadcast, and the sizes there."""
    for axis in range(-1, -max(map(len, shapes)) - 1, -1):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        joint: Any = 1
        for size in sizes:
            joint = dims.broadcast_dim(joint, size)
            if joint is None:
                return axis, sizes
    return None


def _check_rank_promotion(function: str, args: Sequence[Any]) -> None:
    mode = _thread.settings.numpy_rank_promotion
    if mode == "allow":
        return
    shapes = ", ".join(str(np.shape(x)) for x in args)
    text = f"Operands could not be broadcast together for {function} on shapes {shapes} and with the config option numpy_rank_promotion={mode!r}"
    if mode == "raise":
        raise ShapeError(text, fix="give the operands equal ranks, with expand_dims or x[None]")
    warnings.warn(bilingual(text), stacklevel=dtypes.users_level())


# --- operands of the functions -------------------------------------------------------------------


def promoted2(function: str, x: Any, y: Any) -> tuple:
    """Promote two operands to a common dtype."""
    if isinstance(x, Array):
        kind = type(y)
        if kind in _SCALARS:
            number = _scalar_like(function, x.aval, y, kind)
            if number is not None:
                return x, number
        elif isinstance(y, Array):
            a, b = x.aval, y.aval
            if a is b:
                return x, y
            dtype, weak = _common_pair(function, a, b, _thread.settings)
            if a.dtype is not dtype:
                x = convert(x, dtype, weak)
            if b.dtype is not dtype:
                y = convert(y, dtype, weak)
            return x, y
    elif isinstance(y, Array) and type(x) in _SCALARS:
        number = _scalar_like(function, y.aval, x, type(x))
        if number is not None:
            return number, y
    x, y = as_operand(function, x), as_operand(function, y, 1)
    dtype, weak = _common_numbers(function, (_typed(x), _typed(y)))
    return cast(x, dtype, weak), cast(y, dtype, weak)


def operands2(function: str, x: Any, y: Any) -> tuple:
    """Promote two operands to a common dtype and rank. The hot path of every binary operation."""
    if isinstance(x, Array):
        kind = type(y)
        if kind in _SCALARS:
            number = _scalar_like(function, x.aval, y, kind)
            if number is not None:
                return x, number
        elif isinstance(y, Array) and x.aval is y.aval:
            return x, y
    x, y = promoted2(function, x, y)
    if type(x) in _SCALARS or type(y) in _SCALARS or x.ndim == y.ndim or not x.ndim or not y.ndim:
        return x, y
    x, y = align_ranks(function, (x, y))
    return x, y


_INEXACT = frozenset("fc")


def operands2_inexact(function: str, x: Any, y: Any) -> tuple:
    """Promote two operands as `operands2` does, to a floating point (or complex) dtype."""
    if isinstance(x, Array) and dtypes.kind(x.aval.dtype) in _INEXACT:
        return operands2(function, x, y)
    if isinstance(y, Array) and dtypes.kind(y.aval.dtype) in _INEXACT:
        return operands2(function, x, y)
    x, y = as_operand(function, x), as_operand(function, y, 1)
    x, y = align_ranks(function, promote_inexact(function, x, y))
    return x, y


def operand_inexact(function: str, x: Any) -> Any:
    """Promote one operand to floating point if it is not inexact."""
    if isinstance(x, Array) and dtypes.kind(x.aval.dtype) in _INEXACT:
        return x
    (x,) = promote_inexact(function, as_operand(function, x))
    return x


# --- shapes --------------------------------------------------------------------------------------


def dtype_of(x: Any) -> Any:
    """Return the dtype of an operand: that of an array, or that of a Python number."""
    return x.aval.dtype if isinstance(x, Array) else aval_of(x).dtype


def shape_of(x: Any) -> tuple:
    """Return the shape of an operand."""
    return () if type(x) in _SCALARS else x.shape


def broadcast_shapes(function: str, shapes: Sequence[tuple]) -> tuple:
    """Compute the shape that arrays of the given shapes broadcast to; errors show both shapes."""
    first = shapes[0] if shapes else ()
    if all(dims.same_shape(s, first) for s in shapes):
        return tuple(first)
    rank = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    out = []
    for axis in range(rank):
        size = padded[0][axis]
        for s in padded[1:]:
            size = dims.broadcast_dim(size, s[axis]) if size is not None else None
        if size is None:
            sizes = " and ".join(str(s[axis]) for s in padded)
            raise ShapeError(
                f"Incompatible shapes for broadcasting: {', '.join(map(str, shapes))}",
                function=function,
                got=f"sizes {sizes} along axis {axis - rank}",
                expected="equal sizes, or size 1",
            )
        out.append(size)
    return tuple(out)


def broadcast_to(x: Any, shape: tuple) -> Any:
    """Broadcast `x` to `shape` by NumPy's rules."""
    current = shape_of(x)
    if dims.same_shape(current, shape):
        return x
    if not current:
        return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=())
    if len(current) > len(shape) or broadcast_shapes("broadcast_to", [current, shape]) != shape:
        raise ShapeError(
            f"Incompatible shapes for broadcasting: {current} and requested shape {shape}",
            function="broadcast_to",
            got=current,
            expected=f"a shape that broadcasts to {shape}",
        )
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - len(current), len(shape))))


def full_like(x: Any, value: Any) -> Any:
    """Return an array of the type of `x` filled with `value`, divided among devices as `x` is."""
    aval = aval_of(x)
    found, sharding = full_of(aval, value), aval.explicit_sharding
    return found if sharding is None else reshard_p.bind(found, sharding=sharding)


def select(condition: Any, on_true: Any, on_false: Any) -> Any:
    """Select `on_true` where the boolean `condition` holds, else `on_false`, of the same dtype."""
    which, true, false = shape_of(condition), shape_of(on_true), shape_of(on_false)
    if dims.same_shape(true, false) and (not which or dims.same_shape(which, true)):
        return select_n_p.bind(condition, on_false, on_true)
    shape = which or true or false
    if any(s and not dims.same_shape(s, shape) for s in (which, true, false)):
        shape = broadcast_shapes("where", (which, true, false))
        if which and not dims.same_shape(which, shape):
            condition = broadcast_to(condition, shape)
    if not dims.same_shape(true, shape):
        on_true = broadcast_to(on_true, shape)
    if not dims.same_shape(false, shape):
        on_false = broadcast_to(on_false, shape)
    return select_n_p.bind(condition, on_false, on_true)
