# One correct fixed version of hour_of_day_feature.py
import itertools
import time

import jax
import jax.numpy as jnp

ticks = itertools.count()
time.time = lambda: float(next(ticks))


@jax.jit
def decayed(value, age):
    return value * jnp.exp(-age)


values = [round(float(decayed(1.0, time.time() - 0.0)), 4) for _ in range(3)]
print(len(set(values)))
