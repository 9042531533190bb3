# error: none
# expect: none
# result: (4, 2) (4, 3) ; True

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("sizes", "activation"))
def init_and_apply(key, x, sizes, activation="tanh"):
    act = {"tanh": jnp.tanh, "relu": jax.nn.relu}[activation]
    keys = jax.random.split(key, len(sizes))
    widths = (x.shape[-1],) + sizes
    for i, (m, n) in enumerate(zip(widths[:-1], widths[1:])):
        w = jax.random.normal(keys[i], (m, n)) / jnp.sqrt(m)
        x = x @ w
        if i < len(sizes) - 1:
            x = act(x)
    return x


small_key, large_key = jax.random.split(jax.random.key(0))
x = jnp.ones((4, 5))
small = init_and_apply(small_key, x, sizes=(8, 2))
large = init_and_apply(large_key, x, sizes=(16, 16, 3), activation="relu")
print(small.shape, large.shape)
print(bool(jnp.all(small == small[0])))
