# error: none
# expect: KeyReuseError
# jax-differs: both critics are equal
# line: 19
# also-line: 15
# depends: -
# fix: split_key
# result: equal False

import jax
import jax.numpy as jnp


def init_critic(key):
    return {"w": jax.random.normal(key, (4, 3)), "b": jnp.zeros(3)}


def make_agent(key):
    return {"q1": init_critic(key), "q2": init_critic(key)}


agent = make_agent(jax.random.key(0))
print("equal", bool(jnp.all(agent["q1"]["w"] == agent["q2"]["w"])))
