# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax clamps the window start
# line: 20
# depends: s
# fix: clip_index
# fixed-file: fixed/window_at_the_end.py
# result: (5,) ; [1.321, 1.403, 1.409, 1.406, 0.323]

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
    padded = signal
    return jax.vmap(lambda s: energy_at(padded, s))(starts)


t = jnp.arange(60) / 60.0
chirp = jnp.sin(2 * jnp.pi * (3 * t + 6 * t ** 2)) * (t < 0.9)
out = spectrogram_energy(chirp)
print(out.shape)
print([round(float(v), 3) for v in out])
