# error: none
# expect: none
# result: (20,) True

import jax
import jax.numpy as jnp


def init(key):
    k1, k2 = jax.random.split(key)
    return {"w": jax.random.normal(k1, (1, 8)), "v": jax.random.normal(k2, (8,)) / 8}


def predict(p, x):
    return jnp.tanh(x[:, None] @ p["w"]) @ p["v"]


members = jax.vmap(init)(jax.random.split(jax.random.key(1), 5))
x = jnp.linspace(-2, 2, 20)


@jax.jit
def fit(members):
    grads = jax.vmap(jax.grad(lambda p: jnp.mean((predict(p, x) - jnp.sin(x)) ** 2)))(members)
    return jax.tree.map(lambda p, g: p - 0.1 * g, members, grads)


for _ in range(30):
    members = fit(members)
spread = jax.vmap(predict, in_axes=(0, None))(members, x).std(axis=0)
print(spread.shape, bool(jnp.all(spread > 0)))
