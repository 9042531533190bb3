"""Build networks of layers: pairs `init(key, input_shape)`, `apply(params, inputs)`.

`init` gives the shape of the output and the parameters. Layers are combined by `serial` and `parallel`.

>>> import sagax
>>> import sagax.numpy as snp
>>> from sagax.example_libraries import stax
>>> init, apply = stax.serial(stax.Dense(16), stax.Relu, stax.Dense(3), stax.LogSoftmax)
>>> shape, params = init(sagax.random.key(0), (-1, 4))
>>> shape, apply(params, snp.ones((5, 4))).shape
((-1, 3), (5, 3))
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.nn as nn
import sagax.numpy as snp
import sagax.random as random
from sagax._src.api.tracing_utils import eval_shape
from sagax._src.core.avals import ShapedArray
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from sagax.nn.initializers import glorot_normal, normal, ones, zeros

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax  # older names

Layer = tuple[Callable[..., Any], Callable[..., Any]]

# --- layers with parameters ------------------------------------------------------------------------------


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:
    """Build a layer that multiplies by a matrix and adds a vector; parameters (W, b).

    >>> init, apply = stax.Dense(3)
    >>> shape, (w, b) = init(sagax.random.key(0), (-1, 4))
    >>> w.shape, b.shape
    ((4, 3), (3,))
    """
    w_init, b_init = W_init or glorot_normal(), b_init or normal()

    def init(rng: Any, input_shape: Sequence[int]) -> tuple:
        k1, k2 = random.split(rng)
        params = w_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        product = snp.dot(inputs, w)
        return product + snp.broadcast_to(b, product.shape)

    return init, apply


def GeneralConv(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = None,
) -> Layer:
    """Build a convolution layer.

    `dimension_numbers` names the layouts, such as ("NHWC", "HWIO", "NHWC").

    >>> init, apply = stax.GeneralConv(("NHWC", "HWIO", "NHWC"), 8, (3, 3), padding="SAME")
    >>> init(sagax.random.key(0), (1, 5, 5, 2))[0]
    (1, 5, 5, 8)
    """
    return _conv(
        lax.conv_general_dilated,
        dimension_numbers,
        out_chan,
        filter_shape,
        strides,
        padding,
        W_init,
        b_init,
    )


def GeneralConvTranspose(
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = None,
) -> Layer:
    """Build a transposed convolution layer, which enlarges arrays.

    >>> init, apply = stax.GeneralConvTranspose(("NHC", "HIO", "NHC"), 8, (3,), strides=(2,))
    >>> init(sagax.random.key(0), (1, 5, 2))[0]
    (1, 11, 8)
    """
    return _conv(
        lax.conv_transpose,
        dimension_numbers,
        out_chan,
        filter_shape,
        strides,
        padding,
        W_init,
        b_init,
    )


def _conv(
    function: Callable[..., Any],
    dimension_numbers: tuple[str, str, str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None,
    padding: Any,
    w_init: Any,
    b_init: Any,
) -> Layer:
    lhs, rhs, out = dimension_numbers
    w_init = w_init or glorot_normal(rhs.index("I"), rhs.index("O"))
    b_init = b_init or normal(1e-6)
    window = strides or (1,) * len(filter_shape)

    def run(inputs: Any, w: Any) -> Any:
        return function(inputs, w, window, padding, dimension_numbers=dimension_numbers)

    def init(rng: Any, input_shape: Sequence[int]) -> tuple:
        sizes = iter(filter_shape)
        channels = input_shape[lhs.index("C")]
        kernel = tuple({"O": out_chan, "I": channels}[c] if c in "OI" else next(sizes) for c in rhs)
        bias = tuple(out_chan if c == "C" else 1 for c in out)
        k1, k2 = random.split(rng)
        params = w_init(k1, kernel), b_init(k2, bias)
        found = _shape_of(run, input_shape, np.empty(kernel, np.float32), batch=lhs.index("N"))
        return found, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        w, b = params
        return run(inputs, w) + b

    return init, apply


def _shape_of(run: Callable[..., Any], shape: Sequence[int], *args: Any, batch: int = 0) -> tuple:
    """The shape of a result; a batch of unknown size, -1, stays one."""
    concrete_shape = tuple(1 if n == -1 else n for n in shape)
    found = list(eval_shape(run, ShapedArray(concrete_shape, np.float32), *args).shape)
    if shape[batch] == -1:
        found[batch] = -1
    return tuple(found)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Build a layer that standardizes by mean and deviation of the batch, then scales and shifts.

    >>> init, apply = stax.BatchNorm(axis=0)
    >>> shape, params = init(sagax.random.key(0), (-1, 2))
    >>> apply(params, snp.array([[1.0, 2.0], [3.0, 2.0]])).round(3)
    Array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Sequence[int]) -> tuple:
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axes)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        gamma = gamma_init(k2, shape) if scale else ()
        return tuple(input_shape), (beta, gamma)

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        index = tuple(None if i in axes else slice(None) for i in range(snp.ndim(x)))
        z = nn.standardize(x, axes, epsilon=epsilon)
        if scale:
            z = gamma[index] * z
        return z + beta[index] if center else z

    return init, apply


# --- layers without parameters ---------------------------------------------------------------------------


def _same_shape(rng: Any, input_shape: Sequence[int]) -> tuple:
    return tuple(input_shape), ()


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """Build a layer that applies a function elementwise.

    >>> init, apply = stax.elementwise(snp.square)
    >>> float(apply((), 3.0))
    9.0
    """
    return _same_shape, lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs)


Tanh = elementwise(snp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(snp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
Identity: Layer = (_same_shape, lambda params, inputs, **kwargs: inputs)


def _pooling(name: str, description: str, reducer: Any, initial: float, rescale: bool = False):
    """Make a public function that builds layers of windows."""

    def pool(
        window_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: Any = "VALID",
        spec: str | None = None,
    ) -> Layer:
        strides = tuple(strides or (1,) * len(window_shape))
        names = spec or ("N" + "DHW"[3 - len(window_shape) :] + "C")
        spatial_dims = [i for i, c in enumerate(names) if c not in "NC"]
        window, steps = [1] * len(names), [1] * len(names)
        for i, size, step in zip(spatial_dims, window_shape, strides, strict=True):
            window[i], steps[i] = size, step

        def run(inputs: Any) -> Any:
            out = lax.reduce_window(inputs, initial, reducer, window, steps, padding)
            if not rescale:
                return out
            spatial = [n if i in spatial_dims else 1 for i, n in enumerate(inputs.shape)]
            ones = snp.ones(spatial, inputs.dtype)
            return out / lax.reduce_window(ones, 0.0, lax.add, window, steps, padding)

        def init(rng: Any, input_shape: Sequence[int]) -> tuple:
            return _shape_of(run, input_shape, batch=names.index("N")), ()

        return init, lambda params, inputs, **kwargs: run(inputs)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""Build a layer of each window's {description}.

    `spec` names the dimensions, by default those of "NHWC".

    >>> stax.{name}((2, 2), strides=(2, 2))[0](sagax.random.key(0), (1, 6, 6, 3))[0]
    (1, 3, 3, 3)
    """
    return pool


MaxPool = _pooling("MaxPool", "maximum", lax.max, -math.inf)
SumPool = _pooling("SumPool", "sum", lax.add, 0.0)
AvgPool = _pooling("AvgPool", "mean, over what lies within the array", lax.add, 0.0, rescale=True)


def _flatten() -> Layer:
    def init(rng: Any, input_shape: Sequence[int]) -> tuple:
        return (input_shape[0], math.prod(input_shape[1:])), ()

    return init, lambda params, inputs, **kwargs: snp.reshape(inputs, (inputs.shape[0], -1))


Flatten = _flatten()


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Build a layer that keeps each number with the probability `rate`, divided by it.

    With a `mode` other than "train" it keeps all numbers. `apply` takes a key: `apply(params,
    inputs, rng=key)`.

    >>> init, apply = stax.Dropout(0.5)
    >>> sorted({float(x) for x in apply((), snp.ones(64), rng=sagax.random.key(0))})
    [0.0, 2.0]
    """

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        if rng is None:
            raise ArgumentValueError(
                "Dropout layer requires apply_fun to be called with a PRNG key argument.",
                function="stax.Dropout",
                fix="call it as apply_fun(params, inputs, rng=sagax.random.key(0))",
            )
        if mode != "train":
            return inputs
        mask = random.bernoulli(rng, rate, snp.shape(inputs))
        return snp.where(mask, inputs / rate, 0)

    return _same_shape, apply


# --- layers of several inputs or outputs -----------------------------------------------------------------


def FanOut(num: int) -> Layer:
    """Build a layer that copies the input `num` times.

    >>> stax.FanOut(2)[1]((), 3.0)
    [3.0, 3.0]
    """
    return (
        lambda rng, input_shape: ([input_shape] * num, ()),
        lambda params, inputs, **kwargs: [inputs] * num,
    )


def _fan_in_sum() -> Layer:
    return (
        lambda rng, input_shape: (input_shape[0], ()),
        lambda params, inputs, **kwargs: functools.reduce(snp.add, inputs),
    )


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:
    """Build a layer that joins the inputs along `axis`.

    >>> stax.FanInConcat()[1]((), [np.ones((2, 3)), np.ones((2, 1))]).shape
    (2, 4)
    """

    def init(rng: Any, input_shape: Sequence[Sequence[int]]) -> tuple:
        position = axis % len(input_shape[0])
        size = sum(shape[position] for shape in input_shape)
        first = tuple(input_shape[0])
        return (*first[:position], size, *first[position + 1 :]), ()

    return init, lambda params, inputs, **kwargs: snp.concatenate(inputs, axis)


def _keys(rng: Any, n: int) -> Any:
    return random.split(rng, n) if rng is not None else (None,) * n


def serial(*layers: Layer) -> Layer:
    """Compose layers one after the other.

    >>> init, apply = stax.serial(stax.Identity, stax.Exp)
    >>> float(apply([(), ()], 0.0))
    1.0
    """
    inits, applies = [i for i, _ in layers], [a for _, a in layers]

    def init(rng: Any, input_shape: Any) -> tuple:
        params = []
        for one in inits:
            rng, own = random.split(rng)
            input_shape, found = one(own, input_shape)
            params.append(found)
        return input_shape, params

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        for one, p, key in zip(applies, params, _keys(rng, len(layers))):
            inputs = one(p, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Compose layers side by side, each on the input of its index.

    >>> init, apply = stax.parallel(stax.Identity, stax.Exp)
    >>> [float(x) for x in apply([(), ()], [5.0, 0.0])]
    [5.0, 1.0]
    """
    inits, applies = [i for i, _ in layers], [a for _, a in layers]

    def init(rng: Any, input_shape: Any) -> tuple:
        keys = random.split(rng, len(layers))
        found = [one(key, shape) for one, key, shape in zip(inits, keys, input_shape)]
        return [shape for shape, _ in found], [params for _, params in found]

    def apply(params: Any, inputs: Any, rng: Any = None, **kwargs: Any) -> Any:
        keys = _keys(rng, len(layers))
        return [f(p, x, rng=k, **kwargs) for f, p, x, k in zip(applies, params, inputs, keys)]

    return init, apply


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """Build the layer that `make_layer` makes for the shape of the input.

    >>> init, apply = stax.shape_dependent(lambda shape: stax.Dense(2 * shape[-1]))
    >>> init(sagax.random.key(0), (-1, 3))[0]
    (-1, 6)
    """

    def init(rng: Any, input_shape: Any) -> tuple:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(snp.shape(inputs))[1](params, inputs, **kwargs)

    return init, apply
