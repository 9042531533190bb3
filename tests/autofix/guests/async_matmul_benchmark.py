# error: none
# expect: AsyncTimingWarning
# jax-differs: jax silently lets the clock be read before the work is done
# line: 27
# depends: -
# fix: block_until_ready
# fixed-file: fixed/async_matmul_benchmark.py
# result: 0.0033 True

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
elapsed = time.perf_counter() - start
print(round(float(out[0, 0]), 4), elapsed > 0.0)
