# error: TypeError
# line: 16
# depends: -
# fix: any
# result: [0.2710000276565552, 0.5420000553131104, 0.8130000233650208]

import jax
import jax.numpy as jnp


@jax.jit
def diffuse(u, k):
    def step(i, u):
        return u + 0.1 * (k[:, None] - u)

    return jax.lax.fori_loop(0, 3, step, u)


print(diffuse(jnp.zeros(3), jnp.array([1.0, 2.0, 3.0])).round(3).tolist())
