# One correct fixed version of oob_write_past_the_end.py
import jax
import jax.numpy as jnp

CAPACITY = 4


@jax.jit
def store(buffer, cursor, transition):
    buffer = buffer.at[cursor % CAPACITY].set(transition)
    return buffer, cursor + 1


buffer, cursor = jnp.zeros((CAPACITY, 2)), 0
for k in range(6):
    buffer, cursor = store(buffer, cursor, jnp.array([k, 10.0 * k]))
print(buffer[:, 0].tolist(), int(cursor))
