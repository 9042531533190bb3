# error: TypeError
# line: 22
# depends: -
# fix: differentiate_part
# fixed-file: fixed/gradient_of_train_state.py
# result: 1.0 2.0 500
# family: gradient/integer-leaf

import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 1.0, 16)
y = jnp.exp(-2.0 * x)


def loss(state):
    return jnp.mean((state["a"] * jnp.exp(-state["b"] * x) - y) ** 2)


@jax.jit
def train_step(state):
    slopes = jax.grad(loss)(state)
    rate = 0.8 / (1.0 + 0.001 * state["step"])
    state = jax.tree.map(lambda s, g: s - rate * g, state, slopes)
    return {**state, "step": state["step"] + 1}


state = {"a": jnp.array(0.5), "b": jnp.array(1.0), "step": jnp.array(0)}
for _ in range(500):
    state = train_step(state)
print(round(float(state["a"]), 2), round(float(state["b"]), 2), int(state["step"]))
