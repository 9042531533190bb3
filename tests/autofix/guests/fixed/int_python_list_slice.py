# One correct fixed version of int_python_list_slice.py
from functools import partial

import jax
import jax.numpy as jnp

closes = [101.0, 103.0, 102.0, 106.0, 108.0, 107.0, 111.0]


@partial(jax.jit, static_argnames="lookback")
def momentum(lookback, scale):
    recent = closes[-lookback:]
    changes = jnp.diff(jnp.array(recent))
    return scale * jnp.sum(changes)


scores = {days: float(momentum(days, 0.01)) for days in (3, 5)}
print({days: round(value, 4) for days, value in scores.items()})
