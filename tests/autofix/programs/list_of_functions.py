# error: TracerIntegerConversionError
# line: 24
# depends: which
# fix: cond
# result: 3.0

import jax
import jax.numpy as jnp


def flat(x, s):
    return jnp.ones_like(x) * s


def hat(x, s):
    return jnp.maximum(0.0, s - jnp.abs(x))


KERNELS = (flat, hat)


@jax.jit
def apply(which, x):
    return KERNELS[which](x, 2.0).sum()


print(float(apply(1, jnp.array([0.0, 1.0, 5.0]))))
