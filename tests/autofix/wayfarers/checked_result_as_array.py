# error: AttributeError
# expect: AttributeError | TypeError
# line: 21
# depends: -
# fix: unpack_result
# result: 0.5

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def share(x):
    total = jnp.sum(x)
    checkify.check(total != 0, "nothing to share")
    return x / total


safe_share = jax.jit(checkify.checkify(share))
shares = safe_share(jnp.array([1.0, 3.0, 4.0]))
print(round(float(shares.max()), 3))
