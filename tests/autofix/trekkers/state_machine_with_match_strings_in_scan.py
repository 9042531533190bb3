# error: TypeError
# line: 17
# also-line: 14
# depends: -
# fix: any
# result: [False, True, False]

import jax
import jax.numpy as jnp


def run(signal):
    def step(mode, x):
        mode = jax.lax.cond(x > 0.5, lambda: "on", lambda: "off")
        return mode, mode == "on"

    return jax.lax.scan(step, "off", signal)[1]


print(run(jnp.array([0.1, 0.9, 0.4])).tolist())
