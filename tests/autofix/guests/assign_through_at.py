# error: TracerIntegerConversionError
# expect: TracerIntegerConversionError | TypeError
# line: 15
# depends: -
# fix: at_set
# fixed-file: fixed/assign_through_at.py
# result: [7.0, 5.0, 6.0] 1

import jax
import jax.numpy as jnp


@jax.jit
def push(queue, head, item):
    queue.at[head] = item
    return queue, (head + 1) % queue.shape[0]


queue, head = jnp.zeros(3), 0
for arrival in (4.0, 5.0, 6.0, 7.0):
    queue, head = push(queue, head, arrival)
print(queue.tolist(), int(head))
