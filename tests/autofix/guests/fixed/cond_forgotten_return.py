# One correct fixed version of cond_forgotten_return.py
import jax
import jax.numpy as jnp


def shrink(state):
    return {"radius": 0.5 * state["radius"], "rejected": state["rejected"] + 1}


def grow(state):
    return {**state, "radius": 2.0 * state["radius"]}


@jax.jit
def trust_region(state, ratio):
    return jax.lax.cond(ratio < 0.25, shrink, grow, state)


state = {"radius": jnp.array(1.0), "rejected": jnp.array(0)}
for ratio in (0.9, 0.1, 0.2):
    state = trust_region(state, ratio)
print(float(state["radius"]), int(state["rejected"]))
