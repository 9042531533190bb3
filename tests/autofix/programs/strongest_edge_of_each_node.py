# error: ConcretizationTypeError
# line: 13
# depends: ids
# fix: size_arg
# result: [4.0, 3.0, 2.0]

import jax
import jax.numpy as jnp


@jax.jit
def strongest(node, edges, ids):
    return node + jax.ops.segment_max(edges, ids)


print(strongest(jnp.zeros(3), jnp.arange(5.0), jnp.array([0, 1, 2, 1, 0])).tolist())
