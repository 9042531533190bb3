# error: TypeError
# line: 26
# also-line: 32
# depends: -
# fix: match_dtype
# result: [0.9829999804496765] [0.9663999676704407] 5

import jax
import jax.numpy as jnp


class Descent:
    def __init__(self, rate):
        self.rate = rate

    def start(self, x):
        state = {"x": x, "round": 0}
        state["best"] = jnp.zeros(x.shape, int)
        return state

    def running(self, state):
        return state["round"] < 5

    def step(self, state):
        x = state["x"] - self.rate * 2 * state["x"]
        return dict(state, x=x, round=state["round"] + 1, best=jnp.minimum(x ** 2, 100.0))


@jax.jit
def minimise(x):
    method = Descent(0.1)
    return jax.lax.while_loop(method.running, method.step, method.start(x))


out = minimise(jnp.array([3.0]))
print(jnp.round(out["x"], 4).tolist(), jnp.round(out["best"], 4).tolist(), int(out["round"]))
