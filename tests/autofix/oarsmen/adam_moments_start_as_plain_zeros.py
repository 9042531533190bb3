# error: TypeError
# line: 45
# depends: -
# fix: any
# result: [2.0, -1.0] 0.5

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class AdamState(NamedTuple):
    count: Any
    mu: Any
    nu: Any


def adam_init(params):
    zeros = jax.tree.map(lambda p: 0.0, params)
    return AdamState(count=0, mu=zeros, nu=zeros)


def adam_update(grads, state, lr=0.05, b1=0.9, b2=0.999, eps=1e-8):
    count = state.count + 1
    mu = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mu, grads)
    nu = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g**2, state.nu, grads)
    scale = lr * jnp.sqrt(1 - b2**count) / (1 - b1**count)
    updates = jax.tree.map(lambda m, v: -scale * m / (jnp.sqrt(v) + eps), mu, nu)
    return updates, AdamState(count, mu, nu)


X = jnp.stack([jnp.linspace(-1, 1, 32), jnp.cos(jnp.arange(32.0))], axis=1)
y = X @ jnp.array([2.0, -1.0]) + 0.5


def mse(params):
    return jnp.mean((X @ params["w"] + params["b"] - y) ** 2)


def train_step(carry, _):
    params, opt = carry
    loss, grads = jax.value_and_grad(mse)(params)
    updates, opt = adam_update(grads, opt)
    return (jax.tree.map(jnp.add, params, updates), opt), loss


params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
(params, _), losses = jax.lax.scan(train_step, (params, adam_init(params)), None, length=600)
print([round(v, 1) for v in params["w"].tolist()], round(float(params["b"]), 1))
