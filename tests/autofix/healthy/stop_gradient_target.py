import jax
import jax.numpy as jnp


def q_values(params, state):
    return jnp.tanh(state @ params["w"]) @ params["v"]


def td_loss(params, state, action, reward, following):
    target = reward + 0.9 * jax.lax.stop_gradient(q_values(params, following).max(axis=1))
    chosen = jnp.take_along_axis(q_values(params, state), action[:, None], axis=1)[:, 0]
    return jnp.mean((chosen - target) ** 2)


key = jax.random.key(3)
k1, k2, k3, k4 = jax.random.split(key, 4)
params = {"w": jax.random.normal(k1, (4, 8)), "v": 0.1 * jax.random.normal(k2, (8, 2))}
state = jax.random.normal(k3, (16, 4))
following = jax.random.normal(k4, (16, 4))
action = jnp.arange(16) % 2
reward = jnp.where(action == 0, 1.0, 0.0)


@jax.jit
def step(params):
    grads = jax.grad(td_loss)(params, state, action, reward, following)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


first = td_loss(params, state, action, reward, following)
for _ in range(30):
    params = step(params)
print(bool(td_loss(params, state, action, reward, following) < first))
