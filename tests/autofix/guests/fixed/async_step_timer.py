# One correct fixed version of async_step_timer.py
import time

import jax
import jax.numpy as jnp


@jax.jit
def step(params, x, y):
    grads = jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p) - y) ** 2))(params)
    return params - 0.1 * grads


def timed_epoch(params, batches):
    durations = []
    for x, y in batches:
        begin = time.time()
        params = jax.block_until_ready(step(params, x, y))
        durations.append(time.time() - begin)
    return params, durations


x = jnp.ones((64, 16)) / 16.0
params, durations = timed_epoch(jnp.zeros(16), [(x, jnp.ones(64))] * 4)
print(len(durations), round(float(params.sum()), 4))
