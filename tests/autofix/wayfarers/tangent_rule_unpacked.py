# error: TypeError
# expect: TypeError
# line: 19
# depends: -
# fix: custom_rule
# result: 0.8808

import jax
import jax.numpy as jnp


@jax.custom_jvp
def log1pexp(x):
    return jnp.log1p(jnp.exp(x))


@log1pexp.defjvp
def log1pexp_rule(x, t):
    slope = 1 - 1 / (1 + jnp.exp(x))
    return log1pexp(x), slope * t


print(round(float(jax.grad(log1pexp)(2.0)), 4))
