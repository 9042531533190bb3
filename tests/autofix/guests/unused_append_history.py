# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently throws the longer array away
# line: 25
# depends: -
# fix: assign_result
# fixed-file: fixed/unused_append_history.py
# result: (12,) 1.521

import jax
import jax.numpy as jnp


@jax.jit
def bisect(low, high):
    middle = 0.5 * (low + high)
    above = middle**3 - middle > 2.0
    return jnp.where(above, low, middle), jnp.where(above, middle, high)


low, high = jnp.array(1.0), jnp.array(2.0)
widths = jnp.array([])
for _ in range(12):
    low, high = bisect(low, high)
    jnp.append(widths, high - low)
print(widths.shape, round(float(low), 3))
