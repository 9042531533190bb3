# error: TypeError
# line: 20
# also-line: 22
# depends: -
# fix: argument_order
# fixed-file: fixed/smoothing_body_order.py
# result: [0.0048, 0.0304, 0.1056, 0.2192, 0.2794, 0.2192, 0.1056, 0.0304, 0.0048, 0.0006]
# family: carry/index-and-value-swapped

import jax
import jax.numpy as jnp


@jax.jit
def diffuse(heat, steps):
    """Explicit heat equation on a ring."""

    def body(heat, step):
        spread = 0.2 * (jnp.roll(heat, 1) + jnp.roll(heat, -1) - 2.0 * heat)
        return heat + spread

    return jax.lax.fori_loop(0, steps, body, heat)


heat = jnp.zeros(10).at[4].set(1.0)
print([round(float(v), 4) for v in diffuse(heat, 5)])
