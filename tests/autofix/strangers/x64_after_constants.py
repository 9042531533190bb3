# error: none
# expect: DtypeTruncationWarning
# jax-differs: jax silently keeps the arrays that were made in float32
# line: 18
# also-line: 15, 16
# depends: -
# fix: enable_x64
# fixed-file: fixed/x64_after_constants.py
# result: float64 float64 1.5035
# family: 2/x64-too-late

import jax
import jax.numpy as jnp

nodes = jnp.array([0.1, 0.2, 0.7])
weights = jnp.array([0.3, 0.3, 0.4])

jax.config.update("jax_enable_x64", True)


@jax.jit
def quadrature(nodes, weights):
    return jnp.sum(weights * jnp.exp(nodes))


total = quadrature(nodes, weights)
print(total.dtype, nodes.dtype, round(float(total), 4))
