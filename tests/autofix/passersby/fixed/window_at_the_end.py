# One correct fixed version of window_at_the_end.py
"""Sliding spectral energy of a chirp."""
import jax
import jax.numpy as jnp
from jax import lax

WINDOW = 16
HOP = 12


def energy_at(signal, start):
    chunk = lax.dynamic_slice(signal, (start,), (WINDOW,))
    spectrum = jnp.abs(jnp.fft.rfft(chunk * jnp.hanning(WINDOW)))
    return jnp.sum(spectrum ** 2) / WINDOW


@jax.jit
def spectrogram_energy(signal):
    starts = jnp.arange(0, signal.shape[0], HOP)
    padded = jnp.pad(signal, (0, WINDOW))
    return jax.vmap(lambda s: energy_at(padded, s))(starts)


t = jnp.arange(60) / 60.0
chirp = jnp.sin(2 * jnp.pi * (3 * t + 6 * t ** 2)) * (t < 0.9)
out = spectrogram_energy(chirp)
print(out.shape)
print([round(float(v), 3) for v in out])
