# error: UnexpectedTracerError
# line: 16
# depends: x
# fix: return_value
# result: 13.0

import jax
import jax.numpy as jnp

def run(data):
    biggest = jnp.float32(0.0)

    @jax.jit
    def visit(x):
        nonlocal biggest
        biggest = jnp.maximum(biggest, x.max())
        return x.sum()

    total = visit(data)
    return total + biggest

print(round(float(run(jnp.array([1.0, 5.0, 2.0]))), 4))
