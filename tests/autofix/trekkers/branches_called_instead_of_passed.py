# error: TypeError
# line: 21
# depends: -
# fix: any
# result: 0.15000000596046448 0.6000000238418579

import jax
import jax.numpy as jnp


def shrink(x):
    return 0.5 * x


def grow(x):
    return 2.0 * x


@jax.jit
def adapt(step, ratio):
    return jax.lax.cond(ratio < 0.25, shrink(step), grow(step))


print(float(adapt(jnp.array(0.3), jnp.array(0.1))), float(adapt(jnp.array(0.3), jnp.array(0.9))))
