# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently moves the last window back into the signal
# line: 19
# depends: start
# fix: pad_shape
# fixed-file: fixed/oob_window_at_the_end.py
# result: [6.0, 11.0, 2.0]

import jax
import jax.numpy as jnp
from jax import lax

FRAME, HOP = 4, 3


@jax.jit
def frame_energy(signal, start):
    frame = lax.dynamic_slice(signal, (start,), (FRAME,))
    return jnp.sum(frame**2)


signal = jnp.array([1.0, 0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0])
energies = [float(frame_energy(signal, start)) for start in range(0, signal.shape[0], HOP)]
print(energies)
