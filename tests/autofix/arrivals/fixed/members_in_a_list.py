# One correct fixed version of members_in_a_list.py
import jax
import jax.numpy as jnp


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def member(key):
    a, b = jax.random.split(key)
    return {"w": jax.random.normal(a, (2, 5)), "v": jax.random.normal(b, (5,))}


members = jax.vmap(member)(jax.random.split(jax.random.key(0), 3))
x = jnp.linspace(-1, 1, 8).reshape(4, 2)
outputs = jax.vmap(predict, in_axes=(0, None))(members, x)
print(outputs.shape, round(float(outputs.std(axis=0).sum()), 4))
