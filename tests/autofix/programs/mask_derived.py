# error: NonConcreteBooleanIndexError
# line: 12
# depends: ok
# fix: where_mask_sum
# result: [1.3363, 0.3818]

import jax
import jax.numpy as jnp


def zscores(y, ok):
    good = y[ok]
    z = (good - good.mean()) / good.std()
    return jnp.abs(z).max(), (z ** 3).sum() / len(z)


@jax.jit
def skew(y, ok):
    return zscores(y, ok)


print([round(float(v), 4) for v in skew(jnp.array([1.0, 2.0, 4.0, 50.0]), jnp.array([True, True, True, False]))])
