# error: TypeError
# line: 13
# depends: -
# fix: builtin_sum
# result: 14.0

import jax
import jax.numpy as jnp


@jax.jit
def penalty(params):
    return jnp.sum(jnp.sum(p**2) for p in jax.tree.leaves(params))


print(float(penalty({"w": jnp.array([1.0, 2.0]), "b": jnp.array(3.0)})))
