# error: none
# expect: none
# result: (2, 2) True

from functools import partial

import jax
import jax.numpy as jnp


def td_loss(params, target, obs, reward):
    best = jax.lax.stop_gradient((obs @ target["w"]).max(axis=1))
    return jnp.mean(((obs @ params["w"]).sum(axis=1) - reward - 0.9 * best) ** 2)


@partial(jax.jit, donate_argnums=0)
def update(params, target, obs, reward):
    loss, grads = jax.value_and_grad(td_loss)(params, target, obs, reward)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


online = {"w": jnp.array([[0.2, 0.1], [0.0, -0.3]])}
target = jax.tree.map(jnp.copy, online)
obs, reward = jnp.array([[1.0, 0.0], [0.5, -1.0]]), jnp.array([1.0, -1.0])
for step in range(6):
    online, loss = update(online, target, obs, reward)
    if step % 3 == 2:
        target = jax.tree.map(jnp.copy, online)
print(online["w"].shape, bool(loss < 2.0))
