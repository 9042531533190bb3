# error: TypeError
# line: 14
# depends: state
# fix: carry_value
# result: 6.0 [0.0, 1.0, 3.0, 6.0]

import jax
import jax.numpy as jnp


def step(state, x):
    state = dict(state)
    state["total"] = state.get("total", 0.0) + x
    return state, state["total"]


state, totals = jax.lax.scan(step, {"n": jnp.array(0)}, jnp.arange(4.0))
print(float(state["total"]), totals.tolist())
