# error: TracerBoolConversionError
# line: 35
# depends: params, x, y
# fix: where
# fixed-file: fixed/nan_guard_training.py
# result: final loss below 0.05: True

from functools import partial

import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n))
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


def mse(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


@partial(jax.jit, static_argnames="lr")
def train_step(params, x, y, lr=0.1):
    loss, grads = jax.value_and_grad(mse)(params, x, y)
    updated = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    if jnp.isnan(loss):
        return params, loss
    return updated, loss


params = init(jax.random.key(3), [2, 8, 1])
x = jnp.linspace(-1.0, 1.0, 20).reshape(10, 2)
y = jnp.sin(3.0 * x[:, 0])
for _ in range(200):
    params, loss = train_step(params, x, y)
print("final loss below 0.05:", bool(loss < 0.05))
