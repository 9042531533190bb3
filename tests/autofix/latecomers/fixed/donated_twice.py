# One correct fixed version of donated_twice.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames=("params", "target"))
def soft_update(params, target, grads, tau):
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    target = jax.tree.map(lambda t, p: (1 - tau) * t + tau * p, target, params)
    return params, target


def make_agent(n):
    params = {"actor": jnp.linspace(0.0, 1.0, n), "critic": jnp.ones(n)}
    return params, jax.tree.map(jnp.copy, params)


def fake_grads(params):
    return jax.tree.map(lambda p: 2.0 * (p - 0.5), params)


params, target = make_agent(4)
for _ in range(20):
    grads = fake_grads(params)
    params, target = soft_update(params, target, grads, 0.05)
print([round(float(v), 3) for v in params["actor"]])
print([round(float(v), 3) for v in target["actor"]])
