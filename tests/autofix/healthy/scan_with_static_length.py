from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def logistic_map(r, x, steps):
    def body(_, x):
        return r * x * (1.0 - x)

    return jax.lax.fori_loop(0, steps, body, x)


# the trip count is static, so that reverse mode works
slope = jax.grad(logistic_map)(2.5, 0.3, steps=30)
states = jax.vmap(partial(logistic_map, steps=50), in_axes=(0, None))(jnp.array([1.5, 2.5]), 0.3)
print(round(float(slope), 3), [round(float(s), 3) for s in states])
