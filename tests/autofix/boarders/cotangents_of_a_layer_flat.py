# error: TypeError
# line: 24
# depends: -
# fix: any
# result: [[0.3370000123977661, 0.2370000183582306], [0.28600001335144043, -0.31300002336502075]] [0.036000002175569534, 0.3530000150203705]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def dense(params, x):
    return x @ params["kernel"] + params["bias"]


def dense_fwd(params, x):
    return dense(params, x), (params["kernel"], x)


def dense_bwd(saved, g):
    kernel, x = saved
    norm = jnp.maximum(1.0, jnp.linalg.norm(g))
    g = g / norm
    return x.T @ g, g.sum(axis=0), g @ kernel.T


dense.defvjp(dense_fwd, dense_bwd)


def loss(params, x, y):
    return jnp.mean((dense(params, x) - y) ** 2)


params = {"kernel": jnp.array([[0.5, -0.2], [0.1, 0.4]]), "bias": jnp.zeros(2)}
x = jnp.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
y = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
for _ in range(20):
    grads = jax.grad(loss)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print(params["kernel"].round(3).tolist(), params["bias"].round(3).tolist())
