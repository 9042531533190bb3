# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles a new partial in each iteration
# line: 26
# also-line: 27
# depends: -
# fix: hoist_jit
# fixed-file: fixed/recompile_partial_in_loop.py
# result: [0.6026, 0.5578, 0.0]

from functools import partial

import jax
import jax.numpy as jnp


def proximal_step(x, matrix, target, rate):
    x = x - rate * matrix.T @ (matrix @ x - target)
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - 0.1 * rate, 0.0)


matrix = jnp.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
target = jnp.array([1.0, 0.6])
x = jnp.zeros(3)
for k in range(12):
    step = jax.jit(partial(proximal_step, matrix=matrix, target=target, rate=0.3 / (1 + 0.1 * k)))
    x = step(x)
print([round(float(v), 4) for v in x])
