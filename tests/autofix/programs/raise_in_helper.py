# error: TracerBoolConversionError
# line: 12
# depends: rate
# fix: callback
# result: 13.8629

import jax
import jax.numpy as jnp


def check(rate):
    if rate <= 0:
        raise ValueError("rate must be positive")
    return jnp.log(rate)


class Model:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, params, x):
        return self.scale * check(params["rate"]) * x


def loss(params, x):
    return jnp.sum(Model(2.0)(params, x) ** 2)


@jax.jit
def step(rate, x):
    return jax.grad(lambda rate: loss({"rate": rate}, x))(rate)


print(round(float(step(2.0, jnp.array([1.0, 2.0]))), 4))
