# error: none
# expect: AmbiguousAxesWarning
# line: 22
# depends: -
# fix: any
# result: 0.847 ; 0.665 ; 0.535 ; [0.31800001859664917, 0.10200000554323196] 0.134

import jax
import jax.numpy as jnp

REPLICAS = 4
x = jnp.cos(jnp.arange(32.0) * 0.9).reshape(16, 2)
y = x @ jnp.array([1.5, -0.5]) + 0.2


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    grads = jax.lax.psum(grads, "replica")
    loss = jax.lax.pmean(loss, "replica")
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, loss


step = jax.jit(jax.vmap(train_step, in_axes=(None, 0, 0), out_axes=None, axis_name="replica"))
params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
xs, ys = x.reshape(REPLICAS, 4, 2), y.reshape(REPLICAS, 4)
for _ in range(3):
    params, loss = step(params, xs, ys)
    print(round(float(loss), 3))
print(params["w"].round(3).tolist(), round(float(params["b"]), 3))
