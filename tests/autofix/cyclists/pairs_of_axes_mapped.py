# error: ValueError
# expect: ValueError | TypeError
# line: 20
# also-line: 19
# depends: -
# fix: in_axes
# result: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]

import jax
import jax.numpy as jnp


def weighted(x, y):
    return 2.0 * x + y


left = jnp.arange(9.0).reshape(3, 3)
right = jnp.arange(0.0, -9.0, -1.0).reshape(3, 3)
both = jax.vmap(weighted, in_axes=((0, 1), (0, 1)))
print(both(left, right).tolist())
