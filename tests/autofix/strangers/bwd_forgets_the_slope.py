# error: TypeError
# expect: TypeError | ValueError
# line: 26
# also-line: 29, 33
# depends: -
# fix: bwd_outputs
# fixed-file: fixed/bwd_forgets_the_slope.py
# result: [-0.02, 1.0, 4.0]
# family: 3/bwd-too-few

import jax
import jax.numpy as jnp


@jax.custom_vjp
def leaky(x, slope):
    return jnp.where(x > 0, x, slope * x)


def leaky_fwd(x, slope):
    return leaky(x, slope), (x, slope)


def leaky_bwd(residuals, g):
    x, slope = residuals
    return (jnp.where(x > 0, g, slope * g),)


leaky.defvjp(leaky_fwd, leaky_bwd)


def loss(x):
    return jnp.sum(leaky(x, 0.1) ** 2)


print([round(float(v), 4) for v in jax.grad(loss)(jnp.array([-1.0, 0.5, 2.0]))])
