# One correct fixed version of impure_clock_in_jit.py
import time

import jax
import jax.numpy as jnp

opened = time.monotonic()


@jax.jit
def decayed_scores(scores, half_life, age):
    return scores * 0.5 ** (age / half_life)


scores = jnp.array([8.0, 4.0])
first = decayed_scores(scores, 0.05, time.monotonic() - opened)
time.sleep(0.2)
second = decayed_scores(scores, 0.05, time.monotonic() - opened)
print(bool(second[0] < 0.5 * first[0]))
