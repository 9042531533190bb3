# error: none
# expect: none
# result: (3, 20) True

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("steps",))
def train(rate, steps):
    def body(w, _):
        w = w - rate * jax.grad(lambda w: (w - 3.0) ** 2)(w)
        return w, (w - 3.0) ** 2

    return jax.lax.scan(body, 0.0, length=steps)


finals, curves = jax.vmap(partial(train, steps=20))(jnp.array([0.01, 0.1, 0.4]))
print(curves.shape, bool(curves[2, -1] < curves[0, -1]))
