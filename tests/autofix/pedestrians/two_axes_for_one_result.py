# error: ValueError
# expect: ValueError | TypeError
# line: 17
# also-line: 19
# depends: -
# fix: out_axes
# result: [3.000000238418579, 1.4140000343322754, 2.828000068664551]

import jax
import jax.numpy as jnp


def distance(a, b):
    return jnp.sqrt(jnp.sum((a - b) ** 2))


table = jax.vmap(distance, in_axes=(0, 0), out_axes=(0, 0))
first = jnp.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
print(table(first, jnp.zeros((3, 2))).round(3).tolist())
