"""Apply activation functions, elementwise or along one axis.

They are written so that derivatives of every order are finite wherever they have a limit. Products
such as x sigmoid(x) are the sore point: at infinite x a derivative multiplies infinity by zero. They
are computed inside of a range beyond which, in every dtype, the function is exactly x or 0.

Integers become floating point, except in functions that only compare (relu and hard_tanh).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src import config
from sagax._src.api.derivatives import jvp
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ConcretizationTypeError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax._src.primitives.arithmetic import rsqrt_p
from sagax._src.primitives.resharding import takes_out_sharding
from sagax._src.primitives.selection import saturate
from sagax._src.primitives.shaping import split
from sagax._src.primitives.special.erf import erfc
from sagax._src.primitives.structural import convert
from sagax._src.primitives.transcendental import logistic
from sagax.numpy._arguments import one_axis
from sagax.numpy._base import (
    as_array,
    as_operand,
    dtype_of,
    number_like,
    operand_inexact,
    select,
    strong,
)
from sagax.numpy._fused import fused, fused_function

# e^-x is zero, and 1 + e^-x is 1, long before here, in every dtype
_GATE_RANGE = 1000.0
# the same of the normal distribution; and the cube of it is a number in float16
_NORMAL_RANGE = 40.0
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


# what they share ----------------------------------------------------------------------------------


def _floating(function: str, x: Any) -> Any:
    """Convert `x` to an array of real or complex floating point numbers; booleans to weakly typed ones."""
    if dtype_of(as_operand(function, x)) == np.bool_:
        return _lifted(function, x)
    return as_array(function, operand_inexact(function, x))


def _is_complex(x: Any) -> bool:
    return dtypes.is_complex(dtype_of(x))


def _lifted(function: str, x: Any) -> Any:
    """Convert `x` to floating point as a Python float operand would: weakly typed if it was not."""
    x = as_array(function, x)
    if dtypes.is_inexact(x.dtype):
        return x
    return convert(x, dtypes.canonicalize(float, config.current().x64), True)


def _within(x: Any, low: float, high: float) -> Any:
    """Clip `x` to [low, high]; NaN stays, in derivatives too, which are 0 at the ends and beyond.

    Complex numbers are ordered by their real parts, equal ones by their imaginary parts.
    """
    if _is_complex(x):
        return snp.minimum(snp.maximum(x, low), high)
    most = float(dtypes.finfo(dtype_of(x)).max)
    return saturate(x, max(low, -most), min(high, most))


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
def _vanishing(x: Any, reach: float, gate: Callable[[Any], Any]) -> Any:
    """Compute x gate(x) for a gate that is exactly 0 below -reach and 1 above reach, and their limits at infinity."""
    if _is_complex(x):
        return x * gate(x)
    return saturate(x, -reach, math.inf) * gate(x)


# The value needs one bound, the slope gate(x) + x gate'(x) the other one: it is 0 and 1 beyond them.
@_vanishing.defjvp
def _vanishing_jvp(
    reach: float, gate: Callable[[Any], Any], primals: tuple, tangents: tuple
) -> tuple:
    def product(z: Any) -> tuple:
        found = gate(z)
        return z * found, found

    (x,), (tangent,) = primals, tangents
    inside = x if _is_complex(x) else _within(x, -reach, reach)
    (value, found), (slope, _) = jvp(product, (inside,), (tangent,))
    return (value if _is_complex(x) else saturate(x, -reach, math.inf) * found), slope


def activation(
    prepare: Callable[[str, Any], Any],
) -> Callable[[Callable[[Any], Array]], Callable[[Any], Array]]:
    """Make an activation of a formula of one array, evaluated as one operation outside of jit.

    `prepare(function, x)` converts what users pass to the array.
    """

    def decorate(formula: Callable[[Any], Array]) -> Callable[[Any], Array]:
        run, name = fused(formula), formula.__name__

        @functools.wraps(formula)
        def call(x: Any) -> Array:
            return run(prepare(name, x))

        return fused_function(1)(call)

    return decorate


# rectifiers ---------------------------------------------------------------------------------------


@fused
def _relu(x: Any) -> Any:
    return select(x <= 0, number_like(0, x), x)


def relu(x: Any) -> Array:
    """Compute the rectified linear unit: max(x, 0).

    The derivative at 0 is 0. Booleans become integers.

    >>> nn.relu(snp.array([-2.0, 0.0, 3.0]))
    Array([0., 0., 3.], dtype=float32)
    """
    x = as_array("relu", x)
    if x.dtype == np.bool_:
        x = convert(x, dtypes.canonicalize(int, config.current().x64), True)
    return _relu(x)


@activation(_lifted)
def relu6(x: Any) -> Array:
    """Clip `x` to [0, 6]. The derivative is 0 at 0 and at 6.

    >>> nn.relu6(snp.array([-2.0, 3.0, 8.0]))
    Array([0., 3., 6.], dtype=float32)
    """
    return _within(x, 0.0, 6.0)


@fused
def _leaky_relu(x: Any, slope: Any) -> Any:
    return snp.where(x >= 0, x, slope * x)


@fused_function(1, floats="operands")
def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Array:
    """Compute the leaky rectified linear unit: `x`, or `negative_slope` times a negative `x`.

    >>> nn.leaky_relu(snp.array([-2.0, 3.0]), 0.5)
    Array([-1.,  3.], dtype=float32)
    """
    return _leaky_relu(as_array("leaky_relu", x), as_operand("leaky_relu", negative_slope, 1))


@fused
def _elu(x: Any, alpha: Any) -> Any:
    positive = x > 0
    below = select(positive, number_like(0, x), x)
    return snp.where(positive, x, alpha * snp.expm1(below))


@fused_function(1, floats="operands")
def elu(x: Any, alpha: Any = 1.0) -> Array:
    """Compute the exponential linear unit: `x` where it is positive, else alpha (exp(x) - 1).

    >>> nn.elu(snp.array([-snp.inf, 0.0, 3.0]))
    Array([-1.,  0.,  3.], dtype=float32)
    """
    return _elu(_lifted("elu", x), as_operand("elu", alpha, 1))


@fused
def _celu(x: Any, alpha: Any) -> Any:
    positive = x > 0
    below = select(positive, number_like(0, x), x)
    return snp.where(positive, x, alpha * snp.expm1(below / alpha))


@fused_function(1, floats="operands")
def celu(x: Any, alpha: Any = 1.0) -> Array:
    """Compute `x` where it is positive, else alpha (exp(x / alpha) - 1).

    It is smooth at 0 for every alpha > 0.

    >>> nn.celu(snp.array([-snp.inf, 0.0, 3.0]), 2.0)
    Array([-2.,  0.,  3.], dtype=float32)
    """
    return _celu(as_array("celu", x), as_operand("celu", alpha, 1))


@activation(_lifted)
def selu(x: Any) -> Array:
    """Compute the exponential linear unit, scaled to preserve mean and variance of normal numbers.

    The constants are those of Klambauer et al., Self-Normalizing Neural Networks (2017).

    >>> nn.selu(snp.array([-1.0, 1.0]))
    Array([-1.1113307,  1.050701 ], dtype=float32)
    """
    return _SELU_SCALE * _elu(x, number_like(_SELU_ALPHA, x))


# smooth ones --------------------------------------------------------------------------------------


@fused_function(1)
def sigmoid(x: Any) -> Array:
    """Compute 1 / (1 + exp(-x)), between 0 and 1.

    >>> nn.sigmoid(snp.array([-snp.inf, 0.0, snp.inf]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return logistic(operand_inexact("sigmoid", x))


def tanh(x: Any, /) -> Array:
    """Compute the hyperbolic tangent, between -1 and 1.

    >>> nn.tanh(snp.array([0.0, snp.inf]))
    Array([0., 1.], dtype=float32)
    """
    return snp.tanh(x)


@custom_jvp
def _softplus(x: Any) -> Any:
    if _is_complex(x):
        return snp.logaddexp(x, 0)
    return snp.maximum(x, 0) + snp.log1p(snp.exp(-abs(x)))


@_softplus.defjvp
def _softplus_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x,), (t,) = primals, tangents
    return _softplus(x), t * logistic(x)


@activation(_floating)
def softplus(x: Any) -> Array:
    """Compute log(1 + exp(x)) without overflow: a smooth `relu`, whose derivative is `sigmoid`.

    >>> nn.softplus(snp.array([-snp.inf, 0.0, 100.0]))
    Array([  0.       ,   0.6931472, 100.       ], dtype=float32)
    """
    return _softplus(x)


@activation(_floating)
def log_sigmoid(x: Any) -> Array:
    """Compute the logarithm of `sigmoid`, -log(1 + exp(-x)), exact also where that is near 0 or 1.

    >>> nn.log_sigmoid(snp.array([-100.0, 0.0]))
    Array([-100.       ,   -0.6931472], dtype=float32)
    """
    return -_softplus(-x)


@activation(_floating)
def silu(x: Any) -> Array:
    """Compute x sigmoid(x), which is 0 at -inf. Also called swish.

    >>> nn.silu(snp.array([-1.0, 0.0, 100.0]))
    Array([ -0.26894143,   0.        , 100.        ], dtype=float32)
    """
    return _vanishing(x, _GATE_RANGE, logistic)


swish = silu


def _mish_gate(x: Any) -> Any:
    return snp.tanh(_softplus(x))


@activation(_floating)
def mish(x: Any) -> Array:
    """Compute x tanh(softplus(x)), which is 0 at -inf.

    >>> nn.mish(snp.array([0.0, 100.0]))
    Array([  0., 100.], dtype=float32)
    """
    return _vanishing(x, _GATE_RANGE, _mish_gate)


def _normal_gate(x: Any) -> Any:
    """Compute the normal distribution function."""
    return 0.5 * erfc(-x * number_like(math.sqrt(0.5), x))


def _normal_gate_near(x: Any) -> Any:
    """Approximate the normal distribution function by a hyperbolic tangent, to three digits."""
    return 0.5 * (1 + snp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


@fused
def _gelu(x: Any, *, approximate: bool) -> Any:
    return _vanishing(x, _NORMAL_RANGE, _normal_gate_near if approximate else _normal_gate)


@fused_function(1)
def gelu(x: Any, approximate: bool = True) -> Array:
    """Compute x times the probability that a standard normal number is below x.

    `approximate` computes the probability by a hyperbolic tangent, to about three digits; else it is
    exact. Formulas: Hendrycks and Gimpel, Gaussian Error Linear Units (2016).

    >>> nn.gelu(snp.array([0.0, 100.0]))
    Array([  0., 100.], dtype=float32)
    """
    return _gelu(strong(_floating("gelu", x)), approximate=bool(approximate))


@activation(_floating)
def soft_sign(x: Any) -> Array:
    """Compute x / (1 + abs(x)), between -1 and 1.

    >>> nn.soft_sign(snp.array([-1.0, snp.inf]))
    Array([-0.5,  1. ], dtype=float32)
    """
    inside = x if _is_complex(x) else _within(x, -math.inf, math.inf)
    return inside / (abs(inside) + 1)


@custom_jvp
def _smooth_rectifier(x: Any, b: Any) -> Any:
    """Compute (x + sqrt(x**2 + b)) / 2 of real numbers, whose squares may overflow."""
    inside = _within_squares(x)
    smooth = (inside + snp.sqrt(inside * inside + b)) / 2
    return snp.where(abs(x) >= _square_root_of_most(x), _relu(x), smooth)


# The slope is 0 and 1 at the ends of the range of squares, and beyond it: one bound does for it.
@_smooth_rectifier.defjvp
def _smooth_rectifier_jvp(primals: tuple, tangents: tuple) -> tuple:
    x, b = primals
    inside = _within_squares(x)
    inverse = rsqrt_p.bind(inside * inside + b)
    slope = 0.5 + 0.5 * (inside * inverse)
    return _smooth_rectifier(x, b), tangents[0] * slope + tangents[1] * (0.25 * inverse)


def _square_root_of_most(x: Any) -> float:
    return math.sqrt(float(dtypes.finfo(dtype_of(x)).max)) / 2


def _within_squares(x: Any) -> Any:
    return _within(x, -_square_root_of_most(x), _square_root_of_most(x))


@fused
def _squareplus(x: Any, b: Any) -> Any:
    if _is_complex(x):
        return (x + snp.sqrt(x * x + b)) / 2
    return _smooth_rectifier(
        x, b if dtypes.is_inexact(dtype_of(b)) else convert(b, dtype_of(x), True)
    )


@fused_function(1, floats="operands")
def squareplus(x: Any, b: Any = 4) -> Array:
    """Compute (x + sqrt(x**2 + b)) / 2: a smooth `relu` without exponentials; `b` is not negative.

    >>> nn.squareplus(snp.array([0.0, 1.5]))
    Array([1., 2.], dtype=float32)
    """
    return _squareplus(_floating("squareplus", x), as_operand("squareplus", b, 1))


@custom_jvp
def _log1mexp(x: Any) -> Any:
    near = x < math.log(2.0)
    # each formula keeps its digits in one part of the range, and sees only numbers of it
    small = snp.where(near, x, 1)
    large = snp.where(near, 1, x)
    return snp.where(near, snp.log(-snp.expm1(-small)), snp.log1p(-snp.exp(-large)))


@_log1mexp.defjvp
def _log1mexp_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x,), (t,) = primals, tangents
    return _log1mexp(x), t * _inverse_growth(x)


@custom_jvp
def _inverse_growth(x: Any) -> Any:
    """Compute 1 / (exp(x) - 1), whose slopes are polynomials of it: quotients of exponentials would overflow."""
    return 1 / snp.expm1(x)


@_inverse_growth.defjvp
def _inverse_growth_jvp(primals: tuple, tangents: tuple) -> tuple:
    found = _inverse_growth(*primals)
    return found, tangents[0] * (-found * (1 + found))


@activation(_floating)
def log1mexp(x: Any) -> Array:
    """Compute log(1 - exp(-x)) for positive `x`, exact for small and large ones.

    -inf at 0, NaN below.

    >>> nn.log1mexp(snp.array([0.0, 1.0, snp.inf]))
    Array([       -inf, -0.45867515, -0.        ], dtype=float32)
    """
    return _log1mexp(x)


# of straight pieces and parabolas -----------------------------------------------------------------


@activation(as_array)
def hard_tanh(x: Any) -> Array:
    """Clip `x` to [-1, 1].

    >>> nn.hard_tanh(snp.array([-2.0, 0.5, 3.0]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = snp.where(x < -1, -1, x)
    return snp.where(x > 1, 1, x)


@activation(_lifted)
def hard_sigmoid(x: Any) -> Array:
    """Clip (x + 3) / 6 to [0, 1].

    >>> nn.hard_sigmoid(snp.array([-4.0, 0.0, 4.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _within(x + 3, 0.0, 6.0) / 6


@custom_jvp
def _hard_silu(x: Any) -> Any:
    inside = _within(x, -3.0, 3.0)
    return select(x >= 3, x, inside * ((inside + 3) / 6))


# By the chain rule each of the two factors would choose.
@_hard_silu.defjvp
def _hard_silu_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x,), (tangent,) = primals, tangents
    slope = select(x <= -3, number_like(0.0, x), select(x >= 3, number_like(1.0, x), (x + 1.5) / 3))
    return _hard_silu(x), tangent * slope


@activation(_lifted)
def hard_silu(x: Any) -> Array:
    """Compute x hard_sigmoid(x): 0 below -3, x above 3. Also called hard_swish.

    >>> nn.hard_silu(snp.array([-3.0, 1.5, 4.0]))
    Array([-0.   ,  1.125,  4.   ], dtype=float32)
    """
    return x * (_within(x + 3, 0.0, 6.0) / 6) if _is_complex(x) else _hard_silu(x)


hard_swish = hard_silu


@activation(_lifted)
def sparse_plus(x: Any) -> Array:
    """Compute 0 below -1, x above 1, and the parabola (x + 1)**2 / 4 in between.

    >>> nn.sparse_plus(snp.array([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    if _is_complex(x):
        return snp.where(x <= -1, 0, snp.where(x >= 1, x, snp.square(x + 1) / 4))
    inside = _within(x, -1.0, 1.0)
    return select(x >= 1, x, snp.square(inside + 1) / 4)


@activation(_lifted)
def sparse_sigmoid(x: Any) -> Array:
    """Clip (x + 1) / 2 to [0, 1]: the derivative of `sparse_plus`.

    >>> nn.sparse_sigmoid(snp.array([-2.0, 0.0, 2.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * snp.clip(x + 1, 0.0, 2.0)


# others -------------------------------------------------------------------------------------------


def identity(x: Any) -> Array:
    """Return `x` itself, as an array.

    >>> nn.identity(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return as_array("identity", x)


@fused
def _glu(x: Any, *, axis: int) -> Any:
    half = x.shape[axis] // 2
    first, second = split(
        x, (half, half), axis
    )  # whose derivatives are joined, not padded and added
    return first * logistic(second)


def glu(x: Any, axis: int = -1) -> Array:
    """Multiply one half of `x` with the sigmoid of the other: the gated linear unit.

    The result is half as large along `axis`, whose size must be even (else ValueError).

    >>> nn.glu(snp.array([1.0, 2.0, 0.0, snp.inf]))
    Array([0.5, 2. ], dtype=float32)
    """
    x = _floating("glu", x)
    axis = one_axis("glu", axis, x.ndim)
    if x.shape[axis] % 2 != 0:
        raise ArgumentValueError(
            f"glu: axis size must be divisible by 2, got {x.shape[axis]} along axis {axis} of an"
            f" array of shape {x.shape}",
            function="glu",
            argument="x",
        )
    return _glu(x, axis=axis)


@takes_out_sharding
def one_hot(
    x: Any, num_classes: Any, *, dtype: Any = None, axis: int = -1, out_sharding: Any = None
) -> Array:
    """Encode indices as one-hot vectors, along a new axis of size `num_classes`.

    They are 1 at the index that each element of `x` is, else 0. An element outside of 0 ...
    num_classes - 1 gives zeros only. `dtype` is that of the result (default: the default float);
    `axis` is the position of the new axis in the result, `out_sharding` its sharding.

    Raises a TypeError for a number of classes that is no integer, a ValueError for an axis that the
    result does not have.

    >>> nn.one_hot(snp.array([2, 0]), 3)
    Array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    x = snp.asarray(x)
    classes = _classes(num_classes)
    dtype = dtypes.requested_dtype(float if dtype is None else dtype, "one_hot")
    return _one_hot(x, classes=classes, dtype=dtype, axis=one_axis("one_hot", axis, x.ndim + 1))


def _classes(num_classes: Any) -> Any:
    if dims.is_dim(num_classes):
        return num_classes
    if isinstance(num_classes, Tracer) and num_classes.concrete() is None:
        raise ConcretizationTypeError(
            num_classes, "The error arose in jax.nn.one_hot argument `num_classes`."
        )
    try:
        return num_classes.__index__()
    except (AttributeError, TypeError):
        raise ArgumentError(
            function="one_hot",
            argument="num_classes",
            got=num_classes,
            expected="an integer that is known when the program is traced",
        ) from None


@fused
def _one_hot(x: Any, *, classes: Any, dtype: Any, axis: int) -> Any:
    index_dtype = aval_of(x).dtype
    shape = [1] * (x.ndim + 1)
    shape[axis] = classes
    indices = snp.arange(classes, dtype=None if index_dtype == np.bool_ else index_dtype).reshape(
        shape
    )
    return (snp.expand_dims(x, axis) == indices).astype(dtype)
