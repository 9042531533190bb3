# One correct fixed version of dynamic_slice_traced_size.py
import jax
import jax.numpy as jnp


@jax.jit
def segment_energy(signal, start, length):
    position = jnp.arange(signal.shape[0])
    inside = (position >= start) & (position < start + length)
    return jnp.sum(jnp.where(inside, signal, 0.0) ** 2)


signal = jnp.sin(jnp.arange(12.0))
segments = [(0, 4), (4, 3), (7, 5)]
energies = [segment_energy(signal, start, length) for start, length in segments]
print([round(float(e), 4) for e in energies])
