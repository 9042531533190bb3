# error: none
# expect: AsyncTimingWarning
# jax-differs: jax returns before the product is computed
# line: 31
# also-line: 30
# depends: -
# fix: block_until_ready
# fixed-file: fixed/timing_of_matmul.py
# result: (256, 256) measured True
# family: 2/timing-without-waiting

import time

import jax
import jax.numpy as jnp


@jax.jit
def correlate(frames):
    centered = frames - frames.mean(axis=0)
    return centered.T @ centered / frames.shape[0]


frames = jnp.ones((512, 256))
correlate(frames).block_until_ready()  # compiles

runs = 5
start = time.perf_counter()
for _ in range(runs):
    matrix = correlate(frames)
elapsed = (time.perf_counter() - start) / runs
print(matrix.shape, "measured", elapsed > 0.0)
