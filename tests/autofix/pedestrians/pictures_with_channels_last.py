# error: ValueError
# expect: TypeError | ValueError
# line: 15
# also-line: 20
# depends: pictures, filters
# fix: axis
# result: 1656.9000244140625

import jax
import jax.numpy as jnp


@jax.jit
def edges(pictures, filters):
    return jax.lax.conv(pictures, filters, window_strides=(1, 1), padding="SAME")


pictures = jnp.arange(2 * 6 * 5 * 3.0).reshape(2, 6, 5, 3) % 7
filters = jnp.ones((4, 3, 3, 3)) / 9
found = edges(pictures, filters)
print(float(found.sum().round(1)))
