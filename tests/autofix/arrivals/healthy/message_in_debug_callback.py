# error: none
# expect: none
# result: [('loss', 5.0)] [0.8, 1.6]

import jax
import jax.numpy as jnp

seen = []


def log(name, value):
    seen.append((name, round(float(value), 3)))


@jax.jit
def step(w):
    loss = jnp.sum(w**2)
    jax.debug.callback(log, "loss", loss)
    return w - 0.1 * 2 * w


w = step(jnp.array([1.0, 2.0]))
jax.effects_barrier()
print(seen, [round(float(v), 3) for v in w])
