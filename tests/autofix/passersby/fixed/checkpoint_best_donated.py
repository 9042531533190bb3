# One correct fixed version of checkpoint_best_donated.py
from functools import partial

import jax
import jax.numpy as jnp


def predict(params, x):
    return x @ params["w"] + params["b"]


def mse(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@partial(jax.jit, donate_argnums=(0,))
def step(params, x, y, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, jax.grad(mse)(params, x, y))


def train(x, y, rates):
    params = {"w": jnp.zeros(x.shape[1]), "b": jnp.zeros(())}
    best, best_loss = params, float("inf")
    for lr in rates:
        loss = float(mse(params, x, y))
        if loss < best_loss:
            best, best_loss = jax.tree.map(jnp.copy, params), loss
        params = step(params, x, y, lr)
    return best, best_loss


x = jnp.stack([jnp.linspace(-1, 1, 16), jnp.linspace(1, 0, 16) ** 2], axis=1)
y = x @ jnp.array([2.0, -1.0]) + 0.5
best, best_loss = train(x, y, [0.3, 0.3, 0.3, 3.0, 0.3])
print("kept", round(float(mse(best, x, y)), 4) == round(best_loss, 4))
