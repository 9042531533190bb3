# One correct fixed version of twin_critics_one_key.py
import jax
import jax.numpy as jnp


def init_critic(key):
    return {"w": jax.random.normal(key, (4, 3)), "b": jnp.zeros(3)}


def make_agent(key):
    key1, key2 = jax.random.split(key)
    return {"q1": init_critic(key1), "q2": init_critic(key2)}


agent = make_agent(jax.random.key(0))
print("equal", bool(jnp.all(agent["q1"]["w"] == agent["q2"]["w"])))
