# error: none
# expect: none
# result: True

import jax
import jax.numpy as jnp


def gru(params, h, x):
    z = jax.nn.sigmoid(x @ params["wz"] + h @ params["uz"])
    r = jax.nn.sigmoid(x @ params["wr"] + h @ params["ur"])
    n = jnp.tanh(x @ params["wn"] + (r * h) @ params["un"])
    return (1 - z) * n + z * h


def loss(params, xs, ys):
    def step(h, xy):
        x, y = xy
        h = gru(params, h, x)
        return h, jnp.mean((h[:, 0] - y) ** 2)

    h0 = jnp.zeros((xs.shape[1], 6))
    return jax.lax.scan(step, h0, (xs, ys))[1].mean()


names = ["wz", "uz", "wr", "ur", "wn", "un"]
keys = jax.random.split(jax.random.key(0), len(names))
params = {
    n: 0.3 * jax.random.normal(k, (2 if n[0] == "w" else 6, 6)) for n, k in zip(names, keys)
}
xs = jnp.sin(jnp.arange(80.0)).reshape(10, 4, 2)
ys = jnp.cos(jnp.arange(40.0)).reshape(10, 4)
step = jax.jit(lambda p: jax.tree.map(lambda a, g: a - 0.1 * g, p, jax.grad(loss)(p, xs, ys)))
before = loss(params, xs, ys)
for _ in range(10):
    params = step(params)
print(bool(loss(params, xs, ys) < before))
