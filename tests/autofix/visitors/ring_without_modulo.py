# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently drops writes past the end
# line: 20
# depends: step
# fix: modulo
# fixed-file: fixed/ring_without_modulo.py
# result: [6.0, 7.0, 8.0, 9.0]
# family: silent/out-of-bounds-write

import jax
import jax.numpy as jnp

CAPACITY = 4


@jax.jit
def remember(buffer, step, item):
    """Keeps the latest four items."""
    return buffer.at[step].set(item)


buffer = jnp.zeros(CAPACITY)
for step in range(10):
    buffer = remember(buffer, step, float(step))
print(sorted(buffer.tolist()))
