# error: TracerIntegerConversionError
# line: 16
# depends: lookback
# fix: static_args
# fixed-file: fixed/int_python_list_slice.py
# result: {3: 0.03, 5: 0.09}

import jax
import jax.numpy as jnp

closes = [101.0, 103.0, 102.0, 106.0, 108.0, 107.0, 111.0]


@jax.jit
def momentum(lookback, scale):
    recent = closes[-lookback:]
    changes = jnp.diff(jnp.array(recent))
    return scale * jnp.sum(changes)


scores = {days: float(momentum(days, 0.01)) for days in (3, 5)}
print({days: round(value, 4) for days, value in scores.items()})
