# error: none
# expect: AsyncTimingWarning
# jax-differs: jax returns before the scan has run
# line: 33
# also-line: 32
# depends: -
# fix: block_until_ready
# fixed-file: fixed/fastest_of_five_runs.py
# result: 5 True -0.0527
# family: silent/async-timing

import time

import jax
import jax.numpy as jnp


@jax.jit
def filter_signal(signal):
    def step(state, x):
        state = 0.95 * state + 0.05 * x
        return state, state

    return jax.lax.scan(step, 0.0, signal)[1]


signal = jnp.sin(jnp.arange(20000.0))
filter_signal(signal).block_until_ready()
durations = []
for _ in range(5):
    start = time.monotonic()
    smoothed = filter_signal(signal)
    durations.append(time.monotonic() - start)
print(len(durations), min(durations) >= 0.0, round(float(smoothed[-1]), 4))
