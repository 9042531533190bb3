"""Implement universal functions: elementwise functions with reduce, accumulate, at, outer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sagax.numpy._arithmetic as _arithmetic
import sagax.numpy._base as _base
import sagax.numpy._elementary as _elementary
import sagax.numpy._floats as _floats
import sagax.numpy._logic as _logic
import sagax.numpy._reductions as _reductions
from sagax._src.api.tracing_utils import eval_shape
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order.scan import scan
from sagax._src.primitives import cumulative, reductions
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.structural import convert, expand_dims, moveaxis, reshape
from sagax.numpy._arguments import UnsupportedArgumentError, axis_tuple, one_axis, refuse_out
from sagax.numpy._base import select
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import arange
from sagax.numpy._cumulative import cumprod, cumsum
from sagax.numpy._fused import fused_function
from sagax.numpy._selection import where3
from sagax.numpy._vectorize import vectorize


class ufunc:
    """An elementwise function with methods that apply it along arrays.

    Made by `frompyfunc`; `add`, `multiply`, `maximum` and others are of this kind too. `nin` and `nout`
    are the numbers of operands and results; `identity` is what leaves the other operand unchanged.

    >>> snp.add.reduce(snp.arange(5)), snp.add.outer(snp.arange(2), snp.arange(2))
    (Array(10, dtype=int32), Array([[0, 1],
           [1, 2]], dtype=int32))
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None,
        reduceat: Callable[..., Any] | None = None,
    ) -> None:
        self.__name__ = name or getattr(func, "__name__", "ufunc")
        self.__doc__ = func.__doc__
        self.__wrapped__ = func
        self._nin = nin
        self._nout = nout
        self._nargs = nargs or nin
        self._identity = identity
        # functions made from the same parts are equal, so they share traces
        self._parts = (
            func,
            name,
            nin,
            nout,
            nargs,
            identity,
            call,
            reduce,
            accumulate,
            at,
            reduceat,
        )
        self._call = call if call is not None else vectorize(func)
        self._reduce = reduce
        self._accumulate = accumulate
        self._at = at
        self._reduceat = reduceat
        if call is not None:  # of this package: it computes the same each time
            for method in (self.reduce, self.accumulate, self.outer, self.reduceat):
                count = 1 if method in (self.reduce, self.accumulate) else 2
                setattr(self, method.__name__, fused_function(count)(method))

    @property
    def nin(self) -> int:
        """Return the number of operands."""
        return self._nin

    @property
    def nout(self) -> int:
        """Return the number of results."""
        return self._nout

    @property
    def nargs(self) -> int:
        """Return the number of arguments."""
        return self._nargs

    @property
    def identity(self) -> Any:
        """Return the value that leaves the other operand unchanged, or None."""
        return self._identity

    def __eq__(self, other: object) -> bool:
        return self._parts == other._parts if isinstance(other, ufunc) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"<numpy.ufunc '{self.__name__}'>"

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
        """Apply the function elementwise."""
        if out is not None or where is not None:
            self._refuse(out, where)
        return self._call(*args)

    def _refuse(self, out: Any, where: Any) -> None:
        refuse_out(self.__name__, out)
        if where is not None:
            raise UnsupportedArgumentError(
                f"The 'where' argument to numpy.{self.__name__} is not supported.",
                fix="choose between the results: where(condition, f(x), x)",
            )

    def _check_binary(self, method: str, a: Any) -> Any:
        if self.nin != 2 or self.nout != 1:
            raise ArgumentValueError(
                f"{method} only supported for binary ufuncs returning a single value",
                function=f"{self.__name__}.{method}",
                got=f"{self.nin} operands, {self.nout} results",
            )
        return _base.as_array(f"{self.__name__}.{method}", a)

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """Reduce `a` along `axis` (one, several, or None: all) with the function.

        >>> snp.multiply.reduce(snp.array([2, 3, 4]))
        Array(24, dtype=int32)
        """
        x = self._check_binary("reduce", a)
        refuse_out(f"{self.__name__}.reduce", out)
        if where is not None and self.identity is None and initial is None:
            raise ArgumentValueError(
                f"reduction operation {self.__name__!r} does not have an identity, so to use a where mask "
                "one has to specify 'initial'.",
                function=f"{self.__name__}.reduce",
            )
        axes = axis_tuple(f"{self.__name__}.reduce", axis, x.ndim)
        return (self._reduce or self._fold)(
            x, axis=axes, dtype=dtype, keepdims=keepdims, initial=initial, where=where
        )

    def _fold(
        self, x: Any, axis: tuple, dtype: Any, keepdims: bool, initial: Any, where: Any
    ) -> Array:
        """Reduce one element after the other."""
        shape = x.shape
        reduced_shape = tuple([1 if i in axis else s for i, s in enumerate(shape)])
        rest = tuple([s for i, s in enumerate(shape) if i not in axis])
        items = self._items(x if dtype is None else asarray(x, dtype=dtype), axis)
        dtype = self._result_dtype(x, dtype)
        mask = (
            None if where is None else self._items(_base.broadcast_to(asarray(where), shape), axis)
        )
        if initial is None and mask is not None:
            initial = self.identity
        start: Any = 0
        if initial is not None:
            carry = _base.broadcast_to(asarray(initial, dtype=dtype), rest)
        elif items.shape[0] == 0:
            if self.identity is None:
                raise ArgumentValueError(
                    f"zero-size array to reduction operation {self.__name__} which has no identity",
                    function=f"{self.__name__}.reduce",
                    fix="pass initial",
                )
            carry = _base.broadcast_to(asarray(self.identity, dtype=dtype), rest)
        else:
            carry, start = convert(items[0], dtype), 1

        def step(carry: Any, item: Any) -> tuple:
            x, selected = item
            new = convert(self._next(carry, x), dtype)
            return (new if selected is None else select(selected, new, carry)), None

        total, _ = scan(step, carry, (items[start:], None if mask is None else mask[start:]))
        return reshape(total, reduced_shape) if keepdims else total

    @staticmethod
    def _items(x: Any, axes: tuple) -> Any:
        """Move the axes of `x` to the front, as one, in the order of their elements."""
        rest = [i for i in range(x.ndim) if i not in axes]
        x = x.transpose(*axes, *rest) if x.ndim else x
        return x.reshape(math.prod(x.shape[: len(axes)]), *x.shape[len(axes) :])

    def _result_dtype(self, x: Any, dtype: Any) -> Any:
        if dtype is not None:
            return asarray(0, dtype=dtype).dtype
        return eval_shape(self._call, x, x).dtype

    def _next(self, result: Any, element: Any) -> Any:
        """Combine a result with the next element. That their dtypes differ is not the user's promotion."""
        same = result.dtype == element.dtype
        return (self._call if same else _base.promotes_freely(self._call))(result, element)

    def accumulate(self, a: Any, axis: Any = 0, dtype: Any = None, out: None = None) -> Array:
        """Compute the intermediate results of reducing `a` along `axis`.

        >>> snp.multiply.accumulate(snp.array([2, 3, 4]))
        Array([ 2,  6, 24], dtype=int32)
        """
        x = self._check_binary("accumulate", a)
        refuse_out(f"{self.__name__}.accumulate", out)
        if axis is None or not x.ndim:
            x, axis = x.reshape(-1), 0
        axis = one_axis(f"{self.__name__}.accumulate", axis, x.ndim)
        if self._accumulate is not None:
            return self._accumulate(x, axis=axis, dtype=dtype)
        if dtype is not None:
            x = asarray(x, dtype=dtype)
        dtype = self._result_dtype(x, dtype)
        items = moveaxis(x, axis, 0)
        if items.shape[0] == 0:
            return convert(x, dtype)

        def step(carry: Any, item: Any) -> tuple:
            new = convert(self._next(carry, item), dtype)
            return new, new

        first = convert(items[0], dtype)
        _, later = scan(step, first, items[1:])
        return moveaxis(_join(first, later), 0, axis)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Array:
        """Copy `a` with the function applied at `indices` (with operands `b`), repeated ones too.

        Arrays cannot be changed in place: pass inplace=False.

        >>> snp.add.at(snp.zeros(3), snp.array([0, 0, 2]), 1.0, inplace=False)
        Array([2., 0., 1.], dtype=float32)
        """
        if inplace:
            raise UnsupportedArgumentError(
                f"numpy.{self.__name__}.at cannot work in place, since arrays are immutable.",
                fix=f"use the changed copy: a = {self.__name__}.at(a, indices, b, inplace=False)",
            )
        x = _base.as_array(f"{self.__name__}.at", a)
        if (self.nin == 1) != (b is None):
            raise ArgumentError(
                function=f"{self.__name__}.at", argument="b", got=b,
                expected="nothing, for a function of one operand" if self.nin == 1 else "second operands",
            )  # fmt: skip
        if self._at is not None:
            return self._at(x, indices, b)
        flat_indices = arange(x.size).reshape(x.shape)[indices]
        flat = x.reshape(-1)
        if b is None:
            values = None
        else:
            values = _base.broadcast_to(asarray(b), flat_indices.shape).reshape(-1)

        def step(flat: Any, item: Any) -> tuple:
            index, value = item
            old = flat[index]
            new = self._call(old) if value is None else self._call(old, value)
            return flat.at[index].set(convert(new, flat.dtype)), None

        flat, _ = scan(step, flat, (flat_indices.reshape(-1), values))
        return flat.reshape(x.shape)

    def outer(self, A: Any, B: Any, /) -> Array:
        """Apply the function to every pair of elements of A and B; shape A.shape + B.shape.

        >>> snp.maximum.outer(snp.arange(2), snp.arange(3))
        Array([[0, 1, 2],
               [1, 1, 2]], dtype=int32)
        """
        x = self._check_binary("outer", A)
        y = _base.as_array(f"{self.__name__}.outer", B, 1)
        return self._call(x.reshape(*x.shape, *(1,) * y.ndim), y.reshape(*(1,) * x.ndim, *y.shape))

    def reduceat(
        self, a: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Reduce `a` over segments of `axis` that begin at `indices`.

        An empty segment gives its first element. A part ends where the next begins, if that is
        further on.

        >>> snp.add.reduceat(snp.arange(5), snp.array([0, 3]))
        Array([3, 7], dtype=int32)
        """
        x = self._check_binary("reduceat", a)
        refuse_out(f"{self.__name__}.reduceat", out)
        axis = one_axis(f"{self.__name__}.reduceat", axis, x.ndim)
        begin = asarray(indices)
        if begin.ndim != 1:
            raise ArgumentValueError.about(
                f"{self.__name__}.reduceat", "indices", begin, "a vector"
            )
        if self._reduceat is not None:
            return self._reduceat(x, begin, axis, dtype)
        dtype = self._result_dtype(x, dtype)
        items = moveaxis(x, axis, 0)
        size = items.shape[0]
        following = _join_last(begin[1:], asarray(size, dtype=begin.dtype))
        end = where3(following > begin, following, begin + 1)
        wide = (begin.shape[0], *items.shape[1:])
        carry = convert(_base.broadcast_to(items[0], wide), dtype)
        column = (begin.shape[0], *(1,) * (items.ndim - 1))
        begin, end = begin.reshape(column), end.reshape(column)

        def step(carry: Any, item: Any) -> tuple:
            index, value = item
            value = convert(_base.broadcast_to(value, wide), dtype)
            new = where3(index == begin, value, convert(self._next(carry, value), dtype))
            return where3((index >= begin) & (index < end), new, carry), None

        total, _ = scan(step, carry, (arange(size, dtype=begin.dtype), items))
        return moveaxis(total, 0, axis)


def _join(first: Any, later: Any) -> Any:
    from_first = expand_dims(first, (0,))
    return concatenate([from_first, later], 0)


def _join_last(x: Any, last: Any) -> Any:
    return concatenate([x, expand_dims(last, (0,))], 0)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Create a `ufunc` of a function of `nin` scalars with `nout` results.

    >>> f = snp.frompyfunc(lambda a, b: 2 * a + b, 2, 1, identity=0)
    >>> f.reduce(snp.arange(4))
    Array(11, dtype=int32)
    """
    for name, value in (("nin", nin), ("nout", nout)):
        if not isinstance(value, int) or value < 1:
            raise ArgumentValueError.about("frompyfunc", name, value, "a positive int")
    return ufunc(func, nin, nout, identity=identity)


# --- the universal functions of the namespace ------------------------------------------------------


def _cumulated(primitive_function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def accumulate(x: Any, axis: int, dtype: Any) -> Array:
        if dtype is not None:
            x = x.astype(dtype)
        return primitive_function(x, axis)

    accumulate.__name__ = name
    return accumulate


def _scattered(method: str) -> Callable[..., Any]:
    def at(x: Any, indices: Any, b: Any) -> Array:
        return getattr(x.at[indices], method)(b)

    return at


def _bits(primitive: Any, identity: int) -> Callable[..., Any]:
    """Reduce an operation on bits, whose identity has no bit set (0) or all (-1)."""

    def reduce(x: Any, axis: tuple, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Array:
        if dtype is not None:
            x = x.astype(dtype)
        neutral = asarray(identity).astype(x.dtype)
        if where is not None:
            x = where3(where, x, neutral)
        out = primitive.bind(x, axes=axis)
        if initial is not None:
            out = _BITS[primitive](out, asarray(initial, dtype=x.dtype))
        return reshape(out, _reduced_shape(x, axis)) if keepdims else out

    return reduce


_BITS = {
    reductions.reduce_and_p: _logic.bitwise_and,
    reductions.reduce_or_p: _logic.bitwise_or,
    reductions.reduce_xor_p: _logic.bitwise_xor,
}


def _reduced_shape(x: Any, axes: tuple) -> tuple:
    return tuple([1 if i in axes else s for i, s in enumerate(x.shape)])


def _truth(reduction: Callable[..., Any], combine: Callable[..., Any]) -> Callable[..., Any]:
    """Reduce a logical operation; the result is boolean."""

    def reduce(x: Any, axis: tuple, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Array:
        out = reduction(x, axis=axis, keepdims=keepdims, where=where)
        if initial is not None:
            out = combine(out, initial)
        return out if dtype is None else out.astype(dtype)

    return reduce


def _odd(x: Any, axis: tuple, keepdims: bool, where: Any) -> Array:
    """Return whether an odd number of elements is true."""
    true = _logic.not_equal(x, 0)
    if where is not None:
        true = _logic.logical_and(true, where)
    out = reductions.reduce_xor_p.bind(true, axes=axis)
    return reshape(out, _reduced_shape(x, axis)) if keepdims else out


def _odd_so_far(x: Any, axis: int, dtype: Any) -> Array:
    given = x if dtype is None else x.astype(dtype)
    true = _logic.not_equal(given, 0).astype(dtypes.int32)
    odd = (cumsum(true, axis) & 1).astype(bool)  # where the sum wraps, it stays odd or even
    if dtype is None or odd.dtype == given.dtype:
        return odd
    is_first = arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - 1 - axis)) == 0
    return where3(is_first, given, odd.astype(dtype))  # the first element stays as it is


def _extreme(reduction: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, axis: tuple, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Array:
        x = x if dtype is None else x.astype(dtype)
        return reduction(x, axis=axis, keepdims=keepdims, initial=initial, where=where)

    return reduce


def _log_of_sum(combine: Callable[..., Any], power: Any, logarithm: Any) -> Callable[..., Any]:
    """Reduce the logarithm of a sum of powers, relative to the greatest, to avoid overflow."""

    def reduce(x: Any, axis: tuple, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Array:
        (x,) = _base.promote_inexact("logaddexp.reduce", x if dtype is None else x.astype(dtype))
        top = _reductions.max(x, axis=axis, keepdims=True, initial=-math.inf, where=where)
        top = where3(_floats.isfinite(top), top, 0.0)
        total = _reductions.sum(power(x - top), axis=axis, keepdims=True, where=where)
        out = logarithm(total) + top
        if initial is not None:
            out = combine(out, initial)
        return (
            out
            if keepdims
            else reshape(out, tuple([s for i, s in enumerate(x.shape) if i not in axis]))
        )

    return reduce


def _universal(function: Callable[..., Any], nin: int = 2, **rest: Any) -> ufunc:
    return ufunc(function, nin, 1, name=function.__name__, call=function, **rest)


add = _universal(
    _arithmetic.add, identity=0, reduce=_reductions.sum, accumulate=cumsum, at=_scattered("add")
)
subtract = _universal(_arithmetic.subtract, at=_scattered("subtract"))
multiply = _universal(
    _arithmetic.multiply,
    identity=1,
    reduce=_reductions.prod,
    accumulate=cumprod,
    at=_scattered("multiply"),
)
negative = _universal(_arithmetic.negative, 1)
maximum = _universal(
    _arithmetic.maximum,
    reduce=_extreme(_reductions.max),
    accumulate=_cumulated(cumulative.cummax, "maximum"),
    at=_scattered("max"),
)
minimum = _universal(
    _arithmetic.minimum,
    reduce=_extreme(_reductions.min),
    accumulate=_cumulated(cumulative.cummin, "minimum"),
    at=_scattered("min"),
)
bitwise_and = _universal(_logic.bitwise_and, identity=-1, reduce=_bits(reductions.reduce_and_p, -1))
bitwise_or = _universal(_logic.bitwise_or, identity=0, reduce=_bits(reductions.reduce_or_p, 0))
bitwise_xor = _universal(_logic.bitwise_xor, identity=0, reduce=_bits(reductions.reduce_xor_p, 0))
logical_and = _universal(
    _logic.logical_and, identity=True, reduce=_truth(_reductions.all, _logic.logical_and)
)
logical_or = _universal(
    _logic.logical_or, identity=False, reduce=_truth(_reductions.any, _logic.logical_or)
)
logical_xor = _universal(
    _logic.logical_xor,
    identity=False,
    reduce=_truth(_odd, _logic.logical_xor),
    accumulate=_odd_so_far,
)
logaddexp = _universal(
    _elementary.logaddexp,
    identity=-math.inf,
    reduce=_log_of_sum(_elementary.logaddexp, _elementary.exp, _elementary.log),
)
logaddexp2 = _universal(
    _elementary.logaddexp2,
    identity=-math.inf,
    reduce=_log_of_sum(_elementary.logaddexp2, _elementary.exp2, _elementary.log2),
)
