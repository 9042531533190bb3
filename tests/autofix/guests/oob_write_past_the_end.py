# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently drops what is written past the end
# line: 18
# depends: cursor
# fix: wrap_index
# fixed-file: fixed/oob_write_past_the_end.py
# result: [4.0, 5.0, 2.0, 3.0] 6

import jax
import jax.numpy as jnp

CAPACITY = 4


@jax.jit
def store(buffer, cursor, transition):
    buffer = buffer.at[cursor].set(transition)
    return buffer, cursor + 1


buffer, cursor = jnp.zeros((CAPACITY, 2)), 0
for k in range(6):
    buffer, cursor = store(buffer, cursor, jnp.array([k, 10.0 * k]))
print(buffer[:, 0].tolist(), int(cursor))
