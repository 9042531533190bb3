# error: NameError
# expect: NameError | ValueError
# line: 22
# depends: -
# fix: axis_name
# result: (3, 2) [-0.16669999063014984, -1.0]

import functools

import jax
import jax.numpy as jnp
from jax import lax


def loss(w, x, y):
    return (jnp.dot(w, x) - y) ** 2


@functools.partial(jax.vmap, in_axes=(None, 0, 0), axis_name="examples")
def synced_grad(w, x, y):
    g = jax.grad(loss)(w, x, y)
    return lax.pmean(g, axis_name="batch")


w = jnp.array([1.0, -1.0])
xs = jnp.array([[1.0, 2.0], [0.5, 0.0], [2.0, 1.0]])
ys = jnp.array([0.0, 1.0, 0.5])
g = synced_grad(w, xs, ys)
print(g.shape, g[0].round(4).tolist())
