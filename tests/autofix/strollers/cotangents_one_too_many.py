# error: TypeError
# expect: TypeError | ValueError
# line: 27
# also-line: 22, 23, 26
# depends: -
# fix: custom_rule
# result: [1.0, 1.0]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def quantize(x, step):
    return jnp.round(x / step) * step


def fwd(x, step):
    return quantize(x, step), step


def bwd(step, ct):
    return ct, jnp.zeros_like(step), None


quantize.defvjp(fwd, bwd)
print(jax.grad(lambda x: quantize(x, 0.5).sum())(jnp.array([0.3, 1.1])).tolist())
