# One correct fixed version of async_matmul_benchmark.py
import time

import jax
import jax.numpy as jnp


@jax.jit
def smooth(image, kernel):
    return jnp.tanh(image @ kernel @ image.T)


image = jnp.ones((300, 300)) / 300.0
kernel = jnp.eye(300)
smooth(image, kernel).block_until_ready()
start = time.perf_counter()
for _ in range(5):
    out = smooth(image, kernel)
out.block_until_ready()
elapsed = time.perf_counter() - start
print(round(float(out[0, 0]), 4), elapsed > 0.0)
