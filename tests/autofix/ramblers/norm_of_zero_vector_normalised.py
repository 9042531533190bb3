# error: none
# expect: NaNWarning
# jax-differs: nan
# line: 14
# depends: -
# fix: any
# result: [0.6000000238418579, 0.0]

import jax
import jax.numpy as jnp


def unit(v):
    return v / jnp.linalg.norm(v)


def alignment(v, target):
    return jnp.dot(unit(v), target)


vs = jnp.array([[3.0, 4.0], [0.0, 0.0]])
target = jnp.array([1.0, 0.0])
print(jax.vmap(alignment, in_axes=(0, None))(vs, target).round(3).tolist())
