# error: JaxRuntimeError
# expect: JaxRuntimeError | XlaRuntimeError | RuntimeError | ValueError
# line: 41
# also-line: 33
# depends: -
# fix: any
# result: [[0.6414999961853027, -0.1054999977350235], [0.19999998807907104, 0.49949997663497925]]

from functools import partial

import jax
import jax.numpy as jnp


def q_values(params, obs):
    return jnp.tanh(obs @ params["w1"]) @ params["w2"]


def td_loss(params, target, batch):
    obs, action, reward, following = batch
    chosen = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
    best = q_values(target, following).max(axis=1)
    return jnp.mean((chosen - reward - 0.9 * jax.lax.stop_gradient(best)) ** 2)


@partial(jax.jit, donate_argnums=0)
def update(params, target, batch):
    grads = jax.grad(td_loss)(params, target, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


online = {"w1": jnp.array([[0.3, -0.1], [0.2, 0.5]]), "w2": jnp.array([[1.0, 0.0], [0.0, 1.0]])}
target = online
batch = (
    jnp.array([[1.0, 0.0], [0.5, -1.0]]),
    jnp.array([0, 1]),
    jnp.array([1.0, -1.0]),
    jnp.array([[0.0, 1.0], [1.0, 1.0]]),
)
for step in range(4):
    online = update(online, target, batch)
    if step == 1:
        target = jax.tree.map(jnp.copy, online)
print(online["w1"].round(4).tolist())
