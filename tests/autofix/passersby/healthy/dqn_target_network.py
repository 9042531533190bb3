# error: none
# expect: none
# result: improved True

"""Tabular-ish Q-learning with a lagged target network."""
import jax
import jax.numpy as jnp


def q(params, s):
    return jnp.tanh(params["embed"][s]) @ params["head"]


def loss(params, frozen, batch, gamma=0.9):
    s, a, r, s2, done = batch
    chosen = jnp.take_along_axis(q(params, s), a[:, None], axis=1)[:, 0]
    target = r + gamma * (1 - done) * q(frozen, s2).max(axis=1)
    return jnp.mean((jax.lax.stop_gradient(target) - chosen) ** 2)


@jax.jit
def learn(params, frozen, batch):
    value, grads = jax.value_and_grad(loss)(params, frozen, batch)
    return jax.tree.map(lambda p, g: p - 0.3 * g, params, grads), value


params = {
    "embed": jnp.linspace(-1.0, 1.0, 12).reshape(4, 3),
    "head": jnp.linspace(0.5, -0.5, 6).reshape(3, 2),
}
batch = (jnp.array([0, 1, 2, 3]), jnp.array([0, 1, 0, 1]), jnp.array([0.0, 0.0, 0.0, 1.0]),
         jnp.array([1, 2, 3, 3]), jnp.array([0.0, 0.0, 0.0, 1.0]))
frozen, history = params, []
for i in range(200):
    if i % 50 == 0:
        frozen = params
    params, value = learn(params, frozen, batch)
    history.append(float(value))
print("improved", min(history[-40:]) < 0.1 * history[0])
