# error: UnexpectedTracerError
# line: 30
# also-line: 16
# depends: -
# fix: ordinary_argument
# fixed-file: fixed/mask_not_differentiated.py
# result: [4.0, 1.0, -0.5]
# family: leak/nondiff-argument

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def masked_square(x, mask):
    return jnp.where(mask, x**2, x)


@masked_square.defjvp
def masked_square_jvp(mask, primals, tangents):
    (x,), (v,) = primals, tangents
    return masked_square(x, mask), jnp.where(mask, 2.0 * x, 1.0) * v


def loss(x, mask):
    def layer(carry, _):
        x, mask = carry
        return (masked_square(x, mask), mask), None

    (x, _), _ = jax.lax.scan(layer, (x, mask), None, length=2)
    return jnp.sum(x)


x = jnp.array([1.0, 1.5, -0.5])
print([round(float(g), 3) for g in jax.grad(loss)(x, jnp.array([True, False, True]))])
