# One correct fixed version of gradient_of_train_state.py
import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 1.0, 16)
y = jnp.exp(-2.0 * x)


def loss(params):
    return jnp.mean((params["a"] * jnp.exp(-params["b"] * x) - y) ** 2)


@jax.jit
def train_step(state):
    params = {name: state[name] for name in ("a", "b")}
    slopes = jax.grad(loss)(params)
    rate = 0.8 / (1.0 + 0.001 * state["step"])
    params = jax.tree.map(lambda s, g: s - rate * g, params, slopes)
    return {**params, "step": state["step"] + 1}


state = {"a": jnp.array(0.5), "b": jnp.array(1.0), "step": jnp.array(0)}
for _ in range(500):
    state = train_step(state)
print(round(float(state["a"]), 2), round(float(state["b"]), 2), int(state["step"]))
