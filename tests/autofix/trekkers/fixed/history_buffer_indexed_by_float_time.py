import jax
import jax.numpy as jnp


@jax.jit
def record(buffer, t, value):
    return buffer.at[(t / 0.5).astype(int)].set(value)


buffer = jnp.zeros(4)
for t in (0.0, 0.5, 1.5):
    buffer = record(buffer, t, t + 1.0)
print(buffer.tolist())
