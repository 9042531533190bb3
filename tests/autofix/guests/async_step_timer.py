# error: none
# expect: AsyncTimingWarning
# jax-differs: jax silently measures the dispatch of a step alone
# line: 27
# depends: -
# fix: block_until_ready
# fixed-file: fixed/async_step_timer.py
# result: 4 0.7847

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
        params = step(params, x, y)
        durations.append(time.time() - begin)
    return params, durations


x = jnp.ones((64, 16)) / 16.0
params, durations = timed_epoch(jnp.zeros(16), [(x, jnp.ones(64))] * 4)
print(len(durations), round(float(params.sum()), 4))
