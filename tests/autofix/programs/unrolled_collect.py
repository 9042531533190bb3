# error: UnrolledLoopWarning
# line: 14
# depends: -
# fix: fori_or_scan
# result: 72.924

import jax
import jax.numpy as jnp


@jax.jit
def trace(x):
    seen = []
    for _ in range(150):
        x = x * 0.99 + 0.01
        seen.append(x)
    return jnp.stack(seen).sum()


print(round(float(trace(jnp.array(0.0))), 3))
