# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently drops the counts that fall outside
# line: 20
# depends: values
# fix: clip_index
# fixed-file: fixed/oob_histogram_drops.py
# result: [2, 1, 0, 1, 3] 7
# also-result: [2, 1, 0, 1, 1] 5

import jax
import jax.numpy as jnp

BINS, WIDTH = 5, 2.0


@jax.jit
def histogram(values):
    index = jnp.floor(values / WIDTH).astype(jnp.int32)
    return jnp.zeros(BINS, dtype=jnp.int32).at[index].add(1)


energies = jnp.array([0.5, 1.0, 3.2, 7.7, 9.9, 10.0, 12.5])
counts = histogram(energies)
print(counts.tolist(), int(counts.sum()))
