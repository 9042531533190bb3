import functools

import sagax
import sagax.numpy as jnp


@functools.partial(sagax.jit, donate_argnames=("state", "batch"))
def update(state, batch):
    return {"mean": 0.9 * state["mean"] + 0.1 * batch.mean(axis=0)}


state = {"mean": jnp.zeros(3)}
print(update(state, jnp.ones((8, 3))))  #~ SX0408 Some donated buffers were not usable
