# One correct fixed version of oob_window_at_the_end.py
import jax
import jax.numpy as jnp
from jax import lax

FRAME, HOP = 4, 3


@jax.jit
def frame_energy(signal, start):
    frame = lax.dynamic_slice(signal, (start,), (FRAME,))
    return jnp.sum(frame**2)


signal = jnp.array([1.0, 0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0])
padded = jnp.pad(signal, (0, FRAME))
energies = [float(frame_energy(padded, start)) for start in range(0, signal.shape[0], HOP)]
print(energies)
