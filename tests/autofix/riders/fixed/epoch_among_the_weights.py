import jax
import jax.numpy as jnp

inputs = jnp.linspace(0.0, 1.0, 8)
targets = 2.0 * inputs + 0.5


def loss(state):
    errors = state["slope"] * inputs + state["start"] - targets
    return jnp.mean(errors**2)


state = {"epoch": 0, "slope": 0.0, "start": 0.0}
for _ in range(4):
    gradient = jax.grad(loss, allow_int=True)(state)
    state["slope"] -= 0.5 * gradient["slope"]
    state["start"] -= 0.5 * gradient["start"]
    state["epoch"] += 1
print(state["epoch"], round(float(state["slope"]), 4), round(float(state["start"]), 4))
