"""Define reductions: sums, products, extrema, logical ones, argmin and argmax, and any monoid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import trees, tuning
from sagax._src.argument_checks.checks import callable, canonical_axis, several
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import COMBINING, REDUCTION, Pass, mask_filled, operand_size
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32, u8
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero, set_zero_derivative
from sagax._src.core.trace import is_concrete
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import arithmetic as ar
from sagax._src.primitives import comparison
from sagax._src.primitives import structural as s
from sagax._src.primitives.bitwise import bitwise_or
from sagax._src.primitives.complex_numbers import complex as complex_of_parts
from sagax._src.primitives.complex_numbers import imag
from sagax._src.primitives.complex_numbers import real as real_part
from sagax._src.primitives.makers import Accepts, integer_or_bool, number, number_or_bool, real
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.structural import batch_reduction, reduce_sum, reduce_sum_p

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import slicing


reduce_sum_p.samples = [
    Sample(f32(3, 4), axes=(0,)),
    Sample(f32(3, 4), axes=(0, 1)),
    Sample(c64(2, 3), axes=(1,)),
    Sample(i32(4), axes=(0,)),
    Sample(f32(2, 3), axes=()),
    Sample(f32(0, 3), axes=(0,)),
]


def axes_of(operand: Any, axes: Sequence[int] | int | None, function: str) -> tuple[int, ...]:
    """Convert `axes` to sorted non-negative ints; None means all."""
    ndim = aval_of(operand).ndim
    if axes is None:
        return tuple(range(ndim))
    if isinstance(axes, (int, np.integer)):
        axes = (int(axes),)
    axes = several(function, "axes", axes, "an int, or a sequence of ints")
    found = tuple(sorted([canonical_axis(a, ndim, function, "axes") for a in axes]))
    if len(set(found)) != len(found):
        raise ArgumentValueError(
            f"duplicate value in 'axis': {tuple(axes)}",
            function=function,
            argument="axes",
            got=tuple(axes),
            expected="axes without repetition",
        )
    return found


def _reduction(
    name: str,
    accepts: Accepts,
    reference: Callable,
    combine: str,
    neutral: Callable[[Any], Any],
    exact: Any,
    samples: Sequence[Any],
    **answers: Any,
) -> Primitive:
    """Define a primitive that reduces `axes` by an XLA operation with its neutral element.

    Lowering marks extrema with `shifts` that need not look for NaNs (lowering/shifting_extrema.py).
    """
    mask = mask_filled("axes", neutral)
    p = Primitive(name, exact=exact, samples=samples, family=REDUCTION, mask_rule=mask, **answers)

    @p.abstract
    def _(x: ShapedArray, *, axes: tuple, shifts: bool = False) -> ShapedArray:
        if not accepts.test(x.dtype):
            raise DtypeError(
                f"the operand has dtype {dtypes.name(x.dtype)}",
                function=name,
                got=x,
                expected=accepts.words,
            )
        return intern_aval(s.reduced_shape(x.shape, axes, name), x.dtype, x.weak_type, None)

    @p.reference
    def _(x: np.ndarray, *, axes: tuple, shifts: bool = False) -> np.ndarray:
        return reference(x, axes)

    @p.batch
    def _(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple, **params: Any
    ) -> tuple:
        return batch_reduction(p, args[0], in_dims[0], axes, params)

    @p.lower
    def _(b: Any, x: Any, *, axes: tuple, shifts: bool = False) -> Any:
        if p.composite_rule is not None and dtype_predicates.is_complex(x.dtype):
            return NotImplemented  # the composite, of real reductions
        extremum = combine in ("maximum", "minimum") and not shifts
        reduce = b.reduce_extremum if extremum else b.reduce
        return reduce(combine, x, neutral(x.aval.dtype), axes)

    return p


def _extremum(ufunc: Any, pick: int) -> Callable:
    def reference(x: np.ndarray, axes: tuple) -> np.ndarray:
        if dtype_predicates.is_complex(x.dtype):
            return ufunc.reduce(x, axes, initial=worst(x.dtype, largest=pick == 0))
        out = ufunc.reduce(x, axes, initial=dtype_predicates.bounds(x.dtype)[pick])
        if np.count_nonzero(out) != out.size and dtype_predicates.is_floating(x.dtype):
            # +0 is greater than -0: the result is a negative (or positive) zero only without the other
            signs = np.signbit(x) if pick else ~np.signbit(x)
            right = np.logical_or.reduce(signs & (x == 0), axes)
            zero = x.dtype.type(-0.0 if pick else 0.0)
            out = np.where((out == 0) & ~right, -zero, np.where(out == 0, zero, out))
        return out

    return reference


def _exact_unless_complex(avals: tuple) -> bool:
    return not dtypes.is_complex(avals[0].dtype)


def worst(dtype: Any, *, largest: bool) -> Any:
    """Return the neutral element of an extremum."""
    if dtype_predicates.is_complex(dtype):
        return dtype.type(complex(-np.inf, -np.inf) if largest else complex(np.inf, np.inf))
    return dtype_predicates.bounds(dtype)[0 if largest else 1]


def complex_extremum(x: Any, reduce: Callable, expand: Callable, *, largest: bool) -> Any:
    """Reduce by real parts, then by the imaginary parts of those with the extreme real part.

    `reduce` reduces a real array, `expand` gives the result the shape of `x`.
    """
    re, im = real_part(x), imag(x)
    aval = aval_of(re)
    found = reduce(re)
    # NaN equals nothing: then no element is extreme, and all imaginary parts count
    chosen = bitwise_or(comparison.eq(re, expand(found)), comparison.ne(re, re))
    fill = s.full_of(aval, worst(aval.dtype, largest=largest))
    return complex_of_parts(found, reduce(select_n(chosen, fill, im)))


_extremum_samples = [
    Sample(f32(3, 4, unique=True), axes=(0,)),
    Sample(f32(3, 4, unique=True), axes=(0, 1)),
    Sample(i32(4), axes=(0,)),
    Sample(u8(2, 3), axes=(1,)),
    Sample(boolean(4), axes=(0,)),
    Sample(c64(3, 4), axes=(0,)),
    Sample(np.array([2 - 1j, 1 + 9j, 2 + 3j, 2 + 0j], np.complex64), axes=(0,), derivatives=False),
]
reduce_max_p = _reduction(
    "reduce_max",
    number_or_bool,
    _extremum(np.maximum, 0),
    "maximum",
    lambda d: worst(d, largest=True),
    _exact_unless_complex,
    _extremum_samples,
    creates_nan=False,
    rewritten_by=Pass.EXTREMA,
)
reduce_min_p = _reduction(
    "reduce_min",
    number_or_bool,
    _extremum(np.minimum, 1),
    "minimum",
    lambda d: worst(d, largest=False),
    _exact_unless_complex,
    _extremum_samples,
    creates_nan=False,
    rewritten_by=Pass.EXTREMA,
)


def _restored(out: Any, aval: ShapedArray, axes: tuple) -> Any:
    """Give a result the dimensions that were reduced, with size 1."""
    return s.reshape(out, tuple(1 if i in axes else d for i, d in enumerate(aval.shape)))


def _extremum_show(*, axes: tuple, shifts: bool = False) -> dict:
    return {"axes": axes, "out_sharding": None}


def _extremum_jvp(p: Primitive) -> None:
    def jvp(
        primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple, **params: Any
    ) -> tuple:
        (x,), (t,) = primals, tangents
        out = p.bind(x, axes=axes, **params)
        aval = aval_of(x)
        if is_zero(t) or not dtypes.is_inexact(aval.dtype):
            return out, Zero.like(aval_of(out))
        # where several elements attain the extremum, each gets an equal share
        chosen = s.convert(comparison.eq(x, _restored(out, aval, axes)), aval.dtype)
        count = reduce_sum(chosen, axes)
        return out, ar.div(reduce_sum(ar.mul(t, chosen), axes), count)

    p.jvp_rule = jvp
    p.show_rule = _extremum_show

    @p.composite  # of complex numbers
    def _(x: Any, *, axes: tuple, shifts: bool = False) -> Any:
        return complex_extremum(
            x,
            lambda v: p.bind(v, axes=axes),
            lambda v: _restored(v, aval_of(x), axes),
            largest=p is reduce_max_p,
        )


_extremum_jvp(reduce_max_p)
_extremum_jvp(reduce_min_p)


def _bitwise(ufunc: Any, logical: Any) -> Callable:
    def reference(x: np.ndarray, axes: tuple) -> np.ndarray:
        return (logical if x.dtype == np.bool_ else ufunc).reduce(x, axis=axes)

    return reference


_bit_samples = [
    Sample(boolean(3, 4), axes=(0,)),
    Sample(i32(3, 4), axes=(0, 1)),
    Sample(u8(5), axes=(0,)),
]
reduce_and_p = _reduction(
    "reduce_and",
    integer_or_bool,
    _bitwise(np.bitwise_and, np.logical_and),
    "and",
    lambda d: np.array(-1).astype(d)[()] if d != np.bool_ else True,
    True,
    _bit_samples,
)
reduce_or_p = _reduction(
    "reduce_or",
    integer_or_bool,
    _bitwise(np.bitwise_or, np.logical_or),
    "or",
    lambda d: 0,
    True,
    _bit_samples,
)
reduce_xor_p = _reduction(
    "reduce_xor",
    integer_or_bool,
    _bitwise(np.bitwise_xor, np.logical_xor),
    "xor",
    lambda d: 0,
    True,
    _bit_samples,
)


set_zero_derivative(reduce_and_p, reduce_or_p, reduce_xor_p)


def _multiplied_in_order(avals: tuple) -> bool:
    """Accept integers, whose products are independent of the order, and short real reductions."""
    (x,) = avals
    if x.dtype in (np.float32, np.float64):
        return x.size <= s.SUMMED_IN_ORDER
    return not dtypes.is_inexact(x.dtype)


def _prod_reference(x: np.ndarray, axes: tuple) -> np.ndarray:
    if dtype_predicates.is_narrow_float(x.dtype):
        return np.prod(x.astype(np.float32), axis=axes).astype(x.dtype)
    if _multiplied_in_order((x,)) and x.dtype.kind == "f" and x.size:
        remaining = [i for i in range(x.ndim) if i not in axes]
        rows = np.transpose(x, (*remaining, *axes)).reshape(*[x.shape[i] for i in remaining], -1)
        return np.multiply.accumulate(rows, -1)[..., -1]
    return np.prod(x, axis=axes, dtype=x.dtype)


reduce_prod_p = _reduction(
    "reduce_prod", number, _prod_reference, "multiply", lambda d: 1, _multiplied_in_order,
    [Sample(f32(3, 4), axes=(0,)), Sample(f32(5), axes=(0,)), Sample(c64(3), axes=(0,)), Sample(i32(4), axes=(0,)),
     Sample(f32(2, 3), axes=(0, 1))],
    wide_rule=lambda x, *, axes: x.prod(axis=axes),
)  # fmt: skip


@reduce_prod_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple) -> tuple:
    (x,), (t,) = primals, tangents
    out = reduce_prod_p.bind(x, axes=axes)
    if is_zero(t):
        return out, Zero.like(aval_of(out))
    # Multiply pairs, and their tangents by the product rule: no division, so zeros are no special case.
    aval = aval_of(x)
    remaining = tuple(i for i in range(aval.ndim) if i not in axes)
    n = dims.size(tuple(aval.shape[a] for a in axes))
    shape = (n, *(aval.shape[i] for i in remaining))
    x, t = (s.reshape(s.transpose(v, (*axes, *remaining)), shape) for v in (x, t))
    if n == 0:
        return out, Zero.like(aval_of(out))
    while n > 1:
        half = n // 2
        a, b, c = (
            slicing.slice_in_dim(x, i, j) for i, j in ((0, half), (half, 2 * half), (2 * half, n))
        )
        ta, tb, tc = (
            slicing.slice_in_dim(t, i, j) for i, j in ((0, half), (half, 2 * half), (2 * half, n))
        )
        x, t = ar.mul(a, b), ar.add(ar.mul(ta, b), ar.mul(tb, a))
        if n % 2:
            x, t = concatenate([x, c], 0), concatenate([t, tc], 0)
        n = half + n % 2
    return out, s.reshape(t, aval_of(out).shape)


# argmin and argmax ---------------------------------------------------------------------------------


def _position(name: str, numpy: Any, direction: str) -> Primitive:
    p = Primitive(
        name, exact=True, family=REDUCTION,
        samples=[Sample(f32(3, 4), axes=(1,), index_dtype=np.dtype(np.int32)), Sample(i32(5), axes=(0,), index_dtype=np.dtype(np.int32)),
                 Sample(boolean(4), axes=(0,), index_dtype=np.dtype(np.uint8))],
    )  # fmt: skip

    @p.abstract
    def _(x: ShapedArray, *, axes: tuple, index_dtype: Any) -> ShapedArray:
        (axis,) = axes
        if not real.test(x.dtype):
            raise DtypeError.about(name, "operand", x, "real numbers or booleans")
        if not dtype_predicates.is_integer(index_dtype):
            raise DtypeError(
                f"{name} requires an integer index_dtype", function=name, argument="index_dtype", got=dtypes.name(index_dtype),
                expected="an integer dtype",
            )  # fmt: skip
        if x.shape[axis] == 0:
            raise ArgumentValueError(
                f"attempt to get {name} of an empty sequence", function=name, argument="operand", got=x,
                expected=f"at least one element along axis {axis}",
            )  # fmt: skip
        return intern_aval(s.reduced_shape(x.shape, axes, name), index_dtype, False, None)

    @p.reference
    def _(x: np.ndarray, *, axes: tuple, index_dtype: Any) -> np.ndarray:
        wide = x.astype(np.float32) if dtype_predicates.is_narrow_float(x.dtype) else x
        return numpy(wide, axis=axes[0]).astype(index_dtype)

    @p.batch
    def _(
        axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, axes: tuple, index_dtype: Any
    ) -> tuple:
        return batch_reduction(p, args[0], in_dims[0], axes, {"index_dtype": index_dtype})

    @p.lower
    def _(b: Any, x: Any, *, axes: tuple, index_dtype: Any) -> Any:
        (axis,) = axes
        if b.may_rewrite and _in_two_reductions(x.aval, axis, index_dtype):
            return _first_position(b, x, axis, direction)
        value, index = x.aval.update(shape=()), intern_aval((), index_dtype, False, None)
        low, high = dtype_predicates.bounds(x.aval.dtype)
        positions = b.iota(intern_aval(x.aval.shape, index_dtype, False, None), axis)

        def better(v: Any, i: Any, w: Any, j: Any) -> list:
            first = b.compare(direction, v, w)
            if dtype_predicates.is_floating(x.aval.dtype):  # NaN wins over any number
                first = b.op("or", [first, b.compare("NE", v, v)], first.aval)
            tie = b.op("and", [b.compare("EQ", v, w), b.compare("LT", i, j)], first.aval)
            return [b.select(first, v, w), b.select(b.op("or", [first, tie], first.aval), i, j)]

        start = [
            b.constant(low if direction == "GT" else high, x.aval.dtype),
            b.constant(0, index_dtype),
        ]
        body = b.region([value, index, value, index], better)
        outs = [x.aval.update(shape=b.out.shape), b.out]
        return b.op(
            "reduce", [x, positions, *start], outs, regions=[body], dimensions=b.ints(axes)
        )[1]

    set_zero_derivative(p)
    return p


def _in_two_reductions(x: ShapedArray, axis: int, index_dtype: Any) -> bool:
    if not dims.is_static(x.shape) or x.dtype == np.bool_ or np.dtype(index_dtype).itemsize < 4:
        return False
    if x.shape[axis] >= 1 << 30:
        return False
    return x.shape[axis] >= tuning.ARGMAX_MIN_LENGTH and x.size >= tuning.ARGMAX_MIN_ELEMENTS


def _first_position(b: Any, x: Any, axis: int, direction: str) -> Any:
    """Append the search for an extremum and then for its first position: SIMD vectors take both, but no pairs."""
    x = b.op("optimization_barrier", [x], x.aval)
    low, high = dtype_predicates.bounds(x.aval.dtype)
    best_aval = b.out.with_dtype(x.aval.dtype)
    name, worst = ("maximum", low) if direction == "GT" else ("minimum", high)
    best = _reduced_by(b, name, x, worst, axis, best_aval)
    along = [d for d in range(x.aval.ndim) if d != axis]
    best = b.op("broadcast_in_dim", [best], x.aval, broadcast_dimensions=b.ints(along))
    is_best = b.compare("EQ", x, best)
    position = b.iota(intern_aval(x.aval.shape, b.out.dtype, False, None), axis)
    length = x.aval.shape[axis]
    if not dtype_predicates.is_floating(x.aval.dtype):
        position = b.select(is_best, position, b.full(length, position.aval))
        return _reduced_by(b, "minimum", position, length, axis, b.out)
    # NaN wins over any number: the extremum may be NaN or not, and numbers stand behind all positions of NaN
    behind = b.op("add", [position, b.full(length, position.aval)], position.aval)
    behind = b.select(is_best, behind, b.full(2 * length, position.aval))
    position = b.select(b.compare("NE", x, x), position, behind)
    found = _reduced_by(b, "minimum", position, 2 * length, axis, b.out)
    length = b.full(length, b.out)
    moved = b.op("subtract", [found, length], b.out)
    return b.select(b.compare("LT", found, length), found, moved)


def _reduced_by(b: Any, name: str, x: Any, start: Any, axis: int, out: ShapedArray) -> Any:
    scalar = intern_aval((), x.aval.dtype, False, None)
    body = b.region([scalar, scalar], lambda v, w: [b.op(name, [v, w], scalar)])
    init = b.constant(start, x.aval.dtype)
    return b.op("reduce", [x, init], [out], regions=[body], dimensions=b.ints((axis,)))[0]


argmax_p = _position("argmax", np.argmax, "GT")
argmin_p = _position("argmin", np.argmin, "LT")


# any other monoid ------------------------------------------------------------------------------------

reduce_p = Primitive(
    "reduce", family=COMBINING, cost=operand_size, multiple_results=True, is_higher_order=True
)


@reduce_p.abstract
def _(*avals: ShapedArray, jaxpr: ClosedJaxpr, dimensions: tuple, computation: Any) -> list:
    values, inits = avals[: len(avals) // 2], avals[len(avals) // 2 :]
    for i, (x, init) in enumerate(zip(values, inits, strict=True)):
        if init.shape != () or init.dtype != x.dtype:
            raise ShapeError.about(
                "reduce", f"init_values[{i}]", init, f"a scalar of dtype {dtypes.name(x.dtype)}"
            )
        if not dims.same_shape(x.shape, values[0].shape):
            raise ShapeError.about(
                "reduce", f"operands[{i}]", x, f"shape {values[0].shape}, as operands[0]"
            )
    shape = s.reduced_shape(values[0].shape, dimensions, "reduce")
    return [intern_aval(shape, x.dtype, x.weak_type, None) for x in values]


@reduce_p.mask
def _(trace: Any, primitive: Any, args: tuple, params: dict, out: Any) -> Any:
    """Fill unselected elements with the initial value, which is the neutral element."""
    xs, inits = args[: len(args) // 2], args[len(args) // 2 :]
    filled = [
        trace.filled(x, params["dimensions"], init) for x, init in zip(xs, inits, strict=True)
    ]
    return trace.bind(primitive, (*filled, *inits), params, out)


@reduce_p.reference
def _(*xs: np.ndarray, jaxpr: ClosedJaxpr, dimensions: tuple, computation: Any) -> list:
    values, inits = xs[: len(xs) // 2], xs[len(xs) // 2 :]
    remaining = [i for i in range(values[0].ndim) if i not in dimensions]
    shape = [values[0].shape[i] for i in remaining]
    flat = [np.transpose(v, (*dimensions, *remaining)).reshape(-1, *shape) for v in values]
    out = [np.broadcast_to(i, shape).copy() for i in inits]
    for index in np.ndindex(*shape):
        acc = [o[index] for o in out]
        for k in range(flat[0].shape[0]):
            acc = eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *acc, *[f[(k, *index)] for f in flat])
        for o, a in zip(out, acc, strict=True):
            o[index] = a
    return out


@reduce_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, dimensions: tuple, **params: Any
) -> tuple:
    n = len(args) // 2
    if any(d is not None for d in in_dims[n:]):
        raise ArgumentError(
            "initial values that differ from example to example are not supported under vmap", function="reduce",
            argument="init_values", fix="combine them with the result afterwards",
        )  # fmt: skip
    values = [
        s.moveaxis(x, d, 0) if d is not None else s.broadcast(x, (axis.size,))
        for x, d in zip(args[:n], in_dims[:n], strict=True)
    ]
    outs = reduce_p.bind(*values, *args[n:], dimensions=tuple(d + 1 for d in dimensions), **params)
    return outs, [0] * n


@reduce_p.lower
def _(b: Any, *xs: Any, jaxpr: ClosedJaxpr, dimensions: tuple, computation: Any) -> list:
    scalars = [x.aval.update(shape=(), weak_type=False) for x in xs[: len(xs) // 2]]
    body = b.region(
        [*scalars, *scalars],
        lambda *v: b.inline(jaxpr.jaxpr, v, [b.constant(c) for c in jaxpr.consts]),
    )
    return b.op("reduce", list(xs), list(b.outs), regions=[body], dimensions=b.ints(dimensions))


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable,
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Reduce `operands` over `dimensions` with the monoid `computation`, starting from `init_values`.

    `computation(x, y)` combines two scalars (or two pytrees of them, if `operands` is one). It must be
    associative, and `init_values` its neutral element. Sums, products, extrema and logical operations are
    recognized and use the specialized primitives.

    >>> lax.reduce(np.arange(5), 0, lax.add, (0,))
    Array(10, dtype=int32)
    """
    values, tree = trees.flatten_argument("reduce", "operands", operands)
    if not values:
        raise ArgumentValueError.about("reduce", "operands", operands, "at least one array")
    from_single = len(values) == 1 and values[0] is operands
    if out_sharding is not None:
        found = trees.leaves(reduce(operands, init_values, computation, dimensions))
        return tree.unflatten(
            [with_out_sharding("reduce", lambda x: x, (x,), out_sharding) for x in found]
        )
    inits, init_tree = trees.flatten_argument("reduce", "init_values", init_values)
    if len(values) != len(inits):
        raise ArgumentError(
            function="reduce",
            argument="init_values",
            got=f"{len(inits)} values",
            expected=f"one for each of {len(values)} operands",
        )
    if init_tree != tree and not from_single:
        raise ArgumentValueError.about(
            "reduce", "init_values", f"a pytree {init_tree}", f"the structure of operands, {tree}"
        )
    for i, init in enumerate(inits):
        if np.shape(init) != ():
            raise ArgumentValueError(
                "reduce found non-scalar initial value",
                function="reduce",
                argument="init_values" if from_single else f"init_values[{i}]",
                got=aval_of(init),
                expected="a scalar: the neutral element of computation",
            )
    callable("reduce", "computation", computation, "a function of two values")
    axes = axes_of(values[0], dimensions, "reduce")
    inits = [
        i if hasattr(i, "dtype") else np.asarray(i, aval_of(x).dtype)[()]
        for x, i in zip(values, inits, strict=True)
    ]
    if from_single:
        known = _recognised(computation, values[0], inits[0], axes)
        if known is not None:
            return known
    scalars = [aval_of(x).update(shape=(), weak_type=False) for x in values]

    shown = "tuple" if type(operands) is tuple else f"structure {tree}"

    def combine(*xs: Any) -> list:
        n = len(values)
        out = computation(tree.unflatten(xs[:n]), tree.unflatten(xs[n:]))
        found = trees.leaves(out)
        if len(found) != n or not all(map(is_operand, found)):
            raise ArgumentError(
                "computation must return a scalar for each operand",
                function="reduce",
                argument="computation",
                got=f"a result of type {type(out).__name__}"
                + (f" of length {len(out)}" if isinstance(out, (tuple, list)) else ""),
                expected="one scalar" if from_single else f"a {shown} of {n} scalars",
            )
        return found

    jaxpr, consts = stage(combine, [*scalars, *scalars])
    for i, (have, expected) in enumerate(zip(jaxpr.out_avals, scalars, strict=True)):
        if have.shape != () or have.dtype != expected.dtype:
            raise ArgumentError(
                "computation must return scalars of the operands' dtypes", function="reduce", argument=f"computation (result {i})",
                got=have, expected=expected,
            )  # fmt: skip
    outs = reduce_p.bind(
        *values, *inits, jaxpr=ClosedJaxpr(jaxpr, consts), dimensions=axes, computation=computation
    )
    return tree.unflatten(outs)


def _recognised(computation: Any, x: Any, init: Any, axes: tuple) -> Any:
    """Return the result by a specialized primitive, if the monoid has one."""
    aval = aval_of(x)
    name = getattr(computation, "__name__", "")
    if computation is getattr(ar, name, None) and (not hasattr(init, "aval") or is_concrete(init)):
        start = np.asarray(init)
        low, high = (
            dtype_predicates.bounds(aval.dtype)
            if not dtype_predicates.is_complex(aval.dtype)
            else (None, None)
        )
        table = {
            "add": (0, reduce_sum_p),
            "mul": (1, reduce_prod_p),
            "max": (low, reduce_max_p),
            "min": (high, reduce_min_p),
        }
        neutral, p = table.get(name, (None, None))
        if p is not None and neutral is not None and start == neutral and aval.dtype != np.bool_:
            return p.bind(x, axes=axes)
    return None


# public functions ------------------------------------------------------------------------------------


def _public(p: Primitive, what: str, example: str) -> Callable:
    def function(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Any:
        def op(x: Any) -> Any:
            return p.bind(x, axes=axes_of(x, axes, p.name))

        if out_sharding is None:
            return op(operand)
        return with_out_sharding(p.name, op, (operand,), out_sharding)

    function.__name__ = function.__qualname__ = p.name
    function.__doc__ = f"""Return {what} of `operand` over the dimensions `axes`, which are removed.

    `out_sharding` shards the result.

    {example}
    """
    return function


reduce_max = _public(
    reduce_max_p,
    "the maximum (NaN if there is one; complex numbers by their real parts first)",
    ">>> int(lax.reduce_max(np.arange(4), (0,)))\n    3",
)
reduce_min = _public(
    reduce_min_p,
    "the minimum (NaN if there is one; complex numbers by their real parts first)",
    ">>> int(lax.reduce_min(np.arange(4), (0,)))\n    0",
)
reduce_prod = _public(
    reduce_prod_p, "the product", ">>> int(lax.reduce_prod(np.arange(1, 5), (0,)))\n    24"
)
reduce_and = _public(
    reduce_and_p,
    "the bitwise (for booleans logical) and",
    ">>> bool(lax.reduce_and(np.array([True, False]), (0,)))\n    False",
)
reduce_or = _public(
    reduce_or_p,
    "the bitwise (for booleans logical) or",
    ">>> bool(lax.reduce_or(np.array([True, False]), (0,)))\n    True",
)
reduce_xor = _public(
    reduce_xor_p,
    "the bitwise (for booleans logical) exclusive or",
    ">>> bool(lax.reduce_xor(np.array([True, True]), (0,)))\n    False",
)


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the maximum along `axis`: the first of several; NaN counts as the maximum.

    >>> int(lax.argmax(np.array([1.0, 3.0, 3.0]), 0, np.int32))
    1
    """
    axis = canonical_axis(axis, aval_of(operand).ndim, "argmax")
    return argmax_p.bind(
        operand, axes=(axis,), index_dtype=dtype_predicates.requested(index_dtype, "argmax")
    )


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the minimum along `axis`: the first of several; NaN counts as the minimum.

    >>> int(lax.argmin(np.array([3.0, 1.0, 1.0]), 0, np.int32))
    1
    """
    axis = canonical_axis(axis, aval_of(operand).ndim, "argmin")
    return argmin_p.bind(
        operand, axes=(axis,), index_dtype=dtype_predicates.requested(index_dtype, "argmin")
    )
