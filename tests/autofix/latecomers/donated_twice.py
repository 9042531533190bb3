# error: JaxRuntimeError
# expect: JaxRuntimeError | XlaRuntimeError | RuntimeError | ValueError
# line: 35
# also-line: 25
# depends: -
# fix: copy_before_donate
# fixed-file: fixed/donated_twice.py
# result: [0.494, 0.498, 0.502, 0.506] ; [0.274, 0.425, 0.575, 0.726]

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
    return params, params


def fake_grads(params):
    return jax.tree.map(lambda p: 2.0 * (p - 0.5), params)


params, target = make_agent(4)
for _ in range(20):
    grads = fake_grads(params)
    params, target = soft_update(params, target, grads, 0.05)
print([round(float(v), 3) for v in params["actor"]])
print([round(float(v), 3) for v in target["actor"]])
