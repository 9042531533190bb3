# error: TypeError
# expect: TypeError | ValueError
# line: 35
# also-line: 24, 28
# depends: -
# fix: custom_rule
# result: [0.0, 1.0, 2.0]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled_gradient(x, factor):
    return x


def forward(x, factor):
    return x, None


def backward(residuals, cotangent):
    return (cotangent * 0.5,)


scaled_gradient.defvjp(forward, backward)


def loss(w):
    return jnp.sum(scaled_gradient(w, 0.5) ** 2)


print(jax.grad(loss)(jnp.arange(3.0)).tolist())
