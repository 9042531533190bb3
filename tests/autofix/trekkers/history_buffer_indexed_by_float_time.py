# error: TypeError
# line: 13
# depends: t
# fix: any
# result: [1.0, 1.5, 0.0, 2.5]

import jax
import jax.numpy as jnp


@jax.jit
def record(buffer, t, value):
    return buffer.at[t / 0.5].set(value)


buffer = jnp.zeros(4)
for t in (0.0, 0.5, 1.5):
    buffer = record(buffer, t, t + 1.0)
print(buffer.tolist())
