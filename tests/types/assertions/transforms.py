"""Types of transformed functions: parameters and results are kept."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, assert_type

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array


class Params(NamedTuple):
    w: Array
    b: Array


def loss(params: Params, x: Array, scale: float = 1.0) -> Array:
    return snp.sum(params.w * x + params.b) * scale


def loss_and_predictions(params: Params, x: Array) -> tuple[Array, dict[str, Array]]:
    y = params.w * x
    return snp.sum(y), {"y": y}


def square(x: Array) -> Array:
    return x * x


def of_number(x: float) -> Array:
    return snp.sin(x)


def two(x: Array, y: Array) -> tuple[Array, Array]:
    return x + y, x * y


x = snp.ones(3)
params = Params(x, x)

# jit
assert_type(sagax.jit(square)(x), Array)
assert_type(sagax.jit(loss)(params, x, scale=2.0), Array)
assert_type(sagax.jit(two)(x, x), tuple[Array, Array])
assert_type(sagax.jit(loss_and_predictions)(params, x), tuple[Array, dict[str, Array]])
assert_type(sagax.jit(loss, static_argnames="scale")(params, x, 3.0), Array)
assert_type(sagax.jit(loss, donate_argnums=(0,))(params, x), Array)
assert_type(sagax.jit(sagax.grad(loss))(params, x), Params)
assert_type(sagax.jit(square).lower(x).as_text(), str)
assert_type(sagax.jit(square).lower(x).compile().as_text(), str)


@sagax.jit
def decorated(params: Params, n: int) -> Params:
    return Params(params.w * n, params.b)


@sagax.jit(static_argnames=("n",))
def with_options(x: Array, n: int) -> Array:
    return x**n


@partial(sagax.jit, static_argnums=1)
def by_partial(x: Array, n: int) -> Array:
    return x**n


assert_type(decorated(params, 2), Params)
assert_type(with_options(x, 2), Array)
assert_type(with_options(x, n=2), Array)
assert_type(by_partial(x, 2), Array)


class Model:
    @sagax.jit
    def __call__(self, x: Array) -> Array:
        return x

    @partial(sagax.jit, static_argnums=0)
    def apply(self, x: Array, n: int) -> tuple[Array, int]:
        return x, n


assert_type(Model()(x), Array)
assert_type(Model().apply(x, 1), tuple[Array, int])

# grad and value_and_grad
assert_type(sagax.grad(square)(x), Array)
assert_type(sagax.grad(of_number)(1.0), Array)
assert_type(sagax.grad(loss)(params, x), Params)
assert_type(sagax.grad(loss)(params, x, scale=2.0), Params)
assert_type(sagax.grad(loss, argnums=1)(params, x), Array)
assert_type(sagax.grad(loss, argnums=(0, 1))(params, x), tuple[Params, Array])
assert_type(sagax.grad(loss, (0, 1))(params, x), tuple[Params, Array])
assert_type(
    sagax.grad(loss_and_predictions, has_aux=True)(params, x), tuple[Params, dict[str, Array]]
)
assert_type(sagax.value_and_grad(loss)(params, x), tuple[Array, Params])
assert_type(sagax.value_and_grad(square)(x), tuple[Array, Array])
assert_type(
    sagax.value_and_grad(loss_and_predictions, has_aux=True)(params, x),
    tuple[tuple[Array, dict[str, Array]], Params],
)
assert_type(
    sagax.value_and_grad(loss, argnums=(0, 1))(params, x), tuple[Array, tuple[Params, Array]]
)
assert_type(sagax.grad(sagax.grad(square))(x), Array)


@sagax.grad
def derivative(x: Array, n: int) -> Array:
    return x**n


assert_type(derivative(x, 2), Array)

# vmap
assert_type(sagax.vmap(square)(x), Array)
assert_type(sagax.vmap(two, in_axes=(0, None))(x, x), tuple[Array, Array])
assert_type(sagax.vmap(sagax.grad(loss), in_axes=(None, 0))(params, x), Params)
assert_type(sagax.vmap(sagax.vmap(square))(x), Array)
assert_type(sagax.pmap(square)(x), Array)

# jacobians
assert_type(sagax.jacfwd(square)(x), Array)
assert_type(sagax.jacrev(square)(x), Array)
assert_type(sagax.jacobian(square)(x), Array)
assert_type(sagax.hessian(square)(x), Array)

# jvp, vjp, linearize
assert_type(sagax.jvp(square, (x,), (x,)), tuple[Array, Array])
assert_type(sagax.jvp(loss, (params, x), (params, x)), tuple[Array, Array])
value, pull = sagax.vjp(square, x)
assert_type(value, Array)
assert_type(pull(x), tuple[Array])
value, pull_both = sagax.vjp(loss, params, x)
assert_type(value, Array)
gradients = pull_both(x)
assert_type(gradients[0], Params)
assert_type(gradients[1], Array)
out, linear = sagax.linearize(square, x)
assert_type(out, Array)
assert_type(linear(x), Array)

# checkpoint, custom rules
assert_type(sagax.checkpoint(square)(x), Array)
assert_type(sagax.checkpoint(loss)(params, x, scale=1.0), Array)
assert_type(sagax.checkpoint(square, policy=sagax.checkpoint_policies.dots_saveable)(x), Array)


@sagax.remat
def block(params: Params, x: Array) -> Array:
    return params.w @ x


@partial(sagax.checkpoint, static_argnums=(1,))
def deep(x: Array, n: int) -> Array:
    return x**n


assert_type(block(params, x), Array)
assert_type(deep(x, 2), Array)


@sagax.custom_vjp
def clipped(x: Array, low: float) -> Array:
    return snp.clip(x, low)


def clipped_fwd(x: Array, low: float) -> tuple[Array, None]:
    return snp.clip(x, low), None


def clipped_bwd(residuals: None, g: Array) -> tuple[Array, None]:
    return g, None


clipped.defvjp(clipped_fwd, clipped_bwd)
assert_type(clipped(x, 1.0), Array)


@partial(sagax.custom_vjp, nondiff_argnums=(0,))
def apply(f: Callable[[Array], Array], x: Array) -> Array:
    return f(x)


assert_type(apply(square, x), Array)


@sagax.custom_jvp
def safe_log(x: Array) -> Array:
    return snp.log(x)


@safe_log.defjvp
def safe_log_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return safe_log(*primals), tangents[0] / primals[0]


assert_type(safe_log(x), Array)

# the rest of the top level
assert_type(sagax.eval_shape(square, x), sagax.ShapeDtypeStruct)
assert_type(sagax.eval_shape(square, x).shape, tuple[int, ...])
assert_type(str(sagax.make_jaxpr(square)(x)), str)
assert_type(sagax.make_jaxpr(square)(x).jaxpr.pretty_print(), str)
assert_type(sagax.device_put(x), Array)
assert_type(sagax.device_put(np.ones(3)), Array)
assert_type(sagax.device_put(params), Params)
assert_type(sagax.device_get(x), np.ndarray)
assert_type(sagax.block_until_ready(x), Array)
assert_type(sagax.block_until_ready(params), Params)
assert_type(sagax.devices(), list[sagax.Device])
assert_type(sagax.devices()[0].platform, str)
assert_type(sagax.device_count(), int)
assert_type(sagax.default_backend(), str)
assert_type(sagax.live_arrays(), list[Array])
assert_type(sagax.ShapeDtypeStruct((3,), snp.float32).dtype, np.dtype)
assert_type(sagax.pure_callback(np.sin, sagax.ShapeDtypeStruct((3,), snp.float32), x), Array)
assert_type(sagax.named_call(square)(x), Array)
assert_type(sagax.typeof(x).ndim, int)
assert_type(sagax.debug.print("x = {}", x), None)


# jitted methods
class Layer:
    @sagax.jit
    def scaled(self, x: Array, factor: float = 2.0) -> Array:
        return x * factor

    @sagax.jit(static_argnums=0)
    def both(self, x: Array) -> tuple[Array, Array]:
        return x, x


layer = Layer()
assert_type(layer.scaled(x), Array)
assert_type(layer.scaled(x, factor=3.0), Array)
assert_type(layer.both(x), tuple[Array, Array])
assert_type(Layer.scaled(layer, x), Array)
assert_type(layer.scaled.lower(x).as_text(), str)
