# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently clamps the index
# line: 19
# depends: -
# fix: index_range
# trap: mode="clip" keeps the difference of the last sample with itself
# fixed-file: fixed/slope_past_the_end.py
# result: 1.4743
# family: 1/out-of-bounds-silenced

import jax
import jax.numpy as jnp


@jax.jit
def arc_length(signal, dt):
    here = jnp.arange(signal.shape[0])
    rise = signal[here + 1] - signal[here]
    return jnp.sum(jnp.sqrt(dt**2 + rise**2))


t = jnp.linspace(0.0, 1.0, 5)
print(round(float(arc_length(t**2, 0.25)), 4))
