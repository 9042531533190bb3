# error: TracerBoolConversionError
# line: 13
# depends: window
# fix: jnp_instead_of_np
# fixed-file: fixed/bool_sorted_median.py
# result: [0.0, 0.2, 0.2, 0.3, 0.1, 0.2, 0.2]

import jax
import jax.numpy as jnp


def median3(window):
    low, middle, high = sorted([window[0], window[1], window[2]])
    return middle


@jax.jit
def despike(signal):
    padded = jnp.pad(signal, 1, mode="edge")
    windows = jnp.stack([padded[:-2], padded[1:-1], padded[2:]], axis=1)
    return jax.vmap(median3)(windows)


ecg = jnp.array([0.0, 0.2, 9.0, 0.1, 0.3, -7.0, 0.2])
print([round(float(v), 3) for v in despike(ecg)])
