import time

import jax
import jax.numpy as jnp


@jax.jit
def kernel(a):
    return jnp.tanh(a @ a.T).sum()


a = jnp.ones((200, 50)) / 50.0
_ = kernel(a).block_until_ready()
times = []
for _ in range(3):
    start = time.perf_counter()
    result = kernel(a)
    result.block_until_ready()
    times.append(time.perf_counter() - start)
print(min(times) >= 0.0, round(float(result), 2))
