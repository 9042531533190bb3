import jax
import jax.numpy as jnp


@jax.jit
def collatz(n):
    def unfinished(state):
        return (state["n"] != 1) & (state["steps"] < 1000)

    def step(state):
        n = jnp.where(state["n"] % 2 == 0, state["n"] // 2, 3 * state["n"] + 1)
        return {"n": n, "steps": state["steps"] + 1, "peak": jnp.maximum(state["peak"], n)}

    return jax.lax.while_loop(unfinished, step, {"n": n, "steps": 0, "peak": n})


state = collatz(27)
print(int(state["steps"]), int(state["peak"]))
