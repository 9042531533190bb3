"""Initialize weights: make functions `init(key, shape, dtype)`.

The variance of weights is chosen so that signals keep their size from layer to layer: by the number
of inputs of a unit (fan-in), of outputs (fan-out), or the mean of both.

>>> from sagax import nn, random
>>> nn.initializers.he_normal()(random.key(0), (784, 10)).shape
(784, 10)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np

import sagax.numpy as snp
import sagax.random as random
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.linalg.qr import qr
from sagax._src.primitives.resharding import with_out_sharding as _with_out_sharding
from sagax.numpy._base import promotes_freely as _promotes_freely
from sagax.random._arguments import shape_of as _shape_of

Axes = int | Sequence[int]

# the standard deviation of the normal distribution cut at -2 and 2
_CUT_NORMAL = 0.87962566103423978
# the root of the mean square of the parts of the complex one whose absolute value is cut at 2
_CUT_COMPLEX_NORMAL = 0.95311164380491208


class Initializer(Protocol):
    """A function that makes an array of initial weights, sharded as `out_sharding` says.

    >>> init: nn.initializers.Initializer = nn.initializers.zeros
    >>> init(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """

    def __call__(
        self, key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None
    ) -> Array: ...


def _sharded_output(init: Initializer) -> Initializer:
    """Wrap an initializer, so that its weights are sharded as `out_sharding` says."""
    name = getattr(init, "__qualname__", "").partition(".")[0]

    @functools.wraps(init)
    def call(key: Any, shape: Any, *rest: Any, **options: Any) -> Array:
        out_sharding = rest[1] if len(rest) > 1 else options.pop("out_sharding", None)
        return _with_out_sharding(
            name, lambda k: init(k, shape, *rest[:1], **options), (key,), out_sharding
        )

    return call


# constants ----------------------------------------------------------------------------------------


@_sharded_output
def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Create zeros of the given shape and dtype (default: the default float). The key is not used.

    >>> nn.initializers.zeros(random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return snp.zeros(shape, _dtype("zeros", dtype))


@_sharded_output
def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Create ones of the given shape and dtype (default: the default float). The key is not used.

    >>> nn.initializers.ones(random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return snp.ones(shape, _dtype("ones", dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Build an initializer that gives `value`, which broadcasts to the shape.

    >>> nn.initializers.constant(0.5)(random.key(0), (2,))
    Array([0.5, 0.5], dtype=float32)
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        return snp.full(shape, value, dtype=_dtype("constant", dtype))

    return init


# independent numbers ------------------------------------------------------------------------------


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Build an initializer that draws numbers uniform in [0, scale).

    >>> nn.initializers.uniform(10.0)(random.key(0), (2,))
    Array([9.47667 , 9.785799], dtype=float32)
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        dtype = _dtype("uniform", dtype)
        return random.uniform(key, shape, dtype) * snp.asarray(scale, dtype)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Build an initializer that draws normal numbers with mean 0 and standard deviation `stddev`.

    >>> nn.initializers.normal(1.0)(random.key(0), (2,))
    Array([1.6226422, 2.0252647], dtype=float32)
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        dtype = _dtype("normal", dtype)
        return random.normal(key, shape, dtype) * snp.asarray(stddev, dtype)

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Build an initializer that draws `stddev` times normal numbers truncated to (lower, upper).

    >>> bool((nn.initializers.truncated_normal(1.0)(random.key(0), (100,)) < 2).all())
    True
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        dtype = _dtype("truncated_normal", dtype)
        return random.truncated_normal(key, lower, upper, shape, dtype) * snp.asarray(stddev, dtype)

    return init


# variance by the number of inputs and outputs -----------------------------------------------------


def _fans(shape: tuple, in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """Compute the numbers of inputs and outputs that one unit is connected with."""
    if len(shape) <= 1:
        raise ArgumentValueError(
            f"Can't compute input and output sizes of a {len(shape)}-dimensional weights tensor with"
            " default in_axis. Must be at least 2D or specify in_axis explicitly.",
            function="variance_scaling",
            argument="shape",
            got=shape,
        )

    def positions(axes: Axes) -> list[int]:
        return [i % len(shape) for i in ([axes] if isinstance(axes, int) else axes)]

    inputs = math.prod(shape[i] for i in positions(in_axis))
    outputs = math.prod(shape[i] for i in positions(out_axis))
    named = {*positions(in_axis), *positions(out_axis), *positions(batch_axis)}
    receptive = math.prod(d for i, d in enumerate(shape) if i not in named)
    return inputs * receptive, outputs * receptive


def _uniform_disc(key: Any, shape: tuple, dtype: Any) -> Array:
    """Draw complex numbers uniform in the disc of radius 1."""
    part = dtypes.real_part_dtype(dtype)
    radius_key, angle_key = random.split(key)
    radius = snp.sqrt(2 * random.uniform(radius_key, shape, part)).astype(dtype)
    turn = random.uniform(angle_key, shape, part).astype(dtype)
    return radius * snp.exp(1j * (2 * np.pi * turn))


def _cut_complex_normal(key: Any, shape: tuple, dtype: Any) -> Array:
    """Draw complex normal numbers under the condition that their absolute values are below 2."""
    part = dtypes.real_part_dtype(dtype)
    radius_key, angle_key = random.split(key)
    most = 1 - snp.exp(snp.asarray(-4.0, dtype))
    share = most * random.uniform(radius_key, shape, part).astype(dtype)
    radius = snp.sqrt(-snp.log(1 - share))
    turn = random.uniform(angle_key, shape, part).astype(dtype)
    return radius * snp.exp(1j * (2 * np.pi * turn))


def variance_scaling(
    scale: Any,
    mode: Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"],
    distribution: Literal["truncated_normal", "normal", "uniform"],
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Build an initializer that draws numbers with mean 0 and variance scale / n.

    Args:
      scale: a positive number.
      mode: what n is: "fan_in", the number of inputs of a unit; "fan_out", of its outputs; "fan_avg",
        the mean of both; "fan_geo_avg", the geometric mean.
      distribution: "normal", "truncated_normal" (cut at two standard deviations) or "uniform".
      in_axis: the axis of the weights, or axes, for inputs.
      out_axis: the axis, or axes, for outputs.
      batch_axis: axes along which there are independent weights. All others are the receptive field.
      dtype: of the weights, unless the call says otherwise; floating or complex.

    Initializers raise ValueError for another mode or distribution, or shapes with less than two axes.

    >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
    >>> round(float(init(random.key(0), (800, 100)).std()), 3)
    0.05
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        name = "variance_scaling"
        dtype = _dtype(name, dtype)
        shape = _shape_of(name, shape)
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        if mode == "fan_in":
            n = fan_in
        elif mode == "fan_out":
            n = fan_out
        elif mode == "fan_avg":
            n = (fan_in + fan_out) / 2
        elif mode == "fan_geo_avg":
            n = (fan_in * fan_out) ** 0.5
        else:
            raise ArgumentValueError(
                f"invalid mode for variance scaling initializer: {mode}",
                function=name,
                argument="mode",
                expected="'fan_in', 'fan_out', 'fan_avg' or 'fan_geo_avg'",
            )
        if 0 in shape:
            return snp.zeros(shape, dtype)
        variance = snp.asarray(scale / n, dtype)
        wants_complex = dtypes.is_complex(dtype)
        if distribution == "normal":
            return random.normal(key, shape, dtype) * snp.sqrt(variance)
        if distribution == "uniform":
            if wants_complex:
                return _uniform_disc(key, shape, dtype) * snp.sqrt(variance)
            return random.uniform(key, shape, dtype, -1) * snp.sqrt(3 * variance)
        if distribution == "truncated_normal":
            if wants_complex:
                deviation = snp.sqrt(variance) / snp.asarray(_CUT_COMPLEX_NORMAL, dtype)
                return _cut_complex_normal(key, shape, dtype) * deviation
            deviation = snp.sqrt(variance) / snp.asarray(_CUT_NORMAL, dtype)
            return random.truncated_normal(key, -2, 2, shape, dtype) * deviation
        raise ArgumentValueError(
            f"invalid distribution for variance scaling initializer: {distribution}",
            function=name,
            argument="distribution",
            expected="'truncated_normal', 'normal' or 'uniform'",
        )

    return init


def _scaled(
    name: str, scale: float, mode: Any, distribution: Any, variance: str, source: str = ""
) -> Any:
    """Make the public function that calls `variance_scaling` with a scale, mode and distribution."""

    def build(
        in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"""Build an initializer that draws {distribution.replace("_", " ")} numbers with variance {variance}.

    {source}Arguments as in `variance_scaling`.

    >>> nn.initializers.{name}()(random.key(0), (2, 3)).shape
    (2, 3)
    """
    return build


_GLOROT = (
    "Glorot and Bengio, Understanding the difficulty of training deep feedforward networks (2010). "
)
_LECUN = "LeCun et al., Efficient BackProp (1998). "
_HE = "For rectifiers: He et al., Delving deep into rectifiers (2015). "

glorot_uniform = _scaled(
    "glorot_uniform", 1.0, "fan_avg", "uniform", "1 / mean(fan-in, fan-out)", _GLOROT
)
glorot_normal = _scaled(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal", "1 / mean(fan-in, fan-out)", _GLOROT
)
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform", "1 / fan-in", _LECUN)
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal", "1 / fan-in", _LECUN)
he_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform", "2 / fan-in", _HE)
he_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal", "2 / fan-in", _HE)
xavier_uniform = glorot_uniform
xavier_normal = glorot_normal
kaiming_uniform = he_uniform
kaiming_normal = he_normal


# orthogonal matrices ------------------------------------------------------------------------------


@_promotes_freely
def _orthonormal(key: Any, rows: int, columns: int, dtype: Any) -> Array:
    """Draw a random matrix with orthonormal columns, or rows if these are fewer."""
    tall = max(rows, columns), min(rows, columns)
    q, r = qr(random.normal(key, tall, dtype), full_matrices=False)
    # of the two signs that a column may have, one makes the distribution uniform
    q = q * snp.sign(snp.diagonal(r))
    return q if rows >= columns else q.T


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Build an initializer that draws `scale` times uniformly distributed orthogonal matrices.

    The axis `column_axis` is for columns, all others together for rows; the fewer of both are
    orthonormal.

    Initializers raise ValueError for shapes with less than two axes.

    >>> q = nn.initializers.orthogonal()(random.key(0), (3, 2))
    >>> (q.T @ q).round(3)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        dtype = _dtype("orthogonal", dtype)
        shape = _shape_of("orthogonal", shape)
        if len(shape) < 2:
            raise ArgumentValueError(
                "orthogonal initializer requires at least a 2D shape",
                function="orthogonal",
                argument="shape",
                got=shape,
            )
        if 0 in shape:
            return snp.zeros(shape, dtype)
        columns = shape[column_axis]
        matrix = _orthonormal(key, math.prod(shape) // columns, columns, dtype)
        others = list(shape)
        del others[column_axis]
        weights = snp.moveaxis(matrix.reshape(*others, columns), -1, column_axis)
        return snp.asarray(scale, dtype) * weights

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Build an initializer for convolution kernels: an orthogonal center, zeros around it.

    Shapes have 3, 4 or 5 axes, the last two for inputs and outputs, with at most as many inputs as outputs
    (else ValueError). Xiao et al., Dynamical isometry and a mean field theory of CNNs (2018).

    >>> kernel = nn.initializers.delta_orthogonal()(random.key(0), (3, 1, 1))
    >>> abs(kernel[:, 0, 0])
    Array([0., 1., 0.], dtype=float32)
    """
    default = dtype

    @_sharded_output
    def init(key: Any, shape: Any, dtype: Any = default, out_sharding: Any = None) -> Array:
        name = "delta_orthogonal"
        dtype = _dtype(name, dtype)
        shape = _shape_of(name, shape)
        if len(shape) not in (3, 4, 5):
            raise ArgumentValueError(
                "Delta orthogonal initializer requires a 3D, 4D or 5D shape.",
                function=name,
                argument="shape",
                got=shape,
            )
        if shape[-1] < shape[-2]:
            raise ArgumentValueError(
                "`fan_in` must be less or equal than `fan_out`.",
                function=name,
                argument="shape",
                got=shape,
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        middle = tuple([(n - 1) // 2 for n in shape[:-2]])
        return snp.zeros(shape, dtype).at[middle].set(matrix)

    return init


# what they share ----------------------------------------------------------------------------------


def _dtype(function: str, dtype: Any) -> Any:
    return dtypes.requested_dtype(float if dtype is None else dtype, function)
