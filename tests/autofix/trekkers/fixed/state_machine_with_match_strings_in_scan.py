import jax
import jax.numpy as jnp


def run(signal):
    def step(mode, x):
        mode = jax.lax.cond(x > 0.5, lambda: True, lambda: False)
        return mode, mode

    return jax.lax.scan(step, False, signal)[1]


print(run(jnp.array([0.1, 0.9, 0.4])).tolist())
