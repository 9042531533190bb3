# error: none
# expect: BroadcastWarning
# jax-differs: jax silently averages over (n, n) differences
# line: 21
# depends: -
# fix: squeeze_axis
# fixed-file: fixed/regression_target_column.py
# result: True
# family: 2/column-minus-row

import jax
import jax.numpy as jnp


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"]


def loss(params, x, y):
    residual = predict(params, x) - y
    return jnp.mean(residual**2)


params = {
    "w1": jnp.array([[1.0, -0.5, 0.3]]),
    "b1": jnp.zeros(3),
    "w2": jnp.array([[0.5], [0.2], [-0.1]]),
}
x = jnp.linspace(-1.0, 1.0, 8)[:, None]
y = jnp.linspace(-1.0, 1.0, 8)
for _ in range(200):
    grads = jax.grad(loss)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)
print(bool(loss(params, x, y) < 0.02))
