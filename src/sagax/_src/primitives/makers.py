"""Make primitives of a family, with their shared rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import FORMULA, SIMPLE, CotangentMask, Family, Sums
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32, i32
from sagax._src.core.tangents import Zero, is_linear, set_zero_derivative
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import DtypeError, ShapeError
from sagax._src.primitives import structural as s

_SCALARS = frozenset((bool, int, float, complex))
_PYTHON_NUMBER = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


# Which dtypes an operation takes: predicates with a name for messages ---------------------------------


class Accepts:
    """A set of dtypes, with its description for messages."""

    __slots__ = ("test", "words")

    def __init__(self, words: str, test: Callable[[Any], bool]) -> None:
        self.words = words
        self.test = test


anything = Accepts("any dtype", lambda d: True)
number = Accepts("numbers", lambda d: not dtypes.is_extended(d) and d != np.bool_)
number_or_bool = Accepts("numbers or booleans", lambda d: not dtypes.is_extended(d))
inexact = Accepts("floating point or complex numbers", lambda d: dtypes.is_inexact(d))
floating = Accepts("floating point numbers", lambda d: dtype_predicates.is_floating(d))
complex_ = Accepts("complex numbers", lambda d: dtype_predicates.is_complex(d))
integer = Accepts("integers", lambda d: dtype_predicates.is_integer(d))
integer_or_bool = Accepts(
    "integers or booleans", lambda d: dtype_predicates.is_integer(d) or d == np.bool_
)
real = Accepts(
    "real numbers", lambda d: not dtypes.is_extended(d) and not dtype_predicates.is_complex(d)
)
signed = Accepts("signed numbers", lambda d: dtypes.is_inexact(d) or dtype_predicates.is_signed(d))


# Values for `exact`: the NumPy reference and the executable agree bit for bit ------------------------


def exact_unless_complex(avals: tuple) -> bool:
    """Accept real operands: complex products, quotients and roots are computed in another order."""
    return not any(a.dtype.kind == "c" for a in avals)


def exact_in_bytes(avals: tuple) -> bool:
    """Accept dtypes of whole bytes: XLA pads narrower ones and computes on the padding too."""
    return all(dtypes.itemsize_bits(a.dtype) >= 8 for a in avals)


def elementwise_shape(name: str, shapes: Sequence[tuple]) -> tuple:
    """Return the shape of an elementwise result: scalars broadcast, sizes 1 too, ranks are equal."""
    shapes = [shape for shape in shapes if shape]
    if not shapes:
        return ()
    first = shapes[0]
    if all(shape is first or dims.same_shape(shape, first) for shape in shapes):
        return first
    if any(len(shape) != len(first) for shape in shapes):
        raise ShapeError(
            "the operands differ in their number of dimensions",
            function=name,
            got=" and ".join(map(str, shapes)),
            expected="equal numbers of dimensions (or scalars)",
            fix="the function of the same name in sagax.numpy broadcasts",
        )
    out = []
    for axis, sizes in enumerate(zip(*shapes, strict=True)):
        size = sizes[0]
        for other in sizes[1:]:
            size = dims.broadcast_dim(size, other) if size is not None else None
        if size is None:
            raise ShapeError(
                f"the operands differ in size along axis {axis}: {' and '.join(map(str, sizes))}",
                function=name,
                got=" and ".join(map(str, shapes)),
                expected="equal sizes, or size 1",
            )
        out.append(size)
    return tuple(out)


def scalar_like(value: Any, dtype: Any) -> Any:
    """Return the Python scalar `value` as a NumPy scalar of `dtype`."""
    return np.asarray(value, dtype)[()]


def operands(*args: Any) -> tuple:
    """Convert operands: Python numbers take the dtype of an array operand, if it fits their kind.

    They stay weak with a weakly typed array. Python numbers alone all take the widest kind.
    """
    for a in args:
        if type(a) not in _SCALARS:
            aval = aval_of(a)
            return tuple([_beside(x, aval) if type(x) in _SCALARS else x for x in args])
    for kind in (complex, float):
        if kind in map(type, args):
            return tuple([x if type(x) is bool else kind(x) for x in args])
    return args


def _beside(value: Any, aval: ShapedArray) -> Any:
    dtype = aval.dtype
    if not _fits(value, dtype):
        return value
    if type(value) is int:
        dtypes.check_python_int(value, dtype)
    if aval.weak_type:
        weak = _PYTHON_NUMBER[dtypes.kind(dtype)](value)
        if aval_of(weak).dtype == dtype:
            return weak
    return scalar_like(value, dtype)


def _fits(value: Any, dtype: Any) -> bool:
    kind = type(value)
    if dtypes.is_extended(dtype):
        return False
    if kind is bool:
        return dtype == np.bool_
    if kind is int:
        return dtype != np.bool_
    if kind is float:
        return dtypes.is_inexact(dtype)
    return dtype_predicates.is_complex(dtype)


# Elementwise ---------------------------------------------------------------------------------------


def elementwise(
    name: str,
    arity: int = 1,
    *,
    numpy: Callable[..., Any],
    accepts: Accepts | Sequence[Accepts] = inexact,
    result: Callable[..., Any] | None = None,
    hlo: str | None = None,
    jvp: Callable | Sequence[Callable | None] | None = None,
    transpose: Callable[..., Sequence[Any]] | None = None,
    same_dtype: bool = True,
    in_numpy: str | None = None,
    exact: bool | Callable[[tuple], bool] = False,
    samples: Sequence[Any] = (),
    family: Family = FORMULA,
    **answers: Any,
) -> Primitive:
    """Make an elementwise primitive.

    `numpy` is the reference. `accepts` names the dtypes (one for all operands, or one each), `result`
    the dtype of the result from those of the operands (default: that of the first). `hlo` is the StableHLO or
    `chlo.` operation; without it give a `composite` or `lower` rule. `jvp` holds for each operand
    `f(t, out, *primals, **params)`, its contribution to the tangent, or None. A single function serves unary
    primitives. `transpose(ct, *operands)` makes it linear. `in_numpy` names the function of sagax.numpy that promotes
    dtypes, if the reference is not its namesake. `exact`: the reference and the executable agree bit
    for bit. `family` and `answers` fill the slots that passes read (core/families.py).
    """
    p = Primitive(
        name,
        exact=exact,
        multilinear=transpose is not None,
        samples=samples,
        family=family,
        **answers,
    )
    p.elementwise = True
    in_numpy = in_numpy or (numpy.__name__ if isinstance(numpy, np.ufunc) else None)
    advice = f"; sagax.numpy.{in_numpy} promotes dtypes by itself" if in_numpy else ""
    per_operand = (accepts,) * arity if isinstance(accepts, Accepts) else tuple(accepts)
    terms: tuple = (
        (None,) * arity if jvp is None else tuple(jvp) if isinstance(jvp, (tuple, list)) else (jvp,)
    )

    def abstract(*avals: ShapedArray, **params: Any) -> ShapedArray:
        if len(avals) != arity:
            raise ShapeError(function=name, got=f"{len(avals)} operands", expected=f"{arity}")
        for i, (a, ok) in enumerate(zip(avals, per_operand, strict=True)):
            if not ok.test(a.dtype):
                raise DtypeError(
                    f"the operand has dtype {dtypes.name(a.dtype)}"
                    if arity == 1
                    else f"operand {i} has dtype {dtypes.name(a.dtype)}",
                    function=name,
                    got=a,
                    expected=ok.words,
                    fix="draw numbers with the keys: sagax.random.bits(key), or see sagax.random.key_data"
                    if dtypes.is_extended(a.dtype)
                    else "convert it first, with x.astype(...)",
                )
        if same_dtype and any(a.dtype != avals[0].dtype for a in avals):
            names = ", ".join(dtypes.name(a.dtype) for a in avals)
            raise DtypeError(
                f"lax.{name} requires arguments to have the same dtypes, got {names}",
                function=name,
                fix="convert one of them with astype" + advice,
            )
        shape = elementwise_shape(name, [a.shape for a in avals])
        dtype = avals[0].dtype if result is None else result(*[a.dtype for a in avals], **params)
        return intern_aval(shape, dtype, all(a.weak_type for a in avals), None)

    p.abstract_rule = abstract
    p.reference_rule = numpy

    def jvp_rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        out = p.bind(*primals, **params)
        aval = aval_of(out)
        if arity > 1 and not aval.weak_type:
            varied = [type(t) is not Zero for t in tangents]
            primals = [  # what the tangent of another operand is multiplied by
                _strong(x, aval.dtype) if sum(varied) > v else x
                for x, v in zip(primals, varied, strict=True)
            ]
        total = None
        for t, term in zip(tangents, terms, strict=True):
            if type(t) is Zero or term is None:
                continue
            part = term(t, out, *primals, **params)
            if type(part) is Zero:
                continue
            if not dims.same_shape(aval_of(part).shape, aval.shape):
                part = broadcast_to(part, aval.shape)
            total = part if total is None else add_any_p.bind(total, part)
        return out, Zero(aval.to_tangent_aval()) if total is None else total

    if any(terms):
        p.jvp_rule = jvp_rule
    else:
        set_zero_derivative(p)
    p.batch_rule = _batch_elementwise(p)
    if transpose is not None:

        def transpose_rule(ct: Any, *args: Any, **params: Any) -> list:
            cts = transpose(ct, *args, **params)
            return [
                None if c is None or not is_linear(a) else s.unbroadcast(c, a.aval)
                for a, c in zip(args, cts, strict=True)
            ]

        p.transpose_rule = transpose_rule
    if hlo is not None:

        def lower(b: Any, *xs: Any, **params: Any) -> Any:
            return b.elementwise(hlo, xs)

        p.lower_rule = lower
    return p


def _strong(x: Any, dtype: Any) -> Any:
    """Convert a weakly typed operand whose result is strongly typed: so are derivatives that it takes part in."""
    aval = aval_of(x)
    return s.convert(x, dtype) if aval.weak_type and aval.dtype == dtype else x


def broadcast_to(x: Any, shape: tuple) -> Any:
    """Broadcast a scalar, or an array of the same rank with sizes 1, to `shape`."""
    return s.broadcast_in_dim(x, shape, tuple(range(aval_of(x).ndim)))


def _batch_elementwise(p: Primitive) -> Callable:
    def batch(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        avals = [aval_of(x) for x in args]
        mapped = [(a, d) for a, d in zip(avals, in_dims, strict=True) if d is not None]
        shape, d = mapped[0][0].shape, mapped[0][1]
        if all(e == d and dims.same_shape(a.shape, shape) for a, e in mapped) and all(
            e is not None or not a.shape for a, e in zip(avals, in_dims, strict=True)
        ):
            return p.bind(*args, **params), d
        # Move batch dimensions to the front and equalize ranks; broadcasting of sizes 1 does the rest.
        rank = max([a.ndim - (e is not None) for a, e in zip(avals, in_dims, strict=True)])
        aligned = []
        for x, a, e in zip(args, avals, in_dims, strict=True):
            if e is None:
                aligned.append(s.expand_dims(x, (0,)) if a.ndim else x)
            else:
                x = s.moveaxis(x, e, 0)
                if a.ndim - 1 < rank:  # a mapped scalar
                    x = s.expand_dims(x, tuple(range(1, rank + 1)))
                aligned.append(x)
        return p.bind(*aligned, **params), 0

    return batch


# add_any: the sum of tangents or cotangents; defined here because every derivative needs it ---------------

add_any_p = elementwise(
    "add_any",
    2,
    family=SIMPLE,
    cotangent_mask=CotangentMask.MOVED,
    numpy=np.add,
    accepts=anything,
    hlo="add",
    exact=True,
    jvp=(lambda t, out, x, y: t, lambda t, out, x, y: t),
    transpose=lambda ct, x, y: (ct, ct),
)
add_any_p.sums = Sums.EACH


add_any_p.samples = [Sample(f32(3), f32(3)), Sample(c64(2, 2), c64(2, 2)), Sample(i32(2), i32(2))]


def add_tangents(x: Any, y: Any) -> Any:
    """Add two tangents (or cotangents) that may be symbolic zeros."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add_any_p.bind(x, y)
