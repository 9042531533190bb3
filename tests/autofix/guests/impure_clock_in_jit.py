# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently measures the time of tracing, once
# line: 20
# depends: -
# fix: pass_argument
# fixed-file: fixed/impure_clock_in_jit.py
# result: True

import time

import jax
import jax.numpy as jnp

opened = time.monotonic()


@jax.jit
def decayed_scores(scores, half_life):
    age = time.monotonic() - opened
    return scores * 0.5 ** (age / half_life)


scores = jnp.array([8.0, 4.0])
first = decayed_scores(scores, 0.05)
time.sleep(0.2)
second = decayed_scores(scores, 0.05)
print(bool(second[0] < 0.5 * first[0]))
