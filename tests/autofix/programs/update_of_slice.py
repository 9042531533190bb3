# error: IndexError
# expect: IndexError | IndexError | TracerIntegerConversionError
# line: 13
# depends: i
# fix: dynamic_slice
# result: [0.0, 0.0, 1.0, 2.0, 0.0]

import jax
import jax.numpy as jnp

@jax.jit
def write(buffer, block, i):
    return buffer.at[i : i + 2].set(block)

print([float(v) for v in write(jnp.zeros(5), jnp.array([1.0, 2.0]), 2)])
