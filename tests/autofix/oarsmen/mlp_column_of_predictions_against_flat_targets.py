# error: none
# expect: BroadcastWarning
# line: 29
# depends: -
# fix: any
# result: 0.2 True

import jax
import jax.numpy as jnp


def init_mlp(sizes):
    params = []
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:])):
        w = jnp.sin(jnp.arange(m * n) * 2.3 + i).reshape(m, n) / jnp.sqrt(m)
        params.append((w, jnp.zeros(n)))
    return params


def mlp(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss_fn(params, batch):
    predictions = mlp(params, batch["x"])
    return jnp.mean(jnp.square(predictions - batch["y"]))


@jax.jit
def train(params, batch):
    def step(params, _):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss

    return jax.lax.scan(step, params, None, length=500)


x = jnp.linspace(-1.0, 1.0, 32)[:, None]
batch = {"x": x, "y": jnp.sin(3.0 * x[:, 0])}
params, losses = train(init_mlp([1, 8, 1]), batch)
print(round(float(losses[0]), 2), bool(losses[-1] < 0.05))
