# One correct fixed version of timing_of_matmul.py
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
matrix.block_until_ready()
elapsed = (time.perf_counter() - start) / runs
print(matrix.shape, "measured", elapsed > 0.0)
