# error: none
# expect: ZeroGradientWarning
# jax-differs: 0.0
# line: 16
# also-line: 17
# depends: -
# fix: any
# result: 0.279

import jax
import jax.numpy as jnp

values = jnp.array([1.0, 3.0, 2.0])


def utility(theta):
    choice = jnp.argmax(values * theta)
    return values[choice]


print(round(float(jax.grad(lambda t: utility(t * jnp.array([1.0, 0.9, 1.2])))(1.0)), 3))
