# One correct fixed version of assign_through_at.py
import jax
import jax.numpy as jnp


@jax.jit
def push(queue, head, item):
    queue = queue.at[head].set(item)
    return queue, (head + 1) % queue.shape[0]


queue, head = jnp.zeros(3), 0
for arrival in (4.0, 5.0, 6.0, 7.0):
    queue, head = push(queue, head, arrival)
print(queue.tolist(), int(head))
