# error: TracerIntegerConversionError
# line: 16
# depends: order
# fix: fori_loop
# fixed-file: fixed/legendre_of_order.py
# result: [[1.0, 1.0, 1.0], [-0.5, 0.0, 0.5], [-0.125, -0.5, -0.125], [0.4375, 0.0, -0.4375]]
# family: concretization/range

import jax
import jax.numpy as jnp


def legendre(order, x):
    """The Legendre polynomial of this order by Bonnet's recursion."""
    before, now = jnp.zeros_like(x), jnp.ones_like(x)
    for n in range(order):
        before, now = now, ((2 * n + 1) * x * now - n * before) / (n + 1)
    return now


x = jnp.array([-0.5, 0.0, 0.5])
orders = jnp.arange(4)
table = jax.vmap(legendre, in_axes=(0, None))(orders, x)
print([[round(float(v), 4) + 0.0 for v in row] for row in table])
